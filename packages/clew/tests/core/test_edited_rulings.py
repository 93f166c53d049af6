"""A person gives a held call other arguments: what these would repeat is asked about too."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    MemoryStore,
    Trajectory,
    Verdict,
    fork,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.core.codes import EFFECTFUL
from clew.testing import ScriptedModel, act, acts, say
from clew.tools.fallback import with_fallback
from clew.tools.process import process_tool

DONE = [act("post", to="a"), act("post", to="b", note="")]


async def ruled(
    edited: dict[str, Any] | None, *, tries: int = 2, guards: Sequence[Any] = ()
) -> tuple[list[str], list[str]]:
    """What was sent when a person edits a fork's repetition, and why it waited each time.

    What waits after that is allowed as it stands.
    """
    sent: list[str] = []

    @tool(effect="unsafe")
    def post(to: str, note: str = "") -> str:
        """Send a letter."""
        sent.append(to + note)
        return "sent"

    model = ScriptedModel([acts(*DONE), say("done")])
    store = MemoryStore()
    await run(Agent(model=model, tools=[post]), "?", store=store, run_id="first")
    script = [act("post", to="a"), say("done")]
    again = Agent(model=ScriptedModel(script), tools=[post], guards=guards)
    result = await fork(again, "first", at=0, store=store, new_id="second")
    sent.clear()
    asked = list[str]()
    for number in range(tries):
        waiting = await pending_approvals(store=store)
        asked += [each.why for each in waiting]
        if not waiting:
            break
        args = edited if number == 0 else None
        await rule(f"second:{waiting[0].call}", allow=True, args=args, store=store)
        result = await resume(again, "second", store=store)
    assert result.status == "answered"
    await replay(again, "second", store=store)
    return sent, asked


@pytest.mark.parametrize("edited", [{"to": "b"}, {"to": "b", "note": ""}, {"note": "", "to": "b"}])
async def test_an_edit_into_another_effect_that_was_had_waits_again(edited: dict[str, Any]) -> None:
    sent, asked = await ruled(edited)
    assert sent == ["b"]
    assert ["first:1.1" in asked[0], "first:1.2" in asked[1]] == [True, True]


@pytest.mark.parametrize(
    "edited", [{"to": "a"}, {"to": "a", "note": ""}, {"to": "c"}, {"to": "a", "note": "!"}]
)
async def test_an_edit_of_the_same_effect_or_a_new_one_is_made_at_once(
    edited: dict[str, Any],
) -> None:
    sent, asked = await ruled(edited)
    assert (sent, len(asked)) == ([edited["to"] + edited.get("note", "")], 1)


@dataclass
class Place:
    town: str
    country: str = "GB"


HAD: list[tuple[Any, Any, Any]] = [
    (float, 2, 2.0),
    (
        Annotated[dt.datetime, msgspec.Meta(tz=True)],
        "2026-01-01T10:00:00Z",
        "2026-01-01t11:00:00+01:00",
    ),
    (list[float], [1, 2], [1.0, 2.0]),
    (set[str], ["b", "a"], ["a", "b"]),
    (dict[str, int], {"x": 1, "y": 2}, {"y": 2, "x": 1}),
    (UUID, "12345678-1234-5678-1234-567812345678", "12345678123456781234567812345678"),
    (dt.timedelta, "PT60S", "PT1M"),
    (dict[str, dt.timedelta], {"a": "P1D"}, {"a": "PT24H"}),
    (str, "Jos\u00e9", "Jose\u0301"),
    (Place, {"town": "Hull"}, {"town": "Hull", "country": "GB"}),
    (list[Place], [{"town": "Hull"}], [{"country": "GB", "town": "Hull"}]),
    (dict[str, Place], {"a": {"town": "Hull"}}, {"a": {"town": "Hull", "country": "GB"}}),
]
"""Types, what an effect was had with, and another spelling of it."""


@pytest.mark.parametrize(("kind", "had", "edited"), HAD, ids=range(len(HAD)))
@pytest.mark.parametrize("more", [{}, {"note": ""}], ids=["", "a default"])
async def test_an_edit_into_an_effect_that_was_had_waits_however_it_is_written(
    kind: Any, had: Any, edited: Any, more: dict[str, str]
) -> None:
    sent: list[Any] = []

    async def put(value: Any = None, note: str = "") -> str:
        """Put a value."""
        sent.append(value)
        return "put"

    put.__annotations__["value"] = kind | None
    tools, store = [tool(effect="unsafe")(put)], MemoryStore()
    first = Agent(ScriptedModel([act("put"), act("put", value=had), say("done")]), tools)
    await run(first, "?", store=store, run_id="first")
    again = Agent(ScriptedModel([act("put"), say("done")]), tools)
    await fork(again, "first", at=0, store=store, new_id="second")
    (waiting,) = await pending_approvals(store=store)
    args = {"value": edited, **more}
    await rule(f"second:{waiting.call}", allow=True, args=args, store=store)
    result = await resume(again, "second", store=store)
    assert (result.status, len(sent)) == ("held", 2)
    (waiting,) = await pending_approvals(store=store)
    assert "first:2.1" in waiting.why
    await rule(f"second:{waiting.call}", allow=True, store=store)
    assert (await resume(again, "second", store=store)).status == "answered"
    assert sent[2] == sent[1] or isinstance(sent[1], str)
    await replay(again, "second", store=store)


async def test_a_guard_that_holds_a_call_does_not_hide_that_it_is_a_repetition() -> None:
    sent, asked = await ruled(None, guards=[hold])
    told = "this was done already, by first:1.1: allow it if it is to happen twice"
    assert (sent, asked) == (["a"], [f"May it be sent?; {told}"])


async def test_of_several_guards_that_hold_it_the_first_asks_and_the_repetition_is_told() -> None:
    sent, asked = await ruled(None, guards=[hold, hold_too])
    assert (sent, len(asked)) == (["a"], 1)
    assert asked[0].startswith("May it be sent?; this was done already, by first:1.1: ")


@pytest.mark.parametrize(
    ("edited", "times"),
    [
        ({"to": "a"}, 1),
        ({"to": "a", "note": ""}, 1),
        ({"to": "c"}, 1),
        ({"to": "b"}, 2),
        ({"note": "", "to": "b"}, 2),
    ],
)
async def test_an_edit_of_what_a_guard_holds_is_asked_about_if_it_repeats_something_else(
    edited: dict[str, Any], times: int
) -> None:
    sent, asked = await ruled(edited, guards=[hold])
    assert sent == [edited["to"]]
    assert ["first:1.1" in asked[0], len(asked)] == [True, times]
    assert all("first:1.2" in why for why in asked[1:])


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"to": 1},
        {"to": None},
        {"to": ["a"]},
        {"too": "a"},
        {"to": "a", "more": 1},
        {"to": "a", "count": "two"},
        {"to": "a", "count": 1.5},
        {"to": "a", "count": 0},
        {"to": "a", "kind": "letters"},
        {"to": "", "kind": "letter"},
    ],
)
async def test_arguments_that_the_tool_cannot_take_use_up_no_ruling(args: dict[str, Any]) -> None:
    sent: list[str] = []

    @tool(effect="unsafe")
    def post(
        to: Annotated[str, msgspec.Meta(min_length=1)],
        count: Annotated[int, msgspec.Meta(ge=1)] = 1,
        kind: Literal["letter", "parcel"] = "letter",
    ) -> str:
        """Send something."""
        sent.append(f"{count} {kind} to {to}")
        return "sent"

    store = MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("post", to="a"), say("done")]), tools=[post], guards=[hold]
    )
    await run(agent, "?", store=store, run_id="r")
    with pytest.raises(ConfigError, match="do not fit post, and nothing was ruled: "):
        await rule("r:1.1", allow=True, args=args, store=store)
    await rule("r:1.1", allow=True, args={"to": "b", "kind": "parcel"}, store=store)
    result = await resume(agent, "r", store=store)
    assert (result.status, sent) == ("answered", ["1 parcel to b"])


def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Ask a person about each call."""
    return Verdict("hold", "May it be sent?")


