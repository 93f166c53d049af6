"""Whether a conversation stands in clew's record, and in its prompt, as it was recorded."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from clew.codecs.text_answer import READ
from clew.core.contents import RawCall, Reply
from clew.core.prompts import Part
from clew.core.steps import Call
from clew.core.values import Json
from recordings.allowed import forbidden
from recordings.native_drive import Driven
from recordings.native_talks import NOBODY, Talk, Turn, name_of, parameters

UNREAD: Final = "ERROR: unreadable reply"
"""How clew's own word about a reply that counts for nothing begins."""

REMINDER: Final = "NOTE: "
"""How a reminder begins that clew puts into a prompt: a question said again, what is left."""

Message: TypeAlias = tuple[str, str, tuple[tuple[str, str, str], ...], str]
"""Role, text, calls (name, arguments, id), and the id of the call that is answered."""

NOT_LISTED: Final = "no such tool in the recorded list (its harness knows it)"
SENT_AGAIN: Final = "sent again under an earlier call's id; clew tells of that call's result"
AS_TEXT: Final = "written as text and read as a call (its harness took it for an answer)"


@dataclass
class Checked:
    """What was counted over all conversations, and what was not as recorded."""

    talks: int = 0
    calls: int = 0
    unlisted: int = 0
    """Calls of tools that the recorded list does not have."""
    forbidden: int = 0
    """Calls that their own definitions forbid, and that are refused."""
    written: int = 0
    """Calls that the model wrote as text, and that its harness took for words to a person."""
    again: int = 0
    """Calls under the id of an earlier one, with the same request: told of that, as decided."""
    apart: int = 0
    """Conversations with calls of these sorts, which the last prompt has otherwise."""
    valid: int = 0
    same: int = 0
    once: int = 0
    prompts: int = 0
    reminders: int = 0
    """Messages of clew's own in the last prompts."""
    beside: int = 0
    """Rejected replies with a call beside text, and how many of them are taken."""
    taken: int = 0
    empty: int = 0
    """Rejected replies with nothing at all, and how many of them are a fault."""
    faults: int = 0
    met: Counter[str] = field(default_factory=Counter[str])
    misses: list[str] = field(default_factory=list[str])
    differences: list[str] = field(default_factory=list[str])

    @property
    def aside(self) -> int:
        """Calls that clew takes otherwise than their harness, each for a known reason."""
        return self.unlisted + self.forbidden + self.written + self.again


def check(driven: Driven, checked: Checked) -> None:
    """Compare the record and the last prompt with the recording."""
    talk = driven.talk
    checked.talks += 1
    otherwise = checked.aside
    for step, turn in zip(driven.trajectory.steps, talk.turns, strict=False):
        for number, call in enumerate(step.calls):
            if step.thought is not None and READ in step.thought.repairs:
                checked.calls += 1
                checked.written += 1
                checked.misses.append(f"{talk.name}, call {call.key}: {AS_TEXT}")
            else:
                _check_call(driven, call, turn, number, checked)
    if (steps := len(driven.trajectory.steps)) != len(talk.turns):
        checked.differences.append(f"{talk.name}: {steps} replies instead of {len(talk.turns)}")
    wanted = list(expected(talk))
    messages, reminders = without_reminders(list(told(driven.prompt)), wanted)
    checked.reminders += reminders
    why = _other_message(messages, wanted)
    if why and checked.aside > otherwise:
        checked.apart += 1
    elif why:
        checked.differences.append(f"{talk.name}: the last prompt: {why}")
    else:
        checked.prompts += 1
    for number, reply in enumerate(talk.rejected, start=1):
        if why := _rejected(driven, reply, checked):
            checked.differences.append(f"{talk.name}, rejected reply {number}: {why}")
    _meet(talk, checked.met)


def _rejected(driven: Driven, reply: Reply, checked: Checked) -> str:
    """Why a reply that the harness refused is not taken as it is; empty ones are to be faults."""
    read = driven.agent.engine.codec.parse(driven.agent.engine.prompt_spec, reply)
    if not reply.calls and not reply.text:
        checked.empty += 1
        checked.faults += bool(read.fault)
        return "" if read.fault else "it is empty and no fault"
    checked.beside += 1
    for action in read.actions:
        if (validator := driven.agent.engine.validators.get(action.name)) is None:
            return f"{action.name}: {NOT_LISTED}"
        if wrong := action.fault or "; ".join(validator(action.args)):
            if why := _against(driven, action.name, action.args):
                checked.beside -= 1
                wrong += f"; its definition says so too: {why}"
            return f"{action.name}: {wrong}"
    written = [(call.name, json.loads(call.arguments or "{}")) for call in reply.calls]
    if [(action.name, action.args) for action in read.actions] != written or not read.actions:
        return "other calls than it has"
    if read.text != reply.text:
        return "another text than it has"
    checked.taken += 1
    return ""


def _check_call(driven: Driven, call: Call, turn: Turn, number: int, checked: Checked) -> None:
    where = f"{driven.talk.name}, call {call.key}"
    checked.calls += 1
    if call.action.name not in driven.agent.engine.tools:
        checked.unlisted += 1
        checked.misses.append(f"{where}: {call.action.name}: {NOT_LISTED}")
    elif not (call.observation and call.observation.made) and (
        why := _forbidden(driven, turn, number)
    ):
        checked.forbidden += 1
        checked.misses.append(
            f"{where}: {call.action.name}: refused, and its definition says so too: {why}"
        )
    elif (
        call.observation
        and call.observation.code == "same_call"
        and _again(driven, call, turn, number)
    ):
        checked.again += 1
        checked.misses.append(f"{where}: {call.action.name}: {SENT_AGAIN}")
    elif call.observation is None or not call.observation.made:
        why = "not made" if call.observation is None else call.observation.text
        checked.misses.append(f"{where}: {why}")
    else:
        checked.valid += 1
        checked.once += driven.world.made[call.key] == 1
        if why := _difference(call, turn, number):
            checked.differences.append(f"{where}: {why}")
        else:
            checked.same += 1


