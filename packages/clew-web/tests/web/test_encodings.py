"""A page in no certain encoding says so."""

import pytest

from clew_web import fetch_page
from tests.web.site import Site, SiteAnswer
from tests.web.test_page import near

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


@pytest.mark.parametrize(
    ("kind", "body", "note"),
    [
        ("text/plain", TEXTS["pl"].encode("cp1250"), "encoding not certain: read as cp1252"),
        ("text/plain; charset=utf-8", b"caf\xe9 au lait", "said to be utf-8, which it is not"),
        ("text/plain; charset=euc-jp", b"kelp \xff\xff", "said to be euc_jp, which it is not"),
    ],
)
async def test_a_web_page_in_no_certain_encoding_says_so(kind: str, body: bytes, note: str) -> None:
    with Site({"/a": SiteAnswer(body, kind)}) as site:
        seen = await fetch_page(near(site)).call({"url": f"{site.url}/a"}, "")
    assert seen.content["note"].startswith(note)
