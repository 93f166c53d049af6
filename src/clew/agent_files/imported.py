"""A user's own parts, named `module:name` in an agent file or on the command line.

Tools of an optional extra are loaded here too: whoever names none needs no extra.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from clew.errors import ConfigError
from clew.protocols import Tool


def imported(name: str, what: str, folder: str = "") -> Any:
    """The object of that name in a user's own module; `what` says in errors what it should be.

    The module is looked for in `folder` first, or in the working folder. Raises `ConfigError`.
    """
    module, _, attribute = name.partition(":")
    if (here := folder or str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        message = f"the {what} {name!r} cannot be imported: {error}; write module:name, and " + (
            f"see that {module}.py is in {here}" if folder else f"run clew where {module}.py is"
        )
        raise ConfigError(message) from error
    except Exception as error:
        message = f"the module of the {what} {name!r} fails: {type(error).__name__}: {error}"
        raise ConfigError(message) from error


def imported_tools(name: str, folder: str = "") -> list[Tool]:
    """A tool, or several in a list or tuple, of the user's own module. Raises `ConfigError`."""
    found = imported(name, "tool", folder)
    several = cast("Sequence[object]", found) if isinstance(found, list | tuple) else (found,)
    good = [tool for tool in several if isinstance(tool, Tool)]
    if not good or len(good) != len(several):
        message = f"{name} is no Tool, nor a list of them: make it one with @tool"
        raise ConfigError(message)
    return good


def imported_function(name: str, what: str, folder: str = "") -> Any:
    """A function (or another object that can be called). Raises `ConfigError`."""
    found = imported(name, what, folder)
    if not callable(found):
        message = f"the {what} {name!r} is a {type(found).__name__}: name a function"
        raise ConfigError(message)
    return found


def imported_web(name: str) -> Any:
    """What is called so in `clew.tools.web`. Raises `ConfigError` where the extra is missing."""
    try:
        return getattr(importlib.import_module("clew.tools.web"), name)
    except ImportError as error:
        message = f"tools for the web need the extra web: pip install 'clew[web]' ({error})"
        raise ConfigError(message) from error
