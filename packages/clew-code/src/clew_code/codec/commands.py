"""Bare commands: each reply is prose and one command in a form declared for its tool.

Such a form is `GET {url}`, or a code block.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from clew import ConfigError
from clew.codecs import prompt_texts
from clew.codecs.prompt_texts import Labels, before_invented_tail
from clew.codecs.text_codec import (
    HALF,
    TRAILING,
    ReadPiece,
    TextCodec,
    UnreadableError,
    aloud,
    example,
    fields,
    first_value,
    may_act,
    stream_filter,
    tool_named,
    visible_tools,
)
from clew.interfaces import (
    FINISH,
    Action,
    OnText,
    Parameters,
    Parsed,
    Part,
    PromptSpec,
    Reply,
    ToolSpec,
    encode,
)
from clew.support.settings import check_fields
from clew_code.codec.command_forms import (
    FENCE,
    Command,
    end_of_command,
    ends,
    filled,
    match_opening,
    read,
    shaped,
    stands_twice,
)
from clew_code.codec.command_values import PLAIN, CommandReader

__all__ = ["Command", "Commands"]

_FENCE: Final = re.compile(rf"[ \t]*+{FENCE}[ \t]*+")
_OUTER: Final = " \t\r\n`*_."


class _ReadCall(NamedTuple):
    """A call that was read: where it ends, what had to be mended."""

    action: Action
    end: int
    repairs: tuple[str, ...]


class _Start(NamedTuple):
    """A line that begins a command: where, and the commands it may be; none for `@tool {...}`."""

    at: int
    commands: tuple[Command, ...]


@dataclass(frozen=True)
class Commands(TextCodec):
    """Commands in declared forms; if two forms fit a line, the one declared first counts.

    A tool without a form is called as `@tool {"parameter": "value"}`. The first command of a reply
    counts; with `counts` "last" the one that ends it, for formats whose prose may quote commands.
    `dialect` identifies the declaration in records: change it with the forms.
    """

    commands: tuple[Command, ...]
    dialect: str
    counts: Literal["first", "last"] = "first"
    question: str = "Question"
    observation: str = "Observation"

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a dialect that could not stand in a record's name."""
        check_fields(self)
        if not self.dialect.isprintable() or not self.dialect or "/" in self.dialect:
            raise ConfigError(f"the dialect must be named by a word, not {self.dialect!r}")

    @property
    def name(self) -> str:
        """`name/version`."""
        return f"commands:{self.dialect}/2"

    @property
    def stop(self) -> tuple[str, ...]:
        """Where a model begins to invent a result."""
        return (f"\n{self.observation}:",)

    def head(self, prompt_spec: PromptSpec, goal: str) -> tuple[Part, ...]:
        """Instructions, rules, tools and examples in one system part, then the question."""
        thought = f"{prompt_texts.thought_in_form(prompt_spec)}\n" if prompt_spec.thought else ""
        rules = (
            "You work in steps. Each of your replies is one step, in this very form:\n\n"
            f"{thought}the command, on a line of its own\n\n"
            f'The result then comes to you as "{self.observation}: ...", and you go on with the '
            "next step. The forms of the commands are listed below; a value that does not fit "
            'its form can be given as @tool {"parameter": "value"} instead.\n\n'
            f"{prompt_texts.discipline(prompt_spec, f'the {self.observation}')}\n"
            f"- The answer is given by this command, alone:\n{self._finish_text(prompt_spec)}"
            f"{prompt_texts.outcome_rule(prompt_spec, _finish_form)}"
        )
        tools = (self._described(prompt_spec, tool) for tool in visible_tools(prompt_spec))
        system = prompt_texts.system(self.layout(), prompt_spec, rules, tools)
        return (system, Part("user", f"{self.question}: {goal}"))

    def describe(self, prompt_spec: PromptSpec, tools: Sequence[ToolSpec]) -> tuple[Part, ...]:
        """One part that describes further tools."""
        return prompt_texts.further(self._described(prompt_spec, tool) for tool in tools)

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """Take one command; the text before it is the thought."""
        return aloud(prompt_spec, reply, self._parse)

    def _parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        counted = before_invented_tail(self._labels, reply.text)
        invented = len(counted) < len(reply.text)
        text = counted.replace("\r\n", "\n")
        try:
            if why := prompt_texts.cut_short(reply, complete=invented):
                raise UnreadableError(why)
            parsed = self._read(prompt_spec, text)
        except UnreadableError as error:
            return Parsed(
                text=text.strip(), fault=prompt_texts.fault(error, self._example(prompt_spec))
            )
        dropped = ("invented observation dropped",) if invented else ()
        return Parsed(parsed.text, parsed.actions, repairs=(*parsed.repairs, *dropped))

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """Show everything before an invented observation."""
        return stream_filter(self._labels, show)

    def value_reader(self, prompt_spec: PromptSpec) -> ReadPiece:
        """The value of the first command, as it arrives; nothing where the last one counts."""
        if self.counts == "last":
            return lambda _: ()
        return CommandReader(prompt_spec, self.commands, self._labels).feed

    # ------------------------------------------------------------------------------- reading

    @property
    def _labels(self) -> Labels:
        question, observation = self.question.lower(), self.observation.lower()
        return Labels(((question, "question"), (observation, "observation")))

    def _starts(self, text: str, *, complete: bool) -> Iterator[_Start]:
        """The lines that may begin a command, in order; with `complete` none inside another."""
        at = 0
        while at < len(text):
            newline = text.find("\n", at)
            if newline == at:
                at += 1
                continue
            fitting = [
                (one, match) for one in self.commands if (match := match_opening(one, text, at))
            ]
            if fitting or PLAIN.match(text, at):
                yield _Start(at, tuple(one for one, _ in fitting))
            if fitting and complete:
                newline = text.find("\n", end_of_command(*fitting[0], text))
            at = len(text) if newline < 0 else newline + 1

    def _read(self, prompt_spec: PromptSpec, text: str) -> Parsed:
        """The command that counts, and the thought before it. Raises `UnreadableError`."""
        starts = self._starts(text, complete=self.counts == "last")
        earlier: list[str] = []
        if self.counts == "last":
            every = list(starts)
            starts = iter(every[-1:])
            earlier = ["earlier commands kept as thought"] if every[1:] else []
        for start in starts:
            if (call := self._at(prompt_spec, text, start)) is not None:
                return self._parse_call(prompt_spec, text, start, call, earlier)
        if not text.strip():
            raise UnreadableError("the reply was empty")
        raise UnreadableError("no line of the reply begins a command")

    def _at(self, prompt_spec: PromptSpec, text: str, start: _Start) -> _ReadCall | None:
        """The call that a line begins, if it is one. Raises `UnreadableError`."""
        for command in start.commands:
            tool = tool_named(prompt_spec, command.tool)
            schemas = fields(tool.parameters) if tool is not None else {}
            if (call_read := read(command, schemas, text, start.at)) is not None:
                if may_act(prompt_spec, command.tool):
                    _check_complete(command, schemas, text[call_read.end :])
                return _ReadCall(
                    Action(command.tool, call_read.values), call_read.end, call_read.repairs
                )
        if start.commands or (plain := PLAIN.match(text, start.at)) is None:
            return None
        value = first_value(text[plain.end() :])
        if HALF in value.repairs and may_act(prompt_spec, plain[1]):
            raise UnreadableError("a string holds half a character")
        return _ReadCall(Action(plain[1], value.value), plain.end() + value.end, value.repairs)

    def _parse_call(
        self,
        prompt_spec: PromptSpec,
        text: str,
        start: _Start,
        call_read: _ReadCall,
        earlier: Sequence[str],
    ) -> Parsed:
        """A call with the thought ahead of it; what stands behind it is dropped."""
        repairs = [*earlier, *call_read.repairs]
        thought, rest = text[: start.at], text[call_read.end :]
        ahead, _, fence = thought.rstrip().rpartition("\n")
        if _FENCE.fullmatch(fence):
            thought = ahead
            repairs.append("code fence removed")
            inside, _, last = text.rstrip().rpartition("\n")
            if call_read.end == len(text) and _FENCE.fullmatch(last):
                if (within := self._at(prompt_spec, inside, start)) is None:
                    raise UnreadableError("a fence ends the command before it is complete")
                call_read = within
        if rest.strip(_OUTER):
            if earlier:
                raise UnreadableError("of several commands none ends the reply")
            _, _, lines = rest.partition("\n")
            again = next(self._starts(lines, complete=False), None) is not None
            repairs.append("second action dropped" if again else TRAILING)
        return Parsed(thought.strip(), (call_read.action,), repairs=tuple(dict.fromkeys(repairs)))

    # ------------------------------------------------------------------------------- writing

    def layout(self) -> prompt_texts.Syntax:
        return prompt_texts.Syntax(
            labels=self._labels,
            question=self.question,
            turn=lambda prompt_spec, _, thought, action: self._turn(prompt_spec, thought, action),
            thought=lambda _, text: self._inert(text),
            seen=lambda _: self.observation,
            finish=lambda prompt_spec, _: self._finish_text(prompt_spec),
        )

    def _described(self, prompt_spec: PromptSpec, tool: ToolSpec) -> str:
        examples = (self._call(prompt_spec, Action(tool.name, one)) for one in tool.examples)
        return prompt_texts.described(tool, self._heading(tool), examples)

    def _turn(self, prompt_spec: PromptSpec, thought: str, action: Action) -> str:
        thought_line = f"{self._inert(thought)}\n" if thought else ""
        return thought_line + self._call(prompt_spec, action)

    def _inert(self, thought: str) -> str:
        """A thought without lines that would read as a label, a command, or a fence around one."""
        text = self._labels.inert(f"\n{thought}")[1:]
        marks = {start.at for start in self._starts(text, complete=False)}
        last = text.rfind("\n") + 1
        if _FENCE.fullmatch(text, last):
            marks.add(last)
        for at in sorted(marks, reverse=True):
            text = f"{text[:at]}| {text[at:]}"
        return text

    def _call(self, prompt_spec: PromptSpec, action: Action) -> str:
        """A call in its own form where that reads back as the same call, else as JSON."""
        for command in self.commands:
            fits = set(shaped(command.form).names) == action.args.keys()
            if command.tool == action.name and fits:
                text = filled(command, action.args)
                if self._reads_as(prompt_spec, text, action):
                    return text
        return f"@{action.name} {encode(action.args).decode()}"

    def _reads_as(self, prompt_spec: PromptSpec, text: str, action: Action) -> bool:
        if before_invented_tail(self._labels, text) != text or "\r" in text:
            return False
        try:  # not by `parse`: its complaint about what cannot be read would write an example again
            parsed = self._read(prompt_spec, text)
        except UnreadableError:
            return False
        return parsed == Parsed("", (Action(action.name, action.args),))

    def _heading(self, tool: ToolSpec) -> str:
        acts = tool.effect not in {"pure", "read"}
        for command in self.commands:
            fits = not acts or ends(command, fields(tool.parameters))
            if command.tool == tool.name and fits:
                return filled(command, {name: f"<{name}>" for name in shaped(command.form).names})
        inside = ", ".join(f'"{name}": ...' for name in fields(tool.parameters))
        return f"@{tool.name} {{{inside}}}"

    def _finish_text(self, prompt_spec: PromptSpec) -> str:
        schema = f"JSON of the schema {encode(prompt_spec.answer).decode()}"
        answer = "the answer" if prompt_spec.answers_text else schema
        for command in self.commands:
            if command.tool == FINISH and shaped(command.form).names == ("answer",):
                return filled(command, {"answer": answer})
        answer = f'"{answer}"' if prompt_spec.answers_text else answer
        return f'@{FINISH} {{"answer": {answer}}}'

    def _example(self, prompt_spec: PromptSpec) -> str:
        tool = visible_tools(prompt_spec)[0]
        return self._call(prompt_spec, Action(tool.name, example(tool)))


def _finish_form(args: str) -> str:
    return f"@{FINISH} {args}"


def _check_complete(command: Command, schemas: Mapping[str, Parameters], rest: str) -> None:
    """Hold an effect to a command that ends where its form says. Raises `UnreadableError`."""
    if not ends(command, schemas):
        raise UnreadableError(
            f"{command.tool} changes things, and nothing shows where its command ends: call it as "
            f"@{command.tool} with its values as JSON"
        )
    if rest.partition("\n")[0].strip(_OUTER) or stands_twice(command, rest):
        raise UnreadableError(
            f"{command.tool} changes things, and its command may end in two places: call it as "
            f"@{command.tool} with its values as JSON"
        )
