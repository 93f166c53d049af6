"""Every report is what its program writes from the outcomes on file, and no figure is typed."""

import re
from pathlib import Path

import pytest

from reporting.charts import CHARTS
from reporting.outcomes import IMAGES, OUTCOMES, REPORTS
from reporting.pages import HEADS, LOCATION
from reporting.registry import WRITTEN

NO_PROSE = re.compile(r"^```.*?^```|`[^`\n]+`|\]\([^)]*\)|<[^>]*>", re.MULTILINE | re.DOTALL)
"""Code, addresses of links, and marks."""


@pytest.mark.parametrize("name", WRITTEN)
def test_a_report_is_what_its_program_writes(name: str) -> None:
    kept = (REPORTS / f"{name}.md").read_text("utf-8")
    assert kept == WRITTEN[name](), f"python -m reporting {name} writes it"


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_what_its_program_draws(name: str) -> None:
    assert (IMAGES / f"{name}.svg").read_text("utf-8") == CHARTS[name]()


def test_every_chart_is_shown() -> None:
    texts = "\n".join(path.read_text("utf-8") for path in REPORTS.glob("*.md"))
    matches = re.findall(r"!\[[^\]]+\]\(images/([^)]+)\)", texts)
    assert sorted(matches) == sorted(path.name for path in IMAGES.iterdir())


def test_no_report_is_written_by_hand() -> None:
    assert {path.stem for path in REPORTS.glob("*.md")} == {*WRITTEN}


@pytest.mark.parametrize("head", sorted(HEADS.glob("*.md")), ids=lambda path: path.stem)
def test_a_head_holds_no_figure(head: Path) -> None:
    """Digits stand in code and addresses only."""
    text = NO_PROSE.sub("", head.read_text("utf-8"))
    assert re.findall(r".{0,30}\d.{0,30}", LOCATION.sub("", text)) == []


def test_all_outcomes_are_shown() -> None:
    assert {path.stem for path in OUTCOMES.glob("*.json")} <= {*WRITTEN}
