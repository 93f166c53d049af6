"""A call written on one line, `name[argument]` or `name({...})`, read as an action."""

import re
from typing import Final

from clew.codecs.arguments import bare, fields, matched, may_act, object_args, tool_named
from clew.codecs.json_repair import UnreadableError, first_value
from clew.core.actions import Action
from clew.core.codec import PromptSpec
from clew.core.codes import FINISH
from clew.support.surrogates import HALF

CANONICAL_FINISH: Final = "Finish"
"""How the paper writes the tool that ends a run."""

MATCHED: Final = "name matched without case"
TRAILING: Final = "trailing text dropped"

_OPENING: Final = re.compile(r"[\[(]")
_NAME: Final = re.compile(r"[\w./-]{1,64}")
_KEYWORD: Final = re.compile(r"\s*(\w{1,64})\s*(?:=(?!=)|:\s*[\"'])")
_QUOTES: Final = frozenset("{\"'")
_CALL: Final = re.compile(r"\w ?\[")
_DECORATION: Final = " \t\r\n*_`."
_EMPHASIS: Final = "*_`"


def tool_name(prompt_spec: PromptSpec, written: str) -> tuple[str, list[str]]:
    """The tool that is named, and what had to be mended.

    A single word that names no tool stays as it is, for the loop to say so; anything else raises
    `UnreadableError`.
    """
    name, loosely = matched(prompt_spec, written)
    if loosely:
        return name, [] if written.strip() == CANONICAL_FINISH else [MATCHED]
    known = name == FINISH or name in prompt_spec.known or tool_named(prompt_spec, name) is not None
    if not known and not _NAME.fullmatch(name):
        raise UnreadableError("the action names no tool")
    return name, []


def check_alone(prompt_spec: PromptSpec, name: str, *, left_over: bool) -> None:
    """Hold an effect to a reply with nothing behind it that the model means.

    A second action or thought may take the first back. Raises `UnreadableError`.
    """
    if left_over and may_act(prompt_spec, name):
        raise UnreadableError(
            f"more stands behind the call of {name}, which changes things: nothing was done. Give "
            "one action alone and wait for its result"
        )


def read_call(prompt_spec: PromptSpec, text: str) -> tuple[Action, list[str]]:
    """Read a call that `text` begins with. Raises `UnreadableError`."""
    text = _plain(text.strip())
    opening = _OPENING.search(text)
    if opening is None:
        raise UnreadableError("the action has no brackets with its argument")
    name, repairs = tool_name(prompt_spec, text[: opening.start()])
    tool, acts = tool_named(prompt_spec, name), may_act(prompt_spec, name)
    rest = text[opening.end() :].lstrip()
    closing = "]" if opening[0] == "[" else ")"
    if closing == ")":
        repairs.append("round brackets read as a call")
    if (parsed := object_args(tool, rest)) is not None:
        args, repaired = parsed
        after = rest[repaired.end :].lstrip()
        repairs += repaired.repairs
        if acts and HALF in repaired.repairs:
            raise UnreadableError("a string holds half a character")
        if after.startswith(closing):
            return Action(name, args), repairs + _trailing(after[1:], name, acts=acts)
        if not after:
            return Action(name, args), repairs + _closed(name, rest, acts=acts)
    end = balanced(rest, opening[0], closing)
    if end is None:
        repairs += _closed(name, rest, acts=acts)
        inside = rest
    else:
        inside = rest[:end]
        repairs += _trailing(rest[end + 1 :], name, acts=acts)
    inside = inside.strip()
    keyword = _KEYWORD.match(inside)
    if keyword is not None and tool is not None and keyword[1] in fields(tool.parameters):
        raise UnreadableError("arguments are not written with an equals sign, or behind a colon")
    if acts and inside[:1] in _QUOTES and closing == "]":
        raise UnreadableError(
            f"what {inside[0]} opens is no JSON object, and {name} changes things: nothing was done"
        )
    if closing == ")":
        inside = _unquoted(inside)
    return Action(name, bare(tool, inside)), repairs


def _plain(text: str) -> str:
    """A call without the emphasis around the whole of it."""
    while len(text) > 1 and text[0] in _EMPHASIS and text[-1] == text[0]:
        text = text[1:-1]
    return text


def balanced(text: str, opening: str, closing: str) -> int | None:
    """Where the bracket that was opened ahead of `text` is closed."""
    depth = 1
    for bracket in re.finditer(f"[{re.escape(opening + closing)}]", text):
        depth += 1 if bracket[0] == opening else -1
        if not depth:
            return bracket.start()
    return None


def _closed(name: str, rest: str, *, acts: bool) -> list[str]:
    """Close a bracket that the model forgot, where a wrong guess can do no harm.

    A reply that a server cut without saying so looks the same, so an effect is never built on it;
    and over several lines nobody knows where the argument was to end.
    """
    if "\n" in rest.strip():
        raise UnreadableError("the action's bracket is never closed")
    if acts:
        raise UnreadableError(
            f"the action's bracket is never closed, and {name} changes things: nothing was done"
        )
    return ["closing bracket added"]


def _trailing(text: str, name: str, *, acts: bool) -> list[str]:
    """What is dropped behind the bracket: often a second call on the same line.

    For an effect nothing is: the bracket may have stood within the argument.
    """
    if acts and text.strip():
        raise UnreadableError(
            f"there is text behind the bracket of {name}, which changes things: nothing was done"
        )
    if _CALL.search(text):
        return ["second action dropped"]
    return [TRAILING] if text.strip(_DECORATION) else []


def _unquoted(text: str) -> str:
    """The text of a call in program notation, without its quotes."""
    if text[:1] in {'"', "'"}:
        prefix = first_value(text)
        if prefix.end == len(text) and isinstance(prefix.value, str):
            return prefix.value
    return text


def bare_call(prompt_spec: PromptSpec, text: str) -> tuple[str, str] | None:
    """The last line as a call of a known tool written without its label, and the text ahead of it.

    None where another line is such a call too: then nobody knows which was meant.
    """
    lines = text.rstrip().split("\n")
    calls = [line for line in lines if _is_call(prompt_spec, line)]
    if len(calls) != 1 or calls[0] is not lines[-1]:
        return None
    return "\n".join(lines[:-1]).strip(), lines[-1].strip(" \t*_`")


def _is_call(prompt_spec: PromptSpec, line: str) -> bool:
    line = line.strip(_DECORATION)
    opening = _OPENING.search(line[:72])
    if opening is None or line[-1] not in "])":
        return False
    name, _ = matched(prompt_spec, line[: opening.start()])
    return name == FINISH or name in prompt_spec.known or tool_named(prompt_spec, name) is not None
