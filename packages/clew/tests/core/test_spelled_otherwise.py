"""Which arguments are the same to a tool, form by form, and which records only say it otherwise."""

from typing import Any

import pytest

from clew.core.actions import Action, Done
from clew.core.contents import Observation, Reply, text_parts
from clew.core.events import Attempt, Cancel, Fingerprints, Judged, Landing, Note, Stop, Thought
from clew.core.received import handed_hashes, is_certain, received_hash, repetitions
from clew.core.reworded import as_worded
from clew.core.spec_changes import changes, changes_to_accept, first_difference, same_format
from clew.core.specs import AgentSpec, ToolSetting
from clew.core.steps import args_hash
from clew.core.tools import FallbackTool, Tool, ToolSpec
from clew.core.verdicts import Verdict
from tests.core.records import look, record, thought


def taking(schema: Any, name: str = "look", **fields: Any) -> ToolSpec:
    """A tool with one argument of this schema."""
    parameters = {"type": "object", "properties": {"x": schema}, "$defs": DEFS}
    return ToolSpec(name, "Look.", parameters, **fields)


DEFS: dict[str, Any] = {
    "Point": {"type": "object", "properties": {"y": {"default": 7}}},
    "Cat": {"properties": {"kind": {"const": "cat"}, "lives": {"default": 9}}},
    "Dog": {"properties": {"kind": {"enum": ["dog", "hound"]}, "bones": {"default": 3}}},
}
CAT, DOG = {"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}


@pytest.mark.parametrize(
    ("schema", "one", "other"),
    [
        ({"default": 5}, {}, {"x": 5}),
        ({}, {"x": 1.0}, {"x": 1}),
        ({}, {"x": [2.0, {"a": 3.0}]}, {"x": [2, {"a": 3}]}),
        ({}, {"x": "e\u0301"}, {"x": "é"}),
        ({}, {"x": {"e\u0301": "a\u0308"}}, {"x": {"é": "ä"}}),
        ({}, {"x": float(2**53 - 1)}, {"x": 2**53 - 1}),
        ({"format": "uuid"}, {"x": "A" * 8 + "-" + "-".join(["bbbb"] * 3) + "-" + "c" * 12},
         {"x": "a" * 8 + "b" * 12 + "c" * 12}),
        ({"format": "time"}, {"x": "10:00:00z"}, {"x": "10:00:00+00:00"}),
        ({"format": "date-time"}, {"x": "2026-01-01T10:00:00z"},
         {"x": "2026-01-01T12:00:00+02:00"}),
        ({"format": "date-time"}, {"x": "2026-01-01t10:00"}, {"x": "2026-01-01T10:00:00"}),
        ({"format": "duration"}, {"x": "PT60S"}, {"x": "PT1M"}),
        ({"$ref": "#/$defs/Point"}, {"x": {}}, {"x": {"y": 7}}),
        ({"items": {"$ref": "#/$defs/Point"}}, {"x": [{}, {}]}, {"x": [{"y": 7}, {"y": 7}]}),
        ({"prefixItems": [{}, {"$ref": "#/$defs/Point"}]}, {"x": [{}, {}]}, {"x": [{}, {"y": 7}]}),
        ({"prefixItems": [{}], "items": {"format": "time"}}, {"x": ["a", "1:00", "02:00z"]},
         {"x": ["a", "1:00", "02:00:00+00:00"]}),
        ({"uniqueItems": True}, {"x": [3, 1, 2]}, {"x": [1, 2, 3]}),
        ({"additionalProperties": {"format": "duration"}}, {"x": {"a": "PT60S"}},
         {"x": {"a": "PT1M"}}),
        ({"anyOf": [CAT, DOG]}, {"x": {"kind": "cat"}}, {"x": {"kind": "cat", "lives": 9}}),
        ({"anyOf": [CAT, DOG]}, {"x": {"kind": "hound"}}, {"x": {"kind": "hound", "bones": 3}}),
        ({"oneOf": [CAT, DOG]}, {"x": {"kind": "dog"}}, {"x": {"kind": "dog", "bones": 3}}),
        ({"anyOf": [{"format": "time"}, {"type": "null"}]}, {"x": "10:00z"}, {"x": "10:00+00:00"}),
    ],
)  # fmt: skip
def test_a_tool_receives_the_same(schema: Any, one: Any, other: Any) -> None:
    tool = taking(schema)
    assert received_hash(tool, one) == received_hash(tool, other)


@pytest.mark.parametrize(
    ("schema", "one", "other"),
    [
        ({}, {}, {"x": None}),
        ({}, {"x": 1}, {"x": True}),
        ({}, {"x": 1.5}, {"x": 1}),
        ({}, {"x": float(2**53)}, {"x": 2**53}),
        ({}, {"x": -float(2**53)}, {"x": -(2**53)}),
        ({}, {"x": [3, 1]}, {"x": [1, 3]}),
        ({"uniqueItems": False}, {"x": [3, 1]}, {"x": [1, 3]}),
        ({}, {"x": "10:00z"}, {"x": "10:00+00:00"}),
        ({"format": "time"}, {"x": "a"}, {"x": "b"}),
        ({"format": "date"}, {"x": "2026-1-1"}, {"x": "2026-01-01"}),
        ({"format": "duration"}, {"x": "P1D"}, {"x": "P2D"}),
        ({"format": "date-time"}, {"x": "2026-01-01T10:00:00"}, {"x": "2026-01-01T10:00:00Z"}),
        ({"prefixItems": [{}, {"$ref": "#/$defs/Point"}]}, {"x": [{}]}, {"x": [{"y": 7}]}),
        ({"prefixItems": [{"$ref": "#/$defs/Point"}]}, {"x": [{}, {}]},
         {"x": [{"y": 7}, {"y": 7}]}),
        ({"anyOf": [CAT, DOG]}, {"x": {"kind": "cow"}}, {"x": {"kind": "cow", "lives": 9}}),
        ({"anyOf": [CAT, DOG]}, {"x": {"kind": "dog"}}, {"x": {"kind": "dog", "lives": 9}}),
        ({"anyOf": [{"format": "time"}, {"format": "uuid"}]}, {"x": "10:00z"},
         {"x": "10:00+00:00"}),
    ],
)  # fmt: skip
def test_a_tool_receives_something_else(schema: Any, one: Any, other: Any) -> None:
    tool = taking(schema)
    assert received_hash(tool, one) != received_hash(tool, other)


def test_all_items_of_a_list_are_received_whatever_their_number() -> None:
    tool = taking({"prefixItems": [{}]})
    assert received_hash(tool, {"x": [1, 2, 3]}) != received_hash(tool, {"x": [1, 2]})


def made(name: str, effect: Any) -> Tool:
    async def call(args: Any, key: str) -> str:
        return ""

    return Tool(**vars(taking({}, name, effect=effect)), call=call)


def handing(first: Tool, other: Tool, names: dict[str, str | None]) -> Tool:
    spec = {name: getattr(first, name) for name in Tool.__dataclass_fields__}
    return FallbackTool(**spec, first=first, other=other, names=names)


POST = made("post", "unsafe")
MAIL = handing(made("mail", "idempotent"), POST, {"y": "x"})
READ = made("read", "read")
SEND = handing(handing(made("send", "unsafe"), MAIL, {"x": "y", "z": None}), READ, {})


def test_a_call_may_be_handed_on_from_tool_to_tool() -> None:
    assert handed_hashes(SEND, {"x": 1, "z": 2}) == [
        ("mail", args_hash("mail", {"y": 1})),
        ("post", args_hash("post", {"x": 1})),
    ]
    assert handed_hashes(POST, {"x": 1}) == []


def done(**fields: Any) -> Done:
    usual: dict[str, Any] = {"key": "r:1.1", "tool": "send", "hash": "h", "text": "t"}
    return Done(**(usual | fields))


def again(*effects: Done, tool: ToolSpec | None = SEND, **args: Any) -> list[tuple[str, str]]:
    run = record(thought(Action("send", args)))
    return [(one.key, name) for one, name in repetitions(run, run.calls[0], tool, effects)]


def test_a_call_repeats_what_was_written_or_received_alike() -> None:
    written = args_hash("send", {"x": 1.0})
    received = args_hash("send", {"x": 1})
    mailed = args_hash("mail", {"y": 1})
    assert again(done(hash=written), x=1.0) == [("r:1.1", "send")]
    assert again(done(received=received), x=1.0) == [("r:1.1", "send")]
    assert again(done(received=mailed, tool="mail"), x=1.0) == [("r:1.1", "mail")]
    assert again(done(handed=("other", mailed)), x=1.0) == [("r:1.1", "mail")]
    assert again(done(received=received), tool=None, x=1.0) == []
    assert again(done(hash=written), tool=None, x=1.0) == [("r:1.1", "send")]
    assert again(done(), done(received="no"), x=1.0) == []
    both = again(done(key="r:1.1", hash=written), done(key="r:2.1", received=received), x=1.0)
    assert [key for key, _ in both] == ["r:1.1", "r:2.1"]


@pytest.mark.parametrize(
    ("fields", "tool", "certain"),
    [
        ({"hash": args_hash("send", {"x": 1.0})}, SEND, True),
        ({"hash": args_hash("send", {"x": 1.0}), "outcome": "unknown"}, SEND, False),
        ({"received": args_hash("send", {"x": 1})}, SEND, True),
        ({"received": args_hash("send", {"x": 1})}, None, False),
        ({}, SEND, False),
        ({"tool": "mail"}, SEND, True),
    ],
)
def test_it_is_certain_or_an_attempt_before(
    fields: Any, tool: ToolSpec | None, certain: bool
) -> None:
    run = record(thought(Action("send", {"x": 1.0})))
    assert is_certain(run, run.calls[0], tool, done(**fields)) == certain


def judged(reason: str, kind: Any = "deny") -> Judged:
    return Judged("1.1", Verdict(kind, reason), "guard")


def failed(text: str, code: Any = "timeout", detail: str = "") -> Observation:
    return Observation("1.1", text, ok=False, code=code, detail=detail)


def said(text: str, source: Any = "check") -> Note:
    return Note(text_parts(text), source=source)


def attempt(after: str, number: int = 2) -> Attempt:
    return Attempt("1.1", "look", "h", 1.0, number, after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (judged("no"), judged("never")),
        (failed("a", detail="x"), failed("b", detail="y")),
        (Stop("bound", "a"), Stop("bound", "b")),
        (Landing("a", "b", "own"), Landing("c", "d", "own")),
        (attempt("a"), attempt("b")),
        (said("a"), said("b")),
        (thought(fault="a"), thought(fault="b")),
        (thought(repairs=("a",)), thought(repairs=("b",))),
        (thought(Action("a", fault="x")), thought(Action("a", fault="y"))),
    ],
)
def test_other_words_for_the_same_are_those_of_the_record(old: Any, new: Any) -> None:
    assert as_worded(old, new, finish=False) == old


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (failed("a"), failed("b", "crashed")),
        (Observation("1.1", "a"), Observation("1.1", "b")),
        (said("a", "late"), said("b", "late")),
        (attempt(""), attempt("b")),
        (attempt("a"), attempt("")),
        (thought(), thought(fault="b")),
        (thought(fault="b"), thought()),
        (thought(repairs=("a",)), thought(repairs=("b", "c"))),
        (thought(Action("a")), thought(Action("a", fault="y"))),
        (thought(Action("a", fault="y")), thought(Action("a"))),
        (thought(Action("a", fault="x"), look()), thought(Action("a", fault="y"))),
        (Cancel("a"), Cancel("b")),
        (Stop("bound", "a"), Landing("a")),
    ],
)
def test_what_is_something_else_stays_what_it_is(old: Any, new: Any) -> None:
    assert as_worded(old, new, finish=False) == new


