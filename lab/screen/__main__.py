"""`python -m screen GGUF`: ask a local model about harmful requests, write lab/reports/screen.md.

`--half look` asks about the half that the screen's prompt was written with. Without a file the page
is written again from the outcomes on file.
"""

import argparse
from pathlib import Path

import anyio

from clew import HarmfulRequests, ModelSettings
from clew_local import LocalSettings, local_model
from reporting import pages
from reporting.outcomes import keep, of_markdown
from screen.ask import asked
from screen.requests import HALVES, PLEAS
from screen.table import told

CONTEXT = 2_048


def options() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m screen", description=__doc__)
    made.add_argument("gguf", type=Path, nargs="?", help="the model's file")
    made.add_argument("--half", choices=HALVES, default="unseen")
    made.add_argument("--threads", type=int, default=1)
    return made


def main() -> None:
    """Ask where a model is given; write the page."""
    args = options().parse_args()
    if args.gguf is not None:
        take = LocalSettings(context=CONTEXT, slots=1, threads=args.threads)
        settings = ModelSettings(temperature=0.0, max_tokens=100)
        model = local_model(str(args.gguf), take=take, settings=settings)
        outcomes = anyio.run(asked, HarmfulRequests(model), args.half)
        text = told(outcomes, args.gguf.stem, len(PLEAS[args.half]))
        keep("screen", args.half, of_markdown("python -m screen GGUF", text))
    print(pages.write("screen"))


main()
