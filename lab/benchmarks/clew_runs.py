"""The same work through clew, with the SQLite store in a folder of its own.

`def` and `def-unsafe` are runs against the server with a tool as README has it, a plain function,
that reads or has the effect that stands where none is named. `plain`, `streamed` and `unsafe` are
such with a tool that is called on the event loop, one after the other or many at once. `def-first`
is streamed, with a plain function, and says when the first token came. `model` is many at once with
a model in this process that takes 200 ms; `sync` and `async` are one step with parallel calls of
250 ms, over HTTP where there is a server; `bytes` is what runs take on the disk.
"""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

import clew
from benchmarks.clock import (
    First,
    check,
    measure,
    measure_first,
    measure_together,
    new_script,
    parser,
    tell,
)
from benchmarks.script import (
    DESCRIPTION,
    LATENCY,
    PARALLEL,
    SYSTEM,
    TOOL_SECONDS,
    Script,
    checksum,
    entry,
    parse,
    proof_in,
    thought,
)
from clew.core.codes import Effect
from clew.core.contents import RawCall, Reply, Usage
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.values import encode
from clew.guards import Provenance
from clew.models.http.endpoint import Endpoint
from clew.models.resolve import resolve

ENDLESS: Final = clew.Limits(steps=10**6, tool_calls=10**6, tokens=10**12, seconds=10**6)


@dataclass(frozen=True)
class Local:
    """The server's side of the script, in this process."""

    seconds: float
    info = ModelInfo("local:bench")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next reply, after `seconds`."""
        if self.seconds:
            await anyio.sleep(self.seconds)
        parts = list(prompt)
        script = parse(next(part.text for part in parts if part.role == "user"))
        seen = [part.text for part in parts if part.role == "tool"]
        step = len(seen) // script.calls
        usage = Usage(input=100, output=20)
        if step >= script.steps:
            return Reply(text=checksum(map(proof_in, seen)), usage=usage)
        calls = tuple(
            RawCall(
                name="lookup", arguments=encode({"key": key}).decode(), id=f"call_{step}_{index}"
            )
            for index, key in enumerate(script.keys(step))
        )
        return Reply(thought(step, script), calls, "calls", usage)


class Watcher:
    """A listener, as a screen would be one: it makes the model stream."""

    def __init__(self) -> None:
        self.number = 0
        self.first = First()

    def token(self, text: str) -> None:
        """Count what would be shown."""
        self.first.heard()
        self.number += len(text)

    def entry(self, entry: clew.Entry) -> None:
        """Look at an entry."""


def lookup_tool(size: int, effect: Effect, seconds: float = 0) -> clew.Tool:
    """The tool as an async function."""

    async def lookup(key: str) -> str:
        if seconds:
            await anyio.sleep(seconds)
        return entry(key, size)

    lookup.__doc__ = f"{DESCRIPTION}\n\nArgs:\n    key: Key of the entry."
    return clew.tool(effect=effect)(lookup)


def plain_tool(size: int, effect: Effect, seconds: float = 0) -> clew.Tool:
    """The tool as a plain function, as README has it: it runs in a thread."""

    def lookup(key: str) -> str:
        if seconds:
            time.sleep(seconds)
        return entry(key, size)

    lookup.__doc__ = f"{DESCRIPTION}\n\nArgs:\n    key: Key of the entry."
    return clew.tool(effect=effect)(lookup)


def agent_of(model: Model, tool: clew.Tool) -> clew.Agent:
    """An agent whose limits no script here reaches; all else is as it comes, but for the guard
    that asks where arguments come from: no server here plans.
    """
    off = [Provenance("off")]
    return clew.Agent(model=model, tools=[tool], prompt=SYSTEM, limits=ENDLESS, guards=off)


def served(provider: str, url: str) -> Endpoint:
    """The server's model, through the provider's official client."""
    base_url = url.removesuffix("/v1") if provider == "google" else url  # it adds the version
    model = resolve(f"{provider}:bench", env={}, base_url=base_url, api_key="none")
    if not isinstance(model, Endpoint):
        raise TypeError(f"{model.info.name} is no model behind HTTP")
    return model


async def sequential(
    kind: str, model: Endpoint, plan: str, size: int, store: clew.SqliteStore
) -> object:
    """Runs against the server, one after the other."""
    make = plain_tool if kind.startswith("def") else lookup_tool
    agent = agent_of(model, make(size, "unsafe" if kind.endswith("unsafe") else "read"))
    listener = Watcher() if kind == "streamed" or kind.endswith("first") else None

    async def run(script: Script) -> str:
        result = await clew.run(agent, script.goal, store=store, listener=listener)
        return str(result.answer)

    if kind.endswith("first") and listener is not None:
        measured = await measure_first(plan, run, listener.first)
    else:
        measured = await measure(plan, run)
    await model.close()
    return measured


async def together(
    kind: str, url: str, plan: str, size: int, at_once: int, store: clew.SqliteStore
) -> object:
    """Many runs at once."""
    model: Model = Local(LATENCY) if kind == "model" else served("openai", url)
    agent = agent_of(model, lookup_tool(size, "read"))
    await clew.run(agent, new_script(1).goal, store=store)
    scripts = [new_script(int(plan)) for _ in range(at_once)]
    goals = [script.goal for script in scripts]

    async def all_of_them() -> Sequence[object]:
        return [r.answer for r in await clew.batch(agent, goals, at_once=at_once, store=store)]

    return await measure_together(scripts, all_of_them)


async def parallel(kind: str, url: str, size: int, store: clew.SqliteStore) -> object:
    """Wall seconds of a whole run with one step of parallel calls."""
    make = plain_tool if kind == "sync" else lookup_tool
    model: Local | Endpoint = served("openai", url) if url else Local(0)
    agent = agent_of(model, make(size, "read", TOOL_SECONDS))
    warm = new_script(1)
    check(warm, (await clew.run(agent, warm.goal, store=store)).answer)
    script = new_script(1, PARALLEL)
    start = time.perf_counter()
    result = await clew.run(agent, script.goal, store=store)
    wall = time.perf_counter() - start
    check(script, result.answer)
    if isinstance(model, Endpoint):
        await model.close()
    return {"wall_s": wall}


async def bytes_kept(plan: str, size: int, folder: Path) -> object:
    """Bytes of the store's file per step, without those of an empty store, for each length."""
    fields: dict[str, float] = {}
    for steps in map(int, plan.split(",")):
        path = folder / f"{steps}.sqlite"
        await clew.SqliteStore(path).close()
        empty = path.stat().st_size
        store = clew.SqliteStore(path)
        script = new_script(steps)
        agent = agent_of(Local(0), lookup_tool(size, "read"))
        result = await clew.run(agent, script.goal, store=store)
        check(script, result.answer)
        await store.close()  # the last to close folds the log into the file
        fields[str(steps)] = (path.stat().st_size - empty) / steps
    return fields


async def main() -> None:
    args = parser().parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.kind == "bytes":
            tell(await bytes_kept(args.plan, args.size, Path(folder)))
            return
        store = clew.SqliteStore(Path(folder) / "runs.sqlite")
        if args.at_once:
            value = await together(args.kind, args.url, args.plan, args.size, args.at_once, store)
        elif args.kind in {"sync", "async"}:
            value = await parallel(args.kind, args.url, args.size, store)
        else:
            model = served(args.provider, args.url)
            value = await sequential(args.kind, model, args.plan, args.size, store)
        await store.close()
        tell(value)


if __name__ == "__main__":
    asyncio.run(main())
