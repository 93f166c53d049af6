"""A person goes back to before a compaction: what came before is seen again, the branch is not."""

import re

import pytest

import clew
from benchmarks.context.long_runs import WindowModel, page, reading
from clew import Agent, Limits, MemoryStore, Trajectory
from clew.testing.models import Move, act, say
from tests.context.test_compaction import compactions

HANDLE = re.compile(r"\b(\d+)\.1\b")
LIMITS = Limits(steps=500, tool_calls=500, tokens=10**9, seconds=10**5)
LESSON = "those pages are of another book"
PAGE = re.compile(rb"Page (\d+), ")


def agent(model: WindowModel) -> Agent:
    return Agent(model, [page], prompt="Read.", limits=LIMITS, codec=model.codec)


async def long_run(store: MemoryStore) -> Trajectory:
    """A run of 200 pages whose beginning was left out several times."""
    await clew.run(
        agent(WindowModel(reading(200, say("read")))), "Read on.", store=store, run_id="r"
    )
    return await clew.read("r", store=store)


async def rewound(store: MemoryStore, to: int, more: int = 0) -> list[list[bytes]]:
    """The prompts after a rewind, with so many pages read again before the answer."""
    await clew.rewind("r", to=to, lesson=LESSON, store=store)
    last = say("ok")
    model = WindowModel(reading(to + more, last) if to + more else lambda _: last)
    result = await clew.resume(agent(model), "r", store=store)
    assert result.answer == "ok"
    await clew.replay(agent(WindowModel(reading(0))), "r", store=store)
    return model.sent


def pages(prompt: list[bytes]) -> list[int]:
    """The pages that a prompt has results of."""
    return sorted({int(number) for number in PAGE.findall(b"\n".join(prompt))})


@pytest.mark.parametrize("compaction", [0, 1, -1])
@pytest.mark.parametrize("before", [0, 1, 7])
async def test_going_back_to_before_a_compaction_shows_what_came_before_the_branch(
    compaction: int, before: int
) -> None:
    store = MemoryStore()
    cuts = compactions(await long_run(store))
    assert len(cuts) > 2
    to = cuts[compaction].upto - 1 - before
    earlier = max((one.upto for one in cuts if one.upto <= to), default=0)
    (prompt,) = await rewound(store, to)
    assert pages(prompt) == list(range(earlier + 1, to + 1))
    assert LESSON.encode() in b"".join(prompt)


@pytest.mark.parametrize("after", [0, 1, 5])
async def test_going_back_to_after_a_compaction_keeps_it(after: int) -> None:
    store = MemoryStore()
    last = compactions(await long_run(store))[-1]
    prompt, *_ = await rewound(store, last.upto + after)
    assert set(pages(prompt)) <= set(range(last.upto + 1, last.upto + after + 1))
    assert b"left out" in b"".join(prompt[:5])


async def test_to_the_beginning_leaves_the_question_and_the_lesson() -> None:
    store = MemoryStore()
    await long_run(store)
    (prompt,) = await rewound(store, 0)
    assert pages(prompt) == []
    assert LESSON.encode() in b"".join(prompt)


async def test_a_run_that_goes_on_is_compacted_again() -> None:
    store = MemoryStore()
    cuts = compactions(await long_run(store))
    sent = await rewound(store, cuts[0].upto - 1, more=200)
    assert len(compactions(await clew.read("r", store=store))) > len(cuts)
    assert all(pages(prompt) for prompt in sent)


@pytest.mark.parametrize(
    "move",
    [
        act("recall", query="Page 199"),
        act("recall", query="Page 3"),
        act("recall", query="tide"),
        act("read_more", handle="199.1"),
        act("read_more", handle="199.1", query="tide"),
        act("read_more", handle="2.1"),
    ],
)
async def test_what_is_read_of_a_branch_that_was_taken_back_is_marked(move: Move) -> None:
    store = MemoryStore()
    to = compactions(await long_run(store))[-1].upto + 1
    await clew.rewind("r", to=to, lesson=LESSON, store=store)
    moves = iter([move, say("ok")])
    await clew.resume(agent(WindowModel(lambda _: next(moves))), "r", store=store)
    observed = (await clew.read("r", store=store)).steps[-2].calls[0].observation
    assert observed is not None
    lines = [line for line in observed.text.splitlines() if HANDLE.search(line)]
    assert lines
    for line in lines:
        (step, *_) = HANDLE.findall(line)
        assert ("taken back" in line) == (int(step) > to)
