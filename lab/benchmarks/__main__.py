"""`python -m benchmarks`: measure, write `results.json` and `lab/reports/performance.md`."""

import argparse
import sys
import time
from dataclasses import replace

from benchmarks import report
from benchmarks.measure import TINY, Sizes, measure
from benchmarks.processes import started


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    options.add_argument("--parts", default="abcdefg", help="which of them to measure (abcdefg)")
    options.add_argument("--repetitions", type=int, help="of parts a, f and g")
    options.add_argument("--tiny", action="store_true", help="only show that everything works")
    options.add_argument("--print", action="store_true", help="print the page, write nothing")
    args = options.parse_args()
    sizes = TINY if args.tiny else Sizes()
    if times := args.repetitions:
        sizes = replace(sizes, repetitions=times, others=times)
    begun = time.perf_counter()

    def say(what: str) -> None:
        print(f"{time.perf_counter() - begun:4.0f} s  {what}", file=sys.stderr, flush=True)

    with started() as bench:
        rows = measure(bench, sizes, args.parts, say)
    fields = report.results(rows, time.perf_counter() - begun)
    if args.print or args.tiny:
        print(report.page(fields, rows))
    else:
        report.save(report.completed(fields))
        report.write()
        print(f"wrote {report.RESULTS} and {report.PAGE}")


if __name__ == "__main__":
    main()
