"""One trial: its record begun or taken up, taken to its end, and what became of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew import Agent, ConfigError, ModelError, Question, ReplayError, Trajectory
from clew.agent.runner import complete, load_if_begun, start_or_take_up
from clew.conversations import check_question
from clew.core.codes import Status, StopCode
from clew.core.journal import load
from clew.evidence import Audit
from clew.interfaces import Json, Store
from clew.stores.locks import at_work
from clew.toolbox import attach
from clew_evals.measures import counted
from clew_evals.outcome import Judgement, Outcome
from clew_evals.plan import Plan, Trial
from clew_evals.results import Row
from clew_evals.scoring import ScoreInput, hotpot, mean, right, score
from clew_evals.table import is_simulated
from clew_evals.world import Episode
from clew_strategies import vote
from clew_strategies.voting.runs import run_id_of

JUDGE: Final = ".judge"
"""What stands behind a trial's run id in that of its judge's run."""


@dataclass(frozen=True)
class TrialRecords:
    """What a trial came to: the record of the whole, and those it is made of.

    Of a vote the run whose answer was taken comes first among these, its verifier's last.
    """

    record: Trajectory
    records: Sequence[Trajectory]
    status: Status
    reason: str
    code: StopCode

    @property
    def answer(self) -> Json:
        """The answer as recorded, were it declared beforehand."""
        return None if self.record.stop is None else self.record.stop.answer

    @property
    def fallback(self) -> bool:
        """Whether the answer was declared beforehand."""
        return self.record.stop is not None and self.record.stop.fallback


async def settle(trial: Trial, plan: Plan, store: Store) -> Row:
    """Take a trial to its end from where its record is, and score it."""
    async with plan.world.open(trial.case) as episode:
        agent = trial.configuration.inside(episode, trial.agent_seed)
        try:
            if trial.configuration.votes > 1:
                records = await _voted(trial, plan, agent, episode, store)
            else:
                async with at_work(store, trial.run_id):
                    records = await _ran(trial, plan, agent, episode, store)
        except (ModelError, ReplayError) as error:  # or its environment is not what it was
            return await _missed(trial, store, str(error))
        reward = await episode.reward(records.records[0])
    try:
        judgement = await _judged(trial, plan, records, store)
    except ModelError as error:
        return await _missed(trial, store, f"the judge: {error}")
    return await _scored(trial, plan, agent, records, store, judgement, reward)


def check_attachments(trials: Iterable[Trial], plan: Plan) -> None:
    """Raise `ConfigError` where what goes with a case is not there, or its model cannot take it."""
    asked = {
        (trial.case.id, trial.configuration.name): trial
        for trial in trials
        if trial.case.attachments
    }
    for trial in asked.values():
        try:
            check_question(trial.configuration.agent, _question(trial, plan))
        except ConfigError as error:
            raise ConfigError(f"case {trial.case.id}: {error}") from error


def _question(trial: Trial, plan: Plan) -> Question:
    """What is asked: words alone, or what is attached and words."""
    case, folder = trial.case, plan.world.folder
    return [*(attach(name, folder=folder) for name in case.attachments), case.question]


async def _ran(
    trial: Trial, plan: Plan, agent: Agent[Any], episode: Episode, store: Store
) -> TrialRecords:
    """One run, begun or taken up."""
    run_id, origin = trial.run_id, trial.configuration.origin
    trajectory = await load_if_begun(store, run_id)
    if trajectory is not None:
        await episode.catch_up(trajectory)
    if (
        trajectory is None or trajectory.stop is None or trajectory.stop.status == "held"
    ):  # ruled on since?
        asked = _question(trial, plan)
        journal = await start_or_take_up(agent, asked, store, run_id, origin=origin)
        trajectory = await complete(agent, journal)
    assert trajectory.stop is not None  # noqa: S101 - a run goes on until it has stopped
    return TrialRecords(
        trajectory,
        [trajectory],
        trajectory.stop.status,
        trajectory.stop.reason,
        trajectory.stop.code,
    )


async def _voted(
    trial: Trial, plan: Plan, agent: Agent[Any], episode: Episode, store: Store
) -> TrialRecords:
    """Several runs, and what they decided."""
    configuration, run_id = trial.configuration, trial.run_id
    for record in await _records(trial, store):
        await episode.catch_up(record)
    voted = await vote(
        agent,
        _question(trial, plan),
        configuration.votes,
        verifier=configuration.verifier,
        store=store,
        run_id=run_id,
        origin=configuration.origin,
    )
    voted_record = await load(store, run_id)
    records = await _records(trial, store, first=voted.chosen)
    code = "" if voted_record.stop is None else voted_record.stop.code
    return TrialRecords(
        voted_record, records or [voted_record], voted.result.status, voted.result.reason, code
    )


async def _records(trial: Trial, store: Store, first: int = 0) -> list[Trajectory]:
    """Those that a trial is made of, as far as they are there."""
    records = [await load_if_begun(store, name) for name in _names(trial, first)]
    return [record for record in records if record is not None]


def _names(trial: Trial, first: int) -> Iterator[str]:
    """The ids of a trial's runs; of a vote, run number `first` before the others."""
    votes = trial.configuration.votes
    if votes == 1:
        yield trial.run_id
        return
    for number in sorted(range(1, votes + 1), key=lambda number: number != first):
        yield run_id_of(trial.run_id, number)
    yield run_id_of(trial.run_id, 0)


