"""A text that would end a run: an answer, or a call that the model wrote where it should call.

The one must not be taken for the other in silence. A reply that is nothing but calls of declared
tools is read as these calls. What may be a call, but names no tool, does not fit or stands beside
other words, is a fault that says how to call. What only talks about calls is an answer.
"""

import re
from typing import Final

import msgspec

from clew.codecs.arguments import example, fields, required, tool_named, types
from clew.codecs.call_spellings import MARK, TAG, Written, calls_at, declared, plain
from clew.codecs.interface import Parsed, PromptSpec
from clew.codecs.labelled import DIALECTS, Labelled
from clew.codecs.schema_references import resolved
from clew.codecs.sections import sections
from clew.core.events import FINISH, Action, Json, Reply, encode
from clew.support.lazy_regex import Lazy

READ: Final = "calls written as text were read as calls"
SHORT: Final = 240
"""So many characters ahead of a call announce it; more of them are prose with an example in it."""

_CODE: Final = Lazy(r"(?<!`)(`{3,}+)[^`]*+(?:`(?!``)[^`]*+)*+\1|(?<!`)`[^`\n]{1,400}+`")
_FENCED: Final = Lazy(r"`{3,}(?P<word>[\w+-]{0,20})[ \t]*\r?\n(?P<body>.*)", re.DOTALL)
_BEGUN: Final = Lazy(r"^[ \t]*(?:`{3,}[\w+-]{0,20}[ \t]*\r?\n\s*)?(?=[\[{])", re.MULTILINE)
_LABEL: Final = Lazy(r"\s*Action\s*:\s*(?=[`\[{])", re.IGNORECASE)
_EXAMPLE: Final = Lazy(
    r"\b(?:examples?|instance|syntax|formats?|schema|you (?:can|could|would|should|may))\b|e\.g\.",
    re.IGNORECASE,
)
_EDGES: Final = "`} \r\n\t"
"""What may stand behind a call and means nothing: a fence, and a brace too many."""

_MAYBE: Final = Lazy(r"[{\[(<]|^\W{0,8}action", re.IGNORECASE | re.MULTILINE)
_MEANT: Final = frozenset({"tool_call", "tool_calls", "tool_code", "function_call", "tool_use"})
_LABELS: Final = DIALECTS[0].labels
_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array",
                 dict: "object", type(None): "null"}  # fmt: skip


class _Found(msgspec.Struct, frozen=True):
    """Calls in a text, and what stands around them; `marked` where they can be nothing else.

    Behind a mark at the start of a line a call counts, and what stands around it is the thought.
    """

    calls: list[Written]
    before: str
    after: str
    marked: bool
    aloud: bool = True

    @property
    def inline(self) -> bool:
        """Whether the call may only be talked about."""
        return not self.marked or (bool(self.after) and not self.aloud)

    @property
    def thought(self) -> str:
        """The words around the calls."""
        return "\n".join(filter(None, (self.before, self.after)))


def as_calls(brief: PromptSpec, text: str) -> Parsed | None:
    """A text read as the calls that it is, or as a fault; None where it is an answer."""
    if not MARK.search(text) and not _MAYBE.search(text):
        return None
    if (labelled := _labelled(brief, text)) is not None:
        return labelled
    found = _find(brief, plain(text))
    if found is None or _is_answer(brief, text):
        return None
    problem = next(filter(None, (_problem(brief, call) for call in found.calls)), "")
    around = found.after or found.before
    if around and not found.marked and (problem or _talks(found)):
        return None
    if around and found.inline and not problem:
        if _only_reads(brief, found):
            return Parsed(found.before, _actions(found), repairs=(READ, *_dropped(found)))
        problem = f"a call of {found.calls[0].name} stands as text beside other words"
    if problem:
        return Parsed(text=text.strip(), fault=f"{problem}. {_teach(brief, found.calls[0].name)}")
    return Parsed(found.thought, _actions(found), repairs=(READ,))


def _actions(found: _Found) -> tuple[Action, ...]:
    return tuple(Action(call.name, call.args) for call in found.calls)


def _only_reads(brief: PromptSpec, found: _Found) -> bool:
    """Whether the calls may be made though they stand beside other words: no harm can come of it.

    Small models announce a call, or go on with a result that they invent, as in text formats.
    """
    tools = [tool_named(brief, call.name) for call in found.calls]
    return not found.marked and all(tool and tool.effect in {"pure", "read"} for tool in tools)


def _dropped(found: _Found) -> tuple[str, ...]:
    return ("text behind the calls dropped",) if found.after else ()


