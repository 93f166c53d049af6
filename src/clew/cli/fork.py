"""`clew fork`: a new run that begins with another's first steps."""

from functools import partial

import click

from clew.agent_files import origin
from clew.cli.agents import agent_store, assemble, recorded
from clew.cli.foreground import carry_on
from clew.cli.options import DEBUG, JSON, QUIET, RUN, SAY, STORE, TRUST_ORIGIN
from clew.cli.outcome import Outcome, show_run
from clew.cli.places import existing, find_run
from clew.cli.screen import Screen
from clew.cli.settings import RecordCommand, Settings, settings_option
from clew.cli.votes import refuse_vote
from clew.core.fork import find_fork_point, start_fork
from clew.core.journal import load
from clew.core.trajectory import Trajectory

EPILOG = """\b
Examples:
  clew fork last --at 3 --set model=openai:gpt-4.1
  clew fork last --at 3 --set observation.3.1="nothing found"
  clew fork last --at 0 --set limits.tool_calls=5 --set prompt=@prompt.txt
  clew diff last RUN
"""


@click.command(cls=RecordCommand, epilog=EPILOG)
@RUN
@click.option(
    "--at", metavar="K", type=int, required=True, help="So many steps are shared; 0 is none."
)
@settings_option(" Also what call N of step K observed (observation.K.N=TEXT, or =@FILE).")
@SAY
@TRUST_ORIGIN
@STORE
@JSON
@QUIET
@DEBUG
def fork(
    run: str,
    at: int,
    settings: Settings,
    say: str,
    store: str | None,
    *,
    trust_origin: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Begin a new run with the first K steps of RUN, and go on with it.

    RUN is an id, its beginning or end, or `last`; it stays as it is. Its steps are shared, and no
    call of them is made again. The agent is that of the record; --set changes it.
    """
    work = partial(_fork, run, at, settings, say, store, trusted=trust_origin)
    return show_run(work, as_json=as_json, quiet=quiet)


async def _fork(
    run: str,
    at: int,
    settings: Settings,
    say: str,
    store: str | None,
    screen: Screen,
    *,
    trusted: bool,
) -> Outcome:
    store = store or agent_store(settings.agent)
    async with existing(store) as place:
        run_id = await find_run(place, run)
        record = await load(place, run_id)
        refuse_vote(record, "fork")
        so_far = Trajectory(run_id, find_fork_point(record, at).shared)
        spec = recorded(so_far, settings.agent, of=record, trusted=trusted)
        made = await assemble(spec, screen)
        journal = await start_fork(
            made.agent,
            run_id,
            place,
            at=at,
            observations=settings.observations,
            say=say,
            listener=screen,
            origin=origin(made.spec),
        )
        screen.so_far = journal.trajectory
        return await carry_on(made, journal, store=store)
