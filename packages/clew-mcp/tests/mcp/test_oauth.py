"""Signing in at a server: by a secret, and by a person with a browser, who is simulated."""

import base64
import json
import logging
import re
import socket
import stat
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.core.contents import Observation
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp import McpAuth, McpServer, mcp_tools, oauth
from clew_mcp.oauth import TokenFile
from tests.mcp.web import serving, shop

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])  # uvicorn's


class Gate:
    """A server that wants a token, and the authorization server that gives it."""

    def __init__(self, kind: bytes = b"application/json") -> None:
        self.kind = kind
        self.inner = shop().streamable_http_app()
        self.good = "first"
        self.asked: list[dict[str, str]] = []
        self.registered = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): text.decode() for name, text in scope.get("headers", ())}
        if scope["type"] == "lifespan" or headers.get("authorization") == f"Bearer {self.good}":
            await self.inner(scope, receive, send)
            return
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        here = f"http://{headers['host']}"
        status, said, more = self.answer(scope["path"], here, headers, body)
        kinds = [(b"content-type", self.kind if status == 401 else b"application/json"), *more]
        await send({"type": "http.response.start", "status": status, "headers": kinds})
        await send({"type": "http.response.body", "body": json.dumps(said).encode()})

    def answer(
        self, path: str, here: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, Any, list[tuple[bytes, bytes]]]:
        if path.startswith("/.well-known/oauth-protected-resource"):
            return 200, {
                "resource": f"{here}/mcp", "authorization_servers": [here],
                "scopes_supported": ["everything"],
            }, []  # fmt: skip
        if path.startswith("/.well-known/"):
            return 200, {
                "issuer": here, "authorization_endpoint": f"{here}/authorize",
                "token_endpoint": f"{here}/token", "registration_endpoint": f"{here}/register",
                "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
                "grant_types_supported": ["authorization_code", "client_credentials"],
            }, []  # fmt: skip
        if path == "/register":
            self.registered += 1
            return 201, {**json.loads(body), "client_id": "made-up"}, []
        if path == "/token":
            form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
            basic = headers.get("authorization", "").removeprefix("Basic ")
            self.asked.append({**form, "basic": base64.b64decode(basic).decode()})
            return 200, {"access_token": self.good, "token_type": "Bearer", "expires_in": 3600}, []
        where = f'Bearer resource_metadata="{here}/.well-known/oauth-protected-resource"'
        return 401, {"error": "who are you?"}, [(b"www-authenticate", where.encode())]


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The data folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("clew_mcp.oauth.data_folder", lambda: tmp_path / "data")
    return tmp_path / "data"


async def price(server: McpServer, folder: Path) -> Observation:
    """What a call of the server's tool is answered."""
    tools = await mcp_tools(server, pins=folder / "pins.json")
    store = MemoryStore()
    agent = Agent(ScriptedModel([act("shop_price", item="boat"), finish("done")]), tools=tools)
    result = await run(agent, "go", store=store)
    seen = (await read(result.run_id, store=store)).call("1.1").observation
    assert seen is not None
    return seen


@pytest.mark.parametrize(
    ("kind", "scope"), [(b"application/json", ""), (b"text/plain", "prices boats")]
)
async def test_a_secret_gets_a_token_which_is_kept_for_its_owner(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: bytes, scope: str
) -> None:
    monkeypatch.setenv("SHOP_SECRET", "s3cret")
    gate = Gate(kind)
    async with serving(gate) as url:
        auth = McpAuth(
            grant="client_credentials", client_id="me", client_secret="${SHOP_SECRET}", issuer=url,
            scope=scope,
        )  # fmt: skip
        server = McpServer(name="shop", url=f"{url}/mcp", auth=auth)
        assert (await price(server, tmp_path)).content == {"price": 4}
        assert (await price(server, tmp_path)).content == {"price": 4}
        assert [one["grant_type"] for one in gate.asked] == ["client_credentials"]
        assert gate.asked[0]["basic"] == "me:s3cret"
        (file,) = home.iterdir()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert "s3cret" not in file.read_text()
        gate.good = "second"  # the token is no longer taken: a new one is asked for
        assert (await price(server, tmp_path)).content == {"price": 4}
        assert [one["scope"] for one in gate.asked] == [scope or "everything"] * 2
        file.write_text("broken")
        assert (await price(server, tmp_path)).content == {"price": 4}


