"""`clew resume`: go on with a run."""

from dataclasses import dataclass
from functools import partial

import anyio
import anyio.lowlevel
import click

from clew.agent_files import Spec, make_agent, make_library
from clew.api import take_up
from clew.cli.agents import agent_store, origin, recorded, with_model
from clew.cli.ask import readable, tell_model, watching
from clew.cli.options import DEBUG, JSON, LOG_DIR, QUIET, RUN, STORE, TRUST_ORIGIN, agent_options
from clew.cli.outcome import Outcome, finish
from clew.cli.places import existing, find_run
from clew.cli.screen import Screen
from clew.cli.votes import NO_LOG, carry_vote, refuse_part, wish_of
from clew.cli.work import carry_on
from clew.core.agent import Agent
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
  clew resume last --max-steps 40 --accept-change
"""


@dataclass(frozen=True)
class Wish:
    """What a person wants of a run: a word to add, and whether its agent may differ."""

    run: str
    say: str
    accept_change: bool
    given: dict[str, Json]
    log_dir: str | None = None
    take_over: bool = False
    trust_origin: bool = False


@click.command(epilog=EPILOG)
@RUN
@click.option("--say", metavar="TEXT", help="A further word: the run answers to it.")
@click.option(
    "--accept-change", is_flag=True, help="Go on although the agent differs from the record's."
)
@click.option(
    "--take-over",
    is_flag=True,
    help="Go on although a worker has the run, which may hang: it is fenced off.",
)
@TRUST_ORIGIN
@agent_options
@STORE
@LOG_DIR
@JSON
@QUIET
@DEBUG
def resume(
    run: str,
    say: str | None,
    store: str | None,
    log_dir: str | None,
    *,
    accept_change: bool,
    take_over: bool,
    trust_origin: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
    **given: Json,
) -> int:
    """Go on with RUN: after a crash, Ctrl-C, a ruling, or with a further word.

    RUN is an id, its beginning or end, or `last`. The agent is made again from the record; options
    given here change it, and then --accept-change is needed. A run that has ended and is given
    nothing new shows its result again. What somebody else began is refused until you trust what
    its record names.
    """
    word = "" if say is None else readable(say)
    wish = Wish(run, word, accept_change, given, log_dir, take_over, trust_origin)
    with watching(as_json=as_json, quiet=quiet, debug=debug) as screen:
        end = anyio.run(partial(_resume, wish, store, screen))
    return finish(end, as_json=as_json)


async def _resume(wish: Wish, store: str | None, screen: Screen) -> Outcome:
    store = store or agent_store(wish.given)
    async with existing(store) as place:
        run_id = await find_run(place, wish.run)
        record = await load(place, run_id)
        refuse_part(record, store)
        await refuse_sub_run(place, record)
        wanted, why = await with_model(recorded(record, wish.given, trusted=wish.trust_origin))
        tell_model(wanted, why)
        if (votes := wish_of(record)) is not None:
            if wish.say or wish.log_dir:
                message = "a vote takes no further word: ask anew" if wish.say else NO_LOG
                raise ConfigError(message)
            return await carry_vote(
                votes, record.goal, wanted, run_id, screen, place, store=store, why=why
            )
        docs = make_library(wanted, screen.indexing)
        agent = make_agent(wanted, docs)
        await anyio.lowlevel.checkpoint()  # nothing is taken up after a Ctrl-C
        async with claimed(place, record, take_over=wish.take_over):
            journal = await _taken_up(agent, wish, place, screen, wanted, run_id)
            screen.so_far = journal.trajectory
            if wish.say:
                await journal.record(Note(wish.say))
            elif is_set_aside(journal.trajectory.stop):
                await journal.record(Changed(agent.setting))  # who resumes it wants it to go on
            return await carry_on(agent, journal, docs, store=store, why=why, log_dir=wish.log_dir)


async def _taken_up(
    agent: Agent, wish: Wish, place: Store, screen: Screen, wanted: Spec, run_id: str
) -> Journal:
    try:
        return await take_up(
            agent,
            run_id,
            place,
            accept_change=wish.accept_change,
            listener=screen,
            origin=origin(wanted),
        )
    except ConfigError as error:
        error.add_note("to go on all the same, add --accept-change")
        raise
