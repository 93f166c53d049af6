"""Bytes and names of encodings that say little, or what is not so."""

import pytest

from clew.support.text_encoding import declared, decoded, detect, reading


@pytest.mark.parametrize(
    "data",
    [
        b"price \x1b$ 5, and no Japanese \x1b(Z",
        b"\x1b$B\x1b$B odd \x1b$",
        b"\x81\x8d\x8f\x90\x9d\xff\xfe\x00\x01",
        bytes(range(0x80, 0xA0)),
        b"\xff" * 40,
    ],
)
def test_bytes_that_fit_no_encoding_are_read_all_the_same(data: bytes) -> None:
    found = detect(data)
    assert found.name == "" or data.decode(found.name) or not found.sure
    assert decoded(data).text


@pytest.mark.parametrize(
    ("data", "name"),
    [(b"\xef\xbb\xbfabc", "utf-8-sig"), (b"\xff\xfea\x00", "utf-16"), (b"abc", "utf-8")],
)
def test_a_byte_order_mark_is_dropped(data: bytes, name: str) -> None:
    assert reading(data).name == name
    assert decoded(data).text.strip("\ufeff").startswith("a")


def test_half_utf8_keeps_what_is_right_and_says_so() -> None:
    found = decoded("grün, süß, schön ".encode() + b"\xfc")
    assert found.text.startswith("grün, süß, schön")
    assert not found.sure
    assert "not valid UTF-8" in found.note


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("utf-7", ""), ("idna", ""), ("rot13", ""), ("base64", ""), ("unicode_escape", ""),
        ("raw-unicode-escape", ""),
        ("no such encoding", ""), ("", ""), ("\0", ""), ("latin1", "cp1252"),
        ("UTF-16LE", "utf-16-le"),
        ("koi8-r", "koi8-r"),
    ],
)  # fmt: skip
def test_a_label_means_an_encoding_of_texts_or_nothing(label: str, name: str) -> None:
    assert declared(label) == name


def test_bytes_that_windows_1252_lacks_are_controls_as_in_browsers() -> None:
    found = decoded(b"caf\xe9 \x81\x8d", charset="iso-8859-1")
    assert found.text == "café \x81\x8d"
