"""Outcomes from a seeded generator: what an evaluation might have come to."""

import random

from clew.core.contents import Usage
from clew_evals.case import Case
from clew_evals.outcome import About, Counted, GoldScore, Judgement, Kind, Outcome

CATEGORIES = ("retrieval", "calculation", "safety")
KINDS: tuple[Kind, ...] = (
    "bound", "fault", "no such tool", "bad arguments", "unsupported claim", "wrong answer",
)  # fmt: skip
CONFIGURATIONS = ("baseline", "no planner", "votes of 3")
MODELS = ("offline", "simulated:weak")


def about(
    cases: int = 12,
    configurations: tuple[str, ...] = CONFIGURATIONS,
    models: tuple[str, ...] = MODELS,
    seeds: tuple[int, ...] = (0, 1),
    repetitions: int = 2,
) -> About:
    made = tuple(
        Case(
            id=f"case-{number}",
            question=f"What is {number} times three?",
            gold=str(3 * number),
            category=CATEGORIES[number % 3],
            pair=f"pair-{number // 6}" if number % 3 == 2 else "",
        )
        for number in range(cases)
    )
    return About(
        name="made up", world="gold", matrix="", cases=made, configurations=configurations,
        models=models, seeds=seeds, repetitions=repetitions, version="0",
        begun=1_700_000_000_000,
    )  # fmt: skip


def outcomes(of: About, seed: int = 0, **likely: float) -> list[Outcome]:
    """One for every trial; `likely` says how often a configuration passes (0.7 of the time)."""
    chance = random.Random(seed)
    return [
        _outcome(chance, case, configuration, model, number, repetition,
                 likely.get(configuration.partition(" ")[0], 0.7))
        for configuration in of.configurations
        for model in of.models
        for case in of.cases
        for number in of.seeds
        for repetition in range(1, of.repetitions + 1)
    ]  # fmt: skip


def _outcome(
    chance: random.Random, case: Case, configuration: str, model: str,
    seed: int, repetition: int, likely: float,
) -> Outcome:  # fmt: skip
    passed = chance.random() < likely
    kind = None if passed else chance.choice(KINDS)
    run_id = f"{configuration}/{model}/{case.id}/{seed}/{repetition}".replace(" ", "-")
    claims = chance.randrange(4)
    counted = Counted(
        steps=chance.randrange(1, 9),
        usage=Usage(chance.randrange(500, 3000), chance.randrange(50), cost=chance.random() / 100),
        seconds=chance.random() * 3,
        faults=int(kind == "fault"),
        repairs=chance.randrange(2),
        calls={"calc": chance.randrange(3), "docs": 1 + chance.randrange(2)},
        failed_calls={"docs": chance.randrange(2)},
        unknown={chance.choice(["google", "python"]): 1} if kind == "no such tool" else {},
        bad_arguments={"calc": 2} if kind == "bad arguments" else {},
        claims=claims,
        supported=chance.randrange(claims + 1),
    )
    return Outcome(
        case=case.id, configuration=configuration, model=model, run_id=run_id,
        status="bound" if kind == "bound" else "answered", category=case.category, pair=case.pair,
        seed=seed, repetition=repetition,
        reason=f"{chance.choice(['steps', 'seconds'])}: 15 are used up" if kind == "bound" else "",
        answer=case.gold if passed else f"It is {chance.randrange(40)}.",
        right=passed, passed=passed, score=float(passed),
        marks=(
            GoldScore("exact", passed, float(passed), "" if passed else f"it is not {case.gold}"),
        ),
        kind=kind, judgement=Judgement(5 if passed else chance.randrange(1, 4)),
        counted=counted, runs=(run_id,), votes=3 if "votes" in configuration else 1,
    )  # fmt: skip
