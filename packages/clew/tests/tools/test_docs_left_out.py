"""A search of documents says what it did not look at."""

from pathlib import Path

import pytest

from clew.toolbox.docs import Library, docs_tools


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({".env": b"kelp"}, "looked at 0 files; left out 1 hidden"),
        ({".git/x": b"kelp", ".a.md": b"kelp"}, "looked at 0 files; left out 2 hidden"),
        ({"node_modules/x.md": b"kelp"}, "looked at 0 files; left out 1 folders that tools make"),
        ({"venv/x.md": b"", "a/__pycache__/x": b""}, "left out 2 folders that tools make"),
        ({"a.png": b"\x89PNG\0"}, "looked at 0 files; left out a.png (not text, HTML or PDF)"),
        ({"a.txt": b"kelp", "b.bin": b"\0"}, "looked at 1 file; left out b.bin (not text"),
        ({"a.txt": b"kelp", "b.pdf": b"%PDF-"}, "looked at 1 file; left out b.pdf (broken"),
        ({"a.txt": b"Z\xbfrich kelp"}, "of what was read: a.txt (encoding not certain"),
        ({"a.txt": "größer".encode("latin-1")}, "a.txt (not UTF-8: read as cp1252)"),
        ({f"{n}.bin": b"\0" for n in range(9)}, "2.bin (not text, HTML or PDF), 6 more"),
        ({".x": b"", "a.bin": b"\0", "b.txt": b"kelp"}, "left out 1 hidden, a.bin (not"),
    ],
)
@pytest.mark.parametrize("query", ["kelp", "absent"])
async def test_it_is_said_whether_or_not_something_is_found(
    tmp_path: Path, files: dict[str, bytes], said: str, query: str
) -> None:
    for name, data in files.items():
        place = tmp_path / "notes" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    search, _ = docs_tools(tmp_path / "notes", index=tmp_path / "index.sqlite")
    seen = await search.call({"query": query}, "")
    assert said in seen.content["looked"]
    if seen.content["looked"].startswith("looked at 0"):
        assert seen.content["note"].startswith("no document was searched")


async def test_where_all_was_looked_at_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("kelp")
    shelf = Library(tmp_path / "notes", index=tmp_path / "index.sqlite")
    seen = await docs_tools(shelf)[0].call({"query": "kelp"}, "")
    assert "looked" not in seen.content
