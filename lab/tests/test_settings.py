"""What is accepted is used: every setting of every public class takes values of its type only.

The classes are found among the public names, and their fields by their types, so that a new setting
is tried without a line here. A class that is no setting, because clew makes it or a record holds
it, is named in no_settings.txt; a new class that is neither fails.
"""

import importlib
import inspect
import types
import typing
from pathlib import Path
from typing import Any, Final, Literal, Union

import pytest

from clew import Agent, ConfigError, MemoryStore, fork, resume, run, tool
from clew.support.settings import check_options
from clew.testing import ScriptedModel, finish
from clew.toolbox import process_tool
from clew_evals import Case, Configuration, World, judging

PUBLIC: Final = Path(__file__).with_name("public_names.txt").read_text(encoding="utf-8").split()
NO_SETTINGS: Final = Path(__file__).with_name("no_settings.txt").read_text("utf-8").split()
"""Public classes that clew makes, or that a record or a reply holds: nobody sets them."""
NAN: Final = float("nan")
WRONG: Final[dict[Any, list[Any]]] = {
    bool: ["false", "true", 2, 0],
    int: [True, "3", 1.5, NAN],
    float: [True, "3", NAN],
    str: [3, True],
    Literal: ["no such word", 3],
}
AGENT: Final = Agent(ScriptedModel([finish("x")]))
NEEDED: Final[dict[str, dict[str, Any]]] = {  # what such a setting needs to be made
    "McpServer": {"command": "true"},
    "ServedAgent": {"agent": AGENT},
    "Agent": {"model": AGENT.model},
    "Critic": {"model": AGENT.model},
    "HarmfulRequests": {"model": AGENT.model},
    "Configuration": {"agent": AGENT},
    "Judge": {"agent": judging(AGENT.model)},
    "Plan": {
        "world": World("w", [Case("one", "Which?", {"exact": "x"})]),
        "configurations": [Configuration("it", AGENT)],
    },
    "Chaining": {"agents": {"it": AGENT}},
    "Routing": {"agents": {"it": AGENT}, "purposes": {"it": "all"}},
    "PostgresStore": {"address": "postgres:///test"},
    "ServeConfig": {"allowed_hosts": ("clew.example",)},
}
SIGNED: Final = frozenset({"enough", "min_score", "seed"})
"""Numbers that may be below nothing: scores, and what begins a random row."""
RIGHT: Final[dict[Any, Any]] = {str: "x", int: 1, float: 1.0, bool: False}


def public_classes() -> dict[str, type]:
    fields: dict[type, str] = {}
    for name in PUBLIC:
        module, _, last = name.rpartition(".")
        made: object = getattr(importlib.import_module(module), last)
        if inspect.isclass(made):
            fields.setdefault(made, name)
    return {name: made for made, name in fields.items()}


CLASSES: Final = public_classes()


def checks_fields(kind: type) -> bool:
    """Whether a class looks at its values itself when it is made."""
    return "__post_init__" in vars(kind)


SETTINGS: Final = {
    name: kind
    for name, kind in CLASSES.items()
    if checks_fields(kind) and name not in NO_SETTINGS  # a value of a record may look at itself too
}


def plain(kind: Any) -> Any:
    """`bool`, `int`, `float`, `str` or `Literal` where a type is that, or that or None."""
    if typing.get_origin(kind) in (Union, types.UnionType):
        some = [one for one in typing.get_args(kind) if one is not type(None)]
        return plain(some[0]) if len(some) == 1 else None
    if typing.get_origin(kind) is Literal:
        return Literal
    return kind if kind in WRONG else None


