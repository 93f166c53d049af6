"""`results.json` and, from it, `docs/performance.md`."""

import json
import os
import platform
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import Row

RESULTS: Final = Path(__file__).resolve().parent / "results.json"
PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
LIBRARIES: Final = (
    *("anyio", "httpx2", "msgspec", "uvicorn"),
    *("anthropic", "google-genai", "openai"),
)

INTRODUCTION: Final = (
    "What the runtime itself costs, always as a ratio to something measured beside it in the same "
    "run. `make bench` measures it and writes this page."
)
READING: Final = (
    "Figures are medians over alternating repetitions, each client in a fresh process; in brackets "
    "the least and the most. A machine with other work on it moves single repetitions by half: "
    "compare medians, and do not compare milliseconds between machines."
)

TITLES: Final = {
    "a": "CPU per step, over a bare httpx2 + json loop",
    "b": "Bytes on the disk per step, over the observation's",
    "c": "`import clew`, beyond starting Python",
    "d": "Many runs at once in one process",
    "e": "Parallel calls, over the longest",
    "f": "CPU per step through the other official clients",
    "g": "A run of one step, streamed",
}

METHOD: Final = {
    "a": (
        "Sequential runs with observations of 2 kB against a local server of Chat Completions. "
        "The bare loop keeps nothing; clew records every step in an SQLite file. CPU is that of "
        "the client's process; making the client, the agent and the store is not counted, nor is a "
        "first run of two steps. The first rows have the tool as README has it: a plain `def`, "
        "which clew calls in a thread, once as one that reads, and once with the effect that "
        "stands where none is named, *unsafe*. The bare loop calls the same function directly, "
        "and holds its event loop meanwhile; beside it stands one that calls it with "
        "`asyncio.to_thread`. For the unsafe one it makes the two FULL commits of each call too, "
        "before and after it, with bare SQLite. A call in a thread takes two changes of thread, "
        "the lock of the interpreter, and where the function is not done in 0.1 ms the wake-up of "
        "the event loop through its pipe; after a wait for the model all of it is cold. "
        "The rows below have tools that are called on the event loop. With an unsafe tool "
        "each step has two commits with `synchronous=FULL`; what bare SQLite takes for as many, of "
        "the same sizes, is measured in the same repetition and subtracted, in three ways. Alone, "
        "each two after a wait of 2 ms: as a run waits for its model, which takes longer. In the "
        "bare loop: it makes them too, before and after each call, and what it takes without them "
        "is taken off. Alone, back to back: one after the other without a pause. The same commit "
        "takes two to three times as much CPU where the process waited before it, with clew or "
        "without, and a run always waits before it: the first two ways say what is clew's own, the "
        "third gives the commits less than they take in any run."
    ),
    "b": (
        "Size of the file after a checkpoint, less that of an empty store, by steps and by the "
        "1,000 bytes of the observation. Thought, arguments, usage, fingerprints and hashes are "
        "in it too."
    ),
    "c": "Fresh processes, `python -c 'import clew'` less `python -c pass`.",
    "d": (
        "The model in the process takes 200 ms, so the ideal is 200 ms for each reply; the server "
        "takes 200 ms too. All runs share one SQLite file. The loop with `client.post` has as "
        "many connections. Memory is the peak of the process over that before the runs began."
    ),
    "e": (
        "Wall time of a whole run: two thoughts, of a model over HTTP or of one in the process, "
        "and one step of calls. A sync call runs in a thread."
    ),
    "f": (
        "As the first table: over a bare httpx2 + json loop that speaks the same format, with the "
        "same work and limits. The models do not think, so that nothing is signed or encrypted. "
        "The comparison rows are the loop through the official client, over the bare one: with "
        "bytes both ways where the client has a door for them (OpenAI's and Anthropic's `post`), "
        "else as its documentation shows it (Google's, with typed contents). clew sends bytes "
        "through all of them; through Google's by way of the connections that it is given."
    ),
    "g": (
        "Two thoughts and one call of a plain `def` that reads, against the local server, with a "
        "listener. The store, the client and the agent are there, and a run was made before. "
        "Before the first request clew makes the run's record: one transaction for its head and "
        "one for its first line; then it looks into its inbox and writes the prompt. That takes "
        "0.15 ms where runs follow each other without a pause, and 0.4 ms after a wait for a "
        "model, when nothing of it is in the processor's caches. The comparison rows say what the "
        "official client adds. The run's end is a FULL commit. Medians of 60 runs in each process; "
        "the loops count to their first event."
    ),
}

