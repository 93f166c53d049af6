"""Print which of the dotted names given as words cannot be imported here, one a line."""

import importlib
import sys


def exists(name: str) -> bool:
    """Whether the longest importable part of a name has all the rest as attributes."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            if not hasattr(value, attribute):
                return False
            value = getattr(value, attribute)
        return True
    return False


print(*(name for name in sys.argv[1:] if not exists(name)), sep="\n")
