"""Forms of commands, such as `GET {url}`, taken apart, read and filled in."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from clew import ConfigError
from clew.codecs.text_codec import UnreadableError, balanced, first_value, typed, types
from clew.interfaces import Json, Parameters, encode
from clew.support.settings import check_fields

_FIELD: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
_OPENING: Final = re.compile(r"[(\[]+$")
_SPACE: Final = "[ \\t]*+"
_CLOSED: Final = ")] \t`*_."
_CLOSERS: Final = {"(": ")", "[": "]"}
FENCE: Final = "`{3,}[\\w+-]{0,20}"
"""A line that opens or closes a block of code."""


@dataclass(frozen=True, slots=True)
class Command:
    """How a call of `tool` is written: `form`, with a `{parameter}` for each value.

    A value ends where the next part of the form begins, or at the end of its line. A value on lines
    of its own ends at the form's next line, or at the end of the reply. `begins` lists how the
    first value may begin, so that no sentence is taken for a command.
    """

    tool: str
    form: str
    begins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a form that could not be told from prose, or be read back."""
        check_fields(self)
        shape = shaped(self.form)
        if not shape.between[0].strip():
            raise ConfigError(f"the form {self.form!r} must begin with words of its own")
        if len(set(shape.names)) != len(shape.names):
            raise ConfigError(f"the form {self.form!r} has a parameter twice")
        if not all(shape.between[1:-1]):
            raise ConfigError(f"the form {self.form!r} must have words between two parameters")


