"""`python -m security.real GGUF`: measure with a real local model, write security-real.md.

    $ make security GGUF=path/to/model.gguf LIMIT_MINUTES=60
    $ python -m security.real path/to/model.gguf --parts plans
    $ python -m security.real --page              # ask nothing, write the report only

It can be stopped at any time, and goes on where it was.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import platformdirs

from clew import ConfigError
from reporting import pages
from security.real import page
from security.real.outcomes import FOLDER, read
from security.real.work import ACTING_PAIRS, PARTS, Work, measure

REPLIES: Final = Path(platformdirs.user_state_dir("clew")) / "security-real"


def main(texts: Sequence[str] | None = None) -> int:
    options = _options().parse_args(texts)
    if not options.page and options.gguf is None:
        message = "no model: name its file (make security GGUF=path/to/model.gguf)"
        print(message, file=sys.stderr)
        return 2
    parts = [part for part in options.parts.split(",") if part]
    if strange := [part for part in parts if part not in PARTS]:
        print(f"no part {strange[0]!r}: there are {', '.join(PARTS)}", file=sys.stderr)
        return 2
    if not options.page:
        work = Work(
            parts, options.outcomes, options.pairs, options.acting, options.first, options.minutes,
            options.again,
        )  # fmt: skip
        try:
            measure(work, options.gguf, options.replies, options.threads)
        except ConfigError as error:
            print(error, file=sys.stderr)
            return 2
    text = page.text(read(options.outcomes))
    if options.print:
        print(text)
    else:
        print(f"wrote {pages.write('security-real', text)}")
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m security.real", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("gguf", type=Path, nargs="?", help="the model's file")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--pairs", type=int, default=200, help="attacked under the real plan")
    parser.add_argument(
        "--acting", type=int, default=ACTING_PAIRS, help="where the real model acts"
    )
    parser.add_argument("--first", type=int, help="the first so many tasks that nobody attacks")
    parser.add_argument("--minutes", type=float, default=0, help="begin nothing after so many")
    parser.add_argument("--threads", type=int, default=0, help="0: one for each core")
    parser.add_argument("--again", action="store_true", help="what is there too")
    parser.add_argument("--outcomes", type=Path, default=FOLDER, help="where outcomes are kept")
    parser.add_argument("--replies", type=Path, default=REPLIES, help="where replies are kept")
    parser.add_argument("--page", action="store_true", help="ask nothing, write the report only")
    parser.add_argument("--print", action="store_true", help="print the report, write nothing")
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
