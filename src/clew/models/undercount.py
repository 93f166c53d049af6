"""Servers that count far fewer tokens than a prompt has: as a rule they cut it off, in silence.

Ollama does where a prompt is longer than its `num_ctx`: it drops what is oldest and reports what is
left. Such a count says nothing of the prompt, so the reply says how long that is by an estimate.

Nothing is said of a count that some tokenizer could come to. Every one of those looked at takes at
least a token for a word, for a run of marks, and for two characters of scripts without spaces: over
425 texts of 1,500 characters and more, in prose, code, JSON and ten languages, the fewest tokens of
seven tokenizers were never below .91 of that number (`FEWER` leaves them two thirds).
"""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from clew.core.events import Reply, Undercounted, Usage, encode
from clew.core.interfaces import Part, Prompt
from clew.models.usage import BYTES

LEAST: Final = 500
"""Prompts of fewer tokens are not looked at: no server has so short a window."""

FEWER: Final = 2 / 3
"""A count below this share of the tokens that a prompt has at least is not that of the prompt."""

IMAGE: Final = 1_000
"""Tokens that a picture is expected to take."""

_SPARSE: Final = 5
"""Bytes of a request for each token that was counted, from which on its prompt is looked at."""

_NEW: Final = 2
"""A count up to so many times the estimate of what is new may be that of what is new."""

_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKENS: Final = re.compile(rf"[{_CJK}]{{1,2}}|[^\W{_CJK}]{{1,16}}|[!-/:-@\[-`{{-~]+")


def with_size(prompt: Prompt, reply: Reply, sent: int) -> Reply:
    """The reply, which says how long its prompt is where the server counted far fewer tokens.

    `sent` is the length of the request in bytes: only where that speaks for it is the prompt read.
    """
    usage = reply.usage
    counted = usage.input + usage.cached + usage.written  # some count these beside it
    if usage.estimated or sent < _SPARSE * max(counted, LEAST):
        return reply
    least = _least(prompt)
    if least < LEAST or counted >= FEWER * least:
        return reply
    found = Undercounted(_estimated(prompt, least), cut=not _only_new(prompt, usage))
    return msgspec.structs.replace(reply, undercounted=found)


def size_of(prompt: Prompt) -> int:
    """About how many bytes a request with the prompt has, without pictures."""
    return sum(len(text) for part in prompt for text in _texts(part))


def _estimated(prompt: Prompt, least: int) -> int:
    """The tokens of a prompt: four characters to one, if that is more than it has at least."""
    tools = sum(len(t.name) + len(t.description) + len(encode(t.parameters)) for t in prompt.tools)
    pictures = sum(len(part.images) for part in prompt)
    return max(least, (size_of(prompt) + tools) // BYTES) + pictures * IMAGE


def _only_new(prompt: Prompt, usage: Usage) -> bool:
    """Whether the count may be that of what came since the last reply, the rest being cached."""
    parts = list(prompt)
    last = max((n for n, part in enumerate(parts) if part.role == "assistant"), default=-1)
    if last < 0:
        return False
    new = parts[last + 1 :]
    size = sum(len(text) for part in new for text in _texts(part))
    return FEWER * _least(new) <= usage.input <= _NEW * size / BYTES


def _least(parts: Iterable[Part]) -> int:
    """The tokens that the texts have at least; schemas of tools are rewritten by many servers."""
    return sum(len(_TOKENS.findall(text)) for part in parts for text in _texts(part))


def _texts(part: Part) -> Iterable[str]:
    """What is written in a part."""
    yield part.text
    for call in part.calls:
        yield call.name
        yield call.arguments or ""
