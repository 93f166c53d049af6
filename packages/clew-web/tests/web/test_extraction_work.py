"""Reading a page from the web takes work in proportion to its length."""

import io
from pathlib import Path

import pypdf
import pytest
from pypdf.generic import DecodedStreamObject, NameObject

from clew.toolbox.docs import Library, docs_tools
from tests.tools.test_docs import pdf
from tests.web.site import Site, SiteAnswer
from tests.web.test_page import near, read


def shelf(folder: Path, **files: bytes) -> Library:
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name.replace("_", ".")).write_bytes(data)
    return Library(folder, index=folder.parent / "index.sqlite")


async def test_a_deep_page_of_the_web_is_read_and_says_so() -> None:
    text = "<p>The kelp is cut in May by boat, and dried on the stones of the shore.</p>"
    with Site({"/a": SiteAnswer(("<body>" + "<div>" * 4_000 + text).encode())}) as site:
        seen = await read(near(site), f"{site.url}/a")
    assert "The kelp is cut in May" in seen.content["results"][0]["snippet"]
    assert seen.content["note"].startswith("nested 4,00")


def pages(*texts: str) -> bytes:
    """A PDF whose pages without text are drawn as a scan's are."""
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(*texts)))
    for page, text in zip(writer.pages, texts, strict=True):
        if text == "(scan)":
            drawing = DecodedStreamObject()
            drawing.set_data(b"q 612 0 0 792 0 0 cm 0 0 1 1 re f Q")
            page[NameObject("/Contents")] = drawing
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (("kelp", "(scan)"), "no text on 1 of 2 pages (2)"),
        (("(scan)", "kelp"), "no text on 1 of 2 pages (1)"),
        (("kelp", "(scan)", "(scan)", "(scan)"), "no text on 3 of 4 pages (2-4)"),
        (("(scan)", "kelp", "(scan)", "(scan)"), "no text on 3 of 4 pages (1, 3-4)"),
        (("(scan)", "(scan)", "kelp"), "no text on 2 of 3 pages (1-2)"),
        (("kelp", "(scan)", "kelp", "(scan)", "kelp"), "no text on 2 of 5 pages (2, 4)"),
        (("kelp", *["(scan)"] * 11), "no text on 11 of 12 pages (2-12)"),
        (("(scan)", "kelp", "(scan)"), "no text on 2 of 3 pages (1, 3)"),
        ((*["(scan)", "kelp"] * 3,), "no text on 3 of 6 pages (1, 3, 5)"),
        ((*["kelp"] * 5, "(scan)"), "no text on 1 of 6 pages (6)"),
        (("kelp", "kelp"), ""),
        (("kelp",), ""),
    ],
)
async def test_pages_of_a_half_scanned_pdf_are_named(
    tmp_path: Path, texts: tuple[str, ...], note: str
) -> None:
    results = shelf(tmp_path / "notes", a_pdf=pages(*texts))
    value = dict(results.load().notes).get("a.pdf", "")
    assert value.startswith(note)
    assert bool(value) == bool(note)
    search, _ = docs_tools(results)
    for query in ("kelp", "nothing"):
        seen = await search.call({"query": query}, "")
        assert note in seen.content.get("looked", "")
    with Site({"/a.pdf": SiteAnswer(pages(*texts), "application/pdf")}) as site:
        seen = await read(near(site), f"{site.url}/a.pdf")
    assert seen.content.get("note", "").startswith(note)
