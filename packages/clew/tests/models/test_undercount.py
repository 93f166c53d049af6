"""A server that cuts prompts off in silence is noticed, and nothing goes by its count."""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from clew import Agent, Compaction, Context, Limits, MemoryStore, read, replay, run, tool
from clew.core.contents import Image, Reply, Usage
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Part, Prompt
from clew.models.http.endpoint import Endpoint
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew.models.undercount import with_size
from clew_testing.servers.http_server import Say
from tests.models import gemini_support, messages
from tests.models.support import over

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])

PROSE = "The valve is opened by hand, and then the pressure falls slowly to two bar. "
ROWS = '{"id": 17, "name": "north", "open": true, "price": 12.5},\n'
CODE = "    for name, value in found.items():\n        total += value * rates[name]\n"
CHINESE = "系统在收到请求之后首先检查缓存,如果没有找到,就会向数据库发送查询。"
RUSSIAN = "После получения запроса система проверяет, есть ли данные в кэше. "


def long(text: str, characters: int) -> str:
    """The text, as often as it takes."""
    return (text * (characters // len(text) + 1))[:characters]


@tool(effect="pure")
def look(place: str) -> str:
    """Look at a place."""
    return long(PROSE, 34_000 if place == "far" else 3_000)


def chat_usage(told: int, **more: Any) -> Mapping[str, Any]:
    return {"prompt_tokens": told, "completion_tokens": 5, "total_tokens": told + 5} | more


FAMILIES: Mapping[str, Any] = {
    "chat": chat_usage,
    "responses": lambda told: {"input_tokens": told, "output_tokens": 5},
    "anthropic": lambda told: {"input_tokens": told, "output_tokens": 5},
    "gemini": lambda told: {"promptTokenCount": told, "candidatesTokenCount": 5},
}


@asynccontextmanager
async def told(family: str, count: int) -> AsyncIterator[Endpoint]:
    """A model whose server counts so many tokens, whatever it is sent."""
    script = [Say("Twelve bar.", usage=FAMILIES[family](count))]
    if family == "anthropic":
        opened: Any = messages.over(script)
    elif family == "gemini":
        opened = gemini_support.over(script)
    else:
        opened = over(script, make={"chat": openai_chat, "responses": openai_responses}[family])
    async with opened as (model, _, _):
        yield model


def question(text: str) -> Prompt:
    return Prompt((Part("system", "Be brief."), Part("user", text)), ())


@on_asyncio
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("text", "count"),
    [
        (long(PROSE, 37_000), 2_048),
        (long(PROSE, 20_000), 2_048),
        (long(PROSE, 70_000), 8_192),
        (long(ROWS, 30_000), 4_096),
        (long(CODE, 30_000), 2_048),
        (long(CHINESE, 12_000), 2_048),
        (long(RUSSIAN, 40_000), 4_096),
        (long("a b c d ", 16_000), 2_048),
        (long(PROSE, 5_000), 512),
    ],
    ids=["prose", "prose by half", "8,192", "rows", "code", "chinese", "russian", "letters", "512"],
)
async def test_a_count_that_no_tokenizer_comes_to_is_noticed(
    family: str, text: str, count: int
) -> None:
    async with told(family, count) as model:
        reply = await model.complete(question(text))
    assert reply.usage.input == count  # as it was told: that is what was read, and paid
    assert reply.undercounted is not None
    assert reply.undercounted.cut
    assert reply.undercounted.prompt >= len(text) // 4
    assert f"{count:,} tokens" in reply.warning
    assert "num_ctx" in reply.warning


@on_asyncio
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("text", "count"),
    [
        (long(PROSE, 37_000), 7_400),  # five characters to a token
        (long(PROSE, 37_000), 20_000),
        (long("international responsibilities notwithstanding ", 12_000), 800),
        (long("=" * 79 + "\n", 12_000), 320),
        (long("    \t   \n", 40_000), 300),
        (long("a" * 79 + "\n", 12_000), 760),
        (long("QmFzZTY0IGlzIG5vdCB3b3Jkcw", 12_000), 5_000),
        (long(CHINESE, 6_000), 2_900),
        (long(PROSE, 1_500), 10),  # too short for any window
        ("What is it?", 1),
    ],
    ids=["sparse", "dense", "long words", "rules", "blanks", "one letter", "base64", "chinese",
         "short", "one"],
)  # fmt: skip
async def test_a_count_that_may_be_right_is_believed(family: str, text: str, count: int) -> None:
    async with told(family, count) as model:
        reply = await model.complete(question(text))
    assert reply.undercounted is None
    assert not reply.warning
    assert reply.prompt_tokens == count


def sized(prompt: Prompt, usage: Usage) -> Reply:
    return with_size(prompt, Reply(usage=usage), 1_000_000)


