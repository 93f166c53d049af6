"""Effects that another run had: a call that has one again waits, and says which."""

from typing import Any, Final

import pytest

from clew import Agent, Limits, MemoryStore, fork, read, resume, rule, run
from clew.agent.runner import start
from clew.core.actions import Done
from clew.core.loop import run as go
from clew.core.trajectory import args_hash
from clew.core.verdicts import Verdict
from clew.guards.caps import AlreadyDone
from clew.testing.models import Move, ScriptedModel, act, acts, say
from tests.guards.worlds import tool

NUMBER: Final = {"type": "integer"}
SEND: Final = tool("send", lambda n: f"sent {n}", "unsafe", n=NUMBER)
LOOK: Final = tool("look", lambda n: f"seen {n}", "read", n=NUMBER)


def agent(*moves: Move) -> Agent[str]:
    limits = Limits(no_progress=None)
    return Agent(ScriptedModel([*moves, say("ok")]), [SEND, LOOK], limits=limits, prompt="Work.")


async def verdicts(first: tuple[Move, ...], then: tuple[Move, ...]) -> dict[str, Verdict | None]:
    """What was said of the calls of a fork at the beginning of a run."""
    store = MemoryStore()
    await run(agent(*first), "Go.", store=store, run_id="r")
    found = await fork(agent(*then), "r", at=0, store=store, new_id="f")
    record = await read(found.run_id, store=store)
    given = {
        call.key: None if call.verdict is None else call.verdict.verdict for call in record.calls
    }
    assert (found.status == "held") == any(each is not None for each in given.values())
    return given


async def test_what_was_done_is_held_and_names_each_time() -> None:
    said = await verdicts(
        (act("send", n=1), act("send", n=2), act("send", n=1)), (act("send", n=1),)
    )
    assert said == {
        "1.1": Verdict(
            "hold",
            "this was done already, by r:1.1, r:3.1: allow it if it is to happen twice",
            args={"n": 1},
            repeats=("r:1.1", "r:3.1"),
        )
    }


async def test_what_is_other_or_only_reads_is_not_held() -> None:
    said = await verdicts(
        (act("send", n=1), act("look", n=1)), (act("send", n=2), act("look", n=1))
    )
    assert said == {"1.1": None, "2.1": None}


async def test_beside_a_repetition_other_calls_are_made() -> None:
    both = acts(act("send", n=1), act("send", n=2))
    said = await verdicts((act("send", n=1),), (both,))
    assert [each is None for each in said.values()] == [False, True]


async def test_a_person_who_lets_it_happen_twice_is_asked_once() -> None:
    store = MemoryStore()
    await run(agent(act("send", n=1)), "Go.", store=store, run_id="r")
    again = agent(act("send", n=1))
    await fork(again, "r", at=0, store=store, new_id="f")
    await rule("f:1.1", allow=True, store=store)
    assert (await resume(again, "f", store=store)).status == "answered"


@pytest.mark.parametrize(
    ("outcome", "told"), [("done", "this was done"), ("unknown", "this may have been done")]
)
async def test_what_nobody_saw_end_may_have_been_done(outcome: Any, told: str) -> None:
    again, hashed = agent(act("send", n=1)), args_hash("send", {"n": 1})
    done = (
        Done("p:1.1", "send", args_hash("send", {"n": 2}), "send(2)"),
        Done("p:2.1", "send", hashed, "send(1)", outcome),
    )
    journal = await start(again, "Go.", MemoryStore(), run_id="f", done=done)
    (call,) = (await go(again.engine, journal)).calls
    assert call.verdict is not None
    why = "already, by p:2.1: allow it if it is to happen twice"
    assert call.verdict.verdict == Verdict(
        "hold", f"{told} {why}", args={"n": 1}, repeats=("p:2.1",)
    )


def test_two_such_guards_are_equal_whatever_tools_they_know() -> None:
    assert AlreadyDone({"send": SEND}) == AlreadyDone()
    assert repr(AlreadyDone({"send": SEND})) == "AlreadyDone()"


async def test_another_tool_s_effect_is_named_as_it_would_be_had_again() -> None:
    done = (Done("p:1.1", "post", args_hash("post", {"n": 1}), "post(1)"),)
    again = agent(act("send", n=1))
    journal = await start(again, "Go.", MemoryStore(), run_id="f", done=done)
    (call,) = (await go(again.engine, journal)).calls
    assert call.verdict is None
