"""Long runs: a model with a window that refuses what does not fit it, and a tool that says much."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec

import clew
from clew.context.summary import ASKED
from clew.core.contents import Reply, Usage
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Part, Prompt
from clew.core.values import encode
from clew.support.errors import TooLongError
from clew.testing.models import Move, ScriptedModel, act

FACT = "The harbour master of Brannock keeps her ledger in the green cupboard."
FACT_AT = 3
SUMMARY = "Pages were read, and nothing is left to be done with them"
SIZE = 2_000


def page_text(number: int) -> str:
    """A page of the harbour's book; the third one has the fact."""
    lines = (
        f"Page {number}, {line}: on day {number * 31 + line} the tide was calm."
        for line in range(99)
    )
    text = " ".join(lines)[:SIZE]
    return f"{text[:900]} {FACT} {text[900:]}" if number == FACT_AT else text


@clew.tool(effect="read")
def page(number: int) -> str:
    """Read a page of the harbour's book."""
    return page_text(number)


_CALLED = re.compile(
    r"page\W+(?:action input\W+)?(?:args\W+|arguments\W+)?(?:number\W+)?(\d+)", re.IGNORECASE
)

Line = Callable[[Prompt], Move]


def pages_read(prompt: Prompt) -> list[int]:
    """The pages that calls in view asked for, by turns; 0 for a turn that asked for none."""
    return [_page(part) for part in prompt.parts if part.role == "assistant"]


def _page(part: Part) -> int:
    written = " ".join([part.text, *(f"{call.name} {call.arguments}" for call in part.calls)])
    matches = _CALLED.search(written)
    return int(matches[1]) if matches else 0


def reading(steps: int, *last: Move) -> Line:
    """Read a page a step, then make the last moves. It keeps nothing between calls."""

    def script(prompt: Prompt) -> Move:
        turns = pages_read(prompt)
        read = max(turns, default=0)
        if read < steps:
            return act("page", number=read + 1)
        return last[turns[::-1].index(read)]

    return script


def messages(prompt: Prompt) -> list[bytes]:
    """What is sent, message by message: the tools come first, as providers have it."""
    tools = [(tool.name, tool.description, tool.parameters) for tool in prompt.tools]
    parts = [(part.role, part.text, part.calls, part.call_id) for part in prompt]
    return [encode(tools), *map(encode, parts)]


def tokens(sent: Sequence[bytes]) -> int:
    """Four bytes a token, with tools and framing."""
    return sum(map(len, sent)) // 4


@dataclass
class WindowModel:
    """Follows a script by what it is sent, and takes no prompt beyond its window.

    `knows` says whether the window is known beforehand, `reports` whether it counts tokens; `sent`
    are all prompts that it answered, and `refused` counts the others.
    """

    script: Line
    window: int = 16_000
    knows: bool = True
    reports: bool = True
    codec: str = "native"
    tools: Sequence[clew.Tool] = (page,)
    sent: list[list[bytes]] = field(default_factory=list[list[bytes]])
    refused: int = 0

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("test:window", window=self.window if self.knows else None)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next reply. Raises `TooLongError`."""
        now = messages(prompt)
        if (size := tokens(now)) > self.window:
            self.refused += 1
            raise TooLongError(f"{size} tokens are more than {self.window}")
        before = self.sent[-1] if self.sent else []
        self.sent.append(now)
        writer = ScriptedModel([], codec=self.codec, tools=self.tools)
        number = 1 + max(pages_read(prompt), default=0) + pages_read(prompt).count(0)
        reply = writer.written(self.script(prompt), number)
        usage = Usage(size, len(reply.text) // 4 + 20, cached=tokens(now[: shared(before, now)]))
        return msgspec.structs.replace(reply, usage=usage if self.reports else Usage())


@dataclass
class Summariser(WindowModel):
    """Writes a summary where it is asked for one; `summary` is what it says or raises instead."""

    summary: Reply | Exception | None = None
    asked: int = 0

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next reply, or a summary. Raises `TooLongError`."""
        if [part.text for part in prompt.tail] != [ASKED]:
            return await super().complete(prompt, on_text)
        self.asked += 1
        if isinstance(self.summary, Exception):
            raise self.summary
        before, now = self.sent[-1] if self.sent else [], messages(prompt)
        used = Usage(tokens(now), 40, cached=tokens(now[: shared(before, now)]))
        summary = self.summary or Reply(text=f"{SUMMARY} ({self.asked}).")
        return msgspec.structs.replace(summary, usage=used)


def shared(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many messages two prompts begin with in common."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def breaks(sent: Sequence[Sequence[bytes]]) -> list[int]:
    """The numbers of the prompts that do not begin with the whole of the one before them."""
    return [
        number for number, (a, b) in enumerate(pairwise(sent), start=2) if shared(a, b) < len(a)
    ]
