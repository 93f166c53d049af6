"""`clew answer` and `settle`: what came of a call, and the run goes on."""

from functools import partial

import anyio
import click

from clew import Trajectory, read
from clew import answer as give_answer
from clew import settle as settle_call
from clew.agent.approvals import approval_id, recorded_tool, root_of
from clew.cli.approval_prompts import person, typed_value
from clew.cli.carry_on import carry_on
from clew.cli.leave_ruling import LeftRuling
from clew.cli.options import DEBUG, STORE
from clew.cli.store_option import existing, find_run, store_location
from clew.interfaces import Json
from clew.support.printable import inert


@click.command()
@click.argument("call")
@click.argument("result")
@STORE
@DEBUG
@click.pass_context
def answer(context: click.Context, call: str, result: str, store: str | None) -> int:
    """Give RESULT (a text, or JSON if the tool returns other values) for a call that is performed
    elsewhere, and go on.

    CALL is its id in `clew approvals`, or RUN:2.1, where RUN may be `last`.
    """
    call, schema = anyio.run(_meant, call, store)
    value = typed_value(result, schema)
    anyio.run(partial(give_answer, call, value, by=person(), store=store_location(store)))
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
    call, schema = anyio.run(_meant, call, store)
    value = None if result is None else typed_value(result, schema)
    word = partial(
        settle_call, call, done=done, result=value, why=why, by=person(),
        store=store_location(store),
    )  # fmt: skip
    anyio.run(word)
    return _go_on(context, call, "is settled.", store)


async def _meant(call: str, store: str | None) -> tuple[str, Json]:
    """The id of the call that a person names, and the schema of what it returns, if it has one.

    Its run may be `last`, or a part of its id.
    """
    named = approval_id(call)
    async with existing(store) as opened:
        run_id = await find_run(opened, named.run_id)
        record, schema = await read(run_id, store=opened), None
        for each in (it for it in record.calls if it.key == named.key):
            tool = await recorded_tool(opened, record, each)
            asked = None if each.verdict is None else each.verdict.verdict.asks
            schema = asked or (None if tool is None else tool.result)
        return f"{run_id}{call.removeprefix(named.run_id)}", schema


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