def hold_too(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Ask as well."""
    return Verdict("hold", "Really?")


class Size(msgspec.Struct):
    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            message = "a size is not below 0"
            raise ValueError(message)


@dataclass
class Span:
    first: int
    last: int

    def __post_init__(self) -> None:
        if self.last < self.first:
            message = "the last comes after the first"
            raise ValueError(message)


TYPES: list[tuple[Any, Any, Any]] = [
    (int, 1, 1.0),
    (list[int], [1], [2.0]),
    (dt.date, "2026-01-01", "2026-02-30"),
    (dt.datetime, "2026-01-01T00:00:00", "soon"),
    (dt.time, "10:00:00", "25:00"),
    (dt.timedelta, "PT1S", "long"),
    (UUID, "12345678-1234-5678-1234-567812345678", "x"),
    (bytes, "AAAA", "???"),
    (dict[int, int], {"1": 1}, {"x": 1}),
    (Size, {"x": 1}, {"x": -1}),
    (list[Size], [{"x": 1}], [{"x": 1}, {"x": -1}]),
    (Span, {"first": 1, "last": 2}, {"first": 2, "last": 1}),
    (dict[str, Span], {}, {"a": {"first": 2, "last": 1}}),
    (list[UUID | None], [None], [None, "x"]),
]
"""Types, a value that they take, and one that only they refuse: JSON Schema does not."""


async def held_again(
    kind: Any, good: Any, bad: Any, *, effect: Any, last: bool | None, times: int = 1
) -> list[Any]:
    """What a tool got once a person gave what it does not take, and then ruled on that.

    That is given so many `times`. `last` allows the call with the good value (True), as it stands
    (None), or refuses it.
    """
    got: list[Any] = []

    async def put(value: Any) -> str:
        """Put a value."""
        got.append(value)
        return "put"

    put.__annotations__["value"] = kind
    agent = Agent(
        model=ScriptedModel([act("put", value=good), say("done")]),
        tools=[tool(effect=effect)(put)],
        guards=[hold],
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    for _ in range(times):
        await rule("r:1.1", allow=True, args={"value": bad}, store=store)
        result = await resume(agent, "r", store=store)
        assert (result.status, got) == ("held", [])
        assert (await read("r", store=store)).effects == []
    (waiting,) = await pending_approvals(store=store)
    told = "the arguments of the last ruling do not fit, and nothing was called: put: "
    assert waiting.why.startswith(told)
    assert waiting.args == {"value": bad}
    args = {"value": good} if last else None
    await rule("r:1.1", allow=last is not False, args=args, store=store)
    result = await resume(agent, "r", store=store)
    assert (result.status, await pending_approvals(store=store)) == ("answered", ())
    await replay(agent, "r", store=store)
    seen = (await read("r", store=store)).calls[0].observation
    assert seen is not None
    done = (True, "done", effect) if last else (False, "not_done", seen.effect)
    assert (seen.ok, seen.outcome, seen.effect) == done
    assert bool((await read("r", store=store)).effects) == (got != [] and effect in EFFECTFUL)
    return got


@pytest.mark.parametrize(("kind", "good", "bad"), TYPES, ids=range(len(TYPES)))
async def test_what_only_the_types_refuse_makes_the_call_wait_again(
    kind: Any, good: Any, bad: Any
) -> None:
    assert len(await held_again(kind, good, bad, effect="unsafe", last=True)) == 1


@pytest.mark.parametrize("effect", ["pure", "read", "idempotent", "unsafe"])
@pytest.mark.parametrize("last", [True, None, False])
@pytest.mark.parametrize("times", [1, 2, 3])
async def test_what_waits_again_may_be_mended_refused_or_left(
    effect: str, last: bool | None, times: int
) -> None:
    day, none = "2026-01-01", "2026-13-01"
    got = await held_again(dt.date, day, none, effect=effect, last=last, times=times)
    assert got == ([dt.date(2026, 1, 1)] if last else [])


async def test_each_ruling_with_wrong_arguments_asks_again() -> None:
    got: list[dt.date] = []

    @tool(effect="unsafe")
    def book(day: dt.date) -> str:
        """Book a day."""
        got.append(day)
        return "booked"

    agent = Agent(
        ScriptedModel([act("book", day="2026-01-01"), say("done")]), [book], guards=[hold]
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    for day in ("2026-02-30", "soon", "2026-02-30", "soon", "2026-03-01"):
        assert got == []
        (waiting,) = await pending_approvals(store=store)
        await rule(f"r:{waiting.call}", allow=True, args={"day": day}, store=store)
        await resume(agent, "r", store=store)
    assert (await pending_approvals(store=store), got) == ((), [dt.date(2026, 3, 1)])
    await replay(agent, "r", store=store)


async def test_arguments_of_the_model_that_the_types_refuse_are_told_to_the_model() -> None:
    @tool(effect="unsafe")
    def book(day: dt.date) -> str:
        """Book a day."""
        return "booked"

    store = MemoryStore()
    agent = Agent(ScriptedModel([act("book", day="soon"), say("done")]), [book], guards=[hold])
    await run(agent, "?", store=store, run_id="r")
    await rule("r:1.1", allow=True, store=store)
    assert (await resume(agent, "r", store=store)).status == "answered"
    await replay(agent, "r", store=store)
    seen = (await read("r", store=store)).calls[0].observation
    assert seen is not None
    assert (seen.code, seen.outcome) == ("invalid_arguments", "not_done")


@pytest.mark.slow
@pytest.mark.parametrize("other", [False, True])
async def test_a_tool_in_a_process_or_with_another_one_asks_again_too(other: bool) -> None:
    def second(day: dt.date) -> str:
        """Book a day elsewhere."""
        return "booked elsewhere"

    elsewhere = process_tool(f"{__name__}:weekday", effect="unsafe")
    used = with_fallback(elsewhere, tool(effect="unsafe")(second)) if other else elsewhere
    agent = Agent(
        ScriptedModel([act("weekday", day="2026-01-01"), say("done")]), [used], guards=[hold]
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    for day in ("2026-02-30", "2026-03-01"):
        (waiting,) = await pending_approvals(store=store)
        await rule(f"r:{waiting.call}", allow=True, args={"day": day}, store=store)
        result = await resume(agent, "r", store=store)
    assert (result.status, await pending_approvals(store=store)) == ("answered", ())
    seen = (await read("r", store=store)).calls[0].observation
    assert seen is not None
    assert seen.content == 6
    await replay(agent, "r", store=store)


def weekday(day: dt.date) -> int:
    """Say which day of the week it is."""
    return day.weekday()
