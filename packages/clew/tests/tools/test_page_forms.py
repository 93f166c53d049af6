"""Forms that pages of documents have: HTML that leaves tags out, PDF pages that show no text."""

from pathlib import Path

import pytest

from clew.toolbox.docs import Library

PAGES = {
    "a head that is never closed": ("<head><title>T</title><p>kelp grows", "kelp grows"),
    "a paragraph that a block ends": ("<p>kelp<div>grows</div>", "kelp\n\ngrows"),
    "items that are never closed": ("<ul><li>kelp<li>grows</ul>", "kelp\ngrows"),
    "cells that are never closed": ("<table><tr><td>kelp<td>grows</table>", "kelp grows"),
    "an element that closes itself": ("kelp<section/>grows", "kelp\n\ngrows"),
    "an end without a begin": ("kelp</b> grows", "kelp grows"),
    "character data": ("<![CDATA[kelp < grows]]> tall", "kelp < grows tall"),
    "character data without end": ("<![CDATA[kelp grows", "kelp grows"),
    "an instruction": ("kelp<?php echo 1 ?> grows", "kelp grows"),
    "a comment without end": ("kelp grows<!-- tall", "kelp grows"),
    "a title without end": ("<title>kelp grows", "kelp grows"),
}


def shelf(folder: Path, name: str, data: bytes) -> Library:
    folder.mkdir()
    (folder / name).write_bytes(data)
    return Library(folder, index=folder.parent / "index.sqlite")


@pytest.mark.parametrize("form", PAGES)
def test_html_is_read_as_browsers_show_it(tmp_path: Path, form: str) -> None:
    page, shown = PAGES[form]
    found = shelf(tmp_path / "notes", "a.html", page.encode())
    (piece,) = found.search("kelp")
    assert piece.text.strip() == shown


def pdf(*pages: str) -> bytes:
    """A PDF file whose pages have these contents."""
    kids = " ".join(f"{3 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
    ]
    for number, content in enumerate(pages):
        font = "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Resources{font}"
            f"/Contents {4 + 2 * number} 0 R>>"
        )
        objects.append(f"<</Length {len(content)}>>stream\n{content}\nendstream")
    data, places = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj{body}endobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer<</Size {size}/Root 1 0 R>>\n"
    return data + f"{end}startxref\n{len(data)}\n%%EOF".encode()


TEXT = "BT /F 12 Tf 9 9 Td (kelp grows) Tj ET"


@pytest.mark.parametrize(
    ("pages", "note"),
    [
        ((TEXT, ""), ""),
        ((TEXT, "0 0 9 9 re f"), "no text on 1 of 2 pages (2): if they are scans"),
        ((TEXT, "0 0 9 9 re f", "0 0 9 9 re f"), "no text on 2 of 3 pages (2-3)"),
    ],
    ids=["blank", "a drawing", "two drawings"],
)
def test_pages_without_text_are_named(tmp_path: Path, pages: tuple[str, ...], note: str) -> None:
    pytest.importorskip("pypdf")
    found = shelf(tmp_path / "notes", "a.pdf", pdf(*pages))
    notes = dict(found.load().notes)
    assert note in notes.get("a.pdf", "")
    assert bool(notes) == bool(note)
    (piece,) = found.search("kelp")
    assert "kelp grows" in piece.text
