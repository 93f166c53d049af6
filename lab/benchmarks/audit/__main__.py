"""`python -m benchmarks.audit`: the figures of the half that was held back, as a table.

With `--tuning` those of the other half, with `--last` those of the passages that were written when
all tuning was done, with `--misses` every answer that was judged wrongly.
"""

import argparse

from benchmarks.audit.corpus import FILE, LAST, read
from benchmarks.audit.measure import Figures, Half, measure


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.audit", description=__doc__)
    options.add_argument("--tuning", action="store_true", help="the half that may be looked at")
    options.add_argument("--last", action="store_true", help="passages written after the tuning")
    options.add_argument("--misses", action="store_true", help="name what was judged wrongly")
    args = options.parse_args()
    which: Half = "last" if args.last else "tuning" if args.tuning else "held back"
    figures = measure(read(LAST if args.last else FILE), which)
    print(table(figures))
    if args.misses:
        print(misses(figures))


def table(figures: Figures) -> str:
    """A Markdown table: what was changed, how often, and how often the audit objects."""
    kinds = sorted(figures.changed)
    swaps = sorted(kind for kind in figures.tried if kind.startswith("swap"))
    rows = ["| answers | number | the audit objects |", "|---|---|---|"]
    rows.append(_row(figures, "unchanged", "unchanged"))
    rows += [_row(figures, kind, kind) for kind in kinds]
    rows.append(_row(figures, "**all that leave the passage**", *kinds))
    rows += [_row(figures, kind, kind) for kind in swaps]
    return "\n".join(rows)


def _row(figures: Figures, label: str, *kinds: str) -> str:
    done = [tried for kind in kinds for tried in figures.tried[kind]]
    objects = sum(tried.objects for tried in done)
    return f"| {label} | {len(done)} | {objects} ({figures.share(*kinds):.1%}) |"


def misses(figures: Figures) -> str:
    """What was judged wrongly; swaps are left out."""
    lines: list[str] = []
    for kind in ("unchanged", *sorted(figures.changed)):
        for tried in figures.tried[kind]:
            if tried.objects == (kind == "unchanged"):
                lines.append(f"{kind}: {tried.answer}")
                lines += [f"    {problem}" for problem in tried.audit.problems]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
