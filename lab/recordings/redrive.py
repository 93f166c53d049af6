"""Recorded runs driven anew: the recorded replies and observations through clew's own loop."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import anyio

import clew
from recordings.data import records
from recordings.part import Figure, Judging, Part, count
from recordings.redrive_runs import Redriven, redrive
from recordings.redrive_sources import CHARACTERS, PROMPT_TOKENS, SOURCES, Source

ON_DISK: Final = 20
"""Every so-manieth run is made once more with its record in an SQLite file."""

TEXT: Final = f"""\
Every recorded run goes through `clew.run`: a scripted model gives the recorded replies, the tools
give the recorded observations, and only the original's own limits apply. Answers are compared after
HotpotQA's normalisation (lower case, no punctuation, no articles), calls by name and argument
(literally, but for case and outer blanks), observations literally. Equal observations show that
clew does not change them, not that they are right. Successes are counted from clew's own answer and
the gold; in WebShop, where only the shop can tell, its recorded verdict counts if it was asked for
the same, call by call.

- **FEVER**: 7 steps, then an empty answer. Where the original asked again within a step because it
  could not read a reply, clew tells the model: the second reply is a separate step.
- **WebShop**: 14 replies (the first of 15 actions is the reset). A bound ends a run once the shop
  accepted `click[Buy Now]`. `think[...]` is a tool that answers `OK.`.
- **FireAct**: 11 steps; only runs that finished were recorded.
- **Reflexion**: 6 steps, two replies each, joined behind their labels. It also stopped at a prompt
  of {PROMPT_TOKENS:,} tokens; a bound stands for that, at {CHARACTERS} characters a token.

A difference has a known reason if the two calls, or the plain words of the reply, show what the
recording took otherwise. Without one it counts as unexplained, and the part fails.
"""


def measure(sample: int) -> Part:
    """All four benchmarks, every nth run."""
    return anyio.run(measured, sample)


async def measured(sample: int) -> Part:
    """The same, on the event loop that is there."""
    figures: list[Figure] = []
    judging = Judging()
    runs: list[Redriven] = []
    kept: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        for source in SOURCES:
            memory, disk = clew.MemoryStore(), clew.SqliteStore(Path(folder) / source.kind)
            listed = list[Redriven]()
            for number, one in enumerate(records(source.kind, sample=sample)):
                with judging.one(one.get("id")):
                    listed.append(await redrive(source, one, memory, f"run-{number}"))
            again = [
                await redrive(source, one.record, disk, one.run_id) for one in listed[::ON_DISK]
            ]
            await disk.close()
            kept += [one == other for one, other in zip(listed[::ON_DISK], again, strict=True)]
            figures += _figures(source, listed)
            runs += listed
    diverged = [one.replay for one in runs if one.replay]
    otherwise = [str(one) for one in runs if not one.same]
    figures += _of_all(runs, len(runs) - len(diverged), kept)
    figures += judging.figures()
    return Part(
        "Recorded runs driven anew", TEXT, figures, [*judging.misses, *diverged, *otherwise],
        finding="recorded runs end in clew as they ended then, and replay",
        lead=[figure.what for figure in figures if figure.what.startswith("all")],
    )  # fmt: skip


def _figures(source: Source, runs: Sequence[Redriven]) -> Iterator[Figure]:
    """The rows of one benchmark; none where nothing of it is there."""
    if not runs:
        return
    plain = [one for one in runs if not one.odd]
    ended = sum(not one.otherwise for one in plain)
    kept = [one for one in runs if one.succeeded]
    then = sum(not one.plainly_otherwise for one in kept)
    again = sum(one.success and not one.plainly_otherwise for one in kept)
    name = source.name
    yield count(
        f"{name}, nothing odd: same answer, number of steps and end",
        ended,
        len(plain),
        exactly=len(plain),
    )
    yield count(f"{name}: every call and observation too", sum(r.same for r in runs), len(runs))
    yield count(f"{name}: successes as recorded, found anew", again, len(runs), exactly=then)
    yield count(
        f"{name}: recorded failures that are none here",
        sum(one.success for one in runs if not one.succeeded),
        len(runs) - len(kept),
    )


def _of_all(runs: Sequence[Redriven], replayed: int, kept: Sequence[bool]) -> Iterator[Figure]:
    """The rows of all benchmarks together."""
    odd = [one for one in runs if not one.same]
    unknown = sum(not one.explained for one in odd)
    turns = sum(len(one.record["turns"]) for one in runs)
    yield count("all: not as recorded, for a known reason", len(odd) - unknown, len(runs))
    yield count("all: not as recorded, and nobody knows why", unknown, len(runs), exactly=0)
    yield count(
        f"all ({turns:,} steps): replayed without a divergence",
        replayed,
        len(runs),
        exactly=len(runs),
    )
    yield count(
        f"one in {ON_DISK}: the same record, and replay, from an SQLite file",
        sum(kept),
        len(kept),
        exactly=len(kept),
    )
