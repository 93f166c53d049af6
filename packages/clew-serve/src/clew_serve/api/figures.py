"""What a run took, step by step: tokens, the share of them that was cached, cost and time."""

from collections.abc import Iterator, Sequence

import msgspec

from clew import Entry, Trajectory
from clew.interfaces import Thought
from clew_serve.api.access_to_runs import record_of
from clew_serve.endpoints import Inquiry


class StepFigures(msgspec.Struct):
    """What a step took.

    `input` counts the tokens of its prompt, `cached` those of them that the provider had, and
    `below` what its sub-runs took. `cost` is in US dollars, as far as prices are known, and with
    the sub-runs. `thinking` and `acting` are seconds; waiting for a person is neither.
    """

    step: int
    input: int
    cached: int
    output: int
    below: int
    cost: float
    thinking: float
    acting: float


class RunFigures(msgspec.Struct):
    """What a run took in all, and in each of its steps; `priced` says whether all prices are known.

    `lost` are the tokens of critics, screens, and replies that nobody saw.
    """

    run_id: str
    tokens: int
    cost: float
    priced: bool
    lost: int
    seconds: float
    steps: list[StepFigures]


async def get(inquiry: Inquiry) -> RunFigures:
    """What a run took."""
    return figures_of(await record_of(inquiry))


def figures_of(record: Trajectory) -> RunFigures:
    """What a run of this record took."""
    total = record.total
    return RunFigures(
        run_id=record.run_id,
        tokens=total.tokens,
        cost=total.cost,
        priced=not (total.usage.unpriced or total.lost.unpriced),
        lost=total.lost.tokens,
        seconds=total.seconds,
        steps=[*_steps(record.run_id, record.entries)],
    )


class _Spent(msgspec.Struct):
    """What was spent up to a point of the record: tokens, those that were lost, cost, time."""

    tokens: int
    lost: int
    cost: float
    seconds: float


def _steps(run_id: str, entries: Sequence[Entry]) -> Iterator[StepFigures]:
    """Each step: from the entry before its thought to that before the next one's."""
    growing = Trajectory(run_id)
    thoughts: list[tuple[Thought, _Spent, _Spent]] = []
    for entry in entries:
        before = _spent(growing)
        growing.add(entry)
        if isinstance(entry.event, Thought):
            thoughts.append((entry.event, before, _spent(growing)))
    ends = [before for _, before, _ in thoughts[1:]] + [_spent(growing)]
    begins = [_Spent(0, 0, 0.0, 0.0), *ends]  # what came before the first thought counts to it
    for number, ((thought, before, after), begin, end) in enumerate(
        zip(thoughts, begins, ends, strict=False), 1
    ):
        usage = thought.reply.usage
        took = end.tokens - before.tokens - (end.lost - before.lost) - usage.tokens
        yield StepFigures(
            step=number,
            input=max(0, thought.reply.prompt_tokens),
            cached=max(0, usage.cached),
            output=max(0, usage.output),
            below=max(0, took),
            cost=max(0.0, end.cost - begin.cost),
            thinking=max(0.0, after.seconds - begin.seconds),
            acting=max(0.0, end.seconds - after.seconds),
        )


def _spent(record: Trajectory) -> _Spent:
    total = record.total
    return _Spent(total.tokens, total.lost.tokens, total.cost, total.seconds)
