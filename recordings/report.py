"""`docs/evidence.md`, from the parts that were measured."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from recordings.data import ROOT
from recordings.part import Figure, Part

PAGE: Final[Path] = ROOT / "docs" / "evidence.md"
MOST_MISSES: Final = 500
"""So many misses of a part are listed; the rest are counted."""

INTRODUCTION: Final = """\
# Evidence: tested against recordings of real models

`make evidence` writes this page, and fails if a figure misses its aim. It needs recordings of real
models, which are not part of the project: `CLEW_RECORDINGS` names their folder, and each part below
describes its own. Without them, the tests run the same code on small fixtures.
"""


def page(parts: Sequence[Part]) -> str:
    """The page in Markdown."""
    return "\n".join([INTRODUCTION, *(section(part) for part in parts)])


def section(part: Part) -> str:
    """A part of the page."""
    lines = [f"## {part.title}", "", part.text.strip(), ""]
    lines += ["| figure | measured | on | aim | |", "|---|---|---|---|---|"]
    lines += [_row(figure) for figure in part.figures]
    if part.misses:
        lines += ["", f"<details><summary>{len(part.misses)} told one by one</summary>", ""]
        lines += [f"- {_inert(miss)}" for miss in part.misses[:MOST_MISSES]]
        if (more := len(part.misses) - MOST_MISSES) > 0:
            lines.append(f"- and {more} more")
        lines += ["", "</details>"]
    return "\n".join([*lines, ""])


def _row(figure: Figure) -> str:
    word = "" if not figure.aim else "met" if figure.met else "**missed**"
    cells = (figure.what, figure.got, figure.of, figure.aim, word)
    return f"| {' | '.join(_inert(cell) if cell is not word else cell for cell in cells)} |"


def _inert(text: str) -> str:
    """Text of a model as it may stand in a line of Markdown."""
    plain = " ".join(text.split())
    for sign in "\\`*_|<>[]":
        plain = plain.replace(sign, f"\\{sign}" if sign != "<" else "&lt;")
    return plain


def failures(parts: Sequence[Part]) -> Iterator[str]:
    """The figures that miss their aim, in a line each."""
    for part in parts:
        for figure in part.figures:
            if not figure.met:
                yield f"{part.title}: {figure.what}: {figure.got} of {figure.of} ({figure.aim})"
