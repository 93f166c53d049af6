"""What is counted in records, why a trial did not pass, and twins that pass only together."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, Evidence, MemoryStore, Observation, ToolError, read, run, tool
from clew.core.contents import RawCall, Reply, Usage
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.evidence import Grounded, audit
from clew.guards.limits import Limits
from clew.testing.models import Line, ScriptedModel, act, acts, finish, say
from clew_evals.measures import PassCount, counted, kind, paired
from clew_evals.outcome import Counted, Kind, Outcome
from clew_strategies import vote

pytestmark = pytest.mark.anyio

NOTE = "The tower of Skarn was built by Ottilie Brandt in 1868."


@tool(effect="read")
def search(query: str) -> Observation:
    """Search the notes."""
    if query == "nothing":
        raise ToolError("no such note")
    return Observation(
        content={"results": [{"doc_id": "doc_1"}]}, evidence=(Evidence("doc_1", NOTE, 0.9),)
    )


def upper(args: dict[str, Json]) -> tuple[dict[str, Json], str] | None:
    """A repair: `q` is meant as `query`."""
    return ({"query": args["q"]}, "q is query") if "q" in args else None


async def ran(*script: Line, **more: Any) -> Trajectory:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel(script), tools=more.pop("tools", [search]), **more)
    result = await run(agent, "Who built the tower?", store=store)
    return await read(result.run_id, store=store)


async def test_all_that_a_record_says_is_counted() -> None:
    record = await ran(
        acts(act("search", query="tower"), act("search", query="nothing"), act("lookup", key=1)),
        act("search", qery="tower"),
        Reply(text="", calls=(RawCall(name="search", arguments=None, id="c1"),), usage=Usage(1, 1)),
        Reply(usage=Usage(3, 0, cost=0.05)),
        finish("Ottilie Brandt built it in 1868 [doc_1]. It fell in 1950 [doc_1]. Pity."),
    )
    stop = record.stop
    assert stop is not None
    counts = counted([record], audit(stop.answer, record))
    assert counts == Counted(
        steps=5,
        usage=Usage(34, 16, min_cost=0.05),  # of others nobody knows what they cost
        seconds=record.total.active_ms / 1000,
        faults=1,
        repairs=1,
        landings=0,
        calls={"search": 2},
        failed_calls={"search": 1},
        unknown={"lookup": 1},
        bad_arguments={"search": 2},
        claims=2,
        supported=1,
    )
    assert counted([record]).claims == 0
    assert counted([]) == Counted()


async def test_an_answer_that_was_refused_is_no_call_that_failed() -> None:
    script = act("search", query="tower"), finish("It was built in 1999."), say("I cannot tell.")
    record = await ran(*script, checks=[Grounded()])
    assert [call.observation.code for call in record.calls if call.observation] == ["", "rejected"]
    assert counted([record]).failed_calls == {}


async def test_arguments_that_a_tool_mends_are_repairs_and_no_errors() -> None:
    lenient = replace(search, repair=upper)
    record = await ran(act("search", q="tower"), say("Brandt"), tools=[lenient])
    counts = counted([record])
    assert (counts.repairs, counts.calls, counts.bad_arguments) == (1, {"search": 1}, {})


async def test_a_landing_is_counted_with_its_thought() -> None:
    record = await ran(act("search", query="a"), say("Brandt"), limits=Limits(steps=1))
    counts = counted([record])
    assert (counts.steps, counts.landings) == (2, 1)


async def test_of_a_vote_all_runs_are_counted_together() -> None:
    store = MemoryStore()
    model = ScriptedModel([act("search", query="tower"), say("Ottilie Brandt")])
    voted = await vote(Agent(model=model, tools=[search]), "Who?", 3, store=store, run_id="v")
    begun = [each for each in voted.runs if each.steps]  # two that agree decide: none may be left
    counts = counted([await read(each.run_id, store=store) for each in begun])
    assert counts.steps == sum(each.steps for each in begun) == voted.result.steps
    assert counts.usage == voted.result.usage
    assert counts.calls["search"] >= 2


# ---------------------------------------------------------------------------------------- kinds


def outcome(**more: Any) -> Outcome:
    return msgspec.structs.replace(Outcome("a", "k", "m", "r", "answered"), **more)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"passed": True, "right": True, "counted": Counted(faults=3)}, None),
        ({"right": True, "counted": Counted(faults=3)}, "twin"),
        ({"status": "failed", "stopped": False, "counted": Counted(faults=3)}, "failed"),
        ({"status": "failed", "counted": Counted(claims=1)}, "rejected"),
        ({"status": "bound", "counted": Counted(unknown={"x": 1})}, "bound"),
        ({"status": "held"}, "held"),
        ({"status": "interrupted"}, "held"),
        ({"status": "refused"}, "refused"),
        ({"counted": Counted(faults=1, unknown={"x": 1})}, "fault"),
        ({"counted": Counted(unknown={"x": 1}, bad_arguments={"x": 1})}, "no such tool"),
        ({"counted": Counted(bad_arguments={"x": 1}, claims=1)}, "bad arguments"),
        ({"counted": Counted(claims=2, supported=1)}, "unsupported claim"),
        ({"counted": Counted(claims=2, supported=2)}, "wrong answer"),
    ],
)
def test_the_first_reason_that_fits_is_the_kind(more: dict[str, Any], expected: Kind) -> None:
    assert kind(outcome(**more)) == expected


ROWS = st.lists(
    st.builds(
        outcome,
        case=st.sampled_from("abc"),
        pair=st.sampled_from(["", "p", "q"]),
        configuration=st.sampled_from("kl"),
        model=st.sampled_from("mn"),
        seed=st.integers(0, 1),
        repetition=st.integers(1, 2),
        right=st.booleans(),
    ),
    max_size=12,
)


@given(ROWS)
def test_twins_pass_only_together(rows: list[Outcome]) -> None:
    done = paired(rows)
    assert [each.case for each in done] == [each.case for each in rows]
    for one, before in zip(done, rows, strict=True):
        twins = [
            other.right
            for other in rows
            if one.pair
            and (other.pair, other.configuration, other.model, other.seed, other.repetition)
            == (one.pair, one.configuration, one.model, one.seed, one.repetition)
        ]
        assert one.passed == (before.right and all(twins))
        assert (one.kind is None) == one.passed
        assert (one.kind == "twin") == (one.right and not one.passed)
    assert paired(done) == done


@given(ROWS, st.lists(st.booleans(), max_size=12))
def test_what_passed_is_counted_one_by_one_as_all_together(
    rows: list[Outcome], before: list[bool]
) -> None:
    ended = [msgspec.structs.replace(one, run_id=str(n)) for n, one in enumerate(rows)]
    tally = PassCount()
    for one, was in zip(ended, before, strict=False):  # some are tried again
        tally.add(msgspec.structs.replace(one, right=was))
    for one in ended:
        tally.add(one)
    assert tally.passed == sum(one.passed for one in paired(ended))
