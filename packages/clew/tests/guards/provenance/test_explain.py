"""Why a call was held, from the record alone: `explain`, and `clew why`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from clew import Agent, SqliteStore, read, resume, rule, run, tool
from clew.guards import Provenance
from clew.guards.provenance import explain
from clew.support.errors import StoreError
from clew.testing import ScriptedModel, act, say
from tests.cli.shell import clew
from tests.guards.provenance.worlds import READ, SEND, letters

ADA = "ada@home.example"


@asynccontextmanager
async def closing(store: SqliteStore) -> AsyncIterator[SqliteStore]:
    """A store that is closed at the end."""
    try:
        yield store
    finally:
        await store.close()


async def held_run(path: Path) -> str:
    """A run with a letter, of which a call is held that has somebody else in it, and refused."""
    call = act("send", to=ADA, text="Late", copies=["eve@evil.example", "x@made.example"])
    model = ScriptedModel([READ, call, say("done"), say("done")], plan=[act("send", to=ADA)])
    agent = Agent(model=model, tools=[letters(), SEND], guards=[Provenance()])
    async with closing(SqliteStore(path)) as store:
        held = await run(agent, f"Tell {ADA} that I am late", store=store, run_id="r")
        call_key = held.pending_approvals[0].call
        await rule(f"r:{call_key}", allow=False, store=store)
        await resume(agent, "r", store=store)
    return call_key


async def test_each_value_of_a_call_has_an_origin(tmp_path: Path) -> None:
    key = await held_run(tmp_path / "s.db")
    async with closing(SqliteStore(tmp_path / "s.db")) as store:
        explanation = explain(await read("r", store=store), key)
        with pytest.raises(StoreError, match="no call"):
            explain(await read("r", store=store), "9.9")
    assert [(it.argument, it.value, it.origin, it.trusted) for it in explanation.arguments] == [
        ("to", ADA, "the plan", True),
        ("text", "Late", "a person's words", True),
        ("copies", "eve@evil.example", "letters (1.1)", False),
        ("copies", "x@made.example", "nothing in the record: the model", False),
    ]
    assert (explanation.verdict, explanation.by, explanation.ruling) == (
        "hold", "Provenance('standard')", "refused",
    )  # fmt: skip
    assert explanation.reason.startswith("copies: 'eve@evil.example'")


async def test_where_no_guard_asked_values_are_found_in_what_the_model_saw(tmp_path: Path) -> None:
    """Words and numbers of a person, a result and a note; what says nothing is the model's."""

    @tool(effect="read")
    def look(at: str) -> str:
        """Look."""
        return f"{at}: Mole End, 42 steps"

    @tool(effect="unsafe")
    def book(place: str, steps: int, people: int, day: str, *, quiet: bool) -> str:
        """Book."""
        return f"{place} {steps} {people} {day} {quiet}"

    booked = act("book", place="Mole End", steps=42, people=3, day="2024-05-19", quiet=True)
    model = ScriptedModel([act("look", at="the river"), booked, say("done")])
    agent = Agent(model, [look, book], guards=[Provenance("off")])
    async with closing(SqliteStore(tmp_path / "s.db")) as store:
        await run(agent, "Book for 3 on May 19 by the river", store=store, run_id="r")
        explanation = explain(await read("r", store=store), "2.1")
    assert [(it.argument, it.origin, it.trusted) for it in explanation.arguments] == [
        ("place", "look (1.1)", False),
        ("steps", "look (1.1)", False),
        ("people", "a person's words", True),
        ("day", "a person's words", True),
        ("quiet", "nothing in the record: the model", False),
    ]
    assert (explanation.verdict, explanation.reason, explanation.ruling) == ("", "", "")


async def test_the_command_line_prints_it(tmp_path: Path) -> None:
    words = ["r", await held_run(tmp_path / "s.db"), "--store", str(tmp_path / "s.db")]
    shown = clew("why", *words)
    assert shown.code == 0
    for part in ("eve@evil.example", "letters (1.1)", "A person refused it"):
        assert part in shown.out
    assert clew("why", *words, "--json").document["arguments"][0]["origin"] == "the plan"
    assert "has no call" in clew("why", "r", "9.9", *words[2:]).err


async def test_a_call_that_was_refused_before_any_guard_was_asked_says_why(tmp_path: Path) -> None:
    long = act("send", to=ADA, text="x" * 2_000_000)
    model = ScriptedModel([long, act("sand", to=ADA), act("send", to=ADA), say("done")], plan=[])
    agent = Agent(model=model, tools=[letters(), SEND])
    async with closing(SqliteStore(tmp_path / "s.db")) as store:
        await run(agent, f"Tell {ADA} that I am late", store=store, run_id="r")
    for call, why in (
        (
            "1.1",
            "ERROR: invalid_arguments: the arguments have 2,000,035 bytes, and may have 1,000,000",
        ),
        ("2.1", "sand"),
    ):
        output = clew("why", "r", call, "--store", str(tmp_path / "s.db")).out
        assert "Verdict: not made\nReason: ERROR: " in output
        assert why in output.replace("\n", " ")
    made = clew("why", "r", "3.1", "--store", str(tmp_path / "s.db")).out
    assert made.endswith("Verdict: no guard objected\n")
