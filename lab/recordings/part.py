"""What one part of the evidence says: figures beside what they were measured on, and the misses."""

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import clew

MINIMUM: Final = 0.5
"""So much of what is there a checker has to know, for its word to count."""

CLEW: Final = Path(clew.__file__).parent


@dataclass(frozen=True)
class Figure:
    """One row: `got` of `of` things were as they should be; `aim` says what would be a regression.

    Without an `aim` it is told and not judged.
    """

    what: str
    got: str
    of: str
    aim: str = ""
    met: bool = True


@dataclass(frozen=True)
class Part:
    """A part of the page: what was done, its figures, and each single case in a line.

    `finding` says in a line what the figures show; those named in `lead` stand beside it at the
    head of the page.
    """

    title: str
    text: str
    figures: Sequence[Figure]
    misses: Sequence[str] = ()
    finding: str = ""
    lead: Sequence[str] = ()
    compared: int = 0
    """So many recorded turns were compared here, and in no other part."""

    @property
    def aims(self) -> tuple[int, int]:
        """How many aims are met, and how many there are."""
        aimed = [figure.met for figure in self.figures if figure.aim]
        return sum(aimed), len(aimed)

    @property
    def met(self) -> bool:
        """Whether every figure is as it should be."""
        return all(figure.met for figure in self.figures)


Measure: TypeAlias = Callable[[int], Part]
"""Measures one part on every nth record (1: on all)."""


def count(what: str, got: int, of: int, *, exactly: int | None = None) -> Figure:
    """So many of so many; `exactly` is what it has to be. Of nothing there is nothing to judge.

    Whether so much could be judged at all is a figure of its own (`Judging`).
    """
    aim = "" if exactly is None or not of else f"{exactly:,}"
    met = not aim or got == exactly
    return Figure(what, f"{got:,}", f"{of:,}", aim, met)


def share(
    what: str, good: int, of: int, *, minimum: float | None = None, limit: float | None = None
) -> Figure:
    """A share, judged where `minimum` or `limit` says what it has to be."""
    value = good / of if of else 0.0
    bounds = (("≥", minimum), ("≤", limit))
    aims = [f"{sign} {bound:g}" for sign, bound in bounds if bound is not None]
    met = (minimum is None or value >= minimum) and (limit is None or value <= limit)
    if not of:
        return Figure(what, "", "0")
    return Figure(what, f"{value:.4f} ({good:,})", f"{of:,}", ", ".join(aims), met)


@dataclass
class Judging:
    """Records judged one by one: what cannot be judged is told, and all others are judged still.

    `strange` are those that the checker cannot read: they say nothing about clew. On `broken` ones
    clew itself raised what it should not have: that is missed.
    """

    taken: int = 0
    strange: list[str] = field(default_factory=list[str])
    broken: list[str] = field(default_factory=list[str])

    @contextmanager
    def one(self, name: object) -> Iterator[None]:
        """Judge a record: whatever it raises ends its own judging and nothing else."""
        self.taken += 1
        try:
            yield
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is told below
            told = f"{name}: {type(error).__name__}: {error}"[:300]
            if _by_clew(error):
                self.broken.append(f"{told} (raised in clew)")
            else:
                self.strange.append(f"{told} (not judged)")

    def figures(self) -> list[Figure]:
        """Both numbers: a checker that can judge less than half has nothing to say."""
        return [
            share(
                "records that this checker can judge",
                self.taken - len(self.strange),
                self.taken,
                minimum=MINIMUM,
            ),
            count("records on which clew broke", len(self.broken), self.taken, exactly=0),
        ]

    @property
    def misses(self) -> list[str]:
        """Each of them in a line."""
        return [*self.broken, *self.strange]


def _by_clew(error: BaseException) -> bool:
    """Whether it came out of clew's own code, as far as its traceback tells."""
    if isinstance(error, BaseExceptionGroup):
        return any(map(_by_clew, error.exceptions))
    frames = traceback.extract_tb(error.__traceback__)
    return any(Path(frame.filename).is_relative_to(CLEW) for frame in frames)


def broken(title: str, error: Exception) -> Part:
    """The part of a measure that broke as a whole: missed, with the place where it did."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(frame.filename).name}, line {frame.lineno}, in {frame.name}"
    line = f"{type(error).__name__}: {error} ({where})"
    return Part(title, "This part broke.", [Figure("measured", "no", "", "yes", met=False)], [line])
