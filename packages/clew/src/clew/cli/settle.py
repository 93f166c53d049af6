"""`clew answer` and `settle`: what came of a call, and the run goes on."""

from functools import partial

import anyio
import click

from clew import Trajectory, read
from clew import answer as give_answer
from clew import settle as settle_call
from clew.agent.approvals import approval_id, root_of
from clew.cli.approval_prompts import json_or_text, person
from clew.cli.carry_on import carry_on
from clew.cli.leave_ruling import LeftRuling
from clew.cli.options import DEBUG, STORE
from clew.cli.safe_text import inert
from clew.cli.store_option import existing, find_run, store_location


@click.command()
@click.argument("call")
@click.argument("result")
@STORE
@DEBUG
@click.pass_context
def answer(context: click.Context, call: str, result: str, store: str | None) -> int:
    """Give RESULT (JSON, or a text) for a call that is performed elsewhere, and go on.

    CALL is its id in `clew approvals`, or RUN:2.1, where RUN may be `last`.
    """
    call = anyio.run(_meant, call, store)
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
    """Say what came of CALL, of which nobody knew whether it happened, and go on.

    CALL is its id in `clew approvals`, or RUN:2.1, where RUN may be `last`.
    """
    call = anyio.run(_meant, call, store)
    value = None if result is None else json_or_text(result)
    word = partial(
        settle_call, call, done=done, result=value, why=why, by=person(),
        store=store_location(store),
    )  # fmt: skip
    anyio.run(word)
    return _go_on(context, call, "is settled.", store)


async def _meant(call: str, store: str | None) -> str:
    """The id of the call that a person names: its run may be `last`, or a part of its id."""
    named = approval_id(call).run_id
    async with existing(store) as opened:
        return f"{await find_run(opened, named)}{call.removeprefix(named)}"


def _go_on(context: click.Context, call: str, text: str, store: str | None) -> int:
    """Go on with the run of a call, unless somebody else does."""
    asked = approval_id(call)

    async def look() -> tuple[Trajectory, bool]:
        async with existing(store) as opened:
            record = await read(asked.run_id, store=opened)
            recorded = record.call(asked.key).settled is not None
            return await read(await root_of(opened, record), store=opened), recorded

    root, recorded = anyio.run(look)
    return carry_on(context, LeftRuling(f"{inert(asked.key)} {text}", root, recorded), store)
