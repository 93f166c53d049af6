"""Who sends too much, too slowly, or nothing, is sent away, and holds up nobody."""

import asyncio
from urllib.parse import urlsplit

import httpx2
import msgspec
import pytest

from clew_serve import Endpoint, Inquiry, ServeConfig, application
from tests.patience import PATIENCE
from tests.server.site import ADA, Site, greeter, site

GIGABYTE = 1_000_000_000


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


async def sent(here: Site, head: str, piece: bytes = b"", times: int = 0) -> tuple[bytes, int]:
    """What comes back for these bytes, and how many pieces were taken before the end."""
    host, port = urlsplit(here.url).hostname, urlsplit(here.url).port
    reader, writer = await asyncio.open_connection(host, port)
    taken = 0
    try:
        writer.write(head.replace("\n", "\r\n").encode())
        for _ in range(times):
            writer.write(piece)
            await writer.drain()
            taken += 1
    except ConnectionError:
        pass
    try:
        answer = await asyncio.wait_for(reader.read(), PATIENCE)
    except ConnectionError:
        answer = b""
    writer.close()
    return answer, taken


def head(here: Site, *more: str) -> str:
    lines = [
        "POST /api/runs HTTP/1.1",
        f"host: {urlsplit(here.url).netloc}",
        f"authorization: Bearer {ADA.token}",
        "content-type: application/json",
        *more,
    ]
    return "\n".join(lines) + "\n\n"


async def test_a_body_of_a_gigabyte_is_refused_when_it_is_declared() -> None:
    async with site(agents={"greeter": greeter()}) as here:
        answer, _ = await sent(here, head(here, f"content-length: {GIGABYTE}"))
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b'"error":"too_long"' in answer
        odd, _ = await sent(here, head(here, f"content-length: {'9' * 19}"))
        assert odd.startswith(b"HTTP/1.1 4")


async def test_a_body_of_a_gigabyte_in_pieces_is_not_taken_beyond_the_limit() -> None:
    piece = b"186a0\r\n" + b" " * 100_000 + b"\r\n"
    async with site(agents={"greeter": greeter()}, max_body=1_000_000) as here:
        answer, taken = await sent(here, head(here, "transfer-encoding: chunked"), piece, 10_000)
        assert taken < 1_000
        assert not answer or answer.startswith(b"HTTP/1.1 413 ")
        assert (await here.by(ADA).ask("GET", "/healthz")).text == "ok\n"


async def test_a_client_that_sends_nothing_or_stops_halfway_is_left() -> None:
    async with site(agents={"greeter": greeter()}, patience=0.2) as here:
        assert await sent(here, "") == (b"", 0)
        assert await sent(here, "POST /api/runs HTTP/1.1\nhost: x") == (b"", 0)
        answer, _ = await sent(here, head(here, "content-length: 100"))
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"error":"too_slow"' in answer
        assert (await here.by(ADA).ask("GET", "/healthz")).text == "ok\n"


async def test_what_is_no_json_is_refused() -> None:
    async with site(agents={"greeter": greeter()}) as here:
        url, signed = f"{here.url}/api/runs", here.by(ADA).headers
        text = await here.http.post(url, content=b"{}", headers=signed)
        broken = await here.http.post(
            url, content=b"\xff{", headers={**signed, "content-type": "application/json"}
        )
        deep = await here.http.post(
            url, content=b"[" * 100_000, headers={**signed, "content-type": "application/json"}
        )
    assert (text.status_code, broken.status_code, deep.status_code) == (415, 422, 422)


async def test_more_connections_than_there_may_be_are_told_so() -> None:
    async with site(agents={"greeter": greeter()}, max_connections=3) as here:
        limits = httpx2.Limits(max_connections=20)
        async with httpx2.AsyncClient(limits=limits, timeout=PATIENCE) as http:
            held = [
                await asyncio.open_connection(urlsplit(here.url).hostname, urlsplit(here.url).port)
                for _ in range(4)
            ]
            answer = await http.get(f"{here.url}/healthz", headers=here.by(ADA).headers)
            assert answer.status_code == 503
            for _, writer in held:
                writer.close()
                await writer.wait_closed()


class Wish(msgspec.Struct, forbid_unknown_fields=True):
    """What a form sends."""

    text: str
    times: int
    tag: list[str] = []


async def wish(inquiry: Inquiry) -> Wish:
    """Gives back what it took."""
    content: Wish = inquiry.content
    return content


async def test_a_form_is_read_where_a_page_takes_one_and_nowhere_else() -> None:
    page = Endpoint(
        method="POST", path="/wish", role="run", handler=wish, about="", takes=Wish, form=True
    )
    config = ServeConfig(store="runs.sqlite", users=[ADA])
    signed = {"authorization": f"Bearer {ADA.token}"}
    async with application(config, [page]) as app:
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
            fields = {"text": "one = 1 & two", "times": "2", "tag": ["a", "b"]}
            taken = await http.post("/wish", data=fields, headers=signed)
            odd = await http.post("/wish", data={"text": "x", "times": "many"}, headers=signed)
            more = await http.post("/wish", data={**fields, "x": "y"}, headers=signed)
            api = await http.post("/api/runs", data=fields, headers=signed)
    assert taken.json() == {"text": "one = 1 & two", "times": 2, "tag": ["a", "b"]}
    assert (odd.status_code, more.status_code, api.status_code) == (422, 422, 415)


async def test_a_body_that_does_not_fit_is_told_what_would() -> None:
    """Of which type it is, and which fields there are."""
    async with site(agents={"greeter": greeter()}) as here:
        url, signed = f"{here.url}/api/runs", here.by(ADA).headers
        for kind, words in (({}, "no content type"), ({"content-type": "text/x"}, "'text/x'")):
            answer = await here.http.post(url, content=b"{}", headers={**signed, **kind})
            assert (answer.status_code, words in answer.json()["message"]) == (415, True)
        fields = "it takes agent, question, attachments, request, labels, session"
        new = {"agent": "greeter", "question": "Hi.", "model": "x"}
        outer = await here.by(ADA).ask("POST", "/api/runs", new)
        inner = {"agent": "greeter", "question": "Hi.", "attachments": [{"odd": 1}]}
        deep = await here.by(ADA).ask("POST", "/api/runs", inner)
    assert (outer.status_code, deep.status_code) == (422, 422)
    assert "`model`" in outer.json()["message"]
    assert fields in outer.json()["message"]
    assert fields not in deep.json()["message"]
