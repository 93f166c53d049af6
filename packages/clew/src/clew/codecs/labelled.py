"""Labelled text: `Thought:`, `Action:`, `Action Input:` with a JSON object, `Observation:`,
`Final Answer:`; and its dialects, which differ in these words only.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from clew.codecs import wording
from clew.codecs.arguments import (
    bare,
    example,
    fields,
    may_act,
    object_args,
    text_field,
    tool_named,
    typed,
    visible_tools,
)
from clew.codecs.call_spellings import check_thought
from clew.codecs.calls import TRAILING, check_alone, read_call, tool_name
from clew.codecs.gbnf import Grammar, either, literal
from clew.codecs.mend import UnreadableError, first_value, whole_value
from clew.codecs.scan import Labels, stream_filter, void
from clew.codecs.sections import Sections, sections, unfenced
from clew.codecs.text_codec import TextCodec
from clew.codecs.thinking import aloud
from clew.core.codec import Parsed, PromptSpec
from clew.core.events import FINISH, Action, Json, Reply, encode
from clew.core.interfaces import Calls, OnText, Part, ToolSpec
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


@dataclass(frozen=True)
class Labelled(TextCodec):
    """Steps of labelled lines, with arguments as a JSON object."""

    dialect: Dialect = DIALECTS[0]

    @property
    def name(self) -> str:
        """`name/version`."""
        return f"labelled:{self.dialect.name}/2" if self.dialect.name else "labelled/2"

    @property
    def stop(self) -> tuple[str, ...]:
        """Where a model begins to invent a result."""
        return (f"\n{self.dialect.observation}:",)

    def head(self, brief: PromptSpec, goal: str) -> tuple[Part, ...]:
        """Instructions, rules, tools and examples in one system part, then the question."""
        words = self.dialect
        thought = f"{words.thought}: {wording.thought_in_form(brief)}\n"
        thought = thought if brief.thought else ""
        rules = (
            "You work in steps. Each of your replies is one step, in this very form:\n\n"
            f"{thought}{words.action}: the name of one tool\n"
            f"{words.input}: its arguments as one JSON object\n\n"
            f'The result then comes to you as "{words.observation}: ...", and you go on with the '
            "next step. When you know the answer, reply in this form instead:\n\n"
            f"{thought}{self._finish_text(brief)}\n\n"
            f"{wording.discipline(brief, f'the {words.observation}')}\n"
            f"- An answer never stands beside an action: wait for the {words.observation} first."
        )
        tools = map(
            _describe_tool, visible_tools(brief)[:-1]
        )  # to finish is no action here: it has its own label
        system = wording.system(self.layout(), brief, rules, tools)
        return (system, Part("user", f"{words.question}: {goal}"))

    def describe(self, brief: PromptSpec, tools: Sequence[ToolSpec]) -> tuple[Part, ...]:
        """One part that describes further tools."""
        return wording.further(map(_describe_tool, tools))

    def grammar(self, brief: PromptSpec, calls: Calls, tokens: int | None) -> str:
        """One thought on one line, then one call with its arguments, or the answer."""
        words, grammar = self.dialect, Grammar(tokens)
        ends = [f"{literal(f'{words.final}: ')} {_answer_rule(grammar, brief)}"]
        for tool in visible_tools(brief)[:-1] if calls != "none" else ():
            start = literal(f"{words.action}: {tool.name}\n{words.input}: ")
            ends.append(f"{start} {grammar.value(tool.parameters)}")
        said = f'{literal(f"{words.thought}: ")} {grammar.prose(grammar.thought_chars)} "\\n" '
        return grammar.text((said if brief.thought else "") + either(ends))

    def parse(self, brief: PromptSpec, reply: Reply) -> Parsed:
        """Take the first action or final answer; the text before it is the thought.

        A reply without any label is a fault and not an answer: it may be half a thought or a
        question.
        """
        return aloud(brief, reply, self._parse)

    def _parse(self, brief: PromptSpec, reply: Reply) -> Parsed:
        return self.read(brief, reply, sections(self.dialect.labels, reply.text))

    def read(self, brief: PromptSpec, reply: Reply, found: Sections) -> Parsed:
        """The step that a reply holds, once it was taken apart."""
        try:
            if why := wording.cut_short(reply, whole=found.whole):
                raise UnreadableError(why)
            check_thought(found.thought)
            action, repairs = self._read(brief, reply, found)
            check_alone(brief, action.name, left_over=found.left_over)
        except UnreadableError as error:
            return Parsed(text=found.thought, fault=wording.fault(error, self._example(brief)))
        repairs = list(dict.fromkeys([*found.repairs, *repairs]))
        return Parsed(found.thought, (action,), repairs=tuple(repairs))

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """Show everything before an invented observation or a second step."""
        return stream_filter(self.dialect.labels, show)

    def _read(self, brief: PromptSpec, reply: Reply, found: Sections) -> tuple[Action, list[str]]:
        words = self.dialect
        if found.early:
            raise UnreadableError(f"{words.input} stands without its {words.action} ahead of it")
        if found.action is not None:
            return _action(brief, found.action, found.input, words)
        if found.final is None:
            form = f"{words.action}: and {words.input}:, or {words.final}:"
            raise UnreadableError(wording.nothing(reply, found, form))
        if not found.final:
            raise UnreadableError(f"nothing stands behind {words.final}:")
        if reply.calls or _acts(brief, found):
            raise UnreadableError(
                f"{words.final}: stands beside an action, and neither counted: give the action "
                f"alone and wait for its {words.observation}, or the answer alone"
            )
        if brief.answers_text:
            return Action(FINISH, {"answer": found.final}), []
        value, repairs = _answer(brief, found.final)
        return Action(FINISH, {"answer": value}), repairs

    def layout(self) -> wording.Syntax:
        words = self.dialect
        return wording.Syntax(
            labels=words.labels,
            question=words.question,
            turn=lambda brief, _, thought, action: self._turn(brief, thought, action),
            thought=lambda _, text: f"{words.thought}: {words.labels.inert(text)}",
            seen=lambda _: words.observation,
            finish=lambda brief, _: self._finish_text(brief),
        )

    def _finish_text(self, brief: PromptSpec) -> str:
        if brief.answers_text:
            return f"{self.dialect.final}: the answer"
        return f"{self.dialect.final}: JSON of the schema {encode(brief.answer).decode()}"

    def _turn(self, brief: PromptSpec, thought: str, action: Action) -> str:
        words = self.dialect
        said = f"{words.thought}: {words.labels.inert(thought)}\n" if thought else ""
        if action.name == FINISH and action.args.keys() == {"answer"}:
            answer: Json = action.args["answer"]
            text = answer if isinstance(answer, str) else encode(answer).decode()
            plain = f"{words.final}: {text}"
            parsed = self.parse(brief, Reply(plain))
            if parsed.actions == (Action(FINISH, action.args),) and not parsed.repairs:
                return said + plain
        return f"{said}{words.action}: {action.name}\n{words.input}: {encode(action.args).decode()}"

    def _example(self, brief: PromptSpec) -> str:
        tool = visible_tools(brief)[0]
        return self._turn(brief, "", Action(tool.name, example(tool)))


def _answer_rule(grammar: Grammar, brief: PromptSpec) -> str:
    """The answer as a grammar: a text, or JSON of its schema."""
    if brief.answers_text:
        return grammar.answer()
    return grammar.value(brief.answer)


def _describe_tool(tool: ToolSpec) -> str:
    return wording.described(tool, tool.name, (encode(one).decode() for one in tool.examples))


def _acts(brief: PromptSpec, found: Sections) -> bool:
    """Whether an action stands within the answer: with an input, or as a call of a known tool."""
    if found.beside is None:
        return False
    name = re.match(r"[\"'*`]*([\w./-]{1,64})[\"'*`]*\s*(?=[\[({]|$)", found.beside, re.MULTILINE)
    named = name is not None and (name[1] in brief.known or tool_named(brief, name[1]) is not None)
    return named if not found.given else not void(found.beside.partition("\n")[0])


def _action(
    brief: PromptSpec, text: str, given: str | None, words: Dialect
) -> tuple[Action, list[str]]:
    """An action from what stands behind its label and behind its input's."""
    first, _, below = text.partition("\n")
    below = below.strip()
    if first.startswith("```"):
        raise UnreadableError("the action is a block of code, and names no tool")
    if given is None and below[:1] in {"{", "`"}:
        action, repairs = _action(brief, first, below, words)
        return action, [f"{words.input} label missing", *repairs]
    name, bracket, _ = first.partition("(") if "(" in first else first.partition("[")
    if given is None and bracket:
        action, repairs = read_call(brief, text)
        return action, ["call written on the action's line", *repairs]
    name = name.strip(" \t.,;*_`")
    if name.lower() == words.final.lower():
        name, repairs = FINISH, [f"{words.final} as an action read as finish"]
    else:
        name, repairs = tool_name(brief, name)
    if bracket:
        repairs.append("brackets behind the tool's name dropped")
    if below:
        repairs.append(TRAILING)
    if may_act(brief, name):
        inside = first.partition(bracket)[2].strip("()[] \t") if bracket else ""
        _check_whole(brief, name, given, inside or below, words)
    args, mended = _args(tool_named(brief, name), given or "", words)
    return Action(name, args), repairs + mended


