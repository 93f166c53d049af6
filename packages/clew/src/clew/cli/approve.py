"""`clew approve` and `reject`: a person's word on a call that waits for one."""

from typing import Final

import click

from clew import ConfigError
from clew.cli.carry_on import carry_on
from clew.cli.errors import ANSWERED
from clew.cli.leave_ruling import RulingOptions, leave_ruling
from clew.cli.offers import offers
from clew.cli.options import DEBUG, STORE

_TARGET: Final = click.argument("target", metavar="ID|RUN", shell_complete=offers("runs"))
_CALL: Final = click.argument("call", default="")
_NO_RESUME: Final = click.option(
    "--no-resume", is_flag=True, help="Only rule; the run goes on later."
)


@click.command()
@_TARGET
@_CALL
@click.option("--edit", metavar="JSON", default="", help="Change the arguments.")
@click.option("--answer", metavar="TEXT", default="", help="Answer what the call asks.")
@click.option("--why", metavar="TEXT", default="", help="The reason, for the record.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
@_NO_RESUME
@STORE
@DEBUG
@click.pass_context
def approve(
    context: click.Context,
    target: str,
    call: str,
    edit: str,
    answer: str,
    why: str,
    store: str | None,
    *,
    yes: bool,
    no_resume: bool,
) -> int:
    """Allow a held call (or a second attempt, if it is unknown whether it took effect).

    Name it by its ID (`clew approvals`): it is allowed only as it was shown. Or by its RUN, which
    may be `last` if only one waits, and CALL, its number, such as 2.1, if several wait.

    It shows the call, asks for confirmation, and goes on with the run. A run of a queue is left to
    its workers, and one in which other calls wait goes on with the last of them.

    If the call asks for something, answer it: a question of ask_person with a text, one of a tool
    (such as a form of an MCP server) with JSON.
    """
    if edit and answer:
        message = "give --edit or --answer, not both"
        raise ConfigError(message)
    word = RulingOptions(allow=True, call=call, edit=edit, answer=answer, why=why)
    return _rule(context, target, word, store, yes=yes, resumes=not no_resume)


@click.command()
@_TARGET
@_CALL
@click.option("--why", metavar="TEXT", default="", help="The reason; the model sees it.")
@_NO_RESUME
@STORE
@DEBUG
@click.pass_context
def reject(
    context: click.Context, target: str, call: str, why: str, store: str | None, *, no_resume: bool
) -> int:
    """Refuse a held call (or a second attempt at it), and go on with its run.

    Name it as for `clew approve`: by its ID, or by its RUN and CALL.
    """
    word = RulingOptions(allow=False, call=call, why=why)
    return _rule(context, target, word, store, yes=True, resumes=not no_resume)


def _rule(
    context: click.Context,
    target: str,
    word: RulingOptions,
    store: str | None,
    *,
    yes: bool,
    resumes: bool,
) -> int:
    ruled = leave_ruling(target, word, store, yes=yes)
    return ANSWERED if ruled is None else carry_on(context, ruled, store, resumes=resumes)
