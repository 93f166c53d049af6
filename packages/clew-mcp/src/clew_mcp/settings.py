"""How a server of the Model Context Protocol (MCP) is reached, and what its tools may do."""

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import msgspec

from clew import ConfigError
from clew.guards import Labels
from clew.interfaces import Effect
from clew.models.validate import check_header
from clew.support.settings import check_fields

Grant: TypeAlias = Literal["authorization_code", "client_credentials"]

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,31}")
_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_SECRET: Final = re.compile(
    r"authorization|cookie|api[-_]?key|token|secret|password", re.IGNORECASE
)
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
"""What is meant as one, be it right or wrong; a drive of Windows has one letter."""
_NO_NAME: Final = re.compile(r"[^A-Za-z0-9-]+")
_GENERIC: Final = frozenset({"api", "com", "http", "https", "localhost", "mcp", "org", "www"})
_SCRIPT: Final = re.compile(r"\.(py|js|mjs|ts|sh|exe)$")


class McpAuth(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """How clew signs in at a server (OAuth 2.1).

    `client_credentials` needs `client_id` and `client_secret`, and `issuer` says which
    authorization server may be sent them. `authorization_code` has a person sign in with a browser:
    clew shows the address and listens on 127.0.0.1:`port` for the answer. `${NAME}` in the secret
    is the environment variable of that name.
    """

    grant: Grant = "authorization_code"
    client_id: str = ""
    client_secret: str = ""
    issuer: str = ""
    scope: str = ""
    port: int = 8976

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)


