"""An edit writes no bytes of another encoding than the file has."""

from pathlib import Path
from typing import Any

import pytest

from clew.support.text_encoding import detect
from clew.testing import act
from tests.workspace.folder import one

CHINESE = "# 这是一个简单的例子，用来说明如何读取文件。\nx = 1\n"
TAIWAN = "# 這是一個簡單的例子，用來說明如何讀取檔案。\nx = 1\n"
JAPANESE = "# これは簡単な例です。ファイルを読みます。\nx = 1\n"
KOREAN = "# 이것은 간단한 예입니다. 파일을 읽습니다.\nx = 1\n"
RUSSIAN = "# Это простой пример, который читает файл.\nx = 1\n"
GREEK = "# Αυτό είναι ένα απλό παράδειγμα.\nx = 1\n"
GERMAN = "# Die Größe der Straße, für später\nx = 1\n"
CZECH = "# Příliš žluťoučký kůň\nx = 1\n"

TEXTS = [
    (CHINESE, "gb18030", "结果"),
    (TAIWAN, "big5", "結果"),
    (JAPANESE, "shift_jis", "結果"),
    (JAPANESE, "euc_jp", "結果"),
    (KOREAN, "euc_kr", "결과"),
    (RUSSIAN, "cp1251", "итог"),
    (RUSSIAN, "koi8-r", "итог"),
    (GREEK, "cp1253", "τέλος"),
    (GERMAN, "latin-1", "Ärger"),
    (GERMAN, "cp1252", "Ärger"),
    (CZECH, "cp1250", "růže"),
    (GERMAN, "utf-16-le", "Ärger €"),
    (GERMAN, "utf-8-sig", "Ärger €"),
]


def edit(old: str, new: str) -> Any:
    return act("edit_file", path="f.py", old_text=old, new_text=new)


@pytest.mark.parametrize(("text", "encoding", "word"), TEXTS)
async def test_an_edit_keeps_the_encoding_or_is_refused(
    tmp_path: Path, text: str, encoding: str, word: str
) -> None:
    file = tmp_path / "f.py"
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    file.write_bytes((mark + text).encode(encoding))
    before = file.read_bytes()
    seen = await one(tmp_path, edit("x = 1\n", f"x = 2  # {word}\n"))
    if seen.ok:
        assert file.read_bytes().decode(encoding) == mark + text.replace(
            "x = 1", f"x = 2  # {word}"
        )
    else:
        assert "its encoding has no" in seen.text
        assert file.read_bytes() == before
    file.write_bytes(before)
    plain = await one(tmp_path, edit("x = 1\n", "x = 3\n"))
    assert plain.ok, plain.text
    assert file.read_bytes().decode(encoding) == mark + text.replace("x = 1", "x = 3")


@pytest.mark.parametrize(
    ("text", "encoding"), [(text, encoding) for text, encoding, _ in TEXTS[:4] + TEXTS[6:7]]
)
async def test_what_is_certain_is_shown_as_it_is(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "f.py").write_bytes(text.encode(encoding))
    seen = await one(tmp_path, act("read_file", path="f.py"))
    assert text.splitlines()[0] in seen.text
    assert encoding in seen.text


@pytest.mark.parametrize("character", ["€", "ő", "中", "Ж"])
async def test_a_character_that_the_encoding_lacks_is_refused(
    tmp_path: Path, character: str
) -> None:
    (tmp_path / "f.py").write_bytes(GERMAN.encode("latin-1"))
    seen = await one(tmp_path, edit("x = 1\n", f"x = '{character}'\n"))
    assert f"its encoding has no {character!r}" in seen.text
    assert (tmp_path / "f.py").read_bytes() == GERMAN.encode("latin-1")


async def test_invalid_bytes_of_a_utf8_file_stay(tmp_path: Path) -> None:
    data = GERMAN.encode() + b"caf\xe9\n"
    (tmp_path / "f.py").write_bytes(data)
    shown = await one(tmp_path, act("read_file", path="f.py"))
    assert "UTF-8 with invalid bytes" in shown.text
    assert "caf\\xe9" in shown.text
    assert (await one(tmp_path, edit("x = 1\n", "x = 'ü'\n"))).ok
    assert (tmp_path / "f.py").read_bytes() == data.replace(b"x = 1", "x = 'ü'".encode())


async def test_no_character_is_cut_in_two(tmp_path: Path) -> None:
    """The second byte of a Shift JIS character may be a backslash."""
    data = "表\n".encode("shift_jis")
    assert data[1:2] == b"\\"
    (tmp_path / "f.py").write_bytes(data + b"\\ x\n")
    seen = await one(
        tmp_path, act("edit_file", path="f.py", old_text="\\", new_text="/", matches=2)
    )
    assert not seen.ok
    assert (tmp_path / "f.py").read_bytes() == data + b"\\ x\n"


def test_plain_text_is_utf8() -> None:
    assert detect(b"abc").name == "utf-8"
    assert detect(b"").sure
