"""One JSON object a reply: `{"thought": "...", "action": "tool name or finish", "args": {...}}`.

A server with structured outputs or a JSON mode is held to it by `form`; any other model follows the
words of the head.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew.codecs import json_stream, prompt_texts
from clew.codecs.arguments import (
    UNKNOWN_KEY,
    bare,
    example,
    fields,
    may_act,
    object_args,
    text_field,
    tool_named,
    visible_tools,
)
from clew.codecs.call_marks import check_thought, unclosed
from clew.codecs.calls import TRAILING, read_call, tool_name
from clew.codecs.gbnf import Grammar
from clew.codecs.json_form import step_schema
from clew.codecs.json_repair import JsonPrefix, UnreadableError, first_value
from clew.codecs.no_action import void
from clew.codecs.stop_filter import scan
from clew.codecs.text_answer import as_calls
from clew.codecs.thinking import aloud
from clew.core.actions import Action
from clew.core.codec import Parsed, PromptSpec
from clew.core.codes import FINISH, OUTCOME
from clew.core.contents import Reply
from clew.core.models import OnText
from clew.core.prompts import Calls, Part
from clew.core.tools import Parameters, ToolSpec
from clew.core.trajectory import Step
from clew.core.values import Json, encode

ACTION: Final = ("action", "tool", "name")
ARGS: Final = ("args", "arguments", "action_input", "input", "parameters")
ANSWER: Final = ("answer", "final_answer")
"""Keys as they are asked for, each followed by what other formats have taught models to write."""

_FINAL: Final = frozenset({"answer", "final answer", "final_answer"})
_OUTER: Final = " \t\r\n`[]"


@dataclass(frozen=True)
class JsonObject:
    """Each reply is one JSON object with a thought, an action and its arguments."""

    name = "json/2"
    stop = ("\nObservation:",)
    """Where a model begins to invent a result; no JSON string contains this."""
    native = False
    """The prompt describes the tools."""

    calls_in = staticmethod(as_calls)

    def head(self, prompt_spec: PromptSpec, goal: str) -> tuple[Part, ...]:
        """Instructions, rules, tools and examples in one system part, then the question."""
        thought_text = prompt_texts.thought_in_form(prompt_spec)
        thought = f'"thought": "{thought_text}", ' if prompt_spec.thought else ""
        rules = (
            "You work in steps. Each of your replies is one step: one JSON object and nothing "
            "else, in this very form:\n\n"
            f'{{{thought}"action": "the name of one tool", "args": {{"parameter": "value"}}}}\n\n'
            'The result then comes to you as "Observation: ...", and you go on with the next '
            "step.\n\n"
            f"{prompt_texts.discipline(prompt_spec, 'the Observation')}\n"
            f"- The answer is given by {_finish_text(prompt_spec)}, alone."
            f"{prompt_texts.outcome_rule(prompt_spec, _finish_form)}"
        )
        tools = (_describe_tool(prompt_spec, tool) for tool in visible_tools(prompt_spec))
        system = prompt_texts.system(_FORM, prompt_spec, rules, tools)
        return (system, Part("user", f"Question: {goal}"))

    def describe(self, prompt_spec: PromptSpec, tools: Sequence[ToolSpec]) -> tuple[Part, ...]:
        """One part that describes further tools."""
        return prompt_texts.further(_describe_tool(prompt_spec, tool) for tool in tools)

    def render(self, prompt_spec: PromptSpec, step: Step) -> tuple[Part, ...]:
        """The step in canonical form; a reply without repairs stays exact, so that caches hit."""
        parts = prompt_texts.render(_FORM, prompt_spec, step)
        return prompt_texts.as_written(prompt_spec, step, parts, self.parse, usual=True)

    def tail(self, prompt_spec: PromptSpec, notes: Sequence[str], step: int) -> tuple[Part, ...]:
        """One part with the reminders."""
        return prompt_texts.tail(notes, step)

    def reply_schema(self, prompt_spec: PromptSpec, calls: Calls) -> Parameters | None:
        """The schema of the next object: any shown tool with its arguments, or only finish."""
        return step_schema(prompt_spec, calls)

    def grammar(self, prompt_spec: PromptSpec, calls: Calls, tokens: int | None) -> str:
        """The next object, in its shortest form."""
        grammar = Grammar(tokens)
        return grammar.text(grammar.value(step_schema(prompt_spec, calls, grammar.thought_chars)))

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """Take the first object at the start of a line; text before it belongs to the thought."""
        return aloud(prompt_spec, reply, self._parse)

    def _parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        start, line = json_stream.find_object(reply.text)
        prose, repairs = _prose(reply.text[:line])
        thought = prose
        try:
            prefix = _object(reply, start, line)
            fields, thought = _thought(prefix.value, prose)
            if why := prompt_texts.cut_short(reply, complete=True):
                raise UnreadableError(why)
            check_thought(prose)
            action, mended = _action(prompt_spec, prefix.value)
            if may_act(prompt_spec, action.name):
                _check_closed(reply.text, start or 0, (start or 0) + prefix.end)
        except UnreadableError as error:
            return Parsed(text=thought, fault=prompt_texts.fault(error, _example(prompt_spec)))
        repairs += _fence(reply.text[line:start])
        repairs += [*prefix.repairs, *fields, *mended]
        repairs += _trailing_text(reply.text[(start or 0) + prefix.end :])
        return Parsed(thought, (action,), repairs=tuple(dict.fromkeys(repairs)))

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """Show the thought, and end the reply after its object."""
        return json_stream.stream_filter(show)


# ----------------------------------------------------------------------------------- reading


def _object(reply: Reply, start: int | None, end: int) -> JsonPrefix:
    """The object that begins at `start`. Raises `UnreadableError`."""
    text = reply.text
    try:
        if start is not None:
            return first_value(text[start:])
    except UnreadableError as error:
        raise UnreadableError(
            prompt_texts.cut_short(reply, complete=False) or str(error)
        ) from error
    if why := prompt_texts.cut_short(reply, complete=end < len(text)):
        raise UnreadableError(why)
    if not text.strip():
        raise UnreadableError("the reply was empty")
    ahead = " ahead of an observation it invented" if end < len(text) else ""
    raise UnreadableError(f'no line of the reply begins with an object {{"action": ...}}{ahead}')


def _check_closed(text: str, start: int, end: int) -> None:
    """Hold an effect to a list, a fence and tags that are closed. Raises `UnreadableError`."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    if "[" in line and "]" not in text[end:]:
        raise UnreadableError("the list around the object is never closed")
    if why := unclosed(text, start, end):
        raise UnreadableError(why)


