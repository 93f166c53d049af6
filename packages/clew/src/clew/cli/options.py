"""Options that several commands have, each defined once."""

import sys
from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar, get_args, get_type_hints

import click
import msgspec

from clew import Audio, ConfigError, File, Image, ModelSettings, Question
from clew.cli.errors import Shell
from clew.cli.offers import offers
from clew.cli.safe_text import say
from clew.interfaces import Json
from clew.stores import has_password
from clew.toolbox import attach
from clew.workers import QUEUE as DEFAULT

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


def _labels(
    context: click.Context, parameter: click.Parameter, value: tuple[str, ...]
) -> dict[str, str]:
    """Labels by name."""
    labels: dict[str, str] = {}
    for each in value:
        name, equals, text = each.partition("=")
        if not name or not equals:
            message = f"{each!r} is no label: write NAME=VALUE."
            raise click.BadParameter(message, context, parameter)
        labels[name] = text
    return labels


Attached: TypeAlias = tuple[Image | Audio | File, ...]


def _attached(
    context: click.Context, parameter: click.Parameter, value: tuple[str, ...]
) -> Attached:
    """What is in some files."""
    del parameter
    return () if context.resilient_parsing else tuple(map(attach, value))


def with_attached(words: str, attached: Attached) -> Question:
    """What a person asks, with what they attach."""
    return [words, *attached] if attached else words


MAX_NUMBER: Final = 10**12
"""What a limit may be at most: a record keeps whole numbers of 64 bits."""


def _limit(context: click.Context, parameter: click.Parameter, value: int | None) -> int | None:
    """A number that bounds something."""
    if value is not None and not 0 < value <= MAX_NUMBER:
        message = f"{value} is not in the range from 1 to {MAX_NUMBER:,}."
        raise click.BadParameter(message, context, parameter)
    return value


