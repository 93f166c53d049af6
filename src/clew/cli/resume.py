"""`clew resume`: go on with a run."""

from collections.abc import Mapping
from functools import partial

import click

from clew.agent_files import origin
from clew.api import take_up
from clew.cli.agents import Assembled, agent_store, assemble, recorded
from clew.cli.foreground import carry_on
from clew.cli.options import DEBUG, JSON, LOG_DIR, QUIET, RUN, SAY, STORE, TRUST_ORIGIN
from clew.cli.outcome import Outcome, show_run
from clew.cli.places import existing, find_run
from clew.cli.screen import Screen
from clew.cli.settings import RecordCommand, Settings, settings_option
from clew.cli.votes import NO_LOG, carry_vote, refuse_part, wish_of
from clew.core.errors import ConfigError
from clew.core.events import Changed, Json, Note
from clew.core.interfaces import Store
from clew.core.journal import Journal, load
from clew.core.runner import refuse_sub_run
from clew.workers.broken_runs import is_set_aside
from clew.workers.locks import claimed

EPILOG = """\b
Examples:
  clew resume last
  clew resume 20260102-030405-0a1b2c3d --say "And in which year?"
  clew resume last --set limits.steps=40 --accept-change
"""


@click.command(cls=RecordCommand, epilog=EPILOG)
@RUN
@SAY
@settings_option()
@click.option(
    "--accept-change", is_flag=True, help="Go on although the agent differs from the record's."
)
@click.option(
    "--take-over",
    is_flag=True,
    help="Go on although a worker has the run, which may hang: it is fenced off.",
)
@TRUST_ORIGIN
@STORE
@LOG_DIR
@JSON
@QUIET
@DEBUG
def resume(
    run: str,
    say: str,
    settings: Settings,
    store: str | None,
    log_dir: str | None,
    *,
    accept_change: bool,
    take_over: bool,
    trust_origin: bool,
    as_json: bool,
    quiet: bool,
) -> int:
    """Go on with RUN: after a crash, Ctrl-C, a ruling, or with a further word.

    RUN is an id, its beginning or end, or `last`. The agent is made again from the record; --set
    changes it, and then --accept-change is needed. A run that has ended and is given nothing new
    shows its result again. What somebody else began is refused until you trust what its record
    names.
    """
    work = partial(
        _resume, run, say, settings.agent, store or agent_store(settings.agent),
        log_dir=log_dir, accept_change=accept_change, take_over=take_over, trusted=trust_origin,
    )  # fmt: skip
    return show_run(work, as_json=as_json, quiet=quiet)


async def _resume(
    run: str,
    say: str,
    keys: Mapping[str, Json],
    store: str | None,
    screen: Screen,
    *,
    log_dir: str | None,
    accept_change: bool,
    take_over: bool,
    trusted: bool,
) -> Outcome:
    async with existing(store) as place:
        run_id = await find_run(place, run)
        record = await load(place, run_id)
        refuse_part(record, store)
        await refuse_sub_run(place, record)
        votes = wish_of(record)
        spec = recorded(record, keys, trusted=trusted)
        if votes is not None and (say or log_dir):
            message = "a vote takes no further word: ask anew" if say else NO_LOG
            raise ConfigError(message)
        made = await assemble(spec, screen)
        if votes is not None:
            return await carry_vote(votes, record.goal, made, run_id, screen, place, store=store)
        async with claimed(place, record, take_over=take_over):
            journal = await _take_up(made, run_id, place, screen, accept_change=accept_change)
            screen.so_far = journal.trajectory
            if say:
                await journal.record(Note(say))
            elif is_set_aside(journal.trajectory.stop):
                await journal.record(Changed(made.agent.setting))  # a person wants it to go on
            return await carry_on(made, journal, store=store, log_dir=log_dir)


async def _take_up(
    made: Assembled, run_id: str, place: Store, screen: Screen, *, accept_change: bool
) -> Journal:
    try:
        return await take_up(
            made.agent,
            run_id,
            place,
            accept_change=accept_change,
            listener=screen,
            origin=origin(made.spec),
        )
    except ConfigError as error:
        error.add_note("to go on all the same, add --accept-change")
        raise
