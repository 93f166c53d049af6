"""Worlds by name: benchmarks in their own file formats, and environments that are acted on.

`hotpotqa` and `fever` read files and search; `textworld` is any text environment in the manner of
gym, `alfworld` and `webshop` are such ones; `database` are tools over data, judged by what the
data have become. Each module has `Options`, what a matrix file may say of it, and `world`.
"""

import inspect
from pathlib import Path
from typing import Any, Final

import msgspec

from clew.agent_files.imports import imported_function
from clew.core.errors import ConfigError
from clew.evals.environments.moves import Game
from clew.evals.environments.packages import load
from clew.evals.environments.textworld import text_world
from clew.evals.world import World
from clew.support.extras import install

__all__ = ["NAMES", "Game", "text_world", "world"]

NAMES: Final = ("hotpotqa", "fever", "textworld", "alfworld", "webshop", "database")
_EXTRAS: Final = {"hotpotqa": "web", "fever": "web"}


def world(name: str, path: str | Path = "", **options: Any) -> World:
    """The world of that name over what lies at `path`.

    `module:name` is a function of yours that gets path and options and returns a `World`. Raises
    `ConfigError` for a name, an option, a file or a package that is not there or not right.
    """
    if ":" in name:
        return _own(name, path, options)
    if name not in NAMES:
        message = f"there is no world {name!r}; choose one of {', '.join(NAMES)}, or module:name"
        raise ConfigError(message)
    needs = f"the world {name} needs more than clew alone"
    needs += f": {install(_EXTRAS[name])}" if name in _EXTRAS else ""
    module = load(f"clew.evals.environments.{name}", needs)
    try:
        chosen = msgspec.convert(options, module.Options)
    except msgspec.ValidationError as error:
        known = ", ".join(module.Options.__struct_fields__)
        message = f"world {name}: {error}; its options are {known}"
        raise ConfigError(message) from error
    found: World = module.world(path, chosen)
    return found


def _own(name: str, path: str | Path, options: dict[str, Any]) -> World:
    function = imported_function(name, "world")
    try:
        inspect.signature(function).bind(path, **options)
    except TypeError as error:
        message = f"world {name}: it does not take this path and these options: {error}"
        raise ConfigError(message) from error
    found = function(path, **options)
    if not isinstance(found, World):
        message = f"world {name}: it gives a {type(found).__name__} and no World"
        raise ConfigError(message)
    return found
