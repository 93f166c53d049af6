"""Plain completions, the way out: a prompt as one text that a model goes on with.

Format: https://platform.openai.com/docs/api-reference/completions
"""

from collections.abc import Mapping, Sequence
from typing import Final

from clew.core.events import Json, encode
from clew.core.interfaces import Part
from clew.models.http.request import refuse_ours
from clew.models.openai.chat_prompt import with_image_captions

OURS: Final = frozenset(
    {"model", "prompt", "stream", "stream_options", "n", "best_of", "echo", "suffix", "logprobs"}
)
"""Keys of the body that the adapter writes, or that would change what it can read."""

MAX_TOKENS: Final = 1024
"""The length of a reply where the parameters name none: servers would stop after a few words."""


def text(part: Part) -> bytes:
    """One part as a piece of a JSON string, with its end of line: roles are left to the words.

    Pictures are named.
    """
    said = with_image_captions(part) if part.images else part.text
    return encode(said + ("\n\n" if part.role == "system" else "\n"))[1:-1]


def head(model: str, params: Mapping[str, Json]) -> bytes:
    """The beginning of every body, up to the prompt. Raises `ConfigError` for `OURS`."""
    refuse_ours(OURS & params.keys())
    rest = {key: value for key, value in params.items() if key != "stop"}
    return encode({"model": model, "max_tokens": MAX_TOKENS} | rest)[:-1] + b',"prompt":"'


def body(start: bytes, texts: Sequence[bytes], more: Mapping[str, Json]) -> bytes:
    """The whole body: `start` from `head`, the text, and the keys in `more`."""
    pieces = [start, *texts, b'"']
    for key, value in more.items():
        pieces += [b',"', key.encode(), b'":', encode(value)]
    pieces.append(b"}")
    return b"".join(pieces)
