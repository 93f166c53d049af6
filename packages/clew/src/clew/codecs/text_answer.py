"""A text that would end a run: an answer, or a call that the model wrote where it should call.

The one must not be taken for the other in silence. A reply that is nothing but calls of declared
tools is read as these calls. What may be a call, but names no tool, does not fit or stands beside
other words, is a fault that says how to call. What only talks about calls is an answer.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from clew.codecs.arguments import example, fields, may_act, required, tool_named, types
from clew.codecs.call_marks import MARK, PIECE, TAG, plain
from clew.codecs.call_spellings import MAX_CALLS, calls_at
from clew.codecs.call_traces import CODE, is_example, only_call, trace, without_code
from clew.codecs.calls import TRAILING
from clew.codecs.json_repair import UnreadableError, complete_value
from clew.codecs.labelled_step import DIALECTS, labelled_step
from clew.codecs.schema_references import resolved
from clew.codecs.sections import Sections, sections
from clew.codecs.stop_filter import SECOND
from clew.codecs.unread_calls import MEANT
from clew.codecs.written_calls import WrittenCall, declared
from clew.core.actions import Action
from clew.core.codec import Parsed, PromptSpec
from clew.core.codes import FINISH
from clew.core.contents import Reply
from clew.core.values import Json, encode
from clew.support.lazy_regex import Lazy

READ: Final = "calls written as text were read as calls"

_BEGUN: Final = Lazy(r"^[ \t]*(?=(?:`{3,}[\w+-]{0,20}[ \t]*\r?\n\s{0,80})?[\[{])", re.MULTILINE)
_LABEL: Final = Lazy(r"\s*Action\s*:\s*(?=[`\[{])", re.IGNORECASE)
_ACTIONS: Final = Lazy(r"^\W{0,8}action(?: \d{1,3})?\W{0,3}:", re.IGNORECASE | re.MULTILINE)
_MARKED_FENCE: Final = Lazy(
    rf"`{{3,}}[\w+-]{{0,20}}\s{{1,80}}(?:{MARK.pattern}|{TAG.pattern})",
    re.IGNORECASE | re.MULTILINE,
)
_OPENED: Final = Lazy(r"`{3,}[\w+-]{0,20}[ \t]*\r?\n\s{0,20}\Z")
_MEANT_FENCE: Final = Lazy(rf"`{{3,}}(?:{'|'.join(sorted(MEANT))})\s")
_EDGES: Final = "`} \r\n\t"
"""What may stand behind a call and means nothing: a fence, and a brace too many."""

_MAYBE: Final = Lazy(
    r"[{\[(<]|`{3}|\bto=|\bcall:|^\W{0,8}(?:action|tool|function|call)\b",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS: Final = DIALECTS[0]
_LABELS: Final = _WORDS.labels
_TYPES: Final = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array",
                 dict: "object", type(None): "null"}  # fmt: skip


class _CallsInText(msgspec.Struct, frozen=True):
    """Calls in a text, and what stands around them; `marked` where they can be nothing else.

    Behind a mark at the start of a line (`aloud`) a call counts, and what stands around it is the
    thought. `loose` says that signs stand behind it that close nothing.
    """

    calls: list[WrittenCall]
    before: str
    after: str
    marked: bool
    aloud: bool = True
    loose: bool = False

    @property
    def inline(self) -> bool:
        """Whether the call may only be talked about."""
        return not self.marked or (bool(self.after) and not self.aloud)


def as_calls(prompt_spec: PromptSpec, text: str) -> Parsed | None:
    """A text read as the calls that it is, or as a fault; None where it is an answer."""
    if _is_answer(prompt_spec, text):
        return None
    called = None
    if MARK.search(text) or _MAYBE.search(text):
        called = _labelled(prompt_spec, text, _taken_apart(text)) or _written(
            prompt_spec, plain(text)
        )
    if called is None and (name := trace(prompt_spec, text)):
        return _fault(
            prompt_spec, text, f"a call of {name} stands in the text and cannot be read", name
        )
    return called


def beside_calls(
    prompt_spec: PromptSpec, text: str, made: Sequence[Action]
) -> tuple[str, bool] | None:
    """The words of a text beside native calls, and whether these stand in it too.

    None where the text holds another call, in any spelling that is read, or is nothing but a call
    of another tool. A call that is only mentioned, or given as an example, is part of the words.
    """
    if _is_answer(prompt_spec, text):
        return text, False
    words, rest, again = list[str](), plain(text), False
    while len(words) < MAX_CALLS and (MARK.search(rest) or _MAYBE.search(rest)):
        if (parsed := _parse_rest(prompt_spec, rest)) is None:
            break
        if not all(_is_made(call, made, complete=parsed.marked) for call in parsed.calls):
            return None
        if not parsed.marked and (parsed.before or parsed.after):
            break
        words.append(parsed.before)
        rest, again = parsed.after, True
    other = only_call(prompt_spec, rest)
    if other and all(action.name != other for action in made):
        return None
    return ("\n".join(filter(None, [*words, rest])) if again else text), again


def _parse_rest(prompt_spec: PromptSpec, text: str) -> _CallsInText | None:
    """The calls that a text makes; None where it only speaks of some, or none can be read."""
    step = msgspec.structs.replace(_taken_apart(text), left_over=False)  # none is made for it
    labelled = _labelled(prompt_spec, text, step)
    if labelled is not None and labelled.actions:
        calls = [WrittenCall(action.name, action.args) for action in labelled.actions]
        if not {SECOND, TRAILING}.isdisjoint(labelled.repairs) and len(_ACTIONS.findall(text)) > 1:
            calls.append(WrittenCall("", problem=SECOND))
        return _CallsInText(calls, labelled.text, "", marked=True)
    calls_in_text = _find(prompt_spec, text)
    if calls_in_text is None or not all(call.name for call in calls_in_text.calls):
        return None
    known = all(declared(prompt_spec, call.name) for call in calls_in_text.calls)
    around = bool(calls_in_text.before or calls_in_text.after)
    spoken_of = not calls_in_text.marked and (
        not known or (around and is_example(calls_in_text.before))
    )
    return None if spoken_of else calls_in_text


def _is_made(call: WrittenCall, made: Sequence[Action], *, complete: bool) -> bool:
    """Whether a call is among those made; one not `complete` may leave out arguments."""
    return any(
        action.name == call.name
        and (action.args == call.args if complete else {**action.args, **call.args} == action.args)
        for action in made
    )


def _fault(prompt_spec: PromptSpec, text: str, problem: str, name: str) -> Parsed:
    return Parsed(text=text.strip(), fault=f"{problem}. {_teach(prompt_spec, name)}")


def _written(prompt_spec: PromptSpec, text: str) -> Parsed | None:
    """The calls that stand in a text, or why they cannot be made; None where none stand there."""
    if (calls := _find(prompt_spec, text)) is None:
        return None
    name = calls.calls[0].name
    problem = next(filter(None, (_problem(prompt_spec, call) for call in calls.calls)), "")
    around = calls.after or calls.before
    if around and not calls.marked and (problem or is_example(calls.before)):
        return None
    if problem := problem or _doubt(prompt_spec, calls):
        return _fault(prompt_spec, text, problem, name)
    if around and calls.inline:
        if calls.marked or not _only_reads(prompt_spec, calls.calls):
            problem = f"a call of {name} stands as text beside other words"
            return _fault(prompt_spec, text, problem, name)
        dropped = ("text behind the calls dropped",) if calls.after else ()
        return Parsed(calls.before, _actions(calls), repairs=(READ, *dropped))
    return _beside(calls)


def _beside(calls: _CallsInText) -> Parsed:
    """Marked calls, with the words around them as the thought; behind an answer they are none."""
    if calls.after and any(call.name == FINISH for call in calls.calls):
        return Parsed(
            calls.before, _actions(calls), repairs=(READ, "text behind the answer dropped")
        )
    thought = "\n".join(filter(None, (calls.before, calls.after)))
    return Parsed(thought, _actions(calls), repairs=(READ,))


def _doubt(prompt_spec: PromptSpec, calls: _CallsInText) -> str:
    """Why not all of what was written can be known: for an effect, or a piece that is left over.

    A reply that a server cut without saying so looks like one that its model did not close.
    """
    around = f"{calls.before}\n{calls.after}"
    piece = MARK.search(calls.after) or PIECE.search(around)
    if piece is not None:
        return f"beside the call of {calls.calls[0].name} stands {piece[0]!r}"
    for call in calls.calls:
        if call.open and (calls.after or may_act(prompt_spec, call.name)):
            return f"the call of {call.name} is not whole: {call.open}"
    acting = [call for call in calls.calls if may_act(prompt_spec, call.name)]
    if acting and (calls.loose or calls.after):
        return f"something is left over behind the call of {acting[0].name}"
    return ""


def _actions(calls: _CallsInText) -> tuple[Action, ...]:
    return tuple(Action(call.name, call.args) for call in calls.calls)


def _only_reads(prompt_spec: PromptSpec, calls: Sequence[WrittenCall]) -> bool:
    """Whether the calls may be made though they stand beside other words: no harm can come of it.

    Small models announce a call, or go on with a result that they invent, as in text formats.
    """
    return all(
        tool_named(prompt_spec, call.name) and not may_act(prompt_spec, call.name) for call in calls
    )


def _find(prompt_spec: PromptSpec, text: str) -> _CallsInText | None:
    """The calls in a text: all of it, behind a mark, or at its beginning or end."""
    if (label := _LABEL.match(text)) is not None:
        text = text[label.end() :]
    first = MARK.match(text) or TAG.match(text) or _MARKED_FENCE.match(text)
    calls, end = calls_at(
        prompt_spec, text, 0, marked=first is not None or _MEANT_FENCE.match(text) is not None
    )
    if calls:
        return _is_complete_answer(calls, "", text[end:], marked=first is not None)
    bare = without_code(text)
    for mark in (MARK.search(bare), TAG.search(bare), _MEANT_FENCE.search(bare)):
        if mark is not None:
            line = bare.rfind("\n", 0, mark.start()) + 1
            opened = _OPENED.search(text[max(0, mark.start() - 60) : mark.start()])
            start = mark.start() - (len(opened[0]) if opened is not None else 0)
            before = text[:start].strip()
            calls, end = calls_at(prompt_spec, text, start, marked=True)
            if calls:
                aloud = not bare[line : mark.start()].strip()
                return _is_complete_answer(calls, before, text[end:], marked=True, aloud=aloud)
            if not before and "tool" in mark[0].lower():
                return _CallsInText(
                    [WrittenCall("", problem="the call cannot be read")], "", "", marked=True
                )
    begun = [each.end() for each in _BEGUN.finditer(text)]
    for start in begun[:1] + begun[-1:]:
        calls, end = calls_at(prompt_spec, text, start, marked=False)
        before = text[:start].strip("` \n")
        if calls and (not before or not text[end:].strip(_EDGES)):
            return _is_complete_answer(calls, before, text[end:], marked=False)
    return None


def _is_complete_answer(
    calls: list[WrittenCall], before: str, rest: str, *, marked: bool, aloud: bool = True
) -> _CallsInText:
    after = rest.strip(_EDGES)
    return _CallsInText(calls, before, after, marked, aloud, bool(rest.strip()) and not after)


def _taken_apart(text: str) -> Sections:
    """A text by its labels, which are looked for outside of code.

    What stands behind them is read as it was written.
    """
    outside = text if text.lstrip().startswith("```") else _without_labels(text)
    return sections(_LABELS, text, outside)


def _labelled(prompt_spec: PromptSpec, text: str, parsed_sections: Sections) -> Parsed | None:
    """A step as text formats have it: `Action:` with `Action Input:`, or a call on its line."""
    if parsed_sections.action is None or _LABEL.match(parsed_sections.action.join(("Action:", ""))):
        return None
    name = re.match(r"[`\"'*]*([\w./-]{1,64})", parsed_sections.action)
    if parsed_sections.input is None and (
        name is None or not _called(prompt_spec, name[1], parsed_sections.action)
    ):
        return None
    try:
        read = labelled_step(_WORDS, prompt_spec, Reply(text), parsed_sections)
    except UnreadableError as error:
        return _fault(prompt_spec, text, str(error), name[1] if name else "")
    [action] = read.actions
    if problem := _problem(prompt_spec, WrittenCall(action.name, action.args)):
        return _fault(prompt_spec, text, problem, action.name)
    return Parsed(read.text, read.actions, repairs=(READ, *read.repairs))


def _without_labels(text: str) -> str:
    """The text, as long as it was, with blanks for code in which a label could stand."""
    return CODE.sub(
        lambda code: " " * len(code[0]) if code["word"] is not None or ":" in code[0] else code[0],
        text,
    )


def _called(prompt_spec: PromptSpec, name: str, action: str) -> bool:
    """Whether what stands behind `Action:` alone is a call of a declared tool."""
    rest = action.partition(name)[2].lstrip("`\"'* ")
    return declared(prompt_spec, name) and rest[:1] in {"(", "[", "{", "\n"}


def _is_answer(prompt_spec: PromptSpec, text: str) -> bool:
    """Whether a typed answer may have just these keys."""
    if prompt_spec.answers_text:
        return False
    try:
        value = complete_value(text)
    except UnreadableError:
        return False
    keys = set(fields(resolved(prompt_spec.answer, prompt_spec.answer)))
    return isinstance(value, dict) and bool(keys) and value.keys() <= keys


def _problem(prompt_spec: PromptSpec, call: WrittenCall) -> str:
    """Why a written call cannot be made, as far as it can be told here; "" where it can."""
    if call.problem:
        return (
            f"the call of {call.name} cannot be read: {call.problem}" if call.name else call.problem
        )
    if not declared(prompt_spec, call.name):
        return f"{call.name} is no tool"
    if (tool := tool_named(prompt_spec, call.name)) is None:
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


def _teach(prompt_spec: PromptSpec, name: str) -> str:
    """How a call is made: by the tool that was meant, or any where none was named.

    Where a tool was named that is none, another as an example would look like the right one.
    """
    names = [tool.name for tool in prompt_spec.tools] or [FINISH]
    tool = tool_named(prompt_spec, name or names[0])
    how = "" if tool is None else f": {tool.name} with {encode(example(tool)).decode()}"
    known = "" if declared(prompt_spec, name) else f" The tools are: {', '.join(names)}."
    return (
        f"Call a tool by function calling, not in text{how}.{known} "
        "If it was no call, answer in words that stand alone."
    )
