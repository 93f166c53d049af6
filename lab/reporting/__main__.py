"""`python -m reporting [NAMES]`: write reports again from the outcomes on file; measure nothing.

Without names all of them are written, and the charts are drawn.

With `--measure` the commands of these reports are run first, and what they print is kept;
`--sections` runs some of them.
"""

import argparse
import subprocess
import sys

from reporting.charts import CHARTS
from reporting.commands import COMMANDS, measured
from reporting.outcomes import IMAGES, REPORTS, keep
from reporting.registry import WRITTEN


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m reporting", description=__doc__)
    options.add_argument("names", nargs="*", help=f"some of {', '.join(WRITTEN)}; without: all")
    options.add_argument("--measure", action="store_true", help="run their commands first")
    options.add_argument("--sections", default="", help="only these, of the commands")
    args = options.parse_args()
    names = args.names or [*WRITTEN]
    if strange := [name for name in names if name not in WRITTEN]:
        print(f"no report {strange[0]!r}: there are {', '.join(WRITTEN)}", file=sys.stderr)
        return 2
    failed = 0
    for name in names:
        if args.measure:
            failed += measure(name, [each for each in args.sections.split(",") if each])
        (REPORTS / f"{name}.md").write_text(WRITTEN[name](), "utf-8")
    if not args.names:
        for chart, draw in CHARTS.items():
            (IMAGES / f"{chart}.svg").write_text(draw(), "utf-8")
    return 1 if failed else 0


def measure(report: str, wanted: list[str]) -> int:
    """Run the commands of a report; how many failed. What they measured before is kept then."""
    failed = 0
    for section, command in COMMANDS.get(report, {}).items():
        if wanted and section not in wanted:
            continue
        try:
            keep(report, section, measured(command))
        except subprocess.CalledProcessError as error:
            failed += 1
            print(f"not measured: {report}, {section}: {error}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
