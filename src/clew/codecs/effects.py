"""What a model is told of a person's hand in its run: effects left behind, a landing taken back."""

from typing import Final

from clew.core.events import Done, Forked

GONE_ON: Final = "A person let the work go on after that: tools can be called again."
"""Said after a landing that was taken back."""


def already_done(fork: Forked) -> str:
    """One line for each effect that was had after the cut."""
    told = (
        "Already done in the world, after this point, by the run this one was forked from "
        "(do not do it again unless it is to happen twice):"
    )
    return "\n".join([told, *map(_line, fork.done)])


def _line(done: Done) -> str:
    doubt = " (it may or may not have happened)" if done.outcome == "unknown" else ""
    return f"- {done.text}{doubt}"
