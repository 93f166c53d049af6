"""Every file of an SQLite store damaged at each moment of a run with effects, which then goes on.

`python -m durability.lost_ends FOLDER MOMENT` is the process that works on the run.
"""

import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import getpid, kill
from pathlib import Path
from typing import Any, Final

import anyio

from clew import Agent, RunContext, open_store, tool
from clew.agent.runner import start
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.guards import Provenance
from clew.retention import verify
from clew.support.errors import ClewError
from clew.testing.models import ScriptedModel, act, finish
from clew.workers.agents import KnownAgents
from clew.workers.run_one import carry
from durability.nursery import ROOT
from durability.progress import tell
from durability.storm import asyncio_run, folder
from durability.world import Ledger
from recordings.part import Part, count

EFFECTS: Final = 6
COPIED: Final = 2
"""In this call an older copy of all files is made."""
AT: Final = 4
"""In this call, or after it, the process is killed."""

MOMENTS: Final = ("in a call", "between two calls", "after a clean close")
NAMES: Final = ("", "-wal", "-shm", ".heads", ".claims")

TEXT: Final = f"""\
A process makes a run of {EFFECTS} unsafe effects over an SQLite file. It is killed (`kill -9`) in
the midst of call {AT}, or after it, or it closes the store while the run is open. Then one file of
the store is damaged: a bit of it is flipped, it is cut off, replaced by the copy that was made in
call {COPIED}, or removed; also main file and log together are replaced. A worker goes on with the
run. It must not repeat an effect: it comes to the end of the run, where a call of unknown outcome
is not repeated, or it refuses, and `clew records verify` then names the damage. A seed chooses what
is flipped and cut. That all files are put back from one older copy cannot be seen.
"""


@dataclass
class Ends:
    """What came of one kind of damage."""

    done: int = 0
    refused: int = 0
    twice: list[str] = field(default_factory=list[str])
    unnamed: list[str] = field(default_factory=list[str])

    @property
    def all(self) -> int:
        """So many stores were damaged."""
        return self.done + self.refused + len(self.twice)


class Leaving:
    """A scripted model that ends its process, or waits to be cancelled, before a reply."""

    def __init__(self, inner: ScriptedModel, moment: str, store: Path) -> None:
        self.inner, self.moment, self.store = inner, moment, store
        self.waiting = anyio.Event()

    @property
    def info(self) -> ModelInfo:
        return self.inner.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Any:
        if len(Ledger(self.store.parent).lines()) == AT:
            if self.moment == "between two calls":
                kill(getpid(), signal.SIGKILL)
            self.waiting.set()
            await anyio.sleep_forever()
        return await self.inner.complete(prompt, on_text)


def script() -> ScriptedModel:
    """What the model says: one effect after the other, then the answer."""
    return ScriptedModel([*(act("send", note=f"n{n}") for n in range(EFFECTS)), finish("done")])


def agent(path: Path, moment: str = "") -> Agent:
    """The agent; with a `moment` its process ends then."""
    ledger, store = Ledger(path), path / "runs.sqlite"

    @tool(effect="unsafe")
    async def send(note: str, ctx: RunContext) -> str:
        """Send a note."""
        ledger.write(f"send {ctx.key}")
        if moment and len(ledger.lines()) == COPIED:
            copy(store, path / "older")
        if moment == "in a call" and len(ledger.lines()) == AT:
            kill(getpid(), signal.SIGKILL)
        return "sent"

    model: Any = Leaving(script(), moment, store) if moment else script()
    return Agent(model=model, tools=[send], guards=[Provenance("off")])


def copy(store: Path, to: Path) -> None:
    """Copy the files of a store that are there."""
    to.mkdir(exist_ok=True)
    for name in NAMES:
        if (file := store.with_name(store.name + name)).exists():
            shutil.copyfile(file, to / file.name)


async def _work(path: Path, moment: str) -> None:
    """Begin the run and leave it at the moment."""
    mine = agent(path, moment)
    model: Any = mine.model
    store = open_store(path / "runs.sqlite")
    await start(mine, "Send all.", store=store, run_id="run")
    async with anyio.create_task_group() as group:
        group.start_soon(carry, KnownAgents({"agent": mine}), store, "run")
        await model.waiting.wait()
        group.cancel_scope.cancel()
    await store.close()


Files = dict[str, bytes]
"""Contents of the files of a store, by what their names end with."""


