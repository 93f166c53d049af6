"""Plain completions, the way back: a body or a stream of chunks as a `Reply`."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from clew.core.contents import Reply
from clew.models.endings import COMPLETIONS
from clew.models.http.endpoint import BadReplyError, StatusError
from clew.models.http.failures import read_trouble
from clew.models.openai.chat_reply import ChatBody, read_usage
from clew.models.think_tags import ThinkTagFilter
from clew.models.usage import merged


class TextChoice(msgspec.Struct):
    """A choice of a body or of a chunk; only the first, 0, is wanted."""

    text: str | None = None
    finish_reason: str | None = None
    index: int | None = None
    error: Any = None

    @property
    def ended_early(self) -> bool:
        """Whether it says why there is no text: a filter may send none."""
        return COMPLETIONS.explains(self.finish_reason)


_decoder = msgspec.json.Decoder(ChatBody[TextChoice])


@dataclass(slots=True)
class CompletionsReplyBuilder:
    """A reply as it comes together. `model` is the one asked for, until the server names one."""

    model: str
    text: list[str] = field(default_factory=list[str])
    aloud: ThinkTagFilter = field(default_factory=ThinkTagFilter)
    words: list[str] = field(default_factory=list[str])
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    done: bool = False

    @property
    def empty(self) -> bool:
        return not self.text

    @property
    def ended(self) -> bool:
        return bool(self.words)

    def end_early(self) -> None:
        self.words = ["stop"]

    def take(self, data: bytes, *, complete: bool) -> str:
        if data == b"[DONE]":
            self.done = True
            return ""
        body = _decoder.decode(data)
        choice = next((each for each in body.choices or () if not each.index), None)
        if error := body.error or (choice is not None and choice.error):
            raise StatusError(read_trouble(200, {"error": error}))
        if complete and (choice is None or (choice.text is None and not choice.ended_early)):
            raise BadReplyError("sent a reply without a choice or without text in it")
        self.usage = merged(self.usage, body.usage)
        self.model = body.model or self.model
        if choice is None:
            return ""
        COMPLETIONS.note(self.words, choice.finish_reason)
        if piece := self.aloud.take(choice.text or ""):
            self.text.append(piece)
        return piece

    def reply(self, sent: int) -> Reply:
        text = "".join(self.text) + self.aloud.rest()
        ending = COMPLETIONS.read(self.words, calls=False, empty=not text)
        return Reply(
            text=text,
            finish=ending.finish,
            ending=ending.word,
            usage=read_usage(self.usage, sent, text),
            model=self.model,
            reasoning=self.aloud.thought,
        )