@pytest.mark.parametrize(("client_id", "scope"), [("", ""), ("", "boats"), ("known", "boats")])
async def test_a_person_signs_in_with_a_browser(
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    client_id: str,
    scope: str,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    gate = Gate()
    caplog.set_level(logging.WARNING, "clew")

    async def browse() -> None:
        while not (found := re.search(r"open (\S+)", caplog.text)):
            await anyio.sleep(0.01)
        query = parse_qs(urlsplit(found[1]).query)
        (back,), (state,) = query["redirect_uri"], query["state"]
        assert query["scope"] == [scope or "everything"]
        async with httpx2.AsyncClient() as client:
            other = await client.get(f"http://127.0.0.1:{port}/favicon.ico")
            done = await client.get(back, params={"code": "abc", "state": state})
        assert (other.status_code, done.status_code) == (404, 200)
        assert "go back to the terminal" in done.text

    async with serving(gate) as url, anyio.create_task_group() as group:
        with socket.socket() as free:  # once the server has its own port, for it may get this one
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = McpServer(
            name="shop", url=f"{url}/mcp", auth=McpAuth(client_id=client_id, port=port, scope=scope)
        )
        group.start_soon(browse)
        assert (await price(server, tmp_path)).content == {"price": 4}
    (asked,) = gate.asked
    assert (asked["grant_type"], asked["code"]) == ("authorization_code", "abc")
    assert asked["client_id"] == (client_id or "made-up")
    assert gate.registered == (0 if client_id else 1)
    assert [place.name for place in home.iterdir()] == ["mcp-tokens.json"]


async def test_without_a_terminal_nobody_is_asked_to_sign_in(home: Path, tmp_path: Path) -> None:
    async with serving(Gate()) as url:
        server = McpServer(name="shop", url=f"{url}/mcp", auth=McpAuth())
        with pytest.raises(ConfigError, match="wants somebody to sign in: run `clew mcp list`"):
            await mcp_tools(server, pins=tmp_path / "pins.json")
    assert [*home.iterdir()]  # the registration


@pytest.mark.usefixtures("home")
async def test_nobody_signs_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(oauth, "PATIENCE", 0.01)
    async with serving(Gate()) as url:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            auth = McpAuth(port=taken.getsockname()[1])
            server = McpServer(name="shop", url=f"{url}/mcp", auth=auth)
            told = "nobody can sign in: port .* is taken; set another port in auth"
            with pytest.raises(ConfigError, match=told):
                await mcp_tools(server, pins=tmp_path / "pins.json")
        with pytest.raises(ConfigError, match=r"nobody signed in within 0\.01 s"):
            await mcp_tools(server, pins=tmp_path / "pins.json")


@pytest.mark.usefixtures("home")
async def test_an_authorization_server_that_is_gone_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        nowhere = f"http://127.0.0.1:{gone.getsockname()[1]}"
    gate = Gate()
    answer = gate.answer

    def elsewhere(path: str, here: str, *more: Any) -> tuple[int, Any, list[tuple[bytes, bytes]]]:
        status, said, headers = answer(path, here, *more)
        return status, {**said, "authorization_servers": [nowhere]}, headers

    monkeypatch.setattr(gate, "answer", elsewhere)
    async with serving(gate) as url:
        server = McpServer(name="shop", url=f"{url}/mcp", auth=McpAuth())
        with pytest.raises(
            ConfigError, match="shop: ConnectError: All connection attempts failed"
        ) as told:
            await mcp_tools(server, pins=tmp_path / "pins.json")
    assert len(str(told.value).splitlines()) == 1


async def test_half_of_the_credentials_are_refused(tmp_path: Path) -> None:
    auth = McpAuth(grant="client_credentials", client_id="me")
    server = McpServer(name="shop", url="https://example.org/mcp", auth=auth)
    with pytest.raises(ConfigError, match="give client_id, client_secret and issuer"):
        await mcp_tools(server, pins=tmp_path / "pins.json")


async def test_a_file_without_tokens_has_none(tmp_path: Path) -> None:
    file = TokenFile(tmp_path / "no.json", "https://example.org")
    assert await file.get_tokens() is None
    assert await file.get_client_info() is None
