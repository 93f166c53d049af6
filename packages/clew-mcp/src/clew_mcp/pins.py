"""The pinned definitions of a server: what it said of itself and its tools when you accepted it.

They are kept in a JSON file: beside an agent file (`AGENT.mcp.json`), else in clew's data folder.
Tools are made from the pins without asking the server; before a call they are compared with what
the server says then.
"""

import hashlib
import importlib
import os
import shlex
import tempfile
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec

from clew import ConfigError
from clew.interfaces import Json
from clew.support.private_files import make_folder

VERSION: Final = 1
"""Of the file's form."""

FIELDS: Final = (
    "name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution",
)  # fmt: skip
"""What is pinned of a tool, by the names of the protocol."""

_BESIDE: Final = ".mcp.json"
"""How a file of pins beside an agent file ends."""

_ADVICE: Final = "move it away, and pin the servers anew"


class ServerPins(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """What a server says of itself: name, version, address, instructions, and its tools.

    `tools` are definitions as the protocol writes them, sorted by name. `notes` say what else there
    was and cannot be used, in a line each; they do not count as a change.
    """

    address: str
    name: str = ""
    version: str = ""
    instructions: str = ""
    tools: tuple[dict[str, Json], ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON; the order of tools and of keys does not count."""
        document = msgspec.to_builtins(self)
        del document["notes"]
        return hashlib.sha256(canonical(document)).hexdigest()

    @cached_property
    def by_name(self) -> Mapping[str, dict[str, Json]]:
        """The tools' definitions by their names."""
        return {tool["name"]: tool for tool in self.tools}


def canonical(value: Json) -> bytes:
    """JSON with sorted keys and no spaces; texts stay as they are, byte for byte."""
    return msgspec.json.encode(value, order="sorted")


def pins_of(
    address: str,
    name: str,
    version: str,
    instructions: str,
    tools: Iterable[dict[str, Json]],
    notes: tuple[str, ...] = (),
) -> ServerPins:
    """The pins of what a server said; of its tools only the `FIELDS` count.

    They have the order of keys that their file has: a prompt is the same to the byte at first use
    and later.
    """
    kept = [{key: tool[key] for key in FIELDS if tool.get(key) is not None} for tool in tools]
    ordered = sorted(kept, key=lambda tool: (tool["name"], canonical(tool)))
    definitions: list[dict[str, Json]] = msgspec.json.decode(canonical(ordered))
    return ServerPins(address, name, version, instructions, (*definitions,), notes)


class PinFile:
    """A file of pins, by the names of their servers.

    `option` names it to `clew mcp`, by default itself; "" where it needs none.
    """

    def __init__(self, path: Path, option: str | None = None) -> None:
        self.path = path
        pins = f" --pins {shlex.quote(str(path.absolute()))}"
        self.option = pins if option is None else option

    def read(self) -> dict[str, ServerPins]:
        """All pins; none where there is no file. Raises `ConfigError` for one that is broken."""
        return self._form().servers

    def _form(self) -> "_Form":
        try:
            body = self.path.read_bytes()
        except FileNotFoundError:
            return _Form(VERSION, {})
        except OSError as error:
            message = f"the pins in {self.path} cannot be read ({error.strerror}): {_ADVICE}"
            raise ConfigError(message) from error
        try:
            return msgspec.json.decode(body, type=_Form)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            message = f"{self.path} holds no pins of MCP servers ({error}): {_ADVICE}"
            raise ConfigError(message) from error

    def get(self, name: str) -> ServerPins | None:
        """The pins of the server of that name, if there are any."""
        return self.read().get(name)

    def rejected(self, name: str) -> tuple[str, ...]:
        """Digests of what this server said and somebody rejected."""
        return self._form().rejected.get(name, ())

    def reject(self, name: str, digest: str) -> None:
        """Refuse all calls while the server says what has this digest."""
        form = self._form()
        known = [one for one in form.rejected.get(name, ()) if one != digest]
        self._write(_Form(VERSION, form.servers, {**form.rejected, name: (*known, digest)}))

    def put(self, name: str, pins: ServerPins | None) -> None:
        """Pin a server, or take its pins away."""
        form = self._form()
        servers = {key: known for key, known in form.servers.items() if key != name}
        rejected = {key: known for key, known in form.rejected.items() if key != name}
        if pins is not None:
            servers[name] = pins
            if kept := tuple(one for one in self.rejected(name) if one != pins.digest):
                rejected[name] = kept
        self._write(_Form(VERSION, servers, rejected))

    def _write(self, form: "_Form") -> None:
        """Replace the file as a whole."""
        body = msgspec.json.format(msgspec.json.encode(form, order="sorted"))
        try:
            make_folder(self.path.parent)
            handle, beside = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")
            with os.fdopen(handle, "wb") as file:
                file.write(body + b"\n")
            Path(beside).replace(self.path)
        except OSError as error:
            message = f"the pins cannot be written to {self.path}: {error.strerror}"
            raise ConfigError(message) from error


class _Form(msgspec.Struct, forbid_unknown_fields=True):
    """The whole file."""

    version: int
    servers: dict[str, ServerPins]
    rejected: dict[str, tuple[str, ...]] = {}


def pin_file(agent_file: str | Path | None = None) -> PinFile:
    """Where pins are kept: beside the agent file, or in clew's data folder."""
    if agent_file:
        agent = f" --agent {shlex.quote(str(agent_file))}"
        return PinFile(Path(agent_file).with_suffix(_BESIDE), agent)
    return PinFile(data_folder() / "mcp-pins.json", "")


def data_folder() -> Path:
    """The platform's folder for such data of this user."""
    dirs = importlib.import_module("platformdirs")  # dear to import, and most have an agent file
    folder: Path = dirs.user_data_path("clew", appauthor=False)
    return folder
