"""How well the request filter tells attacks from harmless requests.

python benchmarks/request_filter.py                 the half that tuning never saw
python benchmarks/request_filter.py --half fresh    wordings written after the rules
python benchmarks/request_filter.py --half tuning --misses
"""

import argparse
import hashlib
import json
from collections import Counter
from pathlib import Path

from clew.screens import find

DATA = Path(__file__).parent / "requests"


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


def table(
    title: str, field: str, attacks: list[dict[str, str]], missed: list[dict[str, str]]
) -> None:
    """How many attacks were found, by one of their fields."""
    of, lost = Counter(row[field] for row in attacks), Counter(row[field] for row in missed)
    found = ", ".join(f"{name} {of[name] - lost[name]}/{of[name]}" for name in sorted(of))
    print(f"{title}: {found}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--half", choices=["unseen", "later", "fresh", "tuning"], default="unseen")
    parser.add_argument("--misses", action="store_true", help="show what was taken wrongly")
    given = parser.parse_args()
    attacks, harmless = rows("attacks", given.half), rows("harmless", given.half)
    missed = [row for row in attacks if find(row["text"]) is None]
    alarms = [row for row in harmless if find(row["text"]) is not None]
    found = len(attacks) - len(missed)
    print(f"{given.half}: {len(attacks)} attacks, {len(harmless)} harmless requests")
    print(f"recall {found / len(attacks):.3f} ({found} of {len(attacks)})")
    print(f"precision {found / (found + len(alarms)):.3f} ({len(alarms)} false alarms)")
    table("found by kind", "kind", attacks, missed)
    table("by language", "language", attacks, missed)
    table("by disguise", "disguise", attacks, missed)
    if given.misses:
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
