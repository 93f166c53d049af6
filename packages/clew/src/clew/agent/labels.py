"""Labels and the owner of a run: what a program says of it, to find it again and keep it apart."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final

import anyio

from clew.agent.question import Question, question_parts, same_question
from clew.agent.request_words import REQUEST
from clew.agent.session_names import session_of, session_run
from clew.core.events import Started
from clew.core.journal import load
from clew.core.redaction import redact
from clew.core.stores import RunInfo, Store
from clew.core.trajectory import Trajectory
from clew.stores import Where, store_at
from clew.stores.listing import Summary, runs_with, summary
from clew.stores.locks import at_work
from clew.stores.refusals import unknown_run
from clew.stores.turns import IfBusy
from clew.support.arguments import check_argument, check_number
from clew.support.errors import (
    ConfigError,
    FencedError,
    RunBusyError,
    RunExistsError,
    RunNotFoundError,
)
from clew.support.parts import Patience
from clew.support.settings import check_text
from clew.support.short_text import cut

MAX_LABELS: Final = 16
MAX_NAME: Final = 64
"""Characters that the name of a label may have."""

MAX_VALUE: Final = 256
"""Characters that the value of a label may have, an owner, or the name of who decides."""

MAX_TITLE: Final = 80

_LOOK: Final = 0.05
"""Seconds between two looks whether a run has begun."""


def checked_labels(labels: Mapping[str, str] | None) -> dict[str, str]:
    """The labels of a new run. Raises `ConfigError` for too many, too long or empty ones."""
    if labels is None:
        return {}
    check_argument("labels", labels, Mapping, 'a dict of texts, as {"user": "u17"}')
    if len(labels) > MAX_LABELS:
        message = f"labels has {len(labels)} names: give {MAX_LABELS} at most"
        raise ConfigError(message, field="labels")
    for name, value in labels.items():
        _check_length("the name of a label", name, MAX_NAME)
        _check_length(f"the label {name!r}", value, MAX_VALUE, empty=True)
    return dict(labels)


def check_same_run(
    record: Trajectory, goal: Question | None, labels: Mapping[str, str] | None, owner: str | None
) -> None:
    """Raise where a run is another than what is asked for by its id; None says nothing of it.

    `RunNotFoundError` for another owner's, `ConfigError` for another question or other labels.
    """
    check_owner(record, checked_owner(owner))
    asked = record.started.question if goal is None else question_parts("the question", goal)
    if not same_question(record.started.question, asked):
        message = f"run {record.run_id} answers another question: give this one an id of its own"
        raise ConfigError(message)
    _check_labels(record, labels)


def _check_labels(record: Trajectory, labels: Mapping[str, str] | None) -> None:
    if labels is None:
        return
    begun, asked = record.started.labels, redact(checked_labels(labels))
    names = begun.keys() - {REQUEST} | asked.keys()
    if differing := sorted(name for name in names if begun.get(name) != asked.get(name)):
        message = (
            f"run {record.run_id} was begun with another label {differing[0]!r}: leave its labels "
            "out, or give this one an id of its own"
        )
        raise ConfigError(message, field="labels")


def checked_owner(owner: str | None) -> str:
    """The owner of a new run, "" for nobody. Raises `ConfigError` for an empty name or a secret.

    "" is refused: a program that does not know who asks must not see everybody's runs.
    """
    if owner is None:
        return ""
    _check_length("the owner", owner, MAX_VALUE)
    if redact(owner) != owner:
        message = "the owner holds a secret, which no record keeps: name it by something else"
        raise ConfigError(message, field="owner")
    return owner


def check_by(by: str) -> None:
    """Raise `ConfigError` for what names nobody who decides: no text, or a long one."""
    _check_length("by", by, MAX_VALUE, empty=True)


def _check_length(what: str, value: object, max_chars: int, *, empty: bool = False) -> None:
    check_text(what, value)
    size = len(str(value))
    if not size and not empty:
        message = f"{what} is empty: name it, or leave it out"
        raise ConfigError(message)
    if size > max_chars:
        message = f"{what} has {size:,} characters: give {max_chars} at most"
        raise ConfigError(message)


async def load_of(store: Store, run_id: str, owner: str | None = None) -> Trajectory:
    """The record of a run. With an `owner`, another's run is not found, like one that is missing.

    Raises `RunNotFoundError`, and `ConfigError` for an owner that cannot be one.
    """
    expected = checked_owner(owner)
    record = await load(store, run_id)
    check_owner(record, expected)
    return record


def check_owner(record: Trajectory, owner: str) -> None:
    """Raise `RunNotFoundError` for a run of another owner; "" asks for anybody's."""
    if owner not in {"", record.started.owner}:
        raise unknown_run(record.run_id)


