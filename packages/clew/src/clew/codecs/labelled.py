"""Labelled text: `Thought:`, `Action:`, `Action Input:` with a JSON object, `Observation:`,
`Final Answer:`; and its dialects, which differ in these words only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from clew.codecs import prompt_texts
from clew.codecs.arguments import (
    example,
    visible_tools,
)
from clew.codecs.gbnf import Grammar, either, literal
from clew.codecs.json_repair import UnreadableError
from clew.codecs.labelled_step import DIALECTS, Dialect, labelled_step
from clew.codecs.section_values import values_of_lines
from clew.codecs.sections import Sections, sections
from clew.codecs.stop_filter import stream_filter
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
from clew.core.values import Json, encode

__all__ = ["Dialect", "Labelled"]


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
            f"{prompt_texts.outcome_rule(prompt_spec, self._finish_form)}"
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
        tools = visible_tools(prompt_spec)[:-1] if calls != "none" else ()
        asked = (prompt_spec.finish,) if prompt_texts.asks_outcome(prompt_spec) else ()
        for tool in (*tools, *asked):
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
            return labelled_step(self.dialect, prompt_spec, reply, parsed_sections)
        except UnreadableError as error:
            return Parsed(
                text=parsed_sections.thought,
                fault=prompt_texts.fault(error, self._example(prompt_spec)),
            )

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """Show everything before an invented observation or a second step."""
        return stream_filter(self.dialect.labels, show)

    def value_reader(self, prompt_spec: PromptSpec) -> ReadPiece:
        """The input of an action, or the answer, as it arrives."""
        return values_of_lines(self.dialect, prompt_spec)

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

    def _finish_form(self, args: str) -> str:
        return f"the action {FINISH}, with {args} as its {self.dialect.input}"

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


SHIPPED: Final = tuple(map(Labelled, DIALECTS))
"""What `clew.codecs.by_name` finds here."""
