"""`backtrack`: a model goes back to an earlier step, with a lesson."""

from typing import Final

from clew.context.rewind import BACKTRACK, MODEL, VERSION
from clew.core.call_context import CALL
from clew.core.tools import Tool
from clew.core.values import Json
from clew.support.errors import ConfigError, ToolError
from clew.support.short_text import counted

LESSON_CHARS: Final = 500


def backtrack(max_rewinds: int = 3) -> Tool:
    """The tool by which a model takes a wrong branch out of its view, so many times in a run.

    Raises `ConfigError` for less than once.
    """
    if max_rewinds < 1:
        raise ConfigError(f"backtrack {max_rewinds} times is never: give a number over 0")

    def call(args: dict[str, Json], key: str) -> str:
        made, step = CALL.get(), int(args["step"])
        here = int(key.rpartition(":")[2].partition(".")[0])
        if step >= here:
            text = f"this is step {here}: go back to an earlier one, or to 0"
            raise ToolError(text, trusted=True)
        done = 0 if made is None else sum(one.by == MODEL for one in made.record.omitted.rewinds)
        if done >= max_rewinds:
            text = f"you went back {counted(done, 'time')}, which is all you may: go on from here"
            raise ToolError(text, trusted=True)
        return f"the steps after step {step} are left out"

    return Tool(
        BACKTRACK,
        "Go back to the end of an earlier step when the steps after it were a wrong branch. They "
        "are left out from then on, and the lesson stays; what they changed stays changed.",
        {
            "type": "object",
            "properties": {
                "step": {"type": "integer", "minimum": 0, "description": "The last good step."},
                "lesson": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": LESSON_CHARS,
                    "description": "What was wrong, and what to do instead.",
                },
            },
            "required": ["step", "lesson"],
            "additionalProperties": False,
        },
        call,
        effect="pure",
        trust="trusted",
        version=VERSION,
    )