def _names(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Names between commas. An empty text means none; commas alone mean nothing."""
    if value and not value.replace(",", "").strip():
        message = f"{value!r} names none: give names between commas, or '' for no tools."
        raise click.BadParameter(message, context, parameter)
    return value


def _servers(
    context: click.Context, parameter: click.Parameter, value: tuple[str, ...]
) -> list[str] | None:
    """Lines that name servers; None where the option was left out."""
    del context, parameter
    return [*value] or None


def _store_location(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> str | None:
    """A place; of a password in it nothing is shown, so that what is shown lacks it."""
    location = named(context, parameter, value)
    if location and has_password(location):
        warning = "the password in --store is in no command shown here: keep it in PGPASSWORD, "
        say(f"{warning}~/.pgpass or $CLEW_STORE", err=True)
    return location


def _extra(
    context: click.Context, parameter: click.Parameter, value: tuple[str, ...]
) -> dict[str, Json] | None:
    """Parameters of the provider: JSON, or text; None where the option was left out."""
    extra: dict[str, Json] = {}
    for assignment in value:
        name, equals, text = assignment.partition("=")
        if not (name and equals):
            message = f"{assignment!r}: write NAME=VALUE."
            raise click.BadParameter(message, context, parameter)
        try:
            extra[name] = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError):
            extra[name] = text
    return extra or None


def _name(flag: str, metavar: str, about: str, **more: Any) -> Callable[[F], F]:
    """An option that takes a name, which is not empty."""
    return click.option(flag, callback=named, metavar=metavar, help=about, **more)


def _label_option(about: str) -> Callable[[F], F]:
    return click.option(
        "--label", "labels", metavar="NAME=VALUE", multiple=True, callback=_labels, help=about
    )


def _file(flag: str, metavar: str, about: str) -> Callable[[F], F]:
    return _name(flag, metavar, about, type=click.Path())


def _limit_option(flag: str, about: str) -> Callable[[F], F]:
    return click.option(flag, metavar="N", type=int, callback=_limit, help=about)


def _number(flag: str, metavar: str, about: str) -> Callable[[F], F]:
    return click.option(flag, metavar=metavar, type=float, help=about)


def _model_option(name: str) -> Callable[[F], F]:
    """The option of a setting of the model, as the table of settings has it."""
    flag, about = f"--{name.replace('_', '-')}", ModelSettings.HELP[name]
    if name == "extra":
        return click.option(flag, metavar="NAME=VALUE", multiple=True, callback=_extra, help=about)
    if name == "stop":
        about += "  Repeatable."
        return click.option(flag, metavar="TEXT", multiple=True, callback=_servers, help=about)
    kind, *_ = get_args(get_type_hints(ModelSettings)[name])
    if kind is float or kind is int:
        return click.option(flag, type=kind, metavar="X" if kind is float else "N", help=about)
    return click.option(flag, type=click.Choice(get_args(kind)), help=about)


def _flag(*names: str, about: str, **more: Any) -> Callable[[F], F]:
    return click.option(*names, is_flag=True, help=about, **more)


QUESTION: Final = click.argument("question", callback=_question)
ATTACH: Final = click.option(
    "--attach",
    "attached",
    metavar="FILE",
    type=click.Path(),
    multiple=True,
    callback=_attached,
    help="A picture, recording, PDF or text that goes with it. Repeatable.",
)
RUN: Final = click.argument("run", shell_complete=offers("runs"))
SAY: Final = click.option(
    "--say", metavar="TEXT", callback=_word, help="A further message from you."
)
STORE: Final = click.option(
    "--store",
    callback=_store_location,
    metavar="PLACE",
    help="Where runs are stored: an SQLite file or postgresql://….  [default: "
    "$CLEW_STORE, or a file in your data folder]",
)
DEBUG: Final = _flag(
    "--debug",
    about="Show everything: full observations, progress, tracebacks.",
    expose_value=False,
    callback=_debug,
)
JSON: Final = _flag("--json", "as_json", about="Print one JSON document, for programs.")
QUIET: Final = _flag("--quiet", "-q", about="Show only the result: answer, sources, cost.")
TRUST_ORIGIN: Final = _flag(
    "--trust-origin",
    about="Use what the record names (programs, modules, servers) although somebody else began it.",
)
LOG_DIR: Final = _file(
    "--log-dir",
    "FOLDER",
    "Write trace.jsonl, run.log, chat.md and chat.jsonl to a folder for each run there.",
)
AGENT: Final = _file(
    "--agent", "FILE", "An agent file (TOML; `clew init` writes one); other options override it."
)
MCP: Final = click.option(
    "--mcp",
    multiple=True,
    callback=_servers,
    metavar="SERVER",
    help="Use the tools of this MCP server: a command line or a URL, or NAME=… of either. Several "
    "times for several.",
)
LABEL: Final = _label_option("A label of the run. Repeatable.")
ONLY_LABEL: Final = _label_option("Only runs with this label. Repeatable.")
OWNER: Final = _name("--owner", "NAME", "Whose run it is.")
ONLY_OWNER: Final = _name("--owner", "NAME", "Only runs of this owner.")
SESSION: Final = _name("--session", "NAME", "The conversation of this name, the owner's own.")
QUEUE: Final = _name(
    "--queue",
    "NAME",
    f"The queue.  [default: {DEFAULT}]",
    default=DEFAULT,
)
AT_ONCE: Final = click.option(
    "--at-once", metavar="N", type=click.IntRange(min=1), default=8,
    help="Execute up to N runs at a time.  [default: 8]",
)  # fmt: skip

_COST: Final = _number("--cost", "USD", "Limit: US dollars.")
_AGENT: Final = (
    AGENT,
    _name(
        "--model",
        "NAME",
        "provider:model (`clew doctor models` lists them), or offline.  [default: the first "
        "that `clew doctor` finds]",
        shell_complete=offers("models"),
    ),
    _file(
        "--docs",
        "FOLDER",
        "Let the model search the text, Markdown, HTML and PDF files in this folder.",
    ),
    _file(
        "--memory",
        "FILE",
        "Give the run the matching memories from this file, and tools to remember and look up.",
    ),
    _file(
        "--workspace",
        "FOLDER",
        "Let the model read and change the files in this folder, run programs there in a sandbox, "
        "and use its git repository.",
    ),
    click.option(
        "--tools",
        callback=_names,
        shell_complete=offers("tools"),
        metavar="NAMES",
        help="Comma-separated: names from `clew tools list`, or module:name of your own.  "
        "[default: calc,planner]",
    ),
    MCP,
    _name(
        "--strategy",
        "NAME",
        "Answer by several runs: reflexion, rewoo, plan_and_solve, orchestrator, "
        "evaluator_optimizer, tree_search, auto (chosen by the task), or module:name.",
    ),
    _name(
        "--codec",
        "NAME",
        "How the model writes its calls: native, paper, labelled …  "
        "[default: native; json for small models]",
        shell_complete=offers("formats"),
    ),
    click.option(
        "--screens",
        callback=_names,
        metavar="NAMES",
        help="What checks your words for prompt injection; '' for nothing.  [default: injections]",
    ),
    _limit_option("--steps", "Limit: steps.  [default: 15]"),
    _limit_option("--tokens", "Limit: model tokens, in and out."),
    _COST,
    _number("--seconds", "S", "Limit: seconds of work."),
    _limit_option(
        "--window", "Tokens that a prompt and its reply may take.  [default: the model's]"
    ),
    *map(_model_option, ModelSettings.HELP),
    click.option(
        "--checks",
        callback=_names,
        metavar="NAMES",
        help="What checks answers: grounded (rejects what the evidence does not support), or "
        "module:name of your own.",
    ),
    _flag(
        "--references",
        about="Cite by number, and end the answer with the list of references.",
        default=None,
    ),
    click.option(
        "--unknown",
        type=click.Choice(["tell", "hold"]),
        help="When it is unknown whether a call took effect: tell the model, or hold it for you.  "
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
