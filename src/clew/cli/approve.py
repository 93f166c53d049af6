"""`clew approve` and `clew reject`: a person's word on a call that waits for one."""

import getpass
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import anyio
import click
import msgspec

from clew.approvals import root_of, rule, word_on
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, RUN, STORE
from clew.cli.places import command, existing, find_run
from clew.cli.render import inert
from clew.drivers.claiming import queue_of
from clew.errors import ConfigError
from clew.events import Json
from clew.journal import load
from clew.tools.person import ASK, answered
from clew.trajectory import Call, Trajectory
from clew.waiting import Held, held_here, held_in


@dataclass(frozen=True)
class Word:
    """A person's word; without a `call` it is on the only one that waits."""

    allow: bool
    call: str = ""
    edit: str = ""
    answer: str = ""
    why: str = ""


@click.command(short_help="Allow a held call.")
@RUN
@click.argument("call", default="")
@click.option("--edit", metavar="JSON", default="", help="Make the call with these arguments.")
@click.option("--answer", metavar="TEXT", default="", help="Answer a question of ask_person.")
@click.option("--why", metavar="TEXT", default="", help="A reason, for the record.")
@STORE
@DEBUG
def approve(
    run: str, call: str, edit: str, answer: str, why: str, store: str | None, *, debug: bool
) -> int:
    """Allow a held call of RUN (or, where its effect is unknown, to make it again).

    CALL is its number, such as 2.1; it may be left out where only one waits. Then `clew resume`.
    `clew approvals` lists what waits, in all runs and their sub-runs.
    """
    del debug
    if edit and answer:
        message = "give --edit or --answer, not both"
        raise ConfigError(message)
    word = Word(allow=True, call=call, edit=edit, answer=answer, why=why)
    return anyio.run(partial(_rule, run, word, store))


@click.command(short_help="Refuse a held call.")
@RUN
@click.argument("call", default="")
@click.option("--why", metavar="TEXT", default="", help="A reason; the model is told.")
@STORE
@DEBUG
def reject(run: str, call: str, why: str, store: str | None, *, debug: bool) -> int:
    """Refuse a held call of RUN (or leave an unknown one as it is).

    CALL is its number, such as 2.1; it may be left out where only one waits. Then `clew resume`.
    """
    del debug
    return anyio.run(partial(_rule, run, Word(allow=False, call=call, why=why), store))


async def _rule(run: str, word: Word, store: str | None) -> int:
    async with existing(store) as place:
        record = await load(place, await find_run(place, run))
        each = _meant(record, await held_in(place, record, await root_of(place, record)), word)
        of = await load(place, each.run_id)
        further = command("resume", each.root, store=store)
        queue = queue_of(await load(place, each.root))
        args = _arguments(of.call(each.call), word)
        said = partial(rule, allow=word.allow, args=args, why=word.why, by=_person())
        try:
            await said(each.run_id, each.call, seen=each.seen, store=place)
        except ConfigError as error:
            if await word_on(place, of, of.call(each.call)) is None:
                raise
            message = f"{each.call} was ruled on already, and the first word counts: {further}"
            raise ConfigError(message) from error
    done = "allowed" if word.allow else "refused"
    then = (
        f"A worker of the queue {inert(queue)} goes on with it, or: " if queue else "Go on with: "
    )
    click.echo(f"{each.call} {each.tool} is {done}. {then}{further}")
    return ANSWERED


def _meant(record: Trajectory, waiting: Sequence[Held], word: Word) -> Held:
    """What the word is on: a call of the run itself, or the only one that waits in its sub-runs.

    A call whose sub-run waits may be refused as a whole.
    """
    own = {each.call: each for each in held_here(record)}
    if word.call in own:
        root = waiting[0].root if waiting else record.run_id
        return replace(own[word.call], root=root)
    if not word.call and len(waiting) == 1:
        return waiting[0]
    if not waiting:
        message = (
            f"no call of run {record.run_id} waits for a ruling: `clew show` tells what it did"
        )
        raise ConfigError(message)
    what = "several calls wait: say which"
    if word.call:
        what = f"call {word.call} does not wait for a ruling"
    named = ", ".join(
        each.call if each.run_id == record.run_id else f"{each.run_id} {each.call}"
        for each in waiting
    )
    message = f"{what}; of run {record.run_id} these wait: {named}"
    raise ConfigError(message)


def _arguments(call: Call, word: Word) -> dict[str, Json] | None:
    if word.answer:
        return answered(call, word.answer).args
    if word.allow and call.action.name == ASK and not word.edit:
        message = f"{call.key} is a question: answer it with --answer TEXT, or reject it"
        raise ConfigError(message)
    if not word.edit:
        return None
    try:
        return msgspec.json.decode(word.edit, type=dict[str, Json])
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        message = f"--edit is no JSON object of arguments: {error}"
        raise ConfigError(message) from error


def _person() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
