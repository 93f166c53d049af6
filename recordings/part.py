"""What one part of the evidence says: figures beside what they were measured on, and the misses."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias


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
    """A part of the page: what was done, its figures, and each miss in a line with its reason."""

    title: str
    text: str
    figures: Sequence[Figure]
    misses: Sequence[str] = ()

    @property
    def met(self) -> bool:
        """Whether every figure is as it should be."""
        return all(figure.met for figure in self.figures)


Measure: TypeAlias = Callable[[int], Part]
"""Measures one part on every nth record (1: on all)."""


def count(what: str, got: int, of: int, *, exactly: int | None = None) -> Figure:
    """So many of so many; `exactly` is what it has to be, and of nothing it is missed."""
    aim = "" if exactly is None else f"{exactly:,}"
    met = exactly is None or (got == exactly and of > 0)
    return Figure(what, f"{got:,}", f"{of:,}", aim, met)


def share(
    what: str, good: int, of: int, *, least: float | None = None, most: float | None = None
) -> Figure:
    """A share, judged where `least` or `most` says what it has to be."""
    value = good / of if of else 0.0
    bounds = (("≥", least), ("≤", most))
    aims = [f"{sign} {bound:g}" for sign, bound in bounds if bound is not None]
    met = (least is None or value >= least) and (most is None or value <= most)
    return Figure(what, f"{value:.4f} ({good:,})", f"{of:,}", ", ".join(aims), met and of > 0)
