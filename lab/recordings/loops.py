"""The detector of no progress, at default settings, against everything that real models called."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import anyio

import clew
from clew.core.actions import Action
from clew.core.tools import Tool
from clew.core.values import Json
from clew.guards.no_progress import LONGEST_CYCLE, REFUSED
from clew.testing.models import Line, Move, ScriptedModel, say
from recordings.data import records
from recordings.forms import RUNS, Record
from recordings.loops_cases import CASES
from recordings.loops_runs import BARREN, ROUNDS, Called, Loop, Run, barren, loops, run
from recordings.part import Figure, Judging, Part, count, share

BEGUN: Final = 3
"""So many rounds are worth a hint."""

MINIMUM: Final = 0.9
"""Of the looping runs."""
PRECISION: Final = 0.95
"""Of the runs that are disturbed."""

TEXT: Final = """\
Every recorded run, in any format: a scripted model makes the recorded calls whatever it is told,
the tools return the recorded observations, and the person's messages come where they came. Settings
are the defaults, but with high limits and no landing, so that only the detector ends a run early.
An unreadable reply counts as a call, with the environment's complaint as its result; the call that
ends a run does not count.

A run is in a loop, by the recording alone, if 1 to 10 calls are repeated 5 times or more in a row
with the same names, arguments and results, and no message of a person in between. It is stopped if
neither the last call of round 5 nor anything of the loop after it is made. A run is successful if
the recording says so (exact match, reward 1, success, gold calls). One that loops and ends well all
the same was lucky: to stop it in its loop is no false alarm.
"""

LIMITS: Final = clew.Limits(
    landing=False,
    steps=10_000,
    tool_calls=10_000,
    calls_per_step=1_000,
    tokens=1_000_000_000,
    seconds=86_400.0,
)


@dataclass(frozen=True)
class Judged:
    """A run as clew had it: which calls (by their number) it refused, how many it made at all."""

    run: Run
    refused: tuple[int, ...]
    made: frozenset[int]
    hints: int
    landed: bool

    @property
    def disturbed(self) -> bool:
        """Whether a call was refused or the run landed; a hint leaves everything as it is."""
        return bool(self.refused) or self.landed

    @property
    def saved(self) -> int:
        """How many recorded calls were not made."""
        return sum(len(step.calls) for step in self.run.steps) - len(self.made)

    @property
    def astray(self) -> bool:
        """Whether a call outside of all loops was refused: a run may loop, and end well by luck."""
        looping = {number for one in loops(self.run) for number in range(one.first, one.end)}
        return not looping.issuperset(self.refused)

    def stopped(self, loop: Loop) -> bool:
        """Whether its fifth round was not made whole, nor anything after that."""
        made = sum(loop.first <= number < loop.end for number in self.made)
        return made < ROUNDS * loop.length


async def judge(recorded: Run) -> Judged:
    """Give a scripted model its calls and the tools what they observed; see what clew makes of it.

    The model goes on as recorded, whatever it is told.
    """
    lines = _lines(recorded)
    agent, store = _agent(lines), clew.MemoryStore()
    result = await clew.run(agent, "Go.", store=store, run_id="run")
    for _ in range(sum(not calls for calls in lines) - 1):
        if result.ok:
            result = await clew.resume(agent, "run", say="Go on.", store=store)
    trajectory = await clew.read("run", store=store)
    numbers = _numbers(lines)
    closed = [
        (numbers[call.key], call.observation) for call in trajectory.calls if call.observation
    ]
    return Judged(
        run=recorded,
        refused=tuple(number for number, seen in closed if seen.code == REFUSED),
        made=frozenset(number for number, seen in closed if seen.made),
        hints=sum(len(call.hints) for call in trajectory.calls),
        landed=result.reason.startswith("no_progress"),
    )


def _lines(recorded: Run) -> list[tuple[Called, ...]]:
    """The replies of the run: calls, or none where it is text, to which a person answers."""
    lines: list[tuple[Called, ...]] = []
    for step in recorded.steps:
        lines += [step.calls] if step.calls else []
        lines += [()] if step.matches else []
    return lines if lines and not lines[-1] else [*lines, ()]


def _numbers(lines: Sequence[tuple[Called, ...]]) -> dict[str, int]:
    """The number of each call in the run, from 0, by its place."""
    keys = [
        f"{step}.{index}"
        for step, calls in enumerate(lines, start=1)
        for index in range(1, len(calls) + 1)
    ]
    return {key: number for number, key in enumerate(keys)}


def _agent(lines: Sequence[tuple[Called, ...]]) -> clew.Agent:
    """An agent at its defaults, but for the limits; its tools are numbered."""
    names = dict.fromkeys(call.name for calls in lines for call in calls)
    tools = {name: f"tool_{number}" for number, name in enumerate(names, start=1)}

    async def perform(args: dict[str, Json], key: str) -> str:
        del args
        step, path = map(int, key.rpartition(":")[2].split("."))
        return lines[step - 1][path - 1].seen

    return clew.Agent(
        model=ScriptedModel([_move(calls, tools) for calls in lines]),
        tools=[
            Tool(name, "as recorded", {"type": "object"}, perform, effect="read", hidden=True)
            for name in tools.values()
        ],
        limits=LIMITS,
    )


def _move(calls: Sequence[Called], tools: dict[str, str]) -> Line:
    return (
        Move(actions=tuple(Action(tools[call.name], call.args) for call in calls))
        if calls
        else say("Done.")
    )


def measure(sample: int) -> Part:
    """Every nth run of all recordings."""
    return anyio.run(measured, records(*RUNS, sample=sample))


async def measured(recorded: Iterable[Record]) -> Part:
    """The same for any recorded runs, on the event loop that is there."""
    judging, judged = Judging(), list[Judged]()
    for one in recorded:
        with judging.one(one.get("id")):
            judged.append(await judge(run(one)))
    cases = [await judge(one) for one in CASES]
    looping = [(one, results) for one in judged if (results := loops(one.run))]
    good = [one for one in judged if one.run.success]
    disturbed = [one for one in judged if not one.run.success and one.disturbed]
    figures = [
        Figure(
            "runs and the calls in them", f"{len(judged):,}", f"{sum(map(_calls, judged)):,} calls"
        ),
        *_of_loops(judged, looping),
        *_of_barren(judged),
        *_of_good(good, cases),
        *_of_others(disturbed, len(judged) - len(good)),
        *judging.figures(),
    ]
    misses = [*judging.misses]
    misses += [
        _told(one, results) for one, results in looping if not all(map(one.stopped, results))
    ]
    misses += [f"{one.run.name}: successful, and disturbed" for one in good if one.astray]
    misses += [
        f"{one.run.name}: successful, though it looped, and stopped in its loop"
        for one in good
        if one.disturbed and not one.astray
    ]
    misses += [
        f"{one.run.name}: {len(one.refused)} refused in a round that is not whole"
        for one in disturbed
        if not loops(one.run)
    ]
    return Part(
        "No progress: what the detector does to recorded runs", TEXT, figures, misses,
        finding="the detector stops every loop and disturbs no run that succeeded",
        lead=(
            "of them run in a loop",
            "of those, stopped within 5 rounds of each loop",
            "successful runs with a call refused, or landed (false alarms)",
        ),
    )  # fmt: skip


def _of_loops(
    judged: Sequence[Judged], looping: Sequence[tuple[Judged, Sequence[Loop]]]
) -> list[Figure]:
    """Rounds that come again: the detector's own notion, read from the recording."""
    stopped = [one for one, results in looping if all(map(one.stopped, results))]
    begun = [one for one in judged if loops(one.run, BEGUN)]
    return [
        count("of them run in a loop", len(looping), len(judged)),
        share(
            "of those, stopped within 5 rounds of each loop",
            len(stopped),
            len(looping),
            minimum=MINIMUM,
        ),
        count(
            f"runs with {BEGUN} rounds or more, that were hinted at",
            sum(one.hints > 0 for one in begun),
            len(begun),
        ),
    ]


