"""Leaving a run to workers: `submit`. `follow` watches it, as any run.

Workers are whatever serves the queue of the run, in this process or another (`clew.workers`).
"""

from collections.abc import Mapping
from typing import Any

from clew.agent.agent import Agent
from clew.agent.question import Question
from clew.agent.runner import start
from clew.core.events import Json, Trust
from clew.stores import Where, store_at
from clew.stores.locks import shared
from clew.support.arguments import check_argument
from clew.support.errors import ConfigError
from clew.support.settings import check_text
from clew.workers.config import QUEUE


async def submit(
    agent: Agent[Any],
    goal: Question,
    *,
    store: Where = None,
    queue: str = QUEUE,
    run_id: str = "",
    origin: dict[str, Json] | None = None,
    trust: Trust = "trusted",
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
) -> str:
    """Create a run in the queue and return its id; a worker executes it.

    The worker needs the agent: from Python you pass it to the worker; for the command line and
    agent files it builds it from the `origin`. `trust` is that of the goal: untrusted if no person
    wrote it; `labels` and `owner` are as in `clew.run`. Raises `ConfigError` if workers cannot
    share the store.
    """
    check_argument("agent", agent, Agent, "an Agent")
    check_text("queue", queue)
    if not queue:
        message = "the queue has no name: leave it out for the usual one"
        raise ConfigError(message)
    async with store_at(store) as opened:
        shared(opened)
        journal = await start(
            agent, goal, opened, run_id=run_id, origin=origin, queue=queue, trust=trust,
            labels=labels, owner=owner,
        )  # fmt: skip
        return journal.run_id
