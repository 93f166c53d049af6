"""Programs in Monty, a Python interpreter in a process of its own.

It has no files, sockets or processes, stops at every call of a function that it does not know, and
can dump a program in the midst of such a call. The package's README.md says what it supports.
"""

import ast
import re
import warnings
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

import pydantic_monty as monty
from anyio import to_thread

from clew import ToolError
from clew.support.error_text import message_of
from clew.support.json_arguments import refused, unfit
from clew_code.programs.interface import (
    CodeLimits,
    Finished,
    PendingCall,
    ProgramFailed,
    ProgramState,
    Raised,
    Returned,
    Session,
)
from clew_code.programs.value_size import LARGEST, parts_of, shortened, too_large

ROUNDS: Final = 10_000
"""How often a program may ask for a name, the clock or the like: none of that is a call."""

PATIENCE: Final = 5.0
"""Seconds past its limits after which the process of a program is killed."""

LONGEST_SLEEP: Final = 2.0

_TIME: Final = "time limit exceeded"
_MEMORY: Final = "memory limit"
"""It exceeded it, or its process was ended for that."""

_RENDERED: Final = re.compile(
    r"(range|slice)\((?:-?\d+|None)(?:, (?:-?\d+|None)){1,2}\)"
    r"|(dict_(?:keys|values|items))\(\[.*\]\)"
    r"|<(module|function|class) '[^']*'(?: at 0x[0-9a-f]+)?>|<([\w.]+) object[^<>]*>"
    r"|<(function) [\w.]+ at 0x[0-9a-f]+>"
    r"|<(built-in function|bound method|gather|coroutine)\b[^<>]*>"
    r"|<(re\.Match) object; span=\(\d+, \d+\), match=.*>"
    r"|(re)\.compile\((?:'.*'|\".*\")(?:, [\w.|]+)?\)|(functools\.partial)\(<.*\)",
    re.DOTALL,
)
"""How the interpreter hands over what it has no value for: as the text that would be printed."""

_FUNCTION: Final = "<function '{}'>"
"""The name of what stands for a tool, as which a program that passes it around hands it over."""

_DEEPER: Final = "<deeply nested>"
"""What stands where a value is nested more deeply than the interpreter hands over."""

_ITSELF: Final = frozenset({"[...]", "{...}", "(...)"})
_INSTANCE: Final = "..."
"""What stands within a list, dict or tuple that holds itself, and within an instance that does."""

_BETWEEN: Final = b"b"
_WITHIN: Final = b"w"
"""Before a dump: whether it was made between two programs, or in the midst of one."""


@dataclass(frozen=True)
class Monty:
    """The executor that `run_code` uses by default."""

    @property
    def name(self) -> str:
        """The interpreter and its version."""
        return f"monty/{monty.__version__}"

    @asynccontextmanager
    async def open(
        self, limits: CodeLimits, functions: Sequence[str], seed: str
    ) -> AsyncGenerator[Session]:
        """A session in a process of its own."""
        try:
            pool = monty.Monty(max_processes=1, request_timeout=limits.seconds + PATIENCE)
            await to_thread.run_sync(pool.__enter__)
        except Exception as error:  # whatever it raises where its program is not found
            message = f"the interpreter of programs does not start: {message_of(error)}"
            raise ToolError(message) from error
        try:
            checkout = partial(pool.checkout, limits=_limits(limits), os_policy=_policy(seed))
            session = checkout()
            await to_thread.run_sync(session.__enter__)
            try:
                yield _MontySession(session, limits, functions)
            finally:
                await to_thread.run_sync(session.__exit__, None, None, None)
        finally:
            await to_thread.run_sync(pool.__exit__, None, None, None)


def _limits(limits: CodeLimits) -> monty.ResourceLimits:
    return {
        "max_feed_duration_secs": limits.seconds,
        "max_turn_duration_secs": limits.stretch,
        "max_memory": limits.memory,
        "max_recursion_depth": limits.depth,
        "max_suspensions": 1_000 * ROUNDS,  # of a session: a program's are counted here
        "max_total_sleep_secs": limits.seconds,
    }


def _policy(seed: str) -> monty.OSPolicy:
    return {"random_start": {"seed": seed}, "sleep_system_max": LONGEST_SLEEP}


