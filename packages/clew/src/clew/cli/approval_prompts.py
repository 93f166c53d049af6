"""What waits for a person: the call, why, the commands that rule on it, the questions asked."""

import getpass
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Final

import anyio
import click
import msgspec

from clew import ConfigError, PendingApproval, rule, settle
from clew.agent.approvals import arguments_of_text, value_of_text
from clew.cli.options import readable
from clew.cli.render import TextBlock, origins, written
from clew.cli.safe_text import json_text, say
from clew.cli.screen import console, put
from clew.cli.store_option import command, store_location
from clew.interfaces import Action, Json, Ruling, Settled, encode
from clew.support.printable import inert
from clew.toolbox import ASK_PERSON

CHOICES: Final = "[y]es, [n]o, [e]dit the arguments, or nothing to decide later"
_BEHIND: Final = "Goes ahead once you have ruled"
_EDITED: Final = "with these arguments, as you left them"
PROMPT: Final = "? "
"""Short: what a plain terminal has no room for, it would scroll away."""


def show_call(each: PendingApproval, run_id: str = "", *, title: str = "Held") -> TextBlock:
    """The call that waits: its run where that is not `run_id`, its tool, its arguments, and why.

    Below that where its arguments come from, and which calls go ahead with a ruling.
    """
    made = written(Action(each.tool, each.args), complete=True)
    why = inert(each.why + origins(each.origins))
    behind = "".join(f"\n{_BEHIND}: {written(it, complete=True)}" for it in each.behind)
    form = "" if each.asks is None else encode(each.asks).decode()
    asks = f"\nthe answer has this schema: {form}" if form else ""
    key = each.call if each.run_id == run_id else f"{each.run_id} {each.call}"
    return TextBlock(f"{title} {inert(key)}", f"{made}\n{why}{behind}{inert(asks)}", "yellow")


def render_approval(
    each: PendingApproval, store: str | None, run_id: str = ""
) -> Iterator[TextBlock]:
    """A call that waits, in whichever run; that is named where it is not `run_id`."""
    yield show_call(each, run_id)
    if each.wants == "result":
        yield TextBlock("Give it", command("answer", each.id, "RESULT", store=store))
    elif each.tool == ASK_PERSON:
        answer = command("approve", each.id, "--answer", "TEXT", store=store)
        yield TextBlock("Answer it", answer)
    elif each.asks is not None:
        answer = command("approve", each.id, "--answer", "VALUE", store=store)
        yield TextBlock("Answer it", answer)
    else:
        if each.wants == "outcome":
            yield TextBlock("Settle", command("settle", each.id, "--done", store=store))
            yield TextBlock("Or", command("settle", each.id, "--not-done", store=store))
        yield TextBlock("Allow", command("approve", each.id, store=store))
    yield TextBlock(
        "Refuse",
        command("reject", each.id, "--why", "REASON", store=store),
    )


def typed_value(text: str, schema: Json) -> Json:
    """What a person typed, by the schema of what is wanted; says how it is read if that is open."""
    value, note = value_of_text(text, schema)
    if note:
        say(f"clew: {inert(note)}", err=True)
    return value


def confirm(each: PendingApproval, *, yes: bool) -> bool:
    """Show a call and ask whether it may be made, unless the person said `yes` beforehand.

    What was allowed beforehand is shown all the same, with what speaks against it.

    Raises `ConfigError` where nobody is there to be asked.
    """
    put(console(), show_call(each, title="Allow" if yes else "Held"))
    if yes:
        return True
    if not sys.stdin.isatty():
        message = "nobody is here to confirm this call: look at it, then give --yes"
        raise ConfigError(message)
    return click.confirm("Allow it?")


