"""`clew ask`: one question, one run."""

import sys
from functools import partial

import anyio
import anyio.lowlevel
import click

from clew.agent_files import Spec, make_agent, make_library
from clew.api import start, store_at
from clew.cli import complete
from clew.cli.agents import options, origin, with_model
from clew.cli.options import DEBUG, JSON, LOG_DIR, QUIET, STORE, agent_options
from clew.cli.outcome import Outcome, finish
from clew.cli.screen import Screen, console
from clew.cli.votes import NO_LOG, Wish, carry_vote
from clew.cli.work import carry_on
from clew.core.errors import ConfigError
from clew.core.events import Json
from clew.core.journal import new_run_id

EPILOG = """\b
Examples:
  clew ask "What is 17 * 23?"
  clew ask "Who keeps the lighthouse?" --docs ~/notes
  clew ask "…" --model openai:gpt-4.1-mini --max-cost 0.05
  clew ask "…" --votes 3 --verifier openai:gpt-4.1
  echo "What is 2**64?" | clew ask - --json
\b
Exit codes: 0 answered, 2 usage, 3 stopped at a bound, 4 held for a ruling,
5 failed, 6 refused, 7 declined, 130 interrupted.
"""


@click.command(epilog=EPILOG)
@click.argument("question")
@click.option(
    "--votes",
    metavar="K",
    type=click.IntRange(min=1),
    help="Let K runs answer at once under the limits of one, and decide among their answers.",
)
@click.option(
    "--verifier",
    metavar="NAME",
    shell_complete=complete.models,
    help="With --votes: the model that chooses where the answers differ.  [default: most votes]",
)
@agent_options
@STORE
@LOG_DIR
@JSON
@QUIET
@DEBUG
def ask(
    question: str,
    store: str | None,
    log_dir: str | None,
    votes: int | None,
    verifier: str | None,
    *,
    as_json: bool,
    quiet: bool,
    debug: bool,
    **given: Json,
) -> int:
    """Answer QUESTION by thinking, acting and observing, all of it on record.

    With - as the question it is read from stdin.
    """
    said = readable(sys.stdin.read() if question == "-" else question)
    wanted, wish = options(given), _wish(votes, verifier, log_dir)
    with watching(as_json=as_json, quiet=quiet, debug=debug) as screen:
        if wish is not None:
            work = partial(_ask_all, said, wanted, wish, screen, store=store)
        else:
            work = partial(_ask, said, wanted, screen, store=store, log_dir=log_dir)
        end = anyio.run(work)
    return finish(end, as_json=as_json)


def _wish(votes: int | None, verifier: str | None, log_dir: str | None) -> Wish | None:
    """The vote that is wanted; None where one run is to answer."""
    if votes is None:
        if verifier is not None:
            message = "--verifier chooses among several answers: say how many with --votes."
            raise click.UsageError(message)
        return None
    if log_dir is not None:
        message = f"{NO_LOG}: leave --log-dir out."
        raise click.UsageError(message)
    return Wish(votes, verifier or "")


async def _ask_all(
    question: str, wanted: Spec, wish: Wish, screen: Screen, *, store: str | None
) -> Outcome:
    wanted, why = await with_model(wanted)
    tell_model(wanted, why)
    store = store or wanted.store or None
    run_id = new_run_id()
    async with store_at(store) as place:
        return await carry_vote(wish, question, wanted, run_id, screen, place, store=store, why=why)


async def _ask(
    question: str, wanted: Spec, screen: Screen, *, store: str | None, log_dir: str | None
) -> Outcome:
    wanted, why = await with_model(wanted)
    tell_model(wanted, why)
    docs = make_library(wanted, screen.indexing)
    agent = make_agent(wanted, docs)
    screen.warn(agent.warnings)
    store = store or wanted.store or None
    async with store_at(store) as place:
        await anyio.lowlevel.checkpoint()  # no record after a Ctrl-C while the parts were imported
        journal = await start(agent, question, place, listener=screen, origin=origin(wanted))
        screen.so_far = journal.trajectory
        return await carry_on(agent, journal, docs, store=store, why=why, log_dir=log_dir)


def readable(text: str, *, empty: bool = False) -> str:
    """The text as a person wrote it. Raises `ConfigError` where it is no UTF-8, or empty."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        message = "that is not valid UTF-8: convert it first, for example with iconv"
        raise ConfigError(message) from error
    if not (empty or text.strip()):
        message = "the question is empty: say what you want to know"
        raise ConfigError(message)
    return text.strip()


def watching(*, as_json: bool, quiet: bool, debug: bool) -> Screen:
    """Where a run is shown: on stdout; on stderr, and only to a person, beside a JSON document."""
    if quiet:
        return Screen(None)
    if not as_json:
        return Screen(console(), debug=debug)
    progress = console(stderr=True)
    return Screen(progress if debug or progress.is_terminal else None, debug=debug)


def tell_model(wanted: Spec, why: str) -> None:
    """Say which model was chosen, and why, where nobody named one."""
    if why:
        console(stderr=True).print(f"Model: {wanted.model} ({why})", style="dim")
