"""`python -m durability`: kill, freeze, tear and fill; write lab/reports/durability.md."""

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Final

from durability import (
    code,
    damaged,
    engines,
    entries,
    lost_ends,
    mcp,
    mcp_leaks,
    outages,
    poisoned,
    speed,
    storms,
    strategies,
    torn,
    with_ray,
)
from durability.progress import tell
from recordings.part import Part
from recordings.report import failures
from reporting import pages
from reporting.outcomes import keep, of_parts

PARTS: Final[Mapping[str, Callable[[int], Part]]] = {
    "sqlite": storms.sqlite,
    "postgres": storms.on_postgres,
    "dbos": storms.dbos,
    "temporal": storms.temporal,
    "ray": with_ray.storm,
    "poisoned": poisoned.poisoned,
    "entries": entries.killed,
    "code": code.code,
    "strategies": strategies.killed,
    "mcp-servers": mcp.servers,
    "mcp-clew": mcp.clew,
    "mcp-leaks": mcp_leaks.leaks,
    "frozen": outages.frozen,
    "restarted": outages.restarted,
    "full": outages.full,
    "torn": torn.torn,
    "damaged": damaged.damaged,
    "lost-ends": lost_ends.lost_ends,
    "cost": speed.cost,
    "engines": engines.engines,
    "fast": speed.fast,
    "recovery": speed.recovery,
    "many": with_ray.many,
}
"""The parts by their names, in the order of the page."""


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m durability", description=__doc__)
    options.add_argument("--parts", default=",".join(PARTS), help="some of %(default)s")
    options.add_argument("--sample", type=int, default=1, help="do the nth part of it only")
    options.add_argument("--print", action="store_true", help="print the parts, keep nothing")
    args = options.parse_args()
    wanted = [name for name in args.parts.split(",") if name]
    if strange := [name for name in wanted if name not in PARTS]:
        print(f"no part {strange[0]!r}: there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    parts = list[Part]()
    for name in wanted:
        part = PARTS[name](args.sample)
        parts.append(part)
        fields = of_parts(f"python -m durability --parts {name}", [part])
        if args.print or args.sample > 1:
            print(pages.in_full(fields))
        else:
            keep("durability", name, fields)
        tell(f"{name}: done\n")
    if not (args.print or args.sample > 1):
        print(f"wrote {pages.write('durability')}")
    for line in (missed := list(failures(parts))):
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
