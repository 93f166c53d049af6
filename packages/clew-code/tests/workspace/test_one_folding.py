"""Documents, files, memory and tools are searched by one folding."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from clew.memory import SqliteMemory
from clew.testing import act
from clew.toolbox.docs import docs_tools
from clew.tools.retrieval.documents import Document
from clew.tools.retrieval.lexical import Lexical
from tests.workspace.folder import one

FORMS = [
    ("Die Straße ist gesperrt.", "strasse"),
    ("Die Strasse ist gesperrt.", "Straße"),
    ("The soft\u00adhyphen stays.", "softhyphen"),
    ("A zero\u200bwidth space.", "zerowidth"),
    ("Made by ＡＢＣ.", "ABC"),
    ("Open the ﬁle.", "file"),
    ("In a cafe\u0301.", "café"),
    ("ที่น้ำตกไทรโยค", "น้ำตก"),
    ("ที่น้ำตกไทรโยค", "นํ้าตก"),
    ("ຂ້ອຍຮຽນພາສາລາວ", "ພາສາ"),
]


@pytest.mark.parametrize(("text", "query"), FORMS)
async def test_documents(tmp_path: Path, text: str, query: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text(text, "utf-8")
    (tmp_path / "notes" / "b.txt").write_text("Nothing of it is here.", "utf-8")
    search, _ = docs_tools(tmp_path / "notes", index=tmp_path / "index.sqlite")
    seen = await search.call({"query": query}, "")
    assert [found["snippet"] for found in seen.content["results"]] == [text]


@pytest.mark.parametrize(("text", "query"), FORMS)
def test_memory(tmp_path: Path, text: str, query: str) -> None:
    memory = SqliteMemory(tmp_path / "memory.sqlite")
    memory.add(text)
    memory.add("Ada keeps bees.")
    assert [found.text for found in memory.search(query)] == [text]
    memory.close()


@pytest.mark.parametrize(("text", "query"), FORMS)
def test_tools_by_their_words(text: str, query: str) -> None:
    index = Lexical([Document("a", text, ""), Document("b", "nothing of it", "")])
    assert [*index.shares(query)] == [0]


@pytest.mark.parametrize(("text", "query"), FORMS)
async def test_files(tmp_path: Path, text: str, query: str) -> None:
    (tmp_path / "a.txt").write_text(text, "utf-8")
    seen = await one(tmp_path, act("grep", pattern=query, ignore_case=True))
    assert text.lower()[:2] in seen.text.lower()
    assert seen.text.startswith("1 line matches in 1 of 1 file")


@pytest.mark.parametrize(
    ("text", "pattern", "found"),
    [
        ("Straße", "strasse", False),  # case counts
        ("straße 7", r"strasse \d", True),
        ("straße", "stra.e", True),  # as it stands
        ("straße", "^strasse$", True),
        ("STRASSE", "STRAẞE", True),
        ("a（b", "（b", True),
        ("a(b", "（b", True),  # what folding makes of a character stands for itself
        ("ab", "（b", False),
        ("aﬁx", "f[ij]x", True),
        ("soft\u00adhyphen", "\u00ad", True),
        ("plain", "pläin", False),
    ],
)
async def test_patterns(tmp_path: Path, text: str, pattern: str, found: bool) -> None:
    (tmp_path / "a.txt").write_text(text, "utf-8")
    seen = await one(tmp_path, act("grep", pattern=pattern))
    assert seen.text.startswith("1 line matches") == found


async def test_an_index_with_other_words_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("Die Straße.", "utf-8")
    place = tmp_path / "index.sqlite"
    await docs_tools(tmp_path / "notes", index=place)[0].call({"query": "die"}, "")
    with closing(sqlite3.connect(place)) as old, old:
        old.execute("DELETE FROM words")
        old.execute("PRAGMA user_version=1")
    old.close()
    search, _ = docs_tools(tmp_path / "notes", index=place)
    seen = await search.call({"query": "strasse"}, "")
    assert [found["snippet"] for found in seen.content["results"]] == ["Die Straße."]
