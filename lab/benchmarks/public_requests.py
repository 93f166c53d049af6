"""How well the request filter tells attacks of public collections from harmless requests.

python -m benchmarks.public_requests           both halves, as counts
python -m benchmarks.public_requests --misses  what was taken wrongly, of the seen half alone
"""

import argparse
import sys
from collections import Counter

from benchmarks.public import HALVES, missing, rows
from clew.screens import find


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.public_requests")
    options.add_argument("--misses", action="store_true", help="of the seen half alone")
    arguments = options.parse_args()
    if why := missing("requests"):
        print(why, file=sys.stderr)
        return 2
    print("| half | attacks | found | harmless | false alarms | recall | precision |")
    print("|---|---|---|---|---|---|---|")
    for half in HALVES:
        number, flagged = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
        for row in rows("requests", half):
            matches = find(row["text"])
            for kind in ("all", row["kind"]):
                number[kind, row["attack"]] += 1
                flagged[kind, row["attack"]] += matches is not None
            if arguments.misses and half == "seen" and (matches is not None) != row["attack"]:
                print(f"{row['kind']}: {row['text']!r} {matches}", file=sys.stderr)
        for kind in sorted({kind for kind, _ in number}, key=lambda kind: (kind != "all", kind)):
            label = half if kind == "all" else f"{half}: {kind}"
            print(line(label, [number[kind, True], flagged[kind, True]],
                       [number[kind, False], flagged[kind, False]]))  # fmt: skip
    return 0


def line(label: str, attacks: list[int], harmless: list[int]) -> str:
    """A row of the table."""
    recall = f"{attacks[1] / attacks[0]:.3f}" if attacks[0] else "–"
    flagged = attacks[1] + harmless[1]
    precision = f"{attacks[1] / flagged:.3f}" if flagged and attacks[0] and harmless[0] else "–"
    cells = [label, *map(str, (*attacks, *harmless)), recall, precision]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
