"""What came of a call, as the one observation it will ever have."""

import traceback
from typing import Any, Final

import msgspec

from clew.agent import Agent
from clew.errors import message_of, writable
from clew.events import Code, Evidence, Image, Json, Observation, Outcome, Trust, decode, encode
from clew.parts import shown
from clew.protocols import Tool
from clew.tools.typed import plain
from clew.trajectory import Call, Trajectory

DETAIL_CHARS: Final = 8_000
DETAIL_HEAD: Final = 2_000
ROOM: Final = 1_000  # bytes that are kept for what is said of an observation that was cut


def traced(error: BaseException) -> str:
    """The error's traceback, for people."""
    return "".join(traceback.format_exception(error))


def failed(
    tool: Tool,
    call: Call,
    code: Code,
    text: str,
    outcome: Outcome,
    detail: str = "",
    *,
    trust: Trust = "untrusted",
) -> Observation:
    """A failure: untrusted, since error texts may echo what a tool was given or read.

    Whoever gives another `trust` knows where the text comes from.
    """
    return Observation(
        call.key,
        f"ERROR: {code}: {_shortened(text)}",
        ok=False,
        code=code,
        outcome=outcome,
        effect=tool.effect,
        trust=trust,
        detail=_shortened(writable(detail)),
    )


def _shortened(detail: str) -> str:
    """What is for people, at most `DETAIL_CHARS` of it: of a traceback the end tells most."""
    if len(detail) <= DETAIL_CHARS:
        return detail
    mark = f"\n[… of {len(detail)} characters the middle is left out …]\n"
    return detail[:DETAIL_HEAD] + mark + detail[DETAIL_HEAD + len(mark) - DETAIL_CHARS :]


def observed(
    agent: Agent, so_far: Trajectory, tool: Tool, call: Call, value: object
) -> Observation:
    """A value as the call's observation; what JSON cannot carry or the schema forbids is said."""
    told = _told(tool, value)
    try:
        content = plain(told.content)
        told = _plainly(told)
        size = _size(told, content)
    except Exception as error:  # noqa: BLE001 - asked what it holds, an object may raise anything
        text = f"{tool.name} returned what JSON cannot carry: {message_of(error)}"
        return failed(tool, call, "bad_output", text, "done", shown(type(value)))
    if so_far.capped and size > (most := agent.limits.observation_bytes):
        return _cut(tool, call, content, size, most)
    if told.ok and (problems := agent.result_problems(tool, content)):
        text = f"{tool.name} returned what it must not: {'; '.join(problems)}"
        return failed(tool, call, "bad_output", text, "done", repr(content))
    observation = msgspec.structs.replace(
        told, call=call.key, content=content, effect=tool.effect, trust=trust_of(told, so_far)
    )
    if isinstance(value, (Observation, Image)):  # what a tool says itself must be readable again
        try:
            decode(encode(observation))
        except Exception as error:  # noqa: BLE001 - each of its fields may be anything
            text = f"{tool.name} returned an observation that is none: {message_of(error)}"
            return failed(tool, call, "bad_output", text, "done", shown(type(value)))
        return msgspec.structs.replace(observation, detail=_shortened(observation.detail))
    return observation


def _size(told: Observation, content: Json) -> int:
    """Bytes of all that would be kept."""
    images = sum(len(image.data) + len(image.text) for image in told.images)
    evidence = len(encode(told.evidence)) if told.evidence else 0
    return len(encode(content)) + evidence + images


def _cut(tool: Tool, call: Call, content: Json, size: int, most: int) -> Observation:
    """The beginning of what is too long to be kept, and that the rest is not there."""
    head = content if isinstance(content, str) else encode(content).decode()
    room = max(most - ROOM, 2)
    while (long := len(encode(head))) > room:
        head = head[: max(len(head) * room // long - 1, 0)]
    said = (
        f"{tool.name} returned {size:,} bytes, and {most:,} may be kept: only the beginning is "
        "here, so ask for less"
    )
    cut = failed(tool, call, "bad_output", said, "done")
    return msgspec.structs.replace(cut, content=f"{cut.text}\n{head}")


def _plainly(told: Observation) -> Observation:
    """The observation with its evidence as plain text and numbers. Raises `ValueError`."""
    if not told.evidence:
        return told
    try:
        evidence = msgspec.convert(plain(told.evidence), tuple[Evidence, ...])
    except msgspec.ValidationError as error:
        message = f"evidence that is none: {error}"
        raise ValueError(message) from error
    return msgspec.structs.replace(told, evidence=evidence)


def _told(tool: Tool, value: Any) -> Observation:
    """What a call returned, as the observation it is or is the content of."""
    if isinstance(value, Observation):
        return msgspec.structs.replace(value, blob="")
    if isinstance(value, Image):
        text = value.text or f"an image ({value.media_type}, {len(value.data)} bytes)"
        return Observation(content=text, images=(value,), trust=tool.trust)
    return Observation(content=value, trust=tool.trust)


def trust_of(told: Observation | Tool, so_far: Trajectory) -> Trust:
    """Trusted if the tool says so and its arguments were: nothing untrusted was read before."""
    return so_far.trust if told.trust == "trusted" else "untrusted"
