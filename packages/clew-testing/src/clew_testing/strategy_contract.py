"""What every strategy must do, as a check to run over one's own.

```python
def make() -> Agent:
    solver = Agent(model=ScriptedModel([say("Warsaw")]))
    return strategy_agent(MyStrategy(solver), solver)


async def test_my_strategy() -> None:
    await check_strategy(make, "What is the capital of Poland?")
```

`make` makes the agent anew each time, with roles that play a script: what a role answers may hang
on what it is given, and on nothing else. It takes as many runs as the whole writes entries.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from clew import Agent, StoreError, Trajectory
from clew.agent.runner import complete, start_or_take_up
from clew.core.replay import replay
from clew.interfaces import Json, encode
from clew_testing.cut_store import CUT, CutStore
from clew_testing.expect import expect, require

Make: TypeAlias = Callable[[], Agent[Any]]

RUN: Final = "contract"


async def check_strategy(make: Make, task: str) -> None:
    """Run the whole contract. Raises `AssertionError` where the strategy breaks it.

    It comes to an end; the same results lead to the same requests; a process that dies after any
    entry loses nothing, and the next one comes to the same end; a replay comes to the same.
    """
    require(encode(make().engine.model.info.params), "its settings must be JSON")
    strategy_store = CutStore()
    wanted = await _run(make(), task, strategy_store)
    require(wanted.stop is not None, "it must come to an end")
    again = await _run(make(), task, CutStore())
    expect(_asked(again), _asked(wanted), "what it asks for where the results are the same")
    for writes in range(1, strategy_store.written):
        store = CutStore(writes)
        await _until_cut(make(), task, store)
        store.left = 1 << 30
        after = await _run(make(), task, store)
        expect(
            _asked(after),
            _asked(wanted),
            f"after a cut at write {writes} of {strategy_store.written}",
        )
        expect(_end(after), _end(wanted), f"its end after a cut at write {writes}")
    replayed = await replay(make().engine, wanted, strategy_store)
    expect(_end(replayed.trajectory), _end(wanted), "the end of its replay")


async def _until_cut(agent: Agent[Any], task: str, store: CutStore) -> None:
    try:
        await _run(agent, task, store)
    except StoreError as error:
        require(str(error) == CUT, f"a store failed otherwise: {error}")


async def _run(agent: Agent[Any], task: str, store: CutStore) -> Trajectory:
    """The record of the run, begun or taken up."""
    return await complete(agent, await start_or_take_up(agent, task, store, RUN))


def _asked(record: Trajectory) -> list[tuple[str, Json]]:
    """The runs and calls that it asked for, in their order."""
    return [(call.action.name, call.args) for call in record.calls]


def _end(record: Trajectory) -> tuple[str, Json]:
    stop = record.stop
    return ("open", None) if stop is None else (stop.status, stop.answer)
