"""What a person types where a value is wanted, by the schema of what is wanted."""

from typing import Any, Final

import pytest

from clew import (
    Agent,
    ConfigError,
    MemoryStore,
    NotHeldError,
    answer,
    read,
    resume,
    run,
    settle,
)
from clew.agent.approvals import arguments_of_text, recorded_tool, value_of_text
from clew.guards import Provenance
from clew.interfaces import Effect
from clew.testing import ScriptedModel, act, say
from clew.tools import external

TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "number"}
EITHER: Final = {"anyOf": [TEXT, NUMBER]}


@pytest.mark.parametrize(
    ("typed", "schema", "value"),
    [
        ("2026", TEXT, "2026"),
        ("2026", NUMBER, 2026),
        ("2026", None, 2026),
        ("007", TEXT, "007"),
        ("1e3", TEXT, "1e3"),
        ("null", TEXT, "null"),
        ("true", TEXT, "true"),
        ("true", {"type": "boolean"}, True),
        ("null", {"type": ["string", "null"], "minLength": 9}, None),
        ("a page", TEXT, "a page"),
        ('"a page"', TEXT, "a page"),
        ('"a"', {"type": "string", "minLength": 3}, '"a"'),
        ("a page", NUMBER, "a page"),
        ('"5"', NUMBER, "5"),
        ("[1]", TEXT, "[1]"),
        ("[1]", {"type": "array"}, [1]),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("2026", {"enum": ["2026", "2027"]}, "2026"),
        ("2026", {"const": 2026}, 2026),
        ("2026", {"$ref": "#/$defs/year", "$defs": {"year": TEXT}}, "2026"),
        ("\ud800", TEXT, "\ud800"),
        ("12", {"type": "integer", "maximum": 9}, 12),
    ],
)  # fmt: skip
def test_it_is_the_text_or_the_json_that_fits(typed: str, schema: Any, value: Any) -> None:
    read_, note = value_of_text(typed, schema)
    assert (read_, type(read_), note) == (value, type(value), "")


@pytest.mark.parametrize("schema", [EITHER, {}, {"type": ["integer", "string"]}])
def test_where_both_fit_it_says_how_it_is_read(schema: Any) -> None:
    told = value_of_text("2026", schema)
    assert told == (2026, '2026 is read as JSON: for the text say "2026"')
    assert value_of_text('"2026"', schema) == ("2026", "")
    assert value_of_text("a page", schema) == ("a page", "")


def test_what_is_nested_too_deeply_to_be_read_is_no_json() -> None:
    deep = "[" * 100_000
    assert value_of_text(deep, {"type": "array"}).value == deep
    with pytest.raises(ConfigError, match="no JSON object of arguments"):
        arguments_of_text(f'{{"list": {deep}}}')


def test_arguments_are_read_one_by_one() -> None:
    parameters = {
        "$defs": {"year": TEXT},
        "properties": {"year": {"$ref": "#/$defs/year"}, "page": NUMBER, "any": True},
    }
    typed = '{"year": 2026, "page": 3, "any": 4, "more": 5, "deep": {"year": 6}}'
    assert arguments_of_text(typed, parameters) == {
        "year": "2026", "page": 3, "any": 4, "more": 5, "deep": {"year": 6},
    }  # fmt: skip
    assert arguments_of_text(typed)["year"] == 2026
    endless = [f'{{"a": {it}}}' for it in ("1e400", "-1e400", "[1e400]", "NaN", "Infinity")]
    for wrong in ("2026", "[1]", "{", "\ud800", *endless):
        with pytest.raises(ConfigError, match="that is no JSON object of arguments"):
            arguments_of_text(wrong, parameters)


async def test_a_tool_on_record_says_what_it_takes_and_returns() -> None:
    store = MemoryStore()
    scan = external(
        "scan", "Scan a page.", {"type": "object", "properties": {"page": TEXT}}, result=TEXT
    )
    agent = Agent(ScriptedModel([act("scan", page="1"), say("k")]), tools=[scan], store=store)
    result = await run(agent, "Scan it.", run_id="r")
    assert result.pending_approvals[0].asks == TEXT
    record = await read("r", store=store)
    tool = await recorded_tool(store, record, record.call("1.1"))
    assert tool is not None
    typed = value_of_text("2026", tool.result)
    done = await answer("r:1.1", typed.value, agent=agent)
    assert done.status == "answered"


@pytest.mark.parametrize(
    ("effect", "told"),
    [
        ("unsafe", "its time has passed. Say what came of it by clew.settle"),
        ("read", "its time has passed, and the run went on without it"),
    ],
)
async def test_a_result_that_comes_too_late_is_told_what_helps(effect: Effect, told: str) -> None:
    store = MemoryStore()
    scan = external("scan", "Scan a page.", effect=effect, timeout=0.001)
    script = [act("scan"), say("Nobody came."), say("It was done.")]
    agent = Agent(ScriptedModel(script), tools=[scan], store=store, guards=[Provenance("off")])
    result = await run(agent, "Scan it.", run_id="r")
    while result.status == "held":  # until its time has passed
        result = await resume(agent, "r")
    with pytest.raises(NotHeldError) as late:
        await answer("r:1.1", "a page", store=store)
    assert str(late.value) == f"call 1.1 of run r waits for no result any more: {told}"
    if effect == "unsafe":
        await settle("r:1.1", done=True, result="a page", store=store)
