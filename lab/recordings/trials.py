"""Recorded trials of Reflexion, driven through the strategy of that name.

The actor's replies, what it observed, and the reflections are those recorded; the evaluator is the
original's rule, exact match with the gold. How many trials there are, which of them pass, what
each is told, and how it ends is the strategy's doing.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

import anyio

import clew
from clew.agent.runner import has_begun
from clew.core.contents import Reply
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.tools import Tool
from clew.core.values import Json
from clew.testing import say
from clew.testing.models import Line, Move, ScriptedModel
from clew_evals.texts import normal
from clew_strategies import AnswerVerdict, Reflexion, strategy_agent
from recordings.data import records
from recordings.forms import Record
from recordings.part import Figure, Judging, Part, count
from recordings.redrive_runs import prepared
from recordings.redrive_sources import REFLEXION

KIND: Final = REFLEXION.kind
LIMIT: Final = 7
"""Trials of a question in the recorded experiment."""

SAME: Final = "questions with the recorded number of trials, each with its recorded verdict"
TEXT: Final = f"""\
The runs of Reflexion over HotpotQA of which the trials are there one after the other, from the
first to the last that is there: all trials of a question go through `Reflexion`, as one run of the
strategy. A scripted actor gives the recorded replies, its tools the recorded observations, and a
scripted reflector the recorded reflections; the evaluator holds the answer against the gold, as
the original did. The original stopped at {LIMIT} trials or at the first right answer. Where further
trials are not among the recordings, the strategy may make as many as there are.
"""

_HEADER: Final = re.compile(r"^You have attempted to answer.*?(?:Reflections:|$)", re.DOTALL)
_NOTHING: Final = Reply("no reflection was recorded", finish="declined")


@dataclass(frozen=True)
class Chain:
    """The trials of a question, in order."""

    records: Sequence[Record]

    @property
    def name(self) -> str:
        """The id of its first trial."""
        return str(self.records[0].get("id"))

    @property
    def passed(self) -> bool:
        """Whether the last trial was recorded as a success."""
        return bool(REFLEXION.succeeded(self.records[-1]))

    @property
    def complete(self) -> bool:
        """Whether the original made no further trial."""
        return self.passed or self.records[-1]["trial"] == LIMIT

    @property
    def reflections(self) -> list[str]:
        """What was said after each trial but the last; "" where nothing was."""
        told = [_told(record) for record in self.records]
        return [after.removeprefix(before).strip("- \n") for before, after in _pairs(told)]


def _told(record: Record) -> str:
    """The reflections that a trial was shown, one after the other."""
    return _HEADER.sub("", record.get("memory") or "").strip()


def _pairs(told: Sequence[str]) -> Iterator[tuple[str, str]]:
    return pairwise(told)


def chains(sample: int) -> list[Chain]:
    """The questions whose trials follow on each other from the first."""
    groups: defaultdict[tuple[str, str], list[Record]] = defaultdict(list)
    for one in records(KIND):
        if isinstance(one.get("trial"), int) and isinstance(one.get("memory"), str | None):
            groups[str(one.get("source")), str(one.get("task"))].append(one)
    reflecting = {source for (source, _), trials in groups.items() if any(_told(t) for t in trials)}
    made = list[Chain]()
    for (source, _), trials in groups.items():
        trials.sort(key=lambda one: one["trial"])
        numbers = [one["trial"] for one in trials]
        if source in reflecting and numbers == list(range(1, len(trials) + 1)):
            made.append(Chain(trials))
    return made[::sample]


@dataclass
class Trials:
    """The actor's model: each trial has a script of its own. A bound says which trial it is."""

    models: Sequence[Model]
    begun: list[str] = field(default_factory=list[str])

    @property
    def info(self) -> ModelInfo:
        """That of a script."""
        return self.models[0].info

    def number(self, run_id: str) -> int:
        """The number of the trial that a run is, from 0."""
        if run_id not in self.begun:
            self.begun.append(run_id)
        return self.begun.index(run_id)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next recorded reply of the trial that was begun last."""
        number = len(self.begun) - 1
        if number >= len(self.models):
            raise clew.ModelError(f"trial {number + 1} was never recorded")
        return await self.models[number].complete(prompt, on_text)


def actor(chain: Chain) -> clew.Agent:
    """The agent of all trials."""
    agents = [prepared(REFLEXION, record)[1] for record in chain.records]
    trials = Trials([agent.engine.model for agent in agents])
    tools = [tool for tool in agents[0].tools if isinstance(tool, Tool)]

    def bound(trajectory: clew.Trajectory) -> str | None:
        """The bounds of the trial's own record; the strategy's, which asks too, is no trial."""
        if not trajectory.started.parent:
            return None
        number = trials.number(trajectory.run_id)
        own = agents[number].bounds if number < len(agents) else ()
        return next((why for one in own if (why := one(trajectory))), None)

    return agents[0].replace(
        model=trials,
        bounds=(bound,),
        tools=[_of_trial(trials, agents, tool) for tool in tools],
    )


def _of_trial(trials: Trials, agents: Sequence[clew.Agent], tool: Tool) -> Tool:
    async def call(args: dict[str, Json], key: str) -> Json:
        number = trials.number(key.rpartition(":")[0])
        tools = [one for one in agents[number].tools if isinstance(one, Tool)]
        return await next(one for one in tools if one.name == tool.name).call(args, key)

    return replace(tool, call=call)


def strategy(chain: Chain) -> Reflexion:
    """The strategy as the original was: its own rule judges, all reflections are kept."""
    gold = chain.records[0]

    @clew.tool(effect="pure")
    def evaluate(task: str, answer: str) -> AnswerVerdict:
        """Hold the answer against the gold.

        Args:
            task: What was asked.
            answer: The answer.
        """
        del task
        passed = REFLEXION.right is not None and REFLEXION.right(gold, answer)
        return AnswerVerdict(passed, "exact match" if passed else "no exact match")

    reflections = iter(chain.reflections)

    def reflect(prompt: Prompt) -> Move | Reply:
        del prompt
        text = next(reflections)
        return say(text) if text else _NOTHING

    lines: list[Line] = [reflect]
    reflector = clew.Agent(model=ScriptedModel(lines))
    trials = LIMIT if chain.complete else len(chain.records)
    return Reflexion(actor(chain), evaluate, reflector, trials=trials, memory=LIMIT)


@dataclass(frozen=True)
class Driven:
    """What came of a chain: of each trial whether it passed, and what came out otherwise."""

    chain: Chain
    passed: Sequence[bool]
    answers: int
    told: int
    ok: bool
    otherwise: Sequence[str]
    replay: str

    @property
    def as_recorded(self) -> bool:
        """Whether the trials and their verdicts are the recorded ones."""
        return list(self.passed) == [REFLEXION.succeeded(one) for one in self.chain.records]


async def drive(chain: Chain, run_id: str = "trials") -> Driven:
    """All trials of a question, as one run of the strategy; and its replay."""
    store = clew.MemoryStore()
    planned = strategy(chain)
    agent = strategy_agent(planned, planned.agent)
    result = await clew.run(agent, chain.records[0]["task"], store=store, run_id=run_id)
    record = await clew.read(run_id, store=store)
    solved = [call for call in record.calls if call.action.name == "solve" and call.observation]
    names = [f"{run_id}-{call.key}" for call in solved]
    runs = [await clew.read(name, store=store) for name in names if await has_begun(store, name)]
    verdicts = {
        call.key.partition(".")[0]: bool(
            call.observation and '"passed":true' in call.observation.text
        )
        for call in record.calls
        if call.action.name == "evaluate"
    }
    passed = [verdicts.get(str(int(call.key.partition(".")[0]) + 1), False) for call in solved]
    answers = [
        normal(str(run.stop.answer or "")) == normal(one["final_answer"] or "")
        if run.stop
        else False
        for run, one in zip(runs, chain.records, strict=False)
    ]
    told = [_heard(run.goal, chain.reflections[:number]) for number, run in enumerate(runs)]
    otherwise = [
        f"trial {number}: not told all its reflections"
        for number, all_ in enumerate(told, 1)
        if not all_
    ]
    if len(runs) != len(chain.records):
        otherwise.append(f"{len(runs)} trials instead of {len(chain.records)}")
    return Driven(
        chain, passed, sum(answers), sum(told), result.ok, otherwise,
        await _replayed(agent, run_id, store),
    )  # fmt: skip


def _heard(goal: str, reflections: Sequence[str]) -> bool:
    """Whether a trial was told all of the reflections before it, but for blanks."""
    plain = " ".join(goal.split())
    return all(" ".join(text.split()) in plain for text in reflections)


async def _replayed(agent: clew.Agent, run_id: str, store: clew.MemoryStore) -> str:
    try:
        replayed = await clew.replay(agent, run_id, store=store)
    except clew.ReplayError as error:
        return str(error)
    return "; ".join(replayed.passed_over)


def measure(sample: int) -> Part:
    """Every nth question."""
    return anyio.run(measured, sample)


async def measured(sample: int) -> Part:
    """The same, on the event loop that is there."""
    judging, listed = Judging(), list[Driven]()
    for number, chain in enumerate(chains(sample)):
        with judging.one(chain.name):
            listed.append(await drive(chain, f"trials-{number}"))
    return Part(
        "Recorded trials of Reflexion", TEXT, [*_figures(listed), *judging.figures()],
        [*judging.misses, *(line for one in listed for line in _misses(one))],
        finding="questions take as many trials as they took, and pass where they did",
        lead=[SAME],
    )  # fmt: skip


def _figures(runs: Sequence[Driven]) -> Iterator[Figure]:
    trials = sum(len(one.chain.records) for one in runs)
    passed = [one for one in runs if one.chain.passed]
    failed = [one for one in runs if not one.chain.passed]
    for what, got, of in (
        (SAME, sum(one.as_recorded for one in runs), len(runs)),
        ("questions that ended in an answer, and do", sum(one.ok for one in passed), len(passed)),
        (
            "questions that ended without one, and do",
            sum(not one.ok for one in failed),
            len(failed),
        ),
        ("trials that answer as recorded", sum(one.answers for one in runs), trials),
        (
            "trials that are told all reflections on those before them",
            sum(one.told for one in runs),
            trials,
        ),
        ("replayed without a call", sum(not one.replay for one in runs), len(runs)),
    ):
        yield count(what, got, of, exactly=of)


def _misses(one: Driven) -> Iterator[str]:
    yield from (f"{one.chain.name}: {line}" for line in one.otherwise)
    if not one.as_recorded:
        then = [REFLEXION.succeeded(record) for record in one.chain.records]
        yield f"{one.chain.name}: passed {[*one.passed]} instead of {then}"
    if one.replay:
        yield f"{one.chain.name}: {one.replay}"
