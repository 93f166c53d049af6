"""What a cell came to, for the promises of settings to be held against."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from clew import Result, Trajectory
from clew_testing.servers import ReceivedRequest
from tests.matrix.model import Asked, Script
from tests.matrix.ways import Way

READS: Final = ("look", "pages", "other_words")
"""Ledger lines of these tools say that something was read, which may be done again."""


@dataclass(frozen=True)
class Request:
    """A request as it arrived, and what the model took it for."""

    seen: ReceivedRequest
    asked: Asked
    server: str

    @property
    def body(self) -> dict[str, Any]:
        """What was sent."""
        return self.asked.body


@dataclass
class Outcome:
    """The requests, effects, results and records of a cell.

    `far` is the server of `far_web_server`, `passed` what went through the proxy. `lines` has the
    effects of each fork with those of its run; forks do not know of each other.
    """

    way: Way
    situation: str
    script: Script
    folder: Path
    requests: list[Request] = field(default_factory=list[Request])
    effects: list[str] = field(default_factory=list[str])
    lines: list[list[str]] = field(default_factory=list[list[str]])
    results: list[Result[Any]] = field(default_factory=list[Result[Any]])
    records: dict[str, Trajectory] = field(default_factory=dict[str, Trajectory])
    rulings: list[bool] = field(default_factory=list[bool])
    errors: list[str] = field(default_factory=list[str])
    servers: tuple[str, ...] = ()
    cut: int = 0
    far: Any = None
    passed: list[str] = field(default_factory=list[str])

    @property
    def result(self) -> Result[Any]:
        """The last result."""
        return self.results[-1]

    @property
    def work(self) -> list[Request]:
        """Requests of runs that may call the tool that acts."""
        return [each for each in self.requests if each.asked.role == "work"]

    @property
    def answering(self) -> list[Request]:
        """Requests to whoever answers a person: runs that act, and those that sum up."""
        return [each for each in self.requests if each.asked.role != "typed"]

    @property
    def last(self) -> Request | None:
        """The request whose reply became the answer."""
        answers = [each for each in self.answering if each.asked.answer is not None]
        return answers[-1] if answers else None

    @property
    def runs(self) -> list[Trajectory]:
        """The records of runs that called the tool that acts, the strategy's own among them."""
        acts = self.script.acts
        return [one for one in self.records.values() if acts in {c.action.name for c in one.calls}]

    @property
    def repeated(self) -> list[str]:
        """Effects that were had more than once, in any of the lines that know of each other."""
        twice = dict[str, int]()
        for line in self.lines or [self.effects]:
            unsafe = Counter(each for each in line if not each.startswith(READS))
            twice |= {each: number for each, number in unsafe.items() if number > 1}
        return [f"{each} (×{number})" for each, number in twice.items()]


def every(requests: Iterable[Request], holds: Callable[[Request], Any], what: str) -> Iterator[str]:
    """A complaint unless it holds of each of the requests, and there are some."""
    listed = list(requests)
    wrong = [each for each in listed if not holds(each)]
    if not listed:
        yield f"{what}: there was no such request"
    elif wrong:
        roles = ", ".join(sorted({each.asked.role for each in wrong}))
        yield f"{what}: not so in {len(wrong)} of {len(listed)} requests ({roles})"
