"""How entries look: whatever a model or a tool wrote, it is text and stays in its place."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import Agent, MemoryStore, read, resume, run, tool
from clew.agent.runner import start
from clew.agent.subagents import delegate
from clew.cli.outcome import ShownResult, document, summary
from clew.cli.render import (
    CHARACTERS,
    LINES,
    TextBlock,
    dollars,
    readable,
    render_event,
    shorten,
    written,
)
from clew.core.actions import Action, Done, PlannedCall
from clew.core.contents import Evidence, Observation, RawCall, Reply, Usage, text_parts
from clew.core.events import (
    AnyEvent,
    Attempt,
    Cancel,
    Changed,
    Charged,
    Fingerprints,
    Forked,
    Judged,
    Landing,
    Note,
    Planned,
    Ruling,
    Started,
    Stop,
    Thought,
)
from clew.core.loop import run as go
from clew.core.specs import AgentSpec, ToolSetting
from clew.core.trajectory import Call, Trajectory
from clew.core.values import encode
from clew.core.verdicts import Verdict
from clew.retention.traces import read_trace, trace
from clew.support.printable import inert
from clew.testing.models import ScriptedModel, say

CALC = ToolSetting("1", "pure", "abc")
SETTING = AgentSpec("f", "m:x", "native/1", "Prompt.", tools={"calc": CALC})
MANY = AgentSpec("f", "m:x", "native/1", "Prompt.", tools=dict.fromkeys(map(str, range(27)), CALC))
PRINTS = Fingerprints("", "", "", "")
EVENTS: list[tuple[AnyEvent, list[str], list[str]]] = [
    # the event, its lines in `show`, its lines while it runs
    (Started(text_parts("Q?"), SETTING), ["Question: Q?", "Agent: m:x, native/1, tools: calc"], []),
    (
        Thought(Reply(), PRINTS, "Hm.", (Action("f", {"x": 1}), Action("finish", {"answer": "A"}))),
        ["Thought 2: Hm.", "Action 2.1: f(x=1)", 'Action 2.2: finish(answer="A")'],
        ["Thought 2: Hm.", "Action 2.1: f(x=1)"],
    ),
    (Thought(Reply(), PRINTS, answer="A"), ["Answer 2: A"], []),
    (
        Started(text_parts("Q?"), MANY),
        [
            "Question: Q?",
            f"Agent: m:x, native/1, tools: {', '.join(map(str, range(20)))} and 7 more",
        ],
        [],
    ),
    (
        Thought(Reply(), PRINTS, "Hm.", visible_tools=("f", "g")),
        ["Tools 2: shown from here on: f, g", "Thought 2: Hm."],
        ["Tools 2: shown from here on: f, g", "Thought 2: Hm."],
    ),
    (
        Thought(Reply(), PRINTS, fault="no call", repairs=("quotes",)),
        ["Repair 2: quotes", "Fault 2: no call"],
        ["Repair 2: quotes", "Fault 2: no call"],
    ),
    (
        Thought(Reply(), PRINTS, actions=(Action("f", fault="bad JSON"),)),
        ["Action 2.1: f(?)  bad JSON"],
        ["Action 2.1: f(?)  bad JSON"],
    ),
    (
        Observation("2.1", "ERROR: crashed", ok=False, outcome="unknown", detail="Traceback"),
        [
            "Observation 2.1: ERROR: crashed",
            "Unknown 2.1: it may or may not have happened",
            "Detail 2.1: Traceback",
        ],
        ["Observation 2.1: ERROR: crashed", "Unknown 2.1: it may or may not have happened"],
    ),
    (
        Observation("2.1", {"a": 1}, evidence=(Evidence("d_1", "two\nlines", 0.5, "a.md"),)),
        ['Observation 2.1: {"a":1}'],
        ["Observation 2.1: [d_1] 0.50 a.md: two lines"],
    ),
    (
        Judged("2.1", Verdict("deny", "no"), by="guard"),
        ["Verdict 2.1: deny: no (guard)"],
        ["Verdict 2.1: deny: no (guard)"],
    ),
    (
        Ruling("2.1", allow=True, args={"x": 2}, why="less", by="ann"),
        ['Ruling 2.1: allowed with {"x":2}: less (by ann)'],
        ['Ruling 2.1: allowed with {"x":2}: less (by ann)'],
    ),
    (Ruling("2.1", allow=False), ["Ruling 2.1: refused"], ["Ruling 2.1: refused"]),
    (Attempt("2.1", "f", "h", 1.0), ["Attempt 2.1: attempt 1 of f"], []),
    (
        Attempt("2.1", "f", "h", 1.0, 2, "it was busy"),
        ["Attempt 2.1: attempt 2 of f, after: it was busy"],
        ["Attempt 2.1: attempt 2 of f, after: it was busy"],
    ),
    (
        Attempt("2.1", "f", "h", 1.0, task="t7"),
        TASK := ["Call 2.1: the server of f works on this call; its number there is t7"],
        TASK,
    ),
    (Note(text_parts("go on")), ["You: go on"], []),
    (Note(text_parts("too short"), "check"), ["Check 2: too short"], ["Check 2: too short"]),
    (
        Note(
            text_parts("so it waits"), "late", done=(Done("r-2:1.1", "f", "h", "f({})", "unknown"),)
        ),
        BESIDE := ["Late: so it waits", "Done before: f({}) (may have been done by r-2:1.1)"],
        BESIDE,
    ),
    (Changed(SETTING, ("model",)), ["Changed: model"], ["Changed: model"]),
    (Forked("r", 3, SETTING), ["Fork: of r after step 3"], ["Fork: of r after step 3"]),
    (
        Forked("r", 0, SETTING, ("model",), (Done("r:1.1", "f", "h", "f({})", "unknown"),)),
        FORKED := [
            "Fork: of r after step 0; changed: model",
            "Done before: f({}) (may have been done by r:1.1)",
        ],
        FORKED,
    ),
    (
        Charged(Usage(1_000, 200, cost=0.01, estimated=True), why="nobody saw the reply"),
        CHARGED := ["Charged: about 1,200 tokens and $0.0100 may be lost: nobody saw the reply"],
        CHARGED,
    ),
    (
        Charged(Usage(1_000, 200), "time_up", "nobody saw it"),
        UNPRICED := ["Charged: about 1,200 tokens may be lost: nobody saw it"],
        UNPRICED,
    ),
    (
        Charged(Usage(100, 7), "critic", "the critic after step 2: nothing wrong"),
        CRITIC := ["Charged: 107 tokens: the critic after step 2: nothing wrong"],
        CRITIC,
    ),
    (
        Charged(Usage(100, 7), "time_up", "the critic after step 2: nothing wrong"),
        TIME_UP := [
            "Charged: about 107 tokens may be lost: the critic after step 2: nothing wrong"
        ],
        TIME_UP,
    ),
    (
        Charged(Usage(100, 7), "critic", "alles gut"),
        OF_CRITIC := ["Charged: 107 tokens: alles gut"],
        OF_CRITIC,
    ),
    (Charged(Usage(), "left", "the worker left"), LEFT := ["Charged: the worker left"], LEFT),
    (Cancel("enough"), ["Interrupt: enough"], ["Interrupt: enough"]),
    (
        Landing("steps", "2 of 2 used"),
        ["Bound: steps: 2 of 2 used; one last thought"],
        ["Bound: steps: 2 of 2 used; one last thought"],
    ),
    (Stop("failed", "why", {"a": 1}), ["Stop: failed: why", 'Answer: {"a":1}'], []),
]


def lines(event: AnyEvent, *, whole: bool) -> list[str]:
    return [f"{piece.label}: {piece.text}" for piece in render_event(event, 2, complete=whole)]


@pytest.mark.parametrize(("event", "all_of_it", "gist"), EVENTS)
def test_every_event_has_its_lines(event: AnyEvent, all_of_it: list[str], gist: list[str]) -> None:
    assert lines(event, whole=True) == all_of_it
    assert lines(event, whole=False) == gist


@pytest.mark.parametrize(
    ("used", "words"),
    [
        (Usage(), "$0.0000"),
        (Usage(10, 5, cost=0.25), "$0.2500"),
        (Usage(10, 5), "cost unknown"),
        (Usage(10, 5) + Usage(1, 1, cost=0.25), "cost unknown (at least $0.2500)"),
    ],
)
def test_a_cost_that_nobody_knows_is_never_told_as_nothing(used: Usage, words: str) -> None:
    assert dollars(used) == words


async def ask_first(call: Call, trajectory: Trajectory) -> Verdict:
    return Verdict("hold", "a person decides")


@pytest.mark.parametrize("usage", [Usage(), Usage(10, 5, cost=0.25)])
async def test_the_end_line_does_not_tell_the_cost_of_open_sub_runs_as_nothing(
    usage: Usage,
) -> None:
    @tool(effect="unsafe")
    def pay(amount: int) -> str:
        """Pay somebody."""
        return "paid"

    pays = RawCall(name="pay", arguments='{"amount": 5}', id="a")
    child = Agent(
        model=ScriptedModel([Reply(calls=(pays,), finish="calls")]), tools=[pay], guards=[ask_first]
    )
    hands_on = RawCall(name="child", arguments='{"task": "Pay."}', id="b")
    script = [Reply(calls=(hands_on,), finish="calls", usage=usage)]
    parent = Agent(
        model=ScriptedModel(script), tools=[delegate(child, name="child", description="Pays.")]
    )
    result = await run(parent, "Pay.", store=(store := MemoryStore()))
    assert result.status == "held"
    told = summary(ShownResult(await read(result.run_id, store=store), result))
    assert "$0.0000" not in told
    assert "1 open sub-run" in told


async def test_the_end_line_and_the_document_tell_what_may_be_lost() -> None:
    agent = Agent(model=ScriptedModel([say("it")]))
    journal = await start(agent, "What?", store := MemoryStore(), run_id="run")
    assert "lost" not in summary(ShownResult(await go(agent.engine, journal), None))
    await start(agent, "What?", store, run_id="cut")
    found = await resume(agent, "cut", store=store)
    end = ShownResult(await read("cut", store=store), found)
    lost = found.lost.tokens
    assert lost > 0
    assert f"15 tokens · $0.0000 · about {lost:,} more tokens may be lost · run cut" in summary(end)
    assert document(end)["lost"]["tokens"] == lost
    assert document(end)["usage"]["tokens"] == 15
    lines = [encode(line) for line in trace(end.record)]
    assert read_trace(lines).entries == end.record.entries


ANYTHING = st.text(max_size=200)


@given(ANYTHING, ANYTHING)
def test_no_control_character_is_ever_shown(one: str, other: str) -> None:
    events: list[AnyEvent] = [
        Started(text_parts(one), AgentSpec(one, one, one, one, tools={other: CALC})),
        Thought(Reply(), PRINTS, one, (Action(one, {one: other}, fault=other),), other, one),
        Observation(one, {one: other}, ok=False, detail=one),
        Judged(one, Verdict("hold", other), by=one),
        Note(text_parts(one)),
        Stop("failed", one, other),
    ]
    pieces: list[TextBlock] = [piece for event in events for piece in render_event(event, 1)]
    text = "".join(piece.text for piece in pieces)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


@given(st.text(max_size=3_000))
def test_a_cut_keeps_the_beginning_and_says_how_much_is_left(text: str) -> None:
    short = shorten(text)
    begin, _, left = short.partition("\n… ")
    if left and short != text:
        assert text.startswith(begin)
        assert len(begin) <= CHARACTERS
        assert begin.count("\n") < LINES
        assert len(begin) + int(left.split()[0].replace(",", "")) == len(text.rstrip())
    else:
        assert short == text


@given(st.recursive(ANYTHING, lambda inner: st.lists(inner) | st.dictionaries(ANYTHING, inner)))
def test_any_json_is_readable(value: object) -> None:
    assert isinstance(readable(value), str)


def test_structure_is_shown_with_indents() -> None:
    value = {"results": [{"id": "d_1", "text": "one\ntwo" + "x" * 90}], "note": "n"}
    assert readable(value).split("\n") == [
        "results:",
        "  - id: d_1",
        "    text:",
        "      one",
        f"      two{'x' * 90}",
        "note: n",
    ]


def test_the_parts_of_a_list_look_alike() -> None:
    steps = [{"do": "x" * 60}, {"do": "y" * 100}, {}]
    assert readable(steps).split("\n") == [f"- do: {'x' * 60}", f"- do: {'y' * 100}", "- {}"]


def test_a_call_is_written_as_a_person_would() -> None:
    assert written(Action("f", {"a": "x" * 500, "b": None})) == f'f(a="{"x" * 198}…, b=null)'
    assert inert("\x1b[31m\r\nok\u202e") == "\\x1b[31m\nok\\u202e"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (Planned((PlannedCall("send", {"to": "Ada"}), PlannedCall("look"))), 'send({"to":"Ada"})'),
        (Planned(), "no call of a tool that acts"),
        (Planned(fault="the model's reply could not be read"), "could not be read"),
    ],
)
def test_what_a_request_calls_for_is_shown(event: Planned, words: str) -> None:
    (block,) = render_event(event, 1)
    assert block.label == "Asked for"
    assert words in block.text
