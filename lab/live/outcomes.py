"""Outcomes on file: one line of JSON each, appended when it is there, so that nothing is lost."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from clew.core.values import Value
from clew.support.errors import ConfigError
from clew_evals import Outcome
from live.tasks import Half

FOLDER: Final = Path(__file__).with_name("outcomes")


class Key(NamedTuple):
    """What an outcome is of: never measured twice."""

    sha256: str
    system: str
    fingerprint: str
    task: str


class Measured(Value, frozen=True):
    """A task answered by a system in a configuration, and what that took.

    `sha256` and `model` are those of the model's file. `outside` are seconds of the run that no
    reply was waited for, `cpu` those that the thread of the run computed: both up to the last
    reply. `later` are the prompt tokens of all steps but the first, and how many of them came from
    the cache. `faults` and `repairs` are counted by kind. `load` is how many processes wanted the
    machine, in the mean of the minute before the run and the last of it.
    """

    sha256: str
    model: str
    system: str
    configuration: str
    fingerprint: str
    task: str
    source: str
    half: Half
    outcome: Outcome
    grammar: bool = True
    seconds: float = 0.0
    outside: float = 0.0
    cpu: float = 0.0
    later: tuple[int, int] = (0, 0)
    faults: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    repairs: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    machine: str = ""
    threads: int = 0
    load: float = 0.0
    at: str = ""
    version: str = ""
    taken_up: bool = False
    billions: float = 0.0

    @property
    def key(self) -> Key:
        """What it is of."""
        return Key(self.sha256, self.system, self.fingerprint, self.task)


def sum_of(path: Path) -> str:
    """The SHA-256 of a file. Raises `ConfigError` where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror or error}): name a GGUF file, GGUF=PATH"
        raise ConfigError(message) from error


def file_for(sha256: str, folder: Path = FOLDER) -> Path:
    """Where the outcomes of a model lie."""
    return folder / f"{sha256[:12]}.jsonl"


def add(measured: Measured, folder: Path = FOLDER) -> None:
    """Append an outcome, in one write."""
    folder.mkdir(parents=True, exist_ok=True)
    with file_for(measured.sha256, folder).open("ab", buffering=0) as file:
        file.write(msgspec.json.encode(measured) + b"\n")


def read(folder: Path = FOLDER) -> list[Measured]:
    """All outcomes, of each key the last that was added; a line cut short by a kill is left out."""
    fields: dict[Key, Measured] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            try:
                one = msgspec.json.decode(line, type=Measured)
            except msgspec.DecodeError:
                continue
            fields[one.key] = one
    return list(fields.values())


def stopped(measurements: Iterable[Measured]) -> set[Key]:
    """What need not be measured again."""
    return {one.key for one in measurements if one.outcome.stopped}


def of(
    measurements: Sequence[Measured],
    configuration: str,
    half: Half | None = None,
    system: str = "clew",
) -> list[Measured]:
    """Those of one configuration, in one half or both."""
    return [
        one
        for one in measurements
        if (one.system, one.configuration) == (system, configuration) and half in {None, one.half}
    ]
