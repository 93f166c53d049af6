"""File changes that are made one at a time, and whose outcome can be determined after a crash.

A change holds the lock of its folder (`gate`) from the reading of the file to the rename. Before
the first file is touched, the record gets the hash of each file before and after the change. An
interrupted call is settled by comparing: a file with its new hash is done, one with its old hash is
not done, and anything else is unknown. If some files of a patch are done and the others not, the
others are changed now. An attempt without recorded hashes touched nothing. So a repeated call has
its effect once: these tools are idempotent.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec
from anyio import to_thread

from clew import Call, Observation, ToolError, Trajectory
from clew.interfaces import CALL, CallContext, encode
from clew_code.workspace import gate
from clew_code.workspace.root import File, Root, digest, version

DONE: Final = "done before the worker stopped, and found so now: "
COMPLETED: Final = "begun before the worker stopped, and completed now:\n"


@dataclass(frozen=True, slots=True)
class Change:
    """A file, its content before (None: absent) and after the change (None: removed).

    Its permissions will be those of `like`, or of `before`; `executable` changes who may run it.
    """

    path: str
    before: File | None
    after: bytes | None
    like: File | None = None
    executable: bool | None = None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """Changes that belong together, and the message once they are made.

    `overwritten` says that they replace or remove files whatever is in them: then nobody else may
    have changed these since the run read them.
    """

    changes: Sequence[Change]
    summary: str
    overwritten: frozenset[str] = frozenset()


PlanMaker: TypeAlias = Callable[[Collection[str]], ChangeSet]
"""Reads files and plans; the argument names files that an interrupted attempt has changed."""

Paths: TypeAlias = Sequence[tuple[str, bool]]
"""The paths that a call names, and whether it may create their folders."""


class _Expected(msgspec.Struct, frozen=True, array_like=True):
    """One change as recorded: the path, and the hashes before and after."""

    path: str
    before: str
    after: str


async def apply_plan(
    root: Root, key: str, paths: Callable[[], Paths], make_plan: PlanMaker
) -> Observation:
    """Make the changes of a plan, or settle those that an earlier attempt began.

    `paths` and `make_plan` raise `ToolError` if nothing can be done.
    """
    call = CALL.get()
    try:
        named = await to_thread.run_sync(_writable, root, paths)
        async with gate.exclusive(root, named):
            if call is not None and call.task:
                expected = msgspec.json.decode(call.task, type=list[_Expected])
                settled = await to_thread.run_sync(_settle, root, key, expected, make_plan)
                if settled is not None:
                    return settled
            plan = await to_thread.run_sync(make_plan, ())
            if call is not None:
                await to_thread.run_sync(_check_unseen, root, key, plan, call)
                await call.begun(encode([_expected(change) for change in plan.changes]).decode())
            return await to_thread.run_sync(_apply, root, key, plan)
    except ToolError as error:  # in lines, where a message of an exception is one
        text = f"ERROR: tool_error: {error}"
        return Observation(content=text, ok=False, code="tool_error", outcome="not_done")


def _writable(root: Root, paths: Callable[[], Paths]) -> Paths:
    named = paths()
    root.refuse_protected(path for path, _ in named)
    return named


def _expected(change: Change) -> _Expected:
    before = None if change.before is None else change.before.data
    if change.executable is None or change.after is None:
        return _Expected(change.path, digest(before), digest(change.after))
    was = change.before is not None and bool(change.before.mode & 0o100)
    return _Expected(
        change.path,
        _marked(before, executable=was),
        _marked(change.after, executable=change.executable),
    )


def _marked(data: bytes | None, *, executable: bool) -> str:
    """The hash of a content, and whether it is a program, where a change is about that too."""
    return digest(data) if data is None else digest(data) + ("+x" if executable else "-x")


def seen_versions(record: Trajectory, key: str) -> dict[str, str]:
    """The versions of files that the run knew when it asked for a call.

    What other calls of the same reply saw does not count: whoever asked had not seen it.
    """
    mine = record.call(key.rpartition(":")[2])
    parallel = {call.key for call in _parallel(record, mine)}
    versions: dict[str, str] = {}
    for call in record.calls:
        if call.observation is not None and call.key not in parallel:
            versions |= call.observation.versions
    return versions


def _parallel(record: Trajectory, mine: Call) -> list[Call]:
    """The calls that were asked for together with this one."""
    step = mine.key.partition(".")[0]
    same = [call for call in record.calls if call.key.partition(".")[0] == step]
    for parent in same:
        if any(call is mine for call in parent.asked) and parent.suspended is not None:
            new = len(parent.suspended.actions)
            earlier = {call.key for call in parent.asked[:-new]}
            return [call for call in same if call.key not in earlier]
    return same


def _check_unseen(root: Root, key: str, plan: ChangeSet, call: CallContext) -> None:
    """Refuse to replace or remove what somebody changed since the run read it."""
    known: dict[str, str] | None = None
    for change in plan.changes:
        if change.path not in plan.overwritten or change.before is None:
            continue
        now = version(change.before.data)
        known = seen_versions(call.record, key) if known is None else known
        seen = known.get(change.path)
        sibling = gate.changed_by_sibling(root, change.path, key)
        if sibling and seen != now:
            raise ToolError(
                f"{change.path} was changed by call {sibling} of the same reply: read it, then "
                "replace it"
            )
        if seen is not None and seen != now:
            raise ToolError(
                f"{change.path} was changed by somebody else since it was read (version {seen}, "
                f"now {now}): nothing was changed; read it again"
            )


def _apply(root: Root, key: str, plan: ChangeSet) -> Observation:
    """Make all changes; if one fails, undo those before it."""
    done: list[Change] = []
    for change in plan.changes:
        try:
            root.replace(
                change.path,
                change.after,
                before=digest(None if change.before is None else change.before.data),
                like=change.like or change.before,
                executable=change.executable,
            )
        except (ToolError, OSError) as error:
            why = str(error) if isinstance(error, ToolError) else _of_system(change.path, error)
            if left := _undo(root, done):
                rest = [one.path for one in plan.changes if one.path not in left]
                return _partial_result(left, rest, why)
            raise ToolError(f"{why}{'; all other files are as they were' * bool(done)}") from error
        done.append(change)
    return _made(root, key, plan.summary, [_expected(change) for change in plan.changes])


def _of_system(path: str, error: OSError) -> str:
    return f"{path} cannot be written: {error.strerror or error}"


def _undo(root: Root, done: Sequence[Change]) -> list[str]:
    """Undo changes, the last one first; gives the paths of those that could not be undone."""
    left: list[str] = []
    for change in reversed(done):
        old = None if change.before is None else change.before.data
        try:
            root.replace(change.path, old, before=digest(change.after), like=change.before)
        except (ToolError, OSError):
            left.append(change.path)
    return left


def _made(root: Root, key: str, summary: str, expected: Sequence[_Expected]) -> Observation:
    versions = {one.path: one.after[:12] for one in expected}
    for path, new in versions.items():
        gate.remember(root, path, key, new)
    return Observation(content=summary, trust="trusted", versions=versions)


def _settle(
    root: Root, key: str, expected: Sequence[_Expected], make_plan: PlanMaker
) -> Observation | None:
    """The outcome of changes that were begun; None if none was made."""
    by_path = {one.path: _state(root, one) for one in expected}
    states = set(by_path.values())
    if states == {"done"}:
        return _made(root, key, DONE + ", ".join(by_path), expected)
    if states == {"not done"}:
        return None
    done = [path for path, state in by_path.items() if state == "done"]
    rest = [path for path in by_path if path not in done]
    if "unknown" in states:
        changed = [path for path, state in by_path.items() if state == "unknown"]
        why = f"{', '.join(changed)} is neither as it was nor as it was to be"
        return _partial_result(done, rest, why)
    try:
        plan = make_plan(done)
    except ToolError as error:
        return _partial_result(done, rest, f"the rest cannot be made: {error}")
    if any(_expected(change) not in expected for change in plan.changes) or {
        change.path for change in plan.changes
    } != set(rest):
        return _partial_result(done, rest, "the worker stopped between two files")
    made = _apply(root, key, plan)
    if not made.ok:
        return made
    return _made(root, key, COMPLETED + plan.summary, expected)


def _state(root: Root, one: _Expected) -> str:
    try:
        file = root.find(one.path)
    except ToolError:
        return "unknown"
    now = digest(None if file is None else file.data)
    if file is not None and "x" in one.before + one.after:
        now = _marked(file.data, executable=bool(file.mode & 0o100))
    return "done" if now == one.after else "not done" if now == one.before else "unknown"


def _partial_result(done: Sequence[str], rest: Sequence[str], why: str) -> Observation:
    """The observation of changes that were made in part, or whose outcome is unknown."""
    made = f"made: {', '.join(done)}" if done else "none was made for certain"
    text = f"ERROR: unknown: {why}. Changes {made}. Look at these first: {', '.join(rest)}"
    return Observation(content=text, ok=False, code="unknown", outcome="unknown")
