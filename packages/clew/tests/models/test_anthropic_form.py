"""Replies held to a schema: what Anthropic is asked for, and where it is not asked."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import ModelSettings
from clew.models.anthropic.schema import reply_schema
from clew_testing.servers.anthropic_rules import check
from clew_testing.servers.anthropic_server import Fail, Say, Turn
from tests.models.messages import over, talk
from tests.models.support import ask

TEXT: dict[str, Any] = {"type": "string"}
FORM: dict[str, Any] = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
CLOSED = FORM | {"additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "held"),
    [
        (FORM, CLOSED),
        (CLOSED, CLOSED),
        (FORM | {"additionalProperties": True}, CLOSED),
        (
            {"type": "object", "additionalProperties": False},
            {"type": "object", "additionalProperties": False},
        ),
        (
            {"type": "integer", "minimum": 1, "maximum": 9, "description": "How many."},
            {"type": "integer", "description": "How many.\n(minimum: 1, maximum: 9)"},
        ),
        (
            {"type": "string", "pattern": "a+", "format": "text"},
            {"type": "string", "description": '(pattern: "a+", format: "text")'},
        ),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date"}),
        (
            {"type": "array", "items": FORM, "minItems": 1, "maxItems": 3},
            {"type": "array", "items": CLOSED, "minItems": 1, "description": "(maxItems: 3)"},
        ),
        ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"oneOf": [TEXT, FORM]}, {"anyOf": [TEXT, CLOSED]}),
        ({"allOf": [{"$ref": "#/$defs/x"}]}, {"allOf": [{"$ref": "#/$defs/x"}]}),
        (
            {"$ref": "#/$defs/x", "title": "X", "$defs": {"x": FORM}},
            {"$ref": "#/$defs/x", "$defs": {"x": CLOSED}},
        ),
        ({"enum": ["a", 1, None]}, {"enum": ["a", 1, None]}),
        ({"const": "a", "default": "a"}, {"const": "a", "default": "a"}),
    ],
    ids=str,
)
def test_what_the_api_can_hold_a_reply_to(schema: Any, held: Any) -> None:
    assert reply_schema(schema) == held


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "additionalProperties": TEXT},
        FORM | {"additionalProperties": TEXT},
        FORM | {"patternProperties": {}},
        {"type": "array", "items": {}},
        {"type": "array", "items": True},
        {"type": "object", "properties": {"a": {"not": TEXT}}},
        {"if": TEXT},
    ],
    ids=str,
)
def test_what_the_api_cannot_hold_a_reply_to(schema: Any) -> None:
    assert reply_schema(schema) is None


SCHEMAS = st.recursive(
    st.sampled_from([TEXT, {"type": "integer", "minimum": 1}, {"type": ["null", "string"]}, {}]),
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("abc"), inner).map(
            lambda found: {"type": "object", "properties": found}
        ),
        inner.map(lambda one: {"type": "array", "items": one, "maxItems": 3}),
        st.lists(inner, min_size=1, max_size=3).map(lambda many: {"oneOf": many}),
    ),
    max_leaves=6,
)


@given(SCHEMAS)
def test_whatever_is_asked_for_is_taken(schema: Any) -> None:
    held = reply_schema(schema)
    if held is not None:
        config = {"format": {"type": "json_schema", "schema": held}}
        user = {"role": "user", "content": "Go."}
        check({"model": "m", "max_tokens": 9, "messages": [user], "output_config": config})


@pytest.mark.parametrize(
    ("form", "settings", "sent"),
    [
        (None, {}, None),
        (FORM, {}, {"format": {"type": "json_schema", "schema": CLOSED}}),
        (
            FORM,
            {"effort": "low"},
            {"effort": "low", "format": {"type": "json_schema", "schema": CLOSED}},
        ),
        (None, {"effort": "low"}, {"effort": "low"}),
        (
            FORM,
            {"extra": {"output_config": {"format": {"type": "json_schema", "schema": TEXT}}}},
            {"format": {"type": "json_schema", "schema": TEXT}},
        ),
        ({"type": "object"}, {}, None),
    ],
)
async def test_what_is_asked_for(form: Any, settings: Any, sent: Any) -> None:
    async with over([Say("{}"), Say("{}")], settings=ModelSettings(**settings)) as (
        model,
        server,
        _,
    ):
        for _ in range(2):
            await model.complete(talk(reply_schema=form, calls="none"))
    assert [seen.body.get("output_config") for seen in server.requests] == [sent, sent]


async def test_a_form_that_is_refused_is_left_to_the_words() -> None:
    refused = Fail(400, "output_config.format: the compiled grammar is too large")
    script: list[Turn] = [refused, Say("{}"), Say("{}")]
    async with over(script) as (model, server, waits):
        for _ in range(2):
            assert (await model.complete(ask(reply_schema=FORM))).text == "{}"
    assert ["output_config" in seen.body for seen in server.requests] == [True, False, False]
    assert waits == []
