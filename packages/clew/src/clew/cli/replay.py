"""`clew replay`: run a record again, with the world taken from it."""

from functools import partial
from typing import Any

import anyio
import click

from clew import Agent, Replayed, Trajectory, read
from clew import replay as replay_record
from clew.agent_files import make_agent, stand_ins
from clew.cli.agents import agent_store, recorded, stand_in
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, RUN, STORE
from clew.cli.safe_text import say
from clew.cli.settings import RecordCommand, SetOptions, settings_option
from clew.cli.store_option import existing, find_run
from clew.cli.votes import root, vote_request_of
from clew.interfaces import Json, Store
from clew.support.short_text import counted
from clew.support.wings import VOTES, require


@click.command(cls=RecordCommand)
@RUN
@settings_option()
@STORE
@DEBUG
def replay(run: str, settings: SetOptions, store: str | None) -> int:
    """Run the record of RUN again without making any call, and compare.

    Model and tools answer from the record, so no key is needed. At the first difference it prints
    step and field, and exits with 5.
    """
    replayed = anyio.run(partial(_replay, run, store, settings.agent))
    trajectory = replayed.trajectory
    entries, steps = len(trajectory), len(trajectory.steps)
    size = f"{counted(entries, 'entry', 'entries')}, {counted(steps, 'step')}"
    say(f"replayed {size}: identical, no call made")
    for passed in replayed.passed_over:
        say(f"passed over: {passed}")
    return ANSWERED


async def _replay(run: str, store: str | None, keys: dict[str, Json]) -> Replayed:
    async with existing(store or agent_store(keys)) as opened:
        run_id = await find_run(opened, run)
        record = await read(run_id, store=opened)
        agent, apart = await _agent(record, keys, opened)
        if vote_request_of(record) is not None:
            agent = require(VOTES, "agent_of", "the record of a vote")(agent, record)
        elif served := root(record):
            agent = require(VOTES, "agent_of", "the record of a vote")(
                agent, record, await read(served, store=opened)
            )
        return await replay_record(agent, run_id, store=opened, stand_ins=apart)


async def _agent(
    record: Trajectory, keys: dict[str, Json], store: Store
) -> tuple[Agent[Any], frozenset[str]]:
    """The agent, and which of its parts stand in for those of the record.

    What a person names now is imported, what the record names is not.
    """
    wanted = recorded(record, keys, harmless=True)
    spec = record.spec or record.started.spec
    make = partial(make_agent, model=None if keys.get("model") else stand_in(spec))
    if keys.get("agent"):
        return make(wanted), frozenset()
    blob = spec.prompt_blob
    return stand_ins(wanted, record, await store.blob(blob) if blob else None, make)
