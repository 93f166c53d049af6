"""Worlds by name: benchmarks in their own file formats, and environments that an agent acts on.

`hotpotqa` and `fever` read files and search; `textworld` is any text environment like gym,
including `alfworld` and `webshop`; `database` has tools over data, scored by the final data. Each
module has `Options`, which a matrix file may set, and `world`.
"""

import inspect
from pathlib import Path
from typing import Any, Final

import msgspec

from clew import ConfigError
from clew.agent_files.imports import imported_function
from clew.support.extras import install_package
from clew_evals.environments.moves import Game
from clew_evals.environments.packages import load
from clew_evals.environments.textworld import text_world
from clew_evals.world import World

__all__ = ["NAMES", "Game", "text_world", "world"]

NAMES: Final = ("hotpotqa", "fever", "textworld", "alfworld", "webshop", "database")
_PACKAGES: Final = {"hotpotqa": "clew-web", "fever": "clew-web"}


def world(name: str, path: str | Path = "", **options: Any) -> World:
    """The world of that name, over the dataset at `path`.

    `module:name` is a function of yours that takes path and options and returns a `World`. Raises
    `ConfigError` for a wrong or missing name, option, file or package.
    """
    if ":" in name:
        return _own(name, path, options)
    if name not in NAMES:
        message = f"there is no world {name!r}; choose one of {', '.join(NAMES)}, or module:name"
        raise ConfigError(message)
    needs = f"the world {name} needs more than clew alone"
    needs += f": {install_package(_PACKAGES[name])}" if name in _PACKAGES else ""
    module = load(f"clew_evals.environments.{name}", needs)
    try:
        chosen = msgspec.convert(options, module.OPTIONS)
    except msgspec.ValidationError as error:
        known = ", ".join(module.OPTIONS.__struct_fields__)
        message = f"world {name}: {error}; its options are {known}"
        raise ConfigError(message) from error
    environment: World = module.world(path, chosen)
    return environment


def _own(name: str, path: str | Path, options: dict[str, Any]) -> World:
    function = imported_function(name, "world")
    try:
        inspect.signature(function).bind(path, **options)
    except TypeError as error:
        why = "it takes no path" if not inspect.signature(function).parameters else str(error)
        message = f"world {name}: it does not take this path and these options: {why}"
        raise ConfigError(message) from error
    built = function(path, **options)
    if not isinstance(built, World):
        message = f"world {name}: it gives a {type(built).__name__} and no World"
        raise ConfigError(message)
    return built
