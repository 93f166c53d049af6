"""The functions of `clew` for callers without an event loop: `clew.sync.resume` is `clew.resume`.

They also work beside an event loop of the caller's own, and wait.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Generic

from clew.agent import api, approvals, rewinding
from clew.agent import labels as labels_of_runs
from clew.agent.agent import A_co, Agent
from clew.agent.question import Question
from clew.agent.result import Result
from clew.agent.streaming import stream as streams
from clew.agent.streaming.stream import StreamItem
from clew.concurrency.portal import portal, twin, wait_for
from clew.core.events import Entry
from clew.stores import Where
from clew.workers import queue

__all__ = [
    "Stream",
    "batch",
    "cancel",
    "follow",
    "fork",
    "list_runs",
    "pending_approvals",
    "prompt_of",
    "read",
    "replay",
    "result_of",
    "resume",
    "rewind",
    "rule",
    "run",
    "stream",
    "submit",
]

run = twin(api.run)
resume = twin(api.resume)
fork = twin(api.fork)
replay = twin(api.replay)
read = twin(api.read)
result_of = twin(api.result_of)
prompt_of = twin(api.prompt_of)
batch = twin(api.batch)
pending_approvals = twin(approvals.pending_approvals)
rule = twin(approvals.rule)
list_runs = twin(labels_of_runs.list_runs)
cancel = twin(approvals.cancel)
rewind = twin(rewinding.rewind)
submit = twin(queue.submit)


class Stream(Generic[A_co]):
    """A `clew.Stream` to iterate without an event loop."""

    def __init__(self, events: streams.Stream[A_co]) -> None:
        self._events = events

    def __iter__(self) -> Iterator[StreamItem]:
        events = aiter(self._events)
        while True:
            try:
                yield wait_for(anext, events)
            except StopAsyncIteration:
                return

    @property
    def result(self) -> Result[A_co] | None:
        """The result, once the iteration has ended."""
        return self._events.result


@contextmanager
def stream(
    agent: Agent[A_co],
    goal: Question,
    *,
    store: Where = None,
    run_id: str = "",
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
) -> Generator[Stream[A_co]]:
    """`clew.stream` for callers without an event loop."""
    opening = streams.stream(agent, goal, store=store, run_id=run_id, labels=labels, owner=owner)
    with portal().wrap_async_context_manager(opening) as events:
        yield Stream(events)


def follow(run_id: str, *, store: Where = None, owner: str | None = None) -> Generator[Entry]:
    """`clew.follow` for callers without an event loop."""
    entries = queue.follow(run_id, store=store, owner=owner)
    try:
        while True:
            try:
                yield wait_for(anext, entries)
            except StopAsyncIteration:
                return
    finally:
        wait_for(entries.aclose)
