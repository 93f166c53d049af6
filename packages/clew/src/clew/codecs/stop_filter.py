"""The line scanner of the text formats: which lines begin with a label, and where a reply's
invented tail begins.

The parser and the stream's filter are the same scanner, fed at once or in pieces, so that what a
person saw arrive is what counted. It looks at a bounded start of each line and never goes back.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final, Literal, TypeAlias

import msgspec

from clew.codecs.no_action import void
from clew.codecs.stream_end import StreamEnd
from clew.core.models import OnText

WIDTH: Final = 64
"""A label ends within this many characters of its line's start, decoration included."""

Role: TypeAlias = Literal["question", "thought", "action", "input", "observation", "final"]

_BEFORE: Final = frozenset(" \t*_#`")
_BETWEEN: Final = frozenset(" \t*_#`().0123456789")
_COLONS: Final = frozenset(":\uff1a")
_PEEK: Final = 24


SECOND: Final = "second action dropped"
"""What is said of a second action in a reply."""

INVENTED: Final = "invented observation dropped"
"""What is said of a result that the model made up."""

_DROPPED: Final[dict[Role, str]] = {
    "observation": INVENTED,
    "action": SECOND,
    "final": "answer beside an action dropped",
    "input": "second input dropped",
    "thought": "trailing text dropped",
    "question": "trailing text dropped",
}
"""What a section was, by its label, where it began the tail."""


class Undecided(Enum):
    """Too little of a line has been seen to say whether it begins with a label."""

    MAYBE = 1


class LineLabel(msgspec.Struct, frozen=True):
    """A label at the start of a line: its role, where its text begins, emphasis still open."""

    role: Role
    body: int
    closing: str = ""


class Labels(msgspec.Struct, frozen=True):
    """The words that open a section, each with its role. Case and emphasis do not matter."""

    words: tuple[tuple[str, Role], ...]
    """Pairs of label (in lower case) and role; of two with the same beginning, both are tried."""

    def at(self, line: str) -> LineLabel | Undecided | None:
        """The label that starts `line` (without line break), whether one may follow, or None."""
        line = line[:WIDTH]
        start = _skip(line, 0, _BEFORE)
        rest = line[start:].lower()
        maybe = None
        for word, role in self.words:
            if len(rest) <= len(word):
                maybe = Undecided.MAYBE if word.startswith(rest) else maybe
            elif rest.startswith(word):
                end = _skip(line, start + len(word), _BETWEEN)
                if end == len(line):
                    maybe = Undecided.MAYBE
                elif line[end] in _COLONS:
                    return LineLabel(role, end + 1, _unclosed(line[:start], line[start:end]))
        return maybe if len(line) < WIDTH else None

    def inert(self, text: str) -> str:
        """The text with `| ` before each line, except the first, that could read as a label."""
        first, *rest = text.split("\n")
        lines = (f"| {line}" if isinstance(self.at(line), LineLabel) else line for line in rest)
        return "\n".join([first, *lines])


def _skip(line: str, at: int, chars: frozenset[str]) -> int:
    while at < len(line) and line[at] in chars:
        at += 1
    return at


def _unclosed(before: str, label: str) -> str:
    """The emphasis opened before a label and not closed ahead of its colon, as in `**Action:**`."""
    opened = before.strip(" \t#")
    return "" if label.rstrip().endswith(opened) else opened


class Scan(msgspec.Struct):
    """One reply being scanned: the first `kept` characters count, `dropped` says why no more do.

    `prose` says that something stands ahead of the first label.
    """

    labels: Labels
    prose: bool = False
    marks: list[tuple[int, LineLabel]] = msgspec.field(default_factory=list[tuple[int, LineLabel]])
    dropped: str = ""
    kept: int = 0
    _seen: set[Role] = msgspec.field(default_factory=set[Role])
    _role: Role | None = None
    _held: str = ""
    _fresh: bool = True
    _peek: str = ""
    _echoed: bool = False

    @property
    def ended(self) -> bool:
        """Whether the tail has begun."""
        return bool(self.dropped)

    def feed(self, piece: str) -> str:
        """Take the next piece; return what of the reply can be shown now.

        The start of a line that may yet become a label is held back: at most `WIDTH` characters.
        """
        if self.ended:
            return ""
        text = self._held + piece
        at, tail = 0, False
        while at < len(text):
            newline = text.find("\n", at)
            end = len(text) if newline < 0 else newline
            start = at
            if self._fresh and newline != at:  # an empty line is no label
                mark = self.labels.at(text[at : min(end, at + WIDTH)])
                if mark is Undecided.MAYBE and newline < 0:
                    break
                if isinstance(mark, LineLabel):
                    if tail := not self._enter(self.kept + at, mark):
                        break
                    start += mark.body
            self._look(text[start : end + 1])
            self._fresh = newline >= 0
            at = end + (newline >= 0)
        self.kept += at
        self._held = "" if tail else text[at:]
        return text[:at]

    def close(self) -> None:
        """The reply is complete: a start of a line that was held back is only text."""
        self.kept += len(self._held)
        self._held = ""

    def _look(self, text: str) -> None:
        """Remember a section's first words: enough to see whether they mean nothing."""
        self.prose = self.prose or not (self.marks or text.isspace() or not text)
        if len(self._peek) < _PEEK:
            self._peek = (self._peek + text).lstrip()[:_PEEK]

    def _enter(self, at: int, mark: LineLabel) -> bool:
        """Begin a section, or the tail; False says that it is the tail.

        Behind an answer only an invented observation is one: all else may belong to the answer,
        but for an action with its input, which is kept for the parser to refuse.
        """
        if self._role == "action" and void(self._peek):
            self._seen.discard("action")
        answered, role = "final" in self._seen, mark.role
        if role == "question" or (answered and role not in {"action", "input", "observation"}):
            if not answered and "action" in self._seen:
                self.dropped = _DROPPED["question"]
            return not self.ended
        if role == "observation" and not answered and not self.marks and not self._peek:
            self._echoed, mark = True, LineLabel("thought", mark.body, mark.closing)
        elif not answered or role == "observation":
            self.dropped = self._tail(role)
        if not self.ended:
            self.marks.append((at, mark))
            self._seen.add("final" if answered else mark.role)
            self._role = mark.role
            self._peek = ""
        return not self.ended

    def _tail(self, role: Role) -> str:
        """Why a section of this kind is the tail, or "".

        A result that is said again ahead of an answer is none, but ahead of an action it is: what
        the action rests on was invented.
        """
        acted = "action" in self._seen
        if role == "observation" or (role == "action" and self._echoed):
            return _DROPPED["observation"]
        if role == "input":
            return _DROPPED["input"] if "input" in self._seen else ""
        if role == "action" and not acted:
            self._seen -= {"input"}
        return _DROPPED[role] if acted else ""


def scan(labels: Labels, text: str) -> Scan:
    """Scan a complete reply."""
    scanned = Scan(labels)
    scanned.feed(text)
    scanned.close()
    return scanned


def stream_filter(labels: Labels, show: Callable[[str], None]) -> OnText:
    """A filter for a reply's stream: shows what counts, says True once an invented tail begins.

    Behind prose it never says so. What it shows depends on the text alone, not on how it came in
    pieces. At the very end, the start of a line that might have become a label stays unshown.
    """
    scanned, end = Scan(labels), StreamEnd()

    def take(piece: str) -> bool:
        if text := scanned.feed(piece):
            show(text)
        end.prose = scanned.prose
        if scanned.ended:
            end.invented()
        return end.ended

    return take
