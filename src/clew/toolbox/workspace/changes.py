"""Changes of files, such that nobody has to guess later whether they were made.

Before the first file is touched, the record says of each what it holds and what it is to hold, by
their hashes. A call that was cut off is settled by looking: what has its new hash is done, what has
its old one is not, and anything else is unknown, and said. An attempt that left no hashes touched
nothing. So the same call, made again, has its effect once: these tools are idempotent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from anyio import to_thread

from clew.core.errors import ToolError
from clew.core.events import Observation, encode
from clew.core.interfaces import CALL
from clew.toolbox.workspace.root import File, Root, digest

DONE: Final = "done before the worker stopped, and found so now: "


@dataclass(frozen=True, slots=True)
class Change:
    """A file, what it holds (None: it is not there) and what it is to hold (None: remove it).

    Its rights will be those of `like`, or of `before`.
    """

    path: str
    before: File | None
    after: bytes | None
    like: File | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes that belong together, and what to say once they are made."""

    changes: Sequence[Change]
    said: str


class _Expected(msgspec.Struct, frozen=True, array_like=True):
    """One change as the record has it: the path, and the hashes before and after."""

    path: str
    before: str
    after: str


async def carry_out(root: Root, make_plan: Callable[[], Plan]) -> Observation:
    """Make the changes of a plan, or settle those that an earlier attempt began.

    `make_plan` reads files and raises `ToolError` where nothing can be done.
    """
    call = CALL.get()
    if call is not None and call.task:
        expected = msgspec.json.decode(call.task, type=list[_Expected])
        settled = await to_thread.run_sync(_settled, root, expected)
        if settled is not None:
            return settled
    try:
        plan = await to_thread.run_sync(make_plan)
    except ToolError as error:  # in lines, where a message of an exception is one
        text = f"ERROR: tool_error: {error}"
        return Observation(content=text, ok=False, code="tool_error", outcome="not_done")
    if call is not None:
        await call.begun(encode([_expected(change) for change in plan.changes]).decode())
    return await to_thread.run_sync(_carried_out, root, plan)


def _expected(change: Change) -> _Expected:
    before = None if change.before is None else change.before.data
    return _Expected(change.path, digest(before), digest(change.after))


def _carried_out(root: Root, plan: Plan) -> Observation:
    done: list[str] = []
    for change in plan.changes:
        before = _expected(change).before
        try:
            root.replace(
                change.path, change.after, before=before, like=change.like or change.before
            )
        except (ToolError, OSError) as error:
            if isinstance(error, ToolError) and not done:
                raise
            rest = [one.path for one in plan.changes if one.path not in done]
            return _half_done(done, rest, str(error))
        done.append(change.path)
    return Observation(content=plan.said, trust="trusted")


def _settled(root: Root, expected: Sequence[_Expected]) -> Observation | None:
    """What became of changes that were begun; None if none was made."""
    found = {one.path: _state(root, one) for one in expected}
    states = set(found.values())
    if states == {"done"}:
        return Observation(content=DONE + ", ".join(found), trust="trusted")
    if states == {"not done"}:
        return None
    if "unknown" in states:
        changed = [path for path, state in found.items() if state == "unknown"]
        why = f"{', '.join(changed)} is neither as it was nor as it was to be"
    else:
        why = "the worker stopped between two files"
    done = [path for path, state in found.items() if state == "done"]
    return _half_done(done, [path for path in found if path not in done], why)


def _state(root: Root, one: _Expected) -> str:
    try:
        file = root.find(one.path)
    except ToolError:
        return "unknown"
    now = digest(None if file is None else file.data)
    return "done" if now == one.after else "not done" if now == one.before else "unknown"


def _half_done(done: Sequence[str], rest: Sequence[str], why: str) -> Observation:
    """The observation of changes of which it is known which were made, or that one is unknown."""
    made = f"made: {', '.join(done)}" if done else "none was made for certain"
    text = f"ERROR: unknown: {why}. Changes {made}. Look at these first: {', '.join(rest)}"
    return Observation(content=text, ok=False, code="unknown", outcome="unknown")
