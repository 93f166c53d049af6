"""What a part of `lab/reports/context.md` measured: text with tables, or figures with aims."""

from collections.abc import Sequence
from dataclasses import dataclass

from recordings.part import Part
from recordings.report import failures
from reporting.outcomes import Section, of_markdown, of_parts


@dataclass(frozen=True)
class PageFigures:
    """What was measured ("" where there was nothing to measure), and what missed its aim."""

    text: str = ""
    missed: Sequence[str] = ()
    part: Part | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing was measured."""
        return not self.text and self.part is None

    def section(self, command: str) -> Section:
        """What is kept of it."""
        if self.part is not None:
            return of_parts(command, [self.part])
        return of_markdown(command, self.text)


def of_part(part: Part) -> PageFigures:
    """A part that is counted in figures with aims."""
    return PageFigures(missed=list(failures([part])), part=part)
