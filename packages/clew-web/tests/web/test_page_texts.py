"""Pages are decoded as browsers do."""

import pytest

from tests.web.site import Site, SiteAnswer
from tests.web.test_page import near, read

PRICES = "<html><head>{}</head><body><main><p>The fare to the lighthouse is 5 € “per day” for \
everybody who comes by boat in the summer months.</p></main></body></html>"


EURO, BOM = "5 € “per day”", b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("header", "head", "data", "text"),
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
    header: str, head: str, data: str, text: str
) -> None:
    kind = f"text/html; charset={header}" if header else "text/html"
    with Site({"/a": SiteAnswer(PRICES.format(head).encode(data), kind)}) as site:
        seen = await read(near(site), f"{site.url}/a")
    assert text in seen.content["results"][0]["snippet"]


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
    with Site({"/a": SiteAnswer(body, f"text/plain; charset={label}")}) as site:
        seen = await read(near(site), f"{site.url}/a")
    assert seen.content["results"][0]["snippet"] == f"kelp {text}"
    assert "note" not in seen.content
