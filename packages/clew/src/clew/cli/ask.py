"""`clew ask`: one question, one run."""

import click

from clew import open_run
from clew.agent_files import origin
from clew.cli.agents import assemble, options
from clew.cli.memory import tell_memories
from clew.cli.offers import offers
from clew.cli.options import (
    ATTACH,
    LABEL,
    LOG_DIR,
    OWNER,
    QUESTION,
    STORE,
    Attached,
    agent_options,
    with_attached,
)
from clew.cli.outcome import ShownResult, run_command
from clew.cli.run_here import carry_on
from clew.cli.screen import RunScreen
from clew.cli.votes import NO_LOG, VoteRequest, assemble_vote, carry_vote
from clew.interfaces import Json
from clew.stores import store_at
from clew.support.run_ids import new_run_id

EPILOG = """\b
Examples:
  clew ask "What is 17 * 23?"
  clew ask "Who keeps the lighthouse?" --docs ~/notes
  clew ask "…" --model openai:gpt-4.1-mini --cost 0.05
  clew ask "…" --votes 3 --verifier openai:gpt-4.1
  clew ask "What was paid?" --attach receipt.jpg --model openai:gpt-4.1-mini
  echo "What is 2**64?" | clew ask - --json

\b
Exit codes: 0 answered, 2 usage, 3 stopped at a limit, 4 waits for approval,
5 failed, 6 refused, 7 declined, 8 contradicted by the record,
130 interrupted.
"""


@click.command(epilog=EPILOG)
@QUESTION
@ATTACH
@click.option(
    "--votes",
    metavar="K",
    type=click.IntRange(min=1),
    help="Let K runs share the limits of one, and decide among their answers.",
)
@click.option(
    "--verifier",
    metavar="NAME",
    shell_complete=offers("models"),
    help="With --votes: the model that decides if answers differ.  [default: most votes]",
)
@LABEL
@OWNER
@agent_options
@STORE
@LOG_DIR
@run_command
async def ask(
    screen: RunScreen,
    *,
    question: str,
    attached: Attached,
    store: str | None,
    log_dir: str | None,
    votes: int | None,
    verifier: str | None,
    labels: dict[str, str],
    owner: str | None,
    **arguments: Json,
) -> ShownResult:
    """Answer QUESTION, and record every thought, call and observation.

    If QUESTION is -, it is read from stdin.
    """
    spec, wish = options(arguments), _vote_request(votes, verifier, log_dir)
    if wish is not None and (labels or owner):
        raise click.UsageError("--votes takes no --label and no --owner: leave them out.")
    asked = with_attached(question, attached)
    made = await (assemble if wish is None else assemble_vote)(spec, screen)
    store = store or made.spec.store or None
    async with store_at(store) as opened_store:
        if wish is not None:
            return await carry_vote(
                wish, asked, made, new_run_id(), screen, opened_store, store=store
            )
        async with open_run(
            made.agent,
            asked,
            store=opened_store,
            listener=screen.listener,
            origin=origin(made.spec),
            labels=labels,
            owner=owner,
        ) as opened:
            if made.spec.memory:
                await tell_memories(made.spec.memory, question, opened.run_id, opened_store)
            return await carry_on(made, opened, screen, store=store, log_dir=log_dir)


def _vote_request(
    votes: int | None, verifier: str | None, log_dir: str | None
) -> VoteRequest | None:
    """The vote that is wanted; None where one run is to answer."""
    if votes is None:
        if verifier is not None:
            message = "--verifier chooses among several answers: say how many with --votes."
            raise click.UsageError(message)
        return None
    if log_dir is not None:
        message = f"{NO_LOG}: leave --log-dir out."
        raise click.UsageError(message)
    return VoteRequest(votes, verifier or "")
