"""What the requests of several APIs have in common, written once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from clew.core.prompts import Prompt
from clew.core.values import Json, encode
from clew.models.tool_names import Toolbox
from clew.support.errors import ConfigError

_CHOICE: Final = (
    ": an agent says by itself whether a reply may call (not in a landing). A server that forces "
    "calls would never let it answer; for replies of a fixed form take codec='json', and to make "
    "a model search before it answers say so in the prompt or write a check"
)
"""Why the choice of calls is no parameter, and what does what people want of it."""


def refuse_ours(taken: Iterable[str]) -> None:
    """Raise `ConfigError` where parameters have keys that the adapter writes."""
    if not (names := sorted(taken)):
        return
    raise ConfigError(
        f"the parameters {', '.join(names)} are written by the adapter itself; leave them out"
        + (_CHOICE if "tool_choice" in names else "")
    )


def stop_sequences(prompt: Prompt, own: Any, limit: int) -> list[str]:
    """Those of the prompt and of the parameters, each once. Raises `ConfigError` for too many."""
    own_stops = [own] if isinstance(own, str) else own or []
    sequences = list(dict.fromkeys([*prompt.stop, *own_stops]))
    if len(sequences) > limit:
        raise ConfigError(
            f"{len(sequences)} stop sequences, of which the API takes {limit}: drop some from the "
            f"parameters or the codec ({', '.join(map(repr, sequences))})"
        )
    return sequences


def openai_body(
    start: bytes,
    parts: Sequence[bytes],
    prompt: Prompt,
    box: Toolbox,
    more: Mapping[str, Json],
) -> bytes:
    """A whole body of OpenAI's: `start` up to the array of parts, the tools, the keys in `more`."""
    pieces = [start, b",".join(parts), b"]"]
    if box.declared:
        pieces += [b',"tools":', box.declared]
        if prompt.calls != "auto":
            pieces += [b',"tool_choice":"', prompt.calls.encode(), b'"']
    for key, value in more.items():
        pieces += [b',"', key.encode(), b'":', encode(value)]
    pieces.append(b"}")
    return b"".join(pieces)
