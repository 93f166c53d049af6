"""Texts that come in as bytes: read in their encoding, or named as uncertain."""

from pathlib import Path

import pytest

from clew.toolbox.docs import Library
from clew.toolbox.web import fetch_page
from tests.tools.site import Said, Site
from tests.tools.test_web_page import near, read

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


PRICES = "<html><head>{}</head><body><main><p>The fare to the lighthouse is 5 € “per day” for \
everybody who comes by boat in the summer months.</p></main></body></html>"
EURO, BOM = "5 € “per day”", b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("header", "head", "data", "shown"),
    [
        ("iso-8859-1", "", "cp1252", EURO),
        ("ISO-8859-1", "", "cp1252", EURO),
        ("latin1", "", "cp1252", EURO),
        ("us-ascii", "", "cp1252", EURO),
        ('"iso-8859-1"', "", "cp1252", EURO),
        ("", "<meta charset=iso-8859-1>", "cp1252", EURO),
        ("", "<meta charset='windows-1252'>", "cp1252", EURO),
        ("", '<meta content="text/html; charset=ascii" http-equiv=content-type>', "cp1252", EURO),
        ("", "<!-- <meta charset=koi8-r> --><meta charset=latin1>", "cp1252", EURO),
        ("windows-1252", "<meta charset=utf-8>", "cp1252", EURO),
        ("utf-8", "<meta charset=iso-8859-1>", "utf-8", EURO),
        ("iso-8859-1", "<meta charset=iso-8859-1>", "utf-8-sig", EURO),
        ("", "<meta charset=utf-16>", "utf-8", EURO),
        ("no-such-thing", "", "utf-8", EURO),
        ("utf-16", "", "utf-16", EURO),
        ("utf-16le", "", "utf-16-le", EURO),
        ("unicode", "", "utf-16-le", EURO),
        ("", "", "cp1252", EURO),
    ],
)
async def test_web_pages_are_decoded_as_browsers_do(
    header: str, head: str, data: str, shown: str
) -> None:
    kind = f"text/html; charset={header}" if header else "text/html"
    with Site({"/a": Said(PRICES.format(head).encode(data), kind)}) as site:
        seen = await read(near(site), f"{site.url}/a")
    assert shown in seen.content["results"][0]["snippet"]


@pytest.mark.parametrize(
    ("label", "text", "encoding"),
    [
        ("gb2312", "朱镕基", "gb18030"),
        ("gbk", "㐀", "gb18030"),
        ("shift_jis", "①髙", "cp932"),
        ("x-sjis", "①", "cp932"),
        ("euc-kr", "똠방각하", "cp949"),
        ("ks_c_5601-1987", "똠", "cp949"),
        ("big5", "嘅", "big5hkscs"),
        ("iso-8859-9", "“Şey”", "cp1254"),
        ("tis-620", "“ไทย”", "cp874"),
        ("iso-8859-8-i", "שלום", "iso8859-8"),
        ("macintosh", "Ÿœ", "mac-roman"),
        ("koi8", "маяк", "koi8-r"),
    ],
)
async def test_labels_mean_what_the_standard_says(label: str, text: str, encoding: str) -> None:
    body = f"kelp {text}".encode(encoding)
    with Site({"/a": Said(body, f"text/plain; charset={label}")}) as site:
        seen = await read(near(site), f"{site.url}/a")
    assert seen.content["results"][0]["snippet"] == f"kelp {text}"
    assert "note" not in seen.content


@pytest.mark.parametrize(
    ("kind", "body", "note"),
    [
        ("text/plain", TEXTS["pl"].encode("cp1250"), "encoding not certain: read as cp1252"),
        ("text/plain; charset=utf-8", b"caf\xe9 au lait", "said to be utf-8, which it is not"),
        ("text/plain; charset=euc-jp", b"kelp \xff\xff", "said to be euc_jp, which it is not"),
    ],
)
async def test_a_web_page_in_no_certain_encoding_says_so(kind: str, body: bytes, note: str) -> None:
    with Site({"/a": Said(body, kind)}) as site:
        seen = await fetch_page(near(site)).call({"url": f"{site.url}/a"}, "")
    assert seen.content["note"].startswith(note)
