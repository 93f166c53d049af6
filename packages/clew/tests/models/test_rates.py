"""Many runs on one provider that counts: its limits are held, no request is lost, no run fails."""

import heapq
import logging
import threading
from typing import Any

import anyio
import pytest

from clew import Agent, Limits, MemoryStore, batch, run
from clew.models.http.endpoint import Endpoint
from clew.models.http.rate_limit import RequestQueue, Ticket, pace_of
from clew.models.openai.chat import openai_chat
from clew.models.rate import Rate
from clew.support.errors import ModelError
from clew.toolbox.calc import calc
from clew_testing.servers.openai_server import Fail, OpenAIServer, Say, Turn
from tests.models.support import KEY, Waits, ask

pytestmark = pytest.mark.both_loops

RUNS = 200


class Clock:
    """Time that passes only while all runs wait, and then at once: a request takes none of it."""

    def __init__(self, runs: int) -> None:
        self.at = 0.0
        self._awake = runs
        self._asleep: list[tuple[float, int, anyio.Event]] = []

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        event = anyio.Event()
        heapq.heappush(self._asleep, (self.at + seconds, id(event), event))
        self.one_less()
        await event.wait()

    def one_less(self) -> None:
        """A run waits, or is over."""
        self._awake -= 1
        if self._awake == 0 and self._asleep:
            self.at = self._asleep[0][0]
            while self._asleep and self._asleep[0][0] <= self.at:
                self._awake += 1
                heapq.heappop(self._asleep)[-1].set()


class Strict:
    """A provider that takes `most` requests in any minute, and may say when to come back."""

    def __init__(self, clock: Clock, most: int, *, hint: bool = True) -> None:
        self._clock, self._most, self._hint = clock, most, hint
        self._taken: list[float] = []
        self.refused = 0

    def __call__(self, body: Any) -> Turn:
        now = self._clock.at
        self._taken = [at for at in self._taken if at > now - 60]
        if len(self._taken) >= self._most:
            self.refused += 1
            after = self._taken[0] + 60 - now
            return Fail(429, headers={"retry-after": f"{after}"} if self._hint else {})
        self._taken.append(now)
        return Say("Ok.")


def model(server: OpenAIServer, **settings: Any) -> Endpoint:
    return openai_chat("m", base_url=server.base_url, api_key=KEY, **settings)


