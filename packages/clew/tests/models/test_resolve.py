"""From a name to a model: who is found, who is not, and what is taken when nobody is named."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from clew import ModelSettings
from clew.models.http.endpoint import Endpoint
from clew.models.http.rate_limit import pace_of
from clew.models.openai.chat import openai_chat
from clew.models.prices import Price
from clew.models.rate import Rate
from clew.models.resolve import available, default_model, providers, resolve
from clew.support.errors import ConfigError
from clew.support.extras import install
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.openai_server import OpenAIServer, Say, Send
from tests.models.support import ask

KEY = "sk-test"


async def test_a_name_becomes_a_model_that_answers() -> None:
    with OpenAIServer([Say("Ok.")], key=KEY) as server:
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url}
        prices = {"gpt-4.1-mini": Price(1.0, 1.0)}
        model = resolve(
            "openai:gpt-4.1-mini", env=env, settings=ModelSettings(top_p=0.5), prices=prices
        )
        assert isinstance(model, Endpoint)
        assert (model.info.name, model.info.params, model.info.priced) == (
            "openai:gpt-4.1-mini",
            {"top_p": 0.5},
            True,
        )
        assert (await model.complete(ask())).text == "Ok."
        await model.close()
    assert server.requests[0].body["model"] == "gpt-4.1-mini"


async def test_a_local_model_needs_no_key_and_may_have_a_colon_in_its_name() -> None:
    with OpenAIServer([Say("Ok.")]) as server:
        model = resolve("ollama:llama3.2:3b", env={"OLLAMA_BASE_URL": server.base_url})
        assert isinstance(model, Endpoint)
        reply = await model.complete(ask())
        await model.close()
    assert reply.usage.cost == 0.0
    assert server.requests[0].body["model"] == "llama3.2:3b"


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    assert resolve("mistral:mistral-large-latest").info.name == "mistral:mistral-large-latest"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert resolve("openai:local").info.name == "openai:local"
    with pytest.raises(ConfigError, match="no key: set the environment variable OPENAI_API_KEY"):
        openai_chat("m")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert openai_chat("m").info.name == "openai:m"


@pytest.mark.parametrize(
    "env",
    [
        {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": "another"},
        {"ANTHROPIC_AUTH_TOKEN": KEY},
    ],
    ids=str,
)
async def test_anthropics_key_may_be_in_either_variable(env: Mapping[str, str]) -> None:
    with AnthropicServer([Say("Ok.")], key=KEY) as server:
        found = dict(env) | {"ANTHROPIC_BASE_URL": server.base_url}
        model = resolve("anthropic:claude-haiku-4-5", env=found)
        assert isinstance(model, Endpoint)
        assert model.info.priced
        assert (await model.complete(ask())).text == "Ok."
        await model.close()
    (info,) = [each for each in available(env) if each.name == "anthropic"]
    assert (info.key, info.usable) == (next(iter(env)), True)
    assert await default_model(env) == ("anthropic:claude-sonnet-5-5", f"{info.key} is set")


def test_other_names_of_a_provider() -> None:
    assert (
        resolve("qwen:qwen-plus", env={"DASHSCOPE_API_KEY": KEY}).info.name == "dashscope:qwen-plus"
    )


@pytest.mark.parametrize(
    ("name", "env", "said"),
    [
        ("opnai:gpt-4o", {}, "unknown model 'opnai:gpt-4o': did you mean openai"),
        ("gpt-4o", {}, "unknown model 'gpt-4o': did you mean openai:gpt-4o?"),
        ("openai/gpt-4.1-mini", {}, "did you mean openai:gpt-4.1-mini\\?"),
        ("groq/openai/gpt-oss-20b", {}, "did you mean groq:openai/gpt-oss-20b\\?"),
        ("claude-opus-5", {}, "did you mean anthropic:claude-opus-5?"),
        ("kiwi-9", {}, "unknown model 'kiwi-9': write provider:model, with one of .*ollama"),
        ("", {}, "unknown model ''"),
        ("offline:x", {}, "there is no model offline:x: write offline"),
        ("openai", {"OPENAI_API_KEY": KEY}, "names no model: write openai:gpt-4.1-mini"),
        ("ollama:", {}, "names no model: write ollama:MODEL"),
        ("openai:gpt-4o", {}, "needs a key: set OPENAI_API_KEY in the environment or in .env"),
        ("groq:x", {"OPENAI_API_KEY": KEY}, "needs a key: set GROQ_API_KEY"),
        ("anthropic:claude-opus-5-5", {}, "needs a key: set ANTHROPIC_API_KEY"),
        ("openai:x", {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "nonsense"}, "is no address"),
        (
            "vllm:x",
            {"VLLM_BASE_URL": "http://me:secret@host:port"},
            "vllm:x: VLLM_BASE_URL is 'http://host:port', which is no address",
        ),
    ],
)
def test_what_does_not_fit_is_said_at_once(name: str, env: Mapping[str, str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        resolve(name, env=env)


KEYED = {name: provider for name, provider in providers().items() if provider.key}


@pytest.mark.parametrize("name", KEYED)
def test_a_key_that_is_missing_is_named_for_every_provider(name: str) -> None:
    """Also where all other keys are there."""
    provider = KEYED[name]
    env = {other.key: KEY for other in KEYED.values() if other.key != provider.key}
    env |= {provider.address: "https://example.org/v1"}
    said = rf"^{name}:any needs a key: set {provider.key} in the environment or in \.env"
    with pytest.raises(ConfigError, match=said):
        resolve(f"{name}:any", env=env)


def test_rate_and_timeout_come_from_the_environment() -> None:
    env = {"CLEW_RATE": "7 requests", "CLEW_TIMEOUT": "20"}
    kept = resolve("ollama:paced", env=env)  # a line lasts as long as its models
    assert pace_of(kept.info.name, providers()["ollama"].base_url, "", None).rate == Rate(
        requests=7
    )
    for wrong, said in (
        ({"CLEW_RATE": "fast"}, "'fast' is no rate: write '60 requests, 100000 tokens'"),
        ({"CLEW_TIMEOUT": "soon"}, "CLEW_TIMEOUT is 'soon': give a number of seconds"),
    ):
        with pytest.raises(ConfigError, match=said):
            resolve("ollama:paced", env=wrong)


def test_offline_is_a_model_without_a_key() -> None:
    assert resolve("offline", env={}).info.name == "offline"
    with pytest.raises(ConfigError, match="offline takes no temperature: leave it out"):
        resolve("offline", env={}, settings=ModelSettings(temperature=0))


def test_a_source_that_is_not_installed_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    with pytest.raises(ConfigError, match="'offline' is not found, for clew is not installed"):
        resolve("offline")


MISSING = """
import sys
sys.modules[sys.argv[1]] = None
from clew.support.errors import ConfigError
from clew.models.resolve import resolve
for name in ("ollama:llama3.2", "openai:gpt-4.1"):
    try:
        resolve(name, env={"OPENAI_API_KEY": "any"})
    except ConfigError as error:
        print(error)
