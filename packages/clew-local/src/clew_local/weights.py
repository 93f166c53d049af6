"""A model file in the memory of this process, behind llama.cpp's own server.

The server listens on a free port of this machine, for nobody but whoever knows its key. Through it
a reply ends as soon as nobody wants it, and several runs are served at once, each in a slot that
keeps the prompt's beginning.
"""

import logging
import os
import secrets
import threading
import weakref
from pathlib import Path
from typing import Any, Final, cast

import anyio.to_thread
import psutil
import xllamacpp  # type: ignore[import-untyped] # it has no types

from clew import ConfigError
from clew_local.gguf_header import GgufHeader, read_header
from clew_local.prompt_cache import PromptCache
from clew_local.settings import CONTEXT, SPARE, LocalSettings

_LLAMA: Final = cast("Any", xllamacpp)

LOG: Final = logging.getLogger("clew.models")

_GB: Final = 1 << 30


class Weights:
    """A model file to be loaded, or loaded, with settings: all models of it share one.

    `address` and `key` are those of the server, once `load` has returned.
    """

    def __init__(self, path: Path, settings: LocalSettings) -> None:
        self.path = path
        self.settings = settings
        self.header: GgufHeader = read_header(path)
        self.context = min(settings.context or CONTEXT, self.header.context or CONTEXT)
        self.key = secrets.token_hex(16)
        self.address = ""
        self._lock = threading.Lock()
        self._server: Any = None
        self._cache: PromptCache | None = None

    async def load(self) -> None:
        """Load it, if it is not yet. Raises `ConfigError` where it cannot be loaded."""
        if not self.address:
            await anyio.to_thread.run_sync(self._load, abandon_on_cancel=True)

    @property
    def bytes_needed(self) -> int:
        """What it takes of the memory: file, cache, and buffers."""
        return (
            self.header.size + self.header.cache_bytes * self.context * self.settings.slots + SPARE
        )

    def _load(self) -> None:
        with self._lock:
            if self.address:
                return
            free = psutil.virtual_memory().available
            if self.bytes_needed > free:
                message = (
                    f"{self.path.name} needs {self.bytes_needed / _GB:.1f} GB of memory and "
                    f"{free / _GB:.1f} GB are free: take a smaller file, or a shorter context or "
                    "fewer slots (CLEW_LOCAL_CONTEXT, CLEW_LOCAL_SLOTS)"
                )
                raise ConfigError(message)
            LOG.info("loading %s", self.path)
            self._cache = self._open_cache()
            try:
                self._server = _LLAMA.Server(self._params())
            except RuntimeError as error:
                message = (
                    f"llama.cpp cannot load {self.path}: it is damaged, or of a kind "
                    f"({self.header.architecture or 'unnamed'}) that xllamacpp does not know yet"
                )
                raise ConfigError(message) from error
            self.address = self._server.listening_address
            if self._cache is not None:
                self._cache.restore(self, self.settings.slots)

    def replied(self) -> None:
        """A reply has ended: keep what was read for it, if there is a folder for that."""
        if self._cache is not None:
            self._cache.save_soon(self)

    async def finish(self) -> None:
        """Wait until all that is to be kept is written."""
        if self._cache is not None:
            await anyio.to_thread.run_sync(self._cache.finish)

    def _open_cache(self) -> PromptCache | None:
        """The folder of the settings. Raises `ConfigError` where it cannot be made."""
        if not self.settings.cache:
            return None
        try:
            return PromptCache(Path(self.settings.cache), self.path, _LLAMA.__version__)
        except OSError as error:
            message = f"CLEW_LOCAL_CACHE={self.settings.cache}: {error.strerror}; name a folder"
            raise ConfigError(message) from error

    def _params(self) -> Any:
        params = _LLAMA.CommonParams()
        params.model.path = str(self.path)
        params.n_ctx = self.context * self.settings.slots
        params.n_parallel = self.settings.slots
        params.cpuparams.n_threads = self.settings.cores
        params.cpuparams_batch.n_threads = self.settings.cores
        params.no_extra_bufts = True  # else a copy of the weights is kept in another order
        params.fit_params = False  # the memory was looked at, and what was asked for is meant
        params.api_keys = [self.key]
        params.port = 0
        if self._cache is not None:
            params.slot_save_path = f"{self._cache.folder}{os.sep}"
            params.endpoint_slots = True
        params.ui = False
        params.warmup = False
        params.verbosity = -1
        return params


_SHARED: Final = weakref.WeakValueDictionary[tuple[Path, LocalSettings], Weights]()
_SHARED_LOCK: Final = threading.Lock()


def weights_of(path: Path, settings: LocalSettings) -> Weights:
    """The file with these settings; it is in memory once, for as long as a model of it is there."""
    with _SHARED_LOCK:
        key = (path.resolve(), settings)
        if (weights := _SHARED.get(key)) is None:
            weights = _SHARED[key] = Weights(path, settings)
        return weights
