"""A damaged database: what is told of it, and what can be brought out of it."""

import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import clew
from clew.retention import export_runs, import_runs, verify
from clew.support.errors import ClewError
from durability import world
from durability.progress import tell
from durability.storm import asyncio_run, folder, ids
from recordings.part import Figure, Part, count

RUNS: Final = 24
PAGE: Final = 4096
FLIPS: Final = 400

TEXT: Final = """\
An SQLite file contains {runs} runs. First each page in turn is overwritten with random bytes, then
single bytes at random places are changed, each time on a fresh copy. Every run must be read as it
was written, or be reported as lost or changed (`clew records verify`). What is left is exported and
imported into a new store, where it must be the same. A changed byte may be in unused space; then
nothing has changed.
"""


@dataclass
class DamageTally:
    """What came of damaging copies of one file."""

    copies: int = 0
    unopened: int = 0
    unharmed: int = 0
    kept: list[int] = field(default_factory=list[int])
    silent: list[str] = field(default_factory=list[str])
    amiss: list[str] = field(default_factory=list[str])


def damaged(sample: int) -> Part:
    """Every nth page and byte."""
    with folder("damaged", memory=True) as root:
        pages, flips = asyncio_run(_damaged, root, sample)
    figures = list[Figure]()
    for what, tally in (("a page is lost", pages), ("a byte is changed", flips)):
        kept = Counter(tally.kept)
        figures += [
            count(f"{what}: runs that read otherwise, and nobody says so", len(tally.silent),
                  tally.copies * RUNS, exactly=0),
            count(f"{what}: exports that cannot be made, or that bring other runs",
                  len(tally.amiss), tally.copies, exactly=0),
            count(f"{what}: nothing was harmed", tally.unharmed, tally.copies),
            count(f"{what}: the file does not open, which is told", tally.unopened, tally.copies),
            Figure(f"{what}: of {RUNS} runs come whole out of it",
                   f"{min(kept, default=0)} at least, {_middle(tally.kept)} mostly",
                   f"{tally.copies:,}"),
        ]  # fmt: skip
    misses = [*pages.silent, *pages.amiss, *flips.silent, *flips.amiss]
    return Part("A damaged database", TEXT.format(runs=RUNS), figures, misses)


def _middle(kept: list[int]) -> int:
    return sorted(kept)[len(kept) // 2] if kept else 0


async def _damaged(path: Path, sample: int) -> tuple[DamageTally, DamageTally]:
    agent, file = world.agent(path, pace=0.0, model=0.0), path / "runs.sqlite"
    for run_id in ids(RUNS):
        await clew.run(agent, world.GOAL, store=file, run_id=run_id)
    checked, _ = await verify(store=file)
    hashes = {one.run_id: one.hash for one in checked}
    original, chance = file.read_bytes(), random.Random(4)
    pages, flips = DamageTally(), DamageTally()
    numbers = range(0, len(original) // PAGE, sample)
    for number in numbers:
        start = number * PAGE
        data = original[:start] + chance.randbytes(PAGE) + original[start + PAGE :]
        await _look(pages, path, f"page {number + 1}", data, hashes)
        if number % 50 == 0:
            tell(f"damaged: {number} of {len(numbers)} pages")
    for _ in range(max(1, FLIPS // sample)):
        at = chance.randrange(len(original))
        other = original[at] ^ (1 << chance.randrange(8))
        data = original[:at] + bytes([other]) + original[at + 1 :]
        await _look(flips, path, f"byte {at}", data, hashes)
    return pages, flips


async def _look(
    tally: DamageTally, path: Path, what: str, data: bytes, hashes: dict[str, str]
) -> None:
    """Verify a damaged copy; export what is left of it, and import that elsewhere."""
    for name in ("copy.sqlite", "archive", "new.sqlite"):
        for suffix in ("", "-wal", "-shm", ".heads"):
            (path / f"{name}{suffix}").unlink(missing_ok=True)
    copy, archive, new = (path / name for name in ("copy.sqlite", "archive", "new.sqlite"))
    copy.write_bytes(data)
    tally.copies += 1
    try:
        checked, lost = await verify(store=copy)
    except ClewError:
        tally.unopened += 1
        return
    good = {one.run_id: one.hash for one in checked if one.ok}
    tally.silent += [f"{what}: {run_id}" for run_id in good if good[run_id] != hashes.get(run_id)]
    gone = sorted(hashes.keys() - {one.run_id for one in checked})
    tally.silent += [f"{what}: {run_id} is gone" for run_id in gone if not lost]
    tally.unharmed += good == hashes
    tally.kept.append(len(good))
    try:
        await export_runs(archive, store=copy)
        brought = await import_runs(archive, store=new)
        arrived, _ = await verify(store=new)
    except ClewError as error:
        tally.amiss.append(f"{what}: {error}")
        return
    same = {one.run_id: one.hash for one in arrived if one.ok}
    if not same.items() <= good.items() or len(same) < len(good):
        tally.amiss.append(f"{what}: {len(good)} runs were whole, {len(same)} came, {brought}")
