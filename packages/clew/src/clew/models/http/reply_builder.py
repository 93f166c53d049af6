"""A reply as it comes together: what an `Api` drafts it in, and how its pieces are taken.

Some servers cut text between the halves of a character. JSON that holds half a one is refused by
every strict reader, at every further try too. The other half comes with the next event of a
stream, or not at all: halves are joined here, or mended, and then the reply says so.
"""

from codecs import BOM_UTF8
from dataclasses import dataclass, field
from typing import Literal, Protocol

import anyio
import msgspec

from clew.core.contents import Reply
from clew.core.models import OnText
from clew.core.prompts import Prompt
from clew.models.http.failures import StatusError
from clew.models.http.rate_limit import Ticket
from clew.models.reply_size import REPLY_BYTES, event_size
from clew.support.surrogates import HALF, join_halves, keep_halves, without_open_half


class ReplyBuilder(Protocol):
    """A reply as it comes together, from one body or from the events of a stream.

    `take` raises `StatusError` for an error that came in the place of a reply, `BadReplyError` or
    `msgspec.MsgspecError` for what is none.
    """

    @property
    def empty(self) -> bool:
        """Whether nothing came that is worth anything."""
        ...

    @property
    def ended(self) -> bool:
        """Whether the provider said how the reply ended."""
        ...

    @property
    def done(self) -> bool:
        """Whether that was the stream's last event."""
        ...

    def take(self, data: bytes, *, complete: bool) -> str:
        """Take a whole body, or the data of one event; the text that was in it."""
        ...

    def end_early(self) -> None:
        """Nothing more is wanted: what came is the reply, complete."""
        ...

    def reply(self, sent: int) -> Reply:
        """What was drafted; `sent` is the length of the request, where usage must be estimated."""
        ...


@dataclass
class Ask:
    """One completion under way, over all its attempts.

    `text_was_output` says that a piece of a reply went to `on_text`; `without` is what the last
    attempt's request left out or repaired, `sent` the prompt as it was repaired, `refused` why
    earlier steps were sent as text at last, `cut` what it brought before it broke off, and `halves`
    whether half a character was in it; `half` is one whose other half may come. `left` are the
    seconds that requests may still take; the one under way runs `within` them. `size` is how much
    of a reply was streamed.
    """

    prompt: Prompt
    on_text: OnText | None
    ticket: Ticket
    left: float
    within: anyio.CancelScope = field(init=False)
    sent: Prompt = field(init=False)
    without: frozenset[str] = frozenset()
    text_was_output: bool = False
    cut: Reply | None = None
    refused: StatusError | None = None
    halves: bool = False
    half: str = ""
    size: int = 0

    @property
    def too_long(self) -> bool:
        """Whether the reply is longer than any may be."""
        return self.size > REPLY_BYTES


def take(draft: ReplyBuilder, data: bytes, ask: Ask, *, complete: bool) -> str:
    """Take a whole body, or the data of one event; its text, without half a character at the end.

    A byte order mark before it says nothing.
    """
    data = data.removeprefix(BOM_UTF8)
    try:
        text = draft.take(data, complete=complete)
    except msgspec.DecodeError:
        kept = keep_halves(data)
        if kept == data:
            raise
        ask.halves = True
        text = draft.take(kept, complete=complete)
    if not ask.halves or not text:
        return text
    text, ask.half = without_open_half(ask.half + text)
    return join_halves(text)


def name_repairs(reply: Reply, ask: Ask) -> Reply:
    """The reply with its half characters joined, which names those that had to be replaced."""
    if not ask.halves:
        return reply
    text = msgspec.json.encode(reply).decode()
    joined = join_halves(text)
    decoded = msgspec.json.decode(joined, type=Reply)
    lost = joined.count("\ufffd") > text.count("\ufffd")
    return msgspec.structs.replace(decoded, mended=(HALF,)) if lost else decoded


def take_lines(
    lines: list[bytes], draft: ReplyBuilder, ask: Ask, show: OnText
) -> Literal["more", "done", "enough"]:
    """Take lines of an event stream; fields other than `data`, and comments, say nothing."""
    for each in lines:
        line = each.removeprefix(BOM_UTF8)  # before the first of a stream
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        text = take(draft, data, ask, complete=False)
        ask.size += event_size(data, text)
        if text:
            ask.text_was_output = True
            if show(text):
                draft.end_early()
                return "enough"
        if draft.done:
            return "done"
        if ask.too_long:
            return "enough"
    return "more"
