"""A run is left to workers: the first leaves between two steps, the second goes on.

A scripted demonstration: a script plays the model. Each worker could be a process
of its own, as `clew worker` is; all they share is the store.

Prints:

    (a script plays the model)
    first worker: serving, taken, left
    in between: waiting, letters: 1
    second worker: serving, taken, ended
    in the end: answered, letters: 1
"""

from functools import partial
from pathlib import Path

import anyio

from clew import Agent, SqliteStore, submit, tool
from clew.testing import ScriptedModel, act, say
from clew.workers import WorkerConfig, WorkerEvent, status, work

letters, sending = list[str](), anyio.Event()


@tool(effect="unsafe")
async def send(text: str) -> str:
    """Send a letter."""
    letters.append(text)
    sending.set()
    await anyio.sleep(0.1)
    return "sent"


MODEL = ScriptedModel([act("send", text="Dear Ada"), say("The letter is sent.")])
AGENT = Agent(model=MODEL, tools=[send])


async def main() -> None:
    print("(a script plays the model)")
    store = SqliteStore(Path("runs.sqlite"))
    first, second = list[WorkerEvent](), list[WorkerEvent]()
    one = WorkerConfig(store=store, agents=[AGENT], name="one")
    two = WorkerConfig(store=store, agents=[AGENT], name="two", until_idle=True)
    run_id = await submit(AGENT, "Write to Ada", store=store)
    async with anyio.create_task_group() as group:
        group.start_soon(partial(work, one, on_event=first.append))
        await sending.wait()
        group.cancel_scope.cancel()  # it is to leave: the step at hand comes to its end
    print("first worker:", ", ".join(news.what for news in first))
    print(f"in between: {await status(run_id, store=store)}, letters: {len(letters)}")
    await work(two, on_event=second.append)
    print("second worker:", ", ".join(news.what for news in second))
    print(f"in the end: {await status(run_id, store=store)}, letters: {len(letters)}")
    await store.close()


anyio.run(main)
