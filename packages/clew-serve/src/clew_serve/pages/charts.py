"""Bars of numbers as SVG, made on the server: there is nothing but numbers and our own words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from clew_serve.pages.rendering import fragment

HEIGHT: Final = 100.0
GAP: Final = 0.15
"""The share of a bar's width that is left free beside it."""


@dataclass(frozen=True)
class Piece:
    """A rectangle of a bar, from the top."""

    kind: int
    top: float
    height: float


@dataclass(frozen=True)
class Bar:
    """A bar of a chart: its place, its pieces, and what it says to whoever points at it."""

    x: float
    width: float
    pieces: tuple[Piece, ...]
    text: str


@dataclass(frozen=True)
class Chart:
    """Bars with a title; each of `values` has a number for each of the `kinds`, in a pile.

    `texts` says each bar in words, `sum` what all come to, and `highest` how high the chart is.
    """

    title: str
    kinds: Sequence[str]
    labels: Sequence[str]
    values: Sequence[Sequence[float]]
    texts: Sequence[str]
    sum: str
    highest: str
    top: float = 0.0
    """The value at the top; 0 for that of the highest bar."""

    @property
    def bars(self) -> list[Bar]:
        """The bars, on a plane that is 1 wide for each, and `HEIGHT` high."""
        top = self.top or max((sum(values) for values in self.values), default=0.0) or 1.0
        return [
            Bar(at + GAP / 2, 1 - GAP, tuple(_pieces(values, HEIGHT / top)), text)
            for at, (values, text) in enumerate(zip(self.values, self.texts, strict=True))
        ]


def _pieces(values: Sequence[float], scale: float) -> list[Piece]:
    pieces, bottom = list[Piece](), HEIGHT
    for kind, value in enumerate(values):
        height = round(min(bottom, max(0.0, value) * scale), 2)
        bottom = round(bottom - height, 2)
        if height:
            pieces.append(Piece(kind, bottom, height))
    return pieces


def drawn_chart(chart: Chart) -> Markup:
    """A chart as HTML, in which the SVG is a picture with a description."""
    return fragment("chart.html", chart=chart, bars=chart.bars, height=HEIGHT)
