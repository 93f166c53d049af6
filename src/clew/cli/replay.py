"""`clew replay`: run a record again, with the world taken from it."""

from functools import partial
from pathlib import Path

import anyio
import click
import msgspec

from clew.agent import Agent
from clew.agent_files import make_agent, without_others
from clew.api import replay as replay_run
from clew.cli.agents import agent_store, recorded, stand_in
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, RUN, STORE, agent_options
from clew.cli.places import existing, find_run
from clew.cli.votes import root, wish_of
from clew.events import Json
from clew.journal import load
from clew.replay import Replayed
from clew.strategies import behind
from clew.trajectory import Trajectory


@click.command(short_help="Run a record again without a single call.")
@RUN
@agent_options
@STORE
@DEBUG
def replay(run: str, store: str | None, *, debug: bool, **given: Json) -> int:
    """Run the record of RUN again without a single call, and compare.

    Needs no key: model and tools answer from the record. The first difference is told with step and
    field, and the exit code is 5.
    """
    del debug
    replayed = anyio.run(partial(_replay, run, store, given))
    so_far = replayed.trajectory
    entries, steps = len(so_far), len(so_far.steps)
    click.echo(f"replayed {entries} entries, {steps} steps: identical, no call made")
    for passed in replayed.passed_over:
        click.echo(f"passed over: {passed}")
    return ANSWERED


async def _replay(run: str, store: str | None, given: dict[str, Json]) -> Replayed:
    async with existing(store or agent_store(given)) as place:
        run_id = await find_run(place, run)
        record = await load(place, run_id)
        agent = _agent(record, given)
        if wish_of(record) is not None:
            agent = behind(agent, record)
        elif served := root(record):
            agent = behind(agent, record, await load(place, served))
        return await replay_run(agent, run_id, store=place)


def _agent(record: Trajectory, given: dict[str, Json]) -> Agent:
    wanted = recorded(record, given)
    if wanted.docs:  # nothing is searched, and the folder may be gone
        wanted = msgspec.structs.replace(wanted, docs=str(Path.cwd()))
    setting = record.setting or record.started.setting
    model = None if given.get("model") else stand_in(setting)
    return without_others(wanted, setting, partial(make_agent, model=model))
