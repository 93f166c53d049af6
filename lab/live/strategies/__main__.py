"""`python -m live.strategies GGUF`: ask a real local model by strategies, write what they gain."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import anyio
import platformdirs

from clew import ConfigError
from durability.progress import tell, with_progress
from live.others.systems import ENVIRONMENTS
from live.strategies import page
from live.strategies.ask import Asker
from live.strategies.configurations import FORMS, NAMES, USUAL, Form
from live.strategies.outcomes import FOLDER, add, read
from live.strategies.tasks import SOURCES, Task, listed, task
from reporting import pages
from reporting.outcomes import keep, of_markdown

RECORDS: Final = Path(platformdirs.user_state_dir("clew")) / "live-strategies.sqlite"
BLOCK: Final = 2
"""So many tasks of one source in a row: the beginning of their prompts is read once."""


def names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m live.strategies", description=__doc__)
    options.add_argument("gguf", type=Path, nargs="?", help="the model's file")
    for name, there, usual in (("--only", NAMES, USUAL), ("--sources", SOURCES, SOURCES)):
        options.add_argument(name, type=names, default=usual, help=f"some of {', '.join(there)}")
    options.add_argument("--minutes", type=float, default=0, help="begin nothing after so many")
    options.add_argument("--first", type=int, help="the first so many tasks only")
    options.add_argument("--asking", type=int, default=1, help="2: ask all once more, and so on")
    options.add_argument("--at-once", type=int, default=1, help="so many tasks at the same time")
    options.add_argument("--threads", type=int, default=0, help="0: one for each core")
    options.add_argument("--records", type=Path, default=RECORDS, help="where runs are recorded")
    options.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="of the others")
    options.add_argument("--outcomes", type=Path, default=FOLDER, help="where outcomes are kept")
    options.add_argument(
        "--print", action="store_true", help="print the report, measure and write nothing"
    )
    options.add_argument(
        "--page",
        action="store_true",
        help="ask nothing; measure the scripted part, write the report",
    )
    options.add_argument("--ask-only", action="store_true", help="ask and keep; measure nothing")
    return options


async def work(args: argparse.Namespace) -> None:
    """Ask what has not been asked yet. Raises `ConfigError`."""
    for kind, text, there in (("form", args.only, NAMES), ("source", args.sources, SOURCES)):
        if strange := [name for name in text if name not in there]:
            raise ConfigError(f"no {kind} {strange[0]!r}: there are {', '.join(there)}")
    if args.at_once < 1:
        raise ConfigError(f"--at-once {args.at_once}: give the number of tasks, 1 or more")
    if args.asking < 1:
        raise ConfigError(f"--asking {args.asking}: give the number of the asking, 1 or more")
    asker = Asker(
        args.gguf, args.records, args.threads, args.environments, args.at_once, args.asking
    )
    try:
        left = with_progress(
            list(_left(asker, args)),
            lambda item: f"{item[0].name}, {item[1].case.id}",
            at_once=args.at_once,
            minutes=args.minutes,
        )
        async with anyio.create_task_group() as workers:
            for _ in range(args.at_once):
                workers.start_soon(_work, asker, left, args.outcomes)
    finally:
        with anyio.CancelScope(shield=True):
            await asker.close()


async def _work(asker: Asker, left: Iterator[tuple[Form, Task]], outcomes: Path) -> None:
    """Ask what is left, which other workers take from too, and keep what came of it."""
    for form, asked in left:
        result = await asker.ask(form, asked)
        add(result, outcomes)
        tell(
            f"{form.name}, {asked.case.id}: {'right' if result.right else 'wrong'} "
            f"{result.seconds:.0f} s, {result.calls} replies, {result.status} "
            f"{str(result.answer)[:60]!r}\n"
        )


def _left(asker: Asker, args: argparse.Namespace) -> Iterator[tuple[Form, Task]]:
    """Two tasks in all forms, then the next two, source after source."""
    done = {one.key for one in read(args.outcomes) if one.stopped}
    some = [one for one in listed() if one.source in args.sources]
    over = [task(one) for one in some[: args.first]]
    for at in range(0, len(over), BLOCK):
        for form in FORMS:
            for asked in over[at : at + BLOCK]:
                wanted = form.name in args.only and form.asks(asked.listed.source)
                if wanted and asker.key(form, asked) not in done:
                    yield form, asked


def main(texts: Sequence[str] | None = None) -> int:
    args = options().parse_args(texts)
    if not args.page and args.gguf is None:
        message = "no model: name its file (make strategies GGUF=path/to/model.gguf)"
        print(message, file=sys.stderr)
        return 2
    try:
        if not args.page:
            anyio.run(work, args, backend="asyncio")
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    if args.ask_only:
        return 0
    if not args.print:
        keep(
            "strategies",
            "scripted",
            of_markdown("python -m live.strategies --page", page.scripted()),
        )
    text = page.text(read(args.outcomes))
    if args.print:
        print(text)
    else:
        print(f"wrote {pages.write('strategies', text)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
