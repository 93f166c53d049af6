"""No-progress detection: the same call with the same result, again and again.

Only repeats *with the same result* count, and only in a row or in a short cycle: recorded runs of
real models repeat calls usefully (a changed result, paging, measure-fix-measure), so no rule looks
at calls alone. An effect is no repetition: each press of a button does something, whatever the tool
says of it, and what was read before it may be read again. Calls of a program are compared with its
other calls only: a program that was mended makes the calls of the one before.

A tool that only reads and gives the same result in step after step is asked the same in other
words. That counts too, with a higher threshold. The ladder is hint, refusal, landing.
"""

from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar, Final, cast

import msgspec

from clew.core.bounds import Tripped
from clew.core.codes import EFFECTFUL, FINISH, UNMADE, Code
from clew.core.contents import Observation
from clew.core.trajectory import Call, Step, Trajectory, args_hash
from clew.core.verdicts import Verdict
from clew.guards.caps import tally_of
from clew.guards.unopened import unopened
from clew.support.errors import ConfigError
from clew.support.settings import check_fields, check_minimum
from clew.support.short_text import counted

REFUSED: Final[Code] = "repeated_same_tool_call_too_many_times"
DENIED: Final[Code] = "denied"
LONGEST_CYCLE: Final = 3


def backwards(trajectory: Trajectory) -> Iterator[Step]:
    """The steps from the last to the first after a person's last word: that starts it all anew.

    Steps that were rewound do not count: the model does not see them.
    """
    later = islice(reversed(trajectory.steps), len(trajectory.steps) - trajectory.spoken_at)
    if not (hidden := trajectory.omitted.hidden):
        return later
    return (step for step in later if step.number not in hidden)


def _closed(trajectory: Trajectory, limit: int, *, asked_by: Call | None = None) -> list[Call]:
    """The last calls that have an observation, at most so many, oldest first.

    They are those that the model wrote, or those that one program asked for; those before the last
    effect are left out.
    """
    closed: list[Call] = []
    for step in backwards(trajectory):
        calls, written = (*step.calls, *step.asked), len(step.calls)
        if step is trajectory.step:  # which may have many that are not closed
            calls = tuple([calls[position - 1] for position in tally_of(trajectory).closed])
        for call in reversed(calls):
            seen = call.observation
            if seen is None or call.action.name == FINISH:
                continue
            if seen.effect in EFFECTFUL and seen.ok:
                return closed[::-1]
            by_program = len(calls) > written and call.position > written
            if not by_program if asked_by is None else call in asked_by.asked:
                closed.append(call)
                if len(closed) == limit:
                    return closed[::-1]
    return closed[::-1]


def _asked_by(trajectory: Trajectory, call: Call) -> Call:
    """The program that asked for a call."""
    return next(
        one for one in trajectory.step.calls if call.key in {asked.key for asked in one.asked}
    )


def _same(one: Call, other: Call) -> bool:
    """Same call, same result; a call refused as a repeat counts as one more of what it repeated."""
    if one.hash != other.hash or one.observation is None or other.observation is None:
        return False
    refused = REFUSED in (one.observation.code, other.observation.code)
    return refused or _gave_the_same(one.observation, other.observation)


def _gave_the_same(one: Observation, other: Observation) -> bool:
    if one.attachments or other.attachments:
        blobs, others = ([each.blob for each in it.attachments] for it in (one, other))
        return bool(one.content == other.content) and blobs == others
    return bool(one.content == other.content)


def alike(trajectory: Trajectory, name: str, limit: int) -> int:
    """The last steps, at most so many, that called only this tool and saw the same, whatever asked.

    A tool with an effect does something each time: it is not counted. A step in which it was
    refused as a repeat counts as one more.
    """
    steps, first = 0, None
    for step in backwards(trajectory):
        is_empty = True
        for call in step.calls:
            if (seen := call.observation) is None:
                continue
            if call.action.name != name:
                return steps
            is_empty = False
            if seen.code == REFUSED:
                continue
            if not seen.made or seen.effect in EFFECTFUL:
                return steps
            first = first or seen
            if seen is not first and not _gave_the_same(seen, first):
                return steps
        steps += not is_empty
        if steps == limit:
            break
    return steps


def repeats(calls: list[Call], hash_: str) -> int:
    """How often the call `hash_` would by now have been made to no avail.

    Counts its occurrences in the longest run of equal cycles (of one to three calls) that ends the
    list and that the call would continue.
    """
    best = 0
    for length in range(1, LONGEST_CYCLE + 1):
        if len(calls) < length or calls[-length].hash != hash_:
            continue
        cycles = 1
        while len(calls) >= (cycles + 1) * length and all(
            _same(calls[-offset], calls[-offset - cycles * length])
            for offset in range(1, length + 1)
        ):
            cycles += 1
        best = max(best, cycles)
    return best


def _instead(trajectory: Trajectory) -> str:
    """What to do instead of a repetition: the beginning of a sentence."""
    if names := unopened(trajectory):
        return f"Open what was found and not opened yet ({', '.join(names)}), ask something else,"
    return "Ask something else, use another tool,"


