"""What is accepted is used: an option that no model knows is refused, with the nearest name."""

import inspect
from typing import Any, get_type_hints

import msgspec
import pytest

from clew import ConfigError, ModelError, ModelSettings
from clew.core.tools import Retry
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.http.endpoint import HttpSettings
from clew.models.openai.chat import openai_chat
from clew.models.openai.completions import openai_completions
from clew.models.openai.responses import openai_responses
from clew.models.prices import Price
from clew.models.resolve import resolve
from clew.models.validate import check_options
from clew_testing.servers.http_server import Fail, Say
from tests.models.support import ask, over

MAKERS: list[Any] = [
    openai_chat,
    openai_responses,
    openai_completions,
    anthropic_messages,
    google_gemini,
]
HERE = "http://127.0.0.1:9/v1"

WRONG = [
    ("timeout", 3, "it is a setting, settings=ModelSettings(timeout=…)"),
    ("base_ulr", HERE, "did you mean base_url?"),
    ("apikey", "x", "did you mean api_key?"),
    ("header", {}, "did you mean headers?"),
    ("retry", 3, "did you mean retries?"),
    ("price", {}, "did you mean prices?"),
    ("proxy_", "", "did you mean proxy?"),
    ("setting", {}, "did you mean settings?"),
    ("temperature", 0, "it is a setting, settings=ModelSettings(temperature=…)"),
    ("top_p", 0.5, "settings=ModelSettings(top_p=…)"),
    ("max_tokens", 9, "settings=ModelSettings(max_tokens=…)"),
    ("stream", True, "ModelSettings(extra={'stream': …}) takes parameters of the provider"),
    ("seed", 1, "settings=ModelSettings(seed=…)"),
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize(("option", "value", "told"), WRONG, ids=[wrong[0] for wrong in WRONG])
def test_an_option_that_no_model_knows_is_refused(
    make: Any, option: str, value: Any, told: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        make("m", base_url=HERE, api_key="any", **{option: value})
    assert f"takes no option {option!r}: " in str(caught.value)
    assert told in str(caught.value)


UNFIT: list[tuple[str, Any]] = [
    ("total", "9"),
    ("total", [9]),
    ("patience", "0"),
    ("patience", {}),
    ("retries", 3),
    ("retries", "no"),
    ("settings", [1]),
    ("settings", {"temperature": 0}),
    ("prices", 3),
    ("prices", {"input": 1}),
    ("prices", {"m": {"input": 1, "output": 2}}),
    ("headers", ["a: b"]),
    ("headers", {"a": 1}),
    ("headers", {1: "a"}),
    ("proxy", 3),
    ("proxy", None),
    ("sleep", 2),
    ("rate", 3),
    ("rate", ["60 requests"]),
    ("base_url", 3),
    ("base_url", b"http://127.0.0.1:9/v1"),
    ("api_key", 3),
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
@pytest.mark.parametrize(("option", "value"), UNFIT, ids=map(str, range(len(UNFIT))))
def test_a_value_of_another_kind_is_refused_in_a_line(make: Any, option: str, value: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        make("m", **{"base_url": HERE, "api_key": "any", option: value})
    assert f"{option} is " in str(caught.value)
    assert ": give " in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_secret_of_the_wrong_kind_is_not_shown() -> None:
    wrong: Any = {"headers": ["Authorization: secret"]}
    with pytest.raises(ConfigError, match=r"^headers is list: give texts by the names of headers$"):
        openai_chat("m", base_url=HERE, api_key="any", **wrong)


@pytest.mark.parametrize(
    "right",
    [
        {"settings": ModelSettings(timeout=3)},
        {"settings": ModelSettings(timeout=0.5), "total": 9, "patience": 0},
        {"retries": Retry(times=0)},
        {"headers": None, "settings": None, "prices": None, "rate": None},
        {
            "headers": {},
            "settings": ModelSettings(),
            "prices": {"m": Price(1, 2)},
            "rate": "5 requests",
        },
        {"proxy": ""},
    ],
    ids=str,
)
def test_values_of_the_right_kind_are_taken(right: Any) -> None:
    assert openai_chat("m", base_url=HERE, api_key="any", **right).info.name == "openai:m"


def test_an_address_that_is_no_text_is_refused_by_resolve_too() -> None:
    with pytest.raises(ConfigError, match=r"base_url is 3 .*: give a text, the server's address"):
        resolve("anthropic:m", api_key="k", base_url=3)


@pytest.mark.parametrize("name", ["openai:m", "anthropic:m", "gemini:m", "openai-responses:m",
                                  "openai-completions:m", "ollama:m", "deepseek:m"])  # fmt: skip
@pytest.mark.parametrize("option", ["temperature", "timout", "model_kwargs"])
def test_resolve_refuses_it_too(name: str, option: str) -> None:
    keys = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "DEEPSEEK_API_KEY")
    env: dict[str, str] = dict.fromkeys(keys, "k")
    with pytest.raises(ConfigError, match=f"takes no option {option!r}"):
        resolve(name, env=env, **{option: 0})


def test_every_setting_is_known_and_every_maker_takes_no_others() -> None:
    check_options("m", get_type_hints(HttpSettings))
    named: set[str] = set()
    for make in MAKERS:
        parameters = inspect.signature(make).parameters.values()
        named |= {one.name for one in parameters if one.kind is inspect.Parameter.KEYWORD_ONLY}
    check_options("m", named - {"vertex", "project", "location"})


class Sent(msgspec.Struct):
    """What reached the server, and what came of it."""

    requests: list[Any]
    waits: list[float]
    cost: float | None = None
    error: str = ""


async def sent(turns: list[Any], **options: Any) -> Sent:
    async with over(turns, **options) as (model, server, waits):
        try:
            reply = await model.complete(ask())
        except ModelError as error:
            return Sent(list(server.requests), list(waits), error=str(error))
    return Sent(list(server.requests), list(waits), reply.usage.cost)


OK = Say("Ok.")
HASTY = ModelSettings(timeout=1e-9)
BUSY = Fail(503)
EACH: dict[str, Any] = {
    "settings": (lambda: sent([OK], settings=ModelSettings(temperature=0)),
               lambda it: it.requests[0].body["temperature"] == 0),
    "prices": (lambda: sent([Say("Ok.", usage={"prompt_tokens": 10, "completion_tokens": 0})],
                            prices={"scripted": Price(1e6, 0.0)}),
               lambda it: it.cost == 10),
    "headers": (lambda: sent([OK], headers={"X-Team": "red"}),
                lambda it: it.requests[0].headers["x-team"] == "red"),
    "retries": (lambda: sent([BUSY, BUSY, BUSY, OK], retries=Retry(times=2, delay=0.5)),
                lambda it: len(it.requests) == 3),
    "patience": (lambda: sent([BUSY, OK], retries=Retry(times=3, delay=5), patience=0.01),
                 lambda it: len(it.requests) == 1),
    "sleep": (lambda: sent([BUSY, OK]), lambda it: len(it.waits) == 1),
    "proxy": (lambda: sent([OK], proxy="http://127.0.0.1:9", retries=Retry(times=0)),
              lambda it: not it.requests and "no connection" in it.error),
    "total": (lambda: sent([OK], settings=HASTY, total=2e-9, retries=Retry(times=0)),
              lambda it: "did not answer within" in it.error),
    "rate": (lambda: sent([OK], rate="60 requests, 100000 tokens"),
             lambda it: len(it.requests) == 1),
}  # fmt: skip


def test_each_setting_has_its_place() -> None:
    assert EACH.keys() == get_type_hints(HttpSettings).keys()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("setting", EACH)
async def test_each_setting_takes_effect_at_the_socket(setting: str) -> None:
    play, holds = EACH[setting]
    assert holds(found := await play()), found