class _MontySession:
    """A session of Monty; what it does takes a thread, which waits for the process."""

    def __init__(
        self, session: monty.MontySession, limits: CodeLimits, functions: Sequence[str]
    ) -> None:
        self._session, self._limits = session, limits
        self._functions = {name: _stub(name) for name in functions}
        self._names = {stub.__name__: name for name, stub in self._functions.items()}
        self._waiting_at: monty.FunctionSnapshot | None = None
        self._rounds = 0
        self._printed_texts: list[str] = []
        self._chars_left = limits.output

    async def start(self, program: str) -> ProgramState:
        """Run a program."""
        self._rounds, self._chars_left = 0, self._limits.output
        if line := _half_a_character(program):
            text = "a text with half a character, which this interpreter cannot hold"
            return ProgramFailed(f"SyntaxError: line {line}: {text}")
        begin = partial(self._session.feed_start, program, print_callback=self._print)
        return await to_thread.run_sync(self._drive, begin)

    async def resume(self, result: Returned | Raised) -> ProgramState:
        """Go on with the result of a call."""
        waits, self._waiting_at = self._waiting_at, None
        if waits is None:
            raise RuntimeError("no program waits for a result here: start one")
        resumed: monty.ExternalResult = (
            {"return_value": result.value}
            if isinstance(result, Returned)
            else _exception(result.kind, result.text)
        )
        return await to_thread.run_sync(self._drive, partial(waits.resume, resumed))

    def printed(self) -> str:
        """What was printed since the last call of this method."""
        text, self._printed_texts = "".join(self._printed_texts), []
        return text

    async def dump(self) -> bytes:
        """The session's, or the waiting program's; its first byte says which."""
        if self._waiting_at is None:
            return _BETWEEN + self._session.dump()
        return _WITHIN + self._waiting_at.dump()

    async def load(self, state: bytes) -> bool:
        """Restore from a dump."""
        try:
            await to_thread.run_sync(self._load, state)
        except (
            monty.MontyError,
            RuntimeError,
            TypeError,
        ):  # it was changed, or is another version's
            return False
        return True

    def _load(self, state: bytes) -> None:
        if state.startswith(_BETWEEN):
            self._session.load_session(state.removeprefix(_BETWEEN))
            return
        within = state.removeprefix(_WITHIN)
        waits = self._session.load_snapshot(within, print_callback=self._print)
        if not isinstance(waits, monty.FunctionSnapshot):
            raise TypeError("it waits for no call")
        self._waiting_at = waits

    def _print(self, _stream: str, text: str) -> None:
        """Keep the beginning of what is printed."""
        if self._chars_left > 0:
            self._printed_texts.append(text[: self._chars_left])
            if len(text) > self._chars_left:
                self._printed_texts.append("\n[… more was printed, and is not kept]\n")
        self._chars_left -= len(text)

    def _drive(self, begin: Callable[[], monty.SyncSnapshot]) -> ProgramState:
        """Answer the interpreter's own questions until the program calls a tool, or ends."""
        try:
            here = begin()
            while not isinstance(here, monty.MontyComplete):
                self._rounds += 1
                endless = self._rounds > ROUNDS + self._limits.calls
                if endless or isinstance(here, monty.FutureSnapshot):  # no call here is a future
                    return ProgramFailed("the program never comes to an end", lost=True)
                if isinstance(here, monty.NameLookupSnapshot):
                    here = self._look_up(here)
                elif here.is_os_function:
                    here = here.resume_not_handled()
                elif wrong := self._wrong(here):
                    here = here.resume(wrong)
                else:
                    self._waiting_at = here
                    return PendingCall(self._name(here), here.args, here.kwargs)
            return Finished(_text_of(here.output))
        except monty.MontyCrashedError as error:
            return ProgramFailed(f"the interpreter ended: {message_of(error)}", lost=True)
        except (monty.MontyRuntimeError, monty.MontySyntaxError) as error:
            text = error.display()
            return ProgramFailed(shortened(text), lost=_TIME in text or _MEMORY in text)
        except (monty.MontyError, RuntimeError) as error:
            return ProgramFailed(shortened(message_of(error)), lost=True)

    def _look_up(self, here: monty.NameLookupSnapshot) -> monty.SyncSnapshot:
        if here.object_id is None and here.variable_name in self._functions:
            return here.resume(value=self._functions[here.variable_name])
        return here.resume()

    def _wrong(self, here: monty.FunctionSnapshot) -> monty.ExternalResult | None:
        """The error of a call of what is no tool, or with what cannot be handed over."""
        name = self._name(here)
        if here.object_id is not None or name not in self._functions:
            known = ", ".join(self._functions)
            return _exception(
                "NameError", f"name '{name}' is not defined; the functions are {known}"
            )
        if too_large([here.args, here.kwargs]):
            return None  # for that there is another complaint
        problem = refused(name, here.args, here.kwargs, _rendered)
        return _exception("TypeError", problem) if problem else None

    def _name(self, here: monty.FunctionSnapshot) -> str:
        """The name of the tool: where a program passed it around, it is called by another one."""
        name = str(here.function_name)
        return self._names.get(name, name)


def _half_a_character(program: str) -> int:
    """The line of a program's first text with half a character, which would be another; 0 if none.

    The interpreter puts the character for what cannot be read in its place.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a model writes there is nobody to warn
            nodes = [*ast.walk(ast.parse(program))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    texts = [one for one in nodes if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return min((one.lineno for one in texts if unfit(one.value)), default=0)


def _rendered(value: object) -> str:
    """What of a value, or of those within it, was turned into a text; "" if nothing.

    A text of those very words is refused too: nothing tells them apart.
    """
    waiting = [(value, frozenset[str]())]
    while waiting:
        one, itself = waiting.pop()
        if isinstance(one, str):
            if one == _DEEPER:
                return "what is nested too deeply"
            if one in itself:
                return "a value that holds itself"
            if (text := _RENDERED.fullmatch(one)) is not None:
                kind = next(filter(None, text.groups()))
                return f"a value of the type {kind}"
        elif (inner := parts_of(one)) is not None:
            plain = isinstance(one, list | tuple | dict)
            within = itself | (_ITSELF if plain else {_INSTANCE})
            waiting += [(each, within) for each in inner]
    return ""


def _text_of(value: Any) -> str:
    """The value that a program ends with, as Python writes it; "" for none."""
    if too_large(value):
        return f"(a value of over {LARGEST:,} characters or parts)"
    try:
        return "" if value is None else repr(value)
    except ValueError as error:  # a number that is longer than Python writes
        return f"({message_of(error)})"


def _exception(kind: str, text: str) -> monty.ExternalResult:
    return {"exc_type": cast("monty.ExcType", kind), "message": text}


def _stub(name: str) -> Callable[..., None]:
    """A function of that name, for programs that pass it around: Monty never calls it here."""

    def stub(*_args: Any, **_named: Any) -> None:
        raise AssertionError(name)

    stub.__name__ = stub.__qualname__ = _FUNCTION.format(name)
    return stub
