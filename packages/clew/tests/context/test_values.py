"""What the settings and values of the context are where nothing is said, and that they stay so."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

import clew.context
from clew.context import PROMPT, Compaction, Context, Instructions, Review, Rewinds
from clew.context.call_estimate import CallEstimate
from clew.context.history import ContextRow
from clew.context.prompt_spec import prompt_document, recorded_prompt_spec
from clew.context.rewind import BACKTRACK, CRITIC, MODEL, OWN, REJECTED, REPEATED, VERSION
from clew.context.settings import CONTEXT
from clew.context.variants import Variant
from clew.core.codec import Example, PromptSpec
from clew.core.contents import Usage
from clew.core.tools import ToolSpec
from clew.core.values import encode
from clew.support.errors import ConfigError
from tests.core.records import look, step

WRITTEN = {"_Tool", "_PromptDocument"}
"""What a brief is written as, and read back into: gone at once."""


def values() -> Iterator[Any]:
    for found in pkgutil.iter_modules(clew.context.__path__, "clew.context."):
        for kind in vars(importlib.import_module(found.name)).values():
            ours = isinstance(kind, type) and kind.__module__ == found.name
            if not ours or kind.__name__ in WRITTEN:
                continue
            if issubclass(kind, msgspec.Struct) or dataclasses.is_dataclass(kind):
                yield kind


@pytest.mark.parametrize("kind", [*values()], ids=lambda kind: kind.__name__)
def test_nobody_can_change_a_value_for_the_others(kind: Any) -> None:
    if issubclass(kind, msgspec.Struct):
        assert kind.__struct_config__.frozen
    else:
        assert kind.__dataclass_params__.frozen


def test_what_is_usual() -> None:
    assert Compaction() == Compaction(
        by=("duplicates", "mask", "drop"), at=0.92, to=0.15, keep=3, window=None
    )
    assert repr(Compaction()) == "Compaction(duplicates+mask+drop, at=0.92, to=0.15, keep=3)"
    assert repr(Compaction(window=9)).endswith("keep=3, window=9)")
    assert Rewinds() == Rewinds(
        by=("repeated", "rejected"), rejected=2, max_rewinds=3, critic=None, every=5
    )
    assert Review(wrong=True) == Review(wrong=True, to=0, lesson="", usage=Usage(), fault="")
    assert ContextRow(1, 2, 3) == ContextRow(1, 2, 3, upto=0, cuts=0, hidden=0, new=())
    assert CallEstimate() == CallEstimate(opening=0, answer=None, shape=None, visible_chars=None)
    assert Context(retrieval=None, compaction=Compaction(), rewinds=None) == CONTEXT
    assert (BACKTRACK, VERSION, MODEL) == ("backtrack", "backtrack/1", "model")
    assert (REPEATED, REJECTED, CRITIC) == ("clew: repeated", "clew: rejected", "clew: critic")
    assert {REPEATED, REJECTED, CRITIC} == OWN
    assert "variants" not in repr(PROMPT)
    assert "native" not in repr(Instructions(variants=(Variant(name="own", native=True),)))


SEARCH = ToolSpec(
    "search", "Search.", {"type": "object"}, effect="read", examples=({"query": "a"},)
)
PLAIN = ToolSpec("plain", "Do it.", {})


def brief(**fields: Any) -> PromptSpec:
    usual: dict[str, Any] = {
        "prompt": "Work.", "tools": (SEARCH,), "finish": PLAIN, "answer": {"type": "string"},
    }  # fmt: skip
    return PromptSpec(**(usual | fields))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"known": frozenset({"search", "hidden"})},
        {"thought": False},
        {"more": (SEARCH, PLAIN)},
        {"repeat_question": True},
        {"strict_landing": True},
        {"raw_replies": True},
        {"raw_replies": False},
        {"withhold": True},
        {"visible_chars": 7},
        {"tools": ()},
    ],
    ids=lambda fields: (
        " ".join(name if name == "known" else f"{name} {value}" for name, value in fields.items())
        or "nothing"
    ),
)
def test_a_brief_is_read_as_it_was_written(fields: dict[str, Any]) -> None:
    written = prompt_document(brief(**fields), "shortened")
    assert recorded_prompt_spec(encode(written)) == (brief(**fields), "shortened")


def test_a_brief_names_what_is_not_as_usual() -> None:
    tool = {"name": "plain", "description": "Do it.", "parameters": {}}
    assert prompt_document(brief(), "") == {
        "prompt": "Work.",
        "tools": [
            {
                "name": "search", "description": "Search.", "parameters": {"type": "object"},
                "effect": "read", "examples": [{"query": "a"}],
            }
        ],
        "finish": tool,
        "answer": {"type": "string"},
    }  # fmt: skip
    known: Any = prompt_document(brief(known=frozenset({"c", "a", "b"})), "")
    assert known["known"] == ["a", "b", "c"], "in one order"


def test_a_brief_that_is_older_has_what_was_usual() -> None:
    written = {
        "prompt": "p",
        "tools": [],
        "finish": {"name": "f", "description": "d", "parameters": {}},
    }
    spec, shape = recorded_prompt_spec(encode({**written, "answer": {}}))  # fmt: skip
    assert spec == PromptSpec("p", (), ToolSpec("f", "d", {}), {})
    assert (spec.thought, spec.raw_replies, spec.visible_chars, shape) == (True, None, None, "")
    assert (spec.repeat_question, spec.strict_landing, spec.withhold) == (False, False, False)
    assert spec.finish.effect == "unsafe"


def test_what_is_no_brief_and_what_no_json_can_carry_is_told() -> None:
    with pytest.raises(ConfigError, match=r"the record's brief is not readable here .*update clew"):
        recorded_prompt_spec(b"{}")
    with pytest.raises(ConfigError, match="brief is not readable"):
        recorded_prompt_spec(b"[" * 100_000)
    odd = Example("?", (step((look(x=object()), None)),))
    with pytest.raises(ConfigError, match=r"is not JSON \(.*\): mend it"):
        prompt_document(brief(examples=(odd,)), "")
