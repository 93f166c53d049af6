"""How well the audit tells claims that a passage bears out from claims that it does not.

python -m benchmarks.public_claims            both halves, as counts, by kind
python -m benchmarks.public_claims --draw     the curve, into lab/reports/images/audit-curve.png
python -m benchmarks.public_claims --misses   what was judged wrongly, of the seen half alone
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

from benchmarks.claim_judge import KEPT
from benchmarks.one_passage import record
from benchmarks.public import HALVES, Half, Row, missing, rows
from clew.evidence import Audit, audit
from clew.evidence.contradiction import overlap

PICTURE: Final = Path(__file__).parents[1] / "reports" / "images" / "audit-curve.png"
STEPS: Final = tuple(step / 20 for step in range(21))
Curve: TypeAlias = list[tuple[float, float, float]]
"""A setting, the share of supported claims objected to, and of unsupported ones caught."""


def audited(row: Row) -> Audit:
    """The claim as an answer that cites its passage, in the record of a run that found it."""
    claim = row["claim"].rstrip().removesuffix(".")
    return audit(f"{claim} [doc_1].", record("Is it so?", row["evidence"]))


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.public_claims")
    options.add_argument("--draw", action="store_true", help=f"the curve, into {PICTURE.name}")
    options.add_argument("--misses", action="store_true", help="of the seen half alone")
    arguments = options.parse_args()
    if why := missing("claims"):
        print(why, file=sys.stderr)
        return 2
    print("| half | supported | objected to | unsupported | caught |")
    print("|---|---|---|---|---|")
    for half in HALVES:
        print("\n".join(table(half, misses=arguments.misses)))
    unseen = rows("claims", "unseen")
    rows_audited = [audited(row) for row in unseen]
    shares = [overlap(row["claim"], [row["evidence"]]) for row in unseen]
    curves = {"the audit, by `least`": by_score(unseen, shares, [each.ok for each in rows_audited])}
    lax = [without_names(each) for each in rows_audited]
    curves["the same, names not looked up"] = by_score(unseen, shares, lax)
    for name, curve in curves.items():
        print(f"\n{name}:")
        print(
            "\n".join(f"  {step:.2f}: {wrong:.3f}, {caught:.3f}" for step, wrong, caught in curve)
        )
        print(f"  caught at 0.10 objections: {at_tenth(curve):.3f}")
    if arguments.draw:
        draw(curves)
    return 0


def table(half: Half, *, misses: bool) -> list[str]:
    """The rows of one half: all of it, and each kind."""
    number, objected = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    subject = 0
    for row in rows("claims", half):
        audited_row, supported = audited(row), row["label"] == "supported"
        for kind in ("", row["kind"]):
            number[kind, supported] += 1
            objected[kind, supported] += not audited_row.ok
        subject += supported and not audited_row.ok and only_subject(audited_row)
        if misses and half == "seen" and audited_row.ok != supported:
            print(f"{row['kind']}: {row['claim']} | {audited_row.problems}", file=sys.stderr)
    lines = [
        f"| {half}{': ' if kind else ''}{kind} | {number[kind, True]} | {objected[kind, True]} "
        f"({objected[kind, True] / number[kind, True]:.3f}) | {number[kind, False]} | "
        f"{objected[kind, False]} ({objected[kind, False] / number[kind, False]:.3f}) |"
        for kind in sorted({kind for kind, _ in number})
    ]
    return [*lines, f"| {half}: objected to for a missing subject alone | | {subject} | | |"]


def only_subject(audit: Audit) -> bool:
    """Whether all that is missing is the name a claim begins with: a title would have it."""
    missed = [fact for claim in audit.claims for fact in claim.missing]
    return len(missed) == 1 and missed[0].kind == "name" and missed[0].start < 6


def without_names(audit: Audit) -> bool:
    """Whether nothing speaks against the claims but names that stand nowhere."""
    missed = [fact for claim in audit.claims for fact in claim.missing]
    return not any(claim.why for claim in audit.claims) and {fact.kind for fact in missed} <= {
        "name"
    }


def by_score(known: Sequence[Row], scores: Sequence[float], first: Sequence[bool]) -> Curve:
    """What passes, and is at least so near to its passage."""
    return [
        point(step, known, [ok and score >= step for ok, score in zip(first, scores, strict=True)])
        for step in STEPS
    ]


def point(step: float, known: Sequence[Row], ok: Sequence[bool]) -> tuple[float, float, float]:
    """A setting with its two shares."""
    sides = {True: [0, 0], False: [0, 0]}
    for row, passes in zip(known, ok, strict=True):
        side = sides[row["label"] == "supported"]
        side[0] += not passes
        side[1] += 1
    return step, sides[True][0] / sides[True][1], sides[False][0] / sides[False][1]


def at_tenth(curve: Curve) -> float:
    """What is caught where a tenth of the supported claims is objected to, between the points."""
    known = [(0.0, 0.0), *sorted((wrong, caught) for _, wrong, caught in curve), (1.0, 1.0)]
    for (a, low), (b, high) in pairwise(known):
        if a <= 0.1 <= b:
            return low + (high - low) * ((0.1 - a) / (b - a) if b > a else 1)
    return 0.0


def draw(curves: dict[str, Curve]) -> None:
    """The picture of the page."""
    import matplotlib as mpl  # noqa: PLC0415 - the extra `eval`, for the picture alone

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - once the backend is chosen

    figure, axes = plt.subplots(figsize=(6, 4.5), dpi=120)
    for name, curve in curves.items():
        axes.plot(
            [wrong for _, wrong, _ in curve], [caught for *_, caught in curve], ".-", label=name
        )
    axes.plot([0, 1], [0, 1], ":", color="grey", label="chance")
    judge = json.loads(KEPT.read_text(encoding="utf-8"))
    axes.plot([judge["objected"]], [judge["caught"]], "s", color="grey", label=judge["model"])
    axes.plot([0.10], [0.85], "*", color="black", label="the aim")
    axes.set(xlabel="supported claims objected to", ylabel="unsupported claims caught",
             xlim=(0, 1), ylim=(0, 1))  # fmt: skip
    axes.legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, metadata={"Software": None})


if __name__ == "__main__":
    sys.exit(main())
