"""`clew resume`: go on with a run."""

import click

from clew import ConfigError, open_run, read, rewind
from clew.agent_files import origin
from clew.cli.agents import agent_store, assemble, recorded
from clew.cli.foreign_runs import trusted
from clew.cli.options import ATTACH, LOG_DIR, RUN, SAY, STORE, TRUST_ORIGIN, Attached, with_attached
from clew.cli.outcome import ShownResult, run_command
from clew.cli.run_here import carry_on
from clew.cli.screen import RunScreen
from clew.cli.settings import RecordCommand, SetOptions, settings_option
from clew.cli.store_option import existing, find_run
from clew.cli.votes import (
    NO_LOG,
    asked_before,
    assemble_vote,
    carry_vote,
    refuse_part,
    vote_request_of,
)

EPILOG = """\b
Examples:
  clew resume last
  clew resume 20260102-030405-0a1b2c3d --say "And in which year?"
  clew resume last --rewind-to 3 --lesson "Not the museum."
  clew resume last --set limits.steps=40 --accept-change
"""


@click.command(cls=RecordCommand, epilog=EPILOG)
@RUN
@SAY
@ATTACH
@click.option(
    "--rewind-to",
    metavar="K",
    type=int,
    help="First leave out the steps after step K, as a wrong branch; needs --lesson.",
)
@click.option(
    "--lesson", metavar="TEXT", default="", help="What was wrong, and what to do instead."
)
@settings_option()
@click.option(
    "--accept-change", is_flag=True, help="Continue although the agent differs from the record's."
)
@click.option(
    "--take-over",
    is_flag=True,
    help="Take the run from a worker that hangs, which can add nothing more to it.",
)
@TRUST_ORIGIN
@STORE
@LOG_DIR
@run_command
async def resume(
    screen: RunScreen,
    *,
    run: str,
    say: str,
    attached: Attached,
    rewind_to: int | None,
    lesson: str,
    settings: SetOptions,
    store: str | None,
    log_dir: str | None,
    accept_change: bool,
    take_over: bool,
    trust_origin: bool,
) -> ShownResult:
    """Continue RUN: after a crash, Ctrl-C or an approval, or with a further message.

    RUN is an id, its beginning or end, or `last`. The agent is made from the record; --set changes
    it, and then --accept-change is needed. A run that has ended shows its result again, unless it
    gets something new. A run that somebody else began is refused, unless you --trust-origin.
    """
    store = store or agent_store(settings.agent)
    async with existing(store) as opened_store:
        run_id = await find_run(opened_store, run)
        record = await read(run_id, store=opened_store)
        if trust_origin:
            record = await trusted(opened_store, record)
        await refuse_part(record, opened_store, store)
        votes = vote_request_of(record)
        spec = recorded(record, settings.agent)
        if votes is not None and (say or attached or log_dir or rewind_to is not None):
            message = NO_LOG if log_dir else "a vote takes no further word: ask anew"
            raise ConfigError(message)
        made = await (assemble if votes is None else assemble_vote)(spec, screen)
        if rewind_to is not None:
            await rewind(run_id, to=rewind_to, lesson=lesson, store=opened_store)
        elif lesson:
            raise ConfigError("--lesson is that of a rewind: say with --rewind-to where to go on")
        if votes is not None:
            asked = asked_before(record)
            return await carry_vote(votes, asked, made, run_id, screen, opened_store, store=store)
        async with open_run(
            made.agent, run_id=run_id, store=opened_store, accept_change=accept_change,
            take_over=take_over, listener=screen.listener, origin=origin(made.spec),
        ) as opened:  # fmt: skip
            words = with_attached(say, attached)
            return await carry_on(made, opened, screen, words, store=store, log_dir=log_dir)
