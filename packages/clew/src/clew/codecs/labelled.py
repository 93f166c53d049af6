"""Labelled text: `Thought:`, `Action:`, `Action Input:` with a JSON object, `Observation:`,
`Final Answer:`; and its dialects, which differ in these words only.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from clew.codecs import prompt_texts
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
from clew.codecs.json_repair import UnreadableError, complete_value, first_value
from clew.codecs.sections import Sections, sections, unfenced
from clew.codecs.stop_filter import Labels, stream_filter, void
from clew.codecs.text_codec import TextCodec
from clew.codecs.thinking import aloud
from clew.core.codec import Parsed, PromptSpec
from clew.core.events import FINISH, Action, Json, Reply, encode
from clew.core.interfaces import Calls, OnText, Part, ToolSpec
from clew.support.settings import check_fields
from clew.support.surrogates import HALF

__all__ = ["Dialect", "Labelled"]


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

    def head(self, prompt_spec: PromptSpec, goal: str) -> tuple[Part, ...]:
        """Instructions, rules, tools and examples in one system part, then the question."""
        words = self.dialect
        thought = f"{words.thought}: {prompt_texts.thought_in_form(prompt_spec)}\n"
        thought = thought if prompt_spec.thought else ""
        rules = (
            "You work in steps. Each of your replies is one step, in this very form:\n\n"
            f"{thought}{words.action}: the name of one tool\n"
            f"{words.input}: its arguments as one JSON object\n\n"
            f'The result then comes to you as "{words.observation}: ...", and you go on with the '
            "next step. When you know the answer, reply in this form instead:\n\n"
            f"{thought}{self._finish_text(prompt_spec)}\n\n"
            f"{prompt_texts.discipline(prompt_spec, f'the {words.observation}')}\n"
            f"- An answer never stands beside an action: wait for the {words.observation} first."
        )
        tools = map(
            _describe_tool, visible_tools(prompt_spec)[:-1]
        )  # to finish is no action here: it has its own label
        system = prompt_texts.system(self.layout(), prompt_spec, rules, tools)
        return (system, Part("user", f"{words.question}: {goal}"))

    def describe(self, prompt_spec: PromptSpec, tools: Sequence[ToolSpec]) -> tuple[Part, ...]:
        """One part that describes further tools."""
        return prompt_texts.further(map(_describe_tool, tools))

    def grammar(self, prompt_spec: PromptSpec, calls: Calls, tokens: int | None) -> str:
        """One thought on one line, then one call with its arguments, or the answer."""
        words, grammar = self.dialect, Grammar(tokens)
        ends = [f"{literal(f'{words.final}: ')} {_answer_rule(grammar, prompt_spec)}"]
        for tool in visible_tools(prompt_spec)[:-1] if calls != "none" else ():
            start = literal(f"{words.action}: {tool.name}\n{words.input}: ")
            ends.append(f"{start} {grammar.value(tool.parameters)}")
        thought_rule = (
            f'{literal(f"{words.thought}: ")} {grammar.prose(grammar.thought_chars)} "\\n" '
        )
        return grammar.text((thought_rule if prompt_spec.thought else "") + either(ends))

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """Take the first action or final answer; the text before it is the thought.

        A reply without any label is a fault and not an answer: it may be half a thought or a
        question.
        """
        return aloud(prompt_spec, reply, self._parse)

    def _parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        return self.read(prompt_spec, reply, sections(self.dialect.labels, reply.text))

    def read(self, prompt_spec: PromptSpec, reply: Reply, parsed_sections: Sections) -> Parsed:
        """The step that a reply holds, once it was taken apart; what cannot be read is a fault."""
        try:
            return self.step(prompt_spec, reply, parsed_sections)
        except UnreadableError as error:
            return Parsed(
                text=parsed_sections.thought,
                fault=prompt_texts.fault(error, self._example(prompt_spec)),
            )

    def step(self, prompt_spec: PromptSpec, reply: Reply, parsed_sections: Sections) -> Parsed:
        """The step that a reply holds. Raises `UnreadableError` where it holds none."""
        if why := prompt_texts.cut_short(reply, complete=parsed_sections.complete):
            raise UnreadableError(why)
        check_thought(parsed_sections.thought)
        action, repairs = self._read(prompt_spec, reply, parsed_sections)
        check_alone(prompt_spec, action.name, left_over=parsed_sections.left_over)
        repairs = list(dict.fromkeys([*parsed_sections.repairs, *repairs]))
        return Parsed(parsed_sections.thought, (action,), repairs=tuple(repairs))

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """Show everything before an invented observation or a second step."""
        return stream_filter(self.dialect.labels, show)

    def _read(
        self, prompt_spec: PromptSpec, reply: Reply, parsed_sections: Sections
    ) -> tuple[Action, list[str]]:
        words = self.dialect
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

    def layout(self) -> prompt_texts.Syntax:
        words = self.dialect
        return prompt_texts.Syntax(
            labels=words.labels,
            question=words.question,
            turn=lambda prompt_spec, _, thought, action: self._turn(prompt_spec, thought, action),
            thought=lambda _, text: f"{words.thought}: {words.labels.inert(text)}",
            seen=lambda _: words.observation,
            finish=lambda prompt_spec, _: self._finish_text(prompt_spec),
        )

    def _finish_text(self, prompt_spec: PromptSpec) -> str:
        if prompt_spec.answers_text:
            return f"{self.dialect.final}: the answer"
        return f"{self.dialect.final}: JSON of the schema {encode(prompt_spec.answer).decode()}"

    def _turn(self, prompt_spec: PromptSpec, thought: str, action: Action) -> str:
        words = self.dialect
        thought_line = f"{words.thought}: {words.labels.inert(thought)}\n" if thought else ""
        if action.name == FINISH and action.args.keys() == {"answer"}:
            answer: Json = action.args["answer"]
            text = answer if isinstance(answer, str) else encode(answer).decode()
            plain = f"{words.final}: {text}"
            parsed = self.parse(prompt_spec, Reply(plain))
            if parsed.actions == (Action(FINISH, action.args),) and not parsed.repairs:
                return thought_line + plain
        args_text = encode(action.args).decode()
        return f"{thought_line}{words.action}: {action.name}\n{words.input}: {args_text}"

    def _example(self, prompt_spec: PromptSpec) -> str:
        tool = visible_tools(prompt_spec)[0]
        return self._turn(prompt_spec, "", Action(tool.name, example(tool)))


def _answer_rule(grammar: Grammar, prompt_spec: PromptSpec) -> str:
    """The answer as a grammar: a text, or JSON of its schema."""
    if prompt_spec.answers_text:
        return grammar.answer()
    return grammar.value(prompt_spec.answer)


def _describe_tool(tool: ToolSpec) -> str:
    return prompt_texts.described(tool, tool.name, (encode(one).decode() for one in tool.examples))


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


SHIPPED: Final = tuple(map(Labelled, DIALECTS))
"""What `clew.codecs.by_name` finds here."""
