"""Whose answer is it: the requests that wait at a server, and what it sends.

An answer is for the request that its id names; it is passed over where that was never made, or does
not wait any more. One without an id is for the only request that it can be meant for, as soon as
there is only one. One that cannot be read ends its request at once: whose answer will never come
need not wait for its deadline.
"""

import json
import logging
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeGuard

import mcp_types as types

from clew.support.schema_parts import keywords
from clew.support.short_text import one_line
from clew_mcp.frames import (
    Answer,
    Frame,
    Message,
    Number,
    bare,
    exact,
    frame_of,
    mended,
    number_of,
    outline,
)
from clew_mcp.outcomes import LOST
from clew_mcp.settings import printable

LOG: Final = logging.getLogger("clew")

NO_MESSAGE: Final = "its answer is not a message of the protocol"
_MAX_QUOTED_CHARS: Final = 500
_OF_NOTIFICATIONS: Final = frozenset({types.METHOD_NOT_FOUND, types.INVALID_REQUEST})
"""Errors that some servers send, against the protocol, in answer to a notification."""


class Oddities:
    """Says once of each way in which a server does not keep to the protocol, that it does not."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._told: set[str] = set()

    def tell(self, odd: Sequence[str]) -> None:
        """Say what was not said before."""
        for one in odd:
            if one not in self._told:
                self._told.add(one)
                LOG.warning(
                    "MCP server %s does not keep to the protocol, and is read all the same: %s",
                    self._server, one,
                )  # fmt: skip

    def tell_of_none(self, text: str) -> None:
        """Say, to whom looks closely, what was passed over."""
        LOG.debug("MCP server %s sent an invalid message: %s", self._server, text)

    def tell_of_nobodys(self, count: int, text: str) -> None:
        """Say that an answer may be for several requests."""
        LOG.warning(
            "MCP server %s sent an answer that names none of its %d open requests: %s",
            self._server, count, text,
        )  # fmt: skip

    def tell_of_a_strangers(self, text: str) -> None:
        """Say that an answer is for a request that was never made."""
        LOG.warning(
            "MCP server %s sent an answer to a request that was never made; it is passed over: %s",
            self._server, text,
        )  # fmt: skip


class _Astray(NamedTuple):
    """An answer that names no request, those that it may be for, and how it is shown.

    `answer` is None where it cannot be read.
    """

    may_be_for: frozenset[Number]
    answer: Answer | None
    text: str


class Replies:
    """Gives each answer to its request.

    With an `addressee` every answer is for that one, as in the reply to an HTTP request.
    """

    def __init__(self, oddities: Oddities, addressee: Number | None = None) -> None:
        self._oddities = oddities
        self._addressee = addressee
        self._waiting: set[Number] = set() if addressee is None else {addressee}
        self._made = set(self._waiting)
        self._abandoned: set[Number] = set()
        self._astray: list[_Astray] = []
        self._notified = 0
        self._since: set[Number] = set()
        self.no_message = b""
        """The beginning of what it sent last in place of a message."""

    @property
    def waits(self) -> bool:
        """Whether a request waits."""
        return bool(self._waiting)

    def sent(self, message: Message) -> None:
        """A message goes to the server: a request waits for its answer, unless it is given up."""
        if isinstance(message, types.JSONRPCRequest):
            if (number := number_of(message.id)) is not None:
                self._waiting.add(number)
                self._made.add(number)
                self._since.add(number)
        elif isinstance(message, types.JSONRPCNotification):
            self._notified += 1
            self._since.clear()
            if message.method == "notifications/cancelled":
                self._give_up(number_of((message.params or {}).get("requestId")))

    def _give_up(self, number: Number | None) -> None:
        """A request does not wait any more; its answer may come all the same."""
        if number is not None and number in self._waiting:
            self._waiting.discard(number)
            self._abandoned.add(number)

    def forget(self, number: Number) -> None:
        """A request does not wait any more, and no answer will come."""
        self._waiting.discard(number)

    def read(self, body: bytes) -> list[Message]:
        """The messages in a text that is whole."""
        message = exact(body)
        return self.mend(body) if message is None else self.take(message)

    def take(self, message: Message) -> list[Message]:
        """A message that is read, if anybody waits for it, and what is plain because of it."""
        if not is_answer(message):
            return [message]
        return [*self._addressed(message, self._number(number_of(message.id)))]

    def mend(self, body: bytes, odd: Sequence[str] = ()) -> list[Message]:
        """The messages in a text that is none to the letter, or the end of whom it answers.

        `odd` says what is known of it already.
        """
        ways = [*odd]
        body = bare(body, ways)
        frame = frame_of(body, ways)
        messages = [one for value in frame.values for one in self._meant(value, frame, ways)]
        if frame.rest:
            messages += self._broken(frame.rest, *outline(frame.rest))
        if not messages:
            self.no_message = body[:_MAX_QUOTED_CHARS]
            self._oddities.tell_of_none(printable(self.no_message.decode(errors="replace")))
        return messages

    def end(self, number: Number, why: str) -> list[Message]:
        """End a request whose answer will not come; what became of it is not known."""
        return [*self._settled(number, _lost(number, why))]

    def _meant(self, value: Any, frame: Frame, odd: list[str]) -> Iterator[Message]:
        """The message that is meant by a value, to whom it is for."""
        fields = keywords(value)
        number = self._number(number_of(fields.get("id")))
        if "method" in fields:
            message = None if frame.beside or not _is_of_mcp(fields) else mended(fields, odd)
            if message is not None:
                self._oddities.tell(odd)
                yield message
            return
        if frame.beside and number not in self._made:
            return  # a line of a log that speaks of some message
        if not self._is_answer(fields.keys(), number):
            return
        message = mended(fields, odd)
        empty = number in self._made and _is_null(fields)
        if message is None or empty or not is_answer(message):
            yield from self._broken(_json(value), {*fields}, number)
            return
        self._oddities.tell(odd)
        yield from self._addressed(message, number)

    def _number(self, number: Number | None) -> Number | None:
        return number if self._addressee is None else self._addressee

    def _is_answer(self, keys: Collection[str], number: Number | None) -> bool:
        """Whether an object is an answer: others are what a program prints."""
        if "method" in keys:
            return False
        if self._addressee is not None:
            return True
        says = "result" in keys or "error" in keys
        if "jsonrpc" in keys:
            return says or number is not None
        return says and number in self._made

    def _addressed(self, answer: Answer, number: Number | None) -> Iterator[Message]:
        """Give an answer to its request."""
        if number in self._made:
            yield from self._settled(number, answer)
        else:
            text = _json(answer.model_dump(exclude_unset=True))
            yield from self._nobodys(answer, text, number)

    def _broken(self, text: str, keys: set[str], number: Number | None) -> Iterator[Message]:
        """End the request whose answer cannot be read, if it is one."""
        number = self._number(number)
        if not self._is_answer(keys, number):
            return
        if number in self._made:
            yield from self._settled(number, _lost(number, text))
        else:
            yield from self._nobodys(None, text, number)

    def _settled(self, number: Number, answer: Answer) -> Iterator[Message]:
        """The end of a request, and what is plain because of it; nothing if it has ended before."""
        self._abandoned.discard(number)
        if number in self._since:  # then it has seen the notifications before it too
            self._notified = 0
        if number in self._waiting:
            self._waiting.discard(number)
            yield answer.model_copy(update={"id": number})
            yield from self._plain()

    def _nobodys(
        self, answer: Answer | None, text: str, number: Number | None
    ) -> Iterator[Message]:
        """What becomes of an answer that names no request, or one that was never made."""
        if number is not None:
            self._oddities.tell_of_a_strangers(printable(text[:_MAX_QUOTED_CHARS]))
            return
        if self._notified and answer is not None and _is_of_notification(answer):
            self._notified -= 1
            return
        if not self._waiting:
            return
        self._astray.append(_Astray(frozenset(self._waiting), answer, text))
        if len(self._waiting) > 1:
            self._oddities.tell_of_nobodys(len(self._waiting), printable(text[:_MAX_QUOTED_CHARS]))
        yield from self._plain()

    def _plain(self) -> Iterator[Message]:
        """The ends of those whose answers are here, as nobody else is left for these."""
        open_ = [one._replace(may_be_for=one.may_be_for & self._waiting) for one in self._astray]
        self._astray = [one for one in open_ if one.may_be_for]
        for few in sorted({one.may_be_for for one in self._astray}, key=len):
            theirs = [one for one in self._astray if one.may_be_for <= few]
            if len(theirs) < len(few):
                continue
            one = theirs[0]
            certain = len(theirs) == len(few) == 1 and not self._abandoned
            for number in few:
                if certain and one.answer is not None:
                    self._oddities.tell(["an answer names no request"])
                    yield from self._settled(number, one.answer)
                else:
                    yield from self._settled(number, _lost(number, one.text))
            return


def is_answer(message: Message) -> TypeGuard[Answer]:
    """Whether a message is an answer."""
    return isinstance(message, types.JSONRPCResponse | types.JSONRPCError)


def _is_of_mcp(message: dict[str, Any]) -> bool:
    """Whether an object with a method is a message: lines of a log have some too ("GET")."""
    method = message["method"]
    return "jsonrpc" in message or (isinstance(method, str) and ("/" in method or method == "ping"))


def _is_null(message: dict[str, Any]) -> bool:
    """Whether it is an answer that holds nothing; some servers send one to a notification."""
    return message.get("result", "") is None and message.get("error") is None


def _is_of_notification(answer: Answer) -> bool:
    """Whether an answer without an id may be one to a notification: it says nothing else."""
    if isinstance(answer, types.JSONRPCError):
        return answer.error.code in _OF_NOTIFICATIONS
    return not answer.result


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _lost(number: Number, text: str) -> types.JSONRPCError:
    """The end of a request that was sent, and whose answer cannot be read."""
    quoted = printable(one_line(text[:_MAX_QUOTED_CHARS]))
    error = types.ErrorData(code=LOST, message=f"{NO_MESSAGE}: {quoted}")
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)
