import importlib.util
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pypdf
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.core.contents import Observation
from clew.core.tools import Tool
from clew.support.errors import ConfigError, ToolError
from clew.toolbox.docs import IndexReport, Library, docs_tools
from clew.toolbox.docs.passages import MAX_PASSAGE_CHARS, split
from tests.patience import PATIENCE

LIGHTHOUSE = """# Skerry Light

The lighthouse on Skerry rock was built in 1862 by the engineer Ada Thorne.

## Keepers

The first keeper was Magnus Hale. He stayed for thirty-one years and kept bees.

```
# not a heading
```

The tower
---------

It is 38 metres tall. A naïve visitor counts 214 steps.
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "notes"
    place.mkdir()
    (place / "skerry.md").write_text(LIGHTHOUSE)
    return place


def library(folder: Path, **settings: Any) -> Library:
    return Library(folder, index=folder.parent / "index.sqlite", **settings)


def pdf(*pages: str) -> bytes:
    """A PDF as small as they come: one line of Helvetica to a page."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(count))
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, page in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({page}) Tj ET"
        bodies += [
            (
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents {5 + 2 * number} 0 R"
                f" /Resources << /Font << /F1 3 0 R >> >> >>"
            ),
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(out)
    out += f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{table}".encode()
    return out + (
        f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    )


# ---------------------------------------------------------------- the tools


async def test_docs_gives_passages_with_what_it_takes_to_cite_them(folder: Path) -> None:
    docs, docs_read = docs_tools(library(folder))
    assert [docs.name, docs_read.name] == ["docs", "docs_read"]
    assert (docs.effect, docs.trust) == (docs_read.effect, docs_read.trust) == ("read", "untrusted")
    seen = await docs.call({"query": "When was the lighthouse built?"}, "run:1.1")
    assert isinstance(seen, Observation)
    first = seen.content["results"][0]
    assert first["doc_id"] == "doc_1"
    assert (first["title"], first["path"], first["url"]) == (
        "Skerry Light",
        "skerry.md",
        "file:skerry.md",
    )
    assert first["score"] == 1.0
    assert "built in 1862" in first["snippet"]
    assert LIGHTHOUSE[first["offset"] :].startswith(first["snippet"])
    assert (seen.effect, seen.trust, seen.ok) == ("read", "untrusted", True)
    for result, piece in zip(seen.content["results"], seen.evidence, strict=True):
        assert (piece.doc_id, piece.text, piece.score, piece.source, piece.offset) == (
            result["doc_id"],
            result["snippet"],
            result["score"],
            result["path"],
            result["offset"],
        )


async def test_docs_read_goes_through_a_document(tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    folder.mkdir()
    text = "\n\n".join(f"Paragraph {n}. " + "word " * 120 for n in range(8))
    (folder / "long text.txt").write_text(text)
    (folder / "other.txt").write_text("Nothing here.")
    docs, docs_read = docs_tools(folder, index=tmp_path / "index.sqlite")
    found = await docs.call({"query": "paragraph", "limit": 1}, "")
    (result,) = found.content["results"]
    assert (result["title"], result["url"]) == ("long text", "file:long%20text.txt")

    seen = await docs_read.call({"doc_id": "doc_1"}, "")
    pieces = list(seen.content["results"])
    while seen.content["after"]:
        seen = await docs_read.call({"doc_id": seen.content["after"]}, "")
        pieces += seen.content["results"]
    assert seen.content["before"] == pieces[-len(seen.content["results"]) - 1]["doc_id"]
    assert len(pieces) == 8
    for piece in pieces:
        assert text[piece["offset"] :].startswith(piece["snippet"])
    assert "".join("".join(piece["snippet"].split()) for piece in pieces) == "".join(text.split())
    first = await docs_read.call({"doc_id": "doc_1"}, "")
    assert first.content["before"] is None
    assert first.evidence[0].score == 1.0


@pytest.mark.parametrize("doc_id", ["doc_99", "doc_0", "[doc_1]", "skerry.md", "doc_" + "9" * 30])
async def test_a_passage_that_is_not_there_is_told(folder: Path, doc_id: str) -> None:
    _, docs_read = docs_tools(library(folder))
    with pytest.raises(ToolError, match="no passage"):
        await docs_read.call({"doc_id": doc_id}, "")


async def test_finding_nothing_is_an_answer(folder: Path) -> None:
    docs, _ = docs_tools(library(folder))
    seen = await docs.call({"query": "zeppelin"}, "")
    assert seen.content["results"] == []
    assert "other words" in seen.content["note"]
    assert "Not searched" not in seen.content["note"]
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\x00\x01")
    docs, _ = docs_tools(library(folder))
    seen = await docs.call({"query": "zeppelin"}, "")
    assert "Not searched: 1 (such as photo.jpg: not text, HTML or PDF)" in seen.content["note"]


@pytest.mark.parametrize(
    ("query", "lesson"), [("?!", "holds no word"), ("word " * 300, "1,500 char")]
)
async def test_a_query_that_cannot_be_searched_is_refused(
    folder: Path, query: str, lesson: str
) -> None:
    docs, _ = docs_tools(library(folder))
    with pytest.raises(ToolError, match=lesson):
        await docs.call({"query": query}, "")


async def test_the_event_loop_stays_free_while_it_indexes(folder: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def on_progress(done: int, total: int, path: str) -> None:
        begun.set()
        assert go_on.wait(PATIENCE)

    docs, _ = docs_tools(folder, index=folder.parent / "index.sqlite", on_progress=on_progress)
    found: list[Any] = []

    async def ask() -> None:
        found.append(await docs.call({"query": "keeper"}, ""))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.to_thread.run_sync(begun.wait)
        assert not found  # the loop runs here while the call waits there
        go_on.set()
    assert "Magnus Hale" in found[0].content["results"][0]["snippet"]


async def test_a_cancelled_call_stops_indexing_and_the_next_goes_on(folder: Path) -> None:
    for number in range(20):
        (folder / f"{number:02}.txt").write_text(f"Note {number}.")
    begun, go_on = threading.Event(), threading.Event()
    told: list[int] = []

    def on_progress(done: int, total: int, path: str) -> None:
        told.append(done)
        if done == 5 and not begun.is_set():
            begun.set()
            assert go_on.wait(PATIENCE)

    async def ask(docs: Tool) -> None:
        await docs.call({"query": "keeper"}, "")

    docs, _ = docs_tools(library(folder, on_progress=on_progress))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, docs)
        await anyio.to_thread.run_sync(begun.wait)
        tasks.cancel_scope.cancel()
    go_on.set()
    seen = await docs.call({"query": "keeper"}, "")
    assert "Magnus Hale" in seen.content["results"][0]["snippet"]
    assert told == [*range(6), *range(22)]


# ---------------------------------------------------------------- searching


def snippets(shelf: Library, query: str) -> list[str]:
    return [found.text for found in shelf.search(query)]


def test_half_of_the_query_found_scores_a_half(folder: Path) -> None:
    shelf = library(folder)
    whole, half = shelf.search("bees"), shelf.search("bees honeycomb")
    assert whole[0].score == 1.0
    assert (
        0.2 < half[0].score < 0.5
    )  # a word that is nowhere weighs more than one that is somewhere
    assert whole[0].doc_id == half[0].doc_id


def test_what_holds_more_of_the_query_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "1.txt").write_text("harbour harbour harbour harbour")
    (folder / "2.txt").write_text(f"The harbour master {'lives among many other words ' * 10}")
    (folder / "3.txt").write_text("the harbour")
    found = library(folder).search("harbour master", limit=2)
    assert [piece.path for piece in found] == ["2.txt", "1.txt"]
    assert found[0].score == 1.0 > found[1].score > 0


def test_stems_accents_and_titles_are_found(folder: Path) -> None:
    shelf = library(folder)
    assert "bees" in snippets(shelf, "keeping a BEE")[0]
    assert "38 metres" in snippets(shelf, "naive visitors")[0]
    assert "38 metres" in snippets(shelf, "tower")[0]
    assert shelf.search("tower")[0].title == "Skerry Light › The tower"
    assert [found.title for found in shelf.search("not heading")] == ["Skerry Light › Keepers"]


def test_common_words_count_only_alone(folder: Path) -> None:
    shelf = library(folder)
    assert shelf.search("what was the zeppelin") == []
    assert shelf.search("was the")


@pytest.mark.parametrize(
    "query", ["灯台", "灯", "築", "年", "の灯台は1862", "1862年に", "iphone", "手机", "등대", "고"]
)
def test_unspaced_scripts_are_found(tmp_path: Path, query: str) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("岩の灯台は1862年に建築。iPhone手机。오래된 등대는 높다고")
    (folder / "b.txt").write_text("Nothing of the kind.")
    assert [found.path for found in library(folder).search(query)] == ["a.txt"]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Library:
    folder = tmp_path_factory.mktemp("notes")
    (folder / "skerry.md").write_text(LIGHTHOUSE)
    return Library(folder, index=tmp_path_factory.mktemp("index") / "index.sqlite")


@given(st.text(max_size=60) | st.text('"*^:+-(){} NEARORANDNOTabtitle', max_size=40))
@example('"')
@example("?!")
@example("title : lighthouse NOT (rock)")
@example("ª º ² 𝟘 \x00 \ud800")
@example(" ".join(f"w{n}" for n in range(300)))
def test_any_query_is_data(shelf: Library, query: str) -> None:
    for found in shelf.search(query):
        assert 0 <= found.score <= 1
        assert LIGHTHOUSE[found.offset :].startswith(found.text)


# ---------------------------------------------------------------- passages


@given(
    st.lists(
        st.sampled_from(["word ", "Sentence. ", "。", "\n", "\n\n", "x" * 700, "# Title\n", " "])
        | st.text(max_size=30),
        max_size=60,
    )
)
def test_passages_hold_all_text_where_it_stands(pieces: list[str]) -> None:
    lines = [
        (line, int(line.startswith("# "))) for line in "".join(pieces).splitlines(keepends=True)
    ]
    text = "".join(line for line, _ in lines)
    end, kept = 0, ""
    for passage in split(lines, "title"):
        assert passage.offset >= end
        end = passage.offset + len(passage.text)
        assert text[passage.offset : end] == passage.text == passage.text.strip()
        assert 0 < len(passage.text) <= MAX_PASSAGE_CHARS
        kept += passage.text
    assert "".join(kept.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("a" * 300 + "\n\n" + "b" * 900, "a" * 300),
        ("a" * 600 + ". " + "b" * 900, "a" * 600 + "."),
        ("a" * 600 + "\n" + "b" * 900, "a" * 600),
        ("a" * 600 + " " + "b" * 900, "a" * 600),
        ("字" * 600 + "。" + "字" * 900, "字" * 600 + "。"),
        ("a" * 2000, "a" * 1000),
        ("a" * 600 + "\n\n" + "b" * 100, "a" * 600),
    ],
)
def test_a_passage_ends_where_the_text_does(text: str, first: str) -> None:
    lines = [(line, 0) for line in text.splitlines(keepends=True)]
    assert next(split(lines, "title")).text == first


