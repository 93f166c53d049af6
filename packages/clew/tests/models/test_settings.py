"""What each provider makes of each setting: the key that reaches its server, or a refusal by name.

The table in the README of the package is made of what the servers saw, and compared with it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from clew import Agent, ConfigError, ModelError, ModelSettings
from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.http.endpoint import Endpoint
from clew.models.openai.chat import openai_chat
from clew.models.openai.completions import openai_completions
from clew.models.openai.responses import openai_responses
from clew.models.resolve import providers
from clew.support.model_settings import Cache, Effort
from clew.testing import ScriptedModel, say
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.azure_server import AzureServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Fail, Say
from clew_testing.servers.openai_server import OpenAIServer
from tests.models.support import ask

README = Path(__file__).parents[2] / "README.md"
SAMPLES: dict[str, tuple[Any, ...]] = {
    "temperature": (0.5,),
    "top_p": (0.96,),
    "max_tokens": (2_000,),
    "stop": (("END",),),
    "seed": (7,),
    "effort": get_args(Effort),
    "reasoning_tokens": (1_500,),
    "cache": get_args(Cache),
}
CHAT = [name for name, one in providers().items() if one.make.endswith(":openai_chat")]
NAMED = [*CHAT, "openai-responses", "openai-completions", "anthropic", "google"]


SERVERS: dict[str, Any] = {
    "anthropic": AnthropicServer,
    "google": GeminiServer,
    "azure": partial(AzureServer, key="k", deployments=["m"]),
}
MAKERS: dict[str, Any] = {
    "openai-responses": openai_responses,
    "openai-completions": openai_completions,
    "anthropic": anthropic_messages,
    "google": google_gemini,
}


@contextmanager
def served(provider: str, answer: Any = None) -> Iterator[tuple[Any, Callable[..., Endpoint]]]:
    """A server of a provider's format, and what makes a model of it with some settings."""
    make = MAKERS.get(provider, openai_chat)
    with SERVERS.get(provider, OpenAIServer)(answer or (lambda _: Say("Ok."))) as server:

        def told(name: str = "m", **settings: Any) -> Endpoint:
            made: Endpoint = make(name, provider=provider, base_url=server.base_url, api_key="k")
            return made.with_settings(ModelSettings(**settings))

        yield server, told


