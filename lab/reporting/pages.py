"""A report from its head, which is written by hand and holds no figure, and its outcomes.

`{{name}}` alone on a line of the head stands for the section of that name.
"""

import re
from pathlib import Path
from typing import Final

from recordings.part import Part
from recordings.report import cases_of, section
from reporting.outcomes import REPORTS, Outcomes, Section, markdown, read

HEADS: Final = Path(__file__).parent / "heads"
LOCATION: Final = re.compile(r"^\{\{([\w-]+)\}\}$", re.MULTILINE)


def text(report: str) -> str:
    """The whole report, as its head and the outcomes on file make it."""
    return filled((HEADS / f"{report}.md").read_text("utf-8"), read(report))


def filled(head: str, sections: Outcomes) -> str:
    """A head with its sections; one that was not measured says so."""

    def told(match: re.Match[str]) -> str:
        value = sections.get(match[1])
        return f"`{match[1]}`: not measured." if value is None else in_full(value)

    return f"{LOCATION.sub(told, head).rstrip()}\n"


def in_full(measured: Section) -> str:
    """A section in Markdown: its parts or tables, with the command and the machine."""
    source = f"*`{measured.command}`; {measured.measured}.*"
    if measured.parts:
        return "\n\n".join(_part(part, source) for part in measured.parts)
    return f"{markdown(measured)}\n\n{source}"


def _part(part: Part, source: str) -> str:
    cases = f"\n\n{cases_of(part).strip()}" if part.misses else ""
    return f"{section(part).strip()}\n\n{source}{cases}"


def write(report: str, written: str | None = None) -> Path:
    """Write the report, from its head and its outcomes where its text is not given.

    The list of all figures is written again too.
    """
    from reporting import headlines  # noqa: PLC0415 - it imports the programs that write reports

    path = REPORTS / f"{report}.md"
    path.write_text(text(report) if written is None else written, "utf-8")
    (REPORTS / "README.md").write_text(headlines.text(), "utf-8")
    return path
