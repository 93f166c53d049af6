"""Kill storms: what is done twice, lost or unknown when workers are killed at random moments."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from durability import world
from durability.audit import Audit
from durability.storm import Storm, Told, Weather, blow, folder
from recordings.part import Figure, Part, count
from tests.cluster.temporal_server import temporal as temporal_server
from tests.postgres import postgres

RUNS = 200
KILLS = 30

TEXT = """\
{workers} worker processes execute {runs} runs of {steps} steps each. Again and again one of them is
killed with `kill -9` and replaced; a seeded generator chooses the worker and the moment. Every run
calls an `unsafe` tool, an `idempotent` one, an `unsafe` one with a probe and a `pure` one, some of
them two in a step. Each effect appends a line to a file outside the store. The model is a script in
the process. Afterwards every record is compared with that file, its chain of hashes is checked, and
it is replayed. {also}
"""


def figures(storm: Storm, weather: Weather) -> Iterator[Figure]:
    """What a storm left, as figures; what must not be is 0."""
    seen = weather.audit
    yield Figure(
        "workers killed, at least",
        f"{weather.kills:,}",
        f"{seen.runs:,} runs",
        f"≥ {storm.kills:,}",
        weather.kills >= storm.kills,
    )
    yield Figure(
        "times a run was taken up by another worker", f"{seen.epochs:,}", f"{seen.runs:,} runs"
    )
    yield count("runs that did not come to their end", len(seen.lost), seen.runs, exactly=0)
    yield count("runs that came to another end", len(seen.wrong), seen.runs, exactly=0)
    made = seen.calls
    yield count("unsafe calls that happened twice", _twice(seen, "send"), made["send"], exactly=0)
    yield count("probed calls that happened twice", _twice(seen, "post"), made["post"], exactly=0)
    yield count(
        "idempotent and probed calls that did not happen, or of which that is not known",
        len(seen.amiss),
        made["put"] + made["post"],
        exactly=0,
    )
    yield Figure(
        "idempotent calls sent again with their key, which the receiver knows",
        f"{seen.happened['put'] - made['put']:,}",
        f"{made['put']:,}",
    )
    yield Figure(
        "pure calls made again", f"{seen.happened['add'] - made['add']:,}", f"{made['add']:,}"
    )
    yield count("effects that the record does not tell, or tells otherwise", len(seen.silent),
                made.total(), exactly=0)  # fmt: skip
    yield Figure(
        "unsafe calls in doubt: the model was told that they may have happened",
        f"{len(seen.doubted):,}",
        f"{made['send']:,}",
    )
    yield count(
        "records that do not verify or do not replay", len(seen.broken), seen.runs, exactly=0
    )


def _twice(seen: Audit, tool: str) -> int:
    return sum(line.startswith(f"{tool} ") for line in seen.twice)


def misses(seen: Audit, news: Sequence[Told] = ()) -> list[str]:
    """What must not be, in a line each; then what is in doubt, and what workers say is amiss."""
    wrong = [*seen.lost, *seen.wrong, *seen.twice, *seen.amiss, *seen.silent, *seen.broken]
    counts = Counter(told.text for told in news if told.what in {"failed", "refused"})
    words = [f"workers said {times} times: {text}" for text, times in counts.most_common(10)]
    return [*wrong, *(f"in doubt: {line}" for line in seen.doubted), *words]


def part(title: str, storm: Storm, location: str, outside: Path, also: str = "") -> Part:
    """Let a storm blow, and tell of it."""
    weather = blow(storm, location, outside)
    text = textwrap.fill(
        TEXT.format(runs=storm.runs, steps=world.STEPS, workers=storm.workers, also=also), 100
    )
    took = Figure("seconds it took, with the starts of workers", f"{weather.seconds:.0f}", "")
    return Part(title, text, [*figures(storm, weather), took], misses(weather.audit, weather.news))


def sized(name: str, sample: int, *, runs: int = RUNS, kills: int = KILLS) -> Storm:
    """A storm, or the nth part of one."""
    return Storm(name, max(8, runs // sample), max(2, kills // sample))


def sqlite(sample: int) -> Part:
    """Two workers on one SQLite file, the clock of every second one an hour late."""
    storm = Storm(**{**vars(sized("sqlite", sample)), "clocks": (0.0, 3600.0)})
    with folder("sqlite") as outside:
        return part(
            "Killed workers, SQLite",
            storm,
            str(outside / "runs.sqlite"),
            outside,
            "The clock of every other worker is set back by an hour, within that process.",
        )


def on_postgres(sample: int) -> Part:
    """Two workers on one PostgreSQL."""
    storm = sized("postgres", sample)
    with folder("postgres") as outside, postgres(durable=True) as server:
        return part(
            "Killed workers, PostgreSQL",
            storm,
            server.database(),
            outside,
            "The server runs on this machine and waits for the disk at every commit.",
        )


def dbos(sample: int) -> Part:
    """Two workers of DBOS."""
    storm = Storm(**{**vars(sized("dbos", sample, kills=10)), "driver": "dbos"})
    with folder("dbos") as outside, postgres(durable=True) as server:
        return part(
            "Killed workers, DBOS",
            storm,
            server.database(),
            outside,
            "The workers are handed runs by DBOS, which keeps its tables beside the records.",
        )


def temporal(sample: int) -> Part:
    """Two workers of Temporal on one SQLite file; its server is killed too."""
    with folder("temporal") as outside, temporal_server() as server, server.named():
        wanted = {"driver": "temporal", "beside": server.restart}
        storm = Storm(**{**vars(sized("temporal", sample, kills=10)), **wanted})
        return part(
            "Killed workers and a killed server, Temporal",
            storm,
            str(outside / "runs.sqlite"),
            outside,
            "The workers are handed runs by a Temporal server, which is killed with `kill -9` and "
            "started again at every third kill.",
        )
