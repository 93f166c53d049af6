"""Usage as it is told, told in part, or not told: what nobody measured is marked."""

import math
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from clew import Agent, Limits, MemoryStore, ModelError, run
from clew.core.contents import Reply, Usage
from clew.core.models import ModelInfo
from clew.core.specs import Rates
from clew.models.openai.chat import openai_chat
from clew.models.openai.completions import openai_completions
from clew.models.openai.responses import openai_responses
from clew_testing.servers.http_server import Say, Send
from tests.models import gemini_support, messages
from tests.models.support import ask, delta, event, listener, over

SSE = "text/event-stream"
DONE = b"data: [DONE]\n\n"
TEXT = "Twelve signs"

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])
BOTH = pytest.mark.parametrize("streamed", [False, True], ids=["plain", "streamed"])

NAMES: dict[str, tuple[str, str, str]] = {
    "chat": ("prompt_tokens", "completion_tokens", "total_tokens"),
    "completions": ("prompt_tokens", "completion_tokens", "total_tokens"),
    "responses": ("input_tokens", "output_tokens", "total_tokens"),
    "anthropic": ("input_tokens", "output_tokens", ""),
    "gemini": ("promptTokenCount", "candidatesTokenCount", "totalTokenCount"),
}
MAKE: Mapping[str, Any] = {
    "chat": openai_chat, "completions": openai_completions, "responses": openai_responses,
}  # fmt: skip


async def usage_of(family: str, told: Any, *, streamed: bool) -> tuple[Usage, int]:
    """The usage of a reply whose server tells this, and the bytes of the request."""
    return (await usages_of(family, [told], streamed=streamed))[0]


async def usages_of(family: str, told: list[Any], *, streamed: bool) -> list[tuple[Usage, int]]:
    """The usage of a reply for each thing that its server tells, and the bytes of its request."""
    said = [Say(TEXT, usage=each) for each in told]
    if family == "anthropic":
        opened: Any = messages.over(said)
    elif family == "gemini":
        opened = gemini_support.over(said)
    else:
        opened = over(said, make=MAKE[family])
    async with opened as (model, server, _):
        read = [await model.complete(ask(), listener([]) if streamed else None) for _ in told]
    sizes = [len(request.raw) for request in server.requests]
    return [(reply.usage, size) for reply, size in zip(read, sizes, strict=True)]


WRONG: list[Any] = [
    *(0, -5, None, "12", True, "lots", [], {"a": 1}, 1e308 * 0 - 1),
    *(1e30, 10**30, 1e9, -1e30, 12.5, 0.1, False, "1e3", [12]),
]