def _check_whole(
    brief: PromptSpec, name: str, given: str | None, rest: str, words: Dialect
) -> None:
    """Hold an effect to one object of arguments that is closed, with nothing beside it.

    Of a text nobody knows whether all of it came. Raises `UnreadableError`.
    """
    tool = tool_named(brief, name)
    fence, _, text = (given or "").strip().partition("\n")
    fenced = fence.startswith("```")
    text = text.strip() if fenced else (given or "").strip()
    if given is not None and void(text) and tool is not None and not fields(tool.parameters):
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
    if (given := object_args(tool, text)) is not None:
        args, found = given
        return args, [*repairs, *found.repairs, *_trailing(text[found.end :])]
    if void(text):
        if text:
            repairs.append(f"empty {words.input} read as no arguments")
        return bare(tool, ""), repairs
    if text.startswith('"'):
        try:
            said = whole_value(text)
        except UnreadableError:
            said = text
        text = said if isinstance(said, str) else text
    args = bare(tool, text)
    if tool is not None:
        repairs.append(f"bare text read as {text_field(tool.parameters)}")
    return args, repairs


def _answer(brief: PromptSpec, text: str) -> tuple[Json, list[str]]:
    """An answer that is not text: JSON of its schema, or left to validation."""
    text, repairs = unfenced(text)
    if text[:1] in {"{", "["}:
        found = first_value(text)
        return found.value, [*repairs, *found.repairs, *_trailing(text[found.end :])]
    return typed(text, brief.answer), repairs


def _trailing(text: str) -> list[str]:
    return [TRAILING] if text.strip(" \t\r\n`*_") else []
