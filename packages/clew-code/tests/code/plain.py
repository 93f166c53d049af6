"""An executor for tests: programs run in CPython, in a thread, and nothing of them is dumped."""

import io
import threading
import traceback
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from queue import SimpleQueue
from typing import Any

from anyio import to_thread

from clew_code.programs import (
    CodeLimits,
    Finished,
    PendingCall,
    ProgramFailed,
    Raised,
    Returned,
    Session,
)


class _Ended(BaseException):
    """The session is left in the midst of a program."""


class _Session:
    def __init__(self, functions: Sequence[str]) -> None:
        self.came = SimpleQueue[Any]()
        self.given = SimpleQueue[Any]()
        self.out = io.StringIO()
        self.names: dict[str, Any] = {name: self._function(name) for name in functions}
        self.names["print"] = lambda *said: print(*said, file=self.out)
        self.thread: threading.Thread | None = None

    def _function(self, name: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            self.came.put(PendingCall(name, args, named))
            result = self.given.get()
            if result is None:
                raise _Ended
            if isinstance(result, Returned):
                return result.value
            raise RuntimeError(result.text)

        return call

    def _run(self, program: str) -> None:
        try:
            exec(program, self.names)
        except _Ended:
            return
        except BaseException as error:  # noqa: BLE001 - whatever it is
            text = traceback.format_exception_only(error)[0].strip()
            self.came.put(ProgramFailed(text, lost="lost" in text))
        else:
            self.came.put(Finished())

    async def start(self, program: str) -> PendingCall | Finished | ProgramFailed:
        self.thread = threading.Thread(target=self._run, args=(program,), daemon=True)
        self.thread.start()
        return await to_thread.run_sync(self.came.get)

    async def resume(self, result: Returned | Raised) -> PendingCall | Finished | ProgramFailed:
        self.given.put(result)
        return await to_thread.run_sync(self.came.get)

    def printed(self) -> str:
        text = self.out.getvalue()
        self.out.seek(0)
        self.out.truncate()
        return text

    async def dump(self) -> bytes:
        return b""

    async def load(self, state: bytes) -> bool:
        raise AssertionError("there is no dump to load")


class Plain:
    """Opens sessions, and counts them."""

    name = "plain/1"

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []

    @asynccontextmanager
    async def open(
        self, limits: CodeLimits, functions: Sequence[str], seed: str
    ) -> AsyncGenerator[Session]:
        self.opened.append(seed)
        session = _Session(functions)
        yield session
        session.given.put(None)
        self.closed.append(seed)