# ---------------------------------------------------------------- formats


def test_headings_of_markdown_are_titles(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text(
        "Kelp\n====\nA weed.\n\n## Uses ##\n~~~~\n## code\n~~~\n~~~~\nSoup"
    )
    (folder / "b.markdown").write_text("---\nA rope.\n## Knots\n")
    shelf = library(folder)
    assert [(found.title, found.text) for found in shelf.search("weed")] == [
        ("Kelp", "Kelp\n====\nA weed.")
    ]
    assert shelf.search("soup code")[0].title == "Kelp › Uses"
    assert [found.title for found in shelf.search("rope")] == ["b"]
    assert [(found.title, found.text) for found in shelf.search("knots")] == [
        ("b › Knots", "## Knots")
    ]


def test_html_is_read_as_a_person_sees_it(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "page.html").write_text(
        "<?xml version='1.0'?><!DOCTYPE html><html><head><title> Kelp \n soup</title>"
        "<style>p {color: red}</style></head><body><!-- secret --><script>var hidden = 1</script>"
        "<nav><a href='/'>Kelp menu</a></nav><div role='navigation'>Kelp trail</div>"
        "<p>Boil the\n<b>ke</b>lp for 12 minutes.<br>Then rest.</p><h2>Salt <i>rule</i></h2>"
        "<h3><div>Inner</div></h3><ul><li>one</li><li>two</li></ul>"
        "<table><tr><th>A</th><td>B</td></tr></table><pre>x\n  y</pre>&#xD800;</body></html>"
    )
    (folder / "bare.htm").write_text("no markup at all, kelp.\nBut lines.")
    (folder / "untitled.html").write_text("<p>kelp farm</p>")
    (folder / "old.html").write_bytes(
        b"<html><head><meta charset='shift_jis'></head><body><p>"
        + "昆布".encode("shift_jis")
        + b"</p></body></html>"
    )
    shelf = library(folder)
    report = shelf.load()
    assert report.notes == (("old.html", "not UTF-8: read as shift_jis"),)
    assert (report.files, report.skipped) == (4, ())
    first = shelf.search("kelp minutes")[0]
    assert (first.title, first.text) == ("Kelp soup", "Boil the kelp for 12 minutes.\nThen rest.")
    second = shelf.search("salt rule")[0]
    assert second.title == "Kelp soup › Salt rule"
    assert second.text.splitlines()[0] == "Salt rule"
    assert "one\ntwo" in second.text
    assert "A B" in second.text
    assert "x\n y" in second.text
    assert shelf.search("menu") == shelf.search("trail") == []
    assert shelf.search("secret") == shelf.search("hidden") == shelf.search("red") == []
    assert [found.title for found in shelf.search("farm")] == ["untitled"]
    assert [found.text for found in shelf.search("markup")] == [
        "no markup at all, kelp.\nBut lines."
    ]
    assert [found.text for found in shelf.search("昆布")] == ["昆布"]


def test_pdf_pages_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "report.pdf").write_bytes(pdf("The tide was low.", "The catch was 412 kilograms."))
    (found,) = library(folder).search("catch kilograms")
    assert (found.title, found.text) == (
        "report › page 2",
        "page 2\nThe catch was 412 kilograms.",
    )


