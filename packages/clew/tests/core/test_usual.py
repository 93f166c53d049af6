"""What the interfaces of the core are where nothing is said: parts written for them need it."""

import dataclasses
import gc
from typing import Any

import msgspec
import pytest

from clew.core import events
from clew.core.at_work import AtWork
from clew.core.bounds import Tripped
from clew.core.budget import Account, Budget
from clew.core.call_context import CALL, CallContext
from clew.core.codec import Parsed, PromptSpec
from clew.core.codes import error_text, error_words
from clew.core.contents import Grant, Observation, Reply, Text, Undercounted, Usage, text_of
from clew.core.engine import NamedGuard
from clew.core.entries import Entry
from clew.core.events import Stop
from clew.core.fork import ForkPoint
from clew.core.journal import barrier
from clew.core.models import ModelInfo
from clew.core.moves import NextMove
from clew.core.pending import PendingApproval
from clew.core.prompts import Part, Prompt
from clew.core.received import renamed
from clew.core.replay import Replayed
from clew.core.steps import Call, Omitted, Step, Totals
from clew.core.stores import Append, Line, RunInfo
from clew.core.tools import AgentTool, Labels, Retry, SubRun, Tool, ToolSpec
from clew.core.values import Json
from clew.support.errors import ConfigError
from clew.testing.models import ScriptedModel
from clew.tools import Attempts, DependentTool, FunctionTool
from tests.core.records import look, record, thought


def usual(kind: Any) -> dict[str, Any]:
    """The fields of a kind of value that need not be given, with what they are then."""
    if (named := getattr(kind, "_field_defaults", None)) is not None:
        return dict(named)
    fields: Any = msgspec.structs.fields if issubclass(kind, msgspec.Struct) else dataclasses.fields
    missing = (msgspec.NODEFAULT, dataclasses.MISSING)
    found: dict[str, Any] = {}
    for each in fields(kind):
        if each.default_factory not in missing:
            found[each.name] = each.default_factory()
        elif each.default not in missing:
            found[each.name] = each.default
    return found


SPEC: dict[str, Any] = {
    "effect": "unsafe", "trust": "untrusted", "repair": None, "result": None, "hidden": False,
    "version": "1", "examples": (), "guard": None, "labels": Labels(), "approve": False,
}  # fmt: skip
USUAL: dict[Any, dict[str, Any]] = {
    Retry: {"times": 0, "delay": 0.5, "max_delay": 8.0},
    ToolSpec: SPEC,
    Attempts: {"timeout": 30.0, "retry": Retry(), "probe": None},
    Tool: SPEC | {"attempts": Attempts(), "external": None},
    AgentTool: SPEC | {"grant": None, "weight": "", "caps": {}},
    SubRun: {
        "listener": None, "close": "", "waited": False, "trust": "trusted", "done": (), "among": (),
        "labels": {}, "owner": "", "attachments": (),
    },
    CallContext: {"task": "", "answer": None},
    Part: {
        "calls": (), "call_id": "", "name": "", "wire": None, "attachments": (), "encoded": {},
    },
    Prompt: {
        "tail": (), "tools": (), "calls": "auto", "stop": (), "reply_schema": None, "seed": 0,
        "grammar": "", "adapted": None, "purpose": "think",
    },
    Tripped: {"detail": ""},
    Append: {
        "barrier": False, "blobs": {}, "taken": (), "alone": False, "status": "",
        "outside": False,
    },
    RunInfo: {"base": None},
    PromptSpec: {
        "known": frozenset(), "thought": True, "examples": (), "shape": None, "more": (),
        "repeat_question": False, "strict_landing": False, "raw_replies": None, "withhold": False,
        "visible_chars": None,
    },
    Parsed: {"text": "", "actions": (), "answer": None, "fault": "", "repairs": ()},
    Account: {"granted": False, "priced": True},
    Budget: {"priced": True, "landing": True, "hands_out": False},
    NamedGuard: {"tools": None, "own": False, "repeat": False},
    NextMove: {"why": "", "less": None, "tripped": None},
    ForkPoint: {"again": (), "changed": (), "done": ()},
    Replayed: {"passed_over": ()},
    PendingApproval: {
        "asks": None, "origins": {}, "behind": (), "labels": {}, "owner": "", "wants": "ruling",
        "until": 0,
    },
    Call: {
        "verdict": None, "hints": (), "ruling": None, "attempts": (), "begun": (),
        "observation": None, "deadline": 0, "again": False, "revised": None, "revision": "",
        "revision_redacted": False, "suspended": None, "asked": (), "id": "", "doubts": (),
        "settled": None, "settled_below": frozenset(), "woken": False,
        "_hash": "",
    },
    Step: {
        "thought": None, "calls": (), "notices": (), "concluded": False, "asked": (),
        "gathered": (),
    },
    Totals: {
        "steps": 0, "calls": {}, "usage": Usage(), "active_ms": 0, "below": 0, "capped": {},
        "lost": Usage(), "tokens": 0, "cost": 0.0,
    },
    Omitted: {"compactions": [], "rewinds": [], "cuts": {}, "hidden": set()},
}  # fmt: skip


