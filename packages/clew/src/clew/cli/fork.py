"""`clew fork`: a new run that begins with another's first steps."""

import click

from clew import open_fork, read
from clew.agent_files import origin
from clew.cli.agents import agent_store, assemble, recorded
from clew.cli.foreign_runs import trusted
from clew.cli.options import ATTACH, RUN, SAY, STORE, TRUST_ORIGIN, Attached, with_attached
from clew.cli.outcome import ShownResult, run_command
from clew.cli.run_here import carry_on
from clew.cli.screen import RunScreen
from clew.cli.settings import RecordCommand, SetOptions, settings_option
from clew.cli.store_option import existing, find_run
from clew.cli.votes import refuse_vote

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
    "--at",
    metavar="K",
    type=int,
    required=True,
    help="Keep the first K steps; 0 keeps only the question.",
)
@settings_option(" Or replace what call N of step K returned (observation.K.N=TEXT, or =@FILE).")
@SAY
@ATTACH
@TRUST_ORIGIN
@STORE
@run_command
async def fork(
    screen: RunScreen,
    *,
    run: str,
    at: int,
    settings: SetOptions,
    say: str,
    attached: Attached,
    store: str | None,
    trust_origin: bool,
) -> ShownResult:
    """Start a new run from the first K steps of RUN, and continue it.

    RUN is an id, its beginning or end, or `last`; it does not change. No call of the kept steps is
    made again. The agent is made from the record; --set changes it.
    """
    store = store or agent_store(settings.agent)
    async with existing(store) as opened_store:
        run_id = await find_run(opened_store, run)
        record = await read(run_id, store=opened_store)
        if trust_origin:
            record = await trusted(opened_store, record)
        refuse_vote(record, "fork")
        shared = await read(run_id, at=at, store=opened_store)
        spec = recorded(shared, settings.agent)
        made = await assemble(spec, screen)
        async with open_fork(
            made.agent, run_id, at=at, observations=settings.observations,
            say=with_attached(say, attached),
            store=opened_store,
            listener=screen.listener, origin=origin(made.spec),
        ) as opened:  # fmt: skip
            return await carry_on(made, opened, screen, store=store)