def _prose(text: str) -> tuple[str, list[str]]:
    """What stands ahead of the object, without the fence that was opened for it."""
    lines = text.replace("\r\n", "\n").rstrip().split("\n")
    repairs: list[str] = []
    if json_stream.FENCE.fullmatch(lines[-1]):
        del lines[-1]
        repairs.append("code fence removed")
    prose = "\n".join(lines).strip()
    return prose, [*repairs, "prose before the object kept as thought"] if prose else repairs


def _fence(text: str) -> list[str]:
    """What stood between the start of the line and the object."""
    fence = ["code fence removed"] if "`" in text else []
    return [*fence, "list read as its first object"] if "[" in text else fence


def _trailing_text(text: str) -> list[str]:
    """What is dropped behind the object."""
    if not text.strip(_OUTER):
        return []
    if scan(json_stream.LABELS, f"}}{text}").dropped:
        return ["invented observation dropped"]
    again = json_stream.find_object(text.lstrip(f"{_OUTER},"))[0] is not None
    return ["second action dropped"] if again else [TRAILING]


def _thought(fields: dict[str, Json], prose: str) -> tuple[list[str], str]:
    """The thought with the prose ahead of it, and what had to be mended."""
    thought = fields.get("thought")
    repairs = [] if thought is None or isinstance(thought, str) else ["thought kept as JSON"]
    text = thought if isinstance(thought, str) else encode(thought).decode() if repairs else ""
    return repairs, "\n".join(filter(None, [prose, text.strip()]))


def _action(prompt_spec: PromptSpec, document: dict[str, Json]) -> tuple[Action, list[str]]:
    """The action of an object. Raises `UnreadableError`."""
    repairs: list[str] = []
    rest = {key: value for key, value in document.items() if key != "thought"}
    called, name = _pop_first(rest, ACTION, repairs)
    args_text, value = _pop_first(rest, ARGS, repairs)
    if name is None or (isinstance(name, str) and void(name)):
        return _answered(prompt_spec, rest, repairs, ignored=called)
    if not isinstance(name, str):
        raise UnreadableError("`action` must be the name of a tool")
    if value is None and ("(" in name or "[" in name):
        action, mended = read_call(prompt_spec, name.strip())
        return action, [*repairs, "call written in the action", *mended, *_dropped(rest)]
    if name.strip().lower() in _FINAL and name not in prompt_spec.known:
        name, mended = FINISH, [f"{name.strip()} as an action read as finish"]
    else:
        name, mended = tool_name(prompt_spec, name)
    tool = tool_named(prompt_spec, name)
    names = fields(tool.parameters) if tool is not None else {}
    if not args_text and rest and rest.keys() <= names.keys():
        return Action(name, rest), [*repairs, *mended, "arguments beside the action read as args"]
    args, read = _args(tool, value)
    return Action(name, args), [*repairs, *mended, *read, *_dropped(rest)]