def paths(body: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested tables, by their paths."""
    for key, value in body.items():
        if isinstance(value, dict):
            yield from paths(cast("dict[str, Any]", value), f"{above}{key}.")
        else:
            yield above + key, value


async def bodies(server: Any, *models: Endpoint) -> list[dict[str, Any]]:
    """What one question becomes for each model."""
    before = len(server.requests)
    for model in models:
        assert (await model.complete(ask())).text == "Ok."
        await model.close()
    return [dict(paths(seen.body)) for seen in server.requests[before:]]


def taking(told: Any, provider: str, setting: str, value: Any) -> Endpoint | None:
    """The model with a setting; None where it is refused, by its name."""
    try:
        made: Endpoint = told(**{setting: value})
    except ConfigError as error:
        refused = error
    else:
        return made
    assert str(refused).startswith(f"{provider}:m takes no {setting}")
    assert refused.field == setting
    return None


async def cell(provider: str, setting: str) -> str:
    """The keys of a request that a setting changes, and the words that it takes; or "–"."""
    taken: list[str] = []
    keys: set[str] = set()
    with served(provider) as (server, told):
        for value in SAMPLES[setting]:
            model = taking(told, provider, setting, value)
            if model is None:
                continue
            taken.append(str(value))
            one, other = await bodies(server, told(), model)
            keys |= {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}
    if not taken:
        return "–"
    # One of the words may be what is sent anyway: `short` is how Anthropic keeps a prompt.
    assert keys, f"{provider} swallows {setting}"
    words = f": {', '.join(taken)}" if len(SAMPLES[setting]) > 1 else ""
    return ", ".join(f"`{key}`" for key in sorted(keys)) + words


def rows() -> dict[str, str]:
    """The rows of the table by provider; several may share one."""
    lines = [line.strip("| ").split(" | ", 1) for line in README.read_text("utf-8").splitlines()]
    pairs = [pair for pair in lines if len(pair) == 2 and pair[0].startswith("`")]
    return {name.strip("`"): row for names, row in pairs for name in names.split(", ")}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("provider", NAMED)
async def test_each_setting_reaches_the_server_or_is_refused_by_name(provider: str) -> None:
    cells = [(await cell(provider, each)).replace("generationConfig.", "") for each in SAMPLES]
    sampled, rest = cells[:2], cells[2:]
    assert sampled == ["`temperature`", "`topP`" if provider == "google" else "`top_p`"]
    assert rows()[provider] == " | ".join(rest)


def test_the_table_has_every_provider_and_every_setting() -> None:
    _, _, *columns = SAMPLES
    header = f"| provider | {' | '.join(f'`{name}`' for name in columns)} |"
    assert header in README.read_text("utf-8")
    known = {one.make for one in providers().values()}
    assert len(known) == 3, "a provider with an adapter of its own needs a row"
    assert SAMPLES.keys() == ModelSettings.HELP.keys() - {"timeout", "extra"}


REFUSED: list[tuple[str, str, dict[str, Any], str]] = [
    ("openai", "o3", {"temperature": 0}, "takes no temperature while it reasons"),
    ("openai", "gpt-5-mini", {"top_p": 0.5}, "takes no top_p while it reasons"),
    ("openai", "gpt-5.1", {"temperature": 0, "effort": "low"}, "while it reasons"),
    ("openai-responses", "o4-mini", {"temperature": 1}, "while it reasons"),
    ("openrouter", "m", {"effort": "low", "reasoning_tokens": 9}, "takes either effort or"),
    ("deepseek", "m", {"temperature": 0, "effort": "high"}, "while it reasons"),
    ("mistral", "m", {"effort": "medium"}, "takes no effort 'medium': choose one of none, high"),
    ("anthropic", "claude-opus-4-8", {"temperature": 0}, "takes no temperature: leave it out, or"),
    ("anthropic", "claude-sonnet-5", {"reasoning_tokens": 2_000}, "takes no reasoning_tokens"),
    ("anthropic", "m", {"temperature": 1.5}, "takes a temperature of 0 to 1"),
    ("anthropic", "m", {"reasoning_tokens": 9}, "takes reasoning_tokens of 1,024 or more"),
    ("anthropic", "m", {"reasoning_tokens": 2_000, "temperature": 0}, "no temperature but 1"),
    ("anthropic", "m", {"reasoning_tokens": 2_000, "top_p": 0.5}, "a top_p of 0.95 to 1"),
    ("anthropic", "m", {"reasoning_tokens": 2_000, "effort": "none"}, "leave one out"),
    ("google", "gemini-3-pro", {"effort": "none"}, "takes no effort 'none'"),
    ("google", "gemini-2.5-flash", {"effort": "low"}, "takes no effort 'low': choose one of none"),
    ("google", "m", {"effort": "low", "reasoning_tokens": 9}, "takes either effort or"),
    ("openai", "m", {"extra": {"temperature": 0}}, "extra has temperature: say it as temperature"),
    ("openai", "m", {"extra": {"reasoning_effort": "low"}}, "say it as effort, which is its name"),
    ("google", "m", {"extra": {"thinking_config": {"thinking_budget": 1}}}, "as reasoning_tokens"),
]


@pytest.mark.parametrize(("provider", "name", "settings", "why"), REFUSED)
def test_what_does_not_go_together_is_refused(
    provider: str, name: str, settings: dict[str, Any], why: str
) -> None:
    with served(provider) as (_, told), pytest.raises(ConfigError) as caught:
        told(name, **settings)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


THINKING = "generationConfig.thinkingConfig"
SENT: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("openai", "gpt-5.1", {"temperature": 0.5, "effort": "none"}, {"temperature": 0.5}),
    ("openai", "gpt-5-chat-latest", {"temperature": 0}, {"temperature": 0}),
    ("deepseek", "m", {"effort": "none", "temperature": 0}, {"thinking.type": "disabled"}),
    ("anthropic", "claude-opus-4-6", {"effort": "max"}, {"thinking.type": "adaptive"}),
    ("anthropic", "claude-sonnet-5", {"effort": "none"}, {"thinking.type": "disabled"}),
    ("anthropic", "m", {"reasoning_tokens": 2_000}, {"max_tokens": 18_000}),
    (
        "google",
        "gemini-2.5-flash",
        {"effort": "none"},
        {f"{THINKING}.thinkingBudget": 0},
    ),
    (
        "google",
        "gemini-3-pro",
        {"effort": "low"},
        {f"{THINKING}.includeThoughts": True},
    ),
    ("openai", "m", {"extra": {"user": "ada"}}, {"user": "ada"}),
    ("vllm", "m", {"max_tokens": 9, "extra": {"top_k": 4}}, {"max_tokens": 9, "top_k": 4}),
]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize(("provider", "name", "settings", "sent"), SENT)
async def test_what_a_model_needs_beside_a_setting_is_sent(
    provider: str, name: str, settings: dict[str, Any], sent: dict[str, Any]
) -> None:
    with served(provider) as (server, told):
        (body,) = await bodies(server, told(name, **settings))
    assert {key: body.get(key) for key in sent} == sent


async def test_the_cache_of_anthropic_is_kept_as_long_as_is_said() -> None:
    marks: list[str] = []
    with served("anthropic") as (server, told):
        for cache in (None, "short", "long", "off"):
            model = told(cache=cache)
            await model.complete(ask())
            await model.close()
            marks.append(str(server.requests[-1].body["system"][-1].get("cache_control")))
    short, long = "{'type': 'ephemeral'}", "{'type': 'ephemeral', 'ttl': '1h'}"
    assert marks == [short, short, long, "None"]


async def test_a_server_that_knows_only_the_older_name_of_max_tokens_gets_it() -> None:
    def answer(body: Any) -> Any:
        newer = "max_completion_tokens" in body
        return Fail(400, "Unknown parameter: max_completion_tokens") if newer else Say("Ok.")

    with served("openai", answer) as (server, told):
        model = told(max_tokens=9)
        for _ in range(2):
            assert (await model.complete(ask())).text == "Ok."
        await model.close()
    assert [seen.body.get("max_tokens") for seen in server.requests] == [None, 9, 9]


@pytest.mark.parametrize("provider", ["openai", "openai-completions", "anthropic", "google"])
async def test_a_stop_that_was_asked_for_is_not_left_out(provider: str) -> None:
    said = {"anthropic": "stop_sequences: no", "google": "stop_sequences: not supported"}
    refusal = Fail(400, said.get(provider, "'stop' is not supported with this model"))
    with served(provider, [refusal, Say("Ok.")]) as (_, told):
        model = told(stop=("END",))
        with pytest.raises(ModelError, match="stop"):
            await model.complete(ask())
        await model.close()


def test_the_settings_of_an_agent_stand_over_those_of_its_model() -> None:
    own = ModelSettings(temperature=0.5, max_tokens=50, extra={"user": "ada", "store": True})
    model = openai_chat("m", api_key="k", settings=own)
    told = ModelSettings(temperature=0, seed=3, timeout=9, cache="long", extra={"user": "bo"})
    agent = Agent(model, settings=told)
    expected = {"user": "bo", "store": True, "temperature": 0, "max_tokens": 50}
    assert agent.spec.params == expected  # a run has its seed, and no reply depends on the others
    assert (agent.engine.seed, model.info.params["temperature"]) == (3, 0.5)
    assert agent.replace(settings=ModelSettings()).spec.params == own.recorded


def test_a_seed_is_passed_over_where_a_model_takes_none_and_refused_where_it_is_asked_for() -> None:
    agent = Agent(anthropic_messages("m", api_key="k"))
    assert agent.seeded(7) is agent
    with pytest.raises(ConfigError, match=r"^anthropic:m takes no seed: leave it out$"):
        agent.replace(settings=ModelSettings(seed=7))
    assert Agent("offline").seeded(7).engine.seed == 7


@pytest.mark.parametrize("setting", [name for name in SAMPLES if name != "seed"])
def test_a_model_without_settings_refuses_them_by_name(setting: str) -> None:
    settings = ModelSettings(**{setting: SAMPLES[setting][0]})
    why = ", for Plain has no with_settings"
    for model, name in ((Plain(), "plain:m"), ("offline", "offline")):
        told = f"{name} takes no {setting}{'' if model == 'offline' else why}: leave it out"
        with pytest.raises(ConfigError, match=f"^{told}$"):
            Agent(model, settings=settings)
    assert Agent(ScriptedModel([say("x")]), settings=settings).engine.seed == 0


class Plain:
    """A model of one's own, without settings."""

    info = ModelInfo("plain:m")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        return Reply(f"{prompt.seed}")


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"temperature": 2.5}, "temperature is 2.5: give 0 to 2"),
    ({"top_p": 1.5}, "top_p is 1.5: give 0 to 1"),
    ({"max_tokens": 0}, "max_tokens is 0: give 1 or more"),
    ({"reasoning_tokens": 9, "max_tokens": 9}, "reasoning_tokens is 9: give fewer than max_tokens"),
    ({"timeout": 0}, "timeout is 0: give a number of seconds over 0"),
    ({"stop": "END"}, "stop is 'END' (str): give several texts, as in (\"END\",)"),
    ({"stop": ("",)}, "give texts that are not empty"),
    ({"effort": "some"}, "choose one of none, minimal, low"),
    ({"cache": True}, "choose one of off, short, long"),
    ({"extra": [1]}, "give a table of parameters of the provider"),
    ({"max_tokens": 9, "extra": {"max_tokens": 5}}, "leave out max_tokens, which is set beside it"),
    ({"stop": ["A"], "extra": {"stop": ["B"]}}, "leave out stop, which is set beside it"),
]


@pytest.mark.parametrize(("settings", "why"), WRONG)
def test_what_no_model_could_be_told_is_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ModelSettings(**settings)
    assert why in str(caught.value)


async def test_a_longer_timeout_has_connections_of_its_own_and_others_are_shared() -> None:
    with served("openai") as (server, told):
        first = told()
        second = first.with_settings(ModelSettings(temperature=0))
        third = first.with_settings(ModelSettings(timeout=700))
        for model in (first, second, third):
            await model.complete(ask())
        await first.close()
        assert (await third.complete(ask())).text == "Ok."
        await third.close()
    assert len(server.requests) == 4
