"""Which models there are: what servers list, and what goes to them to get it."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest

from clew.models.catalog import priced_models, served
from clew.models.prices import price
from clew.models.resolve import providers
from clew.support.errors import ConfigError, ModelError

KEY = "sk-very-secret-0123456789"


@dataclass
class Lists:
    """A server of lists: what it was asked, with which headers."""

    url: str
    asked: list[tuple[str, Mapping[str, str]]] = field(
        default_factory=list[tuple[str, Mapping[str, str]]]
    )


@contextmanager
def listing(body: Any, status: int = 200, location: str = "") -> Iterator[Lists]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
            data = body if isinstance(body, bytes) else msgspec.json.encode(body)
            self.send_response(status)
            if location:
                self.send_header("location", location)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        found = Lists(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


OPENAI = {"object": "list", "data": [{"id": "a"}, {"id": "b:8b"}, {"object": "odd"}]}
GOOGLE = {
    "models": [
        {"name": "models/gemini-x", "supportedGenerationMethods": ["generateContent", "other"]},
        {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
    ]
}


@pytest.mark.parametrize(
    ("name", "env", "body", "path", "sent", "models"),
    [
        ("ollama", {}, OPENAI, "/models", {}, ("a", "b:8b")),
        ("openai", {"OPENAI_API_KEY": KEY}, OPENAI, "/models",
         {"authorization": f"Bearer {KEY}"}, ("a", "b:8b")),
        ("anthropic", {"ANTHROPIC_API_KEY": KEY}, OPENAI, "/v1/models?limit=1000",
         {"x-api-key": KEY, "anthropic-version": "2023-06-01"}, ("a", "b:8b")),
        ("anthropic", {"ANTHROPIC_AUTH_TOKEN": KEY}, OPENAI, "/v1/models?limit=1000",
         {"authorization": f"Bearer {KEY}", "anthropic-version": "2023-06-01"}, ("a", "b:8b")),
        ("gemini", {"GEMINI_API_KEY": KEY}, GOOGLE, "/v1beta/models?pageSize=1000",
         {"x-goog-api-key": KEY}, ("gemini-x",)),
        ("vllm", {}, {}, "/models", {}, ()),
    ],
    ids=["ollama", "openai", "anthropic", "token", "google", "empty"],
)  # fmt: skip
async def test_servers_are_asked_as_they_want_it(
    name: str,
    env: dict[str, str],
    body: Any,
    path: str,
    sent: Mapping[str, str],
    models: tuple[str, ...],
) -> None:
    address = providers()["google" if name == "gemini" else name].address
    with listing(body) as server:
        assert await served(name, {**env, address: f"{server.url}/"}) == models
    ((asked, headers),) = server.asked
    assert asked == path
    keys = {"authorization", "x-api-key", "x-goog-api-key", "anthropic-version"}
    assert {name: value for name, value in headers.items() if name in keys} == sent


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (OPENAI, 401, r"refused the key in OPENAI_API_KEY \(401\)"),
        (OPENAI, 403, r"refused the key in OPENAI_API_KEY \(403\)"),
        (OPENAI, 404, r"lists none \(404\)"),
        (b"<html>", 200, r"lists no models \(DecodeError\)"),
        ([], 200, r"lists no models \(ValidationError\)"),
    ],
)
async def test_what_is_no_list_is_said_without_a_secret(body: Any, status: int, said: str) -> None:
    with listing(body, status) as server:
        host = server.url.replace("http://", f"http://user:{KEY}@")
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": host}
        with pytest.raises(ModelError, match=f"^openai: http://127.*{said}") as caught:
            await served("openai", {**env, "OPENAI_BASE_URL": server.url})
        assert KEY not in str(caught.value)
        with pytest.raises(ModelError) as caught:
            await served("openai", env)
        assert KEY not in str(caught.value)


async def test_a_key_follows_no_redirect() -> None:
    with listing(OPENAI) as other, listing({}, 302, f"{other.url}/models") as server:
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.url}
        with pytest.raises(ModelError, match=r"lists none \(302\)"):
            await served("openai", env)
    assert (len(server.asked), other.asked) == (1, [])


async def test_nobody_is_there_to_be_asked() -> None:
    with listing({}) as server:
        pass
    with pytest.raises(ModelError, match=r"ollama: http://127.*lists no models .*refused"):
        await served("ollama", {"OLLAMA_BASE_URL": server.url})


@pytest.mark.parametrize(
    "address", ["file:///etc", "localhost:1234", "http://host:port", "http://[::1", ""]
)
async def test_an_address_that_cannot_be_one_is_not_asked(address: str) -> None:
    env = {"OLLAMA_BASE_URL": address}
    if address:
        with pytest.raises(ConfigError, match=r"ollama: .* is no address of a server; set OLLAMA_"):
            await served("ollama", env)
    for name in (name for name, provider in providers().items() if not provider.base_url):
        with pytest.raises(ConfigError, match="it has no address of a server; set"):
            await served(name, env)


async def test_a_proxy_is_asked_for_what_is_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    with listing(OPENAI) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://models.example/v1"}
        assert await served("openai", env) == ("a", "b:8b")
        assert proxy.asked[0][0] == "http://models.example/v1/models"
        with listing({}) as server:
            await served("vllm", {"VLLM_BASE_URL": server.url})
        assert (len(proxy.asked), len(server.asked)) == (1, 1)


def test_models_with_a_price_are_known() -> None:
    assert "gpt-4.1-mini" in priced_models("openai")
    assert priced_models("gemini") == priced_models("google") != ()
    assert priced_models("ollama") == ()
    for provider in ("openai", "anthropic", "google"):
        assert all(price(provider, model) is not None for model in priced_models(provider))