def _pop_first(rest: dict[str, Json], keys: Sequence[str], repairs: list[str]) -> tuple[bool, Json]:
    """Take the first of some keys out: whether there was one, and its value."""
    for key in keys:
        if key in rest:
            if key != keys[0]:
                repairs.append(f"{key} read as {keys[0]}")
            return True, rest.pop(key)
    return False, None


def _answered(
    prompt_spec: PromptSpec, rest: dict[str, Json], repairs: list[str], *, ignored: bool
) -> tuple[Action, list[str]]:
    """An answer that stands in the object without an action."""
    has_answer, answer = _pop_first(rest, ANSWER, repairs)
    if not has_answer:
        raise UnreadableError("the object names no action")
    why = "empty action ignored" if ignored else "answer without an action read as finish"
    args = {"answer": answer}
    if OUTCOME in rest and prompt_texts.asks_outcome(prompt_spec):
        args[OUTCOME] = rest.pop(OUTCOME)
    return Action(FINISH, args), [*repairs, why, *_dropped(rest)]


def _dropped(rest: dict[str, Json]) -> list[str]:
    if not rest:
        return []
    return ["answer beside an action dropped" if rest.keys() & set(ANSWER) else "more keys dropped"]


def _args(tool: ToolSpec | None, value: Json) -> tuple[dict[str, Json], list[str]]:
    """Arguments as an object, where they are written as something else."""
    if isinstance(value, dict):
        return msgspec.convert(value, dict[str, Any]), []
    finishes = tool is not None and tool.name == FINISH
    if value is None or (isinstance(value, str) and void(value) and not finishes):
        return {}, ["missing args read as none"]
    only = UNKNOWN_KEY if tool is None else text_field(tool.parameters)
    if isinstance(value, str):
        text = value.strip()
        if (parsed := object_args(tool, text)) is not None:
            args, repaired = parsed
            return args, ["args written as text read as JSON", *repaired.repairs]
        return bare(tool, text), [f"bare text read as {only}"]
    if only is None:
        raise UnreadableError("args must be one JSON object with a value for each parameter")
    return {only: value}, [f"bare value read as {only}"]


# ----------------------------------------------------------------------------------- writing


def _describe_tool(prompt_spec: PromptSpec, tool: ToolSpec) -> str:
    examples = (_turn(prompt_spec, "", Action(tool.name, one)) for one in tool.examples)
    return prompt_texts.described(tool, tool.name, examples)


def _turn(prompt_spec: PromptSpec, thought: str, action: Action) -> str:
    fields = {"thought": thought} if thought else {}
    return encode({**fields, "action": action.name, "args": action.args}).decode()


def _finish_text(prompt_spec: PromptSpec) -> str:
    answer = '"the answer"'
    if not prompt_spec.answers_text:
        answer = f"JSON of the schema {encode(prompt_spec.answer).decode()}"
    thought = '"thought": "...", ' if prompt_spec.thought else ""
    return f'{{{thought}"action": "{FINISH}", "args": {{"answer": {answer}}}}}'


def _finish_form(args: str) -> str:
    return f'"action": "{FINISH}", "args": {args}'


def _example(prompt_spec: PromptSpec) -> str:
    tool = visible_tools(prompt_spec)[0]
    return _turn(prompt_spec, "", Action(tool.name, example(tool)))


_FORM: Final = prompt_texts.Syntax(
    labels=json_stream.LABELS,
    question="Question",
    turn=lambda prompt_spec, _, thought, action: _turn(prompt_spec, thought, action),
    thought=lambda _, text: encode({"thought": text}).decode(),
    seen=lambda _: "Observation",
    finish=lambda prompt_spec, _: _finish_text(prompt_spec),
)


SHIPPED: Final = (JsonObject(),)
"""What `clew.codecs.by_name` finds here."""
