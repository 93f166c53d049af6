"""What a model is told in every format: in a landing, after one, and of effects left behind."""

from typing import Final

from clew.core.actions import Done
from clew.core.codec import PromptSpec
from clew.core.events import Forked, Rewound

GONE_ON: Final = "A person let the work go on after that: tools can be called again."
"""Said after a landing that was taken back."""


NOT_FOUND: Final = "it was not found"
"""An answer that clew itself suggests."""


def last_words(prompt_spec: PromptSpec) -> str:
    """What a model is asked for in a landing."""
    if prompt_spec.strict_landing:
        return (
            "Answer in the form that the question asks for, only with what stands in an "
            "observation above; if the answer stands in none, and the question has no answer for "
            f"that, say that {NOT_FOUND}"
        )
    return "Give the best answer that the observations above allow, and say what is missing"


def already_done(fork: Forked) -> str:
    """One line for each effect that was had after the cut, or by earlier runs for the task."""
    by = "after this point, by the run this one was forked from"
    told = (
        f"Already done in the world, {by if fork.parent else 'by earlier runs for this task'} "
        "(do not do it again unless it is to happen twice):"
    )
    return "\n".join([told, *map(_line, fork.done)])


def rewound(to: Rewound) -> str:
    """What stands in the place of a wrong branch."""
    return f"The steps after step {to.to} were a wrong branch, and are left out: {to.lesson}"


def _line(done: Done) -> str:
    doubt = " (it may or may not have happened)" if done.outcome == "unknown" else ""
    return f"- {done.text}{doubt}"
