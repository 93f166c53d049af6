"""The server of `far_server` over HTTP, and the one that gives tokens for it."""

import base64
import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self
from urllib.parse import parse_qs

from tests.matrix.far_server import answer

TOKEN: Final = "matrix-token"
Reply = tuple[int, dict[str, str], Any]


class FarWebServer(ThreadingHTTPServer):
    """Open at /open/mcp; at /closed/mcp only for who shows the token of /token.

    `seen` has the headers of all requests to the two, `tokens` what was sent for a token.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[dict[str, str]] = []
        self.tokens: list[dict[str, str]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def reply(self, path: str, headers: dict[str, str], body: bytes) -> Reply:
        """The status, the headers and the value that answer a request."""
        if path == "/token":
            return self._token(headers, body)
        if path.startswith("/.well-known/oauth-protected-resource"):
            resource = f"{self.url}/closed/mcp"
            return 200, {}, {"resource": resource, "authorization_servers": [self.url]}
        if path.startswith("/.well-known/"):
            return 200, {}, {
                "issuer": self.url, "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token", "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
                "grant_types_supported": ["authorization_code", "client_credentials"],
            }  # fmt: skip
        if path not in {"/open/mcp", "/closed/mcp"}:
            return 404, {}, {}
        self.seen.append(headers)
        if path == "/closed/mcp" and headers.get("authorization") != f"Bearer {TOKEN}":
            where = (
                f'resource_metadata="{self.url}/.well-known/oauth-protected-resource/closed/mcp"'
            )
            return 401, {"www-authenticate": f"Bearer {where}"}, {"error": "no token"}
        message = json.loads(body or b"{}")
        if "id" not in message:
            return 202, {}, None
        reply = answer(message, os.environ.get("MATRIX_LEDGER", ""))
        return 200, {}, {"jsonrpc": "2.0", "id": message["id"], **reply}

    def _token(self, headers: dict[str, str], body: bytes) -> Reply:
        form = {key: values[0] for key, values in parse_qs(body.decode()).items()}
        basic = headers.get("authorization", "").removeprefix("Basic ")
        self.tokens.append({**form, "basic": base64.b64decode(basic).decode()})
        return 200, {}, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer a message."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self._send(*self._reply(body))

    def do_GET(self) -> None:
        """Answer who looks for a token; there is no stream of what the server says by itself."""
        is_well_known = self.path.startswith("/.well-known/")
        self._send(*self._reply(b"") if is_well_known else (405, {}, {}))

    def do_DELETE(self) -> None:
        """End a session: there are none."""
        self._send(405, {}, {})

    def _reply(self, body: bytes) -> Reply:
        assert isinstance(self.server, FarWebServer)
        headers = {name.lower(): text for name, text in self.headers.items()}
        return self.server.reply(self.path, headers, body)

    def _send(self, status: int, headers: dict[str, str], value: Any) -> None:
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"content-type": "application/json", **headers}.items():
            self.send_header(name, text)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Say nothing."""
