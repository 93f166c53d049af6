"""File changes whose outcome can be determined after a crash.

Before the first file is touched, the record gets the hash of each file before and after the change.
An interrupted call is settled by comparing: a file with its new hash is done, one with its old hash
is not done, and anything else is unknown. An attempt without recorded hashes touched nothing. So a
repeated call has its effect once: these tools are idempotent.
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
    """A file, its content before (None: absent) and after the change (None: removed).

    Its permissions will be those of `like`, or of `before`.
    """

    path: str
    before: File | None
    after: bytes | None
    like: File | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Changes that belong together, and the message once they are made."""

    changes: Sequence[Change]
    said: str


class _Expected(msgspec.Struct, frozen=True, array_like=True):
    """One change as recorded: the path, and the hashes before and after."""

    path: str
    before: str
    after: str


async def apply_plan(root: Root, make_plan: Callable[[], Plan]) -> Observation:
    """Make the changes of a plan, or settle those that an earlier attempt began.

    `make_plan` reads files, and raises `ToolError` if nothing can be done.
    """
    call = CALL.get()
    if call is not None and call.task:
        expected = msgspec.json.decode(call.task, type=list[_Expected])
        settled = await to_thread.run_sync(_settle, root, expected)
        if settled is not None:
            return settled
    try:
        plan = await to_thread.run_sync(make_plan)
    except ToolError as error:  # in lines, where a message of an exception is one
        text = f"ERROR: tool_error: {error}"
        return Observation(content=text, ok=False, code="tool_error", outcome="not_done")
    if call is not None:
        await call.begun(encode([_expected(change) for change in plan.changes]).decode())
    return await to_thread.run_sync(_apply, root, plan)


def _expected(change: Change) -> _Expected:
    before = None if change.before is None else change.before.data
    return _Expected(change.path, digest(before), digest(change.after))


def _apply(root: Root, plan: Plan) -> Observation:
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
            return _partial_result(done, rest, str(error))
        done.append(change.path)
    return Observation(content=plan.said, trust="trusted")


def _settle(root: Root, expected: Sequence[_Expected]) -> Observation | None:
    """The outcome of changes that were begun; None if none was made."""
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
    return _partial_result(done, [path for path in found if path not in done], why)


def _state(root: Root, one: _Expected) -> str:
    try:
        file = root.find(one.path)
    except ToolError:
        return "unknown"
    now = digest(None if file is None else file.data)
    return "done" if now == one.after else "not done" if now == one.before else "unknown"


def _partial_result(done: Sequence[str], rest: Sequence[str], why: str) -> Observation:
    """The observation of changes that were made in part, or whose outcome is unknown."""
    made = f"made: {', '.join(done)}" if done else "none was made for certain"
    text = f"ERROR: unknown: {why}. Changes {made}. Look at these first: {', '.join(rest)}"
    return Observation(content=text, ok=False, code="unknown", outcome="unknown")
