"""A conversation that was held elsewhere as the beginning of a run's record."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from clew.agent.agent import Agent
from clew.agent.question import Question, message_parts
from clew.conversations.reading import Item, Messages, Outcome, Turn, Words, read_messages
from clew.core.actions import Action
from clew.core.codes import FINISH, Trust
from clew.core.contents import Asked, Observation, RawCall, Reply, Text, text_parts
from clew.core.events import AnyEvent, Changed, Fingerprints, Note, Stop, Thought
from clew.core.specs import AgentSpec
from clew.core.values import Json
from clew.support.arguments import check_argument
from clew.support.errors import ConfigError

BEGINS: Final = "(The assistant speaks first.)"
"""The question of a conversation that begins with the model's words."""

ELSEWHERE: Final = "said elsewhere"
"""What has changed in a run whose beginning was said elsewhere."""

_PRINTS: Final = Fingerprints("", "", "", "")


def history_of(
    agent: Agent[Any, Any], messages: Messages, trust: Trust = "untrusted"
) -> tuple[Question, tuple[AnyEvent, ...]]:
    """The question that began a conversation, and what came after it, up to the last word.

    `submit` takes both, for a run that answers the last of messages of OpenAI's or Anthropic's
    form. `trust` is that of all but the last one, as in `answer_messages`. Raises `ConfigError` for
    what cannot be read, where a call and its results do not fit, or nothing is left to answer.
    """
    check_argument("agent", agent, Agent, "an Agent")
    first, events = _read(agent, messages, trust)
    for event in events:
        if isinstance(event, Note):
            message_parts(agent, "a message", question_of(event.parts))
    return question_of(first), tuple(events)


def question_of(parts: Asked) -> Question:
    """Parts of a record as a question that may be asked."""
    return [part.text if isinstance(part, Text) else part for part in parts]


def _read(agent: Agent[Any, Any], messages: Messages, trust: Trust) -> tuple[Asked, list[AnyEvent]]:
    items = read_messages(messages)
    if not items or isinstance(items[-1], Turn):
        raise ConfigError("the messages end with no question: give what is to be answered last")
    if isinstance(items[0], Outcome):
        raise ConfigError("the messages begin with a result: give what was asked before it too")
    first = items[0].parts if isinstance(items[0], Words) else text_parts(BEGINS)
    told = items[1:] if isinstance(items[0], Words) else items
    if not told:
        return first, []
    last = [Note(told[-1].parts)] if isinstance(told[-1], Words) else []
    before = _Events(agent.spec).of(told[:-1] if last else told)
    changed = Changed(agent.spec, (ELSEWHERE,), outside=trust == "untrusted")
    return first, [*before, changed, *last]


class _Events:
    """Makes events of what was said, numbering steps and calls as the record does."""

    def __init__(self, spec: AgentSpec) -> None:
        self._spec = spec
        self._step = 0
        self._waiting: dict[str, tuple[str, str]] = {}
        self._events: list[AnyEvent] = []

    def of(self, items: Sequence[Item]) -> list[AnyEvent]:
        for item in _joined(items):
            if isinstance(item, Outcome):
                self._observe(item)
                continue
            self._close()
            if isinstance(item, Words):
                self._events.append(Note(item.parts))
            else:
                self._think(item)
        self._close()
        return self._events

    def _think(self, turn: Turn) -> None:
        self._step += 1
        reply = Reply(turn.text, turn.calls, "calls" if turn.calls else "stop")
        if not turn.calls:
            self._events += [
                Thought(reply, _PRINTS, answer=turn.text),
                Stop("answered", answer=turn.text),
            ]
            return
        actions = tuple(map(_action, turn.calls))
        self._events.append(Thought(reply, _PRINTS, turn.text, actions))
        for number, call in enumerate(turn.calls, 1):
            if call.id in self._waiting:
                raise ConfigError(
                    f"the messages have two calls {call.id!r} at once: name them apart"
                )
            self._waiting[call.id] = f"{self._step}.{number}", call.name

    def _observe(self, outcome: Outcome) -> None:
        if (call := self._waiting.pop(outcome.call, None)) is None:
            message = f"the messages have a result of {outcome.call!r}, and no such call before it"
            raise ConfigError(message)
        key, name = call
        known = self._spec.tools.get(name)
        self._events.append(
            Observation(
                key,
                outcome.text,
                ok=outcome.ok,
                code="" if outcome.ok else "tool_error",
                effect="read" if known is None else known.effect,
                attachments=outcome.attachments,
            )
        )

    def _close(self) -> None:
        """Close calls of which the messages tell no result."""
        for key, _ in self._waiting.values():
            text = "ERROR: interrupted: its result is not in the messages"
            self._events.append(
                Observation(key, text, ok=False, code="interrupted", outcome="unknown")
            )
        self._waiting.clear()


def _joined(items: Sequence[Item]) -> list[Item]:
    """The items with text of the model and what it wrote right behind it as one reply.

    Some APIs tell a reply's text and its calls one by one: only the end of a reply is an answer.
    """
    joined: list[Item] = []
    for item in items:
        last = joined[-1] if joined else None
        if isinstance(item, Turn) and isinstance(last, Turn) and not last.calls:
            joined[-1] = Turn(f"{last.text}\n\n{item.text}".strip(), item.calls)
        else:
            joined.append(item)
    return joined


def _action(call: RawCall) -> Action:
    if call.name == FINISH:
        raise ConfigError(
            f"the messages call {FINISH}, which is clew's own: give its answer as text"
        )
    try:
        args = msgspec.json.decode(call.arguments or "{}", type=dict[str, Json])
    except (msgspec.DecodeError, RecursionError) as error:
        return Action(call.name, fault=f"the arguments are no JSON object: {error}")
    return Action(call.name, args)
