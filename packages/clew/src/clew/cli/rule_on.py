"""`clew approve`, `reject`, `answer`, `settle`: a word on a call by its id, and the run goes on."""

from functools import partial

import anyio
import click

from clew import Trajectory, read
from clew import answer as give_answer
from clew import settle as settle_call
from clew.agent.approvals import approval_id, root_of
from clew.cli.approval_prompts import json_or_text, person
from clew.cli.approve import LeftRuling, RulingOptions, leave_ruling, waiting_calls
from clew.cli.continue_hint import continue_hint, is_described
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, STORE
from clew.cli.resume import resume
from clew.cli.safe_text import inert, say
from clew.cli.store_option import existing, store_location
from clew.workers import queue_of


@click.command()
@click.argument("approval")
@click.option("--edit", metavar="JSON", default="", help="Change the arguments.")
@click.option("--answer", metavar="TEXT", default="", help="Answer what the call asks.")
@click.option("--why", metavar="TEXT", default="", help="The reason, for the record.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@STORE
@DEBUG
@click.pass_context
def approve(
    context: click.Context,
    approval: str,
    edit: str,
    answer: str,
    why: str,
    store: str | None,
    *,
    yes: bool,
) -> int:
    """Allow the held call with the id APPROVAL (`clew approvals`), and go on with its run.

    The call is made only as it was shown: if it changed since, nothing is ruled. A run of a queue
    is left to its workers, and one in which other calls wait goes on with the last of them.
    """
    word = RulingOptions(allow=True, edit=edit, answer=answer, why=why)
    return _rule(context, approval, word, store, yes=yes)


@click.command()
@click.argument("approval")
@click.option("--why", metavar="TEXT", default="", help="The reason; the model sees it.")
@STORE
@DEBUG
@click.pass_context
def reject(context: click.Context, approval: str, why: str, store: str | None) -> int:
    """Refuse the held call with the id APPROVAL (`clew approvals`), and go on with its run."""
    return _rule(context, approval, RulingOptions(allow=False, why=why), store, yes=True)


def _rule(
    context: click.Context, approval: str, word: RulingOptions, store: str | None, *, yes: bool
) -> int:
    ruled = leave_ruling(approval, word, store, yes=yes)
    return ANSWERED if ruled is None else _carried(context, ruled, store)


def _carried(context: click.Context, ruled: LeftRuling, store: str | None) -> int:
    """Go on with a run that has its word, unless others do, or more of its calls wait."""
    if queue_of(ruled.root) or not is_described(ruled.root):
        say(f"{ruled.text} {_then(ruled.root, store)}")
        return ANSWERED
    if left := waiting_calls(ruled.root.run_id, store):
        say(f"{ruled.text} Of its run {len(left)} more wait: {', '.join(each.id for each in left)}")
        return ANSWERED
    say(ruled.text, err=True)
    args = [ruled.root.run_id, *(("--store", store) if store else ())]
    code: int = resume.main(args, standalone_mode=False, obj=context.obj)
    return code


@click.command()
@click.argument("call")
@click.argument("result")
@STORE
@DEBUG
@click.pass_context
def answer(context: click.Context, call: str, result: str, store: str | None) -> int:
    """Give RESULT (JSON, or a text) for a call that is performed elsewhere, and go on.

    CALL is its id in `clew approvals`, or RUN:2.1.
    """
    give = partial(
        give_answer, call, json_or_text(result), by=person(), store=store_location(store)
    )
    anyio.run(give)
    return _go_on(context, call, "has its result.", store)


@click.command()
@click.argument("call")
@click.option("--done/--not-done", required=True, help="Whether it happened.")
@click.option("--result", metavar="JSON", help="What came of it, if that is known.")
@click.option("--why", metavar="TEXT", default="", help="How you know; the model sees it.")
@STORE
@DEBUG
@click.pass_context
def settle(
    context: click.Context,
    call: str,
    result: str | None,
    why: str,
    store: str | None,
    *,
    done: bool,
) -> int:
    """Say what came of CALL (RUN:2.1), of which nobody knew whether it happened, and go on."""
    value = None if result is None else json_or_text(result)
    word = partial(
        settle_call, call, done=done, result=value, why=why, by=person(),
        store=store_location(store),
    )  # fmt: skip
    anyio.run(word)
    return _go_on(context, call, "is settled.", store)


def _go_on(context: click.Context, call: str, text: str, store: str | None) -> int:
    """Go on with the run of a call, unless somebody else does."""
    asked = approval_id(call)

    async def look() -> Trajectory:
        async with existing(store) as opened:
            record = await read(asked.run_id, store=opened)
            return await read(await root_of(opened, record), store=opened)

    root = anyio.run(look)
    return _carried(context, LeftRuling(f"{inert(asked.key)} {text}", root), store)


def _then(root: Trajectory, store: str | None) -> str:
    return f"It goes on by {inert(continue_hint(root, store=store))}"
