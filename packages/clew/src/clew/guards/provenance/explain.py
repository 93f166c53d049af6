"""Why a call was made, asked about or refused: from the record alone, argument by argument.

What a guard recorded with its verdict counts. Of other arguments this says where the record has a
value: that has no labels of tools, and nothing is judged anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from clew.core.actions import PlannedCall
from clew.core.contents import Observation
from clew.core.events import Judged, Note, Planned, Started
from clew.core.trajectory import Call, Trajectory
from clew.core.values import Json
from clew.core.verdicts import Origin
from clew.guards.provenance.arguments import describe_origin
from clew.guards.provenance.handing import persons_words
from clew.guards.provenance.numbers import PERSON
from clew.guards.provenance.plans import fitting
from clew.guards.provenance.times import says_day
from clew.guards.provenance.values import (
    is_choice,
    is_number,
    leaves,
    named_leaves,
    numbers_in,
    stands_in,
)

PLAN: Final = "the plan"
MODEL: Final = "nothing in the record: the model"


@dataclass(frozen=True)
class ArgumentOrigin:
    """A value of an argument, and where the record has it; `trusted` if nobody else wrote there.

    A guard asked for the sake of a `doubtful` one.
    """

    argument: str
    value: Json
    origin: str
    trusted: bool
    doubtful: bool = False


@dataclass(frozen=True)
class Explanation:
    """Of one call: the origins of its values, and what guards and a person said of it."""

    call: str
    tool: str
    arguments: tuple[ArgumentOrigin, ...]
    verdict: str
    """What the last guard that objected did: `deny`, `hold` …; "" where none objected."""
    by: str
    reason: str
    """Theirs; where none objected, why the call was not made all the same."""
    ruling: str
    """`allowed` or `refused` by a person; "" where nobody was asked, or has answered."""


def explain(trajectory: Trajectory, key: str) -> Explanation:
    """Why the call `step.index` came to what it came to. Raises `StoreError` if there is none."""
    call = trajectory.call(key)
    judged = call.verdict
    ruling = "" if call.ruling is None else "allowed" if call.ruling.allow else "refused"
    return Explanation(
        call=key,
        tool=call.action.name,
        arguments=tuple(_origins(trajectory, call)),
        verdict="" if judged is None else judged.verdict.kind,
        by="" if judged is None else judged.by,
        reason=_refusal(call) if judged is None else judged.verdict.reason,
        ruling=ruling,
    )


def _refusal(call: Call) -> str:
    """Why a call was refused before any guard was asked, or ""."""
    seen = call.observation
    return "" if seen is None or seen.made else seen.text


def _origins(trajectory: Trajectory, call: Call) -> Iterator[ArgumentOrigin]:
    edited = call.ruling is not None and call.ruling.args is not None
    told = {} if call.verdict is None or edited else call.verdict.verdict.origins
    for name, origins in told.items():
        for recorded in origins:
            yield from _as_recorded(name, call.args.get(name), recorded)
    plan = fitting(_planned(trajectory), call.action.name, call.args)
    bound: Mapping[str, Json] = {} if plan is None else plan.args
    guards = _amendments(trajectory, call)
    for name, value in call.args.items():
        for field, each in named_leaves(value, name) if name not in told else ():
            label = name if field == name else f"{name}.{field}"
            origin, trusted = (PLAN, True) if name in bound else _of(trajectory, call, each)
            if not trusted and (set_by := _set_by(guards, call, name, each)) is not None:
                origin, trusted = set_by
            yield ArgumentOrigin(label, each, origin, trusted)


def _as_recorded(name: str, value: Json, origin: Origin) -> Iterator[ArgumentOrigin]:
    """What a guard said of an argument: of its doubtful parts, or of the whole."""
    for part in origin.parts or (value,):
        yield ArgumentOrigin(name, part, describe_origin(origin), origin.trusted, origin.doubtful)


def _amendments(trajectory: Trajectory, call: Call) -> list[Judged]:
    """What guards changed of a call, in order; nothing, where a person changed it after them."""
    if call.ruling is not None and call.ruling.args is not None:
        return []
    events = (it.event for it in trajectory.entries)
    told = (event for event in events if isinstance(event, Judged) and event.call == call.key)
    return [event for event in told if event.verdict.kind == "amend"]


def _set_by(
    guards: Sequence[Judged], call: Call, name: str, value: Json
) -> tuple[str, bool] | None:
    """The guard that first gave an argument a value that the model did not write, if one did."""
    if value in leaves(call.action.args.get(name)):
        return None
    for each in guards:
        if value in leaves((each.verdict.args or {}).get(name)):
            return f"set by guard {each.by}", name in each.verdict.origins
    return None


def _planned(trajectory: Trajectory) -> list[PlannedCall]:
    plans = (it.event for it in trajectory.entries if isinstance(it.event, Planned))
    return [call for plan in plans for call in plan.calls]


def _of(trajectory: Trajectory, call: Call, value: Json) -> tuple[str, bool]:
    """Where a value stands: in a person's words first, then in what trusted tools gave."""
    if is_choice(value):
        return MODEL, False
    if any(_has(words, value) for words in persons_words(trajectory)):
        return PERSON, True
    hits = sorted(_texts_before(trajectory, call, value), key=lambda hit: not hit[1])
    return hits[0] if hits else (MODEL, False)


def _texts_before(trajectory: Trajectory, call: Call, value: Json) -> Iterator[tuple[str, bool]]:
    """The texts that the model had seen and that have the value; whether each is trusted."""
    for entry in trajectory.entries:
        match entry.event:
            case Started(trust="untrusted") as started if _has(started.goal, value):
                yield "the question", False
            case Note() as note if note.source != "person" and _has(note.text, value):
                yield f"a {note.source}'s note", note.trust == "trusted"
            case Observation() as seen:
                source = trajectory.call(seen.call)
                if source.step < call.step and _has(seen.text, value):
                    yield f"{source.action.name} ({seen.call})", seen.trust == "trusted"
            case _:
                pass


def _has(text: str, value: Json) -> bool:
    if is_number(value):
        return float(value) in numbers_in(text)
    plain, folded = str(value).casefold(), text.casefold()
    return stands_in(plain, folded) or says_day(str(value), folded)