async def refuse_anothers(store: Store, run_id: str, owner: str) -> None:
    """Raise `RunNotFoundError` where a run is to be begun with the id of another owner's.

    Whoever asks is told no more of that than by any other call with an `owner`.
    """
    checked_owner(owner)
    try:
        begun = await store.read(run_id)
    except RunNotFoundError:
        return
    if begun:
        await load_of(store, run_id, owner)


def begins(
    store: Store, run_id: str, owner: str | None, patience: Patience, if_busy: IfBusy = "refuse"
) -> AbstractAsyncContextManager[None]:
    """As `at_work`, for who begins a run inside: to an `owner`, another's is not found.

    Raises what that does where the owner has the run, and `RunNotFoundError` otherwise.
    """
    if owner is None:
        return at_work(store, run_id, if_busy)
    return _begins_for(owner, store, run_id, patience, if_busy)


@asynccontextmanager
async def _begins_for(
    owner: str, store: Store, run_id: str, patience: Patience, if_busy: IfBusy
) -> AsyncGenerator[None]:
    if if_busy == "wait":  # but not for another's
        await refuse_anothers(store, run_id, owner)
    try:
        async with at_work(store, run_id, if_busy):
            yield
    except (RunExistsError, RunBusyError, FencedError):  # somebody else begins it, or has
        await refuse_anothers_soon(store, run_id, owner, patience)
        raise


async def refuse_anothers_soon(
    store: Store, run_id: str, owner: str | None, patience: Patience
) -> None:
    """As `refuse_anothers`, for a run that somebody is about to begin.

    Whose it is stands in its first entry, so that is waited for. Where there is none when the deps
    of a run must have been made, nobody knows, and it is not found.
    """
    if owner is None:
        return
    with anyio.move_on_after(patience.seconds):
        begun = False
        while not begun:
            await anyio.sleep(_LOOK)
            with suppress(RunNotFoundError):
                begun = bool(await store.read(run_id))
    await load_of(store, run_id, owner)


@dataclass(frozen=True)
class RunSummary:
    """A run in a listing, as its first and last entry tell it.

    `title` is its label of that name, or else the first line of its question. `at` is the time of
    the last entry (Unix milliseconds). `parent` is the call that a sub-run serves, and `session`
    the name of the conversation that a run is. `branch_of` is the run whose entries a branch or
    fork begins with, and so its title.
    """

    run_id: str
    title: str
    status: str
    at: int
    labels: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    owner: str = ""
    parent: str = ""
    session: str = ""
    branch_of: str = ""


async def list_runs(
    limit: int = 20,
    *,
    store: Where = None,
    status: str = "",
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    session: str | None = None,
    after: str = "",
) -> list[RunSummary]:
    """The runs with these labels and of this owner, last written first: `limit` of them, 0 for all.

    `status` is "open", or how they ended. What a newer clew wrote is left out. With a `session`, it
    is the run of that name only, if there is one. With the id of a run, those `after` that one: the
    next page. Raises `RunNotFoundError` where it is gone, or another owner's.
    """
    check_number("limit", limit, 0)
    run_id = "" if session is None else session_run(session, checked_owner(owner))
    async with store_at(store) as opened:
        last = await _listed(opened, after, checked_owner(owner)) if after else None
        infos = await runs_with(
            opened, limit, status=status, labels=checked_labels(labels),
            owner=checked_owner(owner), run_id=run_id, after=last,
        )  # fmt: skip
    pairs = ((info, summary(info)) for info in infos)
    return [_summary(info, run) for info, run in pairs if run is not None]


async def _listed(store: Store, run_id: str, owner: str) -> RunInfo:
    """A run as listings have it. Raises `RunNotFoundError`."""
    infos = await runs_with(store, 1, owner=owner, run_id=run_id)
    if not infos:
        raise unknown_run(run_id)
    return infos[0]


def _summary(info: RunInfo, run: Summary) -> RunSummary:
    started = run.started
    return RunSummary(
        info.run_id, title_of(started), "open" if run.stop is None else run.stop.status,
        info.last.at, started.labels, started.owner, "" if info.base else started.parent,
        session_of(info.run_id), info.base.run_id if info.base else "",
    )  # fmt: skip


def title_of(started: Started) -> str:
    """What a run is called in a listing: by its own words, or by what is attached without any."""
    lines = started.words.strip().splitlines() or [""]
    return started.labels.get("title") or cut(lines[0], MAX_TITLE)
