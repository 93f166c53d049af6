"""A brief as JSON: what the record keeps so that a prompt can be made again without its agent."""

from typing import Final

import msgspec

from clew.core.codec import Example, PromptSpec
from clew.core.events import Effect, Json, encode
from clew.core.interfaces import Parameters, ToolSpec
from clew.support.errors import ConfigError

SWITCHES: Final = ("repeat_question", "strict_landing", "raw_replies", "withhold")
"""Fields of a brief that the record names only where they are not as they usually are."""


class _Tool(msgspec.Struct, omit_defaults=True):
    name: str
    description: str
    parameters: Parameters
    effect: Effect = "unsafe"
    examples: tuple[dict[str, Json], ...] = ()


class _Brief(msgspec.Struct, omit_defaults=True):
    prompt: str
    tools: tuple[_Tool, ...]
    finish: _Tool
    answer: Parameters
    known: tuple[str, ...] = ()
    thought: bool = True
    examples: tuple[Example, ...] = ()
    shape: str = ""
    more: tuple[_Tool, ...] = ()
    repeat_question: bool = False
    strict_landing: bool = False
    raw_replies: bool | None = None
    withhold: bool = False
    shown: int | None = None


_DECODER: Final = msgspec.json.Decoder(_Brief)


def brief_document(brief: PromptSpec, shape: str) -> Json:
    """All that a codec and the view read in a brief; of its shape only the name, `shape`.

    Raises `ConfigError` where an example holds what JSON cannot carry.
    """
    document = _Brief(
        prompt=brief.prompt,
        tools=tuple(map(_describe, brief.tools)),
        finish=_describe(brief.finish),
        answer=brief.answer,
        known=tuple(sorted(brief.known)),
        thought=brief.thought,
        examples=brief.examples,
        shape=shape,
        more=tuple(map(_describe, brief.more)),
        shown=brief.shown,
        **{name: getattr(brief, name) for name in SWITCHES},
    )
    try:
        return msgspec.json.decode(encode(document))
    except (TypeError, ValueError) as error:
        message = f"an example, or another part of the prompt, is not JSON ({error}): mend it"
        raise ConfigError(message) from error


def _describe(tool: ToolSpec) -> _Tool:
    return _Tool(tool.name, tool.description, tool.parameters, tool.effect, tool.examples)


def recorded_brief(body: bytes) -> tuple[PromptSpec, str]:
    """The brief in a blob, but for its shape, and that shape's name. Raises `ConfigError`."""
    try:
        document = _DECODER.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        message = f"the record's brief is not readable here ({error}); update clew"
        raise ConfigError(message) from error
    brief = PromptSpec(
        prompt=document.prompt,
        tools=tuple(map(_tool, document.tools)),
        finish=_tool(document.finish),
        answer=document.answer,
        known=frozenset(document.known),
        thought=document.thought,
        examples=document.examples,
        more=tuple(map(_tool, document.more)),
        shown=document.shown,
        **{name: getattr(document, name) for name in SWITCHES},
    )
    return brief, document.shape


def _tool(told: _Tool) -> ToolSpec:
    return ToolSpec(
        name=told.name,
        description=told.description,
        parameters=told.parameters,
        effect=told.effect,
        examples=told.examples,
    )
