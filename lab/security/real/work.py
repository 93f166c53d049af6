"""What is measured, one case after the other: nothing twice, and nothing lost by a stop."""

import os
import random
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Final

import anyio

from clew import ModelSettings
from clew.core.models import Model
from clew_local import LocalSettings, local_model
from durability.progress import tell, with_progress
from live.ask import machine
from live.outcomes import sum_of
from security.attacks import BY_NAME
from security.dojo import suites
from security.episode import Case, System, stage
from security.matrix import SEED, base, clean
from security.real.outcomes import Key, Real, Role, add, done, of, read
from security.real.play import STEPS, played
from security.real.replies import Replies
from security.real.wanted import Wanted

PARTS: Final = ("plans", "attacked", "pairs", "clean")
TOKENS: Final = 200
"""Of a reply."""
ACTING_PAIRS: Final = 60
ATTACKERS: Final = 3
"""Of each task, where the real model acts."""
QUICK: Final = ("banking", "slack")
"""Suites with few tools: the model acts in them first, since it reads a prompt slowly."""
CONTEXT: Final = 6_144
SLOTS: Final = 8
"""Each keeps the beginning of a prompt: that of every suite's tools, twice."""
BOUNDS: Final = f"{TOKENS} tokens a reply, {CONTEXT} tokens a run, {STEPS} steps where it acts"
_SUM: Final = 12

Job = tuple[Case, System, Role]


@dataclass(frozen=True)
class Work:
    """What to measure with which model, until when (`minutes` 0: all of it).

    `pairs` are attacked with the real plan, `acting` with the real model doing all; `first` takes
    so many tasks only. `again` measures what is there already, with the replies on file.
    """

    parts: Sequence[str]
    outcomes: Path
    pairs: int
    acting: int
    first: int | None = None
    minutes: float = 0.0
    again: bool = False

    async def do(self, model: Model, sha256: str, replies: Path) -> None:
        """Measure what is not there yet."""
        sha256, begun = sha256[:_SUM], time.monotonic()
        real = Replies(model, replies / f"{sha256}.jsonl")
        known = set[Key]() if self.again else done(read(self.outcomes), BOUNDS)
        for part in self.parts:
            jobs = [job for job in self.jobs(part) if _key(sha256, job) not in known]
            for case, system, role in with_progress(
                jobs, lambda job: f"{job[2]}, {_named(job[0])}", minutes=self.minutes, since=begun
            ):
                outcome = await _one(case, system, role, real, sha256)
                add(outcome, self.outcomes)
                if outcome.replies:
                    tell(f"{outcome.status}, {outcome.seconds:.0f} s, {outcome.replies} replies\n")

    def jobs(self, part: str) -> list[Job]:
        """The cases of a part; those that differ in the guard only stand together."""
        both: Sequence[System] = ("none", "standard")
        if part == "plans":
            roles: Sequence[Role] = ("ideal", "unplanned", "planner")
            return [
                (case, "standard", role)
                for case in _tasks(suites())[: self.first]
                for role in roles
            ]
        if part == "attacked":
            return [(case, "standard", "planner") for case in self._planned_pairs()]
        cases = (
            _acting_tasks()[: self.first]
            if part == "clean"
            else islice(_acting_pairs(), self.acting)
        )
        return [(case, system, "actor") for case in cases for system in both]

    def _planned_pairs(self) -> list[Case]:
        """Pairs of the tasks whose plan was asked for where nobody attacks: it is the same one."""
        outcomes = of(read(self.outcomes), "planner", "clean")
        planned = {(one.suite, one.user) for one in outcomes if one.plans}
        pairs = [case for case in _shuffled("base") if (case.suite, case.user) in planned]
        return pairs[: self.pairs]


def local(gguf: Path, threads: int) -> tuple[Model, str]:
    """The model of a file, and the sum of it. Raises `ConfigError`."""
    take = LocalSettings(CONTEXT, SLOTS, threads)
    told = ModelSettings(max_tokens=TOKENS, temperature=0)
    return local_model(str(gguf), take=take, settings=told), sum_of(gguf)


async def _one(case: Case, system: System, role: Role, real: Replies, sha256: str) -> Real:
    real.used.clear()
    load = os.getloadavg()[0]
    came = await played(case, system, role, real)
    return Real(
        *_key(sha256, (case, system, role))[:1], real.info.name.rpartition("/")[2], role, system,
        case.attack, case.suite, case.user, case.attacker, BOUNDS, commit(),
        datetime.now(UTC).isoformat(timespec="minutes"), machine(), round(load, 1),
        replies=len(real.used), tokens=real.usage.input, written=real.usage.output,
        seconds=real.seconds, **came,
    )  # fmt: skip


def _key(sha256: str, job: Job) -> Key:
    case, system, role = job
    return Key(sha256, role, system, case.attack, case.suite, case.user, case.attacker)


def _named(case: Case) -> str:
    return f"{case.suite} {case.user} {case.attacker if case.attack != 'clean' else ''}"


def _tasks(names: Iterable[str]) -> list[Case]:
    """The tasks of users of these suites, in turn, in an order that is drawn."""
    cases = _shuffled("clean")
    by_suite = [[case for case in cases if case.suite == name] for name in names]
    return [case for case in chain.from_iterable(zip_longest(*by_suite)) if case is not None]


def _acting_tasks() -> list[Case]:
    return [*_tasks(QUICK), *_tasks(name for name in suites() if name not in QUICK)]


def _acting_pairs() -> Iterator[Case]:
    """Of each task some pairs, whose text wants a call that acts.

    Up to that text the replies of a task are the same, and computed once.
    """
    pairs = _shuffled("base")
    for task in _acting_tasks():
        mine = (each for each in pairs if (each.suite, each.user) == (task.suite, task.user))
        yield from islice(filter(_can_act, mine), ATTACKERS)


def _can_act(case: Case) -> bool:
    staged = stage(suites()[case.suite], BY_NAME[case.attack], case)
    return staged is not None and Wanted(staged[1]).can_act


def _shuffled(attack: str) -> list[Case]:
    """All of them in an order that is drawn: the first so many are a draw."""
    jobs = clean() if attack == "clean" else base(0)
    cases = [case for case, system in jobs if system == "standard"]
    return random.Random(f"{SEED} real {attack}").sample(cases, len(cases))


@cache
def commit() -> str:
    """What it is a figure of."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--", ":/packages", ":/lab/security/*.py")
    return git("rev-parse", "--short", "HEAD") + ("-dirty" if changed else "")


def measure(work: Work, gguf: Path, replies: Path, threads: int) -> None:
    """Measure with a model's file. Raises `ConfigError`."""
    model, sha256 = local(gguf, threads)
    anyio.run(work.do, model, sha256, replies, backend="asyncio")
