"""Options that several commands have, each defined once."""

import sys
from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from clew.cli import completers
from clew.cli.errors import Shell
from clew.core.errors import ConfigError
from clew.stores import has_password
from clew.workers.driver import QUEUE as DEFAULT

F = TypeVar("F", bound=Callable[..., Any])


def _debug(context: click.Context, parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click calls it
    del parameter
    shell = context.find_object(Shell)
    if shell is not None and value:
        shell.debug = True


def named(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """An empty name is a variable that was not set: it does not mean the default."""
    if value == "":
        message = "it is empty: name one, or leave the option out."
        raise click.BadParameter(message, context, parameter)
    return value


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


def _question(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """What a person asks; - stands for what is on stdin."""
    del parameter
    if context.resilient_parsing:
        return value
    return readable(sys.stdin.read() if value == "-" else value)


def _word(context: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """A further word of a person, "" for none."""
    del context, parameter
    return "" if value is None else readable(value)


MOST: Final = 10**12
"""What a limit may be at most: a record keeps whole numbers of 64 bits."""


def _limit(context: click.Context, parameter: click.Parameter, value: int | None) -> int | None:
    """A number that bounds something."""
    if value is not None and not 0 < value <= MOST:
        message = f"{value} is not in the range from 1 to {MOST:,}."
        raise click.BadParameter(message, context, parameter)
    return value


def _names(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Names between commas. An empty text means none; commas alone mean nothing."""
    if value and not value.replace(",", "").strip():
        message = f"{value!r} names none: give names between commas, or '' for no tools."
        raise click.BadParameter(message, context, parameter)
    return value


def _place(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A place; of a password in it nothing is shown, so that what is shown lacks it."""
    place = named(context, parameter, value)
    if place and has_password(place):
        said = "the password in --store is in no command shown here: keep it in PGPASSWORD, "
        click.echo(f"{said}~/.pgpass or $CLEW_STORE", err=True)
    return place


QUESTION: Final = click.argument("question", callback=_question)
SAY: Final = click.option(
    "--say", metavar="TEXT", callback=_word, help="A further word: the run answers to it."
)
RUN: Final = click.argument("run", shell_complete=completers.runs)
STORE: Final = click.option(
    "--store",
    callback=_place,
    metavar="PLACE",
    help="Where records lie: a file (SQLite) or postgresql://….  [default: "
    "$CLEW_STORE, or a file in your data folder]",
)
DEBUG: Final = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_debug,
    help="Show everything: whole observations, progress, tracebacks.",
)
JSON: Final = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, for programs."
)
QUIET: Final = click.option(
    "--quiet", "-q", is_flag=True, help="Show only the end: answer, sources, cost."
)
LOG_DIR: Final = click.option(
    "--log-dir",
    callback=named,
    metavar="FOLDER",
    type=click.Path(),
    help="Write trace.jsonl, run.log, chat.md and chat.jsonl there, in a folder for each run.",
)
AGENT: Final = click.option(
    "--agent",
    callback=named,
    metavar="FILE",
    type=click.Path(),
    help="An agent file (TOML; `clew init` writes one); other options go over it.",
)

QUEUE: Final = click.option(
    "--queue",
    callback=named,
    metavar="NAME",
    default=DEFAULT,
    help=f"The queue it stands in, or that is served.  [default: {DEFAULT}]",
)
AT_ONCE: Final = click.option(
    "--at-once",
    metavar="N",
    type=click.IntRange(min=1),
    default=8,
    help="So many runs at a time.  [default: 8]",
)

TRUST_ORIGIN: Final = click.option(
    "--trust-origin",
    is_flag=True,
    help="Make what the record names (programs, modules, servers) although you did not begin it.",
)

_COST: Final = click.option("--max-cost", metavar="USD", type=float, help="US dollars at most.")
_AGENT: Final = (
    AGENT,
    click.option(
        "--model",
        callback=named,
        shell_complete=completers.models,
        metavar="NAME",
        help="provider:model (`clew doctor models` lists them), or offline.  [default: what "
        "`clew doctor` finds first]",
    ),
    click.option(
        "--docs",
        callback=named,
        metavar="FOLDER",
        type=click.Path(),
        help="Search the text, Markdown, HTML and PDF files of this folder.",
    ),
    click.option(
        "--tools",
        callback=_names,
        shell_complete=completers.tools,
        metavar="NAMES",
        help="Comma-separated: names from `clew doctor tools`, or module:name of your own.  "
        "[default: calc,planner]",
    ),
    click.option(
        "--format",
        callback=named,
        shell_complete=completers.formats,
        metavar="NAME",
        help="How the model writes its actions: native, paper, labelled …  [default: native]",
    ),
    click.option(
        "--no-screen",
        is_flag=True,
        default=None,
        help="Do not look for attacks on the model's instructions in what you say.",
    ),
    click.option(
        "--max-steps",
        metavar="N",
        type=int,
        callback=_limit,
        help="Thoughts at most.  [default: 15]",
    ),
    click.option(
        "--max-tokens",
        metavar="N",
        type=int,
        callback=_limit,
        help="Model tokens at most, in and out.",
    ),
    _COST,
    click.option("--max-seconds", metavar="S", type=float, help="Seconds of work at most."),
    click.option("--temperature", metavar="T", type=float, help="Sampling temperature."),
    click.option(
        "--grounded",
        is_flag=True,
        default=None,
        help="Refuse answers that what was found does not bear out.",
    ),
    click.option(
        "--references",
        is_flag=True,
        default=None,
        help="Cite by number, with the list at the end of the answer's text.",
    ),
    click.option(
        "--unknown",
        type=click.Choice(["tell", "hold"]),
        help="After a call whose effect is unknown: tell the model, or hold for you.  "
        "[default: tell]",
    ),
)


def agent_options(command: F) -> F:
    """The options that say what an agent is made of; the command takes them as `**given`."""
    for option in reversed(_AGENT):
        command = option(command)
    return command


def trial_options(command: F) -> F:
    """The same where many runs share one limit of cost, which the command has by itself."""
    for option in reversed(_AGENT):
        command = command if option is _COST else option(command)
    return command
