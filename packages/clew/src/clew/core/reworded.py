"""Events as a record words them: a replay compares what was decided, and not how it is said.

What a prompt is made of is no such wording: its fingerprints tell of every letter.
"""

from collections.abc import Sequence

import msgspec

from clew.core.actions import Action
from clew.core.contents import Observation
from clew.core.events import AnyEvent, Attempt, Judged, Landing, Note, Stop, Thought


def as_worded(old: AnyEvent, new: AnyEvent, *, finish: bool) -> AnyEvent:
    """The new event in the words of the old one, where both say the same.

    `finish` says that an observation is about an answer: what is told of that is clew's.
    """
    replace = msgspec.structs.replace
    match old, new:
        case Judged(), Judged():
            return replace(new, verdict=replace(new.verdict, reason=old.verdict.reason))
        case Observation(), Observation() if old.code == new.code and (new.code or finish):
            return replace(new, content=old.content, detail=old.detail)
        case Stop(), Stop():
            return replace(new, reason=old.reason)
        case Landing(), Landing():
            return replace(new, bound=old.bound, detail=old.detail)
        case Attempt(), Attempt() if old.after and new.after:
            return replace(new, after=old.after)
        case Note(source="check"), Note(source="check"):
            return replace(new, parts=old.parts)
        case Thought(), Thought():
            return _thought(old, new)
        case _:
            return new


def _thought(old: Thought, new: Thought) -> Thought:
    """The thought with the old faults and repairs, where it has as many."""
    replace = msgspec.structs.replace
    if old.fault and new.fault:
        new = replace(new, fault=old.fault)
    if len(old.repairs) == len(new.repairs):
        new = replace(new, repairs=old.repairs)
    if len(old.actions) == len(new.actions):
        new = replace(new, actions=_actions(old.actions, new.actions))
    return new


def _actions(old: Sequence[Action], new: Sequence[Action]) -> tuple[Action, ...]:
    pairs = zip(old, new, strict=True)
    return tuple(
        msgspec.structs.replace(now, fault=was.fault) if was.fault and now.fault else now
        for was, now in pairs
    )
