"""What a stream may say of values and words, whatever becomes of the replies that they are in."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clew import Entry, Nested, Partial, PartialCall, Retrying, Token, Trajectory, Withdrawn
from clew.interfaces import FINISH, Forked, Stop, Thought
from tests.streaming.pieces import extends

Path = tuple[str, ...]
_ENDS: Final = (Thought, Stop)


def by_run(items: Sequence[object]) -> dict[Path, list[Any]]:
    """The items of each run, by its place in the tree."""
    runs = defaultdict[Path, list[Any]](list)
    for item in items:
        path, inner = (item.path, item.item) if isinstance(item, Nested) else ((), item)
        runs[path].append(inner)
    return dict(runs)


def lies(items: Sequence[object], *, complete: bool) -> Iterator[str]:
    """What is wrong with what a stream told; of a `complete` one each call has its last value."""
    for path, told in by_run(items).items():
        run = _Run(complete)
        for item in told[_copied(told) :]:
            for complaint in run.take(item):
                yield f"{'/'.join(path) or 'the run'}: {complaint}"
        yield from run.left_open("the end")


def _copied(told: Sequence[object]) -> int:
    """How many items of a fork are those of its parent."""
    events = [each.event if isinstance(each, Entry) else None for each in told]
    return max((n for n, each in enumerate(events, start=1) if isinstance(each, Forked)), default=0)


def untold(items: Sequence[object], records: dict[str, Trajectory], root: str) -> Iterator[str]:
    """The entries that a stream did not tell, once and in order."""
    told = by_run(items)
    known = {(path or (root,))[-1] for path in told}
    if lost := records.keys() - known:
        yield f"runs that it did not tell: {sorted(lost)}"
    for path, inner in told.items():
        numbers = [each.seq for each in inner if isinstance(each, Entry)]
        record = records.get((path or (root,))[-1])
        if record is None or numbers != list(range(1, len(record) + 1)):
            yield f"{path}: entries {numbers}, and not 1 to {record and len(record)}"


@dataclass
class _Run:
    """What was told of the reply under way in one run."""

    complete: bool
    values: dict[int, Partial[Any] | PartialCall] = field(
        default_factory=dict[int, "Partial[Any] | PartialCall"]
    )
    words: str = ""

    def take(self, item: object) -> Iterator[str]:
        """The next item, and what is wrong with it."""
        if isinstance(item, Partial | PartialCall):
            yield from self._value(item)
        elif isinstance(item, Token) and item.field.startswith("answer"):
            self.words += item.text
        elif isinstance(item, Withdrawn):
            self.words = ""
        elif isinstance(item, Retrying) and not item.call:
            yield from self._over("another attempt")
        elif isinstance(item, Entry) and isinstance(item.event, _ENDS):
            if isinstance(item.event, Thought):
                yield from self._thought(item.event)
            yield from self._over(type(item.event).__name__)

    def left_open(self, where: str) -> Iterator[str]:
        """The values that never ended."""
        for each in self.values.values():
            if each.state == "open":
                yield f"open at {where}: {each}"

    def _over(self, where: str) -> Iterator[str]:
        yield from self.left_open(where)
        if where == "another attempt" and self.words:
            yield f"words of a lost attempt stand: {self.words!r}"
        self.values, self.words = {}, ""

    def _value(self, value: Partial[Any] | PartialCall) -> Iterator[str]:
        before = self.values.get(value.index)
        self.values[value.index] = value
        if value.state == "cut" and value.valid:
            yield f"cut, and valid: {value}"
        if isinstance(value, Partial) and not value.valid and value.value is not None:
            yield f"a value that is not valid: {value}"
        if before is None:
            return
        if before.state != "open":
            yield f"{value} behind its end, {before}"
        if not extends(_json(value), _json(before)):
            yield f"{value} takes back {before}"

    def _thought(self, thought: Thought) -> Iterator[str]:
        """A reply was read: its values are complete, all of them and nothing else."""
        ended = {i: it for i, it in self.values.items() if it.state == "complete"}
        for index, value in ended.items():
            actions = [each for each in thought.actions[index - 1 : index] if index]
            if isinstance(value, PartialCall):
                right = any(each.args == value.args for each in actions)
            else:
                right = thought.answer is not None or any(each.name == FINISH for each in actions)
            if not right:
                yield f"complete, and not in the reply: {value}"
        for index, action in enumerate(thought.actions, start=1):
            told = index in ended or action.name == FINISH or action.fault
            if self.complete and not told:
                yield f"a call without its last value: {action}"
        answers = thought.answer is not None or any(a.name == FINISH for a in thought.actions)
        if self.words and not answers:
            yield f"words of no answer stand: {self.words!r}"


def _json(value: Partial[Any] | PartialCall) -> Any:
    return value.json if isinstance(value, Partial) else value.args
