"""A compactor of one's own follows the rules of all parts: what it does wrong names it."""

from collections.abc import Callable
from typing import Any

import pytest

from clew import Agent, Compaction, ConfigError, Context, MemoryStore, PartError, resume, run, tool
from clew.core.contents import Usage
from clew.core.journal import load
from clew.support.parts import stable_name
from clew.testing import ScriptedModel, act, say

PAGES = 8


@tool(effect="read")
def look(page: int) -> str:
    """Look.

    Args:
        page: Which.
    """
    return f"{page} " * 2_000


def reader(compactor: Any) -> Agent:
    """An agent that reads more than its window holds."""
    script = [*(act("look", page=n) for n in range(PAGES)), say("read")]
    compaction = Compaction(by=(compactor,), window=4_000, keep=1)
    return Agent(
        ScriptedModel(script, usage=Usage()), tools=[look], context=Context(compaction=compaction)
    )


def missing(draft: Any) -> None:
    raise KeyError("x")


def leaves(draft: Any) -> None:
    raise SystemExit(3)


def breaks_off(draft: Any) -> None:
    raise GeneratorExit


def asks_wrongly(draft: Any) -> None:
    draft.leave_out_all()


def twice(draft: Any) -> None:
    step = draft.older[0]
    draft.leave_out(step)
    draft.leave_out(step)


def backwards(draft: Any) -> None:
    for step in reversed(draft.older):
        draft.leave_out(step)


def the_last(draft: Any) -> None:
    draft.leave_out(draft.steps[-1])


def half_a_character(draft: Any) -> None:
    step = draft.older[0]
    draft.cut(step.calls[0], step.calls[0].observation, "\ud83d")


def no_text(draft: Any) -> None:
    step = draft.older[0]
    draft.cut(step.calls[0], step.calls[0].observation, 7)


def gives_a_draft(draft: Any) -> Any:
    return draft


def hides_that_it_is_async(draft: Any) -> Any:
    async def later() -> None:
        """Never awaited."""

    coroutine = later()
    coroutine.close()
    return coroutine


@pytest.mark.parametrize(
    "compactor",
    [missing, leaves, breaks_off, asks_wrongly, twice, backwards, the_last, half_a_character,
     no_text, gives_a_draft, hides_that_it_is_async],
)  # fmt: skip
async def test_what_it_does_wrong_is_one_line_that_names_it(compactor: Callable[..., Any]) -> None:
    store = MemoryStore()
    with pytest.raises(PartError) as raised:
        await run(reader(compactor), "Read.", store=store, run_id="r")
    assert f"the compactor {stable_name(compactor)} " in str(raised.value)
    assert "\n" not in str(raised.value)
    assert (await load(store, "r")).stop is None
    mended = reader("drop")
    assert (await resume(mended, "r", store=store, accept_change=True)).answer == "read"


async def test_a_real_ctrl_c_is_nobodys_fault() -> None:
    def interrupted(draft: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await run(reader(interrupted), "Read.", store=MemoryStore())


async def _async(draft: Any) -> None:
    """Nobody awaits it."""


def _of_two(draft: Any, more: Any) -> None:
    """It is called with one."""


class _Class:
    """No instance."""


@pytest.mark.parametrize(
    ("compactor", "why"),
    [
        (_async, "is async"),
        (_of_two, r"is called with \(draft\)"),
        (_Class, "is a class"),
        (3, "is no compactor"),
    ],
)
def test_what_cannot_be_one_is_refused_when_the_agent_is_made(compactor: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        reader(compactor)