def _find(brief: PromptSpec, text: str) -> _Found | None:
    """The calls in a text: all of it, behind a mark, or at its beginning or end."""
    if (label := _LABEL.match(text)) is not None:
        text = text[label.end() :]
    fence = _FENCED.fullmatch(text)
    meant = fence is not None and fence["word"] in _MEANT
    body = fence["body"] if fence is not None else text
    calls, end = calls_at(brief, body, 0, marked=meant or MARK.match(body) is not None)
    if calls:
        marked = MARK.match(body) is not None or TAG.match(body) is not None
        return _Found(calls, "", body[end:].strip(_EDGES), marked)
    bare = _CODE.sub(lambda code: " " * len(code[0]), text)
    for mark in (MARK.search(bare), TAG.search(bare)):
        if mark is not None:
            before, line = text[: mark.start()].strip(), bare.rfind("\n", 0, mark.start()) + 1
            calls, end = calls_at(brief, text, mark.start(), marked=True)
            if calls:
                aloud = not bare[line : mark.start()].strip()
                return _Found(calls, before, text[end:].strip(), marked=True, aloud=aloud)
            if not before and "tool" in mark[0].lower():
                return _Found([Written("", problem="the call cannot be read")], "", "", marked=True)
    begun = [each.end() for each in _BEGUN.finditer(text)]
    for start in begun[:1] + begun[-1:]:
        calls, end = calls_at(brief, text, start, marked=False)
        if calls and not (before := text[:start]).strip("` \n") and before:
            return _Found(calls, "", text[end:].strip(_EDGES), marked=False)
        if calls and not text[end:].strip(_EDGES):
            before = re.sub(r"`{3,}[\w+-]{0,20}\s*$", "", text[:start]).strip()
            return _Found(calls, before, "", marked=False)
    return None


def _talks(found: _Found) -> bool:
    """Whether the words ahead of a call are prose, of which it is an example."""
    return len(found.before) > SHORT or _EXAMPLE.search(found.before) is not None


def _labelled(brief: PromptSpec, text: str) -> Parsed | None:
    """A step as text formats have it: `Action:` with `Action Input:`, or a call on its line."""
    outside = text if text.lstrip().startswith("```") else _CODE.sub("", text)
    found = sections(_LABELS, outside)
    if found.action is None or _LABEL.match(found.action.join(("Action:", ""))):
        return None
    name = re.match(r"[`\"'*]*([\w./-]{1,64})", found.action)
    if found.input is None and (name is None or not _called(brief, name[1], found.action)):
        return None
    read = Labelled().parse(brief, Reply(outside))
    if read.fault:
        why = read.fault.partition("\n")[0].partition(". The right form")[0]
        return Parsed(text=text.strip(), fault=f"{why}. {_teach(brief, name[1] if name else '')}")
    [action] = read.actions
    if problem := _problem(brief, Written(action.name, action.args)):
        return Parsed(text=text.strip(), fault=f"{problem}. {_teach(brief, action.name)}")
    return Parsed(read.text, read.actions, repairs=(READ, *read.repairs))


def _called(brief: PromptSpec, name: str, action: str) -> bool:
    """Whether what stands behind `Action:` alone is a call of a declared tool."""
    rest = action.partition(name)[2].lstrip("`\"'* ")
    return declared(brief, name) and rest[:1] in {"(", "[", "{", "\n"}


def _is_answer(brief: PromptSpec, text: str) -> bool:
    """Whether a typed answer may have just these keys."""
    if brief.answers_text:
        return False
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    keys = set(fields(resolved(brief.answer, brief.answer)))
    return isinstance(value, dict) and bool(keys) and value.keys() <= keys


def _problem(brief: PromptSpec, call: Written) -> str:
    """Why a written call cannot be made, as far as it can be told here; "" where it can."""
    if call.problem:
        return (
            f"the call of {call.name} cannot be read: {call.problem}" if call.name else call.problem
        )
    if not declared(brief, call.name):
        return f"{call.name} is no tool"
    if (tool := tool_named(brief, call.name)) is None:
        return ""
    names = fields(tool.parameters)
    if missing := [name for name in required(tool.parameters) if name not in call.args]:
        return f"{call.name} needs {', '.join(missing)}"
    if names and (strange := [name for name in call.args if name not in names]):
        return f"{call.name} takes no {strange[0]}"
    for name, value in call.args.items():
        allowed = types(names.get(name, {}))
        if allowed and not _fits(value, allowed):
            return f"{name} of {call.name} must be of type {' or '.join(sorted(allowed))}"
    return ""


def _fits(value: Json, allowed: frozenset[str]) -> bool:
    kind = _TYPES[type(value)]
    return kind in allowed or (kind == "integer" and "number" in allowed)


def _teach(brief: PromptSpec, name: str) -> str:
    """How a call is made, by the tool that was meant or any other."""
    shown = [tool.name for tool in brief.tools] or [FINISH]
    tool = tool_named(brief, name) or tool_named(brief, shown[0]) or brief.finish
    known = "" if declared(brief, name) else f" The tools are: {', '.join(shown)}."
    args = encode(example(tool)).decode()
    return (
        f"Call a tool by function calling, not in text: {tool.name} with {args}.{known} "
        "If it was no call, answer in words that stand alone."
    )
