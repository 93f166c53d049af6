"""`python -m recordings`: hold clew against recordings of real models, and write the report."""

import argparse
import sys
import time
from collections.abc import Mapping
from typing import Final

from recordings import (
    codec_speed,
    everyday,
    loops,
    material,
    native_runs,
    redrive,
    report,
    retrieval,
    schemas,
    stateful,
    text_codecs,
    trials,
    wire,
)
from recordings.coverage import COMPARING, coverage, told
from recordings.data import ROOT, missing, records
from recordings.forms import RUNS
from recordings.part import Measure, Part, broken
from recordings.redrive_sources import SOURCES
from recordings.text_formats import FORMATS
from reporting import pages
from reporting.outcomes import keep, of_parts, read

PARTS: Final[Mapping[str, Measure]] = {
    "material": material.measure,
    "text": text_codecs.measure,
    "redrive": redrive.measure,
    "trials": trials.measure,
    "native": native_runs.measure,
    "wire": wire.measure,
    "schemas": schemas.measure,
    "stateful": stateful.measure,
    "loops": loops.measure,
    "retrieval": retrieval.measure,
    "everyday": everyday.measure,
    "codecs": codec_speed.measure,
}
"""The parts by their names, in the order of the page."""

TURNS: Final = "turns"
"""The name of what all parts together compared."""

TEXTS: Final = frozenset(form.kind for form in FORMATS)
NEEDS: Final[Mapping[str, frozenset[str]]] = {
    "text": TEXTS,
    "redrive": frozenset(source.kind for source in SOURCES),
    "trials": frozenset({trials.KIND}),
    "native": frozenset({"talks"}),
    "wire": frozenset({"wire"}),
    "schemas": frozenset({"bfcl-single"}),
    "stateful": frozenset({stateful.KIND}),
    "loops": RUNS,
    "retrieval": frozenset({retrieval.TOOLS}),
    "everyday": frozenset({retrieval.TOOLS}),
    "codecs": TEXTS | {"talks"},
}
"""The kinds of records that a part is about; without any of them it says so and judges nothing."""


def measured(name: str, sample: int) -> Part:
    """A part; whatever breaks in it is told in its place."""
    needs = NEEDS.get(name)
    if needs is not None and next(records(*needs), None) is None:
        kinds = ", ".join(sorted(needs))
        return Part(f"The part {name}", f"Nothing to judge: there is no record of {kinds}.", [])
    try:
        return PARTS[name](sample)
    except Exception as error:  # noqa: BLE001 -- it is told, and hides no other part
        return broken(f"The part {name}", error)


def report_text() -> str:
    """The report as the outcomes on file make it."""
    sections = read("evidence").values()
    return report.page(kept(), "; ".join(dict.fromkeys(one.measured for one in sections)))


def kept() -> list[Part]:
    """The parts on file, in their order."""
    record = read("evidence")
    names = [name for name in (TURNS, *PARTS) if name in record]
    return [part for name in names for part in record[name].parts]


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m recordings", description=__doc__)
    options.add_argument("--parts", default=",".join(PARTS), help="some of %(default)s")
    options.add_argument("--sample", type=int, default=1, help="take every nth record only")
    options.add_argument("--print", action="store_true", help="print the page, write nothing")
    args = options.parse_args()
    if why := missing():
        print(why, file=sys.stderr)
        return 2
    wanted = [name for name in args.parts.split(",") if name]
    if strange := [name for name in wanted if name not in PARTS]:
        print(f"no part {strange[0]!r}: there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    begun, parts_by_name = time.perf_counter(), dict[str, Part]()
    for name in wanted:
        parts_by_name[name] = measured(name, args.sample)
        print(f"{time.perf_counter() - begun:4.0f} s  {name}", file=sys.stderr, flush=True)
    if args.sample == 1 and not parts_by_name.keys().isdisjoint(COMPARING):
        parts_by_name[TURNS] = coverage(parts_by_name, NEEDS)
    parts = [*parts_by_name.values()]
    if args.print or args.sample > 1:
        print(report.page(parts))
    else:
        for name, part in parts_by_name.items():
            text = "make evidence" if name == TURNS else f"python -m recordings --parts {name}"
            if name != TURNS or parts_by_name.keys() >= {*COMPARING}:
                keep("evidence", name, of_parts(text, [part]))
        print(f"wrote {pages.write('evidence', report_text()).relative_to(ROOT)}")
    if line := told(parts):
        print(line, file=sys.stderr)
    for line in (missed := list(report.failures(parts))):
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
