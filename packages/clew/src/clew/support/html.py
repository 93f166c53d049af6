"""A table for a notebook: text in it is no markup, whoever wrote it, and what it hides shows."""

from collections.abc import Iterable
from typing import Final

from clew.support.printable import inert
from clew.support.short_text import cut

_MARKUP: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
)
_CHARS: Final = 2_000
"""So much of a text stands in a cell."""


def html_table(rows: Iterable[tuple[object, object]]) -> str:
    """A table of headings and values."""
    cells = (f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in rows)
    return f"<table>{''.join(cells)}</table>"


def _text(value: object) -> str:
    return inert(cut(str(value), _CHARS)).translate(_MARKUP)
