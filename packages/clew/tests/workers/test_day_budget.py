"""What a queue may spend in a day: kept by all its workers together, and read off the records."""

import math
from functools import partial
from pathlib import Path

import anyio
import pytest

from clew import Agent, ConfigError, SqliteStore, read, submit
from clew.core.journal import wall_clock
from clew.stores.locks import shared
from clew.testing.models import ScriptedModel, act, say
from clew.tools import tool
from clew.workers import Monitor, WorkerConfig, WorkerEvent, status, work
from clew.workers.day_budget import DayBudget, DaySpending, is_spent
from clew.workers.worker_log import WorkerLog
from tests.patience import PATIENCE

DAY = 86_400_000


@tool(effect="read")
def look() -> str:
    """Look around."""
    return "nothing"


def agent(steps: int = 3) -> Agent:
    return Agent(ScriptedModel([*[act("look")] * steps, say("done")], tools=[look]), tools=[look])


async def tokens_of(store: SqliteStore) -> list[int]:
    """The tokens of each step of all runs."""
    records = [await read(info.run_id, store=store) for info in await store.runs()]
    thoughts = [step.thought for record in records for step in record.steps]
    return [thought.reply.usage.tokens for thought in thoughts if thought is not None]


async def serve(
    path: Path, told: list[WorkerEvent], name: str, day_tokens: int | None = None
) -> None:
    async with SqliteStore(path) as store:
        config = WorkerConfig(
            store=store,
            agents=[agent()],
            name=name,
            until_idle=True,
            at_once=2,
            day_tokens=day_tokens,
        )
        with anyio.fail_after(PATIENCE):
            await work(config, on_event=told.append)


async def test_four_workers_exceed_the_budget_by_no_more_than_the_steps_in_flight(
    tmp_path: Path,
) -> None:
    path, told = tmp_path / "runs.sqlite", list[WorkerEvent]()
    async with SqliteStore(path) as store:
        await submit(agent(), "how many tokens?", store=store)
        await serve(path, told, "first")
        each = max(await tokens_of(store))
        for number in range(20):
            await submit(agent(), f"question {number}", store=store)
        bound = each * 30
        async with anyio.create_task_group() as group:
            for number in range(4):
                serving = partial(serve, path, told, f"w{number}", day_tokens=bound)
                group.start_soon(serving)
        spent = sum(await tokens_of(store))
        assert bound <= spent <= bound + 4 * 2 * each
        assert len([event for event in told if event.what == "spent"]) <= 4
        before = spent
        await serve(path, told, "another", day_tokens=bound)  # a new process knows it too
        assert sum(await tokens_of(store)) == before
        texts = [event.text for event in told if event.what == "spent"]
        assert f" of {bound} tokens today: no step begins before " in texts[-1]
        await serve(path, told, "rich", day_tokens=bound * 100)
        assert {row.standing for row in await Monitor(store).rows()} == {"answered"}


async def test_a_spent_queue_is_told_until_the_day_turns(tmp_path: Path) -> None:
    told, days = list[WorkerEvent](), [0]
    async with SqliteStore(tmp_path / "runs.sqlite") as opened:
        store = shared(opened)
        await serve(tmp_path / "runs.sqlite", told, "nobody", day_tokens=1)
        await submit(agent(), "one", store=opened)
        await serve(tmp_path / "runs.sqlite", told, "one", day_tokens=1)
        [open_run] = [info.run_id for info in await opened.runs()]
        assert len((await read(open_run, store=opened)).steps) == 1, "the step in flight was taken"
        config = WorkerConfig(store=opened, day_tokens=1)

        def now() -> int:
            return wall_clock() + days[0] * DAY

        budget = DayBudget(store, config, WorkerLog(told.append), now)
        assert await status(open_run, store=opened) == "waiting"
        assert not await budget.allows()
        assert await is_spent(store, "default")
        assert await status(open_run, store=opened) == "spent"
        assert not await is_spent(store, "other")
        days[0] = 1
        assert await budget.allows()
        assert await status(open_run, store=opened) == "waiting"


async def test_of_a_run_that_began_yesterday_only_what_is_new_counts(tmp_path: Path) -> None:
    told = list[WorkerEvent]()
    async with SqliteStore(tmp_path / "runs.sqlite") as opened:
        await submit(agent(), "one", store=opened)
        await serve(tmp_path / "runs.sqlite", told, "one", day_tokens=1)
        spending = DaySpending(shared(opened), "default")
        first = (await spending.spent()).tokens
        assert first == sum(await tokens_of(opened)) > 0
        await serve(tmp_path / "runs.sqlite", told, "two")
        assert (await spending.spent()).tokens == sum(await tokens_of(opened)) > first
        later = DaySpending(shared(opened), "default", lambda: wall_clock() + DAY)
        assert (await later.spent()).tokens == 0
        assert (await DaySpending(shared(opened), "other").spent()).tokens == 0


@pytest.mark.parametrize("name", ["day_cost", "day_tokens"])
@pytest.mark.parametrize("bound", [0, -1, math.inf])
def test_a_budget_that_cannot_be_meant_is_refused(name: str, bound: float) -> None:
    with pytest.raises(ConfigError, match=f"{name} is "):
        WorkerConfig(**{name: bound})  # type: ignore[arg-type] # as a caller without types


def test_other_drivers_refuse_a_budget_that_they_would_not_keep() -> None:
    with pytest.raises(ConfigError, match="bounds the driver local alone"):
        WorkerConfig(day_tokens=5, driver="dbos")
