"""What of a reply can be no answer, though a codec read it as one.

An answer ends a run, so a text is not taken for one in silence that is a call written as text, that
says clew's own words again, or that tells of results where no call was made. Each is a fault: the
model is told why, and the bound on faults holds. The record keeps the reply as it came.
"""

import re
from collections.abc import Iterator
from typing import Final

from clew.codecs import by_name
from clew.codecs.effects import NOT_FOUND
from clew.codecs.own_literals import only_literals
from clew.core.codec import Codec, FindsCalls, PromptSpec
from clew.core.codes import RUN_CODE
from clew.core.events import Compacted, Note, Rewound
from clew.core.trajectory import Step, Trajectory
from clew.support.lazy_regex import Lazy

LOOKED_AT: Final = 8
"""So many of the last steps are looked through for clew's own words."""

WORDS: Final = 3
"""So many words of clew's own in a row are no coincidence."""

_OWN: Final = ("error: unreadable reply:", "that reply could not be read, and nothing was done:")
_NOTHING: Final = frozenset({
    "(nothing)", "(nothing that counts)", "(none: answer at once)",
    "(none yet: those that fit are shown below)",
    "the answer", "[the answer]", "<the answer>",
})  # fmt: skip
"""What stands in forms and in the place of nothing; "nothing" alone may well be the answer."""

_EDGES: Final = " \t\r\n.,:;!?\"'`*_()[]<>"
_CITED: Final = Lazy(
    r"\[(?:(?!https?:)[A-Za-z][\w./-]{0,60}[:#][^\]\s]{1,120}|doc[_-]?(?:id|\d{1,6}))\](?!\()"
)
_TOLD: Final = Lazy(
    r"\b(?:search results?|tool (?:results?|outputs?|calls?)|(?:the|my) (?:search|lookup|tool)"
    r" (?:returned|shows?|showed|found|gave|says|said|results?))\b",
    re.IGNORECASE,
)


_OF_THE_RUN: Final = (Note, Compacted, Rewound)
"""Notices that say what came of the run: an answer may say that too."""


def no_answer(codec: Codec, prompt_spec: PromptSpec, trajectory: Trajectory, text: str) -> str:
    """Why a text is no answer of the model's to what was asked; "" where it may be one."""
    if _placeholder(text) in _NOTHING:
        return (
            f"{_placeholder(text)!r} only stands in the place of an answer: write what answers the "
            "question, or call a tool"
        )
    if _echoes_prompt(codec, prompt_spec, trajectory, text):
        return "that repeats what you were told, and is no answer: call a tool, or answer"
    finder = codec if isinstance(codec, FindsCalls) else by_name("native")  # one has to look
    if prompt_spec.answers_text and isinstance(finder, FindsCalls):
        called = finder.calls_in(prompt_spec, text)
        if called is not None:
            return called.fault or "the answer is a call written as text: make the call instead"
    if (claim := _unfounded(prompt_spec, trajectory, text)) is not None:
        return (
            f"the answer speaks of {claim}, and no call was made in this run: call a tool and use "
            "what it returns, or answer without that"
        )
    return ""


def _placeholder(text: str) -> str:
    """The text as it would stand in a form."""
    return text.strip(" \n.\"'`*").lower()


def _echoes_prompt(
    codec: Codec, prompt_spec: PromptSpec, trajectory: Trajectory, text: str
) -> bool:
    """Whether the text is, begins with, or is taken from words of clew's own in the prompt."""
    if text.strip().lower().startswith(_OWN):
        return True
    bare = _bare(text)
    if len(bare.split()) < WORDS or bare == NOT_FOUND:
        return False
    return any(f" {bare} " in f" {own} " for own in _own_words(codec, prompt_spec, trajectory))


def _own_words(codec: Codec, prompt_spec: PromptSpec, trajectory: Trajectory) -> Iterator[str]:
    """What clew told the model of late: of unreadable replies and bounds, not of checks."""
    for step in trajectory.steps[-LOOKED_AT:]:
        thought = step.thought if step.thought is not None and step.thought.fault else None
        notices = tuple(one for one in step.notices if not isinstance(one, _OF_THE_RUN))
        if thought is None and not notices:
            continue
        for part in codec.render(prompt_spec, Step(step.number, thought, (), notices)):
            if part.role == "user":
                yield _bare(part.text)


def _bare(text: str) -> str:
    """The words of a text, without what only sets them off."""
    words = (word.strip(_EDGES) for word in text.casefold().split())
    return " ".join(filter(None, words))


def _unfounded(prompt_spec: PromptSpec, trajectory: Trajectory, text: str) -> str | None:
    """What an answer rests on that cannot be there: a citation, or results, where no call was made.

    Only in a run that has tools and called none; and what the person said may be spoken of.
    """
    if _looked(trajectory) or trajectory.evidence or not (prompt_spec.tools or prompt_spec.more):
        return None
    if _bare(text) == NOT_FOUND:
        return "what was not found"
    for pattern in (_CITED, _TOLD):
        match = pattern.search(text)
        if match is not None:
            words = match[0].lower().removeprefix("the ").removeprefix("my ")
            if words not in _person_words(trajectory).lower():
                return match[0]
    return None


def _looked(trajectory: Trajectory) -> bool:
    """Whether a call was made that may have shown something.

    A program that only prints what is written in it is none.
    """
    total = trajectory.total
    if not total.tool_calls or total.below or set(total.calls) != {RUN_CODE}:
        return bool(total.tool_calls)
    made = [call for call in trajectory.calls if call.action.name == RUN_CODE]
    return not all(only_literals(str(call.args.get("code", ""))) for call in made)


def _person_words(trajectory: Trajectory) -> str:
    """All that a person said in the run."""
    notes = [notice for step in (trajectory.before, *trajectory.steps) for notice in step.notices]
    return "\n".join(
        [trajectory.visible_goal, *(each.text for each in notes if isinstance(each, Note))]
    )