@dataclass(frozen=True, slots=True)
class Shape:
    """A form taken apart: texts around its parameters, and how each of the texts is looked for."""

    names: tuple[str, ...]
    between: tuple[str, ...]
    """One more than there are names: what stands ahead of each, and behind the last."""
    opening: re.Pattern[str]
    closing: tuple[re.Pattern[str], ...]
    """For each name, what follows its value."""

    @property
    def closed(self) -> bool:
        """Whether a line of its own closes the command."""
        return len(self.names) > 0 and self.between[-1].startswith("\n")

    def on_lines_of_its_own(self, position: int) -> bool:
        """Whether the value at this place may have several lines."""
        return self.between[position].endswith("\n") and self.between[position + 1][:1] in {
            "",
            "\n",
        }


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command that was read: its values, where it ends, what had to be mended."""

    values: dict[str, Json]
    end: int
    repairs: tuple[str, ...] = ()


@cache
def shaped(form: str) -> Shape:
    """Take a form apart."""
    parts = _FIELD.split(form)
    between, names = tuple(parts[::2]), tuple(parts[1::2])
    first = between[0].lstrip()
    pattern = _literal(first, opens=True)
    brackets = _OPENING.search(first)
    if names and brackets is not None and between[1][:1] == _CLOSERS[brackets[0][-1]]:
        stem = _literal(first[: brackets.start()], opens=True)
        pattern = rf"{stem}(?P<open>{re.escape(brackets[0])}|{_SPACE}[(\[])"
    end = "" if names else rf"{_SPACE}$"
    endings = [False] * (len(names) - 1) + ["\n" in between[-1]] * bool(names)
    return Shape(
        names,
        between,
        re.compile(rf"{_SPACE}{pattern}{end}", re.MULTILINE),
        tuple(
            re.compile(_literal(text, opens=False) + (rf"{_SPACE}$" if ends else ""), re.MULTILINE)
            for text, ends in zip(between[1:], endings, strict=True)
        ),
    )


def _literal(text: str, *, opens: bool) -> str:
    """Words of a form as a pattern; spaces at the ends of their lines do not matter.

    Only a fence that `opens` may name a language.
    """
    first, *rest = (_words(line, opens=opens) for line in text.split("\n"))
    if not rest:
        return first
    lines = [
        f"{first}{_SPACE}" if first else "",
        *(f"{_SPACE}{line}{_SPACE}" for line in rest[:-1]),
    ]
    return "\\n".join([*lines, f"{_SPACE}{rest[-1]}" if rest[-1] else ""])


def _words(line: str, *, opens: bool) -> str:
    fence = line.strip() == "```"
    return (FENCE if opens else "`{3,}") if fence else re.escape(line)


def match_opening(command: Command, text: str, at: int) -> re.Match[str] | None:
    """What opens this command on the line that begins at `at`, if anything."""
    match = shaped(command.form).opening.match(text, at)
    fits = match is not None and (
        not command.begins or text.startswith(command.begins, match.end())
    )
    return match if fits else None


def end_of_command(command: Command, opened: re.Match[str], text: str) -> int:
    """The end of the line that closes a command, or that it begins on where none does.

    Raises `UnreadableError` where it is not closed.
    """
    shape = shaped(command.form)
    if not shape.closed:
        return opened.start()
    if (match := shape.closing[-1].search(text, opened.end() - 1)) is None:
        raise UnreadableError(_open(command))
    return match.end()


def read(
    command: Command, schemas: Mapping[str, Parameters], text: str, at: int
) -> ParsedCommand | None:
    """The command that the line at `at` begins with; None where it has another form.

    Raises `UnreadableError` where a value of several lines, or in brackets, is not complete: what
    has been looked through once is not looked through for another form.
    """
    shape = shaped(command.form)
    if (opened := match_opening(command, text, at)) is None:
        return None
    reading = _CommandReader(command, text, opened.end())
    for index, name in enumerate(shape.names):
        schema = schemas.get(name, {"type": "string"})
        if shape.on_lines_of_its_own(index):
            reading.lines(index, name, schema)
        elif opened.re.groups and not index:
            reading.bracketed(opened["open"], name, schema)
        elif not reading.inline(index, name, schema):
            return None
    return ParsedCommand(reading.values, reading.at, tuple(reading.repairs))


def _open(command: Command) -> str:
    return f"the command for {command.tool} is never closed"


@dataclass(slots=True)
class _CommandReader:
    """A command being read, one value after the other."""

    command: Command
    text: str
    at: int
    values: dict[str, Json] = field(default_factory=dict[str, Json])
    repairs: list[str] = field(default_factory=list[str])
    committed: bool = False
    """More than a line has been looked through: it is this command or none."""

    def inline(self, index: int, name: str, schema: Parameters) -> bool:
        """A value within its line; False where what should follow does not."""
        shape = shaped(self.command.form)
        newline = self.text.find("\n", self.at)
        stop = end = len(self.text) if newline < 0 else newline
        if (follows := shape.between[index + 1]).startswith("\n"):
            match = shape.closing[index].match(self.text, stop)
        elif follows:
            stop = self.text.find(follows.partition("\n")[0], self.at, end)
            match = shape.closing[index].match(self.text, stop) if stop >= 0 else None
        else:
            match = None
        if follows and match is None:
            if self.committed:
                raise UnreadableError(_open(self.command))
            return False
        self.values[name] = typed(self.text[self.at : stop].strip(), schema)
        self.at = end if match is None else match.end()
        return True

    def lines(self, index: int, name: str, schema: Parameters) -> None:
        """A value on lines of its own."""
        shape = shaped(self.command.form)
        self.committed = True
        if not shape.between[index + 1]:
            self._rest(name, schema)
        elif (match := shape.closing[index].search(self.text, self.at - 1)) is None:
            raise UnreadableError(_open(self.command))
        else:
            self.values[name] = typed(self.text[self.at : match.start()], schema)
            self.at = match.end()

    def _rest(self, name: str, schema: Parameters) -> None:
        """All that is left of the reply, or one JSON value where the schema wants one."""
        rest = self.text[self.at :]
        allowed = types(schema)
        if allowed and allowed <= {"array", "object"} and rest.lstrip()[:1] in {"{", "["}:
            prefix = first_value(rest)
            self.values[name] = prefix.value
            self.repairs += prefix.repairs
            self.at += prefix.end
        else:
            self.values[name] = typed(rest.rstrip(), schema)
            self.at = len(self.text)

    def bracketed(self, opened: str, name: str, schema: Parameters) -> None:
        """A value in brackets; other brackets than those of the form will do."""
        shape = shaped(self.command.form)
        self.committed = True
        end = self.at + self._inner(opened[-1])
        value = self.text[self.at : end]
        same = shape.between[0].endswith(opened)
        if same and (match := shape.closing[0].match(self.text, end)) is not None:
            self.at = match.end()
        elif shape.between[1].strip(")]") or self.text[end:].partition("\n")[0].strip(_CLOSED):
            raise UnreadableError(f"the brackets for {self.command.tool} are not those of its form")
        else:
            self.repairs.append("brackets read as those of the form")
            self.at = end + 1
        self.values[name] = typed(value.strip(), schema)

    def _inner(self, opening: str) -> int:
        """How long a value in brackets is: JSON to its end, or else to where brackets balance."""
        rest, closer = self.text[self.at :], _CLOSERS[opening]
        for outer, text in ((1, f"{opening}{rest}"), (0, rest)):
            if text.lstrip()[:1] in {"[", "{"}:
                with suppress(UnreadableError):
                    prefix = first_value(text)
                    after = rest[prefix.end - 2 * outer :].lstrip()
                    if not prefix.repairs and after.startswith(closer):
                        return len(rest) - len(after)
        if (end := balanced(rest, opening, closer)) is None:
            raise UnreadableError(_open(self.command))
        return end


def ends(command: Command, schemas: Mapping[str, Parameters]) -> bool:
    """Whether it can be seen that all of such a command came.

    Its form has words behind its last value, or that value is JSON, or there is none.
    """
    shape = shaped(command.form)
    if not shape.names or shape.between[-1].strip():
        return True
    allowed = types(schemas.get(shape.names[-1], {"type": "string"}))
    return bool(allowed) and allowed <= {"array", "object"}


def stands_twice(command: Command, rest: str) -> bool:
    """Whether a line that ends one of its values stands behind it again: either may be the end."""
    shape = shaped(command.form)
    return any(
        words.strip() and words[0] == "\n" and closing.search(f"\n{rest}") is not None
        for words, closing in zip(shape.between[1:], shape.closing, strict=True)
    )


def filled(command: Command, values: Mapping[str, Json]) -> str:
    """The form with these values."""
    shape = shaped(command.form)
    texts = (
        v if isinstance(v := values[name], str) else encode(v).decode() for name in shape.names
    )
    pieces = (text + value for text, value in zip(shape.between, (*texts, ""), strict=True))
    return "".join(pieces)
