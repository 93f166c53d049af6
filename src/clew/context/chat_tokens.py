"""Tokens of chat templates in what came from outside, as a model is shown them: harmless.

Many servers turn `<|im_start|>` in any text into the token that begins a turn, so a page can end
the tool's turn and speak as the system. Shown with other brackets, `‹|im_start|›`, it is text to
every tokeniser, a person still reads it, and it is as long as before. The record keeps the truth.
"""

import re
from operator import is_
from typing import Final

import msgspec

from clew.core.events import Note, Started
from clew.core.steps import Aside, Call, Step
from clew.core.trajectory import Trajectory

_TOKEN: Final = re.compile(
    r"""
      <[|｜][\w▁"/:.-]{1,64}[|｜]?>   # most: <|im_start|>, <|eot_id|>, <｜User｜>, <|turn>
    | <[\w▁"/:.-]{1,64}[|｜]>         # <turn|>
    | \[[|｜][\w▁/:.-]{1,64}[|｜]\]   # EXAONE: [|system|]
    | </?(?:s|bos|eos|sop|eop|BOS_TOKEN|EOS_TOKEN|(?:start|end)_of_turn|tool_(?:call|response)s?
        |think|seed:\w{1,32}|(?:extra_id|SPECIAL|reserved)_\d{1,6})>
    | <</?SYS>>
    | \[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|CALL_ID|ARGS
        |THINK|gMASK|sMASK)\]
    | ]~!?b[\[\]] | \[e~\[            # MiniMax
    """,
    re.VERBOSE,
)
_SINCE: Final = 4  # the schema of records
_OTHER: Final = str.maketrans("<>[]", "‹›⟦⟧")  # no normal form of Unicode turns these back


def without_chat_tokens(text: str) -> str:
    """The text with other brackets around what is a token of some chat template."""
    return _TOKEN.sub(lambda found: found[0].translate(_OTHER), text)


def are_shown(so_far: Trajectory) -> bool:
    """Whether a run was begun before such tokens were kept from models: it goes on as it was."""
    first = so_far.entries[0].event if so_far.entries else None
    return not isinstance(first, Started) or first.schema < _SINCE


def harmless(step: Step) -> Step:
    """The step without such tokens in what its calls brought from outside."""
    calls, asides = tuple(map(_call, step.calls)), tuple(map(_aside, step.asides))
    same = all(map(is_, calls, step.calls)) and all(map(is_, asides, step.asides))
    return step if same else msgspec.structs.replace(step, calls=calls, asides=asides)


def goal_of(so_far: Trajectory) -> str:
    """What a run was asked: words of a person as they are, those of a model without such tokens."""
    asked = so_far.visible_goal
    own = so_far.started.trust == "trusted" or are_shown(so_far)
    return asked if own else without_chat_tokens(asked)


def _call(call: Call) -> Call:
    seen = call.observation
    if seen is None or seen.trust == "trusted" or not _TOKEN.search(text := seen.text):
        return call
    seen = msgspec.structs.replace(seen, content=without_chat_tokens(text))
    return msgspec.structs.replace(call, observation=seen)


def _aside(aside: Aside) -> Aside:
    """How a call ended after its deadline is told apart, in a note."""
    if not isinstance(aside, Note) or aside.source != "late" or not _TOKEN.search(aside.text):
        return aside
    return msgspec.structs.replace(aside, text=without_chat_tokens(aside.text))
