"""What tests have Ray do, in a network of its own: a JSON object of what was found is printed.

`python -m tests.cluster.ray_program FOLDER` starts two programs that fan out the same goals. The
first kills itself in the middle, without warning; the second goes on with what the record says, and
then, over the same Ray, has an actor killed and serves a queue.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from clew import batch, open_store
from clew.agent.runner import start
from clew.core.journal import load
from clew.core.stores import Store
from clew.support.errors import ConfigError
from clew.workers import WorkerConfig, WorkerEvent, status, work
from clew_cluster.ray import ActorResult, FanOutProgress, RayDriver, fan_out
from clew_cluster.ray.session import session
from tests.cluster.network import listening
from tests.cluster.ray_agents import clerk, reader
from tests.mcp.servers import plain_server
from tests.patience import PATIENCE

CLERK, READER = "tests.cluster.ray_agents:clerk", "tests.cluster.ray_agents:reader"
ASKER = "tests.cluster.ray_agents:asker"
SURVEY = [f"letter number {number}" for number in range(48)]


def processes(word: str) -> list[int]:
    """Processes of this namespace whose command line has the word."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except OSError:  # it has ended
            continue
    return found


async def first(store: str) -> None:
    """Fan out, and die in the middle."""
    count = 0
    async for _ in fan_out(CLERK, SURVEY, store=store, name="survey", workers=1, at_once=12):
        count += 1
        if count == 12:
            os.kill(os.getpid(), signal.SIGKILL)


async def again(store: str) -> dict[str, Any]:
    """The same call, in another program."""
    place = open_store(store)
    stopped = [(await load(place, info.run_id)).stop is not None for info in await place.runs()]
    shown: list[FanOutProgress] = []
    ends = [
        end
        async for end in fan_out(
            CLERK, SURVEY, store=store, name="survey", at_once=12, on_progress=shown.append
        )
    ]
    await place.close()
    return {
        "begun before": len(stopped),
        "stopped before": sum(stopped),
        "ends": told(ends),
        "last progress": [shown[-1].done, shown[-1].total, shown[-1].rate > 0],
    }


async def killed(store: str) -> dict[str, Any]:
    """Kill an actor while it works; again, up to three times, where it had nothing in hand."""
    ends: list[ActorResult] = []
    place = open_store(store)
    async for end in fan_out(CLERK, SURVEY, store=store, name="storm", at_once=12):
        ends.append(end)
        if len(ends) in {15, 23, 31} and not await taken_up_again(place):
            os.kill(processes("ray::Actor")[0], signal.SIGKILL)
    await place.close()
    return {"ends": told(ends)}


async def taken_up_again(place: Store) -> bool:
    """Whether a run of the storm was taken up by two actors."""
    mine = [info.run_id for info in await place.runs() if info.run_id.startswith("storm-")]
    return max([await place.epoch(run_id) for run_id in mine]) > 2


async def left_early(store: str) -> dict[str, Any]:
    """Leave a fan-out after its first end: what is at work is left where its step ends."""
    endless = (f"goal {number}" for number in range(10**9))
    async with aclosing(
        fan_out(CLERK, endless, store=store, name="early", workers=1, at_once=4)
    ) as ends:
        first_end = await anext(ends)
    place = open_store(store)
    records = [await load(place, info.run_id) for info in await place.runs()]
    await place.close()
    mine = [record for record in records if record.run_id.startswith("early-")]
    return {
        "first": first_end.status,
        "begun": len(mine),
        "in doubt": sum(call.in_doubt for record in mine for call in record.step.calls),
    }


async def served(store: str) -> dict[str, Any]:
    """Serve a queue, leave in the middle, serve on until nothing is due."""
    place = open_store(store)
    for number in range(16):
        await start(clerk(), f"letter {number}", place, run_id=f"q-{number}", queue="default")
    await start(reader(), "not for this worker", place, run_id="q-strange", queue="default")
    await start(clerk(), "another queue", place, run_id="q-other", queue="other")
    config = WorkerConfig(store=store, agents=[CLERK], only=True, at_once=6, driver=RayDriver(1))
    news: list[WorkerEvent] = []
    leaving = anyio.Event()

    def tell(said: WorkerEvent) -> None:
        news.append(said)
        if sum(each.what == "ended" for each in news) == 3:
            leaving.set()

    await work(config, on_event=tell, leaving=leaving)
    drained = Counter(each.what for each in news)
    standing = {each.run_id: await status(each.run_id, store=place) for each in news if each.run_id}
    in_doubt = 0
    for name in standing:
        in_doubt += sum(call.in_doubt for call in (await load(place, name)).step.calls)
    os.environ["CLEW_RAY_ACTORS"] = "1"
    await work(
        WorkerConfig(store=store, agents=[CLERK], only=True, until_idle=True, driver="ray"),
        on_event=news.append,
    )
    after = {f"q-{number}": await status(f"q-{number}", store=place) for number in range(16)}
    refused = [each.text for each in news if each.what == "refused"]
    other = await status("q-other", store=place)
    strange = await status("q-strange", store=place)
    await place.close()
    return {
        "drained": dict(drained),
        "standing": sorted(set(standing.values())),
        "in doubt": in_doubt,
        "after": sorted(set(after.values())),
        "refused": refused,
        "strange": strange,
        "other": other,
    }


