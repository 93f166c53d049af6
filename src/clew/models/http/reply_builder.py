"""A reply as it comes together: what an `Api` drafts it in, and how its pieces are taken.

Some servers cut text between the halves of a character. JSON that holds half a one is refused by
every strict reader, at every further try too: it is mended here, and the reply says so.
"""

from dataclasses import dataclass, field
from typing import Literal, Protocol

import anyio
import msgspec

from clew.core.events import Reply
from clew.core.interfaces import OnText, Prompt
from clew.models.http.failures import StatusError
from clew.models.http.rate_limit import Ticket
from clew.models.reply_size import REPLY_BYTES, event_size
from clew.support.surrogates import HALF, mended_bytes


class Draft(Protocol):
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

    def take(self, data: bytes, *, whole: bool) -> str:
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

    `shown` says that a piece of a reply went to `on_text`; `without` is what the last attempt's
    request left out or repaired, `sent` the prompt as it was repaired, `refused` why earlier steps
    were sent as text at last, `cut` what it brought before it broke off, and `mended` whether half
    a character had to be replaced in it. `left` are the seconds that requests may still take; the
    one under way runs `within` them. `size` is how much of a reply was streamed.
    """

    prompt: Prompt
    on_text: OnText | None
    ticket: Ticket
    left: float
    within: anyio.CancelScope = field(init=False)
    sent: Prompt = field(init=False)
    without: frozenset[str] = frozenset()
    shown: bool = False
    cut: Reply | None = None
    refused: StatusError | None = None
    mended: bool = False
    size: int = 0

    @property
    def too_long(self) -> bool:
        """Whether the reply is longer than any may be."""
        return self.size > REPLY_BYTES


def take(draft: Draft, data: bytes, ask: Ask, *, whole: bool) -> str:
    """Take a whole body, or the data of one event; half characters in it are mended."""
    try:
        return draft.take(data, whole=whole)
    except msgspec.DecodeError:
        mended = mended_bytes(data)
        if mended == data:
            raise
        ask.mended = True
        return draft.take(mended, whole=whole)


def name_repairs(reply: Reply, ask: Ask) -> Reply:
    """The reply, which names what was mended in it."""
    return msgspec.structs.replace(reply, mended=(HALF,)) if ask.mended else reply


def take_lines(
    lines: list[bytes], draft: Draft, ask: Ask, show: OnText
) -> Literal["more", "done", "enough"]:
    """Take lines of an event stream; fields other than `data`, and comments, say nothing."""
    for line in lines:
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        text = take(draft, data, ask, whole=False)
        ask.size += event_size(data, text)
        if text:
            ask.shown = True
            if show(text):
                draft.end_early()
                return "enough"
        if draft.done:
            return "done"
        if ask.too_long:
            return "enough"
    return "more"
