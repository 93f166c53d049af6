"""Servers of MCP tools, and clew, killed in calls: what is done twice, lost or unknown."""

import os
import random
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Final

import msgspec

from durability.mcp_runs import Orders, Seen, Way, look
from durability.mcp_server import TOOLS, Era, HttpOrders, Strike, World
from durability.nursery import Nursery
from durability.progress import tell
from durability.storm import asyncio_run, folder
from recordings.part import Figure, Part, count

MODULES: Final = ("durability.mcp_runs", "durability.mcp_server")
CARRY: Final = "durability.mcp_runs:carry"
SERVE: Final = "durability.mcp_server:serve_http"
POINTS: Final = ("received", "done", "half", "answered")
ERAS: Final[Sequence[Era]] = ("handshake", "stateless")
PATIENCE: Final = 20.0
"""Seconds after which a process that should have ended counts as left behind."""

SERVERS: Final = """\
A server of the official SDK is killed (`kill -9`) in the middle of calls: when it has received a
call, when it has done what was asked, with half of the answer sent, and after the answer; for a
tool that reads, an unsafe one, an idempotent one, and one that must be a task, which is also killed
when it is asked for. Further ones are killed while they are connected to and while they list their
tools. All of that over stdio and over HTTP, in both eras of the protocol. Somebody else starts the
HTTP server again; the one over stdio is started by clew. The tools write what they did to a file.
"""

CLEW: Final = """\
The same points, but it is clew's process that is killed, and by the server, so that the moment is
exact; and it is killed at each write of its record, before it is committed and after. Another
process then resumes the run. The servers over stdio end with the process that started them, and
the task that they had begun is asked for at the next one.
"""


def strikes(victim: str) -> list[Strike]:
    """Every point of a call of every tool, and of the way there."""
    known = [Strike(at, tool, "server") for tool, at in product(TOOLS, POINTS)]
    known.append(Strike("asked", "build", "server"))
    if victim == "clew":
        return [msgspec.structs.replace(one, victim="clew") for one in known]
    return [*known, Strike("opening", "", "server"), Strike("listing", "", "server")]


class HttpServer:
    """A server over HTTP that is started again whenever it was killed."""

    def __init__(self, way: Way, nursery: Nursery) -> None:
        self._orders = HttpOrders(way.folder, way.era, way.port)
        self._ready = Path(way.folder) / "ready"
        self._nursery = nursery
        self._pid = self._start()

    def _start(self) -> int:
        self._ready.unlink(missing_ok=True)
        pid = self._nursery.start(self._orders, entry=SERVE)
        _until(self._ready.exists)
        return pid

    def check(self) -> None:
        """Start it again if it is dead."""
        if not self._nursery.alive(self._pid):
            self._pid = self._start()

    def kill(self) -> None:
        """End it."""
        self._nursery.kill(self._pid)


def _until(ask: Callable[[], bool]) -> bool:
    """Wait until something is so; False where it never is."""
    until = time.monotonic() + PATIENCE
    while not (result := ask()) and time.monotonic() < until:
        time.sleep(0.002)
    return result


@dataclass
class McpTally:
    """What came of it: who was killed, and what the records say of it."""

    points: int = 0
    kills: int = 0
    missed: list[str] = field(default_factory=list[str])
    left: list[str] = field(default_factory=list[str])
    seen: Seen = field(default_factory=Seen)


class Site:
    """A way to a server, the processes at both of its ends, and the runs that go over it."""

    def __init__(self, way: Way, nursery: Nursery, tally: McpTally) -> None:
        self.way, self.tally, self._nursery = way, tally, nursery
        self._world = World(Path(way.folder))
        self._server = HttpServer(way, nursery) if way.port else None
        self._runs: list[str] = []
        self._struck: dict[str, str] = {}

    def carry(self, orders: Orders) -> bool:
        """Let a process carry runs to their ends; False where it was killed."""
        pid = self._nursery.start(orders, entry=CARRY)
        while self._nursery.alive(pid):
            if self._server is not None:
                self._server.check()
            time.sleep(0.005)
        code = self._nursery.wait(pid)
        if code not in (0, -signal.SIGKILL):
            self.tally.missed.append(f"{self.way.name}: clew ended with {code}: {orders.runs}")
        return code == 0

    def run(self, what: str, tool: str = "") -> str:
        """A new run, in which a call of the tool is hit."""
        run_id = f"{len(self._runs) + 1}-{what}".replace(" ", "-")
        self._runs.append(run_id)
        if tool:
            self._struck[run_id] = tool
        return run_id

    def kill_servers(self, sample: int) -> None:
        """Kill the server at every nth point; one process carries all runs over one connection."""
        wanted = strikes("server")[::sample]
        over = [one for one in wanted if one.tool]
        runs = [self.run(f"{one.at} {one.tool}", one.tool) for one in over]
        self.carry(Orders(self.way, (*runs,), (*over,)))
        for one in (one for one in wanted if not one.tool):
            self.carry(Orders(self.way, (self.run(one.at),), (one,)))
        self.tally.points += len(wanted)
        hit = self._world.hits
        self.tally.kills += len(hit)
        self.tally.missed += [
            f"{self.way.name}: {one.at} {one.tool}: not killed" for one in wanted if one not in hit
        ]

    def kill_clew(self, sample: int) -> None:
        """Kill clew at every nth point, and at every nth write of its record."""
        for one in strikes("clew")[::sample]:
            self._killed(Orders(self.way, (self.run(f"{one.at} {one.tool}", one.tool),), (one,)))
        if self._server is None:
            return  # the writes are those of any run: one way over HTTP shows them
        self.carry(Orders(self.way, (self.run("calm"),)))
        writes = int((Path(self.way.folder) / "writes").read_text())
        for at, before in product(range(1, writes + 1, sample), (True, False)):
            when = "before" if before else "after"
            run_id = self.run(f"{when} write {at}")
            self._killed(Orders(self.way, (run_id,), kill_at=at, before=before))

    def _killed(self, orders: Orders) -> None:
        """A process that is killed, and another that goes on."""
        self.tally.points += 1
        if self.carry(orders):
            self.tally.missed.append(f"{self.way.name}: {orders.runs[0]}: clew was not killed")
            return
        self.tally.kills += 1
        (Path(self.way.folder) / "strike").unlink(missing_ok=True)
        self.carry(Orders(self.way, orders.runs))

    def close(self) -> None:
        """Look at the records, and at what is left of the servers."""
        asyncio_run(look, self.way, (*self._runs,), self._struck, self.tally.seen)
        if self._server is not None:
            self._server.kill()
        pids = Path(self.way.folder) / "servers"
        for pid in pids.read_text().split() if pids.exists() else ():
            if not _until(partial(_is_gone, int(pid))):
                self.tally.left.append(f"{self.way.name}: the server {pid} is still there")


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()


