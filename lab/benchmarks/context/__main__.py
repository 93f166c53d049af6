"""`python -m benchmarks.context`: measure long runs, and write lab/reports/context.md."""

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Final

from benchmarks.context import lengths, others, strict, talks
from benchmarks.context.page import PageFigures, of_part
from durability import entries
from durability.progress import tell
from reporting import pages
from reporting.outcomes import keep

PARTS: Final[Mapping[str, Callable[[int], PageFigures]]] = {
    "long": lengths.measure,
    "others": others.measure,
    "talks": talks.measure,
    "cuts": lambda sample: of_part(strict.measure(sample)),
    "killed": lambda sample: of_part(entries.killed(sample)),
}
"""The parts by their names, in the order of the page."""


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m benchmarks.context", description=__doc__)
    options.add_argument("--parts", default=",".join(PARTS), help="some of %(default)s")
    options.add_argument("--sample", type=int, default=1, help="do the nth part of it only")
    options.add_argument("--print", action="store_true", help="print the parts, keep nothing")
    args = options.parse_args()
    wanted = [name for name in args.parts.split(",") if name]
    if strange := [name for name in wanted if name not in PARTS]:
        print(f"no part {strange[0]!r}: there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    missed: list[str] = []
    for name in wanted:
        fields = PARTS[name](args.sample)
        tell(f"{name}: done\n")
        missed += [f"{name}: {why}" for why in fields.missed]
        if fields.empty:
            continue
        section = fields.section(f"python -m benchmarks.context --parts {name}")
        if args.print or args.sample > 1:
            print(pages.in_full(section))
        else:
            keep("context", name, section)
    if not (args.print or args.sample > 1):
        print(f"wrote {pages.write('context')}")
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
