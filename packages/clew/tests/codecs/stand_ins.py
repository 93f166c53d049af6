"""The tool that a format of programs looks for, without what runs them."""

from clew import Tool
from clew.core.codes import RUN_CODE
from clew.core.values import Json


async def _nothing(args: dict[str, Json], key: str) -> str:
    return "nothing is run here"


def run_code() -> Tool:
    """As the package of programs makes it, by name and schema."""
    return Tool(
        RUN_CODE,
        "Run a Python program. The other tools are functions in it; variables stay for the next "
        "program. You see what it prints, and the value of its last line.",
        {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The program"}},
            "required": ["code"],
            "additionalProperties": False,
        },
        call=_nothing,
        effect="pure",
    )
