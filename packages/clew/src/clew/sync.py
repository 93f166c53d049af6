"""The functions of `clew` for callers without an event loop: `clew.sync.resume` is `clew.resume`.

They also work beside an event loop of the caller's own, and wait.
"""

from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, Generic, ParamSpec, TypeVar

from clew.agent import api, approvals, rewinding, settling
from clew.agent import labels as labels_of_runs
from clew.agent.agent import A_co, Agent, D
from clew.agent.question import Question
from clew.agent.result import Result
from clew.agent.streaming import start as begin
from clew.agent.streaming import stream as streams
from clew.agent.streaming.items import StreamItem
from clew.concurrency.portal import portal, twin, wait_for
from clew.stores import Where
from clew.workers import queue

__all__ = [
    "Stream",
    "answer",
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
    "settle",
    "start",
    "stream",
    "submit",
]

P = ParamSpec("P")
T = TypeVar("T")

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
answer = twin(settling.answer)
settle = twin(settling.settle)
list_runs = twin(labels_of_runs.list_runs)
cancel = twin(approvals.cancel)
rewind = twin(rewinding.rewind)
submit = twin(queue.submit)


class Stream(Generic[A_co]):
    """A `clew.Stream` to iterate without an event loop."""

    def __init__(self, events: streams.Stream[A_co]) -> None:
        self._events = events

    def __iter__(self) -> Iterator[StreamItem[A_co]]:
        while True:
            try:
                yield wait_for(anext, self._events)
            except StopAsyncIteration:
                return

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._events.run_id

    @property
    def position(self) -> str:
        """Where the stream is, for `follow(run_id, after=position)`."""
        return self._events.position

    @property
    def result(self) -> Result[A_co] | None:
        """The result, once the iteration has ended."""
        return self._events.result

    def wait(self) -> Result[A_co]:
        """Wait until the run stops, and return its result; what ended the work is raised."""
        return wait_for(self._events.wait)


@contextmanager
def stream(
    agent: Agent[A_co, D],
    goal: Question,
    *,
    store: Where = None,
    run_id: str = "",
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: D | None = None,
    session: str | None = None,
    request: str = "",
) -> Generator[Stream[A_co]]:
    """`clew.stream` for callers without an event loop."""
    opening = begin.stream(
        agent, goal, store=store, run_id=run_id, labels=labels, owner=owner, deps=deps,
        session=session, request=request,
    )  # fmt: skip
    with portal().wrap_async_context_manager(opening) as events:
        yield Stream(events)


def _streaming(
    function: Callable[P, Coroutine[Any, Any, streams.Stream[T]]],
) -> Callable[P, Stream[T]]:
    """The same function, whose stream needs no event loop."""

    @wraps(function)
    def begun(*args: P.args, **options: P.kwargs) -> Stream[T]:
        return Stream(wait_for(partial(function, *args, **options)))

    return begun


start = _streaming(begin.start)


def follow(
    run_id: str, *, after: int | str = 0, store: Where = None, owner: str | None = None
) -> Stream[Any]:
    """`clew.follow` for callers without an event loop."""
    return Stream(streams.follow(run_id, after=after, store=store, owner=owner))
