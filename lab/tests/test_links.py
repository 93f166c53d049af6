"""Every link of a page leads to a file that is there, and its mark to a heading of that file.

`make docs` checks the pages of the site again. This also reads what is no page of it, such as
SECURITY.md, the changelog and the pages of the lab.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from scripts.build_site import LINK
from tests.test_layers import ROOT

TEXTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "packages/*/*.md", "lab/**/*.md")
    for path in ROOT.glob(pattern)
    if not {"outcomes", "tests", "heads", "CHANGELOG.md"} & {*path.parts}
)


@cache
def headings(path: Path) -> frozenset[str]:
    """The marks of a page's headings, as GitHub and the site make them."""
    block = re.compile(r"^ *(```+|~~~+).*?^ *\1", re.MULTILINE | re.DOTALL)
    text = block.sub("", path.read_text("utf-8"))
    return frozenset(map(mark, re.findall(r"^#+ (.+)$", text, re.MULTILINE)))


def mark(heading: str) -> str:
    """The mark of a heading: its words in lower case, with hyphens."""
    words = re.sub(r"\[([^]]+)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")


def broken(path: Path) -> Iterator[str]:
    """The links of a page that lead nowhere."""
    text = re.sub(r"\]\(#", f"]({path.name}#", path.read_text("utf-8"))
    for link in LINK.finditer(text):
        if not (address := link["address"]):
            continue
        target = path.parent / address
        if not target.exists():
            yield address
        elif link["mark"] and link["mark"][1:] not in headings(target.resolve()):
            yield address + link["mark"]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(path: Path) -> None:
    assert list(broken(path)) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A `b`: c, d\n```sh\n# no heading\n```\n")
    page = tmp_path / "b.md"
    page.write_text("# B\n[a](a.md#a-b-c-d) [b](#b) [c](c.md) [d](a.md#no-heading) `[e](e.md)`\n")
    assert list(broken(page)) == ["c.md", "a.md#no-heading"]
