"""How well the audit tells right answers from wrong ones, on texts by somebody who never saw it.

python -m benchmarks.claims            both halves, as counts with 95 % intervals
python -m benchmarks.claims --misses   what was judged wrongly, of the seen half alone
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, Final, TypeAlias

from benchmarks.one_passage import record
from clew.evidence import Audit, audit
from clew_evals.statistics import wilson

FOLDER: Final = Path(__file__).parent
Row: TypeAlias = dict[str, Any]


def rows(half: str) -> list[Row]:
    """The answers of one half, with their questions and passages."""
    lines = (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def audited(row: Row) -> Audit:
    """The answer as the audit judges it."""
    return audit(row["answer"], record(row["question"], row["passage"]))


def share_text(hits: int, of: int) -> str:
    """A count with its share and interval, as the page has it."""
    low, high = wilson(hits / of, of)
    return f"{hits} ({hits / of:.3f}; {low:.3f} to {high:.3f})"


def table(half: str, *, misses: bool) -> str:
    """The row of one half."""
    number, objected = {True: 0, False: 0}, {True: 0, False: 0}
    for row in rows(half):
        audited_row, supported = audited(row), row["kind"] == "supported"
        number[supported] += 1
        objected[supported] += not audited_row.ok
        if misses and half == "seen" and audited_row.ok != supported:
            print(f"{row['id']} {row['kind']}: {row['answer']}\n  {row['passage']}\n"
                  f"  {audited_row.problems}", file=sys.stderr)  # fmt: skip
    return (
        f"| {half} | {number[True]} | {share_text(objected[True], number[True])} "
        f"| {number[False]} | {share_text(objected[False], number[False])} |"
    )


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.claims")
    options.add_argument("--misses", action="store_true", help="of the seen half alone")
    options.add_argument("--half", choices=("seen", "unseen"), help="one of them alone")
    arguments = options.parse_args()
    print("| half | supported | objected to | unsupported | caught |")
    print("|---|---|---|---|---|")
    for half in ("seen", "unseen") if arguments.half is None else (arguments.half,):
        print(table(half, misses=arguments.misses))
    return 0


if __name__ == "__main__":
    sys.exit(main())