@pytest.mark.parametrize(
    ("content", "note"),
    [
        ("Café".encode(), None),
        ("Café".encode("utf-8-sig"), None),
        ("Café".encode("utf-16"), None),
        ("Café".encode("utf-32"), None),
        ("Café – 5 €".encode("cp1252"), "not UTF-8: read as cp1252"),
        ("Café \x81".encode("latin-1"), "encoding not certain: read as cp1252"),
        (b"Cafe \xc3", "encoding not certain: read as cp1252"),
    ],
)
def test_text_is_decoded_and_what_was_guessed_is_told(
    tmp_path: Path, content: bytes, note: str | None
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "menu.txt").write_bytes(content)
    shelf = library(folder)
    report = shelf.load()
    assert report.notes == (() if note is None else (("menu.txt", note),))
    assert shelf.search("cafe")[0].text.startswith("Caf")


def test_what_cannot_be_read_is_skipped_with_a_reason(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    for inner in (".git", "node_modules", "sub"):
        (folder / inner).mkdir(parents=True)
        (folder / inner / "kelp.txt").write_text("kelp")
    (folder / ".hidden.txt").write_text("kelp")
    (folder / "empty.txt").write_text("")
    (folder / "image.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    (folder / "noise.bin").write_bytes(bytes(range(1, 32)) * 9)
    (folder / "half.txt").write_bytes("kelp".encode("utf-16") + b"x")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing else")
    (folder / "scan.pdf").write_bytes(pdf(""))
    (folder / "locked.pdf").write_bytes(pdf("kelp"))
    writer = pypdf.PdfWriter(clone_from=folder / "locked.pdf")
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(folder / "locked.pdf")
    with (folder / "huge.pdf").open("wb") as file:
        file.truncate(50_000_001)
    (folder / "round").symlink_to(folder, target_is_directory=True)
    os.mkfifo(folder / "pipe")
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("kelp")
    report = library(folder).load()
    skipped = dict(report.skipped)
    assert skipped.pop("broken.pdf").startswith("broken: ")
    assert skipped == {
        "image.png": "not text, HTML or PDF",
        "noise.bin": "not text, HTML or PDF",
        "half.txt": "not valid UTF-16, though it begins like it",
        "scan.pdf": "no text in it: if it is a scan, run it through text recognition",
        "locked.pdf": "encrypted: save it without a password",
        "huge.pdf": "50,000,001 bytes, at most 50,000,000 are read: split it",
        "round": "a symbolic link, not followed",
        "pipe": "not a regular file",
        "caf\\xe9.txt": "its name is not UTF-8: rename it",
    }
    assert (report.files, report.passages, report.complete, report.note) == (2, 1, True, "")
    assert library(folder).load() == report


def test_a_folder_too_deep_to_list_is_told(folder: Path) -> None:
    name = "deep" * 60
    place = os.open(folder, os.O_RDONLY)
    for _ in range(18):  # longer than any path may be
        os.mkdir(name, dir_fd=place)
        inner = os.open(name, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    os.close(place)
    report = library(folder).load()
    ((path, reason),) = report.skipped
    assert path.endswith(f"{name}/")
    assert reason == "cannot be listed: File name too long"
    assert report.files == 1


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf("kelp"))
    (folder / "b.html").write_text("<p>kelp</p>")
    with monkeypatch.context() as without:
        assert importlib.util.find_spec("pypdf")
        without.setitem(sys.modules, "pypdf", None)  # as if it were not installed
        report = library(folder).load()
        reason = "install clew[documents] to read it"
        assert report.skipped == (("a.pdf", reason),)
    assert library(folder).load().skipped == ()
    assert len(library(folder).search("kelp")) == 2


@pytest.mark.slow
def test_a_large_text_is_indexed_in_little_memory(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    with (folder / "log.txt").open("w") as file:
        for number in range(80_000):
            file.write(f"Line {number} of a log that does not end, with some words in it.\n")
        file.write("needle " + "x" * 3_000_000)
    shelf = library(folder)
    tracemalloc.start()
    shelf.load()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (folder / "log.txt").stat().st_size > 7_000_000
    assert peak < 5_000_000
    assert shelf.search("needle")[0].text.startswith("needle")


# ---------------------------------------------------------------- the index


def ids(shelf: Library, query: str = "skerry kelp tide") -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for piece in shelf.search(query, limit=20):
        found.setdefault(piece.path, []).append(piece.doc_id)
    return {path: sorted(numbers) for path, numbers in found.items()}


def age(path: Path, seconds: int = 100) -> None:
    """Set a file's time back, so that it counts as long unchanged."""
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_only_what_changed_is_read_again(folder: Path) -> None:
    (folder / "kelp.txt").write_text("kelp")
    (folder / "tide.txt").write_text("tide")
    for path in folder.iterdir():
        age(path)
    before = ids(library(folder))
    assert set(before) == {"skerry.md", "kelp.txt", "tide.txt"}
    assert ids(library(folder)) == before

    os.utime(folder / "skerry.md")  # touched, the same inside
    (folder / "kelp.txt").write_text("kelp and rope")
    (folder / "tide.txt").unlink()
    after = ids(library(folder))
    assert set(after) == {"skerry.md", "kelp.txt"}
    assert after["skerry.md"] == before["skerry.md"]
    assert not set(after["kelp.txt"]) & {number for these in before.values() for number in these}
    assert library(folder).search("rope")
    assert library(folder).load().files == 2


def test_a_change_within_one_tick_of_the_clock_is_seen(folder: Path) -> None:
    note = folder / "note.txt"
    note.write_text("kelp")
    stamp = note.stat().st_mtime_ns
    assert library(folder).search("kelp")
    note.write_text("rope")
    os.utime(note, ns=(stamp, stamp))
    assert library(folder).search("rope")
    assert not library(folder).search("kelp")


def test_a_file_that_vanishes_meanwhile_is_told(folder: Path) -> None:
    (folder / "kelp.txt").write_text("kelp")
    (folder / "sub").mkdir()

    def on_progress(done: int, total: int, path: str) -> None:
        (folder / "kelp.txt").unlink(missing_ok=True)

    report = library(folder, on_progress=on_progress).load()
    assert report.skipped == (("kelp.txt", "cannot be read: No such file or directory"),)
    assert report.files == 1


def test_progress_is_told(folder: Path) -> None:
    (folder / "kelp.txt").write_text("kelp")
    told: list[tuple[int, int, str]] = []
    library(folder, on_progress=lambda *step: told.append(step)).load()
    assert told == [(0, 2, "kelp.txt"), (1, 2, "skerry.md"), (2, 2, "")]


def test_it_stops_when_told_and_goes_on_later(folder: Path) -> None:
    for number in range(5):
        (folder / f"{number}.txt").write_text("kelp")
    stop = threading.Event()

    def on_progress(done: int, total: int, path: str) -> None:
        if done == 2:
            stop.set()

    report = library(folder, on_progress=on_progress).load(stop)
    assert (report.files, report.complete) == (3, False)
    report = library(folder).load()
    assert (report.files, report.complete) == (6, True)


LOAD = """
import os, signal, sys
from clew.toolbox.docs import Library
def on_progress(done, total, path):
    if done == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
print(Library(sys.argv[1], index=sys.argv[2], on_progress=on_progress).load())
"""


def start(folder: Path, kill_at: int = -1) -> subprocess.Popen[str]:
    index = folder.parent / "index.sqlite"
    return subprocess.Popen(
        [sys.executable, "-c", LOAD, str(folder), str(index), str(kill_at)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_a_killed_process_loses_one_file_at_most(folder: Path) -> None:
    for number in range(30):
        (folder / f"{number:02}.txt").write_text(f"kelp {number}")
    process = start(folder, kill_at=20)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(folder.parent / "index.sqlite")) as connection, connection:
        assert connection.execute("SELECT count(*) FROM files").fetchone() == (20,)
    connection.close()
    assert library(folder).load().files == 31
    assert library(folder).search("kelp 29")[0].path == "29.txt"


@pytest.mark.slow
def test_two_processes_may_index_at_once(folder: Path) -> None:
    for number in range(40):
        (folder / f"{number:02}.txt").write_text(f"kelp {number}\n\n" + "word " * 1000)
    processes = [start(folder) for _ in range(2)]
    for process in processes:
        output, errors = process.communicate()
        assert process.returncode == 0, errors
        assert "files=41" in output
        assert "note=''" in output
    shelf = library(folder)
    assert shelf.load().passages == 40 * 6 + 3
    assert [found.path for found in shelf.search("kelp 39", limit=1)] == ["39.txt"]


class Stop(threading.Event):
    """Tells when it was waited for: between two tries to write."""

    def __init__(self) -> None:
        super().__init__()
        self.tried = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        self.tried.set()
        return super().wait(timeout)


class Waiting:
    """A library that loads in a thread and waits there, since another process is writing."""

    def __init__(self, folder: Path) -> None:
        self.stop = Stop()
        self.shelf = library(folder)
        self.shelf.load()
        (folder / "zoology.txt").write_text("kelp")
        age(folder / "zoology.txt")
        self.other = sqlite3.connect(folder.parent / "index.sqlite", isolation_level=None)
        self.other.execute("BEGIN IMMEDIATE")
        self.failure: ConfigError | None = None
        self.thread = threading.Thread(target=self.load)
        self.thread.start()
        assert self.stop.tried.wait(PATIENCE)

    def load(self) -> None:
        try:
            self.shelf.load(self.stop)
        except ConfigError as error:
            self.failure = error

    def end(self) -> None:
        self.thread.join()
        self.other.close()


def test_a_writer_that_waits_for_another_can_be_stopped(folder: Path) -> None:
    age(folder / "skerry.md")
    waiting = Waiting(folder)
    waiting.stop.set()
    waiting.end()
    assert "locked" in str(waiting.failure)
    assert waiting.shelf.load().files == 2


def test_what_another_process_did_meanwhile_is_not_done_again(folder: Path) -> None:
    age(folder / "skerry.md")
    waiting = Waiting(folder)
    now = (folder / "zoology.txt").stat()
    waiting.other.execute(
        "INSERT INTO files (path, size, mtime, seen, digest, reason, note) "
        "VALUES ('zoology.txt', ?, ?, ?, '', 'told by the other process', '')",
        (now.st_size, now.st_mtime_ns, time.time_ns()),
    )
    waiting.other.execute("COMMIT")
    waiting.end()
    assert waiting.failure is None
    assert waiting.shelf.report().skipped == (("zoology.txt", "told by the other process"),)


def unusable_places(folder: Path) -> dict[str, Path]:
    home = folder.parent
    (home / "file").write_text("no folder")
    (home / "text.sqlite").write_text("this is no database " * 100)
    with closing(sqlite3.connect(home / "future.sqlite")) as connection, connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with closing(sqlite3.connect(home / "foreign.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE things (id)")
    connection.close()
    with closing(sqlite3.connect(home / "bare.sqlite")) as connection, connection:
        connection.execute("PRAGMA user_version=1")
    connection.close()
    (home / "elsewhere").mkdir()
    Library(home / "elsewhere", index=home / "taken.sqlite").load()
    return {
        "cannot be used": home / "file" / "index.sqlite",
        "not a database": home / "text.sqlite",
        "unable to open": home,
        "no index of this version": home / "future.sqlite",
        "delete it, or name another": home / "foreign.sqlite",
        "no such table": home / "bare.sqlite",
        f"is the index of {home / 'elsewhere'}": home / "taken.sqlite",
    }


def test_where_the_index_cannot_be_it_is_made_in_memory(folder: Path) -> None:
    for words, place in unusable_places(folder).items():
        shelf = Library(folder, index=place)
        report = shelf.load()
        assert words in report.note
        assert "in memory" in report.note
        assert "\n" not in report.note
        assert shelf.search("bees")
    assert (folder.parent / "text.sqlite").read_text().startswith("this is no database")


def test_the_index_lies_in_the_users_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = folder.parent / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert Library(folder).load().note == ""
    (place,) = (cache / "clew" / "docs").glob("*.sqlite")
    assert place.stat().st_size > 0
    assert Library(folder).search("bees")


def test_no_such_folder_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no folder .*nowhere"):
        docs_tools(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is a file: give the folder that it lies in"):
        Library(tmp_path / "file")


async def test_a_folder_that_is_gone_is_told_to_the_model(folder: Path) -> None:
    docs, _ = docs_tools(library(folder))
    (folder / "skerry.md").unlink()
    folder.rmdir()
    with pytest.raises(ToolError, match="is gone"):
        await docs.call({"query": "bees"}, "")


async def test_an_index_that_breaks_is_told(folder: Path) -> None:
    shelf = library(folder)
    docs, _ = docs_tools(shelf)
    await docs.call({"query": "bees"}, "")
    with closing(sqlite3.connect(folder.parent / "index.sqlite")) as connection, connection:
        connection.execute("DROP TABLE passages")
    connection.close()
    with pytest.raises(ToolError, match="delete it to begin anew"):
        await docs.call({"query": "bees"}, "")


def test_a_report_is_a_value() -> None:
    assert IndexReport(1, 2, ()) == IndexReport(1, 2, (), (), "", complete=True)