def fields(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    names = [name for name in inspect.signature(kind).parameters if name in hints]
    return {name: plain(hints[name]) for name in names}


def made(name: str, arguments: dict[str, Any]) -> Any:
    """A setting with these values, and with what it needs besides."""
    kind, needed = SETTINGS[name], NEEDED.get(name.rpartition(".")[2], {})
    types_ = fields(kind)
    bare = {
        one.name: RIGHT.get(types_.get(one.name), ())
        for one in inspect.signature(kind).parameters.values()
        if one.default is one.empty and one.name in types_
    }
    return kind(**{**bare, **needed, **arguments})


TRIED: Final = [
    pytest.param(name, field, value, id=f"{name}-{field}-{value!r}")
    for name, kind in SETTINGS.items()
    for field, type_ in fields(kind).items()
    for value in WRONG.get(type_, [])
]
BELOW: Final = [
    pytest.param(name, field, id=f"{name}-{field}")
    for name, kind in SETTINGS.items()
    for field, type_ in fields(kind).items()
    if type_ in {int, float} and field not in SIGNED
]


def test_settings_are_found() -> None:
    assert len(SETTINGS) > 40
    assert len(TRIED) > 500


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_can_be_made(name: str) -> None:
    made(name, {})


@pytest.mark.parametrize(("name", "field", "value"), TRIED)
def test_a_value_of_another_type_is_refused(name: str, field: str, value: Any) -> None:
    with pytest.raises(ConfigError):
        made(name, {field: value})


@pytest.mark.parametrize(("name", "field"), BELOW)
def test_a_number_below_nothing_is_refused(name: str, field: str) -> None:
    with pytest.raises(ConfigError):
        made(name, {field: -1})


def plain_fields(kind: type) -> bool:
    """Whether one makes it with plain values: no error, no protocol, no union of words."""
    if issubclass(kind, BaseException) or getattr(kind, "_is_protocol", False):
        return False
    own = getattr(kind, "__struct_fields__", ()) or getattr(kind, "__dataclass_fields__", ())
    return bool(own) and any(fields(kind).values())


def test_what_the_settings_are_is_known() -> None:
    """A new public class with plain fields checks them, or is told here to be no setting."""
    others = {name for name, kind in CLASSES.items() if name not in SETTINGS and plain_fields(kind)}
    assert others == set(NO_SETTINGS)


class Seen:
    """A listener."""

    def token(self, text: str) -> None:
        """Nothing."""

    def entry(self, entry: Any) -> None:
        """Nothing."""


LISTENERS: Final[list[Any]] = [3, print, {}, type("Half", (), {"token": print})()]


@pytest.mark.parametrize("listener", LISTENERS, ids=["number", "function", "dict", "half"])
async def test_a_listener_that_cannot_listen_is_refused_on_every_path(listener: Any) -> None:
    agent, store = Agent(ScriptedModel([finish("x")] * 3)), MemoryStore()
    await run(agent, "What?", store=store, run_id="r", listener=Seen())
    with pytest.raises(ConfigError, match="give one that has"):
        await run(agent, "What?", store=store, listener=listener)
    with pytest.raises(ConfigError, match="give one that has"):
        await fork(agent, "r", at=0, store=store, listener=listener)
    with pytest.raises(ConfigError, match="give one that has"):
        await resume(agent, "r", store=store, listener=listener)


@pytest.mark.parametrize(
    "fields",
    [{"run_id": 3}, {"run_id": True}, {"run_id": b"r"}, {"origin": 3}, {"origin": "x"}],
    ids=str,
)
async def test_an_id_or_an_origin_of_another_type_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="give a"):
        await run(Agent(ScriptedModel([finish("x")])), "What?", store=MemoryStore(), **fields)


@pytest.mark.parametrize(
    "fields", [{"limits": 3}, {"limits": {"steps": 3}}, {"context": 3}, {"context": None}], ids=str
)
def test_a_part_of_another_type_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"give (Limits|Context)\("):
        Agent(ScriptedModel([finish("x")]), **fields)


def test_an_option_of_a_tool_that_is_none_is_refused_with_the_nearest() -> None:
    for wrong, near in {"timout": "timeout", "retries": "retry", "effects": "effect"}.items():
        with pytest.raises(ConfigError, match=f"did you mean {near}"):
            tool(**{wrong: 3})(made)  # type: ignore[call-overload] # that is what is tried
        with pytest.raises(ConfigError, match=f"did you mean {near}"):
            process_tool("json:dumps", **{wrong: 3})  # type: ignore[call-overload] # the same
    with pytest.raises(ConfigError, match="there are one, two"):
        check_options("it", ["zzz"], ["one", "two"])