async def _judged(
    trial: Trial, plan: Plan, records: TrialRecords, store: Store
) -> Judgement | None:
    """The judge's word; None without a judge, and where there is nothing to judge."""
    if plan.judge is None or records.answer is None or records.status == "held":
        return None
    run_id = trial.run_id + JUDGE
    return await plan.judge(trial.case, records.answer, records.records[0], store, run_id)


async def _scored(
    trial: Trial,
    plan: Plan,
    agent: Agent[Any],
    records: TrialRecords,
    store: Store,
    judgement: Judgement | None,
    reward: float | None,
) -> Row:
    """The outcome of a trial whose run has stopped."""
    audit = _audit(trial, agent, records)
    seen = ScoreInput(
        trial.case, records.status, records.answer, records.records, audit, judgement, reward,
        **({} if plan.judge is None else {"min_grade": plan.judge.min_grade}),
    )  # fmt: skip
    marks = await score(seen)
    em, f1 = hotpot(seen)
    counts = counted(records.records, audit)
    if trial.configuration.votes > 1:  # its runs went on side by side
        seconds = records.record.total.seconds
        counts = msgspec.structs.replace(counts, seconds=seconds)
    outcome = msgspec.structs.replace(
        _outline(trial, records.status, records.reason, records.code),
        answer=records.answer,
        right=right(marks),
        score=mean(marks),
        marks=marks,
        em=em,
        f1=f1,
        judgement=judgement,
        reward=reward,
        counted=counts,
        runs=tuple(record.run_id for record in records.records),
    )
    return Row(outcome, records.status == "held", await _cost(trial, records.records, store))


async def _missed(trial: Trial, store: Store, why: str) -> Row:
    """The outcome of a trial whose model or environment failed: it is tried again another time."""
    records = await _records(trial, store)
    outcome = msgspec.structs.replace(
        _outline(trial, "failed", why),
        stopped=False,
        counted=counted(records),
        runs=tuple(record.run_id for record in records),
    )
    return Row(outcome, again=True, cost=await _cost(trial, records, store))


def _outline(trial: Trial, status: Status, reason: str, code: StopCode = "") -> Outcome:
    """What is known of an outcome whatever the trial came to."""
    return Outcome(
        case=trial.case.id,
        configuration=trial.configuration.name,
        model=trial.configuration.model,
        run_id=trial.run_id,
        status=status,
        category=trial.case.category,
        pair=trial.case.pair,
        seed=trial.seed,
        repetition=trial.repetition,
        reason=reason,
        code=code,
        votes=trial.configuration.votes,
    )


def _audit(trial: Trial, agent: Agent[Any], records: TrialRecords) -> Audit | None:
    """What the evidence says of an answer, whether or not the agent was held to it."""
    if records.answer is None or records.fallback:
        return None
    try:
        answer = agent.decode(records.answer)
    except ValueError:
        answer = records.answer
    audit = trial.configuration.auditor.audit(answer, records.records[0])
    return audit if isinstance(audit, Audit) else None


async def _cost(trial: Trial, records: Sequence[Trajectory], store: Store) -> float | None:
    """What was paid for a trial with its judge, in US dollars, as far as prices are known.

    The prices of simulated models are invented, and nobody pays them.
    """
    judged = await load_if_begun(store, trial.run_id + JUDGE)
    paid = [*records, judged] if judged is not None else records
    known = [cost for cost in map(_paid, paid) if cost is not None]
    return sum(known) if known else None


def _paid(record: Trajectory) -> float | None:
    return 0.0 if is_simulated(record.started.spec.model) else record.usage.cost
