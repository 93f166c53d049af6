"""Each request begins with the whole of the one before, and costs the same however long the run."""

import gc
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from clew import Agent, Limits, MemoryStore, resume, run
from clew import tool as make_tool
from clew.context import PROMPT, Instructions
from clew.context.view import RESTATE_CHARS
from clew.core.contents import RawCall, Reply, Usage
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Part, Prompt
from clew.core.values import Json
from clew.models.anthropic.messages import anthropic_messages
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew.support.prompt_parts import Parts, joined
from clew.testing.models import act, say
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.core.watched import watched

STEPS = 50
GOAL = "Find the word. " + "Mind that it is written in small letters. " * 190  # 8 kB
TEXT = "Nothing of the kind stands on this page. " * 60  # 2.4 kB


@make_tool(effect="read")
def page(number: int) -> str:
    """Read a page."""
    return f"{number}: {TEXT}"


def pages(body: Any) -> Say:
    """Read one page after the other, then answer."""
    said = body.get("messages") or body["input"]
    done = sum(_is_result(message) for message in said)
    if done < STEPS - 1:
        return Say("", calls=[("page", f'{{"number": {done + 1}}}')])
    return Say("clew")


def _is_result(message: dict[str, Any]) -> bool:
    if message.get("role") == "tool" or message.get("type") == "function_call_output":
        return True
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return any(block.get("type") == "tool_result" for block in blocks)


def flat(body: Any) -> list[Json]:
    """What is said in a request, in order, without the marks for the cache."""
    said = body.get("messages") or body["input"]
    found: list[Json] = []
    for message in said:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [message]
        found += [{key: it for key, it in one.items() if key != "cache_control"} for one in blocks]
    return found


MAKES: dict[str, tuple[Any, Any]] = {
    "chat": (OpenAIServer, openai_chat),
    "responses": (OpenAIServer, openai_responses),
    "anthropic": (AnthropicServer, anthropic_messages),
}


@pytest.mark.parametrize("tell_left", ["near", "always"])
@pytest.mark.parametrize("kind", MAKES)
async def test_every_request_begins_with_the_whole_one_before(kind: str, tell_left: Any) -> None:
    server_of, make = MAKES[kind]
    with server_of(pages) as server:
        model = make("scripted", base_url=server.base_url, api_key="k")
        limits = Limits(steps=STEPS, tool_calls=STEPS)
        prompt = PROMPT.replace(tell_left=tell_left)
        agent = Agent(model=model, tools=[page], limits=limits, prompt=prompt)
        result = await run(agent, GOAL, store=MemoryStore())
        await model.close()
        requests = [flat(request.body) for request in server.requests]
    assert (result.answer, len(requests)) == ("clew", STEPS)
    begun = [now[: len(before)] == before for before, now in pairwise(requests)]
    assert (sum(begun), len(begun)) == (STEPS - 1, STEPS - 1)
    said = msgspec.json.encode(requests[-1]).decode()
    most = len(said) // RESTATE_CHARS
    assert most - 2 <= said.count("The question again:") <= most
    assert said.count(GOAL.strip()) == 1
    assert len(said) < len(GOAL) + STEPS * (len(TEXT) + 800)


async def test_a_tail_of_ones_own_stays_where_it_was_said() -> None:
    def count(trajectory: Any, left: Any) -> str:
        return f"{len(trajectory)} entries so far."

    model = watched(act("page", number=1), act("page", number=2), say("ok"), say("more"))
    agent = Agent(model=model, tools=[page], prompt=Instructions("Be brief.").replace(tail=count))
    store = MemoryStore()
    result = await run(agent, "What?", store=store)
    await resume(agent, result.run_id, say="And?", store=store)
    texts = [[part.text for part in prompt] for prompt in model.sent]
    for before, now in pairwise(texts):
        assert now[: len(before)] == before
    assert [text for text in texts[2] if "entries" in text] == [
        "NOTE: 1 entries so far.", "NOTE: 3 entries so far.", "NOTE: 5 entries so far.",
    ]  # fmt: skip


