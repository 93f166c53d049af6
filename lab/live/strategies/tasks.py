"""The tasks that strategies are compared on, of five sources: `tasks.jsonl` names them.

Look-ups and multi-hop questions are those of `lab/live/` (gold, foreign, hotpotqa); `goods` are
generated, `quixbugs` are functions to mend.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from clew import Trajectory
from clew.core.codes import Status
from clew.core.judging import Check, Guard
from clew.core.tools import Tool
from clew.core.values import Json
from clew_evals import Case
from clew_evals.scoring import ScoreInput, right, score
from live import tasks as asked
from live.strategies import goods, programs
from live.tasks import Listed

LISTED: Final = Path(__file__).with_name("tasks.jsonl")
BORROWED: Final = ("gold", "foreign", "hotpotqa")
SOURCES: Final = ("goods", "quixbugs", *BORROWED)
BLOCK: Final = 2
"""So many tasks of a source in a row: one for tuning, one unseen."""
EDITIONS: Final = {"quixbugs": 4}
"""2: `quixbugs` says last what to answer with, and its tool says what is no function, or as given.
Before, all 59 answers were wrong: most were words about the bug, and code after words counted as
none. 3: texts may be longer than 375 characters, as functions are. 4: an
answer that is no such function goes back to the model; of 47 answers to edition 3 none was right,
and most were words.
"""


def edition_of(source: str) -> int:
    """How often the questions of a source were worded, and their tools made, anew."""
    return EDITIONS.get(source, 1)


@dataclass(frozen=True)
class Task:
    """A question, the tools for it, and what judges a trial where that is a test."""

    listed: Listed
    case: Case
    tools: Sequence[Tool]
    guards: Sequence[Guard] = ()
    tests: Tool | None = None
    checks: Sequence[Check] = ()

    @property
    def edition(self) -> int:
        """That of its source."""
        return edition_of(self.listed.source)

    async def right(self, status: Status, answer: Json, records: Sequence[Trajectory]) -> bool:
        """Whether an answer is right."""
        if answer is None:
            return False
        if self.listed.source == "quixbugs":
            program = programs.programs()[self.listed.id]
            return not await programs.failing(program, str(answer))
        return right(await score(ScoreInput(self.case, status, answer, records)))


def listed() -> list[Listed]:
    """All tasks that were drawn, in the order in which they are asked.

    Of each source in turn, one of either half: so whatever part has been asked is of all.
    """
    left: dict[str, list[Listed]] = {}
    for line in LISTED.read_bytes().splitlines():
        one = msgspec.json.decode(line, type=Listed)
        left.setdefault(one.source, []).append(one)
    halves = {source: _alternating(results) for source, results in left.items()}
    listings: list[Listed] = []
    while any(halves.values()):
        for queue in halves.values():
            listings += queue[:BLOCK]
            del queue[:BLOCK]
    return listings


def _alternating(listings: Sequence[Listed]) -> list[Listed]:
    tuning = [one for one in listings if one.half == "tuning"]
    unseen = [one for one in listings if one.half == "unseen"]
    pairs = [one for pair in zip(tuning, unseen, strict=False) for one in pair]
    return [*pairs, *(one for one in listings if one not in pairs)]


@cache
def task(one: Listed) -> Task:
    """What is asked. Raises `ConfigError` where its data are not there."""
    if one.source == "goods":
        errand = goods.errands()[one.id]
        return Task(one, errand.case(), goods.goods_tools(errand.shop))
    if one.source == "quixbugs":
        program = programs.programs()[one.id]
        tools = (programs.tests_tool(program),)
        checks = (programs.function_check(program),)
        tests = programs.tests_judge(program)
        return Task(one, program.case(), tools, tests=tests, checks=checks)
    before = asked.task(one)
    return Task(one, before.case, before.tools, before.guards)