"""


@pytest.mark.parametrize("module", ["openai", "httpx2"])
def test_a_missing_extra_says_how_to_install_it(module: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", MISSING, module], capture_output=True, text=True, check=True
    )
    said = f"needs {module}, which is not installed: run {install('openai')}\n"
    assert ran.stdout == "".join(f"{name} {said}" for name in ("ollama:llama3.2", "openai:gpt-4.1"))


def test_the_extra_is_asked_for_before_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)  # as if it were not installed
    with pytest.raises(ConfigError, match=re.escape(f"run {install('anthropic')}")):
        resolve("anthropic:claude-opus-5-5", env={})


def test_resolving_loads_no_provider_before_it_is_asked_for() -> None:
    code = "import sys, clew.models.resolve; print('openai' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_an_extra_within_a_package_that_is_not_there_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "google.genai", raising=False)
    monkeypatch.setitem(sys.modules, "google", None)  # google.genai would be in it
    found = {info.name: info.installed for info in available({})}
    assert (found["google"], found["openai"]) == (False, True)


def test_what_is_available_never_shows_a_key() -> None:
    infos = available({"GROQ_API_KEY": KEY, "VLLM_BASE_URL": "http://box:8000/v1"})
    assert [info.name for info in infos] == list(providers())
    assert KEY not in repr(infos)
    found = {info.name: info for info in infos}
    assert (found["groq"].key_set, found["groq"].usable) == (True, True)
    assert (found["openai"].key_set, found["openai"].usable) == (False, False)
    assert (found["vllm"].key, found["vllm"].usable) == ("", True)
    assert found["vllm"].base_url == "http://box:8000/v1"
    assert found["openai"].base_url == "https://api.openai.com/v1"


@pytest.fixture
def nowhere() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


async def test_a_key_that_is_set_comes_first() -> None:
    env = {"MISTRAL_API_KEY": KEY, "GROQ_API_KEY": KEY}
    assert await default_model(env) == ("mistral:mistral-large-latest", "MISTRAL_API_KEY is set")


async def test_a_local_server_that_answers_is_next(nowhere: str) -> None:
    with OpenAIServer(models=["qwen3:4b", "other"]) as server:
        env = {"OLLAMA_BASE_URL": nowhere, "LLAMACPP_BASE_URL": server.base_url}
        reason = f"a server answers at {server.base_url}"
        assert await default_model(env) == ("llamacpp:qwen3:4b", reason)
        assert (await default_model({"OLLAMA_BASE_URL": server.base_url}))[0] == "ollama:qwen3:4b"


async def test_else_the_offline_policy(nowhere: str) -> None:
    reason = (
        "no key is set and no local model server answers; "
        "to run a model here: clew doctor models local"
    )
    with OpenAIServer(models=[]) as empty, socket.create_server(("127.0.0.1", 0)) as silent:
        quiet = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        for address in (
            nowhere,
            quiet,
            empty.base_url,
            f"{empty.base_url}/no/such",
            "https://x/v1",
            "http://host:port/v1",
        ):
            env = {"OLLAMA_BASE_URL": address, "LLAMACPP_BASE_URL": nowhere}
            assert await default_model(env) == ("offline", reason)


async def test_a_server_that_lists_nonsense_is_passed_over(nowhere: str) -> None:
    with OpenAIServer(listing=Send(b"<html>")) as server:
        env = {"OLLAMA_BASE_URL": server.base_url, "LLAMACPP_BASE_URL": nowhere}
        assert (await default_model(env))[0] == "offline"
