"""Tables of what came of the cases."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Final

from clew_evals.statistics import wilson
from security.attacks import ATTACKS, BY_NAME
from security.dojo import suites
from security.episode import SYSTEMS, Outcome, System
from security.forms import FORMS

SIMULATED: Final = "(model and planner simulated, ideal)"
NAMES: Final[Mapping[System, str]] = {
    "none": "no guard",
    "standard": "`Provenance()`",
    "forgetful": "`Provenance()`, a plan that lacks every fifth call",
    "strict": '`Provenance("strict")`',
}
GUARDED: Final[Sequence[System]] = ("standard", "forgetful", "strict")
_REASONS: Final = 25

Rows = Iterable[Sequence[str]]


def clean(outcomes: Sequence[Outcome]) -> str:
    """What the guard costs where nobody attacks."""
    rows = [
        [NAMES[system], *_clean_cells(mine)]
        for system in SYSTEMS
        if (mine := [it for it in outcomes if it.system == system])
    ]
    titles = (f"system {SIMULATED}", "tasks", "done", "asks a task", "questions a task")
    usual = [it for it in outcomes if it.system == "standard"]
    by_suite = [
        [suite, *_clean_cells(mine)]
        for suite in suites()
        if (mine := [it for it in usual if it.case.suite == suite])
    ]
    return "\n\n".join(
        [
            table(titles, rows),
            "By suite, under `Provenance()`:",
            table((f"suite {SIMULATED}", *titles[1:]), by_suite),
        ]
    )


def _clean_cells(outcomes: Sequence[Outcome]) -> list[str]:
    return [
        str(len(outcomes)), percent(outcomes, lambda it: it.useful),
        mean(outcomes, lambda it: it.asks), mean(outcomes, lambda it: it.questions),
    ]  # fmt: skip


def cost(passes: Sequence[Sequence[Outcome]]) -> str:
    """What a judged call takes of the CPU: the first pass of a fresh process, and all of them."""
    rows: list[Sequence[str]] = []
    for system in GUARDED:
        mine = [[it for it in outcomes if it.system == system] for outcomes in passes]
        judged = sum(it.judged for it in mine[0])
        if judged:
            each = [sum(it.milliseconds for it in one) / judged for one in mine]
            figures = (each[0], min(each), median(each), max(each))
            rows.append([NAMES[system], str(judged), *(f"{it:.2f}" for it in figures)])
    titles = (f"system {SIMULATED}", "judged calls", "ms CPU a judged call, first pass",
              "least", "median", "most")  # fmt: skip
    return table(titles, rows)


def reasons(outcomes: Sequence[Outcome]) -> str:
    """What a person was asked about that they then allowed."""
    counts = Counter(
        why for it in outcomes if it.system == "standard" for why in map(_shortened, it.needless)
    )
    rows = [[str(times), f"`{why}`"] for why, times in counts.most_common(_REASONS)]
    return table((f"times {SIMULATED}", "what was asked, and allowed"), rows)


def base(outcomes: Sequence[Outcome]) -> str:
    """The plain attack on all pairs."""
    rows = [
        [NAMES[system], *_attack_cells(mine)]
        for system in SYSTEMS
        if (mine := [it for it in outcomes if it.system == system])
    ]
    titles = (f"system {SIMULATED}", "pairs", "user's task done", "attacks that act",
              "attacker's task done", "asks a pair", "questions a pair")  # fmt: skip
    return table(titles, rows)


def _attack_cells(outcomes: Sequence[Outcome]) -> list[str]:
    return [
        str(len(outcomes)), percent(outcomes, lambda it: it.useful),
        percent(outcomes, lambda it: bool(it.foreign)), percent(outcomes, lambda it: it.won),
        mean(outcomes, lambda it: it.asks), mean(outcomes, lambda it: it.questions),
    ]  # fmt: skip


def attacks(outcomes: Sequence[Outcome]) -> str:
    """All other attacks, with and without the guard."""
    rows: list[list[str]] = []
    for attack in ATTACKS:
        mine = [it for it in outcomes if it.case.attack == attack.name]
        none = [it for it in mine if it.system == "none"]
        usual = [it for it in mine if it.system == "standard"]
        if usual:
            rows.append([
                attack.name, attack.what, str(len(usual)), acting(none), acting(usual),
                percent(usual, lambda it: it.useful), mean(usual, lambda it: it.asks),
            ])  # fmt: skip
    titles = (f"attack {SIMULATED}", "what", "cases", "act without a guard",
              "act with `Provenance()`", "user's task done", "asks a case")  # fmt: skip
    return table(titles, rows)


def forms(outcomes: Sequence[Outcome]) -> str:
    """Forms in which a model acts: the same tasks and pairs in each."""
    rows: list[list[str]] = []
    for form, what in FORMS.items():
        for system in SYSTEMS:
            mine = [it for it in outcomes if it.case.form == form and it.system == system]
            plain = [it for it in mine if it.case.attack == "clean"]
            attacked = [it for it in mine if it.case.attack != "clean"]
            if mine:
                rows.append([
                    what, NAMES[system], str(len(plain)), percent(plain, lambda it: it.useful),
                    mean(plain, lambda it: it.asks), str(len(attacked)), acting(attacked),
                    percent(attacked, lambda it: it.useful),
                ])  # fmt: skip
    titles = (f"form {SIMULATED}", "system", "tasks", "done", "asks a task", "pairs",
              "attacks that act", "user's task done")  # fmt: skip
    return table(titles, rows)


def examples(outcomes: Sequence[Outcome], each: int = 3) -> str:
    """Calls that were made against the user's will, some of each attack."""
    rows: list[list[str]] = []
    for attack in BY_NAME:
        acted = [
            it for it in outcomes
            if it.case.attack == attack and it.system == "standard" and it.foreign
        ]  # fmt: skip
        rows += [
            [attack, f"{it.case.suite}, {it.case.user}", f"`{_shortened(it.foreign[0])}`"]
            for it in acted[:each]
        ]
    titles = (f"attack {SIMULATED}", "task", "a call that was made and is none of the user's")
    return table(titles, rows) if rows else f"No attack acted {SIMULATED}."


def acting(outcomes: Sequence[Outcome]) -> str:
    """The share of attacks that act, with Wilson's interval where a part of them was drawn."""
    if not outcomes:
        return "–"
    acted = sum(bool(it.foreign) for it in outcomes)
    units = len({(it.case.suite, it.case.user, _pair(it)) for it in outcomes})
    low, high = wilson(acted / len(outcomes), units)
    return f"{acted / len(outcomes):.3f} ({low:.3f}–{high:.3f})"


def _pair(outcome: Outcome) -> str:
    """Tries of one task are one case to the interval."""
    return "" if BY_NAME[outcome.case.attack].own else outcome.case.attacker


def percent(outcomes: Sequence[Outcome], what: Callable[[Outcome], bool]) -> str:
    """The share of them that are so."""
    return f"{sum(map(what, outcomes)) / max(1, len(outcomes)):.1%}"


def mean(outcomes: Sequence[Outcome], what: Callable[[Outcome], int]) -> str:
    """The mean of a number."""
    return f"{sum(map(what, outcomes)) / max(1, len(outcomes)):.3f}"


def table(titles: Sequence[str], rows: Rows) -> str:
    """A table in Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace("| --- ", "|---")


def _shortened(text: str) -> str:
    plain = " ".join(text.split()).replace("`", "'").replace("|", "\\|")
    return plain if len(plain) <= 120 else f"{plain[:119]}…"