@pytest.mark.parametrize("kind", USUAL, ids=lambda kind: kind.__name__)
def test_what_need_not_be_said(kind: Any) -> None:
    found = usual(kind)
    assert found == USUAL[kind]
    told = {name: repr(one) for name, one in found.items() if type(one) in {bool, int, float}}
    assert told == {name: repr(USUAL[kind][name]) for name in told}, "0 is not False"


def test_a_model_is_named_and_nothing_else_is_known_of_it() -> None:
    info = ModelInfo("x:y")
    assert (info.params, info.priced, info.rates, info.unmetered) == ({}, False, None, False)
    assert (info.billions, info.window) == (None, None)
    prompt = Prompt((), ())
    assert info.validate(prompt) is None  # type: ignore[func-returns-value]  # it takes any prompt
    assert "validate" not in repr(info)
    assert info == dataclasses.replace(info, validate=lambda prompt: None)
    with pytest.raises(ConfigError):
        ModelInfo("x:y", priced="no")  # type: ignore[arg-type]  # as a program may say
    with pytest.raises(ConfigError):
        Retry(times="2")  # type: ignore[arg-type]  # as a part may say


async def called(args: Any, key: str) -> str:
    return ""


async def probed(args: Any, key: str) -> str:
    return ""


def test_tools_are_equal_whatever_was_made_for_one_agent() -> None:
    def guard(call: Call, trajectory: Any) -> None: ...

    spec, tool = ToolSpec("a", "A.", {}), Tool("a", "A.", {}, call=called)
    assert dataclasses.replace(spec, guard=guard) == spec
    kinds: list[tuple[Any, str]] = [(FunctionTool, "function"), (DependentTool, "among")]
    for kind, name in kinds:
        one, other = (kind("a", "A.", {}, called, **{name: it}) for it in (called, probed))
        assert one == other
    for other in ({"effect": "read"}, {"hidden": True}, {"version": "2"}, {"name": "b"}):
        assert dataclasses.replace(tool, **other) != tool
    assert dataclasses.replace(tool, attempts=Attempts(probe=probed)) != tool
    pairs = FunctionTool("a", "A.", {}, call=called, function=lambda x, y: (x, y))
    assert pairs(1, y=2) == (1, 2)
    named = ToolSpec("a", "A.", {"properties": {"x": {}, "y": {}}}, effect="pure")
    assert repr(named) == "<ToolSpec a(x, y): pure>"
    assert repr(spec) == "<ToolSpec a(): unsafe>"
    assert repr(tool) == "<Tool a(): unsafe>"


def test_a_fallback_gets_the_arguments_by_its_own_names() -> None:
    given: dict[str, Json] = {"x": 1, "y": 2, "z": 3}
    assert renamed(given, {"x": "a", "y": None}) == {"a": 1, "z": 3}


def test_a_part_is_itself_and_shows_nothing_of_how_it_was_encoded() -> None:
    part = Part("user", "a", encoded={"x": b"1"})
    assert part != Part("user", "a")
    assert "encoded" not in repr(part)
    assert Part("user", "a").encoded is not Part("user", "a").encoded


