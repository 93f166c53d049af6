"""A server as a process of its own: where it answers, what it wants to be told, what it takes."""

import statistics
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx2

PATIENCE: Final = 120.0
CONNECTIONS: Final = 500
KEPT: Final = 2.0
"""Seconds that a client keeps a connection; the server closes idle ones after five."""


@dataclass(frozen=True)
class Server:
    """A server at `url`, of which `link` signs a browser in."""

    url: str
    link: str
    pid: int

    @property
    def token(self) -> str:
        """What a program sends."""
        return self.link.partition("?token=")[2]

    @property
    def headers(self) -> dict[str, str]:
        """The same, as headers."""
        return {"authorization": f"Bearer {self.token}"}

    @property
    def address(self) -> tuple[str, int]:
        """Its host and port."""
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or 0

    @property
    def memory(self) -> float:
        """MB of memory that its process has now."""
        status = Path(f"/proc/{self.pid}/status").read_text("ascii")
        (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
        return int(line.split()[1]) / 1_024

    @property
    def cpu(self) -> float:
        """Seconds of CPU that it took."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100


@contextmanager
def view(path: Path) -> Iterator[Server]:
    """`clew view` of a store."""
    words = ("-m", "clew.cli", "view", str(path), "--no-browser")
    with started(words) as server:
        yield server


@contextmanager
def started(words: Sequence[str]) -> Iterator[Server]:
    """A program of Python that prints the link to itself."""
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        try:
            yield Server(link.partition("?")[0], link, process.pid)
        finally:
            process.terminate()


@asynccontextmanager
async def client(server: Server) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client that is let in."""
    limits = httpx2.Limits(max_connections=CONNECTIONS, keepalive_expiry=KEPT)
    async with httpx2.AsyncClient(
        base_url=server.url, headers=server.headers, limits=limits, timeout=PATIENCE
    ) as http:
        yield http


async def asked(
    http: httpx2.AsyncClient, urls: Sequence[str], rounds: int
) -> tuple[list[float], int]:
    """The ms until the last byte of all these is there, for each round; the bytes of the last."""
    times, size = list[float](), 0
    for _ in range(rounds):
        begun = time.perf_counter()
        for url in urls:
            answer = await http.get(url)
            answer.raise_for_status()
            size = len(answer.content)
        times.append(1_000 * (time.perf_counter() - begun))
    return times, size


async def first_byte(http: httpx2.AsyncClient, url: str, rounds: int) -> float:
    """The median of ms until the first byte of an answer."""
    times = list[float]()
    for _ in range(rounds):
        begun = time.perf_counter()
        async with http.stream("GET", url) as answer:
            async for _ in answer.aiter_raw():
                times.append(1_000 * (time.perf_counter() - begun))
                break
    return statistics.median(times)