@on_asyncio
@BOTH
@pytest.mark.parametrize("family", NAMES)
async def test_figures_that_cannot_be_right_are_estimated(family: str, streamed: bool) -> None:
    prompt, reply, _ = NAMES[family]
    told = [{prompt: wrong, reply: wrong} for wrong in WRONG]
    read = await usages_of(family, told, streamed=streamed)
    assert read == [(Usage(size // 4, 3, estimated=True), size) for _, size in read]


SHAPES: list[Any] = [[], [1, 2], [{"a": 5}], "12 tokens", "", 7, 1e30, -1, True, False]


@on_asyncio
@BOTH
@pytest.mark.parametrize("family", NAMES)
async def test_usage_that_is_no_object_is_estimated_and_the_reply_counts(
    family: str, streamed: bool
) -> None:
    read = await usages_of(family, SHAPES, streamed=streamed)
    assert read == [(Usage(size // 4, 3, estimated=True), size) for _, size in read]


SUMS = [
    ("anthropic", "input_tokens", "cache_read_input_tokens"),
    ("anthropic", "input_tokens", "cache_creation_input_tokens"),
    ("gemini", "promptTokenCount", "toolUsePromptTokenCount"),
    ("gemini", "candidatesTokenCount", "thoughtsTokenCount"),
]


@on_asyncio
@pytest.mark.parametrize(("family", "key", "beside"), SUMS)
async def test_a_sum_of_a_right_and_a_wrong_figure_is_estimated(
    family: str, key: str, beside: str
) -> None:
    prompt, reply, _ = NAMES[family]
    wrong: list[Any] = [1e30, -5, 12.5, "12", True, [], {}]
    pairs = [*((each, 7) for each in wrong), *((7, each) for each in wrong)]
    told = [{prompt: 40, reply: 9, key: one, beside: other} for one, other in pairs]
    for usage, size in await usages_of(family, told, streamed=False):
        rough = (40, 3) if key == reply else (size // 4, 9)
        assert (usage.input, usage.output, usage.estimated) == (*rough, True)


@on_asyncio
@pytest.mark.parametrize("family", NAMES)
async def test_whole_numbers_may_be_written_as_floats(family: str) -> None:
    prompt, reply, _ = NAMES[family]
    usage, _ = await usage_of(family, {prompt: 40.0, reply: 9.0}, streamed=False)
    assert usage == Usage(40, 9)


@on_asyncio
@pytest.mark.parametrize("family", NAMES)
@pytest.mark.parametrize("wrong", [0, -1, "7", False])
async def test_of_half_told_usage_the_right_half_counts(family: str, wrong: Any) -> None:
    prompt, reply, _ = NAMES[family]
    usage, sent = await usage_of(family, {prompt: 40, reply: wrong}, streamed=False)
    assert (usage.input, usage.output, usage.estimated) == (40, 3, True)
    usage, sent = await usage_of(family, {prompt: wrong, reply: 7}, streamed=False)
    assert (usage.input, usage.output, usage.estimated) == (sent // 4, 7, True)


@on_asyncio
@pytest.mark.parametrize("family", [name for name, keys in NAMES.items() if keys[2]])
async def test_the_total_tells_the_half_that_is_missing(family: str) -> None:
    prompt, reply, total = NAMES[family]
    usage, _ = await usage_of(family, {prompt: 40, total: 52}, streamed=False)
    assert (usage.input, usage.output, usage.estimated) == (40, 12, False)
    usage, _ = await usage_of(family, {reply: 12, total: 52}, streamed=False)
    assert (usage.input, usage.output, usage.estimated) == (40, 12, False)
    usage, _ = await usage_of(family, {total: 52}, streamed=False)
    assert (usage.tokens, usage.estimated) == (52, True)


AFTER = [
    {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    {"prompt_tokens": -1, "completion_tokens": None},
    {"prompt_tokens": None, "completion_tokens": False},
    {"prompt_tokens_details": None, "completion_tokens": "0"},
    {},
    None,
]


@on_asyncio
@pytest.mark.parametrize("make", [openai_chat, openai_completions])
@pytest.mark.parametrize("after", AFTER, ids=repr)
async def test_zeros_behind_right_figures_take_none_of_them_back(make: Any, after: Any) -> None:
    right = {
        "prompt_tokens": 9,
        "completion_tokens": 2,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    piece = {"index": 0, "text": TEXT, "delta": {"content": TEXT}, "finish_reason": "stop"}
    first = event(choices=[piece], usage=right)
    said = Send(first + event(choices=[], usage=after) + DONE, SSE)
    async with over([said], make=make) as (model, _, _):
        usage = (await model.complete(ask(), listener([]))).usage
    assert (usage.input, usage.output, usage.cached, usage.estimated) == (9, 2, 4, False)


@on_asyncio
async def test_zeros_behind_right_figures_take_none_of_them_back_at_anthropic() -> None:
    begun = event(type="message_start", message={"usage": {"input_tokens": 30, "output_tokens": 1}})
    block = {"type": "text", "text": TEXT}
    said = begun + event(type="content_block_start", index=0, content_block=block)
    end = {"stop_reason": "end_turn"}
    for usage in ({"output_tokens": 6}, {"input_tokens": 0, "output_tokens": 0}):
        said += event(type="message_delta", delta=end, usage=usage)
    async with messages.over([Send(said + event(type="message_stop"), SSE)]) as (model, _, _):
        found = (await model.complete(ask(), listener([]))).usage
    assert found == Usage(30, 6)


@on_asyncio
async def test_more_from_the_cache_than_there_was_never_costs_less_than_nothing() -> None:
    told = {
        "prompt_tokens": 10,
        "completion_tokens": 1,
        "prompt_tokens_details": {"cached_tokens": 900, "cache_write_tokens": 900},
        "completion_tokens_details": {"reasoning_tokens": 50},
    }
    async with over([Say(TEXT, usage=told)], provider="deepseek") as (model, _, _):
        usage = (await model.complete(ask())).usage
    assert (usage.cached, usage.written, usage.reasoning) == (10, 0, 1)


@on_asyncio
@pytest.mark.parametrize(
    ("told", "cost"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": 0.25}, 0.25),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": 0}, 0.0),
        ({"prompt_tokens": 0, "completion_tokens": 0, "cost": 0}, None),
        ({"cost": 0}, None),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": -1}, None),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": True}, None),
        ({"prompt_tokens": 9, "completion_tokens": 2, "cost": "free"}, None),
    ],
)
async def test_a_told_cost_counts_only_if_it_can_be_right(told: Any, cost: float | None) -> None:
    async with over([Say(TEXT, usage=told)], provider="router") as (model, _, _):
        assert (await model.complete(ask())).usage.cost == cost


@on_asyncio
async def test_an_empty_reply_may_take_no_tokens() -> None:
    choice = {"index": 0, "message": {"content": ""}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 9, "completion_tokens": 0}
    said = Send(msgspec.json.encode({"choices": [choice], "usage": usage}))
    async with over([said]) as (model, _, _):
        assert (await model.complete(ask())).usage == Usage(9, 0)


@on_asyncio
async def test_a_stream_that_ends_early_has_an_estimate() -> None:
    said = Send(delta(content="One two") + delta("stop") + DONE, SSE)
    async with over([said]) as (model, _, _):
        reply = await model.complete(ask(), listener([], lambda text: "two" in text))
    assert reply.usage.estimated


class Own:
    """A model of one's own, which says what its replies took."""

    def __init__(self, usage: Usage, rates: Rates | None = None) -> None:
        self.info = ModelInfo("own:model", priced=True, rates=rates)
        self.usage = usage
        self.asked = 0

    async def complete(self, prompt: Any, on_text: Any = None) -> Reply:
        self.asked += 1
        return Reply("", usage=self.usage)  # an empty reply is a fault: it is asked again


COSTS = [math.nan, math.inf, -math.inf, -0.01, -5, True, "1.00"]


@on_asyncio
@pytest.mark.parametrize("cost", COSTS, ids=repr)
async def test_a_cost_that_is_none_does_not_switch_the_limit_off(cost: Any) -> None:
    model = Own(Usage(100, 10, cost=cost))
    agent = Agent(model=model, limits=Limits(cost=1.0, faults=9))
    with pytest.raises(ModelError, match=r"a cost of .*: give US dollars"):
        await run(agent, "What?", store=MemoryStore())
    assert model.asked == 1


@on_asyncio
@pytest.mark.parametrize("cost", COSTS, ids=repr)
async def test_where_rates_are_known_they_tell_the_cost(cost: Any) -> None:
    model = Own(Usage(100_000, 10, cost=cost), Rates(10.0, 10.0, 10.0))
    agent = Agent(model=model, limits=Limits(cost=2.5, faults=9, tokens=10_000_000))
    result = await run(agent, "What?", store=MemoryStore())
    assert result.status == "bound"
    assert result.reason.startswith("cost")
    assert model.asked <= 3
    assert result.usage.estimated


@on_asyncio
@pytest.mark.parametrize(
    "usage",
    [Usage(-100, 10), Usage(100, -10), Usage(1, 1, cached=-1), Usage(True, True),
     Usage(math.nan, 1), Usage("9", "9"), Usage(1.5, 2), Usage(-1, -1, cost=0.5)],  # type: ignore[arg-type] # what a user may give
    ids=repr,
)  # fmt: skip
async def test_impossible_tokens_are_estimated(usage: Usage) -> None:
    model = Own(usage)
    agent = Agent(model=model, limits=Limits(faults=2, landing=False))
    result = await run(agent, "What?" * 400, store=MemoryStore())
    assert result.status == "bound"
    assert result.usage.estimated
    assert result.usage.input >= 2 * 400 * 5 // 4
