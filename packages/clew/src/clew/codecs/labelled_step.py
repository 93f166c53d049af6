"""A step of labelled lines, read: what stands behind each label, in the words of a dialect."""

import re
from typing import Final

import msgspec

from clew.codecs import prompt_texts
from clew.codecs.arguments import bare, fields, may_act, object_args, text_field, tool_named, typed
from clew.codecs.call_marks import check_thought
from clew.codecs.calls import TRAILING, check_alone, read_call, tool_name
from clew.codecs.json_repair import UnreadableError, complete_value, first_value
from clew.codecs.no_action import void
from clew.codecs.sections import Sections, unfenced
from clew.codecs.stop_filter import Labels
from clew.core.actions import Action
from clew.core.codec import Parsed, PromptSpec
from clew.core.codes import FINISH
from clew.core.contents import Reply
from clew.core.tools import ToolSpec
from clew.core.values import Json
from clew.support.settings import check_fields
from clew.support.surrogates import HALF


class Dialect(msgspec.Struct, frozen=True):
    """The labels of a labelled format. `name` identifies the dialect in records and settings."""

    name: str = ""
    question: str = "Question"
    thought: str = "Thought"
    action: str = "Action"
    input: str = "Action Input"
    observation: str = "Observation"
    final: str = "Final Answer"

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    @property
    def labels(self) -> Labels:
        """The labels to look for; every dialect also reads the two commonest ones for an answer."""
        return Labels(
            (
                (self.question.lower(), "question"),
                (self.thought.lower(), "thought"),
                (self.input.lower(), "input"),
                (self.action.lower(), "action"),
                (self.observation.lower(), "observation"),
                (self.final.lower(), "final"),
                ("final answer", "final"),
                ("final", "final"),
            )
        )


DIALECTS: Final = (
    Dialect(),
    Dialect("final", final="Final"),
    Dialect("conclusion", question="Objective", final="Conclusion"),
)
"""The dialects that have a name of their own."""


def labelled_step(
    words: Dialect, prompt_spec: PromptSpec, reply: Reply, parsed_sections: Sections
) -> Parsed:
    """The step that a reply holds. Raises `UnreadableError` where it holds none."""
    if why := prompt_texts.cut_short(reply, complete=parsed_sections.complete):
        raise UnreadableError(why)
    check_thought(parsed_sections.thought)
    action, repairs = _read(words, prompt_spec, reply, parsed_sections)
    check_alone(prompt_spec, action.name, left_over=parsed_sections.left_over)
    repairs = list(dict.fromkeys([*parsed_sections.repairs, *repairs]))
    return Parsed(parsed_sections.thought, (action,), repairs=tuple(repairs))


def _read(
    words: Dialect, prompt_spec: PromptSpec, reply: Reply, parsed_sections: Sections
) -> tuple[Action, list[str]]:
    if parsed_sections.early:
        raise UnreadableError(f"{words.input} stands without its {words.action} ahead of it")
    if parsed_sections.action is not None:
        return _action(prompt_spec, parsed_sections.action, parsed_sections.input, words)
    if parsed_sections.final is None:
        form = f"{words.action}: and {words.input}:, or {words.final}:"
        raise UnreadableError(prompt_texts.nothing(reply, parsed_sections, form))
    if not parsed_sections.final:
        raise UnreadableError(f"nothing stands behind {words.final}:")
    if reply.calls or _acts(prompt_spec, parsed_sections):
        raise UnreadableError(
            f"{words.final}: stands beside an action, and neither counted: give the action "
            f"alone and wait for its {words.observation}, or the answer alone"
        )
    if prompt_spec.answers_text:
        return Action(FINISH, {"answer": parsed_sections.final}), []
    value, repairs = _answer(prompt_spec, parsed_sections.final)
    return Action(FINISH, {"answer": value}), repairs


def _acts(prompt_spec: PromptSpec, parsed_sections: Sections) -> bool:
    """Whether an action stands within the answer: with an input, or as a call of a known tool."""
    if parsed_sections.beside is None:
        return False
    name = re.match(
        r"[\"'*`]*([\w./-]{1,64})[\"'*`]*\s*(?=[\[({]|$)", parsed_sections.beside, re.MULTILINE
    )
    named = name is not None and (
        name[1] in prompt_spec.known or tool_named(prompt_spec, name[1]) is not None
    )
    return (
        named
        if not parsed_sections.has_input
        else not void(parsed_sections.beside.partition("\n")[0])
    )


