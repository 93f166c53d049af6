"""An answer of a type that is a text in JSON, such as a date, written with the quotes of JSON.

Every format takes both `2026-02-03` and `"2026-02-03"`: the prompt asks for JSON, or shows the
answer bare, and models write either. Only quotes that no value of the type can have are left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from clew.codecs.schema_references import resolved
from clew.core.actions import Action
from clew.core.codec import Parsed, PromptSpec
from clew.core.codes import FINISH
from clew.core.tools import Parameters
from clew.core.values import Json
from clew.support.linear_patterns import may_match

_FORMS: Final = frozenset({"date", "date-time", "time", "duration", "uuid"})
_REPAIR: Final = "quotes around an answer that is no text removed"


def without_quotes(prompt_spec: PromptSpec, parsed: Parsed) -> Parsed:
    """What a reply says, its answer without quotes that the type's values cannot have."""
    if parsed.answer is not None:
        bare = _bare(prompt_spec, parsed.answer) if prompt_spec.answers_text else parsed.answer
        return parsed if bare == parsed.answer else _mended(parsed, answer=bare)
    actions = tuple(_finish(prompt_spec, action) for action in parsed.actions)
    same = all(new is old for new, old in zip(actions, parsed.actions, strict=True))
    return parsed if same else _mended(parsed, actions=actions)


def has_no_quotes(prompt_spec: PromptSpec) -> bool:
    """Whether the answer is written as a text, and no value of its type holds quotes."""
    return prompt_spec.answers_text and _formed(prompt_spec.answer)


def _mended(parsed: Parsed, **parts: Any) -> Parsed:
    return msgspec.structs.replace(parsed, repairs=(*parsed.repairs, _REPAIR), **parts)


def _finish(prompt_spec: PromptSpec, action: Action) -> Action:
    answer = action.args.get("answer")
    if action.name != FINISH or action.fault or not isinstance(answer, str):
        return action
    bare = _bare(prompt_spec, answer)
    return action if bare == answer else Action(FINISH, {**action.args, "answer": bare})


def _bare(prompt_spec: PromptSpec, text: str) -> str:
    """The text, or what stands in the quotes that are all around it."""
    inner = text.strip()
    if inner[:1] != '"' or inner[-1:] != '"':
        return text
    try:
        value: str = msgspec.json.decode(inner, type=str)
    except msgspec.MsgspecError:
        return text
    choices = [*_choices(prompt_spec.answer)]
    fits = any(_may_be(one, value) for one in choices)
    return value if fits and not any(_may_be(one, text) for one in choices) else text


def _choices(root: Parameters) -> Iterator[Mapping[str, Any]]:
    """What an answer may be: the schema, or those that it lets one choose from."""
    schema = resolved(root, root)
    several = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    yield from (resolved(root, one) for one in several) if several else (schema,)


def _may_be(schema: Mapping[str, Any], text: str) -> bool:
    """Whether a text may be a value of the schema, by what it says of texts."""
    listed = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    if listed:
        return text in listed
    if schema.get("type") != "string" or (_formed(schema) and '"' in text):
        return False
    fits = schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", len(text))
    return fits and may_match(str(schema.get("pattern", "")), text)


def _formed(schema: Mapping[str, Json]) -> bool:
    return schema.get("format") in _FORMS or schema.get("contentEncoding") == "base64"