def test_a_prompt_is_read_in_order() -> None:
    head, middle, tail = (Part("user", text) for text in "abc")
    assert list(Prompt((head,), (middle,), (tail,))) == [head, middle, tail]


def test_outside_of_calls_there_is_none() -> None:
    assert CALL.get() is None
    assert CALL.name == "clew.call"


def test_what_is_frozen_is_nothing_for_the_garbage_collector() -> None:
    action = look(x=1)
    for value in (
        action,
        Usage(1),
        Grant(1, 2, 3, 4.0),
        thought(action),
        Entry(1, 1, 1, Stop("held")),
        Prompt((), ()),
        Parsed(),
        Line(1, 1, 1, b"", b""),
        Append("r", 1, ()),
        Call("1.1", action),
        Step(1),
    ):
        assert not gc.is_tracked(value), type(value).__name__


def test_nothing_was_read_of_what_works_beside_a_run() -> None:
    work = AtWork(record(), 3)
    assert (work.step, work.before, work.begun) == (3, None, [])


def test_a_bound_in_a_line() -> None:
    assert Tripped("own", "mine").reason == "mine"
    assert Tripped("own", "mine", "why").reason == "mine: why"


def test_what_is_wrong_stands_behind_a_mark() -> None:
    assert error_text("timeout", "x") == "ERROR: timeout: x"
    assert error_text("", "x") == "ERROR: x"
    for code in ("timeout", ""):
        assert error_words(code, error_text(code, "x")) == "x"
    assert error_words("timeout", "x") == "x"
    assert text_of((Text("a"), Text("b"))) == "a\n\nb"
    assert text_of(()) == ""


@pytest.mark.parametrize(
    ("one", "other", "cost", "least"),
    [
        (Usage(1, cost=0.5), Usage(2, cost=0.25), 0.75, 0.0),
        (Usage(1), Usage(2, cost=0.25), None, 0.25),
        (Usage(1, cost=0.25), Usage(2), None, 0.25),
        (Usage(), Usage(2, cost=0.25), 0.25, 0.0),
        (Usage(2, cost=0.25), Usage(), 0.25, 0.0),
        (Usage(), Usage(), None, 0.0),
        (Usage(1, min_cost=0.5), Usage(1, cost=0.25), None, 0.75),
    ],
)
def test_usages_add_up(one: Usage, other: Usage, cost: float | None, least: float) -> None:
    total = one + other
    assert (total.cost, total.min_cost) == (cost, least)
    assert total.tokens == one.tokens + other.tokens
    whole = Usage(1, 2, 3, 4, None, False, 5)
    assert whole + whole == Usage(2, 4, 6, 8, None, False, 10)
    assert (whole + Usage(estimated=True)).estimated
    assert (Usage(estimated=True) + whole).estimated


def test_a_prompt_that_was_cut_off_is_told() -> None:
    cut = Undercounted(2_000, cut=True)
    reply = Reply(usage=Usage(1_000), model="x:y", undercounted=cut)
    assert reply.prompt_tokens == 2_000
    assert reply.warning.startswith(
        "x:y counted 1,000 tokens of a prompt of about 2,000: its server probably cut the prompt"
    )
    assert reply.warning.endswith("so that the run is made shorter instead")
    unnamed = msgspec.structs.replace(reply, model="")
    assert unnamed.warning.startswith("the model counted 1,000")
    assert Reply(usage=Usage(7), undercounted=Undercounted(9)).warning == ""
    assert (Reply(usage=Usage(7)).warning, Reply(usage=Usage(7)).prompt_tokens) == (
        "",
        7,
    )


@pytest.mark.parametrize(
    ("event", "safe"),
    [
        (events.Attempt("1.1", "t", "h", 1.0), True),
        (events.Ruling("1.1", allow=True), True),
        (Stop("held"), True),
        (Observation("1.1", effect="unsafe"), True),
        (Observation("1.1", effect="idempotent"), True),
        (Observation("1.1", effect="read"), False),
        (thought(), False),
        (events.Cancel(), False),
    ],
)
def test_what_must_be_on_disk_before_anything_follows(event: Any, safe: bool) -> None:
    assert barrier(event) == safe


def test_a_scripted_model_costs_nothing() -> None:
    assert ScriptedModel([]).info.window is None