def _action(
    prompt_spec: PromptSpec, text: str, args_text: str | None, words: Dialect
) -> tuple[Action, list[str]]:
    """An action from what stands behind its label and behind its input's."""
    first, _, below = text.partition("\n")
    below = below.strip()
    if first.startswith("```"):
        raise UnreadableError("the action is a block of code, and names no tool")
    if args_text is None and below[:1] in {"{", "`"}:
        action, repairs = _action(prompt_spec, first, below, words)
        return action, [f"{words.input} label missing", *repairs]
    name, bracket, _ = first.partition("(") if "(" in first else first.partition("[")
    if args_text is None and bracket:
        action, repairs = read_call(prompt_spec, text)
        return action, ["call written on the action's line", *repairs]
    name = name.strip(" \t.,;*_`")
    if name.lower() == words.final.lower():
        name, repairs = FINISH, [f"{words.final} as an action read as finish"]
    else:
        name, repairs = tool_name(prompt_spec, name)
    if bracket:
        repairs.append("brackets behind the tool's name dropped")
    if below:
        repairs.append(TRAILING)
    if may_act(prompt_spec, name):
        inside = first.partition(bracket)[2].strip("()[] \t") if bracket else ""
        _check_complete(prompt_spec, name, args_text, inside or below, words)
    args, mended = _args(tool_named(prompt_spec, name), args_text or "", words)
    return Action(name, args), repairs + mended


def _check_complete(
    prompt_spec: PromptSpec, name: str, args_text: str | None, rest: str, words: Dialect
) -> None:
    """Hold an effect to one object of arguments that is closed, with nothing beside it.

    Of a text nobody knows whether all of it came. Raises `UnreadableError`.
    """
    tool = tool_named(prompt_spec, name)
    fence, _, text = (args_text or "").strip().partition("\n")
    fenced = fence.startswith("```")
    text = text.strip() if fenced else (args_text or "").strip()
    if args_text is not None and void(text) and tool is not None and not fields(tool.parameters):
        text = ""
    elif text.startswith("{"):
        value = first_value(text)
        if HALF in value.repairs:
            raise UnreadableError("a string holds half a character")
        text = text[value.end :].strip()
        fenced, text = fenced and not text.startswith("```"), text.removeprefix("```").strip()
    else:
        bare(tool, "" if void(text) else text)  # it may have a better complaint
        raise UnreadableError(
            f"{name} changes things, so its {words.input} must be one JSON object"
        )
    if rest or text or fenced:
        raise UnreadableError(
            f"something is left over or not closed beside the call of {name}, which changes things"
        )


def _args(tool: ToolSpec | None, text: str, words: Dialect) -> tuple[dict[str, Json], list[str]]:
    text, repairs = unfenced(text)
    if (parsed := object_args(tool, text)) is not None:
        args, repaired = parsed
        return args, [*repairs, *repaired.repairs, *_trailing(text[repaired.end :])]
    if void(text):
        if text:
            repairs.append(f"empty {words.input} read as no arguments")
        return bare(tool, ""), repairs
    if text.startswith('"'):
        try:
            value = complete_value(text)
        except UnreadableError:
            value = text
        text = value if isinstance(value, str) else text
    args = bare(tool, text)
    if tool is not None:
        repairs.append(f"bare text read as {text_field(tool.parameters)}")
    return args, repairs


def _answer(prompt_spec: PromptSpec, text: str) -> tuple[Json, list[str]]:
    """An answer that is not text: JSON of its schema, or left to validation."""
    text, repairs = unfenced(text)
    if text[:1] in {"{", "["}:
        prefix = first_value(text)
        return prefix.value, [*repairs, *prefix.repairs, *_trailing(text[prefix.end :])]
    return typed(text, prompt_spec.answer), repairs


def _trailing(text: str) -> list[str]:
    return [TRAILING] if text.strip(" \t\r\n`*_") else []
