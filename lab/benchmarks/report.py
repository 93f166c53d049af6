"""`results.json` and, from it, `lab/reports/performance.md`."""

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
from reporting import pages

RESULTS: Final = Path(__file__).resolve().parent / "results.json"
PAGE: Final = Path(__file__).resolve().parents[1] / "reports" / "performance.md"
LIBRARIES: Final = (
    *("anyio", "httpx2", "msgspec", "uvicorn"),
    *("anthropic", "google-genai", "openai"),
)

INTRODUCTION: Final = (
    "What clew itself costs, as a ratio to something measured beside it in the same run. "
    "`make bench` measures it and writes this page. clew is measured without the guard that stands "
    'by default (`Provenance("off")`): no server here plans for it.'
)
READING: Final = (
    "Figures are medians over alternating repetitions, each client in a fresh process; minimum and "
    "maximum are in brackets. Other work on the machine moves single repetitions by half: compare "
    "medians, and do not compare milliseconds between machines."
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
        "the client's process, without making the client, the agent and the store, and without a "
        "first run of two steps. In the first rows the tool is a plain `def`, which clew calls in "
        "a thread: once declared as `read`, and once without a declared effect, so *unsafe*. The "
        "bare loop calls the same function directly, and blocks its event loop meanwhile; another "
        "one calls it with `asyncio.to_thread`. For the unsafe tool the bare loop also makes the "
        "two FULL commits of each call, before and after it, with bare SQLite. A call in a thread "
        "takes two changes of thread, the lock of the interpreter, and, if the function takes over "
        "0.1 ms, the wake-up of the event loop through its pipe; after a wait for the model all of "
        "it is cold. The rows below have tools that are called on the event loop. With an unsafe "
        "tool each step has two commits with `synchronous=FULL`. The time of bare SQLite for as "
        "many commits of the same sizes is measured in the same repetition and subtracted, in "
        "three ways. Alone, each two after a wait of 2 ms: as a run waits for its model, which "
        "takes longer. In the bare loop: it makes them too, before and after each call, and its "
        "time without them is subtracted. Alone, back to back: without a pause. The same commit "
        "takes two to three times as much CPU if the process waited before it, with or without "
        "clew, and a run always waits before it. So the first two ways give clew's own share; the "
        "third allows less for the commits than they take in any run."
    ),
    "b": (
        "Size of the file after a checkpoint, minus that of an empty store, divided by the steps "
        "and by the 1,000 bytes of the observation. It includes thought, arguments, usage, "
        "fingerprints and hashes."
    ),
    "c": "Fresh processes, `python -c 'import clew'` minus `python -c pass`.",
    "d": (
        "The model in the process takes 200 ms, so the ideal is 200 ms for each reply; the server "
        "takes 200 ms too. All runs share one SQLite file. The loop with `client.post` has as "
        "many connections. Memory is the peak of the process minus that before the runs began."
    ),
    "e": (
        "Wall time of a whole run: two thoughts, of a model over HTTP or of one in the process, "
        "and one step of calls. A sync call runs in a thread."
    ),
    "f": (
        "As the first table: over a bare httpx2 + json loop with the same format, work and limits. "
        "The models do not think, so that nothing is signed or encrypted. The comparison rows are "
        "the loop through the official client, over the bare one: with bytes both ways if the "
        "client allows it (OpenAI's and Anthropic's `post`), else as its documentation shows it "
        "(Google's, with typed contents). clew sends bytes through all of them; through Google's "
        "by way of the connections that it is given."
    ),
    "g": (
        "Two thoughts and one call of a plain `def` declared as `read`, against the local server,"
        " with a listener. The store, the client and the agent exist, and one run was made "
        "before. Before the first request clew creates the run's record (one transaction for its "
        "head and one for its first line), checks its inbox and writes the prompt. That takes "
        "more than twice as long after a wait for a model, with cold processor caches. The "
        "comparison rows show what the official client adds. The run's end is a FULL commit. "
        "Medians of 60 runs in each process; the loops count to their first event."
    ),
}

