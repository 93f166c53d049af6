"""What tools of MCP servers cost through clew, beside the SDK alone: `python -m benchmarks.mcp`.

Each figure is a ratio, or a difference, of what was measured in turn within one run: the same
server, the same tool, the same answers. CPU is that of the client's process.
"""

import argparse
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from benchmarks.processes import ROOT, environment
from clew import Agent, Limits, MemoryStore, Tool, read, run, tool
from clew.core.call_context import CALL, CallContext
from clew.guards import Provenance
from clew.support.resources import resources
from clew.testing.models import ScriptedModel, act, acts, finish
from clew_mcp import McpServer, mcp_tools
from clew_mcp.connection import open_connection

SDK: Final = "import mcp.client, mcp.client.stdio, mcp.client.streamable_http"
CLEW: Final = """\
import clew
from clew_mcp import McpServer, mcp_tools_sync
import clew_mcp.connection, clew_mcp.tool_calls
mcp_tools_sync(McpServer(name="bench", command={command!r}, args={args!r}), pins={pins!r})
"""
MAX_START: Final = 0.150
"""CPU seconds that clew may take to start, beyond the import of the SDK."""

MAX_CALL: Final = 1.2
"""How much longer a call through clew may take than one through the SDK alone."""

NUMBERS: Final = count()

One: TypeAlias = Callable[[str], Coroutine[Any, Any, None]]
Calls: TypeAlias = Callable[[Sequence[str]], Awaitable[None]]


class Spent(NamedTuple):
    """CPU and wall milliseconds."""

    cpu: float
    wall: float


class Sizes(NamedTuple):
    """How often everything is measured."""

    starts: int = 15
    rounds: int = 20
    calls: int = 100


def fresh(number: int) -> list[str]:
    """Texts that were never sent before."""
    return [f"text {next(NUMBERS)}" for _ in range(number)]


async def spent(calls: Calls, texts: Sequence[str]) -> Spent:
    """What making these calls took, for each of them."""
    cpu, wall = time.process_time(), time.perf_counter()
    await calls(texts)
    scale = 1000 / len(texts)
    return Spent((time.process_time() - cpu) * scale, (time.perf_counter() - wall) * scale)


def through_sdk(client: Client, *, at_once: bool = False) -> Calls:
    """Calls by the SDK's client."""

    async def one(text: str) -> None:
        result = await client.call_tool("echo", {"text": text})
        block: Any = result.content[0]
        check(block.text, text)

    return together(one) if at_once else in_turn(one)


def through_tool(made: Tool, *, at_once: bool = False) -> Calls:
    """Calls of clew's tool: the check of the pins, the request, and the observation."""

    async def one(text: str) -> None:
        seen: Any = await made.call({"text": text}, "bench:1.1")
        check(seen.text if isinstance(seen.content, str) else seen.content["result"], text)

    return together(one) if at_once else in_turn(one)


def through_run(made: Tool) -> Calls:
    """A run whose model makes all the calls in one step: recorded, judged, within limits."""

    async def calls(texts: Sequence[str]) -> None:
        model = ScriptedModel([acts(*(act(made.name, text=text) for text in texts)), finish("x")])
        store = MemoryStore()
        count = len(texts) + 1
        limits = Limits(calls_per_step=count, tool_calls=count)
        agent = Agent(model, tools=[made], limits=limits)
        result = await run(agent, "go", store=store)
        record = await read(result.run_id, store=store)
        seen = [call.observation for call in record.calls if call.observation]
        check([one.text for one in seen if not one.ok], [])
        check(len(seen), len(texts) + 1)

    return calls


async def in_a_call() -> None:
    """Have tools called here as in the call 1.1 of a run, whose record holds nothing else."""
    contexts: list[CallContext | None] = []

    @tool
    def keep() -> str:
        """Keep what a call may know."""
        contexts.append(CALL.get())
        return "kept"

    agent = Agent(
        ScriptedModel([act("keep"), finish("x")]), tools=[keep], guards=[Provenance("off")]
    )
    await run(agent, "go", store=MemoryStore())
    CALL.set(contexts[0])


def in_turn(one: One) -> Calls:
    """One call after the other."""

    async def calls(texts: Sequence[str]) -> None:
        for text in texts:
            await one(text)

    return calls


def together(one: One) -> Calls:
    """All calls at once."""

    async def calls(texts: Sequence[str]) -> None:
        async with anyio.create_task_group() as group:
            for text in texts:
                group.start_soon(one, text)

    return calls


def check(value: object, wanted: object) -> None:
    """Raise `RuntimeError` where the work was not done."""
    if value != wanted:
        message = f"{value!r} came instead of {wanted!r}"
        raise RuntimeError(message)


class Row(NamedTuple):
    """One comparison: medians of each, and the medians of the ratios of their rounds."""

    what: str
    sdk: Spent
    clew: Spent
    cpu: float
    wall: float
    is_aim: bool


async def compared(what: str, sdk: Calls, clew: Calls, sizes: Sizes, *, is_aim: bool) -> Row:
    """Rounds in turn, after one of each that does not count."""
    pairs: list[tuple[Spent, Spent]] = []
    for number in range(sizes.rounds + 1):
        texts, others = fresh(sizes.calls), fresh(sizes.calls)
        if number % 2:
            one = await spent(sdk, texts)
            pairs.append((one, await spent(clew, others)))
        else:
            other = await spent(clew, others)
            pairs.append((await spent(sdk, texts), other))
    kept = pairs[1:]

    def middle(values: list[Spent]) -> Spent:
        cpu, wall = (statistics.median(column) for column in zip(*values, strict=True))
        return Spent(cpu, wall)

    return Row(
        what,
        middle([one for one, _ in kept]),
        middle([other for _, other in kept]),
        statistics.median(other.cpu / one.cpu for one, other in kept),
        statistics.median(other.wall / one.wall for one, other in kept),
        is_aim,
    )


