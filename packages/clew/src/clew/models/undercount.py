"""Servers that count far fewer tokens than a prompt has: as a rule they cut it off, in silence.

Ollama does where a prompt is longer than its `num_ctx`: it drops what is oldest and reports what is
left. Such a count says nothing of the prompt, so the reply says how long that is by an estimate.

Nothing is said of a count that some tokenizer could come to. Every one of those looked at takes at
least a token for a word, for a run of marks, and for two characters of scripts without spaces: over
425 texts of 1,500 characters and more, in prose, code, JSON and ten languages, the fewest tokens of
seven tokenizers were never below .91 of that number (`FEWER` leaves them two thirds).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final

import msgspec

from clew.core.contents import RawCall, Reply, Undercounted, Usage
from clew.core.prompts import Part, Prompt
from clew.core.tools import ToolSpec
from clew.core.values import encode
from clew.models.usage import BYTES

MIN_TOKENS: Final = 500
"""Prompts of fewer tokens are not looked at: no server has so short a window."""

FEWER: Final = 2 / 3
"""A count below this share of the tokens that a prompt has at least is not that of the prompt."""

IMAGE: Final = 1_000
"""Tokens that a picture is expected to take."""

_SPARSE: Final = 5
"""Bytes of a request for each token that was counted, from which on its prompt is looked at."""

_NEW: Final = 2
"""A count up to so many times the estimate of what is new may be that of what is new."""

_TEXT: Final[Callable[[Part], str]] = attrgetter("text")
_ATTACHMENTS: Final[Callable[[Part], Sequence[object]]] = attrgetter("attachments")
_ROLE: Final[Callable[[Part], str]] = attrgetter("role")
_NAME: Final[Callable[[RawCall], str]] = attrgetter("name")
_ARGUMENTS: Final[Callable[[RawCall], str | None]] = attrgetter("arguments")

_CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_TOKENS: Final = re.compile(rf"[{_CJK}]{{1,2}}|[^\W{_CJK}]{{1,16}}|[!-/:-@\[-`{{-~]+")


def with_size(prompt: Prompt, reply: Reply, sent: int) -> Reply:
    """The reply, which says how long its prompt is where the server counted far fewer tokens.

    `sent` is the length of the request in bytes: only where that speaks for it is the prompt read.
    A model that counts nothing has no count that could be wrong.
    """
    usage = reply.usage
    counted = usage.input + usage.cached + usage.written  # some count these beside it
    if usage.estimated or not counted or sent < _SPARSE * max(counted, MIN_TOKENS):
        return reply
    parts = (*prompt.head, *prompt.parts, *prompt.tail)
    texts = _texts(parts)
    minimum = _minimum(texts)
    if minimum < MIN_TOKENS or counted >= FEWER * minimum:
        return reply
    pictures = sum(map(len, map(_ATTACHMENTS, parts)))
    estimated = (
        max(minimum, (sum(map(len, texts)) + _size(prompt.tools)) // BYTES) + pictures * IMAGE
    )
    return msgspec.structs.replace(
        reply, undercounted=Undercounted(estimated, cut=not _only_new(parts, usage))
    )


def size_of(prompt: Prompt) -> int:
    """About how many bytes a request with the prompt has at least: its texts, without calls."""
    return sum(map(len, map(_TEXT, chain(prompt.head, prompt.parts, prompt.tail))))


def _size(tools: Sequence[ToolSpec]) -> int:
    """The characters of what is told of tools."""
    return sum(len(t.name) + len(t.description) + len(encode(t.parameters)) for t in tools)


def _only_new(parts: Sequence[Part], usage: Usage) -> bool:
    """Whether the count may be that of what came since the last reply, the rest being cached."""
    roles = [*map(_ROLE, parts)]
    if "assistant" not in roles:
        return False
    new = _texts(parts[len(roles) - roles[::-1].index("assistant") :])
    return FEWER * _minimum(new) <= usage.input <= _NEW * sum(map(len, new)) / BYTES


def _minimum(texts: Iterable[str]) -> int:
    """The tokens that texts have at least."""
    return sum(map(len, map(_TOKENS.findall, texts)))


def _texts(parts: Sequence[Part]) -> list[str]:
    """What is written in the parts: schemas of tools are left out, which many servers rewrite.

    No Python runs for each: a long run has thousands of parts.
    """
    calls = [call for part in parts if part.calls for call in part.calls]
    return [*map(_TEXT, parts), *map(_NAME, calls), *filter(None, map(_ARGUMENTS, calls))]
