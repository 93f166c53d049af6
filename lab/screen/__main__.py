"""`python -m screen GGUF`: ask a local model about harmful requests, write lab/reports/screen.md.

`--half look` asks about the half that the screen's prompt was written with. Without a file the page
is written again from the outcomes on file.
"""

import argparse
import sys
import time
from pathlib import Path

import anyio

from clew import HarmfulRequests
from clew_local import LocalSettings, local_model
from reporting import pages
from reporting.outcomes import keep, of_markdown
from screen.requests import HALVES, PLEAS, Half, half, pleading
from screen.table import Asked, told

CONTEXT = 2_048


def options() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m screen", description=__doc__)
    made.add_argument("gguf", type=Path, nargs="?", help="the model's file")
    made.add_argument("--half", choices=HALVES, default="unseen")
    made.add_argument("--threads", type=int, default=1)
    return made


async def asked(screen: HarmfulRequests, which: Half) -> list[Asked]:
    """What the model says of each request of a half, then of those with a plea."""
    outcomes: list[Asked] = []
    for request, plea in [*((each, "") for each in half(which)), *pleading(which)]:
        began = time.perf_counter()
        screened = await screen(f"{request.text}{plea}")
        judged = not screened.why.startswith("not judged")
        took = time.perf_counter() - began
        refused = screened.verdict is not None
        outcomes.append(Asked(request, bool(plea), refused, judged, screened.usage, took))
        print(f"{len(outcomes)}: {took:.1f} s", file=sys.stderr)
    return outcomes


def main() -> None:
    """Ask where a model is given; write the page."""
    args = options().parse_args()
    if args.gguf is not None:
        take = LocalSettings(context=CONTEXT, slots=1, threads=args.threads)
        params = {"temperature": 0.0, "max_tokens": 100}
        model = local_model(str(args.gguf), take=take, params=params)
        outcomes = anyio.run(asked, HarmfulRequests(model), args.half)
        text = told(outcomes, args.gguf.stem, len(PLEAS))
        keep("screen", args.half, of_markdown("python -m screen GGUF", text))
    print(pages.write("screen"))


main()
