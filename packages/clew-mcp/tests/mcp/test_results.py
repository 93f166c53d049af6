"""Results as observations: texts, structured content, and what is none of what was agreed."""

import base64
from typing import Any

import pytest

from clew_mcp.results import observation_of


def result(text: str = "", structured: Any = None, **more: Any) -> dict[str, Any]:
    content: list[Any] = [{"type": "text", "text": text}] if text else []
    return {"content": content, "structuredContent": structured, **more}


@pytest.mark.parametrize(
    ("text", "structured", "content"),
    [
        ("three", None, "three"),
        ("three", {"result": "three"}, "three"),
        ("3", {"result": 3}, 3),
        ("3", {"result": "3"}, "3"),
        ("[1, 2]", {"result": [1, 2]}, [1, 2]),
        ('{"a": 1}', {"a": 1}, {"a": 1}),
        ('{"a": 1}', {"result": "x"}, '{"a": 1}\n{"result":"x"}'),
        ("one is a", {"a": 1}, 'one is a\n{"a":1}'),
        ("", {"a": 1}, {"a": 1}),
        ("", None, ""),
    ],
)
def test_structured_content_stands_for_a_text_that_says_the_same(
    text: str, structured: Any, content: Any
) -> None:
    assert observation_of(result(text, structured), "untrusted").content == content


def test_a_failure_without_a_word_says_so() -> None:
    seen = observation_of(result(isError=True), "trusted")
    assert (seen.ok, seen.trust) == (False, "untrusted")
    assert seen.text == "ERROR: tool_error: the tool failed and does not say why"


def test_blocks_of_later_versions_are_named() -> None:
    odd = {"content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]}
    seen = observation_of(odd, "untrusted")
    assert seen.text.splitlines()[-1] == "[tool_use that cannot be shown]"
    assert seen.code == "bad_output"


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        ("text/plain", "größer".encode(), "größer"),
        ("text/plain; charset=iso-8859-1", "größer €".encode("cp1252"), "größer €"),
        ('text/csv; charset="shift_jis"', "日本語".encode("shift_jis"), "日本語"),
        ("text/plain;charset=utf-16", "größer".encode("utf-16"), "größer"),
        ("text/plain", b"\xef\xbb\xbfmarked", "marked"),
        ("application/json", b'{"a": 1}', '{"a": 1}'),
        ("application/ld+json", b"[]", "[]"),
        ("image/svg+xml", b"<svg/>", "<svg/>"),
        ("TEXT/HTML", '<meta charset="koi8-r">привет'.encode("koi8-r"), "привет"),
        ("text/plain", b"a\xffb", "encoding not certain"),
        ("text/plain; charset=utf-8", b"a\xffb", "which it is not"),
        ("application/octet-stream", b"hello", ": 5 bytes]"),
    ],
)
def test_a_text_in_base64_is_read(kind: str, data: bytes, said: str) -> None:
    blob = base64.b64encode(data).decode()
    inner = {"uri": "file:///a", "mimeType": kind, "blob": blob}
    raw: dict[str, Any] = {"content": [{"type": "resource", "resource": inner}]}
    seen = observation_of(raw, "untrusted")
    assert said in seen.text
    assert seen.text.startswith("[resource file:///a, ")


BROKEN: list[tuple[dict[str, Any], str, str]] = [
    ({"type": "image", "mimeType": "image/png", "data": "no base64!"}, "a picture", "image/png"),
    ({"type": "audio", "mimeType": "audio/wav", "data": "aGVsbG8"}, "a sound", "audio/wav"),
    *(
        (
            {
                "type": "resource",
                "resource": {"uri": "x:a", "mimeType": kind, "blob": "no base64!"},
            },
            "resource x:a",
            kind,
        )
        for kind in ("text/plain", "image/png", "audio/wav", "application/pdf", "x/y")
    ),
]


@pytest.mark.parametrize(("block", "what", "kind"), BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_base64_fails_and_takes_nothing_else_with_it(
    block: dict[str, Any], what: str, kind: str
) -> None:
    good = {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}
    raw = {"content": [{"type": "text", "text": "Booked."}, block, good]}
    seen = observation_of(raw, "trusted", "book")
    assert (seen.ok, seen.code, seen.outcome, seen.trust) == (
        False,
        "bad_output",
        "done",
        "untrusted",
    )
    told, *rest = seen.text.splitlines()
    why = f"book did what it did, and what came is unfit: {what} is no base64"
    assert told == f"ERROR: bad_output: {why}"
    assert rest[0] == "Booked."
    assert "no base64" in rest[1]
    assert kind in rest[1]
    assert [each.media_type for each in seen.attachments] == ["image/png"]
