"""Files whose bytes are not what their media type says: refused in one line."""

from typing import Any, Final

import pytest

from clew import Agent, Audio, ConfigError, File, Image, MemoryStore, read, run, tool
from clew.testing import ScriptedModel, act, say

PNG: Final = b"\x89PNG\r\n\x1a\n" + bytes(16)
ZIP: Final = b"PK\x03\x04" + bytes(26)
EXE: Final = b"MZ\x90\x00\x03\x00"
TEXTS: Final = ("text/plain", "text/html; charset=utf-8", "application/json", "image/svg+xml")
WORD: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.mark.parametrize("kind", [Image, Audio, File])
@pytest.mark.parametrize("data", ["text", None, [1, 2], bytearray(b"x")])
def test_what_is_no_bytes_is_refused_where_it_is_made(kind: Any, data: object) -> None:
    with pytest.raises(TypeError, match=rf"{kind.__name__}\('a/b', …\) are of the type .*bytes of"):
        kind("a/b", data)


LIARS: Final[list[tuple[str, bytes, str]]] = [
    *((kind, PNG, "is image/png") for kind in TEXTS),
    *((kind, b"%PDF-1.4 text", "is application/pdf") for kind in TEXTS),
    ("text/plain", EXE, "has a NUL, which no text has: if it is one, name its charset"),
    ("text/csv", "a;b".encode("utf-16-le"), "has a NUL, which no text has: if it is one, name its"),
    ("text/csv; charset=utf-8", EXE, "is no text in utf-8"),
    ("text/csv; charset=utf-8", b"a\0b", "has a NUL, which no text has"),
    ("text/plain; charset=utf-8", "grüß".encode("cp1252"), "is no text in utf-8"),
    ("text/plain; charset=utf-16", b"abc", "is no text in utf-16"),
    ("text/plain; charset=ebcdic-x", b"abc", "no charset is called ebcdic-x"),
    ("application/PDF", PNG, "is image/png"),
    ("application/pdf; v=1", b"<html>", "its bytes are of no kind that clew knows"),
    ("application/zip", PNG, "is image/png"),
    (WORD, b"<html>", "does not begin as one"),
    ("application/msword", PNG, "is image/png"),
    ("application/gzip", ZIP, "does not begin as one"),
]
TRUE: Final[list[tuple[str, bytes]]] = [
    *((kind, "grüß".encode()) for kind in TEXTS),
    ("text/plain", "grüß".encode("cp1252")),
    ("text/plain; charset=iso-8859-1", "grüß".encode("cp1252")),
    ("text/plain; charset=utf-16-le", "grüß".encode("utf-16-le")),
    ("text/plain", "grüß".encode("utf-16")),
    ("text/plain", b"\xef\xbb\xbfa"),
    ("application/pdf", b"%PDF-1.4"),
    ("application/zip", ZIP),
    (WORD, ZIP),
    ("application/msword", ZIP),
    ("application/octet-stream", PNG),
    ("video/ogg", b"OggS" + bytes(9)),
    ("x/made", EXE),
]


@pytest.mark.parametrize(("kind", "data", "why"), LIARS, ids=range(len(LIARS)))
async def test_one_that_lies_is_refused_in_a_line_and_shown_to_nobody(
    kind: str, data: bytes, why: str
) -> None:
    store, file = MemoryStore(), File(kind, data)
    with pytest.raises(ConfigError) as told:
        await run(Agent(ScriptedModel([])), ["What is it?", file], store=store)
    line = str(told.value)
    joined = "but" if why.startswith("its") else "and"
    assert line.startswith(f"the file in the question is said to be {kind}, {joined} {why}")
    assert "\n" not in line
    assert await store.runs() == []

    @tool(effect="read")
    def look() -> Any:
        """Look."""
        return {"note": "seen", "file": file}

    result = await run(
        Agent(ScriptedModel([act("look"), say("k")]), tools=[look]), "Look.", store=store
    )
    seen = (await read(result.run_id, store=store)).call("1.1").observation
    assert seen is not None
    assert (seen.ok, seen.code, seen.attachments) == (False, "bad_output", ())
    joined = "but" if why.startswith("its") else "and"
    assert f"the file is said to be {kind}, {joined} {why}" in seen.text
    assert '"note":"seen"' in seen.text


@pytest.mark.parametrize(("kind", "data"), TRUE, ids=range(len(TRUE)))
async def test_one_that_may_be_what_it_says_is_taken(kind: str, data: bytes) -> None:
    store = MemoryStore()
    await run(
        Agent(ScriptedModel([say("A file.")])), ["?", File(kind, data)], store=store, run_id="r"
    )
    (taken,) = (await read("r", store=store)).started.attachments
    assert (taken.media_type, taken.data) == (kind, data)


@pytest.mark.parametrize("kind", ["", "text", "text/", "/plain", "text/plain;\nx", "a b/c", "é/x"])
@pytest.mark.parametrize("make", [File, Image], ids=lambda it: it.__name__)
async def test_what_is_no_media_type_says_nothing_and_is_refused(
    kind: str, make: type[File] | type[Image]
) -> None:
    with pytest.raises(ConfigError, match="in the question has the media type '") as told:
        await run(Agent(ScriptedModel([])), ["What is it?", make(kind, PNG)], store=MemoryStore())
    assert "\n" not in str(told.value)
