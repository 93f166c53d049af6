"""Streams in the matrix: each way to answer, told as it happens, in each format and trouble.

Whoever follows is told each entry of each run once, and no value or word that is not so.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import anyio

from clew import ClewError, Partial, Retry, Stream, follow, serving, start
from clew.agent_files import load_agent
from clew.models.openai.chat import openai_chat
from clew.stores import RunNotFoundError
from tests.matrix.honesty import by_run, lies, untold
from tests.matrix.model import Script
from tests.matrix.outcome import Outcome
from tests.matrix.promises import Promise
from tests.matrix.situations import Play, Situation
from tests.matrix.troubles import TRIES, TROUBLES

FORMATS: Final = ("native", "json", "paper", "labelled", "code")
LETTER: Final = {"subject": "It is sent", "pages": 2}
ROUNDS: Final = 9
"""How often a run is taken up again at most."""


class _NoWait(list[float]):
    """A sleep that only notes how long it should have been."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


async def streamed(play: Play) -> None:
    """Ask, and take all that the stream tells, over the errors that end the work."""
    model = openai_chat(
        "matrix", base_url=play.servers[0].base_url, api_key="sk-matrix",
        retries=Retry(times=TRIES - 1), sleep=_NoWait(),
    )  # fmt: skip
    play.agent = load_agent(play.file, model=model).agent
    play.made.append(play.agent)
    votes = play.outcome.way.votes
    rounds = [await _votes(play)] if votes else [each async for each in _rounds(play)]
    items = [item for each in rounds for item in each]
    outcome = await play.look_back()
    for each in rounds:
        play.complaints += lies(each, complete=not votes)
    play.complaints += untold(items, outcome.records, play.run_id)
    play.complaints += _last_value(outcome, items)


async def _rounds(play: Play) -> AsyncIterator[list[object]]:
    """What is told of a run that is taken up until it stops, each time that it is."""
    begun: dict[str, Any] = {"goal": play.goal}
    for _ in range(ROUNDS):
        items, result = list[object](), None
        async with serving(store=play.store) as app, anyio.create_task_group() as group:
            group.start_soon(_leave, play, app)
            events = await start(play.agent, run_id=play.run_id, store=play.store, **begun)
            try:
                async for item in events:
                    items.append(item)
            except ClewError as error:
                if play.outcome.script.trouble != "gone":
                    play.complaints.append(f"the stream ended with {error}")
            begun, result = {"after": events.position}, events.result
            group.cancel_scope.cancel()
        yield items
        if result is not None:
            play.outcome.results.append(result)
            if not await play.rule_on_held():
                return


async def _leave(play: Play, app: Any) -> None:
    """End the application in the middle of a reply, once the server says no more of it."""
    while not play.model.silent:
        await anyio.sleep(0.01)
    await anyio.sleep(0.05)  # what it said comes
    play.model.silent = False
    await app.stop()


async def _votes(play: Play) -> list[object]:
    """What is told of a vote to who follows it from its beginning."""
    items = list[object]()

    async def listen(events: Stream[Any]) -> None:
        while True:
            try:
                async for item in events:
                    items.append(item)
            except RunNotFoundError:
                await anyio.lowlevel.checkpoint()
                events = follow(play.run_id, store=play.store)
            else:
                return

    async with anyio.create_task_group() as group:
        group.start_soon(listen, follow(play.run_id, store=play.store))
        for _ in range(ROUNDS):
            try:
                await play.begin()
            except ClewError as error:
                if play.outcome.script.trouble != "gone":
                    play.complaints.append(f"the vote ended with {error}")
            else:
                break
    return items


def _last_value(outcome: Outcome, items: list[object]) -> Iterator[str]:
    """The last value of a typed answer is that of the result."""
    if outcome.way.votes or outcome.script.answers != (LETTER,) or not outcome.result.ok:
        return
    told = [each for each in by_run(items)[()] if isinstance(each, Partial)]
    if not told:  # its answer is that of a run below
        below = by_run(items).values()
        told = [each for inner in below for each in inner if isinstance(each, Partial)]
        if not any(each.value == outcome.result.answer for each in told):
            yield f"no value was that of the result, {outcome.result.answer}"
    elif (told[-1].value, told[-1].state) != (outcome.result.answer, "complete"):
        yield f"the last value is {told[-1]}, and the result {outcome.result.answer}"


def _silent(o: Outcome) -> Iterator[str]:
    del o
    yield from ()


NUMBERS: Final = (1, 2, 3)
"""Which request has the trouble."""

_FAULTS: Final = frozenset({"limit", "line"})
"""Troubles that end in a reply that cannot be read: the model then takes its call for made."""

STREAMS: Final[Mapping[str, Situation]] = {
    f"streamed, {trouble} {number}": streamed for trouble in TROUBLES for number in NUMBERS
}


def promises() -> Iterator[tuple[Promise, str]]:
    """What is streamed: formats and answers, by the trouble that there is."""
    for codec in FORMATS:
        for typed in (False, True):
            values: dict[str, Any] = {} if codec == "native" else {"codec": codec}
            script = Script()
            if typed:
                values["answer"] = "tests.matrix.parts:Letter"
                script = replace(script, answers=(LETTER,))
            for name in STREAMS:
                trouble, number = name.removeprefix("streamed, ").split()
                troubled = replace(script, trouble=trouble, troubled=int(number))
                kind = f"{codec}, {'typed' if typed else 'text'}"
                lax = frozenset({"acts"} if trouble in _FAULTS else ())
                yield Promise(kind, (), values, _silent, troubled, lax=lax, refusable=False), name
