"""Figures in the text format of Prometheus."""

from collections.abc import Iterable, Iterator
from typing import Final

from clew.operations.figures import Figure, Labels

CONTENT_TYPE: Final = "text/plain; version=0.0.4"

_UNITS: Final = {"s": "_seconds", "{USD}": "_usd"}


def exposition(figures: Iterable[Figure]) -> str:
    """The body of `/metrics`. Names have underscores for dots, units in words and `_total`."""
    return "".join(f"{line}\n" for figure in figures for line in _lines(figure))


def _lines(figure: Figure) -> Iterator[str]:
    name = figure.name.replace(".", "_") + _UNITS.get(figure.unit, "")
    name += "_total" if figure.kind == "counter" else ""
    yield f"# HELP {name} {figure.about}"
    yield f"# TYPE {name} {figure.kind}"
    for labels, value in sorted(figure.values.items()):
        yield f"{name}{_written(labels)} {value:.15g}"


def _written(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
