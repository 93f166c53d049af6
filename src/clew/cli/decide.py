"""A person decides on a held call at a terminal: allow, edit, refuse, or leave it waiting."""

import sys
from typing import Final

import click
import msgspec

from clew.cli.ask import readable
from clew.cli.held import held_call
from clew.cli.screen import console, put
from clew.cli.visible import inert
from clew.core.errors import ConfigError
from clew.core.events import Json, Ruling
from clew.core.pending import Held
from clew.toolbox.person import ASK

CHOICES: Final = "[y]es, [n]o, [e]dit the arguments, or nothing to decide later"
PROMPT: Final = "? "
"""Short: what a plain terminal has no room for, it would scroll away."""


def arguments(text: str) -> dict[str, Json]:
    """The arguments a person wrote. Raises `ConfigError` for what is no JSON object."""
    try:
        return msgspec.json.decode(text, type=dict[str, Json])
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        message = f"that is no JSON object of arguments: {error}"
        raise ConfigError(message) from error


def confirm(each: Held, *, yes: bool) -> bool:
    """Show a call and ask whether it may be made; with `yes` it is only shown.

    Raises `ConfigError` where nobody is there to be asked.
    """
    put(console(), held_call(each))
    if yes:
        return True
    if not sys.stdin.isatty():
        message = "nobody is here to confirm this call: look at it, then give --yes"
        raise ConfigError(message)
    return click.confirm("Allow it?")


def decide(each: Held) -> Ruling | None:
    """Ask for a ruling on a call that was shown; None where the person decides later.

    `KeyboardInterrupt` and `EOFError` are the caller's.
    """
    name = f"{inert(each.call)} {inert(each.tool)}"
    if each.tool == ASK:
        click.echo(f"Your answer to {inert(each.call)}, or nothing to decide later:")
        said = input(PROMPT)
        args: dict[str, Json] = {**each.args, "answer": said.strip()}
        return Ruling(each.call, allow=True, args=args) if readable(said, empty=True) else None
    while True:
        click.echo(f"Allow {name}? {CHOICES}:")
        match input(PROMPT).strip().lower():
            case "y" | "yes":
                return Ruling(each.call, allow=True)
            case "n" | "no":
                return Ruling(
                    each.call, allow=False, why=input("Why (the model is told): ").strip()
                )
            case "e" | "edit":
                if (edited := _edit(each)) is not None:
                    return Ruling(each.call, allow=True, args=edited)
            case _:
                return None


def _edit(each: Held) -> dict[str, Json] | None:
    """The arguments as the person leaves them in their editor; None where they did not save any."""
    text = msgspec.json.format(msgspec.json.encode(each.args)).decode()
    try:
        edited = click.edit(text, extension=".json")
        return None if edited is None else arguments(edited)
    except (ConfigError, click.ClickException) as error:
        click.echo(str(error), err=True)
        return None
