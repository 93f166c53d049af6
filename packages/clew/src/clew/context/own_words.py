"""What a model wrote, as far as later prompts show it to the model again.

The record keeps what may count (`clew.agent.kept_replies`). A prompt shows what counted in full,
up to a size that no honest reply reaches, and of what was refused only as much as it takes to see
what was wrong.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import msgspec

from clew.core.actions import Action
from clew.core.codec import VISIBLE_CHARS
from clew.core.codes import UNMADE
from clew.core.contents import RawCall, Reply, text_parts
from clew.core.events import Note, Thought
from clew.core.steps import Call, Notice, Step
from clew.core.values import Json, encode
from clew.support.short_text import cut

REFUSED_CHARS: Final = 8_000
"""The most that is shown of a reply that could not be read, and of a step's refused calls."""

NAME_CHARS: Final = 64
"""The most of a tool's name that is shown; a longer one names no tool."""

WIRE_CHARS: Final = 1_000_000
"""What a provider wants back word by word is left out if it is longer: it cannot be shortened."""

_MIN_CHARS: Final = 200
_ID_CHARS: Final = 200


def shortened(text: str, max_chars: int) -> str:
    """The text, or its beginning and end with a remark about the middle."""
    if len(text) <= max_chars:
        return text
    tail = max_chars // 5
    left = f"{len(text) - max_chars:,} of {len(text):,}"
    return f"{text[: max_chars - tail]} [… {left} characters are left out here …] {text[-tail:]}"


def bounded(step: Step, thought: Thought) -> Step:
    """The step with what the model wrote in it, and in its thought, shortened where it is long."""
    if _size(step, thought) <= REFUSED_CHARS:
        return step
    refused = [call for call in step.calls if _refused(call)]
    made = [call for call in step.calls if not _refused(call)]
    each, other = _share(refused, REFUSED_CHARS), _share(made, VISIBLE_CHARS)
    calls = tuple(_call(call, each if _refused(call) else other) for call in step.calls)
    return msgspec.structs.replace(
        step,
        thought=_thought(thought, calls),
        calls=calls,
        notices=tuple(map(_notice, step.notices)),
    )


def _size(step: Step, thought: Thought) -> int:
    """About how many characters of the step come from the model, counted in little time."""
    reply = thought.reply
    size = len(reply.text) + len(thought.fault) + len(thought.text) + len(reply.reasoning)
    for raw in reply.calls:
        size += len(raw.arguments or "") + len(raw.name) + len(raw.id)
    for notice in step.notices:
        size += len(notice.text) if isinstance(notice, Note) and notice.source == "check" else 0
    for call in step.calls:
        size += len(call.revision)
    return size


def _refused(call: Call) -> bool:
    """Whether the call was refused as it was written."""
    seen = call.observation
    return bool(call.action.fault) or (seen is not None and seen.code in UNMADE)


def _share(calls: Sequence[Call], max_chars: int) -> int:
    """How much is shown of each of these calls: all of it where they are short together."""
    together = sum(len(encode(call.action.args)) for call in calls)
    return max_chars if together <= max_chars else max(_MIN_CHARS, max_chars // len(calls))


def _call(call: Call, max_chars: int) -> Call:
    args = _args(call.action.args, max_chars)
    name = cut(call.action.name, NAME_CHARS)
    if args is call.action.args and name == call.action.name and len(call.revision) <= max_chars:
        return call
    return msgspec.structs.replace(
        call,
        action=msgspec.structs.replace(call.action, name=name, args=args),
        revision=shortened(call.revision, max_chars),
    )


def _args(args: dict[str, Json], max_chars: int) -> dict[str, Json]:
    """The arguments with long texts shortened; the beginning of those that are still too long."""
    if len(encode(args)) <= max_chars:
        return args
    texts = _texts(args)
    share = max(
        _MIN_CHARS, max_chars // (len([text for text in texts if len(text) > _MIN_CHARS]) or 1)
    )
    less = cast("dict[str, Json]", _less(args, share))
    encoded = encode(less).decode()
    return less if len(encoded) <= 2 * max_chars else {"shortened": shortened(encoded, max_chars)}


def _texts(value: Json) -> list[str]:
    """All texts within a value."""
    texts: list[str] = []
    left: list[Json] = [value]
    while left:
        match left.pop():
            case str(text):
                texts.append(text)
            case dict() as fields:  # pyright: ignore[reportUnknownVariableType] of JSON
                left += cast("dict[str, Any]", fields).values()
            case list() as items:  # pyright: ignore[reportUnknownVariableType] of JSON
                left += cast("Iterable[Any]", items)
            case _:
                pass
    return texts


def _less(value: Json, max_chars: int) -> Json:
    """A value with its texts, and the names of its fields, shortened."""
    match value:
        case str(text):
            return shortened(text, max_chars)
        case dict() as fields:  # pyright: ignore[reportUnknownVariableType] of JSON
            named = cast("dict[str, Any]", fields)
            return {
                shortened(key, max_chars): _less(each, max_chars) for key, each in named.items()
            }
        case list() as items:  # pyright: ignore[reportUnknownVariableType] of JSON
            return [_less(each, max_chars) for each in cast("Iterable[Any]", items)]
        case _:
            return value


def _thought(thought: Thought, calls: tuple[Call, ...]) -> Thought:
    vain = bool(thought.fault) or (bool(calls) and all(map(_refused, calls)))
    max_chars = REFUSED_CHARS if vain else VISIBLE_CHARS
    answer = thought.answer
    return msgspec.structs.replace(
        thought,
        reply=_reply(thought.reply, thought.actions, calls, max_chars),
        text=shortened(thought.text, max_chars),
        actions=tuple(call.action for call in calls),
        answer=None if answer is None else shortened(answer, VISIBLE_CHARS),
        fault=shortened(thought.fault, REFUSED_CHARS),
    )


def _reply(
    reply: Reply, actions: tuple[Action, ...], calls: tuple[Call, ...], max_chars: int
) -> Reply:
    """The reply as a format may show it: its text, its calls, what goes back word by word."""
    raw = reply.calls
    if raw and len(raw) == len(calls):
        shortened_calls = zip(raw, actions, calls, strict=True)
        each = max(_MIN_CHARS, REFUSED_CHARS // len(raw))
        raw = tuple(_raw(was, action, call.action, each) for was, action, call in shortened_calls)
    wire = reply.wire
    if wire is not None and len(encode(wire)) > WIRE_CHARS:
        wire = None
    return msgspec.structs.replace(
        reply, text=shortened(reply.text, max_chars), calls=raw, wire=wire
    )


def _raw(raw: RawCall, was: Action, shortened_action: Action, max_chars: int) -> RawCall:
    """The call as the provider wrote it, with the arguments that are shown."""
    arguments = raw.arguments
    if shortened_action.fault and arguments is not None:
        arguments = shortened(arguments, max_chars)
    elif shortened_action.args is not was.args:
        arguments = encode(shortened_action.args).decode()
    id_ = raw.id if len(raw.id) <= _ID_CHARS else ""
    return msgspec.structs.replace(raw, name=cut(raw.name, NAME_CHARS), arguments=arguments, id=id_)


def _notice(notice: Notice) -> Notice:
    """What a check said of an answer, which it may quote."""
    if not isinstance(notice, Note) or notice.source != "check":
        return notice
    return msgspec.structs.replace(notice, parts=text_parts(shortened(notice.text, REFUSED_CHARS)))
