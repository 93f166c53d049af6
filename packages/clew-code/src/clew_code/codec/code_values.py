"""The values in replies with blocks of Python, as they arrive: a program that runs, or the answer.

A block that is one call is told when it is closed: until then nobody knows that it is no program.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, Protocol

from clew.codecs.text_codec import ValuePiece, ValueReader
from clew.core.codes import RUN_CODE
from clew.interfaces import FINISH, PromptSpec
from clew_code.codec.functions import runs_code

_PROGRAM: Final = re.compile(
    r"\s*(?:(?:import|from|def|for|while|if|with|try|async|class|print)\b(?!\s*=)"
    r"|[a-z_][\w.]*\s*=(?!=))"
)
"""How a first line begins that is neither an answer nor a call."""

_PYTHON: Final = frozenset({"", "py", "python", "python3"})
_HEAD: Final = 80


class BlockLines(Protocol):
    """A reply taken apart by lines, as the parser does it."""

    code: list[str]
    coded: bool
    answer: list[str] | None
    language: str
    over: bool

    def take(self, line: str) -> None:
        """The next line."""
        ...


class CodeReader:
    """A reply being read; `answers` finds where a line begins an answer, and `may_show` says
    whether the beginning of a line in one can belong to it.
    """

    def __init__(
        self,
        prompt_spec: PromptSpec,
        pieces: BlockLines,
        answers: re.Pattern[str],
        may_show: Callable[[str], bool],
    ) -> None:
        plain = prompt_spec.answers_text
        self._answer = ValueReader(prompt_spec, FINISH, fenced=not plain, final=True)
        self._pieces, self._answers, self._may_show = pieces, answers, may_show
        self._runs = runs_code(prompt_spec)
        self._line: list[str] = []
        self._head = ""
        self._passes = False
        """Whether what is left of the line belongs to the answer."""
        self._start = 0
        """Where in the reply the line begins."""
        self._announced = False
        self._lines = 0
        self._held = ""
        self._is_program: bool | None = None

    def feed(self, text: str) -> Iterator[ValuePiece]:
        """Take the next piece of the reply."""
        for piece in text.splitlines(keepends=True):
            if self._pieces.over:
                return
            self._line.append(piece)
            if self._passes:
                yield from self._answer.feed(piece)
            elif not self._pieces.coded and len(self._head) < _HEAD:
                self._head += piece[:_HEAD]
                yield from self._begin(ended=piece.endswith("\n"))
            if piece.endswith("\n"):
                yield from self._end_line()

    def _begin(self, *, ended: bool) -> Iterator[ValuePiece]:
        """Look whether the line belongs to an answer by now."""
        if self._pieces.answer is not None:
            self._passes, start = self._may_show(self._head.rstrip("\n")), 0
        else:
            begun = self._answers.match(self._head)
            start = 0 if begun is None else begun.end()
            self._passes = bool(start) and (start < len(self._head) or ended)
        if self._passes:
            if not self._announced:
                self._announced = True
                yield ValuePiece(FINISH, "", offset=self._start + start)
            yield from self._answer.feed("".join(self._line)[start:])

    def _end_line(self) -> Iterator[ValuePiece]:
        """A line is complete."""
        line, self._line, passed = "".join(self._line), [], self._passes
        in_answer = self._pieces.answer is not None
        self._head, self._passes = "", False
        self._start += len(line)
        self._pieces.take(line.rstrip("\r\n"))
        if in_answer and not passed and not self._pieces.over:
            yield from self._answer.feed(line)
        if self._pieces.coded:
            yield from self._code()

    def _code(self) -> Iterator[ValuePiece]:
        """The lines of the block that are new; blank ones with the next that is not."""
        lines = self._pieces.code
        for number in range(self._lines, len(lines)):
            line = lines[number]
            if self._is_program is None and line.strip() and not line.lstrip().startswith("#"):
                python = self._runs and self._pieces.language.lower() in _PYTHON
                self._is_program = python and _PROGRAM.match(line) is not None
            self._held += f"\n{line}" if number else line
            if self._is_program and line.strip():
                yield ValuePiece(RUN_CODE, self._held, "code")
                self._held = ""
        self._lines = max(self._lines, len(lines))
