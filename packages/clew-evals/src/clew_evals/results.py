"""The results of an evaluation: one SQLite file with the records of all trials and what became of
each.

It is a store of clew, so `clew show` reads its records; the tables of the evaluation stand beside
those of the store, which nothing here touches.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

import msgspec

from clew import ConfigError, StoreError
from clew.core.spec_changes import changes
from clew.core.values import Value
from clew.interfaces import AgentSpec, encode
from clew.stores.sqlite.file import connect, explain
from clew_evals.measures import paired
from clew_evals.outcome import About, Outcome
from clew_evals.plan import Plan

V = TypeVar("V", bound=Value)

VERSION: Final = 1
"""Version of the tables of an evaluation, and of what lies in them."""

PATIENCE: Final = 5.0
"""Seconds to wait for another process's lock."""

_MAKE: Final = (
    """CREATE TABLE IF NOT EXISTS evaluation (
    id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, body BLOB NOT NULL
)""",
    """CREATE TABLE IF NOT EXISTS outcomes (
    run_id TEXT PRIMARY KEY, again INTEGER NOT NULL, cost REAL, body BLOB NOT NULL
)""",
)
_OLDER: Final = ("an older", "evaluate anew, into another file")
_BEGIN: Final = "INSERT OR IGNORE INTO evaluation (id, version, body) VALUES (1, ?, ?)"
_THERE: Final = "SELECT 1 FROM sqlite_master WHERE name = 'evaluation'"
_READ: Final = "SELECT version, body FROM evaluation"
_WRITE: Final = "INSERT OR REPLACE INTO evaluation (id, version, body) VALUES (1, ?, ?)"
_ADD: Final = "INSERT OR REPLACE INTO outcomes (run_id, again, cost, body) VALUES (?, ?, ?, ?)"
_ROWS: Final = "SELECT again, cost, body FROM outcomes"


class RecordedConfiguration(Value, frozen=True):
    """A configuration as its trials were begun: with another one they cannot be compared."""

    configuration: str
    model: str
    spec: AgentSpec
    votes: int = 1
    verifier: str = ""
    leave_out: tuple[str, ...] = ()


class Documents(Value, frozen=True):
    """How much there was to search in a folder."""

    folder: str
    files: int
    passages: int


class ResultsHeader(Value, frozen=True):
    """What a file of results says of the evaluation it holds."""

    about: About
    known: tuple[RecordedConfiguration, ...] = ()
    documents: tuple[Documents, ...] = ()
    judging: AgentSpec | None = None


class Row(NamedTuple):
    """An outcome; whether its trial is to be looked at `again`, and what it cost in US dollars,
    its judge included (None: unknown).
    """

    outcome: Outcome
    again: bool = False
    cost: float | None = None

    @property
    def failed(self) -> bool:
        """Whether its model failed, so that it is tried again."""
        return not self.outcome.stopped


def plan_record(plan: Plan, begun: int) -> ResultsHeader:
    """What the results of a plan say of it; its documents must have been read."""
    known = tuple(
        RecordedConfiguration(
            one.name,
            one.model,
            msgspec.structs.replace(one.agent.spec, prompt_spec=None),
            one.votes,
            one.verified_by,
            one.leave_out,
        )
        for one in plan.configurations
    )
    reports = [(library.folder.name, library.report()) for library in plan.libraries]
    documents = tuple(Documents(name, each.files, each.passages) for name, each in reports)
    judge = plan.judge
    if judge is None:
        return ResultsHeader(plan.about(begun), known, documents)
    judging = msgspec.structs.replace(judge.agent.spec, prompt_spec=None)
    return ResultsHeader(plan.about(begun), known, documents, judging)


