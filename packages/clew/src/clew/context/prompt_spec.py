"""A brief as JSON: what the record keeps so that a prompt can be made again without its agent."""

from typing import Final

import msgspec

from clew.core.codec import Example, PromptSpec
from clew.core.codes import Effect
from clew.core.tools import Parameters, ToolSpec
from clew.core.values import Json, encode
from clew.support.errors import ConfigError

SWITCHES: Final = ("repeat_question", "strict_landing", "raw_replies", "withhold")
"""Fields of a brief that the record names only where they are not as they usually are."""


class _Tool(msgspec.Struct, omit_defaults=True):
    name: str
    description: str
    parameters: Parameters
    effect: Effect = "unsafe"
    examples: tuple[dict[str, Json], ...] = ()
    result: Parameters | None = None


class _PromptDocument(msgspec.Struct, omit_defaults=True):
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
    visible_chars: int | None = None


_DECODER: Final = msgspec.json.Decoder(_PromptDocument)


def prompt_document(prompt_spec: PromptSpec, shape: str) -> Json:
    """All that a codec and the view read in a brief; of its shape only the name, `shape`.

    Raises `ConfigError` where an example holds what JSON cannot carry.
    """
    document = _PromptDocument(
        prompt=prompt_spec.prompt,
        tools=tuple(map(_describe, prompt_spec.tools)),
        finish=_describe(prompt_spec.finish),
        answer=prompt_spec.answer,
        known=tuple(sorted(prompt_spec.known)),
        thought=prompt_spec.thought,
        examples=prompt_spec.examples,
        shape=shape,
        more=tuple(map(_describe, prompt_spec.more)),
        visible_chars=prompt_spec.visible_chars,
        **{name: getattr(prompt_spec, name) for name in SWITCHES},
    )
    try:
        return msgspec.json.decode(encode(document))
    except (TypeError, ValueError) as error:
        message = f"an example, or another part of the prompt, is not JSON ({error}): mend it"
        raise ConfigError(message) from error


def _describe(tool: ToolSpec) -> _Tool:
    return _Tool(
        tool.name, tool.description, tool.parameters, tool.effect, tool.examples, tool.result
    )


def recorded_prompt_spec(body: bytes) -> tuple[PromptSpec, str]:
    """The brief in a blob, but for its shape, and that shape's name. Raises `ConfigError`."""
    try:
        document = _DECODER.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        message = f"the record's brief is not readable here ({error}); update clew"
        raise ConfigError(message) from error
    prompt_spec = PromptSpec(
        prompt=document.prompt,
        tools=tuple(map(_tool, document.tools)),
        finish=_tool(document.finish),
        answer=document.answer,
        known=frozenset(document.known),
        thought=document.thought,
        examples=document.examples,
        more=tuple(map(_tool, document.more)),
        visible_chars=document.visible_chars,
        **{name: getattr(document, name) for name in SWITCHES},
    )
    return prompt_spec, document.shape


def _tool(told: _Tool) -> ToolSpec:
    return ToolSpec(
        name=told.name,
        description=told.description,
        parameters=told.parameters,
        effect=told.effect,
        examples=told.examples,
        result=told.result,
    )
