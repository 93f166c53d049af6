"""`clew approve` and `clew reject`: a person's word on a call by its id, and the run goes on."""

import click

from clew import Trajectory
from clew.cli.approve import RulingOptions, leave_ruling, waiting_calls
from clew.cli.continue_hint import continue_hint, is_described
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, STORE
from clew.cli.resume import resume
from clew.cli.safe_text import inert, say
from clew.workers import queue_of


@click.command()
@click.argument("approval")
@click.option("--edit", metavar="JSON", default="", help="Change the arguments.")
@click.option("--answer", metavar="TEXT", default="", help="Answer what the call asks.")
@click.option("--why", metavar="TEXT", default="", help="The reason, for the record.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@STORE
@DEBUG
@click.pass_context
def approve(
    context: click.Context,
    approval: str,
    edit: str,
    answer: str,
    why: str,
    store: str | None,
    *,
    yes: bool,
) -> int:
    """Allow the held call with the id APPROVAL (`clew approvals`), and go on with its run.

    The call is made only as it was shown: if it changed since, nothing is ruled. A run of a queue
    is left to its workers, and one in which other calls wait goes on with the last of them.
    """
    word = RulingOptions(allow=True, edit=edit, answer=answer, why=why)
    return _rule(context, approval, word, store, yes=yes)


@click.command()
@click.argument("approval")
@click.option("--why", metavar="TEXT", default="", help="The reason; the model sees it.")
@STORE
@DEBUG
@click.pass_context
def reject(context: click.Context, approval: str, why: str, store: str | None) -> int:
    """Refuse the held call with the id APPROVAL (`clew approvals`), and go on with its run."""
    return _rule(context, approval, RulingOptions(allow=False, why=why), store, yes=True)


def _rule(
    context: click.Context, approval: str, word: RulingOptions, store: str | None, *, yes: bool
) -> int:
    ruled = leave_ruling(approval, word, store, yes=yes)
    if ruled is None:
        return ANSWERED
    if queue_of(ruled.root) or not is_described(ruled.root):
        say(f"{ruled.text} {_then(ruled.root, store)}")
        return ANSWERED
    if left := waiting_calls(ruled.root.run_id, store):
        say(f"{ruled.text} Of its run {len(left)} more wait: {', '.join(each.id for each in left)}")
        return ANSWERED
    say(ruled.text, err=True)
    args = [ruled.root.run_id, *(("--store", store) if store else ())]
    code: int = resume.main(args, standalone_mode=False, obj=context.obj)
    return code


def _then(root: Trajectory, store: str | None) -> str:
    return f"It goes on by {inert(continue_hint(root, store=store))}"
