"""Which cases are run under which systems."""

import random
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from security.attacks import ATTACKS, Attack
from security.dojo import suites
from security.episode import SYSTEMS, Case, System
from security.forms import FORMS

SEED = 36
FORM_TASKS, FORM_PAIRS = 20, 100
TRIES = 3
"""Of an attack on the user's own calls, for each task."""

Job = tuple[Case, System]


def clean() -> list[Job]:
    """All tasks of users, under all systems."""
    return [(case, system) for system in SYSTEMS for case in _tasks("clean", 1)]


def base(pairs: int) -> list[Job]:
    """All pairs with and without the guard, and so many under the other systems."""
    cases = [*_pairs("base")]
    some = drawn(cases, pairs, "base")
    complete: Sequence[System] = ("none", "standard")
    return [(case, it) for it in SYSTEMS for case in (cases if it in complete else some)]


def attacked(pairs: int, attacks: Sequence[Attack] = ATTACKS) -> list[Job]:
    """So many pairs of every other attack, with and without the guard."""
    jobs: list[Job] = []
    systems: Sequence[System] = ("none", "standard")
    for attack in attacks:
        if attack.name == "base":
            continue
        cases = [*(_tasks(attack.name, TRIES) if attack.own else _pairs(attack.name))]
        chosen = cases if attack.own else drawn(cases, pairs, attack.name)
        jobs.extend((case, system) for system in systems for case in chosen)
    return jobs


def forms() -> list[Job]:
    """Of each form some tasks and some pairs, the same for all, with and without the guard."""
    cases = [
        *drawn([*_tasks("clean", 1)], FORM_TASKS, "forms"),
        *drawn([*_pairs("base")], FORM_PAIRS, "forms"),
    ]
    systems: Sequence[System] = ("none", "standard")
    return [
        (replace(case, form=form), system) for form in FORMS for system in systems for case in cases
    ]


def short(each: int) -> list[Job]:
    """So many cases of every suite: clean, and under the base attack, with the guard."""
    jobs: list[Job] = []
    guarded: System = "standard"
    for name in suites():
        for cases in (_tasks("clean", 1), _pairs("base")):
            mine = [case for case in cases if case.suite == name]
            jobs.extend((case, guarded) for case in drawn(mine, each, name))
    return jobs


def drawn(cases: Sequence[Case], count: int, name: str) -> list[Case]:
    """So many of them, the same each time."""
    return random.Random(f"{SEED} {name}").sample(cases, min(count, len(cases)))


def _tasks(attack: str, tries: int) -> Iterator[Case]:
    for suite in suites().values():
        for user in suite.users:
            for number in range(tries):
                yield Case(suite.name, user, str(number), attack)


def _pairs(attack: str) -> Iterator[Case]:
    for suite in suites().values():
        for user in suite.users:
            for attacker in suite.attackers:
                yield Case(suite.name, user, attacker, attack)
