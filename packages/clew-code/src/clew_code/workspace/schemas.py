"""Parts of the argument schemas of the workspace tools."""

from typing import Any, Final

from clew.interfaces import Parameters

PATH: Final[Parameters] = {
    "type": "string",
    "maxLength": 4096,
    "description": "Path from the top of the folder, such as src/a.py",
}


def arguments(required: list[str], **properties: Any) -> Parameters:
    """A schema of arguments."""
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