async def listed(server: McpServer, sizes: Sizes) -> Spent:
    """What a list costs that is asked for before a call: the request, and its comparison."""
    async with open_connection(server) as connection:

        async def lists(texts: Sequence[str]) -> None:
            for _ in texts:
                check((await connection.listing()).digest != "", True)

        costs = [await spent(lists, fresh(sizes.calls)) for _ in range(sizes.rounds + 1)][1:]
    return Spent(*(statistics.median(column) for column in zip(*costs, strict=True)))


async def measure(name: str, server: McpServer, client: Client, sizes: Sizes) -> list[Row]:
    """The calls over one transport; clew and the SDK have a connection each."""
    with tempfile.TemporaryDirectory() as folder:
        async with client, resources():
            (echo,) = await mcp_tools(server, pins=Path(folder) / "pins.json")
            await in_a_call()
            both = [
                ("one after the other, the tool alone",
                 through_sdk(client), through_tool(echo), True),
                (f"{sizes.calls} at once, the tool alone",
                 through_sdk(client, at_once=True), through_tool(echo, at_once=True), True),
                (f"{sizes.calls} at once, in a run with a record",
                 through_sdk(client, at_once=True), through_run(echo), False),
            ]  # fmt: skip
            return [
                await compared(f"{name}: {what}", sdk, clew, sizes, is_aim=is_aim)
                for what, sdk, clew, is_aim in both
            ]


def ready(code: str) -> float:
    """CPU seconds of a Python process from its start until it has done this."""
    told = f"{code}\nimport time\nprint(time.process_time())"
    ran = subprocess.run([sys.executable, "-c", told], cwd=ROOT, env=environment(),
                         capture_output=True, check=True)  # fmt: skip
    return float(ran.stdout.splitlines()[-1])


def start(sizes: Sizes) -> tuple[float, float, float]:
    """CPU seconds: the SDK's import, `import clew`, and both with tools made from pins."""
    with tempfile.TemporaryDirectory() as folder:
        pins = str(Path(folder) / "pins.json")
        code = CLEW.format(command=sys.executable, args=ARGS, pins=pins)
        ready(code)  # the first use pins the tools
        rounds = [(ready(SDK), ready("import clew"), ready(code)) for _ in range(sizes.starts)]
    sdk, clew, both = (statistics.median(column) for column in zip(*rounds, strict=True))
    return sdk, clew, both


ARGS: Final = ("-m", "benchmarks.mcp_server")


@contextmanager
def http() -> Any:
    """A server over HTTP in a process of its own; gives its URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    process = subprocess.Popen([sys.executable, *ARGS, str(port)], cwd=ROOT, env=environment())
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


async def all_calls(sizes: Sizes) -> tuple[list[Row], dict[str, Spent]]:
    """Calls and lists over both transports, in the era that the SDK chooses: the stateless one."""
    path = {"PYTHONPATH": environment()["PYTHONPATH"]}
    alone = StdioServerParameters(command=sys.executable, args=list(ARGS), env=path, cwd=ROOT)
    near = McpServer(name="bench", command=sys.executable, args=ARGS, env=path, cwd=str(ROOT))
    rows = await measure("stdio", near, Client(stdio_client(alone), mode="auto"), sizes)
    lists = {"stdio": await listed(near, sizes)}
    with http() as url:
        far = McpServer(name="bench", url=url)
        rows += await measure("HTTP", far, Client(url, mode="auto"), sizes)
        lists["HTTP"] = await listed(far, sizes)
    return rows, lists


def main() -> int:
    """Measure, and print; 1 where an aim is missed."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.mcp", description=__doc__)
    options.add_argument("--tiny", action="store_true", help="only show that everything works")
    sizes = Sizes(1, 1, 3) if options.parse_args().tiny else Sizes()
    sdk, clew, both = start(sizes)
    beyond = both - sdk
    print(f"start-up, CPU: SDK {sdk * 1000:.0f} ms, import clew {clew * 1000:.0f} ms, clew with "
          f"tools from pins {both * 1000:.0f} ms: {beyond * 1000:.0f} ms beyond the SDK "
          f"(aim ≤ {MAX_START * 1000:.0f})\n")  # fmt: skip
    rows, lists = anyio.run(all_calls, sizes, backend="asyncio")
    print("| calls | SDK alone: CPU, wall (ms) | clew: CPU, wall (ms) | ratio: CPU, wall | aim |")
    print("|---|---|---|---|---|")
    for row in rows:
        aim = f"≤ {MAX_CALL}" if row.is_aim else ""
        print(f"| {row.what} | {row.sdk.cpu:.2f}, {row.sdk.wall:.2f} | {row.clew.cpu:.2f}, "
              f"{row.clew.wall:.2f} | {row.cpu:.2f}, {row.wall:.2f} | {aim} |")  # fmt: skip
    print("\na list of one tool, as at most one a second before calls with effects: " + "; ".join(
        f"{name} {each.cpu:.2f} ms of CPU, {each.wall:.2f} ms" for name, each in lists.items()
    ))  # fmt: skip
    over = beyond > MAX_START or any(
        row.is_aim and max(row.cpu, row.wall) > MAX_CALL for row in rows
    )
    return 1 if over and sizes.starts > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