def _forbidden(driven: Driven, turn: Turn, number: int) -> str:
    """Why the call's own definition does not allow it, by a plain reading."""
    if number >= len(turn.asked):
        return ""
    return _against(driven, *turn.asked[number])


def _again(driven: Driven, call: Call, turn: Turn, number: int) -> bool:
    """Whether the recording has this id and request in an earlier reply too."""
    asked = turn.reply.calls[number]
    before = int(call.key.partition(".")[0]) - 1
    return any(
        (one.id, one.name, one.arguments) == (asked.id, asked.name, asked.arguments)
        for earlier in driven.talk.turns[:before]
        for one in earlier.reply.calls
    )


def _against(driven: Driven, name: str, args: Json) -> str:
    """Why the definition of this name does not allow these arguments."""
    named = (tool for tool in driven.talk.tools if name_of(tool) == name)
    return forbidden(parameters(next(named, None)), args)


def _difference(call: Call, turn: Turn, number: int) -> str:
    """In what a call that was made is another than the recorded one."""
    seen = call.observation
    if number >= len(turn.asked) or number >= len(turn.seen):
        return "the recording has no such call"
    if (call.action.name, call.action.args) != turn.asked[number]:
        return f"the recording has {turn.asked[number][0]} there, or other arguments"
    if seen is None or (seen.text, seen.ok) != (turn.seen[number].text, turn.seen[number].ok):
        return "it observed something else"
    return ""


# ---------------------------------------------------------------- the prompt


def told(prompt: Sequence[Part]) -> Iterator[Message]:
    """The messages of a prompt, but for the system's."""
    for part in prompt:
        if part.role != "system":
            calls = tuple((call.name, call.arguments or "", call.id) for call in part.calls)
            unread = part.role == "user" and part.text.startswith(UNREAD)
            yield part.role, UNREAD if unread else part.text, calls, part.call_id


def without_reminders(messages: list[Message], wanted: list[Message]) -> tuple[list[Message], int]:
    """The messages but for clew's own reminders, and how many these are.

    A person may begin like them: what the recording has is no reminder.
    """
    texts = {text for role, text, *_ in wanted if role == "user"}
    kept = [
        one
        for one in messages
        if one[0] != "user" or not one[1].startswith(REMINDER) or one[1] in texts
    ]
    return kept, len(messages) - len(kept)


def expected(talk: Talk) -> Iterator[Message]:
    """The conversation up to its last reply, as recorded, message by message."""
    yield "user", talk.goal, (), ""
    for step, turn in enumerate(talk.turns[:-1], start=1):
        calls = _written(turn.reply.calls, step)
        if turn.unread:
            if text := turn.reply.text.strip():  # an empty reply is no turn
                yield "assistant", text, (), ""
            yield "user", UNREAD, (), ""
            continue
        yield "assistant", turn.reply.text.strip(), calls, ""
        for (_, _, id_), seen in zip(calls, turn.seen, strict=False):
            yield "tool", seen.text, (), id_
        if turn.answers:
            yield "user", turn.text or NOBODY, (), ""


def _written(calls: Sequence[RawCall], step: int) -> tuple[tuple[str, str, str], ...]:
    """Calls with the provider's own ids, where it gave each one of its own within the reply."""
    ids = [call.id for call in calls]
    own = all(ids) and len(set(ids)) == len(ids)
    return tuple(
        (call.name, call.arguments or "{}", call.id if own else f"call_{step}_{number}")
        for number, call in enumerate(calls, start=1)
    )


def _other_message(messages: list[Message], wanted: list[Message]) -> str:
    for number, (one, other) in enumerate(zip(messages, wanted, strict=False), start=1):
        if one != other:
            return f"message {number} is another: {one[0]}, recorded: {other[0]}"
    if len(messages) != len(wanted):
        return f"{len(messages)} messages instead of {len(wanted)}"
    return ""


# ---------------------------------------------------------------- what real models do


def _meet(talk: Talk, met: Counter[str]) -> None:
    """Count what a runtime may trip over: ids and calls that come again, text beside a call."""
    ids = dict[str, tuple[str, str | None]]()
    results = dict[tuple[str, str | None], str]()
    repeated = False
    for turn in talk.turns:
        calls = turn.reply.calls
        met["text beside a call"] += bool(calls and turn.reply.text.strip())
        met["replies with calls"] += bool(calls)
        met["several calls"] += len(calls) > 1
        met["most calls"] = max(met["most calls"], len(calls))
        for number, call in enumerate(calls):
            asked = call.name, call.arguments
            if call.id in ids:
                repeated = True
                met["ids again"] += 1
                met["ids again for another call"] += ids[call.id] != asked
            ids[call.id] = asked
            if number < len(turn.seen):
                seen = turn.seen[number].text
                met["calls again"] += asked in results
                met["calls again, another result"] += results.get(asked, seen) != seen
                results[asked] = seen
    met["talks with ids again"] += repeated
