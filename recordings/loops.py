"""The detector of no progress, at default settings, against everything that real models called."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import anyio

import clew
from clew.events import Action, Json
from clew.guards.no_progress import LONGEST_CYCLE, REFUSED
from clew.protocols import Tool
from clew.testing.models import Line, Move, ScriptedModel, say
from recordings.data import records
from recordings.loops_cases import CASES
from recordings.loops_runs import ROUNDS, Called, Loop, Run, loops, run
from recordings.part import Figure, Part, count, share

KINDS: Final = (
    *("-react-fever", "-react-webshop", "-fireact-", "-reflexion-", "-medagent", "-sweagent"),
    *("-tau-", "-tau2", "-bfcl-multiturn"),
)

BEGUN: Final = 3
"""So many rounds are worth a hint."""

LEAST: Final = 0.9
"""Of the looping runs."""

TEXT: Final = """\
Every recorded run of every file, whatever its format: a scripted model makes the recorded calls
and goes on with them whatever it is told, the tools give what was observed, a person speaks where
one spoke. All settings are the defaults, except that the limits are high and no landing is asked
for, so that nothing but the detector ends a run early. A reply that could not be read counts as a
call, with the reply as its argument and the environment's complaint as its result; the call that
ends a run counts as none.

A run is in a loop where the recording alone says so: a round of 1 to 10 calls stands 5 times or
more one after the other, with the same names, arguments and results, and no word of a person
between. It is stopped if the last call of round 5 is not made any more, nor anything of the loop
after it. Successful is what the recording marks as such (exact match, reward 1, success, all runs
of gold calls); where it has no measure, a run counts among the others.
"""

LIMITS: Final = clew.Limits(
    steps=10_000, tool_calls=10_000, calls_per_step=1_000, tokens=1_000_000_000, seconds=86_400.0
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
    so_far = await clew.read("run", store=store)
    numbers = _numbers(lines)
    closed = [(numbers[call.key], call.observation) for call in so_far.calls if call.observation]
    return Judged(
        run=recorded,
        refused=tuple(number for number, seen in closed if seen.code == REFUSED),
        made=frozenset(number for number, seen in closed if seen.made),
        hints=sum(len(call.hints) for call in so_far.calls),
        landed=result.reason.startswith("no_progress"),
    )


def _lines(recorded: Run) -> list[tuple[Called, ...]]:
    """The replies of the run: calls, or none where it is text, to which a person answers."""
    lines: list[tuple[Called, ...]] = []
    for step in recorded.steps:
        lines += [step.calls] if step.calls else []
        lines += [()] if step.said else []
    return lines if lines and not lines[-1] else [*lines, ()]


def _numbers(lines: Sequence[tuple[Called, ...]]) -> dict[str, int]:
    """The number of each call in the run, from 0, by its place."""
    keys = [
        f"{step}.{place}"
        for step, calls in enumerate(lines, start=1)
        for place in range(1, len(calls) + 1)
    ]
    return {key: number for number, key in enumerate(keys)}


def _agent(lines: Sequence[tuple[Called, ...]]) -> clew.Agent:
    """An agent at its defaults, but for the limits; its tools are numbered."""
    names = dict.fromkeys(call.name for calls in lines for call in calls)
    tools = {name: f"tool_{number}" for number, name in enumerate(names, start=1)}

    async def perform(args: dict[str, Json], key: str) -> str:
        del args
        step, place = map(int, key.rpartition(":")[2].split("."))
        return lines[step - 1][place - 1].seen

    return clew.Agent(
        model=ScriptedModel([_move(calls, tools) for calls in lines]),
        tools=[
            Tool(name, "as recorded", {"type": "object"}, perform, "read", hidden=True)
            for name in tools.values()
        ],
        limits=LIMITS,
        landing=False,
    )


def _move(calls: Sequence[Called], tools: dict[str, str]) -> Line:
    return (
        Move(actions=tuple(Action(tools[call.name], call.args) for call in calls))
        if calls
        else say("Done.")
    )


def measure(sample: int) -> Part:
    """Every nth run of all recordings."""
    return anyio.run(measured, (run(one) for kind in KINDS for one in records(kind, sample)))


async def measured(runs: Iterable[Run]) -> Part:
    """The same for any runs, on the event loop that is there."""
    judged = [await judge(one) for one in runs]
    cases = [await judge(one) for one in CASES]
    looping = [(one, found) for one in judged if (found := loops(one.run))]
    stopped = [one for one, found in looping if all(map(one.stopped, found))]
    good = [one for one in judged if one.run.success]
    others = [one for one in judged if not one.run.success]
    disturbed = [one for one in others if one.disturbed]
    calls = sum(map(_calls, judged))
    within = sum(map(_calls, disturbed))
    begun = [one for one in judged if loops(one.run, BEGUN)]
    figures = [
        Figure("runs and the calls in them", f"{len(judged):,}", f"{calls:,} calls"),
        count("of them run in a loop", len(looping), len(judged)),
        share(
            "of those, stopped within 5 rounds of each loop",
            len(stopped),
            len(looping),
            least=LEAST if looping else None,
        ),
        count(
            f"runs with {BEGUN} rounds or more, that were hinted at",
            sum(one.hints > 0 for one in begun),
            len(begun),
        ),
        count(
            "successful runs with a call refused, or landed",
            sum(one.disturbed for one in good),
            len(good),
            exactly=0,
        ),
        count("successful runs with a hint", sum(one.hints > 0 for one in good), len(good)),
        count("other runs with a call refused, or landed", len(disturbed), len(others)),
        count("of these, landed", sum(one.landed for one in disturbed), len(disturbed)),
        count("calls saved, of those in these runs", sum(one.saved for one in disturbed), within),
        count(
            "own useful repeats (measure–fix–measure, paging, polling) disturbed",
            sum(one.disturbed for one in cases),
            len(cases),
            exactly=0,
        ),
    ]
    misses = [_told(one, found) for one, found in looping if not all(map(one.stopped, found))]
    misses += [f"{one.run.name}: successful, and disturbed" for one in good if one.disturbed]
    misses += [
        f"{one.run.name}: {len(one.refused)} refused in a round that is not whole"
        for one in disturbed
        if not loops(one.run)
    ]
    return Part("No progress: what the detector does to recorded runs", TEXT, figures, misses)


def _calls(one: Judged) -> int:
    return sum(len(step.calls) for step in one.run.steps)


def _told(one: Judged, found: Sequence[Loop]) -> str:
    """Why a loop was not stopped."""
    longest = max(loop.length for loop in found)
    rounds = ", ".join(f"{_rounds(loop)} rounds of {loop.length}" for loop in found)
    why = (
        f"the detector looks at rounds of up to {LONGEST_CYCLE}"
        if longest > LONGEST_CYCLE
        else "its calls stood in one reply, or it was left by itself"
    )
    return f"{one.run.name}: {rounds}: {why}"


def _rounds(loop: Loop) -> int:
    return (loop.end - loop.first) // loop.length