def test_what_is_kept_of_the_new_event() -> None:
    assert as_worded(judged("no"), judged("never", "hold"), finish=False) == judged("no", "hold")
    assert as_worded(Stop("bound", "a"), Stop("failed", "b"), finish=False) == Stop("failed", "a")
    told = as_worded(Observation("1.1", "a"), Observation("1.1", "b", ok=False), finish=True)
    assert told == Observation("1.1", "a", ok=False)
    both = as_worded(
        thought(Action("a", fault="x"), look(), fault="f", repairs=("r",)),
        thought(Action("b", fault="y"), look(z=1), fault="g", repairs=("s",), text="t"),
        finish=False,
    )
    assert both == thought(Action("b", fault="x"), look(z=1), fault="f", repairs=("r",), text="t")
    assert isinstance(both, Thought)
    assert Reply() == both.reply
    assert both.prints == Fingerprints("", "", "", "")


BASE = AgentSpec(
    "f", "m", "native/1", "p", {"t": 1}, {"a": ToolSetting("1", "read", "s")}, {"g": 1}
)


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({}, ()),
        ({"model": "n"}, ("model",)),
        ({"codec": "json/1"}, ("codec",)),
        ({"prompt": "q"}, ("prompt",)),
        ({"params": {}}, ("params",)),
        ({"tools": {}}, ("tools.a",)),
        ({"parts": {"g": 2, "b": 1}}, ("parts.b", "parts.g")),
        ({"parts": {}, "tools": {}, "prompt": "q", "model": "n"},
         ("model", "prompt", "tools.a", "parts.g")),
        ({"fingerprint": "other", "prompt_spec": {}, "priced": True}, ()),
    ],
)  # fmt: skip
def test_changes_are_named(fields: Any, names: tuple[str, ...]) -> None:
    other = AgentSpec(**({name: getattr(BASE, name) for name in BASE.__struct_fields__} | fields))
    assert changes(BASE, other) == names


