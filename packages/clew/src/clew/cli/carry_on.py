"""Going on with a run that has a person's word, unless others do."""

import click

from clew.cli.continue_hint import continue_hint, is_described
from clew.cli.errors import ANSWERED
from clew.cli.leave_ruling import LeftRuling, waiting_calls
from clew.cli.resume import resume
from clew.cli.safe_text import say
from clew.cli.store_option import command
from clew.support.printable import inert
from clew.workers import queue_of


def carry_on(
    context: click.Context, ruled: LeftRuling, store: str | None, *, resumes: bool = True
) -> int:
    """Resume the run, or say how it goes on: by its workers, after more words, or by hand."""
    if not (resumes and is_described(ruled.root)) or queue_of(ruled.root):
        say(f"{ruled.text} {_then(ruled, store)}")
        return ANSWERED
    if left := waiting_calls(ruled.root.run_id, store):
        say(f"{ruled.text} Of its run {len(left)} more wait: {', '.join(each.id for each in left)}")
        return ANSWERED
    say(ruled.text, err=True)
    args = [ruled.root.run_id, *(("--store", store) if store else ())]
    code: int = resume.main(args, standalone_mode=False, obj=context.obj)
    return code


def _then(ruled: LeftRuling, store: str | None) -> str:
    root = ruled.root
    if ruled.recorded and root.stop is not None and root.stop.status != "held":
        look = inert(command("show", root.run_id, store=store))
        return f"Its run has gone on with it, and is {root.stop.status}: {look}"
    hint = inert(continue_hint(root, store=store))
    return f"{hint[0].upper()}{hint[1:]}" if queue_of(root) else f"Go on with: {hint}"
