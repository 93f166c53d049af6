"""Addresses, keys, headers, proxies: how a model is reached, over real servers and a real proxy."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx2
import openai
import pytest

from clew import ModelSettings
from clew.core.contents import Wire
from clew.core.prompts import Part, Prompt
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.http.endpoint import Endpoint
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew.models.resolve import available, default_model, resolve
from clew.support.errors import ConfigError, ModelError
from clew_testing.servers.azure_server import AzureServer
from clew_testing.servers.openai_server import Delay, OpenAIServer, Say, Turn
from tests.models.proxy import Proxy
from tests.models.support import KEY, Waits, ask, few, over, tool, watcher

pytestmark = pytest.mark.both_loops

BOTH = pytest.mark.parametrize("streamed", [False, True])


@BOTH
async def test_headers_go_out_with_every_request(streamed: bool) -> None:
    async with over([Say("Ok."), Say("Ok.")], headers={"X-Team": "blue"}) as (model, server, _):
        for _ in range(2):
            await model.complete(ask(), watcher(streamed=streamed))
    assert [request.headers["x-team"] for request in server.requests] == ["blue", "blue"]
    assert server.connections == 1


@BOTH
async def test_nothing_is_told_of_the_machine_except_by_a_client_that_was_given(
    streamed: bool,
) -> None:
    told: list[set[str]] = []
    with OpenAIServer([Say("Ok."), Say("Ok.")], key=KEY) as server:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key=KEY) as client:
            ours = openai_chat("m", base_url=server.base_url, api_key=KEY)
            for model in (ours, openai_chat("m", client=client)):
                await model.complete(ask(), watcher(streamed=streamed))
                told.append({name.lower() for name in server.requests[-1].headers})
            await ours.close()
    usual = {"accept", "accept-encoding", "authorization", "connection", "content-length"}
    assert told[0] == usual | {"content-type", "host", "user-agent"}
    assert told[1] > told[0] | {"x-stainless-os", "x-stainless-runtime"}


@BOTH
async def test_a_proxy_that_is_named_is_used(streamed: bool) -> None:
    with Proxy() as proxy:
        options: dict[str, Any] = {"proxy": proxy.url, "headers": {"X-Team": "blue"}}
        async with over([Say("Ok.")], **options) as (model, server, _):
            assert (await model.complete(ask(), watcher(streamed=streamed))).text == "Ok."
    assert proxy.passed == [f"POST {server.base_url}/chat/completions"]
    assert server.requests[0].headers["x-team"] == "blue"


async def test_a_proxy_may_ask_who_comes() -> None:
    with Proxy() as proxy:
        url = proxy.url.replace("http://", "http://me:secret@")
        async with over([Say("Ok.")], proxy=url) as (model, _, _):
            await model.complete(ask())
    assert "proxy-authorization: basic bwu6c2vjcmv0" in proxy.asked[0].lower()


async def test_a_proxy_that_is_not_there_is_told_without_its_password() -> None:
    with Proxy() as proxy:
        url = proxy.url.replace("http://", "http://me:secret@")
    async with over([], proxy=url, retries=few(0)) as (model, _, _):
        with pytest.raises(
            ModelError, match=r"no connection to .* through the proxy http://127.*, or it was lost"
        ) as caught:
            await model.complete(ask())
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("proxy", ["nonsense", "http://", "proxy:8080"])
def test_a_proxy_that_cannot_be_one_is_refused_at_once(proxy: str) -> None:
    with pytest.raises(ConfigError, match=f"{proxy!r} is no address of a proxy; give http"):
        openai_chat("m", api_key=KEY, proxy=proxy)


SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"total": -1.5}, "total is -1.5: give"),
    ({"patience": -1}, "patience is -1: give 0 seconds or more"),
    ({"headers": {"a b": "c"}}, "'a b' is no name of a header"),
    ({"headers": {"A": "secret\n"}}, "the header A has a line break"),
    ({"headers": {"A": "secret ü"}}, "the header A has .* a character that is not ASCII"),
    ({"proxy": "ftp://me:secret@host:1"}, "'ftp://host:1' is no address of a proxy"),
    ({"proxy": "http://me:secret@host:port"}, "'http://host:port' is no address of a proxy"),
    ({"base_url": "http://me:secret@host:port/v1"}, "'http://host:port/v1' is no address"),
    ({"base_url": "http://[::1/v1"}, r"'http://\[::1/v1' is no address of a server"),
    ({"base_url": "http://a b/v1"}, "'http://a b/v1' is no address of a server"),
]


@pytest.mark.parametrize(("settings", "said"), SETTINGS, ids=[said for _, said in SETTINGS])
def test_a_setting_that_cannot_be_meant_is_refused_at_once(
    settings: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        openai_chat("m", api_key=KEY, **settings)
    assert "secret" not in str(caught.value)


def test_settings_at_their_ends_are_taken() -> None:
    headers = {"X-Empty": "", "X-A": "a \t b"}
    openai_chat("m", api_key=KEY, patience=0, proxy="", headers=headers)


def test_a_socks_proxy_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)  # as if it were not installed
    with pytest.raises(ConfigError, match="needs socksio: run pip install socksio"):
        openai_chat("m", api_key=KEY, proxy="socks5://host:1080")


UNFIT: Mapping[str, str] = {
    "socks5://host:1": "a SOCKS proxy needs socksio: run pip install socksio",
    "http://host:port": "'http://host:port' is no address of a proxy; give http://host:port",
    "http://host:99999": "'http://host:99999' is no address of a proxy",
    "http://[bad": "'http://[bad' is no address of a proxy",
    "ftp://host": "'ftp://host' is no address of a proxy",
    "http://": "is no address of a proxy",
    "http://me:secret@ho st:1": "'http://ho st:1' is no address of a proxy",
    "http://host:0": "'http://host:0' is no address of a proxy",
    "nonsense": "'nonsense' is no address of a proxy",
    "me:secret@host:port": "'host:port' is no address of a proxy",
}
MAKERS: Sequence[Callable[..., Endpoint]] = [
    openai_chat,
    openai_responses,
    anthropic_messages,
    google_gemini,
]


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize(("proxy", "said"), UNFIT.items())
def test_a_proxy_of_the_environment_that_cannot_be_one_is_refused_at_once(
    proxy: str, said: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv(variable, proxy)
    for make in MAKERS:
        with pytest.raises(ConfigError) as refused:
            make("m", api_key=KEY, base_url="https://example.org/v1")
        assert str(refused.value).startswith(f"the proxy in {variable} cannot be used: ")
        assert said in str(refused.value)
        assert "secret" not in str(refused.value)
        make("m", api_key=KEY, base_url="http://127.0.0.1:9/v1")  # no proxy stands before it
        make("m", api_key=KEY, base_url="https://example.org/v1", proxy="http://other:1")
    monkeypatch.setenv("NO_PROXY", "*")
    openai_chat("m", api_key=KEY, base_url="https://example.org/v1")


async def test_a_proxy_of_the_environment_with_an_odd_host_is_refused_at_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://\N{SNOWMAN}.example:80")
    model = openai_chat("m", api_key=KEY, base_url="https://example.org/v1")
    with pytest.raises(ConfigError, match="the proxy in ALL_PROXY cannot be used"):
        await model.complete(ask())


@pytest.mark.parametrize("variable", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("scheme", ["http://", "http://me:secret@", ""])
async def test_an_error_names_the_proxy_that_stood_between(
    variable: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy() as proxy:
        host = proxy.url.removeprefix("http://")
    monkeypatch.setenv(variable, scheme + host)
    for make in MAKERS:
        model = make("m", api_key=KEY, base_url="https://example.org/v1", retries=few(0))
        with pytest.raises(ModelError) as failed:
            await model.complete(ask())
        said = f"example.org/v1 through the proxy http://{host} ({variable}), or it was lost"
        assert said in str(failed.value)
        assert "see that proxy and address are right" in str(failed.value)
        assert "secret" not in str(failed.value)


async def test_no_proxy_is_named_where_none_stands_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    async with over([], retries=few(0)) as (model, _, _):
        with pytest.raises(ModelError) as failed:
            await model.complete(ask())
    assert "proxy" not in str(failed.value)


DEPLOYED: Mapping[str, str] = {"AZURE_OPENAI_API_KEY": KEY}


@BOTH
@pytest.mark.parametrize("form", ["", "-responses", "-completions"])
@pytest.mark.parametrize("version", ["", "2024-10-21"])
async def test_azure_is_asked_at_its_addresses(form: str, version: str, streamed: bool) -> None:
    with AzureServer([Say("Ok.")], key=KEY, deployments=["mine"]) as server:
        env = {**DEPLOYED, "AZURE_OPENAI_ENDPOINT": server.base_url + "/"}
        if version:
            env["AZURE_OPENAI_API_VERSION"] = version
        model = resolve(f"azure{form}:mine", env=env)
        assert isinstance(model, Endpoint)
        assert (await model.complete(ask(), watcher(streamed=streamed))).text == "Ok."
        await model.close()
    [seen] = server.requests
    path = {"": "/chat/completions"}.get(form, form.replace("-", "/"))
    if not version:
        assert (seen.path, dict(seen.query)) == (f"/openai/v1{path}", {})
        assert seen.headers["authorization"] == f"Bearer {KEY}"
        return
    deployed = "" if form == "-responses" else "/deployments/mine"
    assert (seen.path, dict(seen.query)) == (f"/openai{deployed}{path}", {"api-version": version})
    assert seen.headers["api-key"] == KEY
    assert "authorization" not in seen.headers


@pytest.mark.parametrize("version", ["", "2024-10-21"])
async def test_azure_says_what_is_wrong(version: str) -> None:
    with AzureServer(key=KEY, deployments=["mine"]) as server:
        options: dict[str, Any] = {"base_url": server.base_url, "api_version": version}
        other: Any = resolve("azure:other", env=DEPLOYED, **options)
        with pytest.raises(ModelError, match=r"nothing of that name .* deployment .* not exist"):
            await other.complete(ask())
        wrong: Any = resolve("azure:mine", env={"AZURE_OPENAI_API_KEY": "sk-no"}, **options)
        with pytest.raises(ModelError, match="refused the key in AZURE_OPENAI_API_KEY"):
            await wrong.complete(ask())
        await other.close()
        await wrong.close()


async def test_the_current_address_of_azure_may_be_given_whole() -> None:
    with AzureServer([Say("Ok.")], key=KEY, deployments=["mine"]) as server:
        whole = f"{server.base_url}/openai/v1/"
        model = openai_chat("mine", provider="azure", base_url=whole, api_key=KEY)
        assert (await model.complete(ask())).text == "Ok."
        await model.close()
        dated: Any = httpx2.post(f"{whole}chat/completions?api-version=1", headers={"api-key": KEY})
        assert (dated.status_code, dated.json()["error"]["message"]) == (404, "Resource not found")


async def test_azure_takes_schemas_of_objects_only_as_openai_does() -> None:
    either = {"anyOf": [{"type": "object"}, {"type": "object", "title": "Two"}]}
    with AzureServer([Say("{}")], key=KEY, deployments=["mine"]) as server:
        model: Any = resolve("azure:mine", env=DEPLOYED, base_url=server.base_url)
        assert (await model.complete(ask("Reply in JSON.", reply_schema=either))).text == "{}"
        await model.close()
    assert server.requests[0].body["response_format"] == {"type": "json_object"}


async def test_what_azure_needs_is_said_at_once() -> None:
    with pytest.raises(ConfigError, match="azure:mine needs an address: set AZURE_OPENAI_ENDPOINT"):
        resolve("azure:mine", env=DEPLOYED)
    with pytest.raises(ConfigError, match="needs a key: set AZURE_OPENAI_API_KEY"):
        resolve("azure:mine", env={"AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"})
    with pytest.raises(ConfigError, match="openai:m: api_version is for azure; leave it out"):
        openai_chat("m", api_key=KEY, api_version="2024-10-21")
    info = {info.name: info for info in available(DEPLOYED)}["azure"]
    assert (info.key_set, info.usable, info.server) == (True, False, None)
    address = {"AZURE_OPENAI_ENDPOINT": "https://me:s3cret@x.openai.azure.com/v1"}
    info = {info.name: info for info in available({**DEPLOYED, **address})}["azure"]
    assert (info.server, info.custom) == (("x.openai.azure.com", 443), True)
    assert info.public_url == "https://x.openai.azure.com/v1"
    nowhere = {"OLLAMA_BASE_URL": "http://127.0.0.1:9/v1", "LLAMACPP_BASE_URL": "x"}
    assert (await default_model({**DEPLOYED, **nowhere}))[0] == "offline"  # deployments have names


async def test_the_environment_of_azure_does_not_change_other_providers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com")
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    async with over([Say("Ok.")]) as (model, server, _):
        await model.complete(ask())
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


async def test_a_client_of_azure_may_be_given() -> None:
    with AzureServer([Say("Ok.")], key=KEY, deployments=["mine"]) as server:
        async with openai.AsyncAzureOpenAI(
            azure_endpoint=server.base_url,
            azure_deployment="mine",
            api_version="2024-10-21",
            api_key=KEY,
        ) as client:
            model: Any = resolve("azure:mine", env={}, client=client)
            assert (await model.complete(ask())).text == "Ok."


DETAILS = [
    {"type": "reasoning.text", "text": "Hm. So.", "signature": "sig", "index": 0},
    {"type": "reasoning.encrypted", "data": "sealed", "id": "rs_1", "index": 1},
]


@BOTH
async def test_openrouter_gets_its_settings_and_its_reasoning_back(streamed: bool) -> None:
    thought = {"reasoning": "Hm. So.", "reasoning_details": DETAILS}
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "cost": 0.00025}
    script: list[Turn] = [
        Say(calls=[("search", "{}")], more=thought, usage=usage),
        Say("Ok.", usage={"prompt_tokens": 9, "completion_tokens": 1, "cost": "odd"}),
        Say("Half", finish="error"),
    ]
    params = {
        "provider": {"order": ["anthropic"], "allow_fallbacks": False},
        "models": ["anthropic/claude", "openai/gpt"],
        "reasoning": {"exclude": True},
    }
    settings = ModelSettings(effort="low", extra=params)
    headers = {"HTTP-Referer": "https://example.org", "X-Title": "clew"}
    options: dict[str, Any] = {"provider": "openrouter", "settings": settings, "headers": headers}
    async with over(script, **options) as (model, server, _):
        head = (Part("user", "Go."),)
        watch = watcher(streamed=streamed)
        first = await model.complete(Prompt(head, (), (), (tool("search"),)), watch)
        said = Part("assistant", "", calls=first.calls, wire=first.wire)
        parts = (said, Part("tool", "found", call_id=first.calls[0].id))
        second = await model.complete(Prompt(head, parts, (), (tool("search"),)), watch)
        third = await model.complete(ask(), watch)
    assert first.reasoning == "Hm. So."
    assert first.wire == Wire("openrouter", "scripted", {"message": {"reasoning_details": DETAILS}})
    assert (first.usage.cost, second.usage.cost, third.finish) == (0.00025, None, "cut")
    sent = server.requests[1]
    assert sent.body["messages"][1]["reasoning_details"] == DETAILS
    assert "reasoning" not in sent.body["messages"][1]
    params |= {"reasoning": {"exclude": True, "effort": "low"}}
    assert {key: sent.body[key] for key in params} == params
    assert (sent.headers["http-referer"], sent.headers["x-title"]) == tuple(headers.values())


@pytest.mark.parametrize(
    ("name", "key", "model"),
    [
        ("qwen-responses:qwen-plus", "DASHSCOPE_API_KEY", "dashscope-responses:qwen-plus"),
        ("groq-completions:x", "GROQ_API_KEY", "groq-completions:x"),
        ("vllm-responses:x", "VLLM_API_KEY", "vllm-responses:x"),
    ],
)
def test_other_formats_are_asked_for_behind_the_name(name: str, key: str, model: str) -> None:
    assert resolve(name, env={key: KEY}).info.name == model


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("openai-respnses:x", "did you mean openai-responses"),
        ("anthropic-completions:x", "unknown model"),
        ("offline-responses:x", "unknown model"),
        ("openai-responses:", "names no model: write openai-responses:gpt-4.1-mini"),
    ],
)
def test_formats_that_are_not_there_are_refused(name: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        resolve(name, env={"OPENAI_API_KEY": KEY})


async def test_a_model_of_another_format_answers() -> None:
    with OpenAIServer([Say("Ok.")], key=KEY) as server:
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url}
        model: Any = resolve("openai-responses:m", env=env)
        assert (await model.complete(ask())).text == "Ok."
        await model.close()
    assert server.requests[0].path == "/v1/responses"


async def test_a_client_of_ones_own_that_gives_up_is_asked_again() -> None:
    with OpenAIServer([Delay(), *[Say("Ok.")] * 20], key=KEY) as server:
        asked = openai.AsyncOpenAI(base_url=server.base_url, api_key=KEY, timeout=0.5)
        async with asked as client:
            model = openai_chat("m", client=client, sleep=(waits := Waits()), retries=few(20))
            assert (await model.complete(ask())).text == "Ok."
    assert len(waits) >= 1  # more where the machine is too busy to answer in time


async def test_a_client_of_ones_own_serves_every_format() -> None:
    with OpenAIServer([Say("Ok.")], key=KEY) as server:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key=KEY) as client:
            model = openai_responses("m", client=client, sleep=Waits())
            assert (await model.complete(ask())).text == "Ok."
            await model.close()