async def asked(store: str) -> dict[str, Any]:
    """Runs that call a tool of an MCP server: the numbers of its processes, and who lives on."""
    plain_server(Path(os.environ["LEDGER"]).parent / "plain")
    goals = ["who are you?"] * 6
    ends = [end async for end in fan_out(ASKER, goals, store=store, name="ask", workers=1)]
    place = open_store(store)
    records = [await load(place, end.run_id) for end in ends]
    await place.close()
    seen = [record.steps[0].calls[0].observation for record in records]
    pids = {one.text for one in seen if one is not None}
    living = {one for one in pids if Path("/proc", one).exists()}
    return {"calls": len(seen), "processes": len(pids), "living": len(living)}


async def refusals(store: str, addresses: Mapping[str, str] | None = None) -> dict[str, str]:
    """What is said of calls that cannot be meant; with `addresses`, of those."""
    calls: dict[str, Any] = {
        name: partial(fan_out, READER, ["a"], store=store, address=address)
        for name, address in (addresses or {}).items()
    } or {
        "memory": lambda: fan_out(READER, ["a"], store="memory:"),
        "nobody": lambda: fan_out(READER, ["a"], store=store, workers=0),
        "no module": lambda: fan_out("tests.workers.nowhere:agent", ["a"], store=store),
        "no agent": lambda: fan_out("tests.cluster.ray_agents:Path", ["a"], store=store),
        "unnamed": lambda: fan_out((), ["a"], store=store),
        "other goals": lambda: fan_out(
            CLERK, ["another letter"], store=store, name="survey", workers=1
        ),
    }
    said: dict[str, str] = {}
    for name, call in calls.items():
        try:
            async for end in call():
                said[name] = f"no error, but {end}"
        except ConfigError as error:
            said[name] = str(error)
    return said


async def by_id(store: str) -> dict[str, Any]:
    """Runs that are there, by their ids: one that has stopped, one to refuse, one nobody knows."""
    runs = ["survey-1", "q-strange", "nowhere"]
    ends = [end async for end in fan_out(CLERK, runs=runs, store=store, workers=1)]
    return {end.run_id: [end.status, end.open, end.reason] for end in ends}


async def cancelled(store: str) -> dict[str, Any]:
    """Serve until a run that was submitted meanwhile is answered; then cancel."""
    place = open_store(store)
    config = WorkerConfig(store=store, agents=[CLERK], at_once=4, driver=RayDriver(1))
    async with anyio.create_task_group() as group:
        group.start_soon(work, config)
        for name in ("late-1", "late-2"):
            await start(clerk(), name, place, run_id=name, queue="default")
        with anyio.fail_after(PATIENCE):
            while await status("late-1", store=place) in {"waiting", "working"}:
                await anyio.sleep(0.02)
        group.cancel_scope.cancel()
    standing = await status("late-1", store=place)
    in_doubt = sum(call.in_doubt for call in (await load(place, "late-2")).step.calls)
    await place.close()
    return {"late": standing, "in doubt": in_doubt}


def told(ends: list[ActorResult]) -> dict[str, list[Any]]:
    """Ends by their runs."""
    return {end.run_id: [end.status, end.answer, end.steps] for end in ends}


async def second(store: str) -> dict[str, Any]:
    """All that is to be seen over one Ray, and what is there after it."""
    found: dict[str, Any] = {}
    before = set(processes("ray"))
    with session(cpus=2):
        found["again"] = await again(store)
        found["listening elsewhere"] = listening()
        found["killed"] = await killed(store)
        found["left early"] = await left_early(store)
        found["served"] = await served(store)
        found["cancelled"] = await cancelled(store)
        found["asked"] = await asked(store)
        found["by id"] = await by_id(store)
        found["refusals"] = await refusals(store)
    found["refusals"] |= await refusals(store, {"nowhere": "127.0.0.1:1", "client": "ray://x:1"})
    found["left behind"] = len(set(processes("ray")) - before)
    with anyio.fail_after(PATIENCE):
        results = await batch(clerk(), SURVEY, store="memory:", at_once=48)
    found["in process"] = [[it.status, it.answer, it.steps] for it in results]
    return found


def main() -> None:
    """Run a part, or both with what is found between them."""
    folder = Path(sys.argv[1])
    part = sys.argv[2] if len(sys.argv) > 2 else ""
    store = str(folder / "runs.sqlite")
    if part == "first":
        asyncio.run(first(store))
        return
    command = [sys.executable, "-m", "tests.cluster.ray_program", str(folder), "first"]
    done = subprocess.run(command, check=False)
    found: dict[str, Any] = {"first": done.returncode}
    asyncio.run(nobody_left())
    found |= asyncio.run(second(store))
    print(json.dumps(found))  # noqa: T201 - it is what the test reads


async def nobody_left() -> None:
    """Wait until what a killed program had started has ended; two agents of Ray's take a minute."""
    with anyio.fail_after(PATIENCE):
        while processes("raylet") or processes("gcs_server") or processes("ray::Actor"):
            await anyio.sleep(0.05)


if __name__ == "__main__":
    main()
