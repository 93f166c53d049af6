"""Reading a document takes time in proportion to its size, whatever it is made of."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clew.toolbox.docs import Library
from tests.tools.test_docs import pdf

SHAPES: dict[str, Callable[[int], str]] = {
    "nested": lambda n: "<div>" * n + "kelp" + "</div>" * n,
    "never closed": lambda n: "<div>" * n + "kelp",
    "closed only": lambda n: "kelp" + "</div>" * n,
    "crossed": lambda n: "<b><i>kelp</b></i>" * n,
    "lists": lambda n: "<ul><li>kelp" * n,
    "tables": lambda n: "<table><tr><td>" * n + "kelp",
    "hidden": lambda n: "<nav>" * n + "x" + "</nav>" * n + "kelp",
    "pre": lambda n: "<pre>" * n + "kelp",
    "comments": lambda n: "kelp" + "<!--" * n,
    "declarations": lambda n: "kelp" + "<!x" * n,
    "tags without end": lambda n: "kelp" + "<a " * n,
    "quotes without end": lambda n: "kelp" + '<a b="' * n,
    "titles": lambda n: "<title>" * n + "kelp",
    "scripts": lambda n: "kelp" + "<script>" * n,
    "one line": lambda n: "kelp " * 4 * n,
    "one heading": lambda n: "<h1>" + "kelp " * 4 * n,
    "spaces": lambda n: "<pre>kelp" + " " * 20 * n + "x",
    "entities": lambda n: "kelp" + "&#" * n + "&amp" * n,
}  # fmt: skip


def shelf(folder: Path, **files: bytes) -> Library:
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name.replace("_", ".")).write_bytes(data)
    return Library(folder, index=folder.parent / "index.sqlite")


def seconds(folder: Path, data: bytes) -> float:
    found = shelf(folder / "notes", page_html=data)
    begun = time.thread_time()
    report = found.load()
    spent = time.thread_time() - begun
    assert report.files == 1
    return spent


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_html_of_eight_times_the_size_takes_about_eight_times_as_long(
    tmp_path: Path, shape: str
) -> None:
    make = SHAPES[shape]
    few, many = (
        min(seconds(tmp_path / f"{count}-{turn}", make(count).encode()) for turn in range(2))
        for count in (3_000, 24_000)
    )
    assert many < 24 * (few + 0.01)  # 64 times where each element looks at all others


def test_deep_html_is_read(tmp_path: Path) -> None:
    found = shelf(tmp_path / "notes", page_html=("<div>" * 16_000 + "kelp soup").encode())
    found.load()
    assert found.search("kelp soup")[0].text == "kelp soup"


@pytest.mark.parametrize(
    ("name", "size", "said"),
    [
        ("a.txt", 100_000_001, "100,000,001 bytes, at most 100,000,000 are read: split it"),
        ("a.csv", 100_000_001, "at most 100,000,000"),
        ("a.md", 200_000_000, "at most 100,000,000"),
        ("a.log", 5_000_000_000, "at most 100,000,000"),
        ("a.html", 10_000_001, "at most 10,000,000"),
        ("a.htm", 10_000_001, "at most 10,000,000"),
        ("a.pdf", 50_000_001, "at most 50,000,000"),
    ],
)
def test_what_is_too_large_is_named_and_not_read(
    tmp_path: Path, name: str, size: int, said: str
) -> None:
    found = shelf(tmp_path / "notes", b_txt=b"kelp")
    with (tmp_path / "notes" / name).open("wb") as file:
        file.truncate(size)
    ((path, reason),) = found.load().skipped
    assert path == name
    assert said in reason


def test_a_pdf_that_counts_absurdly_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    data = pdf("kelp soup").replace(b"/Count 1 ", b"/Count 2000000000 ")
    found = shelf(tmp_path / "notes", a_pdf=data)
    found.load()
    assert found.search("kelp")[0].text == "page 1\nkelp soup"
