"""The messages in what a process prints: one in a line, as the protocol says, or what is meant so.

Some servers print a message over several lines, with line breaks inside of texts, or without one at
its end. Where something was begun and nothing follows, `silence` says that nothing will.
"""

import re
from typing import Final

from clew_mcp.frames import Message, bare, exact
from clew_mcp.replies import Replies

MAX_BYTES: Final = 32_000_000
"""The longest message that a server may send."""

_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+("?)', re.DOTALL)
"""A text, and its last quotation mark, or nothing where it does not end."""


class Lines:
    """Puts the messages of one process together."""

    def __init__(self, replies: Replies) -> None:
        self._replies = replies
        self._pieces: list[bytes] = []  # of the line that is not ended
        self._piece_size = 0
        self._begun: list[bytes] = []  # lines of the message that is not complete
        self._begun_size = 0
        self._levels = _Levels()

    @property
    def too_long(self) -> bool:
        """Whether what was begun is longer than a message may be."""
        return self._piece_size + self._begun_size > MAX_BYTES

    @property
    def is_open(self) -> bool:
        """Whether something was begun that is not complete."""
        return bool(self._begun or self._pieces)

    def feed(self, chunk: bytes) -> list[Message]:
        """The messages that are complete with this piece of the output."""
        head, *lines = chunk.split(b"\n")
        messages: list[Message] = []
        for next_head in lines:
            messages += self._line(self._unended() + head)
            head = next_head
        if head:
            self._pieces.append(head)
            self._piece_size += len(head)
        return messages

    def silence(self) -> list[Message]:
        """What there is although it was not ended, as nothing follows."""
        levels = _Levels()
        levels.add(b"".join(self._pieces))
        messages: list[Message] = []
        if self._begun or levels.balanced:
            messages = self._line(self._unended(), "a line of a message does not end")
        return messages + self._ended()

    def _unended(self) -> bytes:
        """The beginning of the line, which is taken out."""
        line, self._pieces, self._piece_size = b"".join(self._pieces), [], 0
        return line

    def _line(self, line: bytes, *odd: str) -> list[Message]:
        """The messages that are complete with this line."""
        body = line.strip()
        message = (
            exact(body) if body.startswith(b"{") and b'"jsonrpc"' in body and not odd else None
        )
        if message is not None:
            return [*self._ended(), *self._replies.take(message)]
        if self._begun:
            self._add(line)
            return self._ended() if self._levels.balanced else []
        body = bare(body, [])
        self._levels = _Levels()
        self._levels.add(body)
        if self._levels.balanced or not body.startswith((b"{", b"[")):
            return self._replies.mend(line, odd) if body else []
        self._begun, self._begun_size = [line], len(line)
        return []

    def _add(self, line: bytes) -> None:
        """A further line of a message that was begun."""
        self._levels.add(line)
        self._begun.append(line)
        self._begun_size += len(line)

    def _ended(self) -> list[Message]:
        """The messages in the lines that were begun."""
        lines, self._begun, self._begun_size = self._begun, [], 0
        odd = ["a message is spread over several lines"] if len(lines) > 1 else []
        return self._replies.mend(b"\n".join(lines), odd) if lines else []


class _Levels:
    """How many brackets are open at the end of a piece of JSON, and whether a text is."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_text = False

    @property
    def balanced(self) -> bool:
        """Whether all is closed."""
        return self._depth <= 0 and not self._in_text

    def add(self, line: bytes) -> None:
        """Count a further line."""
        pieces = _STRING.split(b'"' + line if self._in_text else line)
        self._in_text = pieces[-2:-1] == [b""]
        outside = b"".join(pieces[::2])
        self._depth += sum(map(outside.count, (b"{", b"["))) - sum(map(outside.count, (b"}", b"]")))
