"""The work that every client is given: what the server asks for, and what proves that it was done.

The script of a run stands in the user's message, so that the server keeps nothing between requests:
read `calls` entries in each of `steps` steps, then answer. Every entry carries a proof that only
the tool can compute, and the answer is a checksum over all proofs, in order.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

SYSTEM: Final = (
    "You read entries one after the other with the tool lookup, say before each call what you are "
    "doing, and give the checksum when all of them are known."
)
DESCRIPTION: Final = "Read one entry of the archive."
PARAMETERS: Final = {
    "type": "object",
    "properties": {"key": {"type": "string", "description": "Key of the entry."}},
    "required": ["key"],
    "additionalProperties": False,
}

LATENCY: Final = 0.2
"""Seconds a reply takes where many runs go on at once."""

TOOL_SECONDS: Final = 0.25
PARALLEL: Final = 8
"""How many calls that take `TOOL_SECONDS` a step makes where that is measured."""

_SCRIPT: Final = re.compile(r"(\d+) steps, (\d+) calls each, shelf (\S+)\.")
_PROOF: Final = re.compile(r"^<([0-9a-f]{12})> ")
_SENTENCE: Final = 'The gauge "north" read 41.7 mm at 06:30, which is within what is usual there. '


@dataclass(frozen=True)
class Script:
    """What a run consists of."""

    steps: int
    calls: int = 1
    shelf: str = "a"

    @property
    def goal(self) -> str:
        """The user's message."""
        return (
            f"Read the archive in {self.steps} steps, {self.calls} calls each, shelf {self.shelf}. "
            "Report the checksum."
        )

    def keys(self, step: int) -> list[str]:
        """The entries to read in a step, which is numbered from 0."""
        first = step * self.calls
        return [f"{self.shelf}-{number}" for number in range(first, first + self.calls)]

    @property
    def answer(self) -> str:
        """What a run that read everything must end with."""
        keys = (key for step in range(self.steps) for key in self.keys(step))
        return checksum(proof(key) for key in keys)


def parse(goal: str) -> Script:
    """The script in a user's message. Raises `ValueError` where there is none."""
    if (matches := _SCRIPT.search(goal)) is None:
        raise ValueError(f"no script in {goal!r}")
    return Script(int(matches[1]), int(matches[2]), matches[3])


def proof(key: str) -> str:
    """What shows that the entry was read."""
    return hashlib.blake2b(key.encode(), digest_size=6).hexdigest()


def entry(key: str, size: int) -> str:
    """The text of an entry, `size` characters long."""
    start = f"<{proof(key)}> Entry {key}. "
    return (start + _SENTENCE * (size // len(_SENTENCE) + 1))[:size]


def proof_in(text: str) -> str:
    """The proof that an observation carries, or "" where the tool did not really run."""
    match = _PROOF.match(text)
    return match[1] if match else ""


def checksum(proofs: Iterable[str]) -> str:
    """The answer to a script."""
    return "checksum " + hashlib.blake2b(" ".join(proofs).encode(), digest_size=8).hexdigest()


def thought(step: int, script: Script) -> str:
    """What the model says beside its calls."""
    return f"Part {step + 1} of {script.steps} of the archive is still missing, I look it up."
