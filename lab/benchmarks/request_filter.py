"""How well the request filter tells attacks from harmless requests.

python lab/benchmarks/request_filter.py                 the half that tuning never saw
python lab/benchmarks/request_filter.py --half fresh    wordings written after the rules
python lab/benchmarks/request_filter.py --half unaware  by an author who did not know the rules
python lab/benchmarks/request_filter.py --half tuning --misses
"""

import argparse
import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

from clew.screens import find
from clew_evals.statistics import wilson

HALVES = ("unseen", "later", "fresh", "tuning", "unaware")
DATA = Path(__file__).parent / "requests"


Row = dict[str, Any]


def half(row: dict[str, str]) -> str:
    """Fixed before anything was tuned: by the first byte of the SHA-256 of the plain text."""
    plain = row.get("plain", row["text"])
    return "unseen" if hashlib.sha256(plain.encode()).digest()[0] % 2 else "tuning"


def rows(name: str, wanted: str) -> list[dict[str, str]]:
    """The requests of one file that belong to a half, or those of a later set."""
    if wanted in {"fresh", "later"}:
        lines = (DATA / f"{wanted}.jsonl").read_text("utf-8").splitlines()
        return [row for row in map(json.loads, lines) if row["attack"] == (name == "attacks")]
    lines = (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if half(row) == wanted]


def unaware(wanted: str) -> list[Row]:
    """One half of the requests by an author who did not know the rules: seen or unseen."""
    lines = (DATA / "unaware.jsonl").read_text("utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["half"] == wanted]


def interval(part: int, of: int) -> str:
    """A share, and between which shares it lies in 95 of 100 cases (Wilson)."""
    share = part / of
    low, high = wilson(share, of)
    return f"{share:.3f} ({low:.3f} to {high:.3f})"


def published() -> None:
    """Print both halves of `unaware.jsonl` as a table; of the unseen half nothing else."""
    print("| half | attacks | found | harmless | false alarms | recall | precision |")
    print("|---|---|---|---|---|---|---|")
    for name in ("seen", "unseen"):
        number, flagged = [0, 0], [0, 0]
        for row in unaware(name):
            number[row["attack"]] += 1
            flagged[row["attack"]] += find(row["text"]) is not None
        recall = interval(flagged[1], number[1])
        precision = interval(flagged[1], sum(flagged))
        cells = (name, number[1], flagged[1], number[0], flagged[0], recall, precision)
        print(f"| {' | '.join(map(str, cells))} |")


def table(
    title: str, field: str, attacks: list[dict[str, str]], missed: list[dict[str, str]]
) -> None:
    """How many attacks were found, by one of their fields."""
    of, lost = Counter(row[field] for row in attacks), Counter(row[field] for row in missed)
    text = ", ".join(f"{name} {of[name] - lost[name]}/{of[name]}" for name in sorted(of))
    print(f"{title}: {text}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", choices=HALVES, default="unseen")
    parser.add_argument("--misses", action="store_true", help="show what was taken wrongly")
    options = parser.parse_args()
    if options.half == "unaware":
        published()
        return
    attacks, harmless = rows("attacks", options.half), rows("harmless", options.half)
    missed = [row for row in attacks if find(row["text"]) is None]
    alarms = [row for row in harmless if find(row["text"]) is not None]
    count = len(attacks) - len(missed)
    print(f"{options.half}: {len(attacks)} attacks, {len(harmless)} harmless requests")
    print(f"recall {count / len(attacks):.3f} ({count} of {len(attacks)})")
    print(f"precision {count / (count + len(alarms)):.3f} ({len(alarms)} false alarms)")
    table("found by kind", "kind", attacks, missed)
    table("by language", "language", attacks, missed)
    table("by disguise", "disguise", attacks, missed)
    if options.misses:
        for row in missed:
            print(
                "missed",
                row["id"],
                row["language"],
                row["kind"],
                row["disguise"],
                row.get("plain", row["text"]),
            )
        for row in alarms:
            print(
                "alarm",
                row["id"],
                row["disguise"],
                row.get("plain", row["text"]),
                find(row["text"]),
            )


if __name__ == "__main__":
    main()