def left_at(path: Path, moment: str) -> tuple[Files, Files]:
    """The files that a process left at that moment, and the older copy that was made before."""
    command = [sys.executable, "-m", "durability.lost_ends", str(path), moment]
    done = subprocess.run(command, cwd=ROOT, check=False)
    assert done.returncode == (0 if moment == MOMENTS[2] else -signal.SIGKILL)
    assert len(Ledger(path).lines()) == AT
    return files(path), files(path / "older")


def files(path: Path) -> Files:
    """The files of the store in a folder."""
    there = {name: path / f"runs.sqlite{name}" for name in NAMES}
    return {name: file.read_bytes() for name, file in there.items() if file.exists()}


def damages(now: Files, older: Files, flips: int, cuts: int) -> Iterator[tuple[str, str, Files]]:
    """Each kind of damage, with what was done, and the files after it."""
    chance = random.Random(34)
    for name, data in now.items():
        for at in sorted(chance.sample(range(len(data)), min(flips, len(data)))):
            bit = chance.randrange(8)
            flipped = bytes([data[at] ^ 1 << bit])
            changed = data[:at] + flipped + data[at + 1 :]
            yield "flipped", f"bit {bit} of byte {at} of '{name}'", now | {name: changed}
        for size in sorted(chance.sample(range(len(data)), min(cuts, len(data)))):
            yield "cut", f"'{name}' after byte {size} of {len(data)}", now | {name: data[:size]}
        yield "removed", f"'{name}'", {other: now[other] for other in now if other != name}
        if name in older:
            yield "older", f"'{name}'", now | {name: older[name]}
    rest = {name: data for name, data in now.items() if name not in older}
    yield "older", "all but the heads", rest | older | {".heads": now[".heads"]}
    without = {name: data for name, data in now.items() if name not in ("-wal", "-shm")}
    yield "removed", "the log and its index", without


def lost_ends(sample: int) -> Part:
    """Every nth bit and cut."""
    flips, cuts = max(1, 3_000 // sample), max(1, 600 // sample)
    figures, misses = [], list[str]()
    for moment in MOMENTS:
        with folder("lost-ends", memory=True) as root:
            tally = asyncio_run(_damaged, root, moment, flips, cuts)
        for kind, ends in tally.items():
            what = f"{moment}, {kind}"
            figures += [
                count(f"{what}: effects repeated", len(ends.twice), ends.all, exactly=0),
                count(f"{what}: damage not named", len(ends.unnamed), ends.all, exactly=0),
                count(f"{what}: the run came to its end", ends.done, ends.all),
                count(f"{what}: the run is refused", ends.refused, ends.all),
            ]
            misses += [f"{what}: {line}" for line in (*ends.twice, *ends.unnamed)]
    return Part("Damaged files of an open run", TEXT, figures, misses)


async def _damaged(path: Path, moment: str, flips: int, cuts: int) -> dict[str, Ends]:
    (origin := path / "origin").mkdir()
    now, older = await anyio.to_thread.run_sync(left_at, origin, moment)
    fields: dict[str, Ends] = {}
    number = 0
    for kind, what, after in damages(now, older, flips, cuts):
        await gone_on(fields.setdefault(kind, Ends()), path / "damaged", what, after)
        if (number := number + 1) % 500 == 0:
            tell(f"lost ends, {moment}: {number} stores damaged")
    return fields


def put_back(path: Path, after: Files) -> None:
    """A folder with these files of a store, and the effects that happened."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    for name, data in after.items():
        (path / f"runs.sqlite{name}").write_bytes(data)
    for number in range(AT):
        Ledger(path).write(f"send run:{number + 1}.1")


async def gone_on(ends: Ends, path: Path, what: str, after: Files) -> None:
    """Put the files there and go on with the run."""
    put_back(path, after)
    try:
        store = open_store(path / "runs.sqlite")
        try:
            done = await carry(KnownAgents({"agent": agent(path)}), store, "run")
        finally:
            await store.close()
    except ClewError as error:
        outcome = str(error)
    else:
        outcome = "" if done.stop is not None and done.stop.status == "answered" else str(done.stop)
    sent = Counter(Ledger(path).lines())
    if max(sent.values()) > 1:
        ends.twice.append(f"{what}: {sent}")
    elif outcome:
        ends.refused += 1
        if not await _named(path / "runs.sqlite"):
            ends.unnamed.append(f"{what}: {outcome.replace(str(path), path.name)}")
    else:
        ends.done += 1


async def _named(store: Path) -> bool:
    """Whether verifying the store names the damage, or the store cannot be opened."""
    try:
        verified, lost = await verify(store=store)
    except ClewError:
        return True
    return bool(lost) or not all(one.ok for one in verified)


if __name__ == "__main__":
    asyncio_run(_work, Path(sys.argv[1]), sys.argv[2])
