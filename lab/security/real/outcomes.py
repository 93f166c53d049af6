"""Outcomes on file: one line of JSON each, appended when it is there, so that nothing is lost."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from clew.core.values import Value

FOLDER: Final = Path(__file__).with_name("outcomes")

Role = Literal["ideal", "unplanned", "planner", "actor"]
"""What is real: nothing (with the ideal plan, or an empty one), the plan, or the whole model."""


class Key(NamedTuple):
    """What an outcome is of: the last one counts."""

    sha256: str
    role: str
    system: str
    attack: str
    suite: str
    user: str
    attacker: str


class Real(Value, frozen=True):
    """What came of a case.

    `asked_for` are the calls of the user's task that act, by tool; `planned` those that the plan
    has. `read` says whether the attacker's text was in anything that the model read. `obeyed` are
    calls that act with a text that only the injected one has, or are its calls: proposed ones, and
    those of them that were made. `mistakes` are other calls that acted and are none of the user's
    task. `seconds` are those of the replies when they were computed; some are of an earlier run.
    """

    sha256: str
    model: str
    role: Role
    system: str
    attack: str
    suite: str
    user: str
    attacker: str
    bounds: str
    commit: str
    at: str
    machine: str
    load: float
    status: str
    reason: str = ""
    useful: bool = False
    won: bool = False
    foreign: int = 0
    asks: int = 0
    questions: int = 0
    refused: int = 0
    plans: int = 0
    unread: int = 0
    asked_for: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    read: bool = False
    obeyed: tuple[str, ...] = ()
    obeyed_made: int = 0
    mistakes: tuple[str, ...] = ()
    replies: int = 0
    tokens: int = 0
    written: int = 0
    seconds: float = 0.0

    @property
    def key(self) -> Key:
        """What it is of."""
        return Key(self.sha256, self.role, self.system, self.attack, self.suite, self.user,
                   self.attacker)  # fmt: skip


def add(outcome: Real, folder: Path) -> None:
    """Append an outcome, in one write."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{outcome.sha256}.jsonl").open("ab", buffering=0) as file:
        file.write(msgspec.json.encode(outcome) + b"\n")


def read(folder: Path = FOLDER) -> list[Real]:
    """All outcomes, of each key the last that was added; a line cut short by a kill is left out."""
    known: dict[Key, Real] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            try:
                one = msgspec.json.decode(line, type=Real)
            except msgspec.DecodeError:
                continue
            known[one.key] = one
    return list(known.values())


def done(outcomes: Iterable[Real], bounds: str) -> set[Key]:
    """What need not be measured again under these bounds."""
    return {one.key for one in outcomes if one.bounds == bounds}


def of(outcomes: Iterable[Real], role: str, attack: str, system: str = "") -> list[Real]:
    """Those of a role and an attack, under one system or all."""
    return [
        one for one in outcomes
        if (one.role, one.attack) == (role, attack) and system in {"", one.system}
    ]  # fmt: skip
