"""Bars and lines as SVG, readable on a light and on a dark page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, log10
from typing import Final

COLOURS: Final = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Of Okabe and Ito: told apart by people who see few colours, on white and on black."""

WIDTH: Final = 760
LEFT: Final = 260
RIGHT: Final = 70
BAR: Final = 13
TOP: Final = 62
STYLE: Final = (
    "text{font:12px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600;font-size:14px}"
    ".g{stroke:#8c959f;stroke-opacity:.35}.w{stroke:#1f2328;stroke-opacity:.7}"
    ".n{stroke:#cf222e;stroke-dasharray:4 3}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.w{stroke:#e6edf3}.n{stroke:#ff7b72}}"
)


@dataclass(frozen=True)
class Value:
    """A bar; `low` and `high` are the ends of its interval, where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Bars:
    """Horizontal bars: for each row one of each series, and the aim as a broken line."""

    title: str
    axis: str
    series: Sequence[str]
    rows: Mapping[str, Sequence[Value | None]]
    form: str = "{:.2f}"
    aim: float | None = None
    limit: float | None = None

    def svg(self) -> str:
        """The picture."""
        tall = len(self.series) * BAR + 9
        bottom = TOP + len(self.rows) * tall
        ends = [
            max(each.value, each.high or 0) for row in self.rows.values() for each in row if each
        ]
        top = self.limit or _round(max([*ends, self.aim or 0]))
        scale = (WIDTH - LEFT - RIGHT) / top
        lines = [*_axis(top, scale, bottom, self.form), *_legend(self.series)]
        for number, (name, values) in enumerate(self.rows.items()):
            y = TOP + number * tall + 4
            middle = y + len(self.series) * BAR / 2 + 4
            lines.append(_text(LEFT - 8, middle, name, "end"))
            for index, each in enumerate(values):
                if each is not None:
                    lines += self._bar(each, y + index * BAR, COLOURS[index], scale)
        if self.aim is not None:
            x = LEFT + self.aim * scale
            lines.append(f'<line class="n" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        return _picture(self.title, self.axis, lines, bottom)

    def _bar(self, each: Value, y: float, colour: str, scale: float) -> Iterator[str]:
        wide = max(each.value * scale, 1)
        yield (
            f'<rect x="{LEFT}" y="{y:.1f}" width="{wide:.1f}" height="{BAR - 2}" fill="{colour}"/>'
        )
        end = LEFT + wide
        if each.low is not None and each.high is not None:
            a, b, at = LEFT + each.low * scale, LEFT + each.high * scale, y + BAR / 2 - 1
            yield f'<line class="w" x1="{a:.1f}" y1="{at:.1f}" x2="{b:.1f}" y2="{at:.1f}"/>'
            end = max(end, b)
        yield _text(end + 5, y + BAR - 3, self.form.format(each.value), "start")


@dataclass(frozen=True)
class Lines:
    """Lines over an axis on which each step is ten times the last (both axes)."""

    title: str
    x: str
    y: str
    series: Mapping[str, Sequence[tuple[float, float]]]

    def svg(self) -> str:
        """The picture."""
        bottom, left, right = TOP + 300, 110, 30
        xs = sorted({x for points in self.series.values() for x, _ in points})
        ys = [y for points in self.series.values() for _, y in points]
        low, high = int(log10(min(ys))), ceil(log10(max(ys)))
        wide = (WIDTH - left - right) / (log10(xs[-1]) - log10(xs[0]))

        def at(x: float, y: float) -> tuple[float, float]:
            over = (log10(y) - low) / (high - low)
            return left + (log10(x) - log10(xs[0])) * wide, bottom - over * (bottom - TOP)

        lines = list(_legend([*self.series]))
        for power in range(low, high + 1):
            _, y = at(xs[0], 10**power)
            lines.append(
                f'<line class="g" x1="{left}" y1="{y:.1f}" x2="{WIDTH - right}" y2="{y:.1f}"/>'
            )
            lines.append(_text(left - 6, y + 4, f"{10**power:,}", "end"))
        lines += [_text(at(x, 10**low)[0], bottom + 16, f"{x:,.0f}", "middle") for x in xs]
        for number, points in enumerate(self.series.values()):
            centres = [at(*point) for point in points]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in centres)
            colour = COLOURS[number]
            lines.append(
                f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>'
            )
            lines += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in centres
            ]
        lines.append(
            f'<text transform="translate(14 {(TOP + bottom) // 2}) rotate(-90)" '
            f'text-anchor="middle">{escape(self.y)}</text>'
        )
        return _picture(self.title, self.x, lines, bottom)


def _axis(top: float, scale: float, bottom: float, form: str) -> Iterator[str]:
    for part in range(5):
        value = top * part / 4
        x = LEFT + value * scale
        yield f'<line class="g" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>'
        yield _text(x, bottom + 16, form.format(value), "middle")


def _legend(series: Sequence[str]) -> Iterator[str]:
    if len(series) < 2:
        return
    x = 12.0
    for number, name in enumerate(series):
        yield f'<rect x="{x:.0f}" y="34" width="11" height="11" fill="{COLOURS[number]}"/>'
        yield _text(x + 16, 44, name, "start")
        x += 34 + 6.6 * len(name)


def _picture(title: str, axis: str, lines: Sequence[str], bottom: float) -> str:
    height = bottom + 42
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" '
        f'role="img" aria-label="{escape(title)}">\n<style>{STYLE}</style>\n'
        f'<text class="t" x="12" y="20">{escape(title)}</text>'
    )
    foot = _text(WIDTH / 2, bottom + 34, axis, "middle")
    return "\n".join([head, *lines, foot, "</svg>", ""])


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _round(value: float) -> float:
    """The next round number: one, two or five with noughts."""
    power = 10.0 ** int(log10(value) if value >= 1 else log10(value) - 1)
    return next(
        step * power
        for step in (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
        if step * power >= value
    )
