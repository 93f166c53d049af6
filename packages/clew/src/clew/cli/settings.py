"""`--set KEY=VALUE`: what a command changes of the agent that a record names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec
from typing_extensions import override

from clew import ConfigError
from clew.agent_files import Spec
from clew.cli.agents import KEYS
from clew.interfaces import Json
from clew.support.nearest_name import nearest

F = TypeVar("F", bound=Callable[..., Any])

AGENT: Final = "agent"
OBSERVATION: Final = "observation."
TEXTS: Final = frozenset(
    {AGENT, "model", "codec", "docs", "workspace", "tools", "prompt", "answer"}
)
"""Keys whose value is text, also where it looks like a number."""
FIELDS: Final = [AGENT, *(name for name in Spec.__struct_fields__ if name not in {"store", "file"})]
"""The keys of an agent file that say what an agent is, and the file itself."""

HELP: Final = (
    "Change a key of the agent, as in agent files (limits.steps=9, model=NAME), or use another "
    "agent file (agent=FILE). Repeatable."
)


@dataclass(frozen=True)
class SetOptions:
    """What `--set` says: of the agent, by dotted keys, and of what calls observed."""

    agent: dict[str, Json] = field(default_factory=dict[str, Json])
    observations: dict[str, Json] = field(default_factory=dict[str, Json])


class RecordCommand(click.Command):
    """A command that knows the agent from a record: it has no options for it, but `--set`."""

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.removeprefix("--").replace("-", "_")
            key = KEYS.get(name, name)
            if key.partition(".")[0] not in FIELDS:
                raise
            message = f"No such option {error.option_name}: write --set {key}=VALUE."
            raise click.UsageError(message, ctx) from error


def settings_option(further: str = "") -> Callable[[F], F]:
    """The option `--set`; the command takes what it says as `settings`."""

    def read(
        context: click.Context, parameter: click.Parameter, words: Sequence[str]
    ) -> SetOptions:
        del context, parameter
        options = read_settings(words)
        if options.observations and not further:
            call = next(iter(options.observations))
            message = f"--set {OBSERVATION}{call}: another observation makes a fork: use clew fork"
            raise ConfigError(message)
        return options

    return click.option(
        "--set", "settings", metavar="KEY=VALUE", multiple=True, callback=read, help=HELP + further
    )


def read_settings(settings: Sequence[str]) -> SetOptions:
    """What each `KEY=VALUE` says. Raises `ConfigError` for a key that there is not."""
    options = SetOptions()
    for assignment in settings:
        key, equals, text = assignment.partition("=")
        if not equals:
            message = f"--set {assignment}: write KEY=VALUE"
            raise ConfigError(message)
        if key.startswith(OBSERVATION):
            options.observations[key.removeprefix(OBSERVATION)] = _observed(text)
            continue
        if key.partition(".")[0] not in FIELDS:
            message = f"--set {key}: there is no such key: {_hint(key)}"
            raise ConfigError(message)
        options.agent[key] = _value(key, text)
    return options


def _hint(key: str) -> str:
    """The key that may be meant, of which an option may say only the end (`steps`)."""
    name = key.removeprefix("--").replace("-", "_")
    if near := nearest(name, [*FIELDS, *KEYS, "observation"]):
        return f"did you mean {KEYS.get(near, near)}?"
    return f"there are {', '.join(FIELDS)}, observation.K.N"


def _value(key: str, text: str) -> Json:
    """Text where text is meant; else what JSON takes it for, or text."""
    if text == "null":  # as where nothing is said
        return None
    if key == "prompt":
        return _file(text[1:]) if text.startswith("@") else text
    if key in TEXTS:
        return text
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return text
    return value


def _observed(text: str) -> Json:
    """The text, or what a file holds: a value where its name ends in `.json`."""
    if not text.startswith("@"):
        return text
    content = _file(text[1:])
    if not text.endswith(".json"):
        return content
    try:
        value: Any = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError) as error:
        message = f"{text[1:]} is no JSON: {error}"
        raise ConfigError(message) from error
    return value


def _file(name: str) -> str:
    try:
        return Path(name).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        message = f"{name} cannot be read: {why}"
        raise ConfigError(message) from error
