"""What an evaluation may cost, told before it begins: at most by its limits, and about."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from clew import Agent, Usage
from clew.context.call_estimate import CHARACTERS
from clew.context.view import first_prompt
from clew.interfaces import Part, encode
from clew.models import Price, price
from clew.models.prices import FREE
from clew_evals.judge import Judge
from clew_evals.plan import Configuration, Plan, Trial
from clew_evals.results import Row

STEPS: Final = 4
"""So many thoughts of a run are guessed, before any trial of its kind has ended."""

WRITTEN: Final = 150
"""So many tokens of a reply are guessed."""

SEEN: Final = 400
"""So many tokens of what tools return in a step are guessed."""

JUDGED: Final = 2_500
"""So many tokens of what a judge reads are guessed."""


@dataclass(frozen=True)
class Estimate:
    """The work to do, and what it may cost in US dollars.

    `runs` are those of the trials to do: votes and judges have several. `max_cost` is what their
    limits allow (a run may exceed its own by one reply). `about` is a guess, except for `measured`
    trials, where it is the mean of finished trials of their configuration. `unknown` are models
    without a known price, which neither figure includes. `absent` are tools that golds name and no
    configuration has.
    """

    trials: int
    todo: int
    runs: int
    max_cost: float
    about: float
    measured: int = 0
    unknown: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()

    @property
    def trials_done(self) -> int:
        """The number of finished trials."""
        return self.trials - self.todo

    @property
    def guessed_steps(self) -> int:
        """The steps per run that are guessed before any trial of its kind has ended."""
        return STEPS


def estimate(
    plan: Plan,
    trials: Sequence[Trial],
    todo: Sequence[Trial],
    rows: Mapping[str, Row],
    absent: Sequence[str] = (),
) -> Estimate:
    """Estimate what is to do of these trials, where `rows` have ended."""
    means = _means(rows)
    heads = {one.key: head(one.agent) for one in plan.configurations}
    judge = plan.judge
    max_cost = about = 0.0
    runs = measured = 0
    for trial in todo:
        one = trial.configuration
        verified = isinstance(one.verifier, Agent)
        runs += one.votes + (one.votes > 1 and verified) + (judge is not None)
        max_cost += _max_cost(one.agent, tariff(one))
        max_cost += 0.0 if judge is None else _max_cost(judge.agent, tariff(judge))
        if (mean := means.get(one.key)) is not None:
            about, measured = about + mean, measured + 1
        else:
            about += _guess(one, heads[one.key]) + _guessed_judge(judge)
    asked: list[Configuration | Judge] = [*plan.configurations]
    if judge is not None:
        asked.append(judge)
    unknown = [one.agent.engine.model.info.name for one in asked if tariff(one) is None]
    return Estimate(
        trials=len(trials),
        todo=len(todo),
        runs=runs,
        max_cost=max_cost,
        about=about,
        measured=measured,
        unknown=tuple(dict.fromkeys(unknown)),
        absent=tuple(absent),
    )


def tariff(one: Configuration | Judge) -> Price | None:
    """What its model costs; None where that is not known."""
    info = one.agent.engine.model.info
    if not info.priced:
        return None
    provider, _, model = info.name.partition(":")
    rates = info.rates  # of one whose name is in no list, such as a model that is asked in batches
    known = None if rates is None else Price(rates.input, rates.output, rates.cached)
    return one.price or price(provider, model) or known


def head(agent: Agent[Any]) -> int:
    """The tokens that every prompt of an agent begins with, roughly."""
    prompt = first_prompt(agent.engine.codec, agent.engine.prompt_spec)
    parts: Sequence[Part] = prompt.head
    told = sum(len(part.text) for part in parts)
    told += sum(len(tool.description) + len(encode(tool.parameters)) for tool in prompt.tools)
    return told // CHARACTERS


def _means(rows: Mapping[str, Row]) -> dict[tuple[str, str], float]:
    """What trials that have ended cost in the mean, by configuration and model."""
    costs: dict[tuple[str, str], list[float]] = {}
    for row in rows.values():
        if row.cost is not None and not row.again:
            costs.setdefault((row.outcome.configuration, row.outcome.model), []).append(row.cost)
    return {key: fmean(values) for key, values in costs.items()}


def _max_cost(agent: Agent[Any], each: Price | None) -> float:
    """What the limits of a run, or of a whole vote, allow."""
    if not agent.engine.model.info.priced or each == FREE:
        return 0.0
    return agent.limits.max_cost


def _guess(one: Configuration, first: int) -> float:
    """What a trial may cost: some steps, each with all before it in its prompt."""
    each = tariff(one)
    if each is None:
        return 0.0
    steps = min(STEPS, one.agent.limits.steps)
    read = sum(first + number * (WRITTEN + SEEN) for number in range(steps))
    return one.votes * each.cost(Usage(input=read, output=steps * WRITTEN))


def _guessed_judge(judge: Judge | None) -> float:
    each = None if judge is None else tariff(judge)
    return 0.0 if each is None else each.cost(Usage(input=JUDGED, output=WRITTEN))
