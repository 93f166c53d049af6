"""`clew approve` and `clew reject`: a person's word on a call that waits for one."""

import contextlib
import getpass
from dataclasses import dataclass
from functools import partial

import anyio
import click
import msgspec

from clew.api import rule
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, RUN, STORE
from clew.cli.places import command, existing, find_run
from clew.errors import ConfigError
from clew.events import Json, Ruling, decode
from clew.journal import load
from clew.tools.person import ASK, answered
from clew.trajectory import Call, Trajectory


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
        run_id = await find_run(place, run)
        call = _meant(await load(place, run_id), word.call)
        further = command("resume", run_id, store=store)
        if any(_rules(body, call.key) for _, body in await place.inbox(run_id)):
            message = f"{call.key} was ruled on already, and the first word counts: {further}"
            raise ConfigError(message)
        args = _arguments(call, word)
        by = _person()
        await rule(run_id, call.key, allow=word.allow, args=args, why=word.why, by=by, store=place)
    said = "allowed" if word.allow else "refused"
    click.echo(f"{call.key} {call.action.name} is {said}. Go on with: {further}")
    return ANSWERED


def _meant(record: Trajectory, key: str) -> Call:
    waiting = [call for call in record.calls if call.held]
    if not key and len(waiting) == 1:
        return waiting[0]
    for call in waiting:
        if call.key == key:
            return call
    keys = ", ".join(call.key for call in waiting)
    what = f"call {key} does not wait for a ruling" if key else "several calls wait: say which"
    if not waiting:
        message = (
            f"no call of run {record.run_id} waits for a ruling: `clew show` tells what it did"
        )
    else:
        message = f"{what}; of run {record.run_id} these wait: {keys}"
    raise ConfigError(message)


def _rules(message: bytes, key: str) -> bool:
    """Whether a message in the inbox is a ruling on the call."""
    with contextlib.suppress(msgspec.DecodeError):  # of a newer clew: not ours to judge
        event = decode(message)
        return isinstance(event, Ruling) and event.call == key
    return False


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
