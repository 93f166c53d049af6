"""How reports are made: outcomes as data, heads with places, charts that can be read."""

import subprocess
import xml.etree.ElementTree as ET  # of our own charts
from pathlib import Path

import pytest

from recordings.part import Part, count
from reporting.charts import CHARTS
from reporting.commands import COMMANDS, measured
from reporting.headlines import headlines
from reporting.outcomes import IMAGES, Table, cell, markdown, number, of_markdown, of_parts, share
from reporting.pages import HEADS, filled, in_full
from reporting.registry import WRITTEN
from reporting.svg import Bars, Lines, Value

TEXT = """\
Before.

| what | of it |
|---|---|
| a \\| b | **1,234** (5.6%) |
| c |  |

After,
on two lines.
"""


def test_what_a_program_prints_is_kept_as_data_and_shown_as_it_was() -> None:
    section = of_markdown("python -m it", TEXT, "today")
    assert [type(block) for block in section.blocks] == [str, Table, str]
    assert markdown(section) == TEXT.strip()
    (table,) = section.tables
    assert cell(table, "a", "of it") == "1,234** (5.6%)"
    assert (number("1,234 of"), share("1 (50%)"), share("45 (0.474; x)", exact=True)) == (
        1234, 0.5, 0.474,
    )  # fmt: skip
    with pytest.raises(ValueError, match="no number in 'none'"):
        number("none")


def test_a_head_is_filled_with_what_was_measured() -> None:
    part = Part("Title", "What was done.", [count("odd", 1, 2, exactly=0)], ["a case"])
    sections = {
        "one": of_markdown("make one", TEXT, "then, there"),
        "two": of_parts("make two", [part], "then, there"),
    }
    text = filled("# A\n\n{{one}}\n\n{{two}}\n\n{{three}}\n", sections)
    assert "*`make one`; then, there.*" in text
    assert "## Title\n\nWhat was done.\n" in text
    assert "| odd | 1 | 2 | 0 | **missed** |" in text
    assert "- a case" in text
    assert text.endswith("`three`: not measured.\n")
    assert in_full(sections["one"]).startswith("Before.")


@pytest.mark.slow
def test_a_command_is_run_and_what_it_prints_is_kept() -> None:
    section = measured("python -m benchmarks.offline --half seen")
    assert section.command == "python -m benchmarks.offline --half seen"
    assert str(section.blocks[0]).startswith("```text\n114 questions")
    with pytest.raises(subprocess.CalledProcessError):
        measured("python -m benchmarks.offline --half neither")


def test_every_command_belongs_to_a_place_of_a_head() -> None:
    for report, sections in COMMANDS.items():
        head = (HEADS / f"{report}.md").read_text("utf-8")
        assert [name for name in sections if f"{{{{{name}}}}}" not in head] == []


def test_every_headline_figure_leads_to_its_report() -> None:
    listed = headlines()
    assert {each.report for each in listed} <= {*WRITTEN}
    assert len({each.what for each in listed}) > len(listed) * 0.8
    assert all(each.value and each.command for each in listed)


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_has_axes_with_units_on_a_light_and_on_a_dark_page(name: str) -> None:
    picture = (IMAGES / f"{name}.svg").read_text("utf-8")
    assert "prefers-color-scheme:dark" in picture
    root = ET.fromstring(picture)
    texts = [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert root.get("aria-label") == texts[0] != ""
    words = " ".join(texts)
    assert any(unit in words for unit in ("share", "tokens", "lines", "times", "%", "steps"))
    wide = float((root.get("viewBox") or "").split()[2])
    at = [float(each.get("x") or 0) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert max(at) < wide


def test_a_bar_shows_its_interval_and_the_aim() -> None:
    bars = Bars("T", "times", ("a", "b"), {"x": [Value(1.5, 1, 2), None]}, aim=1.8)
    picture = bars.svg()
    assert picture.count('class="w"') == picture.count('class="n"') == 1
    assert ">1.50</text>" in picture


def test_a_line_rises_with_its_figures(tmp_path: Path) -> None:
    picture = Lines("T", "steps", "tokens", {"all": [(10, 100), (100, 10_000)]}).svg()
    (path,) = [
        each.get("points") or ""
        for each in ET.fromstring(picture).iter()
        if "points" in each.attrib
    ]
    (_, low), (_, high) = (map(float, point.split(",")) for point in path.split())
    assert low > high  # of a picture's top
