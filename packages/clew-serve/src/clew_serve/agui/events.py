"""The events of a turn, in the order that the protocol asks for.

A run begins and ends once; a message and a call are begun, told and ended; a step holds what a
thought led to.
"""

from collections.abc import AsyncGenerator, Iterator
from typing import Any, Final

from clew import Entry, Observation, Token, Withdrawn
from clew.interfaces import FINISH, Thought, encode
from clew_serve.agui.interrupts import interrupt_of
from clew_serve.client_tools import tools_of
from clew_serve.errors import problem_of
from clew_serve.service import Service
from clew_serve.turns.ending import Ending, ending_of
from clew_serve.turns.safe_words import SafeWords, safe_text
from clew_serve.turns.turn import Turn

PROTOCOL: Final = "1.0"

Event = dict[str, Any]


class TurnEvents:
    """Makes the events of one turn; `thread` and `run` are the front end's names for it."""

    def __init__(self, service: Service, turn: Turn, thread: str, run: str) -> None:
        self._service, self._turn = service, turn
        self._ids = {"threadId": thread, "runId": run}
        self._words = SafeWords()
        self._message = ""
        """The id of the message that is being told."""
        self._messages = 0
        self._step = ""
        self._thought = False
        """Whether the thought of the step is on record: words that come next are of another one."""

    async def all(self, items: AsyncGenerator[object]) -> AsyncGenerator[Event]:
        """All of them; what goes wrong once they have begun is one too."""
        yield {"type": "RUN_STARTED", **self._ids, "protocolVersion": PROTOCOL}
        try:
            async for item in items:
                for event in self._of(item):
                    yield event
            ending = await ending_of(self._service, self._turn)
            for event in self._last(ending):
                yield event
        except Exception as error:  # noqa: BLE001 - it is told in the stream, which has begun
            for event in (*self._end_message(), *self._end_step()):
                yield event
            _, problem = problem_of(error)
            yield {"type": "RUN_ERROR", "message": problem.message, "code": problem.error}

    def _of(self, item: object) -> Iterator[Event]:
        match item:
            case Token(text=text, field="answer"):
                yield from self._in_step()
                yield from self._tell(self._words.feed(text, self._turn.record))
            case Withdrawn():
                yield from self._end_message()
            case Entry(event=Thought()):
                yield from self._in_step()
                self._thought = True
                yield from self._calls()
            case Entry(event=Observation() as seen):
                yield from self._result(seen)
            case _:
                pass

    def _calls(self) -> Iterator[Event]:
        """The calls of a thought. Of a run below none are told."""
        calls = [it for it in self._turn.record.step.all_calls if it.action.name != FINISH]
        if calls:
            yield from self._end_message()
        for call in calls:
            named = {"toolCallId": f"{self._turn.run_id}:{call.key}"}
            yield {"type": "TOOL_CALL_START", **named, "toolCallName": call.action.name}
            yield {"type": "TOOL_CALL_ARGS", **named, "delta": encode(call.action.args).decode()}
            yield {"type": "TOOL_CALL_END", **named}

    def _result(self, seen: Observation) -> Iterator[Event]:
        """What came of a call of the agent's own; the front end has the results of its tools."""
        record = self._turn.record
        call = next((it for it in record.calls if it.key == seen.call), None)
        theirs = {each.name for each in tools_of(record)}
        if call is None or call.action.name in {FINISH, *theirs} or seen.code == "waits":
            return
        name = f"{self._turn.run_id}:{seen.call}"
        yield {
            "type": "TOOL_CALL_RESULT", "messageId": f"{name}:result", "toolCallId": name,
            "content": safe_text(seen.text, record), "role": "tool",
        }  # fmt: skip

    def _last(self, ending: Ending) -> Iterator[Event]:
        if ending.is_answer:
            text = ending.answer if isinstance(ending.answer, str) else ending.text
            if not self._words.is_beginning_of(text):
                yield from self._end_message()
            yield from self._tell(self._words.finish(text, self._turn.record))
        elif ending.text and not ending.held:
            yield from self._end_message()
            yield from self._tell(ending.text)
        yield from self._end_message()
        yield from self._end_step()
        if ending.refusal:
            yield {"type": "RUN_ERROR", "message": ending.refusal, "code": "refused"}
        else:
            yield self._finished(ending)

    def _finished(self, ending: Ending) -> Event:
        outcome: dict[str, Any] = {"type": "success"}
        if ending.held:
            waiting = [interrupt_of(each, self._turn.record) for each in ending.held]
            outcome = {"type": "interrupt", "interrupts": waiting}
        elif ending.calls:
            ids = [f"{each.run_id}:{each.call}" for each in ending.calls]
            outcome["pendingToolCallIds"] = ids
        elif ending.status == "interrupted":
            outcome = {"type": "cancelled"}
        event = {"type": "RUN_FINISHED", **self._ids, "outcome": outcome, "usage": [self._usage()]}
        return event if ending.answer is None else {**event, "result": ending.text}

    def _usage(self) -> dict[str, int]:
        now, before = self._turn.record.usage, self._turn.before.usage
        sent, written = now.input - before.input, now.output - before.output
        return {"inputTokens": sent, "outputTokens": written, "totalTokens": sent + written}

    def _tell(self, text: str) -> Iterator[Event]:
        if not text:
            return
        if not self._message:
            self._messages += 1
            self._message = f"{self._turn.run_id}-{self._turn.after}-{self._messages}"
            yield {
                "type": "TEXT_MESSAGE_START",
                "messageId": self._message,
                "role": "assistant",
            }
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._message, "delta": text}

    def _end_message(self) -> Iterator[Event]:
        """End the message; words that come next are another one's."""
        self._words = SafeWords()
        if self._message:
            yield {"type": "TEXT_MESSAGE_END", "messageId": self._message}
            self._message = ""

    def _in_step(self) -> Iterator[Event]:
        if self._step and not self._thought:
            return
        yield from self._end_message()
        yield from self._end_step()
        number = len(self._turn.record.steps)
        thinking = not number or self._turn.record.step.thought is not None
        self._step = f"step {number + 1 if thinking and not self._just_thought() else number}"
        yield {"type": "STEP_STARTED", "stepName": self._step}

    def _just_thought(self) -> bool:
        """Whether the last entry is the step's thought, which came in one piece."""
        entries = self._turn.record.entries
        return bool(len(entries)) and isinstance(entries[-1].event, Thought)

    def _end_step(self) -> Iterator[Event]:
        if self._step:
            yield {"type": "STEP_FINISHED", "stepName": self._step}
            self._step, self._thought = "", False
