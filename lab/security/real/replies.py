"""Replies of a real model on file, by prompt: what was asked once is never computed again.

A reply at temperature 0 follows from the prompt. So a run with the guard takes the replies of the
run without it up to where their prompts differ, and whoever goes on after a stop loses nothing.
"""

import hashlib
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from clew.core.contents import Reply, Usage
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.values import Value, encode


class Kept(Value, frozen=True):
    """A reply to a prompt, known by its sum, and the seconds that it took."""

    prompt: str
    reply: Reply
    seconds: float


@dataclass
class Replies:
    """A model whose replies are kept in a file. `used` are those of the run in hand."""

    model: Model
    file: Path
    used: list[Kept] = field(default_factory=list[Kept])
    _known: dict[str, Kept] = field(default_factory=dict[str, Kept])

    def __post_init__(self) -> None:
        """Read what is there; a line cut short by a kill is left out."""
        for line in self.file.read_bytes().splitlines() if self.file.exists() else ():
            try:
                one = msgspec.json.decode(line, type=Kept)
            except msgspec.DecodeError:
                continue
            self._known[one.prompt] = one

    @property
    def info(self) -> ModelInfo:
        """That of the model."""
        return self.model.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The reply on file, or the model's."""
        key = _sum_of(prompt)
        if key not in self._known:
            began = time.monotonic()
            reply = await self.model.complete(prompt, on_text)
            self._keep(Kept(key, reply, round(time.monotonic() - began, 1)))
        self.used.append(self._known[key])
        return self._known[key].reply

    @property
    def seconds(self) -> float:
        """What the replies of the run in hand took when they were computed."""
        return round(sum(one.seconds for one in self.used), 1)

    @property
    def usage(self) -> Usage:
        """The tokens of these replies."""
        return sum((one.reply.usage for one in self.used), Usage())

    def _keep(self, kept: Kept) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("ab", buffering=0) as file:
            file.write(encode(kept) + b"\n")
        self._known[kept.prompt] = kept


def _sum_of(prompt: Prompt) -> str:
    """What tells a prompt from others: all that the model is sent."""
    parts = [(part.role, part.text, part.calls, part.call_id) for part in prompt]
    tools = [(tool.name, tool.description, tool.parameters) for tool in prompt.tools]
    sent = (parts, tools, prompt.calls, prompt.stop, prompt.seed, prompt.grammar)
    return hashlib.sha256(encode(sent)).hexdigest()[:32]
