"""Tests of the research script in clew, and its evaluation."""

import json
from collections.abc import Callable

from library import PEOPLE
from research_clew import research

from clew.testing import ScriptedModel, act, acts, called, say
from clew_evals import Case, Configuration, Plan, World, accuracy, evaluate_sync
from pytest_clew.runs import RecordedRun

# --- begins

RIGHT = "Rome has 2.8 million people [Rome]."
LOOK_UPS = acts(*(act("look_up", city=city) for city in PEOPLE))


def test_looks_five_up(
    clew_model: Callable[..., ScriptedModel], clew_run: Callable[..., RecordedRun]
) -> None:
    model = clew_model(LOOK_UPS, say(RIGHT))
    run = clew_run(research.replace(model=model), "Which is the largest?")
    run.expect(calls=[called("look_up", city=city) for city in PEOPLE])


def test_sends_an_invented_source_back(
    clew_model: Callable[..., ScriptedModel], clew_run: Callable[..., RecordedRun]
) -> None:
    model = clew_model(LOOK_UPS, say("Rome has 2.8 million people [Atlantis]."), say(RIGHT))
    clew_run(research.replace(model=model), "How big is Rome?").expect(answer=RIGHT)


CASES = [Case(f"{n}", f"Case {n}: compare the capitals.", {"contains": "2.0"}) for n in range(6)]

if __name__ == "__main__":
    plan = Plan("capitals", World("capitals", CASES), [Configuration("research", research)])
    done = evaluate_sync(plan, "evaluation.sqlite", max_cost=1.0, at_once=1)
    share = accuracy(done.outcomes)
    print(json.dumps([share.value, len(done.failed), done.spent, [share.low, share.high]]))