async def answers(server: OpenAIServer, clock: Clock, *rates: Rate | None) -> None:
    """Have 200 runs answered, all at once, by a model for each of the rates."""
    pace = pace_of("openai:m", server.base_url, KEY, None)
    pace.clock = clock.now
    models = [model(server, rate=rate, sleep=clock.sleep) for rate in rates]
    async with anyio.create_task_group() as tasks:
        for one in models:
            tasks.start_soon(one_batch, one, clock, RUNS // len(models))
    for one in models:
        await one.close()


async def one_batch(one: Endpoint, clock: Clock, runs: int) -> None:
    agent, goals = Agent(model=one), ["What?"] * runs
    store = MemoryStore()
    found = await batch(
        agent, goals, at_once=runs, store=store, on_done=lambda *_: clock.one_less()
    )
    assert [(result.ok, result.answer) for result in found] == [(True, "Ok.")] * runs


async def test_200_runs_hold_a_rate_that_was_set() -> None:
    strict = Strict(clock := Clock(RUNS), most=60)
    with OpenAIServer(strict, key=KEY) as server:
        # The second model was told of no rate: it stands in the same line.
        await answers(server, clock, Rate(requests=60), None)
    assert strict.refused == 0
    assert len(server.requests) == RUNS
    assert 180 < clock.at < 190


@pytest.mark.slow
@pytest.mark.parametrize("hint", [True, False])
async def test_200_runs_that_know_of_no_rate_are_delayed_and_lose_nothing(hint: bool) -> None:
    strict = Strict(clock := Clock(RUNS), most=60, hint=hint)
    with OpenAIServer(strict, key=KEY) as server:
        await answers(server, clock, None)
    assert len(server.requests) == RUNS + strict.refused
    # Those of the first moment that were too many, and then one at a time.
    assert RUNS - 60 < strict.refused < RUNS - 60 + 40
    assert clock.at < 200


async def test_a_provider_that_refuses_for_a_minute_delays_runs_and_fails_none() -> None:
    clock = Clock(RUNS)
    with OpenAIServer(lambda _: Fail(429) if clock.at < 60 else Say("Ok."), key=KEY) as server:
        await answers(server, clock, None)
    assert 2 * RUNS < len(server.requests) < 2 * RUNS + 20
    assert clock.at < 75


def test_threads_with_loops_of_their_own_share_the_line() -> None:
    pace, tickets = RequestQueue("m", Rate(requests=10, seconds=0.05)), list[Ticket]()

    async def one_after_the_other() -> None:
        for _ in range(10):
            tickets.append(pace.ticket())
            await pace.pass_through(tickets[-1], 100, anyio.sleep)

    threads = [
        threading.Thread(target=anyio.run, args=[one_after_the_other], kwargs={"backend": backend})
        for backend in ("asyncio", "trio") * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sorted(ticket.sent.at for ticket in tickets if ticket.sent is not None)
    assert len(times) == 40
    assert all(later - first > 0.05 for first, later in zip(times, times[10:], strict=False))


async def test_whoever_is_cancelled_in_the_line_holds_nobody_up() -> None:
    with OpenAIServer([Say("One."), Say("Two.")], key=KEY) as server:
        scope = anyio.CancelScope()

        async def sleep(seconds: float) -> None:
            if not scope.cancel_called:  # whoever waits first is cancelled while it does
                scope.cancel()
            await anyio.sleep(seconds)

        one = model(server, rate=Rate(requests=1, seconds=1.0), sleep=sleep)
        await one.complete(ask())
        with scope:
            await one.complete(ask())
        assert scope.cancelled_caught
        assert (await one.complete(ask())).text == "Two."
        await one.close()


async def test_the_time_of_a_run_ends_it_in_order_while_the_provider_refuses() -> None:
    def refuse_once(body: Any) -> Turn:
        if len(body["messages"]) == 2:
            refused.append(1)
            return Fail(429, headers={"retry-after-ms": "300"}) if len(refused) == 1 else call
        return Say("As far as I got.")

    refused = list[int]()
    call = Say(calls=[("calc", '{"expression": "1+1"}')])
    with OpenAIServer(refuse_once, key=KEY) as server:
        one = model(server)
        agent = Agent(model=one, tools=[calc()], limits=Limits(seconds=0.2))
        result = await run(agent, "What?", store=MemoryStore())
        await one.close()
    assert (result.status, result.reason.partition(":")[0]) == ("bound", "seconds")
    assert result.answer == "As far as I got."


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        f"{record.levelname} {record.getMessage()}"
        for record in caplog.records
        if record.name.startswith("clew")
    ]


async def test_waits_and_tries_are_logged_without_the_key(
    caplog: pytest.LogCaptureFixture, anyio_backend: str
) -> None:
    caplog.set_level(logging.INFO, logger="clew")
    script: list[Turn] = [
        Fail(429, f"slow, {KEY}", headers={"retry-after": "3"}),
        Fail(500, KEY),
        Say("Ok."),
    ]
    with OpenAIServer(script, key=KEY) as server:
        one = model(server, sleep=Waits(), rate="1000 requests")
        await one.complete(ask())
        await one.close()
    (refused, failed) = messages(caplog)
    assert refused == (
        "WARNING openai:m is limiting the rate (429): slow, ***; whoever asks it waits 3.0 s"
    )
    assert failed.startswith("WARNING openai:m failed (500): ***; try 2 of 6 in 0.")
    assert KEY not in caplog.text


async def test_a_wait_in_the_line_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="clew")
    with OpenAIServer([Say("Ok."), Say("Ok.")], key=KEY) as server:
        one = model(server, rate=Rate(requests=1), sleep=Waits())
        await one.complete(ask())
        await one.complete(ask())
        await one.close()
    assert messages(caplog) == ["INFO openai:m: a run waits in line, 0 before it"]


async def test_no_patience_means_no_waiting() -> None:
    with OpenAIServer([Fail(429)], key=KEY) as server:
        one = model(server, patience=0)
        with pytest.raises(ModelError, match="limiting the rate"):
            await one.complete(ask())
        await one.close()
