"""The values in replies of labelled sections, as they arrive: of the paper's format, and of lines.

The scanner is that of the parser, so a value begins where the parser finds it.
"""

import re
from collections.abc import Iterator
from typing import Final

from clew.codecs.calls import tool_name
from clew.codecs.json_repair import UnreadableError
from clew.codecs.labelled_step import Dialect
from clew.codecs.stop_filter import Labels, LineLabel, Scan
from clew.codecs.written_values import ReadPiece, ValuePiece, ValueReader
from clew.core.codec import PromptSpec
from clew.core.codes import FINISH

_NAME_CHARS: Final = 200
_EMPHASIS: Final = "*_`"
_OPENING: Final = re.compile(r"[\[(]")


class _SectionReader:
    """A reply taken apart at its labels; what a section means is up to the format."""

    def __init__(self, labels: Labels, prompt_spec: PromptSpec) -> None:
        self.prompt_spec = prompt_spec
        self.value: ValueReader | None = None
        self.section = ""
        self._scan = Scan(labels)
        self._closing: str = ""
        self._held: str = ""
        self._answers = False
        """Whether the section is an answer."""

    def feed(self, piece: str) -> Iterator[ValuePiece]:
        """Take the next piece of the reply."""
        scan, start, known = self._scan, self._scan.kept, len(self._scan.marks)
        text, at = scan.feed(piece), 0
        for position, mark in scan.marks[known:]:
            if self.section != "final":  # which takes all that follows
                yield from self._more(text[at : position - start], position)
                at = position - start + mark.body
                yield from self._enter(mark)
        yield from self._more(text[at:], start + len(text))

    def _enter(self, mark: LineLabel) -> Iterator[ValuePiece]:
        if self._answers:
            self._answers = False
            yield ValuePiece(FINISH, "", offset=-1)
        self.section, self._closing, self._held = mark.role, mark.closing, ""
        self.begin(mark.role)

    def _more(self, text: str, end: int) -> Iterator[ValuePiece]:
        """More of a section, up to this offset of the reply."""
        if self._closing:  # emphasis that was opened ahead of the label
            text, self._held = self._held + text, ""
            if text != self._closing and self._closing.startswith(text):
                self._held = text  # its end may come with the next piece
                return
            text, self._closing = text.removeprefix(self._closing), ""
        if text:
            yield from self.take(text, end)

    def begin(self, role: str) -> None:
        """A section begins."""

    def take(self, text: str, end: int) -> Iterator[ValuePiece]:
        """More of a section."""
        if self.value is not None:
            if self.value.name == FINISH and not self._answers:
                self._answers = True
                yield ValuePiece(FINISH, "", offset=end - len(text))
            yield from self.value.feed(text)


class _CallReader(_SectionReader):
    """`Action 1: tool[argument]`."""

    _ahead: str | None = None
    """What came of the name, None where none is due."""

    def begin(self, role: str) -> None:
        """A call begins with the name of its tool."""
        self.value, self._ahead = None, "" if role == "action" else None

    def take(self, text: str, end: int) -> Iterator[ValuePiece]:
        """More of the name, or of what stands in the brackets."""
        if self._ahead is not None:
            self._ahead = (self._ahead + text).lstrip()
            opening = _OPENING.search(self._ahead)
            if opening is None:
                self._ahead = self._ahead if len(self._ahead) < _NAME_CHARS else None
                return
            name, text = self._ahead[: opening.start()], self._ahead[opening.end() :]
            self._ahead = None
            if opening[0] == "[" and name[0:1] not in _EMPHASIS:
                self.value = _value(self.prompt_spec, name, closing="]")
        yield from super().take(text, end)


class _LineReader(_SectionReader):
    """`Action:` and `Action Input:`, or `Final Answer:`."""

    def __init__(self, words: Dialect, prompt_spec: PromptSpec) -> None:
        super().__init__(words.labels, prompt_spec)
        self._final = words.final.lower()
        self._name = ""

    def begin(self, role: str) -> None:
        """An input is that of the action ahead of it."""
        self.value = None
        if role == "action":
            self._name = ""
        elif role == "final":
            plain = self.prompt_spec.answers_text
            self.value = ValueReader(self.prompt_spec, FINISH, fenced=not plain, final=True)
        elif role == "input" and self._name.strip():
            name = self._name.strip().partition("\n")[0]
            name = re.split(_OPENING, name)[0].strip(" \t\r.,;*_`")
            name = FINISH if name.lower() == self._final else name
            self.value = _value(self.prompt_spec, name, fenced=True)

    def take(self, text: str, end: int) -> Iterator[ValuePiece]:
        """More of the action's line, or of the value."""
        if self.section == "action" and len(self._name) < _NAME_CHARS:
            self._name += text
        yield from super().take(text, end)


def _value(
    prompt_spec: PromptSpec, written: str, *, closing: str = "", fenced: bool = False
) -> ValueReader | None:
    """A reader of the arguments of the tool that is meant; None where none is."""
    try:
        name, _ = tool_name(prompt_spec, written)
    except UnreadableError:
        return None
    return ValueReader(prompt_spec, name, closing=closing, fenced=fenced)


def values_of_calls(labels: Labels, prompt_spec: PromptSpec) -> ReadPiece:
    """A reader of replies whose calls are written as `tool[argument]`."""
    return _CallReader(labels, prompt_spec).feed


def values_of_lines(words: Dialect, prompt_spec: PromptSpec) -> ReadPiece:
    """A reader of replies of labelled lines."""
    return _LineReader(words, prompt_spec).feed
