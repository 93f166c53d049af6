"""The interface of what executes programs that a model wrote: it stops at every call of a tool.

Nothing here is to be inherited: an executor is whatever has these methods. It knows neither runs
nor records: `clew_code.programs.tool` asks for the calls, and keeps what it dumps.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import msgspec

from clew.support.settings import check_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeLimits:
    """What a program may take; every one of them is always set.

    `seconds` of work in all, and `stretch` of them between two calls: waiting for calls does not
    count. `memory` is in bytes, `depth` how deep functions may call each other, `calls` how many
    tools it may call, `output` how many characters of what it prints are kept.
    """

    seconds: float = 10.0
    stretch: float = 1.0
    memory: int = 100_000_000
    depth: int = 200
    calls: int = 200
    output: int = 20_000

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)


class PendingCall(msgspec.Struct, frozen=True):
    """The program called a function that is not its own, and waits."""

    name: str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}


class Finished(msgspec.Struct, frozen=True):
    """The program came to its end; `value` is its last expression's, as Python writes it, or ""."""

    value: str = ""


class ProgramFailed(msgspec.Struct, frozen=True):
    """The program ended in an error, with the line. `lost`: its session is of no use any more."""

    error: str
    lost: bool = False


class Returned(msgspec.Struct, frozen=True):
    """The result of a call: a JSON value."""

    value: Any = None


class Raised(msgspec.Struct, frozen=True):
    """The exception that a call ends in, within the program: a built-in one's name and its text."""

    kind: str
    text: str


ProgramState: TypeAlias = PendingCall | Finished | ProgramFailed
"""Where a program stopped: at a call of a function, at its end, or at an error."""


class Session(Protocol):
    """The variables of one run, and the program that is at work on them. One call at a time."""

    async def start(self, program: str) -> ProgramState:
        """Run a program until it calls a function, or ends: `ProgramFailed` says what is wrong."""
        ...

    async def resume(self, result: Returned | Raised) -> ProgramState:
        """Continue the program with the result of the call that it waits for."""
        ...

    def printed(self) -> str:
        """What was printed since the last call of this method."""
        ...

    async def dump(self) -> bytes:
        """All that `load` needs, or b"" where it cannot be had: then programs are run anew."""
        ...

    async def load(self, state: bytes) -> bool:
        """Restore from a dump, made during a program or between two; False if impossible.

        Asked of a new session only, and of no other executor's dump (`Executor.name`).
        """
        ...


class Executor(Protocol):
    """Opens sessions. A dump is loaded only by the executor of the same name and version."""

    @property
    def name(self) -> str:
        """Such as "monty/1.4.0"."""
        ...

    def open(
        self, limits: CodeLimits, functions: Sequence[str], seed: str
    ) -> AbstractAsyncContextManager[Session]:
        """A new session in which these functions may be called; `seed` is that of its randomness.

        Raises `ToolError` where there is none to be had.
        """
        ...
