"""A call that stands in a text, and what all spellings share: names, and values of their type."""

from collections.abc import Sequence
from typing import Final, cast

import msgspec

from clew.codecs.arguments import fields, matched, tool_named, typed
from clew.codecs.json_repair import JsonPrefix, UnreadableError
from clew.codecs.tool_names import QUALIFIED
from clew.core.codec import PromptSpec
from clew.core.codes import FINISH
from clew.core.values import Json
from clew.support.lazy_regex import Lazy
from clew.support.surrogates import HALF

_SPACE: Final = Lazy(r"\s*+")
UNCLOSED: Final = "it is never closed"
HALF_CHARACTER: Final = "half a character stands in it"


class WrittenCall(msgspec.Struct, frozen=True):
    """A call that stands in a text; `problem` says why its arguments cannot be read.

    `open` says what leaves in doubt whether all of it is there.
    """

    name: str
    args: dict[str, Json] = {}
    problem: str = ""
    open: str = ""


class ParsedCalls(msgspec.Struct, frozen=True):
    """Calls, where they end, and the marks that stood within them."""

    calls: Sequence[WrittenCall]
    end: int
    marks: str = ""


def declared(prompt_spec: PromptSpec, name: str) -> bool:
    """Whether it is the name of a tool that can be called."""
    return name == FINISH or name in prompt_spec.known or tool_named(prompt_spec, name) is not None


def as_declared(prompt_spec: PromptSpec, written: str) -> str:
    """The name of the tool that is meant, where only case, separators or a prefix differ."""
    ahead = next(filter(written.startswith, QUALIFIED), "")
    for name in (written, written.removeprefix(ahead)):
        if declared(prompt_spec, matched_name := matched(prompt_spec, name)[0]):
            return matched_name
    return written


def skip(text: str, at: int) -> int:
    """Where the next sign stands that is no space."""
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def with_texts(
    prompt_spec: PromptSpec, name: str, params: Sequence[tuple[str, str]]
) -> WrittenCall:
    """A call with its arguments as texts: each a value of its parameter's type."""
    tool = tool_named(prompt_spec, name)
    schemas = fields(tool.parameters) if tool is not None else {}
    args: dict[str, Json] = {}
    for key, text in params:
        if key in args:
            return WrittenCall(name, problem=f"the parameter {key!r} is given twice")
        try:
            args[key] = typed(text, schemas.get(key, {}))
        except UnreadableError as error:
            return WrittenCall(name, problem=str(error))
    return WrittenCall(name, args)


def with_value(name: str, prefix: JsonPrefix) -> WrittenCall:
    """A call with an object of arguments."""
    half = HALF_CHARACTER if HALF in prefix.repairs else ""
    return WrittenCall(name, cast("dict[str, Json]", prefix.value), open=half)
