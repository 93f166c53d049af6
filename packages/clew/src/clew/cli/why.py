"""`clew why`: where the arguments of a call come from, and what guards and a person said of it."""

from dataclasses import asdict
from functools import partial
from typing import Final

import anyio
import click
from rich.table import Table
from rich.text import Text

from clew import read
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, JSON, RUN, STORE
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console
from clew.cli.store_option import existing, find_run
from clew.guards import Explanation, explain
from clew.interfaces import encode
from clew.support.printable import inert

_ENDS: Final = {
    "": "no guard objected",
    "hold": "held for a person",
    "deny": "denied",
    "amend": "made with other arguments",
    "hint": "made, with a hint",
}


@click.command("why")
@RUN
@click.argument("call")
@STORE
@JSON
@DEBUG
def why(run: str, call: str, store: str | None, *, as_json: bool) -> int:
    """Say where the arguments of a call come from, and what guards and a person said of it.

    CALL is the step and the number of the call in it, such as 2.1.
    """
    explanation = anyio.run(partial(_explained, run, call, store))
    if as_json:
        say(json_text(asdict(explanation)))
        return ANSWERED
    out = console()
    table = Table("argument", "value", "comes from", "trusted", "asked", box=None, pad_edge=False)
    for each in explanation.arguments:
        cells = (each.argument, encode(each.value).decode(), each.origin)
        marks = ["yes" if it else "no" for it in (each.trusted, each.doubtful)]
        table.add_row(*(Text(inert(cell)) for cell in cells), *marks)
    out.print(Text(inert(f"{explanation.call} {explanation.tool}"), "bold"))
    out.print(table)
    for line in _verdict(explanation):
        out.print(Text(inert(line)))
    return ANSWERED


async def _explained(run: str, call: str, store: str | None) -> Explanation:
    async with existing(store) as opened:
        return explain(await read(await find_run(opened, run), store=opened), call)


def _verdict(explanation: Explanation) -> list[str]:
    by = f" by {explanation.by}" if explanation.by else ""
    refused = explanation.reason and not explanation.verdict
    lines = [f"Verdict: {'not made' if refused else _ENDS[explanation.verdict]}{by}"]
    lines += [f"Reason: {explanation.reason}"] if explanation.reason else []
    return [*lines, *([f"A person {explanation.ruling} it"] if explanation.ruling else [])]