REASONS: Final = {
    "Gemini": (
        "The client does not accept bytes. Even with its own body and an empty reply, it makes "
        "typed parameters and a typed response, and goes through its machinery for retries: about "
        "a third more than the bare loop before clew does anything. Writing requests and reading "
        "replies is a fiftieth of a step; the rest is the run's record, as with Chat Completions."
    ),
    "OpenAI Responses": (
        "The comparison row shows the share of the official client. Writing requests and "
        "reading replies is a fiftieth of a step; the rest is the run's record, as with Chat "
        "Completions."
    ),
    "Anthropic": (
        "The comparison row shows the share of the official client. Writing requests, with "
        "their marks for the cache, and reading replies is a fiftieth of a step; the rest is the "
        "run's record, as with Chat Completions."
    ),
    "steps, `def` that reads": (
        "The comparison row shows the share of the official client; the rest is the run's "
        "record, two commits a step and three a run, and the change to a thread and back."
    ),
    "steps, `def`, unsafe": (
        "The comparison row shows the share of the official client. The rest is the run's "
        "record: its commits beside the two FULL ones write more tables than those of the bare "
        "loop do."
    ),
    "steps, on the event loop, plain": (
        "The comparison row shows the share of the official client; the rest is the run's "
        "record: two commits a step and three a run. In a process that was idle while it waited "
        "for the model they take two to three times as long as without a pause."
    ),
    "steps, on the event loop, unsafe": (
        "As with a read tool, and one more event per step (the attempt). The row measured back to "
        "back allows less for the commits than they take in any run, with or without clew."
    ),
    "steps, on the event loop, streamed": (
        "Every event of a stream is decoded and shown as it comes."
    ),
    "import": "Half is clew's own modules, the rest anyio, msgspec and the schema validator.",
    "model in the process: wall": (
        "The runs wait for their models at the same time and then work at the same time, so the "
        "wall time is the ideal plus half or more of the CPU time, which other work on the machine "
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


def completed(results: dict[str, Any]) -> dict[str, Any]:
    """The results with those of before for what was not measured now, and a note that says so."""
    before: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    now = {row["part"] for row in results["rows"]}
    older = [row for row in before["rows"] if row["part"] not in now]
    if not older:
        return results
    text = "; ".join(TITLES[part] for part in sorted({row["part"] for row in older}))
    note = f"from {before['date']}, {before['machine']['processor']}: {text}"
    rows = sorted([*results["rows"], *older], key=lambda row: row["part"])
    return results | {"rows": rows, "notes": [*before.get("notes", ()), note]}


def save(results: dict[str, Any]) -> None:
    """Write `results.json`."""
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def text() -> str:
    """The report as `results.json` makes it."""
    results: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
    return page(results, [Row(**row) for row in results["rows"]])


def write() -> None:
    """Write `lab/reports/performance.md` from `results.json`."""
    pages.write("performance", text())


def page(results: dict[str, Any], rows: Sequence[Row]) -> str:
    """The page."""
    lines = [
        "# Performance",
        "",
        INTRODUCTION,
        "",
        *(f"- {name}: {value}" for name, value in results["machine"].items()),
        f"- {results['date']}, {results['seconds']} s, load average {results['load']} at the end",
        *(f"- {note}" for note in results.get("notes", ())),
        "",
        READING,
        "",
        "![CPU per step, over a bare loop, by the length of the run](images/cpu.svg)",
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
            f"| {row.name} | {target(row)} | {with_unit(row, row.median)} "
            f"({with_unit(row, row.low)} to {with_unit(row, row.high)}) | {verdict(row)} | "
            f"{row.beside} |"
            for row in rows
        ),
    ]


def with_unit(row: Row, value: float) -> str:
    """A figure with its unit."""
    return f"{value:.2f}{row.unit}" if row.unit == "×" else f"{value:.3f} {row.unit}"


def target(row: Row) -> str:
    """The most a row may have."""
    return (
        "" if row.target is None else f"≤ {row.target:g}{'' if row.unit == '×' else ' '}{row.unit}"
    )


def verdict(row: Row) -> str:
    """Whether it is so."""
    if row.target is None:
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
        figure = f"{with_unit(row, row.median)} instead of {target(row)[2:]}"
        lines.append(f"- ({row.part}) {row.name}: {figure}. {reason}".rstrip())
    return lines