class Results:
    """The results in the existing file at `path`. Raises `ConfigError`, `StoreError`.

    `begin` creates the file, or opens it if it holds the same evaluation.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        if not self.path.is_file() or not self.path.stat().st_size:  # which opening would fill
            raise ConfigError(f"there are no results at {path}: `clew eval run` makes them")
        self._connection = _connected(self.path)
        try:
            if not self._ask(_THERE):
                raise ConfigError(
                    f"{path} is a store without an evaluation: `clew eval run` makes one"
                )
            self._body()
        except BaseException:
            self.close()
            raise

    @classmethod
    def begin(cls, path: str | Path, now: ResultsHeader) -> Self:
        """The results of this evaluation: new, or as far as they exist.

        Everything in the file must be unchanged; configurations, models, cases, seeds and
        repetitions may be added. Raises `ConfigError` if the file holds anything else.
        """
        file = Path(path).expanduser()
        connection = _connected(file)
        try:
            _make(connection, now)
        except sqlite3.Error as error:
            raise explain(file, error) from error
        finally:
            connection.close()
        results = cls(file)
        try:
            results.take(now)
        except BaseException:
            results.close()
            raise
        return results

    def check(self, now: ResultsHeader) -> None:
        """Raise `ConfigError` if something differs from when the evaluation began."""
        if different := differences(self.stored_plan, now):
            raise ConfigError(
                f"{self.path} holds another evaluation: {'; '.join(different[:3])}; "
                "name another file for these results"
            )

    def take(self, now: ResultsHeader) -> None:
        """Add what is new in the plan. Raises `ConfigError` as `check` does."""
        self.check(now)
        before = self.stored_plan
        about = msgspec.structs.replace(now.about, begun=before.about.begun)
        if (grown := msgspec.structs.replace(now, about=about)) != before:
            self._write(_WRITE, VERSION, encode(grown))

    @property
    def stored_plan(self) -> ResultsHeader:
        """The plan as stored in the file."""
        return self._decoded(self._body(), ResultsHeader)

    @property
    def about(self) -> About:
        """What the evaluation is about."""
        return self.stored_plan.about

    @property
    def rows(self) -> dict[str, Row]:
        """The outcomes in the order they were added, by run id."""
        rows = [
            Row(self._decoded(body, Outcome), bool(again), cost)
            for again, cost, body in self._ask(_ROWS)
        ]
        return {row.outcome.run_id: row for row in rows}

    @property
    def outcomes(self) -> list[Outcome]:
        """All outcomes in the order of the matrix, with twins taken into account."""
        about = self.about
        cases = {case.id: index for index, case in enumerate(about.cases)}

        def sort_key(one: Outcome) -> tuple[int, ...]:
            return (
                about.configurations.index(one.configuration),
                about.models.index(one.model),
                one.repetition,
                about.seeds.index(one.seed),
                cases[one.case],
            )

        return paired(sorted((row.outcome for row in self.rows.values()), key=sort_key))

    def add(self, row: Row) -> None:
        """Store an outcome, replacing an earlier one; it is on disk on return."""
        outcome = row.outcome
        self._write(_ADD, outcome.run_id, row.again, row.cost, encode(outcome))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _body(self) -> bytes:
        ((version, body),) = self._ask(_READ)
        if version != VERSION:
            age, advice = ("a newer", "upgrade clew") if version > VERSION else _OLDER
            raise StoreError(
                f"{self.path} was written by {age} clew (results version {version}, this one knows "
                f"{VERSION}): {advice}"
            )
        stored: bytes = body
        return stored

    def _decoded(self, body: bytes, kind: type[V]) -> V:
        try:
            return msgspec.json.decode(body, type=kind)
        except msgspec.DecodeError as error:  # and what is no such value
            message = f"{self.path} is damaged, or was changed by others: {error}"
            raise StoreError(message) from error

    def _ask(self, statement: str) -> list[tuple[Any, ...]]:
        try:
            return self._connection.execute(statement).fetchall()
        except sqlite3.Error as error:
            raise explain(self.path, error) from error

    def _write(self, statement: str, *values: object) -> None:
        try:
            self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise explain(self.path, error) from error


def has_evaluation(path: str | Path) -> bool:
    """Whether there is a file with an evaluation; a store without one may become its place."""
    file = Path(path).expanduser()
    if not file.exists() or (file.is_file() and not file.stat().st_size):
        return False
    connection = _connected(file)
    try:
        return connection.execute(_THERE).fetchone() is not None
    except sqlite3.Error as error:
        raise explain(file, error) from error
    finally:
        connection.close()


def _connected(path: Path) -> sqlite3.Connection:
    """The store's file, whose commits are on the disk when they return."""
    if path.is_dir():
        raise ConfigError(f"{path} is a folder: name a file in it for the results")
    connection = connect(path, PATIENCE)
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _make(connection: sqlite3.Connection, now: ResultsHeader) -> None:
    """Make the tables, and say what they are of, unless they say so already."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in _MAKE:
        connection.execute(statement)
    connection.execute(_BEGIN, (VERSION, encode(now)))
    connection.execute("COMMIT")


def differences(before: ResultsHeader, now: ResultsHeader) -> list[str]:
    """What is not as it was when an evaluation was begun, in words; there may be more now."""
    return [
        *_parts(before.about, now.about),
        *_judge(before, now),
        *_configurations(before.known, now.known),
        *_documents(before.documents, now.documents),
    ]


def _parts(was: About, now: About) -> Iterator[str]:
    for what in ("name", "world", "judge"):
        old, new = getattr(was, what), getattr(now, what)
        if old != new:
            yield f"its {what} is {old or 'none'}, not {new or 'none'}"
    there = {case.id: case for case in now.cases}
    for case in was.cases:
        if case.id not in there:
            yield f"it has the case {case.id}, which is not there any more"
        elif there[case.id] != case:
            yield f"its case {case.id} was another"
    if gone := [seed for seed in was.seeds if seed not in now.seeds]:
        yield f"it has the seed {gone[0]}, which is not asked for any more"
    if was.repetitions > now.repetitions:
        yield f"it has {was.repetitions} repetitions, not {now.repetitions}"


def _judge(was: ResultsHeader, now: ResultsHeader) -> Iterator[str]:
    if was.judging and now.judging and (other := changes(was.judging, now.judging)):
        yield f"its judge had another {', '.join(other)}"


def _configurations(
    was: Sequence[RecordedConfiguration], now: Sequence[RecordedConfiguration]
) -> Iterator[str]:
    there = {(one.configuration, one.model): one for one in now}
    for old in was:
        named = f"{old.configuration} with {old.model}"
        if (new := there.get((old.configuration, old.model))) is None:
            yield f"it has the configuration {named}, which is not there any more"
            continue
        other = list(changes(old.spec, new.spec))
        fields = ("votes", "verifier", "leave_out")
        other += [name for name in fields if getattr(old, name) != getattr(new, name)]
        if other:
            yield f"its configuration {named} had another {', '.join(other)}"


def _documents(was: Sequence[Documents], now: Sequence[Documents]) -> Iterator[str]:
    for old in was:
        if old not in now:
            files = "1 file" if old.files == 1 else f"{old.files} files"
            passages = "1 passage" if old.passages == 1 else f"{old.passages} passages"
            yield f"its documents ({old.folder}) were {files}, {passages}"
