"""What a test expects of a run's record: which calls in which order, what they changed, the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from clew.core.codes import EFFECTFUL, FINISH
from clew.core.trajectory import Call, Trajectory
from clew.testing.trajectory_text import call_text, trajectory_text, written

_LEFT_OUT: Final[Any] = object()


@dataclass(frozen=True)
class ExpectedCall:
    """A call that a run should have made: see `called`."""

    name: str
    args: dict[str, Any]

    def fits(self, call: Call) -> bool:
        """Whether a call of the record is this one."""
        args = call.args
        same = all(key in args and args[key] == value for key, value in self.args.items())
        return call.action.name == self.name and same

    def __str__(self) -> str:
        return written(self.name, self.args)


def called(name: str, /, **args: Any) -> ExpectedCall:
    """A call of a tool. Arguments that are named must be equal, others may be what they like.

    A value may be anything that compares itself, such as `pytest.approx` or `unittest.mock.ANY`.
    """
    return ExpectedCall(name, args)


def assert_trajectory(
    record: Trajectory,
    *,
    calls: Sequence[ExpectedCall] | None = None,
    effects: Sequence[ExpectedCall] | None = None,
    status: str | None = None,
    answer: Any = _LEFT_OUT,
) -> None:
    """Raise `AssertionError`, which shows the run, unless it went as expected.

    `calls` are all calls of the run in the order in which the model wrote them, but for `finish`.
    `effects` are those of them that have changed something, or may have: calls of tools with an
    effect that were begun, and not refused; [] says that nothing was done. `status` and `answer`
    are those of its end, the answer as it is recorded. What is left out is not looked at.
    """
    made = [call for call in record.calls if call.action.name != FINISH]
    if calls is not None:
        _compare(record, "call", made, calls)
    if effects is not None:
        _compare(record, "effect", [call for call in made if _acted(record, call)], effects)
    stop = record.stop
    ended = "open" if stop is None else stop.status
    if status is not None and ended != status:
        _fail(record, f"the run is {ended}, not {status}")
    if answer is not _LEFT_OUT and (stop is None or stop.answer != answer):
        told = None if stop is None else stop.answer
        _fail(record, f"the answer is {told!r}, not {answer!r}")


def _acted(record: Trajectory, call: Call) -> bool:
    """Whether a call may have changed something."""
    known = record.started.spec.tools.get(call.action.name)
    if known is not None and known.effect not in EFFECTFUL:
        return False
    seen = call.observation
    return bool(call.begun) and (seen is None or seen.outcome != "not_done")


def _compare(
    record: Trajectory, what: str, made: Sequence[Call], expected: Sequence[ExpectedCall]
) -> None:
    for number, (call, wanted) in enumerate(zip(made, expected, strict=False), 1):
        if not wanted.fits(call):
            _fail(record, f"{what} {number} is {call_text(call)}, not {wanted}")
    if len(made) > len(expected):
        _fail(
            record, f"{what} {len(expected) + 1} is not expected: {call_text(made[len(expected)])}"
        )
    if len(made) < len(expected):
        _fail(record, f"{what} {len(made) + 1} is missing: {expected[len(made)]}")


def _fail(record: Trajectory, what: str) -> None:
    message = f"{what}\n{trajectory_text(record)}"
    raise AssertionError(message)
