"""`python -m live GGUF`: ask a real local model the tasks, and write lab/reports/live.md."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import platformdirs

from clew import ConfigError
from live import page
from live.ask import CONTEXT
from live.configurations import NAMES
from live.others.systems import BY_NAME, ENVIRONMENTS
from live.outcomes import FOLDER, read
from live.tasks import SOURCES
from live.work import PARTS, Work
from reporting import pages

RECORDS: Final = Path(platformdirs.user_state_dir("clew")) / "live.sqlite"


def names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m live", description=__doc__)
    options.add_argument("gguf", type=Path, nargs="?", help="the model's file")
    for name, there, what in (
        ("--parts", PARTS, "some of these"),
        ("--only", NAMES, "some configurations"),
        ("--systems", tuple(BY_NAME), "some of the others"),
        ("--sources", SOURCES, "some sources of tasks"),
    ):
        options.add_argument(name, type=names, default=there, help=f"{what}: {', '.join(there)}")
    options.add_argument("--minutes", type=float, default=0, help="begin nothing after so many")
    options.add_argument("--first", type=int, help="the first so many tasks of each half only")
    options.add_argument("--threads", type=int, default=0, help="0: one for each core")
    options.add_argument("--context", type=int, default=CONTEXT, help="tokens that a run has")
    options.add_argument("--records", type=Path, default=RECORDS, help="where runs are recorded")
    options.add_argument("--outcomes", type=Path, default=FOLDER, help="where outcomes are kept")
    options.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="of the others")
    options.add_argument("--page", action="store_true", help="ask nothing, make the page only")
    options.add_argument("--print", action="store_true", help="print the page, write nothing")
    return options


def main(texts: Sequence[str] | None = None) -> int:
    args = vars(options().parse_args(texts))
    only_page, printed = args.pop("page"), args.pop("print")
    if not only_page and args["gguf"] is None:
        print("no model: name its file (make live GGUF=path/to/model.gguf)", file=sys.stderr)
        return 2
    try:
        if not only_page:
            Work(**args).do()
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    text = page.page(read(args["outcomes"]))
    if printed:
        print(text)
    else:
        print(f"wrote {pages.write('live', text)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
