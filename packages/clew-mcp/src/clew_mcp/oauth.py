"""Signing in at a server (OAuth 2.1): the SDK does the protocol, clew keeps the tokens.

Tokens lie in a file that only their owner may read. Whoever has to sign in with a browser is shown
the address on stderr, if a terminal is there; the answer comes to a port of this machine.
"""

import logging
import sys
import tempfile
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.abc
import httpx2
import msgspec
from anyio.abc import SocketStream
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, OAuthFlowError
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from clew import ConfigError
from clew.interfaces import Json
from clew.support.private_files import make_folder
from clew_mcp.pins import data_folder
from clew_mcp.settings import McpAuth, McpServer, ServerEndpoint, printable

LOG: Final = logging.getLogger("clew")

PATIENCE: Final = 300.0
"""Seconds that a person has to sign in."""

_HEAD_BYTES: Final = 16_384
_PAGE: Final = b"You may close this page and go back to the terminal."


class TokenFile:
    """The tokens and the registration of one server, in the file of all."""

    def __init__(self, path: Path, url: str) -> None:
        self._path = path
        self._url = url

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens, if there are any that can be read."""
        try:
            return OAuthToken.model_validate(self._read().get("tokens"))
        except ValidationError:
            return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the tokens."""
        self._write("tokens", tokens.model_dump(mode="json", exclude_none=True))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """What the authorization server knows this client by."""
        try:
            return OAuthClientInformationFull.model_validate(self._read().get("client"))
        except ValidationError:
            return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep it."""
        self._write("client", client_info.model_dump(mode="json", exclude_none=True))

    def _all(self) -> dict[str, dict[str, Json]]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, dict[str, Json]])
        except (OSError, msgspec.DecodeError):
            return {}  # whoever has no tokens signs in anew

    def _read(self) -> dict[str, Json]:
        return self._all().get(self._url, {})

    def _write(self, key: str, value: Json) -> None:
        kept = self._all()
        kept[self._url] = {**kept.get(self._url, {}), key: value}
        make_folder(self._path.parent)
        # made readable by its owner only, and in one piece
        with tempfile.NamedTemporaryFile(dir=self._path.parent, delete=False) as file:
            file.write(msgspec.json.encode(kept))
        Path(file.name).replace(self._path)


def auth_of(server: McpServer, auth: McpAuth, endpoint: ServerEndpoint) -> httpx2.Auth:
    """How requests to the server are signed."""
    storage = TokenFile(data_folder() / "mcp-tokens.json", endpoint.url)
    if auth.grant == "client_credentials":
        return _credentials(server, auth, endpoint, storage)
    sign_in = _SignIn(server.name, auth.port)
    metadata = _Metadata(
        redirect_uris=[AnyUrl(sign_in.address)],
        client_name="clew",
        scope=auth.scope or None,
        token_endpoint_auth_method="client_secret_basic" if endpoint.client_secret else "none",
    )
    return OAuthClientProvider(
        endpoint.url,
        metadata,
        _Known(storage, auth.client_id, endpoint.client_secret, metadata),
        sign_in.show,
        sign_in.answer,
    )


def _credentials(
    server: McpServer, auth: McpAuth, endpoint: ServerEndpoint, storage: TokenFile
) -> httpx2.Auth:
    if not (auth.client_id and endpoint.client_secret and auth.issuer):
        raise ConfigError(
            f"the MCP server {server.name} signs in with client_credentials: give client_id, "
            "client_secret and issuer"
        )
    made = ClientCredentialsOAuthProvider(
        endpoint.url,
        storage,
        auth.client_id,
        endpoint.client_secret,
        scope=auth.scope or None,
        issuer=auth.issuer,
    )
    made.context.client_metadata = _Metadata(**dict(made.context.client_metadata))
    return made


class _Metadata(OAuthClientMetadata):
    """What a client says of itself. A scope that it was given stays what it asks for.

    The SDK puts the scopes that the server names in its place, which are all that there are.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field, but no other scope."""
        if name != "scope" or self.scope is None:
            super().__setattr__(name, value)


class _Known:
    """Tokens of a client that may have been registered by hand, and then has an id."""

    def __init__(
        self, storage: TokenFile, client_id: str, secret: str, metadata: OAuthClientMetadata
    ) -> None:
        self.get_tokens = storage.get_tokens
        self.set_tokens = storage.set_tokens
        self.set_client_info = storage.set_client_info
        self._storage, self._client_id, self._secret = storage, client_id, secret
        self._metadata = metadata

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        if not self._client_id:
            return await self._storage.get_client_info()
        return OAuthClientInformationFull.model_validate({
            **self._metadata.model_dump(mode="json", exclude_none=True),
            "client_id": self._client_id,
            "client_secret": self._secret or None,
        })  # fmt: skip


class _SignIn:
    """A person signs in with a browser; the answer comes to this machine.

    It listens before the address is shown: some browsers are quick.
    """

    def __init__(self, server: str, port: int) -> None:
        self._server = server
        self._port = port
        self._listener: anyio.abc.Listener[SocketStream]
        self.address = f"http://127.0.0.1:{port}/callback"

    async def show(self, url: str) -> None:
        """Show where to sign in. Raises `OAuthFlowError` where nobody could."""
        if not sys.stderr.isatty():
            message = (
                f"the MCP server {self._server} wants somebody to sign in: run `clew mcp list` in "
                "a terminal"
            )
            raise OAuthFlowError(message)
        try:
            self._listener = await anyio.create_tcp_listener(
                local_host="127.0.0.1", local_port=self._port
            )
        except OSError as error:
            message = f"nobody can sign in: port {self._port} is taken; set another port in auth"
            raise OAuthFlowError(message) from error
        LOG.warning("sign in at the MCP server %s: open %s", self._server, printable(url))

    async def answer(self) -> AuthorizationCodeResult:
        """Wait for the browser to come back. Raises `OAuthFlowError` if it does not."""
        results: list[AuthorizationCodeResult] = []
        listener = self._listener

        async with anyio.create_task_group() as group:

            async def hear(stream: SocketStream) -> None:
                async with stream:
                    with anyio.move_on_after(5):
                        if (result := await _callback(stream)) is not None:
                            results.append(result)
                            group.cancel_scope.cancel()

            group.cancel_scope.deadline = anyio.current_time() + PATIENCE
            async with listener:
                await listener.serve(hear)
        if not results:
            raise OAuthFlowError(f"nobody signed in within {PATIENCE:g} s")
        return results[0]


async def _callback(stream: SocketStream) -> AuthorizationCodeResult | None:
    """Read one request of a browser and answer it; None for others than the one waited for."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _HEAD_BYTES:
        head += await stream.receive()
    target = head.split(b" ")[1:2]
    parts = urlsplit(target[0].decode("latin-1") if target else "")
    params = {key: values[0] for key, values in parse_qs(parts.query).items()}
    known = parts.path == "/callback" and "code" in params
    status = b"200 OK" if known else b"404 Not Found"
    size = str(len(_PAGE)).encode()
    await stream.send(
        b"HTTP/1.1 " + status + b"\r\nContent-Type: text/plain\r\nConnection: close\r\n"
        b"Content-Length: " + size + b"\r\n\r\n" + _PAGE
    )
    if not known:
        return None
    return AuthorizationCodeResult(
        code=params["code"], state=params.get("state"), iss=params.get("iss")
    )
