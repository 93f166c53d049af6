"""`clew fork`: a new run that begins with another's first steps."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.lowlevel
import click
import msgspec

from clew.agent_files import Spec, explained, make_agent, make_library
from clew.cli.agents import NAMES, agent_store, origin, recorded, with_model
from clew.cli.ask import readable, tell_model, watching
from clew.cli.options import DEBUG, JSON, QUIET, RUN, STORE, TRUST_ORIGIN, agent_options
from clew.cli.outcome import Outcome, finish
from clew.cli.places import existing, find_run
from clew.cli.screen import Screen
from clew.cli.votes import refuse_vote
from clew.cli.work import carry_on
from clew.core.errors import ConfigError
from clew.core.events import Json
from clew.core.fork import find_fork_point, start_fork
from clew.core.journal import load
from clew.core.trajectory import Trajectory

EPILOG = """\b
Examples:
  clew fork last --at 3 --model openai:gpt-4.1
  clew fork last --at 3 --set observation.3.1="nothing found"
  clew fork last --at 0 --set limits.tool_calls=5 --set prompt=@prompt.txt
  clew diff last RUN
"""

OBSERVATION: Final = "observation."
TEXTS: Final = frozenset({"model", "format", "docs", "tools", "prompt", "answer", "unknown"})
"""Keys whose value is text, also where it looks like a number."""
UNSET: Final = frozenset({"store", "file"})
"""Fields of a spec that say where, not what."""


@dataclass(frozen=True)
class Wish:
    """What a person wants of a fork: where it is cut, what is to be another, what `usual` again."""

    run: str
    at: int
    say: str
    observations: dict[str, Json]
    given: dict[str, Json]
    usual: tuple[str, ...]
    trust_origin: bool = False


@click.command(epilog=EPILOG)
@RUN
@click.option(
    "--at", metavar="K", type=int, required=True, help="So many steps are shared; 0 is none."
)
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Change a field of an agent file (limits.steps=9), or what a call of step K observed "
    "(observation.2.1=TEXT, or =@FILE). Several are allowed.",
)
@click.option("--say", metavar="TEXT", default="", help="A further word: the run answers to it.")
@TRUST_ORIGIN
@agent_options
@STORE
@JSON
@QUIET
@DEBUG
def fork(
    run: str,
    at: int,
    settings: Sequence[str],
    say: str,
    store: str | None,
    *,
    trust_origin: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
    **given: Json,
) -> int:
    """Begin a new run with the first K steps of RUN, and go on with it.

    RUN is an id, its beginning or end, or `last`; it stays as it is. Its steps are shared, and no
    call of them is made again. The agent is that of the record; options and --set change it.
    """
    changed, observations = read_settings(settings)
    said = {NAMES.get(name, name) for name, value in given.items() if value is not None}
    if twice := sorted(said & {NAMES.get(name, name) for name in changed}):
        message = f"{twice[0]} is given twice, as an option and with --set: leave one out"
        raise ConfigError(message)
    usual = tuple(NAMES.get(name, name) for name, value in changed.items() if value is None)
    word = readable(say) if say else ""
    wish = Wish(run, at, word, observations, {**given, **changed}, usual, trust_origin)
    with watching(as_json=as_json, quiet=quiet, debug=debug) as screen:
        end = anyio.run(partial(_fork, wish, store, screen))
    return finish(end, as_json=as_json)


async def _fork(wish: Wish, store: str | None, screen: Screen) -> Outcome:
    store = store or agent_store(wish.given)
    async with existing(store) as place:
        run_id = await find_run(place, wish.run)
        record = await load(place, run_id)
        refuse_vote(record, "fork")
        so_far = Trajectory(run_id, find_fork_point(record, wish.at).shared)
        wanted, why = await with_model(_recorded(so_far, record, wish))
        tell_model(wanted, why)
        docs = make_library(wanted, screen.indexing)
        agent = make_agent(wanted, docs)
        screen.warn(agent.warnings)
        await anyio.lowlevel.checkpoint()  # no fork after a Ctrl-C while the parts were imported
        journal = await start_fork(
            agent,
            run_id,
            place,
            at=wish.at,
            observations=wish.observations,
            say=wish.say,
            listener=screen,
            origin=origin(wanted),
        )
        screen.so_far = journal.trajectory
        return await carry_on(agent, journal, docs, store=store, why=why)


def _recorded(so_far: Trajectory, record: Trajectory, wish: Wish) -> Spec:
    """The spec at the cut, with what is changed; what is to be as `usual` says nothing any more."""
    try:
        spec = recorded(so_far, wish.given, of=record, trusted=wish.trust_origin)
        return spec.replace(dict.fromkeys(wish.usual))
    except msgspec.ValidationError as error:
        message = f"--set does not fit an agent: {explained(str(error))}"
        raise ConfigError(message) from error
    except (AttributeError, TypeError) as error:  # a key within what is no table
        message = "--set does not fit an agent: a key names something within what is no table"
        raise ConfigError(message) from error


def read_settings(settings: Sequence[str]) -> tuple[dict[str, Json], dict[str, Json]]:
    """What `--set` changes of the agent, by names, and what it changes of observations."""
    changed: dict[str, Json] = {}
    observations: dict[str, Json] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            message = f"--set {setting}: write KEY=VALUE"
            raise ConfigError(message)
        if key.startswith(OBSERVATION):
            observations[key.removeprefix(OBSERVATION)] = _observed(text)
        else:
            changed[_name(key)] = _value(key, text)
    return changed, observations


def _name(key: str) -> str:
    """The name of what is changed, as the options and the fields of a spec have it."""
    name = key.replace("-", "_")
    fields = [name for name in Spec.__struct_fields__ if name not in UNSET]
    known = [*fields, *NAMES]
    if name.partition(".")[0] in known:
        return name
    near = difflib.get_close_matches(name, [*known, "observation"], n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}, observation.K.N"
    message = f"--set {key}: there is no such key: {hint}"
    raise ConfigError(message)


def _value(key: str, text: str) -> Json:
    """Text where text is meant; else what JSON takes it for, or text."""
    if key == "prompt":
        return _file(text[1:]) if text.startswith("@") else text
    if key in TEXTS:
        return text
    try:
        value: Any = msgspec.json.decode(text)
    except msgspec.DecodeError:
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
    except msgspec.DecodeError as error:
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
