"""An agent has one fingerprint in every process, whatever its parts hold."""

import os
import subprocess
import sys

import pytest

from tests.patience import PATIENCE

NAMED = """
from dataclasses import dataclass
from clew import Agent, Limits, NoProgress
from clew_strategies import Reflexion, strategy_agent
from clew.testing import ScriptedModel
from clew import tool

@dataclass(frozen=True)
class Watch:
    names: frozenset[str]
    kinds: object
    async def __call__(self, call, so_far):
        return None

@tool(effect="unsafe")
def send(text: str) -> str:
    "Send."
    return text

@tool(effect="unsafe")
def pay(text: str) -> str:
    "Pay."
    return text

names = frozenset({"mail", "bank", "post, and more", "it's"})
limits = Limits(no_progress=NoProgress(polling=frozenset({"send", "pay"})))
agent = Agent(
    ScriptedModel([]), [send, pay], limits=limits,
    guards=[Watch(names, {"a": {1, 2}, "b": {"x", "y"}}), Watch(frozenset(), {3, 1})],
)
print(agent.spec.fingerprint)
print(strategy_agent(Reflexion(agent), agent).spec.fingerprint)
"""


@pytest.mark.slow
def test_a_part_that_holds_sets_has_one_name_in_every_process() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", NAMED], check=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONHASHSEED": str(seed)}, timeout=PATIENCE,
        ).stdout
        for seed in range(1, 5)
    }  # fmt: skip
    assert len(said) == 1
