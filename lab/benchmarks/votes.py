"""How long a vote takes beside one run: equal scripts, a model that takes 200 ms for each reply.

    python -m benchmarks.votes

Each figure is the median of several rounds, over SQLite records in a temporary folder, in the order
k = 1, 3, 5 within each round, after one round that is not counted. The verifier is set, so that all
runs go to their end; as their answers agree it is not asked.
"""

import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

from clew import Agent, run, tool
from clew.core.contents import Reply
from clew.core.models import OnText
from clew.core.prompts import Prompt
from clew.core.stores import Store
from clew.core.trajectory import Trajectory
from clew.stores import open_store
from clew.testing.models import ScriptedModel, act, say
from clew_strategies import VerifierChoice, vote

LATENCY: Final = 0.2
LOOKUPS: Final = 3
ROUNDS: Final = 5
KS: Final = (1, 3, 5)


@tool(effect="read")
def look(page: int) -> str:
    """Look at a page.

    Args:
        page: Its number.
    """
    return f"page {page}"


SCRIPT: Final = [*(act("look", page=page) for page in range(LOOKUPS)), say("It is on page 2.")]


@dataclass(frozen=True)
class Slow(ScriptedModel):
    """A scripted model whose replies take as long as those of a quick service."""

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next line, later."""
        await anyio.sleep(LATENCY)
        return self.reply(prompt, sum(part.role == "assistant" for part in prompt.parts))


async def nobody(question: str, runs: Mapping[int, Trajectory]) -> VerifierChoice:
    """A verifier that is not needed: equal scripts agree."""
    raise AssertionError((question, runs))


async def took(store: Store, k: int) -> float:
    """Seconds from the question to the decision; k = 0 is a run without a vote."""
    agent = Agent(model=Slow(SCRIPT, tools=[look]), tools=[look])
    began = time.perf_counter()
    if k == 0:
        result = await run(agent, "Which page is it on?", store=store)
    else:
        vote_result = await vote(agent, "Which page is it on?", k, verifier=nobody, store=store)
        result = vote_result.result
        assert len(vote_result.counts[0].runs) == k
    assert result.answer == "It is on page 2."
    return time.perf_counter() - began


async def measure(path: Path) -> dict[int, float]:
    """The median for each k."""
    store = open_store(path)
    times: dict[int, list[float]] = {k: [] for k in (0, *KS)}
    for _ in range(ROUNDS + 1):
        for k, taken in times.items():
            taken.append(await took(store, k))
    await store.close()
    return {k: statistics.median(taken[1:]) for k, taken in times.items()}


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        figures = anyio.run(measure, Path(folder) / "votes.sqlite")
    replies = len(SCRIPT)
    print(f"{replies} replies of {LATENCY * 1000:g} ms each, so at least {replies * LATENCY:g} s")
    print(f"a run without a vote: {figures[0]:.3f} s")
    for k in KS:
        print(f"k = {k}: {figures[k]:.3f} s, {figures[k] / figures[1]:.3f} times that of k = 1")


if __name__ == "__main__":
    main()