@contextmanager
def sites(tally: McpTally) -> Iterator[list[Site]]:
    """The four ways to a server."""
    with folder("mcp", memory=True) as root, Nursery(*MODULES) as nursery:
        made: list[Site] = []
        for http, era in product((False, True), ERAS):
            where = root / f"{'http' if http else 'stdio'}-{era}"
            where.mkdir()
            made.append(Site(Way(str(where), era, free_port() if http else 0), nursery, tally))
        yield made
        for site in made:
            site.close()


def free_port() -> int:
    """A port that is free now, and that no outgoing connection is given.

    A server that is started again takes the same one, so it must not be lent to anybody meanwhile:
    it lies below the ports that the system chooses from.
    """
    for port in random.sample(range(20_000, 30_000), 100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    message = "none of a hundred ports is free"
    raise RuntimeError(message)


def servers(sample: int) -> Part:
    """Kill servers at every nth point."""
    tally = McpTally()
    with sites(tally) as made:
        for site in made:
            site.kill_servers(sample)
            tell(f"mcp servers: {site.way.name}: done")
    return Part("Killed servers of MCP tools", SERVERS, [*_figures(tally, sample)], _misses(tally))


def clew(sample: int) -> Part:
    """Kill clew at every nth point."""
    tally = McpTally()
    with sites(tally) as made:
        for site in made:
            site.kill_clew(sample)
            tell(f"mcp clew: {site.way.name}: done")
    title = "Killed in calls of MCP tools, and resumed"
    return Part(title, CLEW, [*_figures(tally, sample)], _misses(tally))


def _figures(tally: McpTally, sample: int) -> Iterator[Figure]:
    seen = tally.seen
    number = 50 // sample
    met = tally.kills == tally.points >= number
    yield Figure("points at which it was killed", f"{tally.kills:,}", f"{tally.points:,}",
                 f"all, ≥ {number}", met)  # fmt: skip
    yield count("runs that did not come to their end", len(seen.open), seen.runs, exactly=0)
    yield count("calls of unsafe tools that were made twice", len(seen.twice), seen.unsafe,
                exactly=0)  # fmt: skip
    yield Figure("calls that were hit, and answered all the same", f"{seen.answered:,}",
                 f"{seen.struck:,}")  # fmt: skip
    yield Figure("calls that were hit, and are unknown: the model is told", f"{seen.unknown:,}",
                 f"{seen.struck:,}")  # fmt: skip
    yield Figure("calls that were hit, only read, and failed: the model is told",
                 f"{seen.failed:,}", f"{seen.struck:,}")  # fmt: skip
    neither = seen.struck - seen.answered - seen.unknown - seen.failed
    yield count("calls that were hit, and are none of these", neither, seen.struck, exactly=0)
    yield count("calls that the record tells otherwise than the server's file, or not",
                len(seen.silent), seen.calls, exactly=0)  # fmt: skip
    yield Figure("calls of other tools that were made again", f"{seen.again:,}",
                 f"{seen.calls - seen.unsafe:,}")  # fmt: skip
    yield Figure("tasks whose id is in the record", f"{seen.recorded:,}", f"{seen.tasks:,}")
    yield count("of these, not answered", len(seen.forgotten), seen.recorded, exactly=0)
    yield count("records that do not verify or do not replay", len(seen.broken), seen.runs,
                exactly=0)  # fmt: skip
    yield count("servers left behind", len(tally.left), tally.points, exactly=0)


def _misses(tally: McpTally) -> list[str]:
    seen = tally.seen
    return [*tally.missed, *seen.open, *seen.twice, *seen.silent, *seen.forgotten, *seen.broken,
            *tally.left]  # fmt: skip