REASONS: Final = {
    "Gemini": (
        "The client has no door for bytes. Given a body of its own and an empty reply, it still "
        "makes typed parameters of the one and a typed response of the other, and goes through "
        "its machinery for retries: that is about a third more than the bare loop before clew "
        "does anything. Writing requests and reading replies is a fiftieth of a step; the rest is "
        "the run's record, as with Chat Completions."
    ),
    "OpenAI Responses": (
        "The official client alone takes what the comparison row says. Writing requests and "
        "reading replies is a fiftieth of a step; the rest is the run's record, as with Chat "
        "Completions."
    ),
    "Anthropic": (
        "The official client alone takes what the comparison row says. Writing requests, with "
        "their marks for the cache, and reading replies is a fiftieth of a step; the rest is the "
        "run's record, as with Chat Completions."
    ),
    "steps, `def` that reads": (
        "The official client alone takes what the comparison row says; the rest is the run's "
        "record, two commits a step and three a run, and the change to a thread and back."
    ),
    "steps, `def`, unsafe": (
        "The official client alone takes what the comparison row says. The rest is the run's "
        "record: its commits beside the two FULL ones write more tables than those of the bare "
        "loop do."
    ),
    "steps, on the event loop, plain": (
        "The official client alone takes what the comparison row says; the rest is the run's "
        "record: two commits a step and three a run. In a "
        "process that was idle while it waited for the model this takes two to three times what "
        "it takes when it is done without a pause."
    ),
    "steps, on the event loop, unsafe": (
        "As with a read tool, and one more event a step (the attempt). Back to back, the commits "
        "are given less than they take in any run, with clew or without."
    ),
    "steps, on the event loop, streamed": (
        "Every event of a stream is decoded and shown as it comes."
    ),
    "import": "Half is clew's own modules, the rest anyio, msgspec and the schema validator.",
    "model in the process: wall": (
        "The runs wait for their models at the same time and then work at the same time, so that "
        "the wall time is the ideal and half or more of the CPU, which other work on the machine "
        "stretches."
    ),
    "calls of 250 ms": "Starting threads, and commits, on a machine with other work on it.",
}
"""Why a target is missed, by words of a row's name, the first that fit; shown only where it is."""


def machine() -> dict[str, str]:
    """What it was measured on."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores",
        "system": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "sqlite": sqlite3.sqlite_version,
        "libraries": ", ".join(f"{name} {version(name)}" for name in LIBRARIES),
    }


def results(rows: Sequence[Row], seconds: float) -> dict[str, Any]:
    """What `results.json` holds."""
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "seconds": round(seconds),
        "load": round(os.getloadavg()[0], 1),
        "machine": machine(),
        "rows": [
            {k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(row).items()}
            for row in rows
        ],
    }


def completed(found: dict[str, Any]) -> dict[str, Any]:
    """The results with those of before for what was not measured now, and a note that says so."""
    before: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    now = {row["part"] for row in found["rows"]}
    older = [row for row in before["rows"] if row["part"] not in now]
    if not older:
        return found
    said = "; ".join(TITLES[part] for part in sorted({row["part"] for row in older}))
    note = f"from {before['date']}, {before['machine']['processor']}: {said}"
    rows = sorted([*found["rows"], *older], key=lambda row: row["part"])
    return found | {"rows": rows, "notes": [*before.get("notes", ()), note]}


def save(found: dict[str, Any]) -> None:
    """Write `results.json`."""
    RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def write() -> None:
    """Write `docs/performance.md` from `results.json`."""
    found: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(page(found, [Row(**row) for row in found["rows"]]), encoding="utf-8")


def page(found: dict[str, Any], rows: Sequence[Row]) -> str:
    """The page."""
    lines = [
        "# Performance",
        "",
        INTRODUCTION,
        "",
        *(f"- {name}: {value}" for name, value in found["machine"].items()),
        f"- {found['date']}, {found['seconds']} s, load average {found['load']} at the end",
        *(f"- {note}" for note in found.get("notes", ())),
        "",
        READING,
    ]
    for part, title in TITLES.items():
        chosen = [row for row in rows if row.part == part]
        if chosen:
            lines += ["", f"## {title}", "", METHOD[part], "", *table(chosen)]
    return "\n".join([*lines, *missed(rows)]) + "\n"


def table(rows: Sequence[Row]) -> list[str]:
    """Rows as a table."""
    return [
        "| measured | target | median (least to most) | | beside |",
        "|---|---|---|---|---|",
        *(
            f"| {row.name} | {target(row)} | {shown(row, row.median)} "
            f"({shown(row, row.low)} to {shown(row, row.high)}) | {verdict(row)} | {row.beside} |"
            for row in rows
        ),
    ]


def shown(row: Row, value: float) -> str:
    """A figure with its unit."""
    return f"{value:.2f}{row.unit}" if row.unit == "×" else f"{value:.3f} {row.unit}"


def target(row: Row) -> str:
    """The most a row may have."""
    return "" if row.most is None else f"≤ {row.most:g}{'' if row.unit == '×' else ' '}{row.unit}"


def verdict(row: Row) -> str:
    """Whether it is so."""
    if row.most is None:
        return ""
    return "met" if row.met else "**missed**"


def missed(rows: Sequence[Row]) -> list[str]:
    """What is over its target, said plainly."""
    over = [row for row in rows if not row.met]
    if not over:
        return ["", "## What is missed", "", "Nothing: all medians are within their targets."]
    lines = ["", "## What is missed", ""]
    for row in over:
        reason = next((why for words, why in REASONS.items() if words in row.name), "")
        figure = f"{shown(row, row.median)} instead of {target(row)[2:]}"
        lines.append(f"- ({row.part}) {row.name}: {figure}. {reason}".rstrip())
    return lines
