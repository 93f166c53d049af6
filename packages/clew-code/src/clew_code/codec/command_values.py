"""The value of a command as it arrives: the JSON behind `@tool`, or a text on lines of its own.

A value within a line is told when the line is complete: until then another form may fit it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from clew.codecs.prompt_texts import Labels
from clew.codecs.text_codec import ValuePiece, fields, stream_filter, tool_named, types
from clew.interfaces import FINISH, PromptSpec
from clew_code.codec.command_forms import FENCE, Command, match_opening, shaped

PLAIN: Final = re.compile(r"[ \t]*+@([\w./-]{1,64})[ \t]*+(?=\{)")
"""How a call is written that has no form of its own, or does not fit it: `@tool {"a": 1}`."""

_FENCE: Final = re.compile(rf"[ \t]*+{FENCE}[ \t]*+")
_HEAD: Final = 512


class CommandReader:
    """A reply being read, of which the first command counts."""

    def __init__(
        self, prompt_spec: PromptSpec, commands: Sequence[Command], labels: Labels
    ) -> None:
        self._prompt_spec, self._commands = prompt_spec, commands
        self._counted: list[str] = []
        self._filter = stream_filter(labels, self._counted.append)
        self._line: list[str] = []
        self._head = ""
        self._tool = ""
        """Whose arguments follow as JSON."""
        self._over = False
        self._command: Command | None = None
        self._held = ""
        self._first = True
        self._offset = 0
        """How much of the reply was taken."""

    def feed(self, piece: str) -> Iterator[ValuePiece]:
        """Take the next piece of the reply."""
        self._filter(piece)
        text = "".join(self._counted)
        self._counted.clear()
        for part in text.splitlines(keepends=True):
            self._offset += len(part)
            if self._over:
                return
            if self._tool:
                yield ValuePiece(self._tool, part, "", is_json=True)
                continue
            self._line.append(part)
            if self._command is None and len(self._head) < _HEAD:
                self._head += part[:_HEAD]
                yield from self._plain()
            if part.endswith("\n") and not self._tool:
                line, self._line, self._head = "".join(self._line), [], ""
                yield from self._end_line(line.replace("\r\n", "\n"))

    def _plain(self) -> Iterator[ValuePiece]:
        """Look whether the line is `@tool {...}` by now, and no form begins so."""
        plain = PLAIN.match(self._head)
        if plain is None or any(one.form.lstrip().startswith("@") for one in self._commands):
            return
        self._tool = plain[1]
        rest = "".join(self._line)[plain.end() :]
        if self._tool == FINISH:
            yield ValuePiece(FINISH, "", offset=self._offset - len(rest))
        yield ValuePiece(self._tool, rest, "", is_json=True)

    def _end_line(self, line: str) -> Iterator[ValuePiece]:
        if self._command is not None:
            yield from self._more(self._command, line.removesuffix("\n"))
            return
        fitting = [one for one in self._commands if match_opening(one, line, 0)]
        if fitting or PLAIN.match(line):
            self._command = fitting[0] if fitting else None
            self._over = len(fitting) != 1 or not self._has_lines(fitting[0])
            if not self._over and fitting[0].tool == FINISH:
                yield ValuePiece(FINISH, "", offset=self._offset)

    def _has_lines(self, command: Command) -> bool:
        """Whether its only value is a text on lines of its own."""
        shape, tool = shaped(command.form), tool_named(self._prompt_spec, command.tool)
        if len(shape.names) != 1 or not shape.on_lines_of_its_own(0):
            return False
        if shape.between[0].count("\n") > 1 or shape.between[1].count("\n") > 1 or command.begins:
            return False
        schema = {} if tool is None else fields(tool.parameters).get(shape.names[0], {})
        return types(schema) == frozenset({"string"})

    def _more(self, command: Command, line: str) -> Iterator[ValuePiece]:
        """A line of the value, or the one that ends it; blank ones and fences may be its end."""
        shape = shaped(command.form)
        if shape.between[1] and shape.closing[0].match(f"\n{line}"):
            self._over = True
            return
        self._held += line if self._first else f"\n{line}"
        self._first = False
        if line.strip() and not _FENCE.fullmatch(line):
            yield ValuePiece(command.tool, self._held, shape.names[0])
            self._held = ""
