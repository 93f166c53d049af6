"""Measure the memory and write lab/reports/memory.md.

    LOCOMO=path/to/locomo10.json python -m benchmarks.memory recall [--embed minilm]
    python -m benchmarks.memory speed [--memories 100000]

`locomo10.json`, or a zip of its conversations, is of https://github.com/snap-research/locomo. With
`--embed minilm` (the extra `embeddings`) it is searched by meaning too, which takes five minutes of
a core. The speed takes as long: most of it to fill the file. `--print` writes nothing.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from benchmarks.memory.locomo import CATEGORIES, talks
from benchmarks.memory.recall import RecallScore, systems
from benchmarks.memory.speed import Speeds, speeds
from reporting import pages
from reporting.outcomes import keep, of_markdown

COLUMNS: Final = ("turns, share", "turns, any", "sessions, all", "sessions, any")
HALVES: Final[dict[str, Callable[[RecallScore], bool]]] = {
    "held apart": lambda one: not one.tuned,
    "held apart, more than 25 sessions": lambda one: not one.tuned and one.small,
    "looked at": lambda one: one.tuned,
    "all": lambda one: bool(one.talk),
}


def main() -> None:
    """Measure, then print the figures or write them."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.memory", description=__doc__)
    options.add_argument("part", choices=["recall", "speed"])
    options.add_argument("--embed", help="search by meaning too, with this embedding")
    options.add_argument("--memories", type=int, default=100_000, help="for the speed")
    options.add_argument("--print", action="store_true", help="print the figures, keep nothing")
    args = options.parse_args()
    if args.part == "speed":
        lines = speed_table(speeds(args.memories))
    elif root := os.environ.get("LOCOMO"):
        lines = recall_tables(systems(talks(Path(root)), args.embed))
    else:
        sys.exit("LOCOMO is not set: give the path of locomo10.json, or of a zip of its parts")
    text = "\n".join(lines)
    print(text)
    if not args.print:
        embed = f" --embed {args.embed}" if args.embed else ""
        command = f"python -m benchmarks.memory {args.part}{embed}"
        keep("memory", args.part, of_markdown(command, text))
        print(f"wrote {pages.write('memory')}")


def recall_tables(systems: dict[str, list[RecallScore]]) -> Iterator[str]:
    """Recall at 5 of each way to find, on both halves, then by kind of question."""
    yield from _head("conversations", "ranked by", "questions", *COLUMNS)
    for half, belongs in HALVES.items():
        for name, scores in systems.items():
            yield _row(half, name, [one for one in scores if belongs(one)])
    yield ""
    yield "By kind of question, in the conversations held apart:"
    yield ""
    yield from _head("kind", "ranked by", "questions", *COLUMNS)
    for category, kind in CATEGORIES.items():
        for name, scores in systems.items():
            chosen = [one for one in scores if not one.tuned and one.category == category]
            yield _row(kind, name, chosen)


def speed_table(measured: Speeds) -> Iterator[str]:
    """How long searches take."""
    memories = f"{measured.memories:,} memories"
    yield from _head(f"search among {memories}", "median", "95 of 100 stay under")
    for one in measured.searches:
        yield f"| {one.name} | {one.median:.1f} ms | {one.limit:.1f} ms |"
    yield ""
    yield (
        f"To forget one of them, and write the file of {measured.megabytes:.0f} MB anew, takes "
        f"{measured.forget:.1f} s."
    )


def _head(*columns: str) -> tuple[str, str]:
    return f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"


def _row(what: str, name: str, scores: Sequence[RecallScore]) -> str:
    def mean(values: Iterator[float]) -> str:
        return f"{sum(values) / len(scores):.3f}"

    cells = [
        mean(one.turns for one in scores),
        mean(float(one.any_turn) for one in scores),
        mean(float(one.sessions) for one in scores),
        mean(float(one.any_session) for one in scores),
    ]
    return f"| {what} | {name} | {len(scores)} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