def decide(each: PendingApproval) -> Ruling | Settled | None:
    """Ask for a ruling on a call that was shown; None where the person decides later.

    Edited arguments are shown as they would be made, and asked about like those of the model: an
    editor may leave a file as it was. `KeyboardInterrupt` and `EOFError` are the caller's.
    """
    name = f"{inert(each.call)} {inert(each.tool)}"
    if each.tool == ASK_PERSON:
        say(f"Your answer to {inert(each.call)}, or nothing to decide later:")
        answer = input(PROMPT)
        args: dict[str, Json] = {**each.args, "answer": answer.strip()}
        return Ruling(each.call, allow=True, args=args) if readable(answer, empty=True) else None
    if each.asks is not None or each.wants == "result":
        return _answered(each)
    if each.wants == "outcome" and (settled := _outcome(each)) is not None:
        return settled
    edited: dict[str, Json] | None = None
    while True:
        say(f"Allow {name}? {CHOICES}:")
        match input(PROMPT).strip().lower():
            case "y" | "yes":
                return Ruling(each.call, allow=True, args=edited)
            case "n" | "no":
                return Ruling(each.call, allow=False, why=_reason())
            case "e" | "edit":
                if (saved := _edit(each)) is not None:
                    edited, each = saved, replace(each, args=saved, why=_EDITED, origins={})
                    put(console(), show_call(each))
            case "":
                return None
            case other:
                say(f"{inert(other)} is none of these", err=True)


def _outcome(each: PendingApproval) -> Settled | None:
    """Ask what came of a call of unknown outcome; None where the person does not know it."""
    say(f"Was {inert(each.call)} {inert(each.tool)} done? [d]one, [u]ndone, or nothing:")
    match input(PROMPT).strip().lower():
        case "d" | "done":
            return Settled(each.call, done=True)
        case "u" | "undone":
            return Settled(each.call, done=False)
        case _:
            return None


def _reason() -> str:
    """Why a person says no; where their input ends, the no counts without a reason."""
    try:
        return input("Why (the model is told): ").strip()
    except EOFError:
        say()
        return ""


def _answered(each: PendingApproval) -> Ruling | Settled | None:
    """Ask for the answer that a call wants; "n" refuses the call."""
    say(f"Your answer to {inert(each.call)} (n refuses, nothing decides later):")
    typed = input(PROMPT).strip()
    if not typed:
        return None
    if typed.lower() in {"n", "no"}:
        return Ruling(each.call, allow=False, why=_reason())
    value = typed_value(typed, each.asks)
    if each.wants == "result":
        return Settled(each.call, result=value)
    return Ruling(each.call, allow=True, answer=value)


def _edit(each: PendingApproval) -> dict[str, Json] | None:
    """The arguments as the person leaves them in their editor; None where they did not save any."""
    text = msgspec.json.format(json_text(each.args))
    try:
        edited = click.edit(text, extension=".json")
        return None if edited is None else arguments_of_text(edited)
    except (ConfigError, click.ClickException) as error:
        say(str(error), err=True)
        return None


def post_ruling(each: PendingApproval, word: Ruling | Settled, store: str | None) -> None:
    """Leave the person's word on a held call in its run's inbox."""
    if isinstance(word, Settled):
        tell = partial(
            settle, each.id, done=word.done, result=word.result, by=person(),
            store=store_location(store),
        )  # fmt: skip
        anyio.run(tell)
        return
    leave = partial(
        rule, each.id, allow=word.allow, args=word.args,
        answer=word.answer, why=word.why, by=person(), store=store_location(store),
    )  # fmt: skip
    anyio.run(leave)


def leave_word(each: PendingApproval, store: str | None) -> bool:
    """Ask for a word and leave it; whether there is one. Arguments that do not fit are asked for
    again.
    """
    while (ruling := decide(each)) is not None:
        try:
            post_ruling(each, ruling, store)
        except ConfigError as error:
            say(f"clew: {error}", err=True)
            told = ruling.result if isinstance(ruling, Settled) else ruling.args or ruling.answer
            if told is None:  # somebody else was faster
                return False
        else:
            return True
    return False


def person() -> str:
    """Who rules, for the record: the user's name, "" where it has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