class McpServer(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A server of MCP tools: a `command` that clew starts, or the `url` of a running one.

    `${NAME}` in `args`, `env`, `url` and `headers` is the environment variable of that name; what
    looks like a key and names no variable is refused. A command gets a small environment (PATH,
    HOME, language) and `env`. `timeout` bounds one call and `connect_timeout` one connection, in
    seconds.

    Until you say otherwise every tool is `unsafe` and its results are untrusted: `effects` maps
    tools to effects, `trusted` names tools whose results are trusted, `labels` maps tools to
    labels, and `only` names the tools to offer. `resources` and `prompts` add tools that list and
    read those. `sampling` is the number of tokens of your model that one call may spend on the
    server's own questions; 0 refuses them. `roots` are folders that the server is told of.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    auth: McpAuth | None = None
    timeout: float = 120.0
    connect_timeout: float = 30.0
    effects: dict[str, Effect] = {}
    trusted: tuple[str, ...] = ()
    labels: dict[str, Labels] = {}
    only: tuple[str, ...] = ()
    resources: bool = False
    prompts: bool = False
    sampling: int = 0
    roots: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ConfigError` where this can be no server."""
        check_fields(self)
        if not _NAME.fullmatch(self.name):
            raise ConfigError(
                f"{self.name!r} is no name for an MCP server: use up to 32 letters, digits and -",
                field="name",
            )
        if bool(self.command) == bool(self.url):
            raise ConfigError(f"the MCP server {self.name} needs a command or a url, and not both")
        self._check_url()
        if self.auth is not None and not self.url:
            raise ConfigError(
                f"the MCP server {self.name} has no url to sign in at: drop auth", field="auth"
            )
        for name in ("timeout", "connect_timeout"):
            if not getattr(self, name) > 0:
                message = f"the timeouts of the MCP server {self.name} must be positive"
                raise ConfigError(message, field=name)
        self._check_way()
        self._check_secrets()
        for folder in self.roots:
            if not Path(folder).is_dir():
                raise ConfigError(
                    f"roots of the MCP server {self.name} name {folder}, which is no folder: make "
                    "it, or name another",
                    field="roots",
                )

    def _check_way(self) -> None:
        """Raise `ConfigError` for what only a server of the other kind is given."""
        if self.command and self.headers:
            raise ConfigError(
                f"headers go to a url, and the MCP server {self.name} is a command: use env, or "
                "drop them",
                field="headers",
            )
        for name in ("args", "env", "cwd"):
            if self.url and getattr(self, name):
                raise ConfigError(
                    f"{name} goes to a command, and the MCP server {self.name} has a url: drop it",
                    field=name,
                )

    def _check_url(self) -> None:
        if self.url and not _is_absolute(self.url):
            raise ConfigError(
                f"the url of the MCP server {self.name} must begin with https:// or http:// and "
                "name a host, and a port below 65536 if any",
                field="url",
            )

    def _check_secrets(self) -> None:
        values = {("env", name): text for name, text in self.env.items()}
        values |= {("headers", name): text for name, text in self.headers.items()}
        if self.auth is not None:
            values["auth", "client_secret"] = self.auth.client_secret
        for (table, name), text in values.items():
            if text and _SECRET.search(name) and not _VARIABLE.search(text):
                raise ConfigError(
                    f"the value of {name} of the MCP server {self.name} would be in the record of "
                    "every run: name a variable of the environment, such as ${NAME}",
                    field=f"{table}.{name}",
                )
        if "@" in urlsplit(self.url).netloc and not _VARIABLE.search(urlsplit(self.url).netloc):
            raise ConfigError(
                f"the url of the MCP server {self.name} has a password in it: name a variable of "
                "the environment, such as https://me:${PASSWORD}@host",
                field="url",
            )
        for name, text in self.headers.items():
            check_header(name, text)

    @property
    def address(self) -> str:
        """The command line or the URL, with its variables by name."""
        return self.url or shlex.join((self.command, *self.args))

    @property
    def key(self) -> str:
        """What tells its connection from others of this process."""
        return msgspec.json.encode(self, order="deterministic").decode()

    @property
    def endpoint(self) -> "ServerEndpoint":
        """The values of what names variables. Raises `ConfigError` where one is not set."""
        return ServerEndpoint(
            args=tuple(self._fill(one) for one in self.args),
            env={name: self._fill(text) for name, text in self.env.items()},
            url=self._fill(self.url),
            headers={name: self._fill(text) for name, text in self.headers.items()},
            client_secret=self._fill("" if self.auth is None else self.auth.client_secret),
        )

    def _fill(self, text: str) -> str:
        def value(match: re.Match[str]) -> str:
            if (known := os.environ.get(match[1])) is None:
                raise ConfigError(
                    f"the MCP server {self.name} names the variable {match[1]}, which is not set: "
                    "set it"
                )
            return known

        return _VARIABLE.sub(value, text)


class ServerEndpoint(NamedTuple):
    """What of a server's settings may hold keys, with the values of their variables."""

    args: tuple[str, ...]
    env: Mapping[str, str]
    url: str
    headers: Mapping[str, str]
    client_secret: str


def _is_absolute(url: str) -> bool:
    """Whether a URL says all that is needed to reach a server; variables may stand in it."""
    try:
        parts = urlsplit(url)
        reachable = bool(_VARIABLE.search(parts.netloc)) or (parts.hostname and parts.port != 0)
    except ValueError:  # of a port that is none
        return False
    return bool(reachable) and parts.scheme in ("http", "https")


def server_from(text: str) -> McpServer:
    """The server that a person names in a line: `[NAME=]URL` or `[NAME=]COMMAND ARGS`.

    Without a name it is called after its program or host. Raises `ConfigError`.
    """
    name, equals, rest = text.partition("=")
    if not (equals and _NAME.fullmatch(name)):
        name, rest = "", text
    rest = rest.strip()
    if _URL.match(rest):
        return McpServer(name=name or _name_of_url(rest), url=rest)
    try:
        words = shlex.split(rest)
    except ValueError as error:
        raise ConfigError(f"{text!r} is no command line: {error}") from error
    if not words:
        raise ConfigError("an MCP server needs a command line or a URL: name one")
    return McpServer(name=name or _name_of_command(words), command=words[0], args=(*words[1:],))


def servers_by_name(servers: Sequence[McpServer]) -> Mapping[str, McpServer]:
    """The servers by name. Raises `ConfigError` where two have one name."""
    by_server_name: dict[str, McpServer] = {}
    for each in servers:
        if each.name in by_server_name:
            raise ConfigError(f"two MCP servers are called {each.name}: rename one (NAME=…)")
        by_server_name[each.name] = each
    return by_server_name


def _name_of_url(url: str) -> str:
    host = (urlsplit(url).hostname or "") if _is_absolute(url) else ""  # else it is refused anyway
    parts = [part for part in host.split(".") if part not in _GENERIC and not part.isdigit()]
    return _as_name(parts[-1] if parts else "server")


def _name_of_command(words: Sequence[str]) -> str:
    """What a command is about: its last word that is no option, such as a package or a script."""
    named = [word for word in words if not word.startswith("-") and word != "."]
    packages = [word for word in named[1:] if "server" in word or _SCRIPT.search(word)]
    word = (packages or named or ["server"])[0]
    word = word.rstrip("/").rpartition("/")[2].partition("@")[0] or word
    return _as_name(_SCRIPT.sub("", word))


def _as_name(word: str) -> str:
    for noise in ("mcp-server-", "server-", "mcp-"):
        word = word.removeprefix(noise)
    name = _NO_NAME.sub("-", word).strip("-")[:32]
    return name if _NAME.fullmatch(name) else "server"


def printable(text: str) -> str:
    """A server's text on one line for people: what cannot be seen is shown as its code point."""
    return "".join(sign if _is_visible(sign) else _code(sign) for sign in text)


def _is_visible(sign: str) -> bool:
    return sign == " " or (sign.isprintable() and not 0xFE00 <= ord(sign) <= 0xFE0F)


def _code(sign: str) -> str:
    return json.dumps(sign)[1:-1] if ord(sign) < 0x20 else f"\\u{{{ord(sign):x}}}"
