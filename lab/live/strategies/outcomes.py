"""Outcomes on file: one line of JSON each, appended when it is there, so that nothing is lost."""

from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from clew.core.values import Json, Value
from live.strategies.configurations import FORMS
from live.tasks import Half

STRATEGIES: Final = frozenset(form.name for form in FORMS if form.strategy is not None)
FOLDER: Final = Path(__file__).with_name("outcomes")


class Key(NamedTuple):
    """What an outcome is of: never measured twice."""

    sha256: str
    form: str
    fingerprint: str
    task: str
    asking: int


class Answered(Value, frozen=True):
    """A task answered in a form, and what that took.

    `runs` counts all runs, that of the strategy too; `calls` are replies of the model, `prompt`,
    `cached` and `written` their tokens; `made` calls of tools. `seconds` are of the wall, `load`
    how many processes wanted the machine meanwhile. `edition` is that of the form, `question` that
    of the task; `asking` is 2 where all was asked a second time. `once` is false of the first ones,
    whose tokens were counted with a strategy's and with those of its runs. This process asked up to
    `at_once` tasks at the same time, so their seconds are longer.
    """

    sha256: str
    model: str
    form: str
    fingerprint: str
    task: str
    source: str
    half: Half
    status: str
    reason: str
    answer: Json
    right: bool
    run_id: str
    runs: int
    calls: int
    prompt: int
    cached: int
    written: int
    made: dict[str, int]
    faults: int
    seconds: float
    load: float
    machine: str
    threads: int
    at: str
    version: str
    edition: int = 1
    question: int = 1
    stopped: bool = True
    taken_up: bool = False
    once: bool = False
    at_once: int = 1
    asking: int = 1

    @property
    def key(self) -> Key:
        """What it is of."""
        return Key(self.sha256, self.form, self.fingerprint, self.task, self.asking)


def add(answered: Answered, folder: Path = FOLDER) -> None:
    """Append an outcome, in one write."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{answered.sha256[:12]}.jsonl"
    with path.open("ab", buffering=0) as file:
        file.write(msgspec.json.encode(answered) + b"\n")


def read(folder: Path = FOLDER) -> list[Answered]:
    """All outcomes, of each key the last; a line cut short by a kill is left out."""
    fields: dict[Key, Answered] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            try:
                one = msgspec.json.decode(line, type=Answered)
            except msgspec.DecodeError:
                continue
            fields[one.key] = _once(one)
    return list(fields.values())


def _once(one: Answered) -> Answered:
    """Its tokens counted once: a strategy's record has exactly those of its runs."""
    if one.once or one.form not in STRATEGIES:
        return one
    prompt, cached, written = (count // 2 for count in (one.prompt, one.cached, one.written))
    return msgspec.structs.replace(one, prompt=prompt, cached=cached, written=written, once=True)