def _of_barren(judged: Sequence[Judged]) -> list[Figure]:
    """Calls that observe nothing new, a rule of the recording's own: is the detector right?"""
    nowhere = [one for one in judged if barren(one.run)]
    stopped = [one for one in nowhere if one.disturbed]
    every = [one for one in judged if one.disturbed and (one.astray or not one.run.success)]
    idle = [call for one in nowhere for results in barren(one.run) for call in _numbered(results)]
    spared = sum(
        number not in one.made
        for one in nowhere
        for results in barren(one.run)
        for number in _numbered(results)
    )
    return [
        count(
            f"runs in which {BARREN} calls in a row or more observed nothing new",
            len(nowhere),
            len(judged),
        ),
        share("of those, stopped (recall)", len(stopped), len(nowhere)),
        count("of their calls that observed nothing new, not made", spared, len(idle)),
        share(
            "runs with a call refused, or landed: that got nowhere by this rule (precision)",
            sum(bool(barren(one.run, BEGUN)) for one in every),
            len(every),
            minimum=PRECISION,
        ),
        share(
            "and that were recorded as no success (precision)",
            sum(not one.run.success for one in every),
            len(every),
            minimum=1.0,
        ),
    ]


def _numbered(loop: Loop) -> range:
    return range(loop.first, loop.end)


def _of_good(good: Sequence[Judged], cases: Sequence[Judged]) -> list[Figure]:
    return [
        count(
            "successful runs with a call refused, or landed (false alarms)",
            sum(one.astray for one in good),
            len(good),
            exactly=0,
        ),
        count(
            "successful runs that looped, and were stopped in their loop (luck)",
            sum(one.disturbed and not one.astray for one in good),
            len(good),
        ),
        count("successful runs with a hint", sum(one.hints > 0 for one in good), len(good)),
        count(
            "own useful repeats (measure–fix–measure, paging, polling) disturbed",
            sum(one.disturbed for one in cases),
            len(cases),
            exactly=0,
        ),
    ]


def _of_others(disturbed: Sequence[Judged], others: int) -> list[Figure]:
    return [
        count("other runs with a call refused, or landed", len(disturbed), others),
        count("of these, landed", sum(one.landed for one in disturbed), len(disturbed)),
        count(
            "calls saved, of those in these runs",
            sum(one.saved for one in disturbed),
            sum(map(_calls, disturbed)),
        ),
    ]


def _calls(one: Judged) -> int:
    return sum(len(step.calls) for step in one.run.steps)


def _told(one: Judged, loops: Sequence[Loop]) -> str:
    """Why a loop was not stopped."""
    longest = max(loop.length for loop in loops)
    rounds = ", ".join(f"{_rounds(loop)} rounds of {loop.length}" for loop in loops)
    why = (
        f"the detector looks at rounds of up to {LONGEST_CYCLE}"
        if longest > LONGEST_CYCLE
        else "its calls stood in one reply, or it was left by itself"
    )
    return f"{one.run.name}: {rounds}: {why}"


def _rounds(loop: Loop) -> int:
    return (loop.end - loop.first) // loop.length
