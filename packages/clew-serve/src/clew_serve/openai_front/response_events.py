"""A response as it comes: the events of OpenAI's stream, numbered, in their order."""

from collections.abc import AsyncGenerator, Iterator
from typing import Any

from clew import Token, Withdrawn
from clew_serve.errors import problem_of
from clew_serve.openai_front.failures import error_of
from clew_serve.openai_front.response_object import Item, ResponseObject, text_part
from clew_serve.turns.ending import Ending, ending_of
from clew_serve.turns.safe_words import SafeWords

Event = dict[str, Any]


class ResponseEvents:
    """Makes the events of one response. Words that turn out to be none of the answer stay an item
    of their own, which the last event has no more.
    """

    def __init__(self, made: ResponseObject) -> None:
        self._made = made
        self._number = self._index = -1
        self._words = SafeWords()
        self._text = ""
        """What was told of the message that is open; "" where none is."""

    async def all(self, items: AsyncGenerator[object]) -> AsyncGenerator[Event]:
        """All of them; what goes wrong once they have begun is one too."""
        yield self._event("response.created", response=self._made.of("in_progress", []))
        yield self._event("response.in_progress", response=self._made.of("in_progress", []))
        try:
            async for item in items:
                for event in self._of(item):
                    yield event
            ending = await ending_of(self._made.service, self._made.turn)
            for event in self._last(ending):
                yield event
        except Exception as error:  # noqa: BLE001 - it is told in the stream, which has begun
            for event in self._end_message("incomplete"):
                yield event
            told = error_of(*problem_of(error))
            failed = {"code": "server_error", "message": told["message"]}
            made = self._made.of("failed", [], error=failed)
            yield self._event("response.failed", response=made)

    def _of(self, item: object) -> Iterator[Event]:
        if isinstance(item, Token) and item.field == "answer":
            yield from self._tell(self._words.feed(item.text, self._made.turn.record))
        elif isinstance(item, Withdrawn):
            yield from self._end_message("incomplete")

    def _last(self, ending: Ending) -> Iterator[Event]:
        made = self._made.ended(ending)
        if ending.is_answer:
            text = ending.answer if isinstance(ending.answer, str) else ending.text
            if not self._words.is_beginning_of(text):
                yield from self._end_message("incomplete")
            yield from self._tell(self._words.finish(text, self._made.turn.record))
            yield from self._end_message("completed")
        else:
            yield from self._end_message("incomplete")
        for item in made["output"]:
            if item["type"] != "message" or not ending.is_answer:
                yield from self._item_events(item)
        kind = "completed" if made["status"] == "completed" else "incomplete"
        yield self._event(f"response.{kind}", response=made)

    def _tell(self, text: str) -> Iterator[Event]:
        if not text:
            return
        if not self._text:
            self._index += 1
            message = self._message([], "in_progress")
            yield self._event("response.output_item.added", item=message, **self._at)
            yield self._event("response.content_part.added", part=text_part(""), **self._within)
        self._text += text
        yield self._event("response.output_text.delta", delta=text, logprobs=[], **self._within)

    def _end_message(self, status: str) -> Iterator[Event]:
        self._words = SafeWords()
        if not self._text:
            return
        text, self._text = self._text, ""
        part = text_part(text)
        yield self._event("response.output_text.done", text=text, logprobs=[], **self._within)
        yield self._event("response.content_part.done", part=part, **self._within)
        message = self._message([part], status)
        yield self._event("response.output_item.done", item=message, **self._at)

    def _message(self, content: list[Item], status: str) -> Item:
        return self._made.message(content, self._index, status)

    def _item_events(self, item: Item) -> Iterator[Event]:
        """An item that comes in one piece."""
        self._index += 1
        if item["type"] == "function_call":
            begun = {**item, "arguments": "", "status": "in_progress"}
            yield self._event("response.output_item.added", item=begun, **self._at)
            within = {"item_id": item["id"], **self._at}
            arguments = item["arguments"]
            kind = "response.function_call_arguments"
            yield self._event(f"{kind}.delta", delta=arguments, **within)
            yield self._event(f"{kind}.done", arguments=arguments, name=item["name"], **within)
        else:
            yield self._event("response.output_item.added", item=item, **self._at)
        yield self._event("response.output_item.done", item=item, **self._at)

    @property
    def _at(self) -> dict[str, int]:
        return {"output_index": self._index}

    @property
    def _within(self) -> dict[str, Any]:
        item = self._message([], "")["id"]
        return {"item_id": item, "content_index": 0, **self._at}

    def _event(self, kind: str, **more: Any) -> Event:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **more}