def test_another_version_of_a_format_is_not_for_a_person_to_accept() -> None:
    newer = AgentSpec("f", "n", "native/2", "p", BASE.params, BASE.tools, BASE.parts)
    assert changes_to_accept(BASE, newer) == ("model",)
    other = AgentSpec("f", "n", "json/1", "p", BASE.params, BASE.tools, BASE.parts)
    assert changes_to_accept(BASE, other) == ("model", "codec")
    assert same_format("a/b/1", "a/b/2")
    assert not same_format("a/b/1", "a/c/1")


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        (1, 1, None),
        (1, 2, ""),
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1}, {"a": 2}, "a"),
        ({"a": 1}, {}, "a"),
        ({}, {"a": None}, "a"),
        ({"a": {"b": [1, {"c": 2}]}}, {"a": {"b": [1, {"c": 3}]}}, "a.b[1].c"),
        ({"a": [1]}, {"a": [1, 2]}, "a"),
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "b"),
        ({"a": 0, "b": 2}, {"a": 1, "b": 3}, "a"),
        ([1, 2], [1, 3], "[1]"),
        ({"a": {}}, {"a": []}, "a"),
    ],
)  # fmt: skip
def test_the_first_difference_is_named(old: Any, new: Any, path: str | None) -> None:
    assert first_difference(old, new) == path