def test_what_is_beside_the_text_takes_no_count_for_a_cut_one() -> None:
    text = question(long(PROSE, 30_000))
    assert sized(text, Usage(200, cached=6_000)).undercounted is None  # counted beside it
    assert sized(text, Usage(200, written=6_000)).undercounted is None
    assert sized(text, Usage(200, estimated=True)).undercounted is None
    picture = Part("user", "What is it?", attachments=(Image("image/png", bytes(500_000)),))
    assert sized(Prompt((picture,), ()), Usage(90)).undercounted is None


def talk(new: str) -> Prompt:
    """A long talk, and what is new in it."""
    return Prompt(
        (Part("system", long(PROSE, 20_000)), Part("user", "Look.")),
        (Part("assistant", "I look."), Part("tool", new, call_id="1", name="look")),
    )


def test_a_server_that_counts_only_what_is_new_cuts_nothing_off() -> None:
    new = talk(long(PROSE, 4_000))
    found = sized(new, Usage(1_000)).undercounted
    assert found is not None
    assert not found.cut
    assert found.prompt == pytest.approx(6_000, rel=0.02)
    assert not sized(new, Usage(1_000)).warning
    cut = sized(talk(long(PROSE, 40_000)), Usage(2_048)).undercounted
    assert cut is not None
    assert cut.cut


def test_pictures_and_tools_are_in_the_estimate() -> None:
    shown = Part("user", long(PROSE, 20_000), attachments=(Image("image/png", bytes(500_000)),))
    alone = sized(Prompt((shown,), ()), Usage(1_000)).undercounted
    assert alone is not None
    assert alone.prompt == 6_000
    armed = sized(Prompt((shown,), (), tools=(look,)), Usage(1_000)).undercounted
    assert armed is not None
    assert 6_000 < armed.prompt < 6_200


# ------------------------------------------------------------------------------------ in a run


def cutting(window: int, looks: int = 3) -> Any:
    """What a server says that reads so many tokens of a prompt: some looks, then an answer."""

    def turn(body: dict[str, Any]) -> Say:
        count = min(window, len(json.dumps(body)) // 4)
        done = sum(message["role"] == "tool" for message in body["messages"])
        if done < looks:
            place = "far" if looks == 3 and done == 0 else f"near {done}"
            calls = [("look", json.dumps({"place": place}))]
            return Say("", calls, usage=chat_usage(count))
        return Say("Two bar.", usage=chat_usage(count))

    return turn


@on_asyncio
async def test_a_run_says_so_once_and_its_result_too(caplog: pytest.LogCaptureFixture) -> None:
    async with over(cutting(2_048)) as (model, _, _):
        with caplog.at_level(logging.WARNING, "clew"):
            result = await run(Agent(model, [look]), "Look.", store=MemoryStore(), run_id="r")
    (said,) = [each.getMessage() for each in caplog.records]
    assert said.startswith("run r: ")
    assert "its server probably cut the prompt off" in said
    assert "its server probably cut the prompt off" in result.note
    assert "num_ctx" in result.note
    assert result.answer == "Two bar."


@on_asyncio
@pytest.mark.parametrize("cuts", [True, False], ids=["cuts", "counts whole"])
async def test_compaction_goes_by_the_estimate(*, cuts: bool) -> None:
    store, bounds = MemoryStore(), Limits(steps=20, no_progress=None)
    async with over(cutting(2_048 if cuts else 10**9, looks=14)) as (model, _, _):
        context = Context(compaction=Compaction(("mask", "drop"), window=8_000, keep=1))
        agent = Agent(model, [look], context=context, limits=bounds)
        await run(agent, "Look.", store=store, run_id="r")
    record = await read("r", store=store)
    assert record.omitted.compactions
    await replay(agent, "r", store=store)


@on_asyncio
async def test_a_run_whose_server_counts_whole_prompts_says_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with over(cutting(10**9)) as (model, _, _):
        with caplog.at_level(logging.WARNING, "clew"):
            result = await run(Agent(model, [look]), "Look.", store=MemoryStore())
    assert result.note == ""
    assert not caplog.records


class OwnModel:
    """A model of somebody's own, whose server cuts prompts off."""

    info = ModelInfo("own:model")

    def __init__(self, usage: Usage = Usage(2_048, 5)) -> None:  # noqa: B008 # it is frozen
        self.usage = usage

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        return Reply(text="Two bar.", model="own:model", usage=self.usage)


@on_asyncio
async def test_a_model_of_ones_own_is_looked_at_too() -> None:
    agent = Agent(OwnModel())
    assert "own:model counted 2,048" in (await run(agent, long(PROSE, 30_000))).note
    assert (await run(agent, "What is it?")).note == ""


@on_asyncio
async def test_a_model_that_counts_nothing_cuts_nothing_off() -> None:
    assert (await run(Agent(OwnModel(Usage())), long(PROSE, 30_000))).note == ""
