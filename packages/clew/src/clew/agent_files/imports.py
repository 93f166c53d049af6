"""A user's own parts, named `module:name` in an agent file or on the command line."""

import filecmp
import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Final, cast

from clew.core.tools import AnyTool, ToolSpec
from clew.support.error_text import described
from clew.support.errors import ConfigError
from clew.support.nearest_name import nearest

_ADDED: Final = set[str]()
"""Folders that came onto `sys.path` for the modules of one agent each."""


def imported(name: str, what: str, folder: str = "") -> Any:
    """The object of that name in a user's own module; `what` says in errors what it should be.

    The module is looked for in `folder` first, or in the working folder. A process has one module
    of a name: where that is another agent's, it does not stand in. Raises `ConfigError`.
    """
    module, _, attribute = name.partition(":")
    if (here := folder or str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
        _ADDED.add(os.path.realpath(here))
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        if _absent(module, error):
            message = (
                f"the {what} {name!r} cannot be imported: {error}; write module:name, and "
                + (
                    f"see that {module}.py is in {here}"
                    if folder
                    else f"run clew where {module}.py is"
                )
            )
        else:
            message = f"the module of the {what} {name!r} fails: {described(error)}"
        raise ConfigError(message) from error
    if other := _of_another(module, here, named=bool(folder)):
        message = (
            f"the {what} {name!r} is looked for in {here}, but this process has {other} under that "
            "name: give one of the modules another name, or use a process for each agent"
        )
        raise ConfigError(message)
    if not hasattr(loaded, attribute):
        near = nearest(attribute, [one for one in vars(loaded) if one[0] != "_"])
        hint = f"did you mean {module}:{near}?" if near else "write module:name"
        message = f"the {what} {name!r} cannot be imported: {module} has no {attribute!r}; {hint}"
        raise ConfigError(message)
    return getattr(loaded, attribute)


def _of_another(module: str, here: str, *, named: bool) -> str:
    """The file that was loaded in the place of one in `here`, or out of another agent's folder.

    A copy of it, as another checkout has one, is as good. Where no folder was named, any of those
    that were may have it.
    """
    top = module.partition(".")[0]
    loaded = getattr(sys.modules.get(top), "__file__", None)
    if loaded is None:  # built in, or folders without a file of their own
        return ""
    meant = PathFinder.find_spec(top, [here])
    if meant is not None and meant.origin is not None:
        return "" if _alike(meant.origin, loaded) else loaded
    if not named:
        return ""
    file = Path(os.path.realpath(loaded))
    folder = file.parents[1] if file.stem == "__init__" else file.parent
    return loaded if str(folder) in _ADDED - {os.path.realpath(here)} else ""


def _alike(one: str, other: str) -> bool:
    try:
        return filecmp.cmp(one, other, shallow=False)
    except OSError:  # one is gone, or was never a file
        return False


def _absent(module: str, error: BaseException) -> bool:
    """Whether it is this module that is not there, and not one that it needs."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"{module}.".startswith(f"{error.name}.")
    return not module.strip(".")  # or that has no name at all


def imported_tools(name: str, folder: str = "") -> list[AnyTool]:
    """A tool, or several in a list or tuple, of the user's own module. Raises `ConfigError`."""
    part = imported(name, "tool", folder)
    several = cast("Sequence[object]", part) if isinstance(part, list | tuple) else (part,)
    good = [tool for tool in several if isinstance(tool, AnyTool)]
    if not good or len(good) != len(several):
        message = f"{name} is no Tool, nor a list of them: make it one with @tool"
        raise ConfigError(message)
    return good


def imported_function(name: str, what: str, folder: str = "") -> Any:
    """A function (or another object that can be called). Raises `ConfigError`."""
    function = imported(name, what, folder)
    if not callable(function) or isinstance(function, ToolSpec):
        message = f"the {what} {name!r} is of type {type(function).__name__}: name a function"
        raise ConfigError(message)
    return function
