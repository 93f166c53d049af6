"""Ask a person: a call that is held until somebody answers it.

The tool never waits. A guard holds the call like any other that needs a ruling, the run stops as
`held`, and the ruling that lets it go on carries the answer in the call's arguments.
"""

from dataclasses import dataclass
from typing import Final

from clew.core.events import Ruling
from clew.core.tools import Tool
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.core.verdicts import Verdict
from clew.support.errors import ToolError
from clew.support.settings import check_fields
from clew.support.short_text import counted
from clew.tools.schema import checked

ASK_PERSON: Final = "ask_person"
"""The name of the tool."""

_DESCRIPTION: Final = (
    "Ask the person you work for one question that only they can answer, and wait for the answer. "
    "Look for what you can find out yourself first: you may ask only a few times."
)


def ask_person() -> Tool:
    """The tool `ask_person`; give the agent the guard `HoldQuestions` with it."""
    return checked(
        Tool(
            name=ASK_PERSON,
            description=_DESCRIPTION,
            parameters={
                "type": "object",
                "properties": {
                    "question": {"type": "string", "minLength": 1},
                    "answer": {
                        "type": "string",
                        "description": "Leave it out: the person fills it in.",
                    },
                },
                "required": ["question"],
                "additionalProperties": False,
            },
            call=_answered,
            effect="read",
            trust="trusted",
        )
    )


async def _answered(args: dict[str, Json], _key: str) -> Json:
    if "answer" not in args:
        message = "nobody gave an answer: go on with what you know, and say what you assumed"
        raise ToolError(message, trusted=True)
    return args["answer"]


def answered(call: Call, answer: str, by: str = "") -> Ruling:
    """The ruling that answers a held question."""
    return Ruling(call.key, allow=True, args={**call.args, "answer": answer}, by=by)


@dataclass(frozen=True, slots=True)
class HoldQuestions:
    """A guard that holds questions to a person, and refuses all but the first `max_questions`.

    The count restarts when the person writes. An answer written by the model itself is refused.
    """

    max_questions: int = 3

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """Hold, deny with the code `cap`, or let an answered question pass."""
        if call.action.name != ASK_PERSON:
            return None
        own = trajectory.call(call.key)
        if "answer" in own.action.args:
            return Verdict("deny", "the answer is the person's to give: ask only the question")
        if own.ruling is not None:
            return None
        if _questions_held(trajectory) >= self.max_questions:
            reason = (
                f"a person was asked {counted(self.max_questions, 'time')} already: find it out "
                "yourself, or answer with what you know and say what is missing"
            )
            return Verdict("deny", reason, code="cap")
        return Verdict("hold", f"the model asks: {call.args['question']}")


def _questions_held(trajectory: Trajectory) -> int:
    """Questions that were held since the person last spoke of their own accord."""
    count = 0
    for step in trajectory.steps:
        count += sum(
            call.action.name == ASK_PERSON
            and call.verdict is not None
            and call.verdict.verdict.kind == "hold"
            for call in step.calls
        )
        if step.person_spoke:
            count = 0
    return count
