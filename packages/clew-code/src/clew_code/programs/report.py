"""The text that a model gets as the result of a program."""

import re
from collections.abc import Sequence
from typing import Final

from clew import Call
from clew.codecs.own_literals import only_literals
from clew.core.done import told_effect
from clew.interfaces import Action, Json, encode
from clew.support.short_text import cut, one_line
from clew_code.programs.interface import Finished, ProgramFailed

LISTED: Final = 10
"""Effects, and remarks on calls, that are told."""

LINE_CHARS: Final = 200
RESULT_CHARS: Final = 500
"""How much is told of what a call gave before an error."""

NOTHING_PRINTED: Final = (
    "(the program printed nothing, and its last line has no value; what it defined is there for "
    "the next block)"
)

OWN_WORDS: Final = (
    "this is only what the program says itself: it called no function and computed nothing, so it "
    "is no result"
)

_FILE: Final = re.compile(r'File "<python-input-\d+>"')


def report(
    call: Call,
    printed: str,
    reached: Finished | ProgramFailed,
    remarks: Sequence[str],
    max_chars: int,
) -> str:
    """What a program printed, its value or error, and remarks; after an error also its calls.

    An error does not undo what was called before it: the model must not repeat that unseen. What
    was read before it is told too, or the next program would have to read it again.
    """
    parts = [printed.rstrip("\n")]
    if isinstance(reached, ProgramFailed):
        parts.append(f"ERROR: {_FILE.sub('program', reached.error)}")
        if reached.lost:
            parts.append("Its variables are gone; those of the programs before it are there.")
        parts += _effects(call) + _results(call)
    else:
        parts.append(cut(reached.value, max_chars))
    if isinstance(reached, Finished) and not call.asked and only_literals(_code(call)):
        remarks = [*remarks, OWN_WORDS]
    remarks_of_calls = [remark for one in call.asked for remark in one.remarks]
    parts += [f"Note: {remark}" for remark in [*remarks, *dict.fromkeys(remarks_of_calls)][:LISTED]]
    return "\n".join(filter(None, parts)) or NOTHING_PRINTED


def _code(call: Call) -> str:
    code = call.args.get("code")
    return code if isinstance(code, str) else ""


def _effects(call: Call) -> list[str]:
    done = [one for one in call.asked if one.changed]
    if not done:
        return []
    lines = ["Done before that, and not undone (do not repeat it unless it is to happen twice):"]
    lines += [f"- {_effect(one)}" for one in done[:LISTED]]
    more = len(done) - LISTED
    return [*lines, f"- and {more} more"] if more > 0 else lines


def _results(call: Call) -> list[str]:
    """What the calls before an error gave, but for those with effects."""
    gave = [
        (one, one.observation.text)
        for one in call.asked
        if one.observation is not None and one.observation.ok and not one.changed
    ]
    if not gave:
        return []
    lines = ["What its calls gave before that:"]
    for one, text in gave[-LISTED:]:
        short = one_line(text[: 2 * RESULT_CHARS], RESULT_CHARS)
        lines.append(f"- {call_line(one.action, one.args)}: {short}")
    return lines


def _effect(call: Call) -> str:
    line, outcome = told_effect(call)
    return line if outcome == "done" else f"{line} (it may or may not have happened)"


def call_line(action: Action, args: dict[str, Json] | None = None) -> str:
    """A call in a line, with the arguments that it was made with where they are given."""
    return cut(
        f"{action.name}({encode(action.args if args is None else args).decode()})", LINE_CHARS
    )
