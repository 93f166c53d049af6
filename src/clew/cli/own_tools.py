"""A user's own tools, named `module:name` on the command line."""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from clew.errors import ConfigError
from clew.protocols import Tool


def imported(name: str) -> list[Tool]:
    """A tool, or several in a list or tuple, of the user's own module.

    It is looked for in the working folder first. A record holds its name only: where code lies is
    never taken from data.
    """
    module, _, attribute = name.partition(":")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        found: object = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        message = (
            f"the tool {name!r} cannot be imported: {error}; run clew in the folder of {module}.py"
        )
        raise ConfigError(message) from error
    except Exception as error:
        message = f"the module of the tool {name!r} fails: {type(error).__name__}: {error}"
        raise ConfigError(message) from error
    several = cast("Sequence[object]", found) if isinstance(found, list | tuple) else (found,)
    good = [tool for tool in several if isinstance(tool, Tool)]
    if not good or len(good) != len(several):
        message = f"{name} is no Tool, nor a list of them: make it one with @tool"
        raise ConfigError(message)
    return good
