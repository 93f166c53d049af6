"""Find the place in a file that resembles a text most, for an error message."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from clew_code.workspace.display import number_lines

_MAX_LINES: Final = 5_000
"""The lines of a file that are compared by similarity if no line matches exactly."""
_MAX_EXCERPT_LINES: Final = 12
_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class LineRange:
    """The lines `first` to `last` of a file, from 1; `why` says how the text differs from them."""

    first: int
    last: int
    why: str

    @property
    def lines(self) -> str:
        """Its line numbers, in words."""
        return (
            f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"
        )


def nearest(wanted: Sequence[str], lines: Sequence[str]) -> LineRange | None:
    """The place in `lines` that matches the wanted lines best; None in an empty file."""
    if not lines or not wanted:
        return None
    start = _shared(wanted, lines)
    if start is None:
        start = _alike(wanted, lines)
    first = max(0, min(start, len(lines) - 1))
    last = max(first, min(start + len(wanted), len(lines)) - 1)
    return LineRange(first + 1, last + 1, _difference(wanted, lines[first : last + 1]))


def excerpt(lines_range: LineRange, lines: Sequence[str]) -> str:
    """The file's lines at a place, with their numbers."""
    few = lines[
        lines_range.first - 1 : min(lines_range.last, lines_range.first - 1 + _MAX_EXCERPT_LINES)
    ]
    more = lines_range.last - lines_range.first + 1 - len(few)
    return number_lines(few, lines_range.first) + (f"\n[… {more} more lines]" if more > 0 else "")


def _shared(wanted: Sequence[str], lines: Sequence[str]) -> int | None:
    """The start at which most lines match, ignoring whitespace; rare lines weigh more."""
    by_text: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if key := "".join(line.split()):
            by_text[key].append(number)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(wanted):
        indexes = by_text.get("".join(line.split()), ())
        for number in indexes[:200]:
            votes[number - offset] += 1_000 // len(indexes)
    return max(votes, key=lambda start: (votes[start], -start)) if votes else None


def _alike(wanted: Sequence[str], lines: Sequence[str]) -> int:
    """The start at which the longest wanted line has its most similar line."""
    offset, longest = max(enumerate(wanted), key=lambda pair: len(pair[1].strip()))
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(longest.strip()[:_CHARS])
    best, best_start = -1.0, 0
    for number, line in enumerate(lines[:_MAX_LINES]):
        matcher.set_seq1(line.strip()[:_CHARS])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            if ratio > best:
                best, best_start = ratio, number
    return best_start - offset


def _difference(wanted: Sequence[str], actual: Sequence[str]) -> str:
    """Describe how the text differs from the place."""
    pairs = list(zip(wanted, actual, strict=False))
    unlike = [number for number, (one, other) in enumerate(pairs, 1) if one != other]
    if not unlike and len(wanted) == len(actual):
        return "the same lines, but not to their ends"
    if all(one.split() == other.split() for one, other in pairs) and len(wanted) == len(actual):
        return "only blanks differ"
    if all("".join(one.split()) == "".join(other.split()) for one, other in pairs) and len(
        wanted
    ) == len(actual):
        return "only blanks differ"
    if not unlike:
        return "it ends earlier"
    return f"line {unlike[0]} of yours differs"
