"""Torn writes: the last entries of a record cut at every byte."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import clew
from clew import open_store
from clew.core.journal import load
from clew.core.stores import Append, Store
from clew.support.errors import ClewError, StoreDamagedError
from clew.workers.agents import KnownAgents
from clew.workers.run_one import carry
from durability import world
from durability.progress import tell
from durability.storm import asyncio_run, folder
from recordings.part import Part, count

LAST: Final = 3
"""So many entries are cut at every byte."""

ON: Final = 40
"""After every so manieth cut the run goes on to its end."""

TEXT: Final = f"""\
The write-ahead log of an SQLite file is cut at every byte of what the last {LAST} entries took, as
a power cut or a full disk would; a copy of the whole is opened each time. It has to open, and to
have every entry that was whole before the cut, no more. After every {ON}th cut the run goes on, to
its end: the file of heads ends there too, as after a power cut. As it was before the cut, it shows
what is lost; then the run has to be refused.
"""


@dataclass
class Cuts:
    """What cutting a file did: cuts, and those after which something was wrong."""

    cuts: int = 0
    on: int = 0
    refused: int = 0
    wrong: list[str] = field(default_factory=list[str])


class Measured:
    """A store that notes how long its log is after each append, (last entry, bytes), and which
    entries are barriers.
    """

    def __init__(self, store: Store, file: Path) -> None:
        self.store, self.file = store, file
        self.marks: list[tuple[int, int]] = []
        self.barriers: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def append(self, append: Append) -> bool:
        quiet = await self.store.append(append)
        self.marks.append((append.lines[-1].seq, self.file.stat().st_size))
        if append.barrier:
            self.barriers.append(append.lines[-1].seq)
        return quiet


def torn(sample: int) -> Part:
    """The log, cut at every nth byte."""
    with folder("torn", memory=True) as root:
        tally = asyncio_run(_cut, root, sample)
    figures = [
        count("SQLite: cuts after which it did not open, or had other entries",
              len(tally.wrong), tally.cuts, exactly=0),
        count("SQLite: cuts after which the run went on to its end", tally.on, tally.on),
        count("SQLite: cuts after which the heads showed a loss, and the run was refused",
              tally.refused, tally.refused),
    ]  # fmt: skip
    return Part("Torn writes", TEXT, figures, [f"SQLite: {line}" for line in tally.wrong])


async def _cut(path: Path, sample: int) -> Cuts:
    agent, log = world.agent(path, pace=0.0, model=0.0), path / "runs.sqlite-wal"
    store: Any = Measured(open_store(path / "runs.sqlite"), log)
    await clew.run(agent, world.GOAL, store=store, run_id="run")
    kept = _files(path)
    await store.close()
    cuts, marks = Cuts(), store.marks
    first = next(size for seq, size in reversed(marks) if seq <= marks[-1][0] - LAST)
    ends = [size for _, size in marks]
    for number, cut in enumerate(range(first, ends[-1] + 1, sample)):
        _restore(path, kept, log, cut)
        entries = max((seq for seq, size in marks if size <= cut), default=0)
        try:
            await _opened(cuts, path, entries, agent, on=False)
            if number % ON == 0:
                lost = any(entries < seq for seq in store.barriers)
                await _gone_on(cuts, path, agent, lost=lost)
                _restore(path, kept, log, cut)
                _end_heads(path / "runs.sqlite.heads", entries)
                await _opened(cuts, path, entries, agent, on=True)
        except ClewError as error:
            cuts.wrong.append(f"cut at byte {cut} of {ends[-1]}: {error}")
        cuts.cuts += 1
        if number % 2_000 == 1_999:
            tell(f"torn: {number + 1} cuts")
    return cuts


def _files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _restore(folder: Path, kept: dict[Path, bytes], file: Path, cut: int) -> None:
    """Everything as it lay there, but for the one file that is cut."""
    for path in list(folder.rglob("*")):
        if path.is_file() and path not in kept:
            path.unlink()
    for path, data in kept.items():
        if not path.name.endswith("-shm"):  # what processes share: gone after a power cut
            path.write_bytes(data[:cut] if path == file else data)
        else:
            path.unlink(missing_ok=True)


def _end_heads(heads: Path, entries: int) -> None:
    """Leave of the heads what was there when the run had so many entries."""
    lines = heads.read_bytes().splitlines(keepends=True)
    heads.write_bytes(b"".join(line for line in lines if int(line.split(b" ")[1]) <= entries))


async def _opened(cuts: Cuts, path: Path, entries: int, agent: clew.Agent, *, on: bool) -> None:
    store = open_store(path / "runs.sqlite")
    try:
        had = len((await load(store, "run")).entries)
        if had != entries:
            cuts.wrong.append(f"{had} entries, and {entries} were whole")
        if on:
            done = await carry(KnownAgents({"agent": agent}), store, "run")
            cuts.on += 1
            if done.stop is None or done.stop.status != "answered":
                cuts.wrong.append(f"after {had} entries it went on to {done.stop}")
    finally:
        await store.close()


async def _gone_on(cuts: Cuts, path: Path, agent: clew.Agent, *, lost: bool) -> None:
    """Go on beside heads that are whole: refused where they show that an entry is lost."""
    store = open_store(path / "runs.sqlite")
    try:
        await carry(KnownAgents({"agent": agent}), store, "run")
        if lost:
            cuts.wrong.append("it went on although an entry of an effect is lost")
    except StoreDamagedError as error:
        cuts.refused += 1
        if not lost:
            cuts.wrong.append(f"it was refused, and nothing is lost: {error}")
    finally:
        await store.close()
