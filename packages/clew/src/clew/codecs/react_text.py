"""The format of the ReAct paper (Yao et al., arXiv 2210.03629): `Thought 1:`, `Action 1:
tool[arg]`, `Observation 1:`, `Finish[answer]`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from clew.codecs import prompt_texts
from clew.codecs.arguments import example, fields, text_field, visible_tools
from clew.codecs.call_marks import check_thought
from clew.codecs.calls import CANONICAL_FINISH, bare_call, check_alone, read_call
from clew.codecs.gbnf import Grammar, either, literal
from clew.codecs.json_repair import UnreadableError
from clew.codecs.section_values import values_of_calls
from clew.codecs.sections import Sections, sections
from clew.codecs.stop_filter import Labels, stream_filter
from clew.codecs.text_codec import TextCodec
from clew.codecs.thinking import aloud
from clew.codecs.written_values import ReadPiece
from clew.core.actions import Action
from clew.core.codec import Parsed, PromptSpec
from clew.core.codes import FINISH
from clew.core.contents import Reply
from clew.core.models import OnText
from clew.core.prompts import Calls, Part
from clew.core.tools import ToolSpec
from clew.core.values import encode

LABELS: Final = Labels(
    (
        ("question", "question"),
        ("thought", "thought"),
        ("action", "action"),
        ("observation", "observation"),
    )
)

_UNSAFE: Final = "[](){}\"'`"
"""What a plain argument may not begin with where it is to be read as it was meant."""


@dataclass(frozen=True)
class Paper(TextCodec):
    """Numbered steps with calls written as `tool[argument]`.

    If a tool has only one parameter (or one required), the argument is plain text; otherwise it is
    one JSON object in the brackets.
    """

    name = "paper/2"
    stop = ("\nObservation ", "\nObservation:")
    """Where a model begins to invent a result."""

    def head(self, prompt_spec: PromptSpec, goal: str) -> tuple[Part, ...]:
        """Instructions, rules, tools and examples in one system part, then the question."""
        thought = f"Thought 1: {prompt_texts.thought_in_form(prompt_spec)}\n"
        rules = (
            "You work in numbered steps. Each of your replies is one step, in this very form:\n\n"
            f"{thought if prompt_spec.thought else ''}Action 1: tool[argument]\n\n"
            'The result of the action then comes to you as "Observation 1: ...", and you go on '
            "with step 2.\n\n"
            f"{prompt_texts.discipline(prompt_spec, 'the Observation')}\n"
            "- The argument of a tool with one parameter is written as it is, without quotes. "
            'Several are written as one JSON object: tool[{"name": "value", "other": 1}]. '
            "Brackets or braces that would be misread are safe in such an object too.\n"
            f"- The answer is given by {self._finish_text(prompt_spec)}, alone."
            f"{prompt_texts.outcome_rule(prompt_spec, _finish_form)}"
        )
        tools = (_describe_tool(prompt_spec, tool) for tool in visible_tools(prompt_spec))
        system = prompt_texts.system(self.layout(), prompt_spec, rules, tools)
        return (system, Part("user", f"Question: {goal}"))

    def describe(self, prompt_spec: PromptSpec, tools: Sequence[ToolSpec]) -> tuple[Part, ...]:
        """One part that describes further tools."""
        return prompt_texts.further(_describe_tool(prompt_spec, tool) for tool in tools)

    def grammar(self, prompt_spec: PromptSpec, calls: Calls, tokens: int | None) -> str:
        """One thought on one line, then one call, all numbered."""
        grammar = Grammar(tokens)
        number = grammar.rule('" " [1-9] [0-9]{0,3} ": "')
        tools = visible_tools(prompt_spec) if calls != "none" else (prompt_spec.finish,)
        thought_rule = f'"Thought" {number} {grammar.prose(grammar.thought_chars)} "\\n" '
        made = either(_call_rule(grammar, prompt_spec, tool) for tool in tools)
        return grammar.text(
            f'{thought_rule if prompt_spec.thought else ""}"Action" {number} {made}'
        )

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """Take the first action; the text before it is the thought."""
        return aloud(prompt_spec, reply, self._parse)

    def _parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        parsed = sections(LABELS, reply.text)
        try:
            return _read(prompt_spec, reply, parsed)
        except UnreadableError as error:
            return Parsed(
                text=parsed.thought, fault=prompt_texts.fault(error, self._example(prompt_spec))
            )

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """Show everything before an invented observation or a second step."""
        return stream_filter(LABELS, show)

    def value_reader(self, prompt_spec: PromptSpec) -> ReadPiece:
        """What stands in the brackets, as it arrives."""
        return values_of_calls(LABELS, prompt_spec)

    def layout(self) -> prompt_texts.Syntax:
        return prompt_texts.Syntax(
            labels=LABELS,
            question="Question",
            turn=_turn,
            thought=lambda number, text: f"Thought {number}: {LABELS.inert(text)}",
            seen=lambda number: f"Observation {number}",
            finish=lambda prompt_spec, number: f"Action {number}: {self._finish_text(prompt_spec)}",
        )

    def _finish_text(self, prompt_spec: PromptSpec) -> str:
        if prompt_spec.answers_text:
            return f"{CANONICAL_FINISH}[the answer]"
        return f"{CANONICAL_FINISH}[JSON of the schema {encode(prompt_spec.answer).decode()}]"

    def _example(self, prompt_spec: PromptSpec) -> str:
        tool = visible_tools(prompt_spec)[0]
        return f"Action 1: {_call(prompt_spec, Action(tool.name, example(tool)))}"


def _read(prompt_spec: PromptSpec, reply: Reply, parsed_sections: Sections) -> Parsed:
    """The first action and the thought before it. Raises `UnreadableError`."""
    thought, call, repairs = (
        parsed_sections.thought,
        parsed_sections.action,
        list(parsed_sections.repairs),
    )
    if why := prompt_texts.cut_short(reply, complete=parsed_sections.complete):
        raise UnreadableError(why)
    check_thought(thought)
    if call is None and (unlabelled := bare_call(prompt_spec, thought)) is not None:
        thought, call = unlabelled
        repairs.append("action label missing")
    if call is None:
        raise UnreadableError(
            prompt_texts.nothing(reply, parsed_sections, "Action 1: tool[argument]")
        )
    if call.startswith("```"):
        raise UnreadableError("the action is a block of code, and names no tool")
    action, mended = read_call(prompt_spec, call)
    check_alone(prompt_spec, action.name, left_over=parsed_sections.left_over)
    return Parsed(thought, (action,), repairs=tuple(dict.fromkeys([*repairs, *mended])))


def _describe_tool(prompt_spec: PromptSpec, tool: ToolSpec) -> str:
    examples = (_call(prompt_spec, Action(tool.name, one)) for one in tool.examples)
    return prompt_texts.described(tool, _heading(tool), examples)


def _written(name: str) -> str:
    return CANONICAL_FINISH if name == FINISH else name


def _finish_form(args: str) -> str:
    return f"{CANONICAL_FINISH}[{args}]"


def _heading(tool: ToolSpec) -> str:
    names = fields(tool.parameters)
    if (only := text_field(tool.parameters)) is not None:
        return f"{_written(tool.name)}[{only}]"
    inside = ", ".join(f'"{name}": ...' for name in names)
    return f"{tool.name}[{{{inside}}}]" if names else f"{tool.name}[]"


def _call_rule(grammar: Grammar, prompt_spec: PromptSpec, tool: ToolSpec) -> str:
    """A call of the tool as a grammar: its only text as it is, else an object, or nothing."""
    start = literal(f"{_written(tool.name)}[")
    if tool.name == FINISH:  # as the prompt shows it: the answer itself
        answer = (
            _text_rule(grammar) if prompt_spec.answers_text else grammar.value(prompt_spec.answer)
        )
        if prompt_texts.asks_outcome(prompt_spec):
            answer = either([answer, grammar.value(tool.parameters)])
        return f'{start} {answer} "]"'
    if not fields(tool.parameters):
        return f'{start} "]"'
    only = text_field(tool.parameters)
    if only is not None and fields(tool.parameters)[only].get("type") == "string":
        return f'{start} {_text_rule(grammar)} "]"'
    return f'{start} {grammar.value(tool.parameters)} "]"'


def _text_rule(grammar: Grammar) -> str:
    """A text as it is: each bracket that it opens it closes, on the same line."""
    plain = grammar.rule(r"[^\x00-\x1F\x7F\[\]]")
    return f'{grammar.first_char(_UNSAFE)} ({plain} | "[" {plain} {plain}* "]")*'


def _turn(prompt_spec: PromptSpec, number: int, thought: str, action: Action) -> str:
    thought_line = f"Thought {number}: {LABELS.inert(thought)}\n" if thought else ""
    return f"{thought_line}Action {number}: {_call(prompt_spec, action)}"


def _call(prompt_spec: PromptSpec, action: Action) -> str:
    """A call in the plainest form that reads back as the same call."""
    name = _written(action.name)
    args_text = encode(action.args).decode()
    inner = [
        value if isinstance(value, str) else encode(value).decode()
        for value in action.args.values()
    ]
    for candidate in (inner[0] if len(inner) == 1 else "", args_text):
        text = f"{name}[{candidate}]"
        if _reads_as(prompt_spec, text, action):
            return text
    return f"{name}[{args_text}]"


def _reads_as(prompt_spec: PromptSpec, text: str, action: Action) -> bool:
    reply = Reply(f"Action 1: {text}")
    try:  # not by `parse`: its complaint about what cannot be read would write an example again
        parsed = _read(prompt_spec, reply, sections(LABELS, reply.text))
    except UnreadableError:
        return False
    return parsed.actions == (Action(action.name, action.args),) and not parsed.repairs


SHIPPED: Final = (Paper(),)
"""What `clew.codecs.by_name` finds here."""
