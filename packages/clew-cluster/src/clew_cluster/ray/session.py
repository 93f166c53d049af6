"""Ray for one program: started quiet and on the loopback device, and ended without a trace."""

import logging
import os
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import ray
from ray._private import ray_constants, worker  # there is no public way to set this

from clew import ConfigError
from clew.support.error_text import message_of

RAY: Final[Any] = ray
"""Ray, whose own annotations leave much open."""

LOG: Final = logging.getLogger("clew.ray")
LOOPBACK: Final = "127.0.0.1"
_CONSTANTS: Final[Any] = ray_constants
_WORKER: Final[Any] = worker
_STORE_BYTES: Final = 80 << 20
"""Ray's least object store: what goes to actors and back are ids and answers."""

_VARIABLES: Final = {
    # One token a process, which remembers it; unless it is named, Ray keeps one in a file at home.
    "RAY_AUTH_TOKEN": secrets.token_hex(16),
    "RAY_DEDUP_LOGS": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # for the processes that Ray starts: no clusters
    "RAY_USAGE_STATS_ENABLED": "0",
}

_SILENT: Final[dict[str, Any]] = {
    "log_to_driver": False,
    "logging_level": "ERROR",
    "namespace": "clew",
}


@contextmanager
def session(address: str | None = None, cpus: int = 1) -> Generator[None]:
    """Be connected to Ray: as the program is already, to a cluster, or to one of its own.

    One of its own has `cpus`, no dashboard, and listens on loopback only; no process and no file
    of it outlives the context. Raises `ConfigError` where there is none to be had.
    """
    if RAY.is_initialized():
        yield
    elif address is None:
        with _own(cpus):
            yield
    else:
        _check(address)
        with _quiet():
            with _translate_errors(f"there is no Ray at {address}"), _signals():
                RAY.init(address, **_SILENT)
            try:
                yield
            finally:
                RAY.shutdown()


def _check(address: str) -> None:
    """See that somebody is there: Ray itself would try for minutes. Raises `ConfigError`."""
    if address == "auto":
        return
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit() or "/" in host:
        raise ConfigError(f"a Ray cluster is named host:port, or auto, not {address!r}")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise ConfigError(f"there is no Ray at {address}: {error.strerror or error}") from error


@contextmanager
def _own(cpus: int) -> Generator[None]:
    folder = Path(tempfile.mkdtemp(prefix="clew-ray-"))
    try:
        with _quiet():
            with _translate_errors("Ray cannot be started here"), _alone(), _signals():
                RAY.init(
                    "local",
                    num_cpus=cpus,
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES,
                    _node_ip_address=LOOPBACK,
                    _temp_dir=str(folder),
                    **_SILENT,
                )
            yield
    finally:
        RAY.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _quiet() -> Generator[None]:
    """Keep off the program's output what Ray says of dead workers: it goes to the log."""
    previous = _WORKER.print_to_stdstream

    def log(data: dict[str, Any], ignore_prefix: bool) -> None:  # noqa: FBT001 - as Ray calls it
        LOG.info("%s", " ".join(data["lines"]))

    _WORKER.print_to_stdstream = log
    try:
        yield
    finally:
        _WORKER.print_to_stdstream = previous


@contextmanager
def _alone() -> Generator[None]:
    """Have Ray take 127.0.0.1 for what it is: where it knows clusters it takes the outer address.

    It reads the variables when it is imported, or in the processes it starts, so both are set, and
    both put back.
    """
    before = {name: os.environ.get(name) for name in (*_VARIABLES, "RAY_AUTH_MODE")}
    clusters = _CONSTANTS.ENABLE_RAY_CLUSTER
    os.environ.update(_VARIABLES)
    _CONSTANTS.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        _CONSTANTS.ENABLE_RAY_CLUSTER = clusters
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _signals() -> Generator[None]:
    """Leave the program's own way of ending to it: Ray puts one in its place."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        with suppress(ValueError):  # not in the main thread: there Ray leaves it alone too
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _translate_errors(what: str) -> Generator[None]:
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise ConfigError(f"{what}: {message_of(error)[:300]}") from error
