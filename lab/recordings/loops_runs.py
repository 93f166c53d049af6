"""What was called in a recorded run of any kind, and where it went round in a loop.

Formats do not matter here: a call is its name, its arguments and what it observed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from clew.core.codes import FINISH
from clew.core.values import Json, encode
from recordings.forms import Record
from recordings.native_talks import read

UNREAD: Final = "(no action)"
"""In the place of a name: the reply could not be read, and the environment said so."""

ROUNDS: Final = 5
"""So many equal rounds of calls one after the other are a loop."""
LONGEST: Final = 10
"""So many calls a round may have."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call and what it observed."""

    name: str
    args: dict[str, Json]
    seen: str

    @property
    def identity(self) -> bytes:
        """All of it as one value to compare: as JSON, since True is not 1."""
        return encode((self.name, sorted(self.args.items()), self.seen))


@dataclass(frozen=True, slots=True)
class Step:
    """The calls of one reply; `matches` where a person spoke after it."""

    calls: tuple[Called, ...]
    matches: bool = False


@dataclass(frozen=True)
class Run:
    """A recorded run: its steps, and whether it is recorded as successful (None: not judged)."""

    name: str
    steps: Sequence[Step]
    success: bool | None


@dataclass(frozen=True, slots=True)
class Loop:
    """Equal rounds of `length` calls each, from call number `first` up to call number `end`."""

    first: int
    end: int
    length: int


def run(record: Record) -> Run:
    """The run of a record."""
    steps = [step for turn in record["turns"] for step in _steps(turn)]
    return Run(record["id"], steps, success(record))


def success(record: Record) -> bool | None:
    """What the recording says of its end: by its own measure; None where it has none.

    A run of gold calls is right by what it is.
    """
    if any("gold_calls" in turn for turn in record["turns"]):
        return True
    outcome = record.get("outcome") or {}
    if "status" in outcome:  # "completed" says only that it ended by itself
        return None if outcome["status"] == "completed" else bool(outcome["status"] == "correct")
    told = [outcome[name] for name in ("em", "success", "reward") if name in outcome]
    return bool(told[0] == 1) if told else None


def _steps(turn: Record) -> Iterator[Step]:
    if "gold_calls" in turn:
        for call in turn["gold_calls"]:
            yield Step((Called(call["name"], call["args"], call["observation"]),))
        yield Step((), matches=True)
        return
    heard = [turn.get("user_reply"), *(turn.get("inbound") or ())]
    is_heard = any(heard)
    if "observations" in turn or "observation" not in turn:
        pairs = zip(turn["actions"], turn.get("observations") or (), strict=False)
        yield Step(tuple(_called(action, seen["content"]) for action, seen in pairs), is_heard)
    elif turn["observation"] is not None and not _ends(turn["actions"]):
        action = next(iter(turn["actions"]), None) or _unread(turn)
        yield Step((_called(action, turn["observation"]),), is_heard)


def _ends(actions: Sequence[Record]) -> bool:
    return any(action["name"].lower() == FINISH for action in actions)


def _unread(turn: Record) -> Record:
    """A turn without an action: a thought that the environment took, or nothing it knew."""
    if turn.get("thought") is not None and not turn.get("flags"):
        return {"name": "think", "arg": turn["thought"]}
    return {"name": UNREAD, "arg": turn["raw"]}


def _called(action: Record, seen: str) -> Called:
    if "args" in action:
        args = action["args"]
    elif "args_text" in action:
        args = read(action["args_text"])
    else:
        args = action["arg"]
    return Called(action["name"], args if isinstance(args, dict) else {"arg": args}, str(seen))


def loops(run: Run, rounds: int = ROUNDS) -> list[Loop]:
    """Every stretch of at least so many equal rounds, none within another.

    Equal are the calls and all that they observed; a person's words end a stretch.
    """
    stretches, first = list[Loop](), 0
    for stretch in _stretches(run):
        calls = [call.identity for call in stretch]
        at = 0
        while at < len(calls):
            best = max((_round(calls, at, n, rounds) for n in range(1, LONGEST + 1)), key=_calls)
            if best.end:
                stretches.append(Loop(first + best.first, first + best.end, best.length))
            at = best.end or at + 1
        first += len(calls)
    return stretches


BARREN: Final = 10
"""So many calls in a row that observe nothing new are a run that gets nowhere."""


def barren(run: Run, minimum: int = BARREN) -> list[Loop]:
    """Every stretch of calls that observed nothing which the run had not observed before.

    Arguments, tools and rounds do not matter: it is another rule than any detector's. A person's
    words end a stretch.
    """
    seen, stretches, first = set[str](), list[Loop](), 0
    for stretch in _stretches(run):
        at = first
        for number, call in enumerate(stretch, start=first):
            if call.seen not in seen:
                stretches.append(Loop(at, number, 1))
                at = number + 1
            seen.add(call.seen)
        first += len(stretch)
        stretches.append(Loop(at, first, 1))
    return [one for one in stretches if _calls(one) >= minimum]


def _calls(loop: Loop) -> int:
    return loop.end - loop.first


def _round(calls: Sequence[bytes], at: int, length: int, rounds: int) -> Loop:
    """The loop with rounds of this length that begins at a place; an empty one where none does."""
    end = at + length
    while end < len(calls) and calls[end] == calls[end - length]:
        end += 1
    return Loop(at, end, length) if end - at >= rounds * length else Loop(0, 0, length)


def _stretches(run: Run) -> Iterator[list[Called]]:
    """The calls between one word of a person and the next."""
    stretch: list[Called] = []
    for step in run.steps:
        stretch += step.calls
        if step.matches:
            yield stretch
            stretch = []
    yield stretch
