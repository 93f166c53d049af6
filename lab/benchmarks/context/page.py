"""`docs/context.md`: each measured part stands between two marks, and is written alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from recordings.part import Part
from recordings.report import cases_of, failures, section

PAGE: Final = Path(__file__).parents[3] / "docs" / "context.md"


@dataclass(frozen=True)
class Section:
    """A part of the page ("" where there was nothing to measure), and what missed its aim."""

    text: str
    missed: Sequence[str] = ()


def of_part(part: Part) -> Section:
    """A part that is counted in figures with aims."""
    text = section(part) + (f"\n{cases_of(part)}" if part.misses else "")
    return Section(text, list(failures([part])))


def put(page: str, name: str, text: str) -> str:
    """The page with a part written anew; a part that is new stands at its end."""
    begin = f"<!-- {name}: python -m benchmarks.context --parts {name} -->"
    end = f"<!-- end of {name} -->"
    written = f"{begin}\n\n{text.strip()}\n\n{end}"
    head, found, rest = page.partition(begin)
    if not found:
        return f"{page.rstrip()}\n\n{written}\n"
    _, ended, after = rest.partition(end)
    return f"{head}{written}{after if ended else chr(10)}"
