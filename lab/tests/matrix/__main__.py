"""Try all cells: `python -m tests.matrix [--drawn N] [WORD …]`.

With words, those whose names have all of them; with --drawn, so many of them, drawn by their names.
"""

import collections
import sys

from tests.matrix.bench import bench
from tests.matrix.cells import Judged, cells, drawn, talks
from tests.matrix.known import stale, unknown
from tests.matrix.promises import USUAL

CUTS = 3
"""At how many writes a run with a setting is killed; without one, at each."""


def main(words: list[str]) -> int:
    """Try them, print what failed and what was refused, and count."""
    counts = collections.Counter[str]()
    tried = [*cells(), *talks()]
    if words[:1] == ["--drawn"]:
        tried, words = drawn(tried, int(words[1])), words[2:]
    with bench() as root:
        for cell in tried:
            if all(word in cell.name for word in words):
                judged = root.judge(cell, 1 << 30 if cell.promise.name == USUAL else CUTS)
                kind = known_as(judged)
                counts[kind] += 1
                if kind != "passed":
                    say("\n    ".join([f"{kind}: {cell.name}", *judged.words[:3]]))
    kinds = ("passed", "refused", "failed", "known")
    say(f"{counts.total()} cells: {', '.join(f'{counts[kind]} {kind}' for kind in kinds)}")
    return counts["failed"] > 0


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def known_as(judged: Judged) -> str:
    """What a cell counts as; a known fault that is gone is a failure too."""
    if stale(judged) or unknown(judged):
        return "failed"
    return "known" if judged.kind == "failed" else judged.kind


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
