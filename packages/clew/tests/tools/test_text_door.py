"""Texts that come in as bytes: read in their encoding, or named as uncertain."""

from pathlib import Path

import pytest

from clew.toolbox.docs import Library

TEXTS = {
    "de": "Über die Straße läuft ein größerer Fuchs. Die Mühle schließt früh für alle.",
    "fr": "L'été dernier, nous étions à la plage, déjà trop chère, ça alors.",
    "pl": "Zażółć gęślą jaźń. Wczoraj poszedłem do sklepu, żeby kupić chleb i mąkę.",
    "tr": "Bugün hava çok güzel. Çocuklar bahçede oynuyor, şarkı söylüyor ve ağaç.",
    "ru": "Вчера вечером начальник порта сообщил, что новый маяк начнет работать в мае.",
    "uk": "Учора ввечері начальник порту повідомив, що маяк почне працювати. Її їжак.",
    "el": "Χθες το βράδυ ο λιμενάρχης ανακοίνωσε ότι ο νέος φάρος θα λειτουργήσει.",
    "he": "אתמול בערב הודיע מנהל הנמל כי המגדלור החדש יתחיל לפעול במאי.",
    "ar": "أعلن مدير الميناء مساء أمس أن المنارة الجديدة ستبدأ العمل في مايو.",
    "th": "เมื่อวานนี้ผู้อำนวยการท่าเรือประกาศว่าประภาคารใหม่จะเริ่มทำงานในเดือนพฤษภาคม",
    "ja": "昨日の夕方、港長は新しい灯台が五月に動き始めると発表した。カタカナもある。",
    "zh": "昨天晚上，港务局长宣布新的灯塔将于五月开始工作。",
    "tw": "昨天晚上，港務局長宣布新的燈塔將於五月開始工作。",
    "ko": "어제 저녁 항만장은 새 등대가 오월에 작동을 시작할 것이라고 발표했다.",
    "lt": "Vakar vakare uosto vadovas pranešė, kad naujas švyturys pradės veikti gegužės.",
}
RIGHT = (
    "de latin-1", "de cp1252", "de iso8859-15", "fr cp1252", "ru cp1251", "ru koi8-r",
    "ru iso8859-5", "uk cp1251", "el cp1253", "el iso8859-7", "th cp874", "ja shift_jis",
    "ja euc_jp", "ja iso2022_jp", "zh gb18030", "zh gb2312", "tw big5", "ko euc_kr", "ko cp949",
)  # fmt: skip
NAMED = (
    "de mac-roman", "de cp437", "pl cp1250", "pl iso8859-2", "tr cp1254", "ru cp866",
    "ru mac-cyrillic", "uk koi8-u", "he cp1255", "he iso8859-8", "ar cp1256", "ar iso8859-6",
    "ko johab", "lt cp1257",
)  # fmt: skip


def shelf(folder: Path, name: str, data: bytes) -> Library:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(data)
    return Library(folder, index=folder.parent / "index.sqlite")


@pytest.mark.parametrize("case", RIGHT)
@pytest.mark.parametrize("kind", ["txt", "html"])
def test_documents_in_old_encodings_are_read(tmp_path: Path, case: str, kind: str) -> None:
    language, encoding = case.split()
    text = TEXTS[language]
    body = f"<p>{text}</p>" if kind == "html" else f"kelp {text}\n"
    found = shelf(tmp_path / "notes", f"a.{kind}", body.encode(encoding))
    ((_, note),) = found.load().notes
    assert ": read as " in note
    (piece,) = found.search(text)[:1]
    assert text in piece.text


@pytest.mark.parametrize("case", NAMED)
@pytest.mark.parametrize("kind", ["txt", "html"])
def test_what_is_not_certain_is_named(tmp_path: Path, case: str, kind: str) -> None:
    language, encoding = case.split()
    found = shelf(tmp_path / "notes", f"a.{kind}", TEXTS[language].encode(encoding))
    ((_, note),) = found.load().notes
    assert note.startswith("encoding not certain: read as ")


def test_a_long_text_whose_end_is_in_another_encoding_is_named(tmp_path: Path) -> None:
    data = (TEXTS["ja"]).encode("shift_jis") + b"\n" * 1_100_000 + b"\x81\x01\n"
    found = shelf(tmp_path / "notes", "a.txt", data)
    assert dict(found.load().notes)["a.txt"].startswith("encoding not certain")


def test_half_utf8_is_named(tmp_path: Path) -> None:
    found = shelf(tmp_path / "notes", "a.txt", "Übung für Größe ".encode() + b"caf\xe9")
    assert dict(found.load().notes)["a.txt"].startswith("not valid UTF-8")
