"""Tokens of chat templates in what came from outside, as a model is shown them: harmless.

Many servers turn `<|im_start|>` in any text into the token that begins a turn, so a page can end
the tool's turn and speak as the system. Shown with other brackets, `‹|im_start|›`, it is text to
every tokeniser, a person still reads it, and it is as long as before. The record keeps the truth.
"""

import re
from typing import Final

from clew.support.lazy_regex import Lazy

_TOKEN: Final = Lazy(
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
_OTHER: Final = str.maketrans("<>[]", "‹›⟦⟧")  # no normal form of Unicode turns these back


def without_chat_tokens(text: str) -> str:
    """The text with other brackets around what is a token of some chat template."""
    return _TOKEN.sub(lambda match: match[0].translate(_OTHER), text)
