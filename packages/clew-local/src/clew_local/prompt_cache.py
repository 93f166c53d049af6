"""What a model has read of its prompts, kept in files: the next process need not read it again.

llama.cpp keeps the computed beginning of a prompt (the KV cache) in each slot of its server, and
can write a slot to a file. A folder has one file for each slot, for each model file.
"""

import hashlib
import http.client
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import msgspec

from clew.support.private_files import make_folder

LOG: Final = logging.getLogger("clew.models")

_SAMPLE: Final = 1 << 20
"""Bytes of a model file's beginning and end by which it is known, with its size."""


class Server(Protocol):
    """Where llama.cpp's server listens, and the key that it wants."""

    address: str
    key: str


class _Slot(msgspec.Struct):
    """A slot as the server lists it; `id_task` is the last request that it served."""

    id: int
    is_processing: bool
    id_task: int = -1


class PromptCache:
    """The slots of one server in a folder. What fails is logged, and read again by the model."""

    def __init__(self, folder: Path, model: Path, version: str) -> None:
        """Make the folder of the model file, as read by a version of llama.cpp."""
        self.folder = folder / _known_by(model, version)
        make_folder(self.folder)
        self._saved: dict[int, int] = {}
        self._saver = ThreadPoolExecutor(1, "clew-prompt-cache")

    def restore(self, server: Server, slots: int) -> None:
        """Fill the slots of a server that has served nobody yet."""
        for slot in range(slots):
            path, file = f"/slots/{slot}?action=restore", self.folder / f"slot-{slot}.bin"
            if file.is_file() and _ask(server, path, {"filename": file.name}) is None:
                file.unlink(missing_ok=True)

    def save_soon(self, server: Server) -> None:
        """Write the slots that have served a request since they were written last, in a thread.

        The server is referred to until that is done.
        """
        self._saver.submit(self._save, server)

    def finish(self) -> None:
        """Wait until all is written."""
        self._saver.submit(int).result()

    def _save(self, server: Server) -> None:
        for slot in msgspec.convert(_ask(server, "/slots") or [], list[_Slot]):
            if slot.id_task < 0 or slot.is_processing or self._saved.get(slot.id) == slot.id_task:
                continue
            path, new = f"/slots/{slot.id}?action=save", self.folder / f"slot-{slot.id}.new"
            if _ask(server, path, {"filename": new.name}) is not None:
                self._saved[slot.id] = slot.id_task
                try:
                    new.replace(new.with_suffix(".bin"))
                except OSError as error:
                    LOG.info("no prompt cache: %s", error)


def _known_by(model: Path, version: str) -> str:
    """A name for a model file that no other file has."""
    size = model.stat().st_size
    with model.open("rb") as file:
        ends = file.read(_SAMPLE)
        file.seek(max(0, size - _SAMPLE))
        ends += file.read(_SAMPLE)
    known = hashlib.blake2b(f"{size} {version} ".encode() + ends, digest_size=8)
    return f"{model.stem}-{known.hexdigest()}"


def _ask(server: Server, path: str, body: dict[str, str] | None = None) -> Any:
    """What the server says; None, and a line in the log, where it refuses."""
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc)
    headers = {"authorization": f"Bearer {server.key}", "content-type": "application/json"}
    data = None if body is None else msgspec.json.encode(body)
    try:
        connection.request("GET" if body is None else "POST", path, data, headers)
        answer = connection.getresponse()
        answer_body = answer.read()
        if answer.status == http.client.OK:
            return msgspec.json.decode(answer_body)
        LOG.info("no prompt cache: %s %s: %.200r", path, answer.status, answer_body)
    except (OSError, http.client.HTTPException) as error:
        LOG.info("no prompt cache: %s: %s", path, error)
    finally:
        connection.close()
    return None
