"""The site's navigation has every page, docs/README.md its order, and links lead somewhere.

That the site builds without a warning is for `make docs`, a part of `make check-all`.
"""

import re
from pathlib import Path

import pytest

from scripts.build_site import (
    MEASURED,
    NAVIGATION,
    PAGES,
    REPORTS,
    decisions,
    houses,
    lead,
    navigation,
    pages_of,
    reports,
    settings,
    without_entry,
)
from tests.test_layers import ROOT

DOCS = ROOT / "docs"


def test_the_navigation_has_every_page_once() -> None:
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")}
    texts = ["README" if page == "index" else page for page in pages_of(NAVIGATION)]
    assert sorted([*texts, *decisions()]) == sorted([*pages, *houses()])


def test_the_index_has_the_order_of_the_navigation() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    listed = re.findall(r"^\| \[[^]]+\]\(([^)]+)\.md\)", index, re.MULTILINE)
    address = {"index": "../README"} | {page: f"../{page}/README" for page in houses()}
    values = [address.get(page, page) for page in pages_of(NAVIGATION)]
    assert listed == [*values, "../lab/reports/README"]
    assert re.findall(r"^## (.*)", index, re.MULTILINE) == [*NAVIGATION]


def test_the_reports_follow_the_list_of_all_figures() -> None:
    pages = reports()
    assert pages[0] == "measured/README"
    assert {"measured/performance", "measured/durability"} < set(pages)
    explanation = next(part["Explanation"] for part in navigation() if "Explanation" in part)
    assert {"Measured": [f"{page}.md" for page in pages]} in explanation


def test_links_between_pages_and_reports_lead_on_from_the_site() -> None:
    there = lead("[a](../lab/reports/live.md#x)", PAGES / "tools.md", DOCS / "tools.md")
    assert there == "[a](measured/live.md#x)"
    back = lead("[a](../../docs/tools.md)", MEASURED / "live.md", REPORTS / "live.md")
    assert back == "[a](../tools.md)"


def test_every_public_namespace_is_in_the_reference() -> None:
    (reference,) = (part["Reference"] for part in navigation() if "Reference" in part)
    assert {"clew.testing": "api/clew.testing.md"} in reference[-1]["Python"]


def test_a_public_name_without_an_entry_is_named(tmp_path: Path) -> None:
    page = tmp_path / "clew.tools" / "index.html"
    page.parent.mkdir()
    page.write_text(
        '<h2 id="clew.tools.tool" class="doc">tool</h2><a href="#clew.tools.later">later</a>'
        '<h2 class="doc" id="clew.tools.external">external</h2>'
    )
    names = ["clew.tools", "clew.tools.external", "clew.tools.later", "clew.tools.tool"]
    assert without_entry(names, tmp_path) == ["clew.tools.later"]


def test_functions_named_like_their_modules_stand_in_the_reference() -> None:
    assert any("reference_names.py" in line for line in settings())


@pytest.mark.parametrize(
    ("source", "text", "there"),
    [
        ("README.md", "[a](docs/tools.md#x)", "[a](tools.md#x)"),
        ("README.md", "[docs/](docs/README.md)", "[docs/](index.md)"),
        ("docs/tools.md", "[a](../README.md), [b](mcp.md)", "[a](index.md), [b](mcp.md)"),
        ("docs/tools.md", "[a](../packages/clew-web/README.md)", "[a](packages/clew-web.md)"),
        ("packages/clew-web/README.md", "[a](../../docs/tools.md#x)", "[a](../tools.md#x)"),
        ("docs/tools.md", "[a](../examples/hello.py) [b](https://x.org)", "a [b](https://x.org)"),
        ("docs/tools.md", "[`a`](../src) `[b](../src)` [c](#d)", "`a` `[b](../src)` [c](#d)"),
        ("docs/tools.md", "```python skip=why\n[b](mcp.md)\n```", "```python\n[b](mcp.md)\n```"),
    ],
)  # fmt: skip
def test_links_lead_on_from_the_site(source: str, text: str, there: str) -> None:
    page = PAGES / ("index.md" if source == "README.md" else source.removeprefix("docs/"))
    if source.startswith("packages/"):
        page = PAGES / source.replace("/README", "")
    assert lead(text, page, ROOT / source) == there
