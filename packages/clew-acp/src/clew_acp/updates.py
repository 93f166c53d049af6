"""What happens in a run, item by item, as updates of a session."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from acp import schema

from clew import Calling, CallProgress, Entry, Nested, Observation, Token, Trajectory, Withdrawn
from clew.guards import Planned
from clew.interfaces import FINISH, Attempt, Note, Started, Stop, Suspended, Thought
from clew_acp.content import Block, blocks_of
from clew_acp.plans import Plan
from clew_acp.safe_text import WordStream, as_json, fenced, of_model
from clew_acp.tool_calls import CallView, news, running

Update: TypeAlias = (
    schema.UserMessageChunk
    | schema.AgentMessageChunk
    | schema.AgentThoughtChunk
    | schema.ToolCallStart
    | schema.ToolCallProgress
    | schema.AgentPlanUpdate
    | schema.AvailableCommandsUpdate
)

_ANSWERS: Final = frozenset({"answered", "declined", "bound", "failed"})


class Updates:
    """Makes updates of what the run of a session records, and of what is told between that.

    It is fed all entries from the first one on. Words of an answer are let out as they come; once
    the record has the answer, only the rest follows. `folder` is what paths of calls are relative
    to. A message that has this client's own `request` is not told to it again.
    """

    def __init__(self, run_id: str, folder: Path) -> None:
        self.run_id = run_id
        self.request = ""
        self.record = Trajectory(run_id)
        """The record as far as it was told."""
        self._folder = folder
        self._below: dict[str, Trajectory] = {}
        self._thought, self._answer = WordStream(), WordStream()
        self._plan = Plan()
        self._views: dict[str, CallView] = {}
        self._running: set[str] = set()

    def of(self, item: object) -> Iterator[Update]:
        """The updates of an item of the stream. Of a run below only its calls are told."""
        match item:
            case Entry():
                self.record.add(item)
                yield from self._of_entry(item.event)
                yield from self._of_calls(item.event, self.record)
            case Nested(path=path, item=Entry() as entry):
                record = self._below.setdefault(path[-1], Trajectory(path[-1]))
                if entry.seq == len(record) + 1:  # else it was told before
                    record.add(entry)
                    yield from self._of_calls(entry.event, record)
            case Nested(path=path, item=inner):
                yield from self._of_live_call(inner, path[-1])
            case Token(text=text, field="thought"):
                yield from _thought(self._thought.feed(text, self.record))
            case Token(text=text, field="answer"):
                yield from _message(self._answer.feed(text, self.record))
            case Withdrawn():
                self._answer.withdraw()
            case _:
                yield from self._of_live_call(item, self.run_id)

    def compare(self, view: CallView, text: str | None) -> CallView:
        """A call that puts a text in the place of this one, and the difference that it makes."""
        self._views[view.id] = replace(view, old_text=text)
        return self._views[view.id]

    def _of_live_call(self, item: object, run_id: str) -> Iterator[Update]:
        match item:
            case Calling(call=call):
                yield from self._attempted(f"{run_id}:{call}")
            case CallProgress(call=call, text=text) if f"{run_id}:{call}" in self._views:
                yield news(f"{run_id}:{call}", text)
            case _:
                pass

    def _attempted(self, name: str) -> Iterator[Update]:
        """An attempt of a call begins: the stream tells it, and then the record."""
        if name in self._views and name not in self._running:
            self._running.add(name)
            yield running(name)

    def _of_calls(self, event: object, record: Trajectory) -> Iterator[Update]:
        """What an entry says of calls."""
        match event:
            case Thought() | Suspended() if record.steps:
                for call in record.step.all_calls:
                    name = f"{record.run_id}:{call.key}"
                    if call.action.name != FINISH and name not in self._views:
                        self._views[name] = CallView(name, call.action, self._folder)
                        yield self._views[name].start()
            case Attempt(call=call):
                yield from self._attempted(f"{record.run_id}:{call}")
            case Observation(call=call) if (name := f"{record.run_id}:{call}") in self._views:
                view = self._views[name]
                self._running.discard(name)
                yield view.ended(event)
                yield from self._plan.after(view.action, event)
            case _:
                pass

    def _of_entry(self, event: object) -> Iterator[Update]:
        match event:
            case Started(question=parts):
                if not self.request:
                    yield from map(_user, blocks_of(parts))
            case Note(source="person", parts=parts, request=request):
                if not request or request != self.request:
                    yield from map(_user, blocks_of(parts))
            case Thought():
                yield from self._of_thought(event)
            case Planned():
                yield from self._plan.begin(event)
            case Stop():
                yield from self._of_stop(event)
            case _:
                pass

    def _of_thought(self, thought: Thought) -> Iterator[Update]:
        """Its words, as far as they were not told: those beside calls were told as an answer's."""
        if thought.reply.reasoning:
            yield from _thought(self._thought.finish(thought.reply.reasoning, self.record))
        if not thought.text:
            pass
        elif self._answer.is_beginning_of(thought.text):
            yield from _message(self._answer.finish(thought.text, self.record))
        else:
            yield from _thought(self._thought.finish(thought.text, self.record))

    def _of_stop(self, stop: Stop) -> Iterator[Update]:
        """The answer, as far as it was not told, and why there is none, or no whole one."""
        if stop.status in _ANSWERS and stop.answer is not None:
            answer = stop.answer
            text = answer if isinstance(answer, str) else fenced(as_json(answer))
            yield from _message(self._answer.finish(text, self.record))
        self._answer.withdraw()
        if stop.status in {"bound", "failed", "refused"} and stop.reason:
            yield from _message(f"\n\n({of_model(f'{stop.status}: {stop.reason}', self.record)})")


def _user(block: Block) -> schema.UserMessageChunk:
    return schema.UserMessageChunk(session_update="user_message_chunk", content=block)


def _thought(text: str) -> Iterator[schema.AgentThoughtChunk]:
    if text:
        block = schema.TextContentBlock(type="text", text=text)
        yield schema.AgentThoughtChunk(session_update="agent_thought_chunk", content=block)


def _message(text: str) -> Iterator[schema.AgentMessageChunk]:
    if text:
        yield message(text)


def message(text: str) -> schema.AgentMessageChunk:
    """Words of the agent."""
    block = schema.TextContentBlock(type="text", text=text)
    return schema.AgentMessageChunk(session_update="agent_message_chunk", content=block)