@dataclass(frozen=True)
class NoProgress:
    """Guard against repetition: a hint on call number `hint`, a refusal from number `refuse` on.

    `reworded_hint` and `reworded` are the step numbers for the same with a tool that only reads and
    returns the same result whatever the arguments. Tools in `polling` may return the same result as
    often as the limits allow.

    With `withhold`, a hint asks for another call or the answer, and a tool that was called again to
    no avail is not in the schema and the grammar of the next reply, where the model is held to one.
    """

    hint: int = 3
    refuse: int = 5
    reworded_hint: int = 6
    reworded: int = 16
    polling: frozenset[str] = frozenset()
    withhold: bool = False

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type, and for a hint that never comes."""
        check_fields(self)
        check_minimum(self, "hint", "refuse", "reworded_hint", "reworded", minimum=2)
        for hint, refusal in (("hint", "refuse"), ("reworded_hint", "reworded")):
            first, last = getattr(self, hint), getattr(self, refusal)
            if first > last:
                message = (
                    f"NoProgress: {hint} is {first} and {refusal} {last}: no hint comes behind a "
                    f"refusal, give {hint} of {last} or less"
                )
                raise ConfigError(message)
        polling = cast("object", self.polling)
        names = (
            cast("Collection[object]", polling)
            if isinstance(polling, AbstractSet)
            else [polling, None]
        )
        if not all(isinstance(each, str) for each in names):
            message = f"NoProgress: polling is {polling!r}: give a set of the names of tools"
            raise ConfigError(message)

    def among(self, tools: Collection[str]) -> "NoProgress":
        """The guard for an agent with these tools: without what names others."""
        polling = frozenset(name for name in self.polling if name in tools)
        return self if polling == self.polling else replace(self, polling=polling)

    def __repr__(self) -> str:
        """As records name it: what came later, only where it is another than the usual."""
        later = "".join(
            f", {name}={getattr(self, name)}"
            for name in ("reworded_hint", "reworded", "withhold")
            if getattr(self, name) != getattr(NoProgress, name)
        )
        return f"NoProgress(hint={self.hint}, refuse={self.refuse}, polling={self.polling}{later})"

    async def __call__(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """A verdict on a call that repeats itself to no avail."""
        if call.action.name in self.polling or call.action.name == FINISH:
            return None
        if trajectory.step.gathered:  # put off, and looked at when the model wrote it
            return None
        hash_ = args_hash(call.action.name, call.action.args)
        by = None if call.position <= len(trajectory.step.calls) else _asked_by(trajectory, call)
        if hash_ not in [last.hash for last in _closed(trajectory, LONGEST_CYCLE, asked_by=by)]:
            return self._reworded(call.action.name, trajectory)
        made = repeats(_closed(trajectory, LONGEST_CYCLE * self.refuse, asked_by=by), hash_)
        if made + 1 >= self.refuse:
            reason = (
                f"{call.action.name} gave the same result {self.refuse - 1} times: it will not be "
                f"called again like this. {_instead(trajectory)} or finish with what is known."
            )
            return Verdict("deny", reason, code=REFUSED)
        if made + 1 >= self.hint and self.withhold:
            reason = (
                f"this call was made before, with the same result. {_instead(trajectory)} or "
                "finish with what the observations say, in the form that the question asks for."
            )
            return Verdict("hint", reason, code=REFUSED)
        if made + 1 >= self.hint:
            reason = (
                f"this is call number {made + 1} of the same kind; the ones before gave the same "
                "result. Try something else unless a change is to be expected."
            )
            return Verdict("hint", reason)
        return self._reworded(call.action.name, trajectory)

    def _reworded(self, name: str, trajectory: Trajectory) -> Verdict | None:
        """A verdict on a call that may be another, of a tool that says the same to all of them."""
        steps = alike(trajectory, name, self.reworded)
        if steps + 1 >= self.reworded:
            reason = (
                f"{name} gave the same result in {self.reworded - 1} steps, whatever it was asked: "
                "it will not be asked again now. Use what is known, try another tool, or finish."
            )
            return Verdict("deny", reason, code=REFUSED)
        if steps + 1 >= self.reworded_hint:
            reason = (
                f"{name} gave the same result in the last {counted(steps, 'step')}, however it was "
                "asked. Try another tool, or answer with what is known."
            )
            return Verdict("hint", reason)
        return None


EARLY: Final = NoProgress(hint=2, refuse=3, withhold=True)
"""For models that hardly ever find their own way out of a repetition."""


class Stuck(msgspec.Struct, frozen=True):
    """A bound: the run lands when the model insists on refused calls.

    That is `refused` steps in a row whose calls were all refused as repeats, or `unmade` steps in
    which no call could be made (unknown tool, bad arguments), with none made in between. Refusals
    by a guard or a person count separately, up to `denied` steps: so that luring the model
    into denied calls cannot end the task.
    """

    refused: int = 2
    unmade: int = 6
    denied: ClassVar[int] = 12

    def __call__(self, trajectory: Trajectory) -> Tripped | None:
        """What is said once the run is stuck."""
        stuck: list[set[str]] = []
        for step in backwards(trajectory):
            if not (codes := _codes(step)) <= UNMADE:
                break
            stuck.append(codes)
        if not stuck:
            return None
        denied = stuck.count({DENIED})
        unmade = len(stuck) - denied
        others = (number for number, codes in enumerate(stuck) if codes != {REFUSED})
        repeated = next(others, len(stuck))
        if repeated >= self.refused:
            why = f"the calls of {repeated} steps in a row were refused as repeats"
            return Tripped("no_progress", "no_progress", why)
        if unmade >= self.unmade:
            return Tripped("no_progress", "no_progress", f"no call could be made in {unmade} steps")
        if denied >= self.denied:
            why = f"all calls of {denied} steps were refused by a guard or a person"
            return Tripped("refusals", "refusals", why)
        return None


def _codes(step: Step) -> set[str]:
    """The codes of a step's observations; a step without calls stands apart."""
    codes = {
        "" if call.observation.code == "waits" else call.observation.code
        for call in step.calls
        if call.observation is not None and call.action.name != FINISH
    }
    return set(codes) or {""}