class Counting:
    """A model that never answers, and counts the calls of functions between two of its replies.

    It has the official client's adapter write each prompt.
    """

    info = ModelInfo("scripted:counting")

    def __init__(self, make: Any, at: Sequence[int], usage: Usage) -> None:
        self.writer = make("m", base_url="http://127.0.0.1:9/v1", api_key="k")
        self.at, self.usage = at, usage
        self.asked = 0
        self.counts: list[int] = []
        self._made = 0

    def _count(self, _frame: object, event: str, _arg: object) -> None:
        self._made += event in {"call", "c_call"}

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.writer.info.validate(prompt)
        self.asked += 1
        if self._made:
            sys.setprofile(None)
            self.counts.append(self._made)
            self._made = 0
        if self.asked > max(self.at):
            return Reply("done")
        call = RawCall(name="page", arguments=f'{{"number": {self.asked}}}', id=f"c{self.asked}")
        if self.asked in self.at:
            sys.setprofile(self._count)
        return Reply(calls=(call,), finish="calls", usage=self.usage)


@pytest.fixture
def no_collections() -> Iterator[None]:
    """Collect no garbage: whatever listens to that is called in whichever step it comes."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.slow
@pytest.mark.usefixtures("no_collections")
@pytest.mark.parametrize(
    ("make", "usage"),
    [
        (openai_chat, Usage(100_000, 1)),  # no fewer than the prompt has: a count to believe
        (openai_responses, Usage(100_000, 1)),
        pytest.param(openai_chat, Usage(), id="a model that reports no usage"),
    ],
)
async def test_a_step_costs_the_same_calls_after_two_thousand_as_after_a_hundred(
    make: Any, usage: Usage
) -> None:
    early, late = range(100, 105), range(2_000, 2_005)
    model = Counting(make, (*early, *late), usage)
    limits = Limits(steps=3_000, tool_calls=3_000, tokens=10**12, seconds=600.0)
    agent = Agent(model=model, tools=[_short()], limits=limits)
    assert (await run(agent, "Go.", store=MemoryStore())).answer == "done"
    # The least of some: what goes by the clock (a claim that is renewed) comes in any step.
    few, many = min(model.counts[: len(early)]), min(model.counts[len(early) :])
    assert len(model.counts) == len(early) + len(late)
    assert many == pytest.approx(few, rel=0.05)


def _short() -> Any:
    async def page(number: int) -> str:
        """Read a page."""
        return str(number)

    return make_tool(effect="read")(page)


@pytest.mark.slow
@pytest.mark.usefixtures("no_collections")
@pytest.mark.parametrize("most", [1_000_000, 3])
async def test_a_call_costs_the_same_calls_among_a_thousand_as_among_a_hundred(most: int) -> None:
    counts: list[float] = []
    for number in (128, 1_024):
        made = 0

        def count(_frame: object, event: str, _arg: object) -> None:
            nonlocal made
            made += event in {"call", "c_call"}

        calls = tuple(
            RawCall(name="page", arguments=f'{{"number": {each}}}', id=f"c{each}")
            for each in range(number)
        )
        model = watched(Reply(calls=calls, finish="calls"), say("done"))
        limits = Limits(tool_calls=1_000_000, calls_per_step=most)
        agent = Agent(model=model, tools=[_short()], limits=limits)
        sys.setprofile(count)
        try:
            await run(agent, "Go.", store=MemoryStore())
        finally:
            sys.setprofile(None)
        counts.append(made / number)
    assert counts[1] < counts[0] * 1.1


def test_parts_grow_and_what_was_shown_of_them_stays() -> None:
    one, two, three = (Part("user", text) for text in "abc")
    written: list[str] = []

    def write(part: Part) -> bytes:
        written.append(part.text)
        return part.text.encode()

    first = Parts([one])
    second = first.grown([two])
    other = first.grown([three])
    assert [list(parts) for parts in (first, second, other)] == [[one], [one, two], [one, three]]
    assert (second[-1], second[0:1], len(second), two in second) == (two, [one], 2, True)
    with pytest.raises(IndexError):
        first[1]
    assert joined(first, "k", write) == b"a"
    assert joined(second, "k", write) == b"a,b"
    assert joined(second, "k", write) == b"a,b"
    assert written == ["a", "b"]
    assert joined(first, "k", write) == b"a"  # made again
    assert joined(other, "k", write) == b"a,c"
    assert joined((one, two), "k", write) == b"a,b"
