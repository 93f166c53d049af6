"""The one place where packages that a world needs are loaded, when it is asked for."""

import importlib
from typing import Any

from clew import ConfigError
from clew.support.error_text import described


def load(module: str, needs: str) -> Any:
    """The module of that name. Raises `ConfigError` that says what is needed."""
    try:
        return importlib.import_module(module)
    except Exception as error:
        raise ConfigError(f"{needs} ({described(error)})") from error
