"""What a programmer may have to catch. What goes wrong *inside* a run is an event."""

from collections.abc import Generator
from contextlib import contextmanager


class ClewError(Exception):
    """Base of everything clew raises; its message is one line that says what to do."""


class ConfigError(ClewError):
    """The parts of an agent, or other settings, do not fit together."""


class ModelError(ClewError):
    """The provider gave no reply. Nothing was recorded; the run stays open."""


class StoreError(ClewError):
    """A record could not be read or written."""


class RunNotFoundError(StoreError):
    """The store has no run with this id."""


class RunExistsError(StoreError):
    """The store already has a run with this id."""


class StoreBusyError(StoreError):
    """Another process held a lock for longer than the store's `patience`: try again."""


class StoreUnreachableError(StoreError):
    """The store's server does not answer, or its file or folder is gone."""


class StoreDamagedError(StoreError):
    """The store does not contain what was written."""


class StoreNewerError(StoreError):
    """A newer version of clew wrote the store or the record; it may be intact."""


class ReplayError(StoreError):
    """A replay differs from its record.

    `step` is the number of the step (0 before the first thought); `field` is the dotted name of the
    first field that differs.
    """

    def __init__(self, step: int, field: str, message: str) -> None:
        super().__init__(f"step {step}, {field}: {message}")
        self.step = step
        self.field = field


class FencedError(StoreError):
    """Another worker has opened the run since; this one can append nothing more."""


class PartError(ClewError):
    """A part of your own failed: it raised, hung, or returned a wrong value. The run stays open."""


class ToolError(ClewError):
    """Raise it in a tool to tell the model what is wrong. It promises that nothing was done."""


@contextmanager
def one_error() -> Generator[None]:
    """Let tasks that ran together fail with one error, the first, not with a tree of groups."""
    try:
        yield
    except BaseExceptionGroup as group:
        with one_error():  # the first may be a group itself
            raise group.exceptions[0] from group


def message_of(error: BaseException) -> str:
    """The error's message on one line; its class where it has none, or none that can be read."""
    try:
        text = " ".join(writable(str(error)).split())
    except BaseException as worse:  # noqa: BLE001 - its own __str__ may raise whatever it likes
        text = f"(its message cannot be read: {type(worse).__name__})"
    return text or type(error).__name__


def described(error: BaseException) -> str:
    """The error's class and message on one line."""
    return f"{type(error).__name__}: {message_of(error)}"


def writable(text: str) -> str:
    """The text as a plain one, with a mark for each half of a character: no record holds those."""
    return str.encode(text, "utf-8", "replace").decode()
