"""Where Observations are made: what came of a call, as the one observation it will ever have.

A tool may return one itself; that too becomes the call's here.
"""

import traceback
from typing import Any, Final, cast, get_args

import msgspec

from clew.core.actions import Action
from clew.core.attachments import caption, check_attachment, has_attachments, taken_out
from clew.core.blobs import BLOB_BYTES
from clew.core.codes import EFFECTFUL, FINISH, Code, Effect, Outcome, Trust, error_text
from clew.core.contents import Attachment, Evidence, Observation
from clew.core.engine import Engine
from clew.core.entries import decode
from clew.core.events import Suspended
from clew.core.redaction import redact
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call, Step, Trajectory
from clew.core.values import Json, encode
from clew.support.error_text import message_of, writable
from clew.support.errors import ConfigError
from clew.support.json_values import plain
from clew.support.parts import short_repr

DETAIL_CHARS: Final = 8_000
DETAIL_HEAD: Final = 2_000
ROOM: Final = 1_000  # bytes that are kept for what is said of an observation that was cut

ANOTHER: Final = "only one answer of a reply is looked at, and this is another"


def traced(error: BaseException) -> str:
    """The error's traceback, for people."""
    return "".join(traceback.format_exception(error))


def refusal(call: Call, code: Code, text: str, trust: Trust = "untrusted") -> Observation:
    """The observation of a call that was not made, or not again: then it stays in doubt.

    It may echo what the model wrote: it is as far to be trusted as that (`Trajectory.trust`), and
    at most `DETAIL_CHARS` of it are kept.
    """
    outcome: Outcome = "unknown" if call.begun else "not_done"
    effect: Effect = "unsafe" if call.begun else "read"
    shortened_text = shortened(text)
    return Observation(
        call.key, error_text("" if code == "unknown_tool" else code, shortened_text), ok=False,
        code=code, outcome=outcome, effect=effect, trust=trust,
    )  # fmt: skip


def too_long(size: int, max_bytes: int) -> str:
    """Why a call with so many bytes of arguments is refused."""
    return f"the arguments have {size:,} bytes, and may have {max_bytes:,}: give less, or in parts"


def suspended(call: Call, value: Suspended, max_bytes: int) -> Suspended:
    """What a call asks for, without arguments that are refused for their length."""
    sizes = [len(encode(each.args)) for each in value.actions]
    actions = tuple(
        each
        if size <= max(max_bytes, BLOB_BYTES)
        else Action(each.name, fault=too_long(size, max_bytes))
        for each, size in zip(value.actions, sizes, strict=True)
    )
    return msgspec.structs.replace(value, call=call.key, actions=actions)


def closed_answers(
    step: Step, code: Code = "", text: str = "the answer was accepted"
) -> list[Observation]:
    """Close every open call of finish in the step: the first with the outcome, last of all."""
    calls = [call for call in step.calls if call.action.name == FINISH and not call.observation]
    closed = [refusal(call, "cap", ANOTHER) for call in calls[1:]]
    for call in calls[:1]:
        accepted = Observation(call.key, text, effect="pure", trust="trusted")
        closed.append(refusal(call, code, text) if code else accepted)
    return closed


def failed(
    tool: ToolSpec,
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
        error_text(code, shortened(text)),
        ok=False,
        code=code,
        outcome=outcome,
        effect=tool.effect,
        trust=trust,
        detail=shortened(writable(detail)),
    )


def shortened(detail: str) -> str:
    """A text for people, cut to `DETAIL_CHARS`: the end of a traceback says most."""
    if len(detail) <= DETAIL_CHARS:
        return detail
    detail = redact(detail)  # before it is cut, lest half a secret stays
    mark = f"\n[… of {len(detail)} characters the middle is left out …]\n"
    return detail[:DETAIL_HEAD] + mark + detail[DETAIL_HEAD + len(mark) - DETAIL_CHARS :]


def observed(
    engine: Engine, trajectory: Trajectory, tool: ToolSpec, call: Call, value: object
) -> Observation:
    """A returned value as the call's observation; what JSON or the schema forbids is reported."""
    returned = _returned(tool, value)
    if wrong := _impossible(returned):
        text = f"{tool.name} returned {wrong}"
        return failed(tool, call, "bad_output", text, "done", short_repr(type(value)))
    try:
        returned = _without_unfit(tool, returned) if returned.attachments else returned
        content = plain(returned.content)
        returned = _with_plain_evidence(returned) if returned.evidence else returned
        size = _size(returned, content)
    except Exception as error:  # noqa: BLE001 - asked what it holds, an object may raise anything
        text = f"{tool.name} returned what JSON cannot carry: {message_of(error)}"
        return failed(tool, call, "bad_output", text, "done", short_repr(type(value)))
    if size > (max_bytes := engine.observation_bytes):
        return _truncate(tool, call, content, size, max_bytes)
    validator = engine.result_validators.get(tool.name) if returned.ok else None
    if validator is not None and (problems := validator(content)):
        text = f"{tool.name} returned what it must not: {'; '.join(problems)}"
        return failed(tool, call, "bad_output", text, "done", repr(content))
    observation = msgspec.structs.replace(
        returned,
        call=call.key,
        content=content,
        effect=tool.effect,
        trust=trust_of(returned, trajectory),
        outside=tool.trust == "trusted" != returned.trust,
        unknown=(),
    )
    if (
        isinstance(value, Observation) or returned.attachments
    ):  # what a tool says must be readable again
        try:
            decode(encode(observation))
        except Exception as error:  # noqa: BLE001 - each of its fields may be anything
            text = f"{tool.name} returned an observation that is none: {message_of(error)}"
            return failed(tool, call, "bad_output", text, "done", short_repr(type(value)))
        return msgspec.structs.replace(observation, detail=shortened(observation.detail))
    return observation


def from_sub_run(
    engine: Engine, trajectory: Trajectory, tool: ToolSpec, call: Call, end: Observation
) -> Observation:
    """The observation of a sub-run, with its spending, even if its content is unusable."""
    observation = observed(engine, trajectory, tool, call, end)
    return msgspec.structs.replace(observation, spent=end.spent, unknown=end.unknown)


def refused_sub_run(tool: ToolSpec, call: Call, why: str, end: Observation) -> Observation:
    """The observation of a call refused after it began, with its sub-run's effects and spending."""
    refused = refusal(call, "denied", f"{why}. Do not try it in another way.")
    return msgspec.structs.replace(
        refused, outcome=end.outcome, effect=tool.effect, spent=end.spent, unknown=end.unknown
    )


def replaced(was: Observation, key: str, value: Any) -> Observation:
    """The observation that a person puts in the place of a call's own: untrusted, whatever it is.

    What is known of the call's effect stays as it is. Raises `ConfigError` where it is none.
    """
    replacement = value
    if not isinstance(replacement, Observation):
        outcome = was.outcome if was.effect in EFFECTFUL else "done"
        replacement = Observation(content=value, outcome=outcome)
    try:
        observation = msgspec.structs.replace(
            replacement,
            call=key,
            content=plain(replacement.content),
            effect=was.effect,
            trust="untrusted",
            blob="",
            unknown=was.unknown,
        )
        decode(encode(observation))
    except (ValueError, msgspec.ValidationError) as error:
        message = f"observation {key} cannot be put on record: {error}"
        raise ConfigError(message) from error
    return observation


def _size(observation: Observation, content: Json) -> int:
    """The bytes of everything that would be kept."""
    size = len(encode(content))
    for each in observation.attachments:
        size += len(each.data) + len(each.text)
    return size + len(encode(observation.evidence)) if observation.evidence else size


def _truncate(tool: ToolSpec, call: Call, content: Json, size: int, max_bytes: int) -> Observation:
    """The beginning of a content that is too long, with a remark that the rest is missing."""
    head = redact(content if isinstance(content, str) else encode(content).decode())
    room = max(max_bytes - ROOM, 2)
    while (long := len(encode(head))) > room:
        head = head[: max(len(head) * room // long - 1, 0)]
    note = (
        f"{tool.name} returned {size:,} bytes, and {max_bytes:,} may be kept: only the beginning "
        "is here, so ask for less"
    )
    cut = failed(tool, call, "bad_output", note, "done")
    return msgspec.structs.replace(cut, content=f"{cut.text}\n{head}")


def _with_plain_evidence(observation: Observation) -> Observation:
    """The observation with its evidence as plain text and numbers. Raises `ValueError`."""
    try:
        evidence = msgspec.convert(plain(observation.evidence), tuple[Evidence, ...])
    except msgspec.ValidationError as error:
        message = f"evidence that is none: {error}"
        raise ValueError(message) from error
    return msgspec.structs.replace(observation, evidence=evidence)


def _returned(tool: ToolSpec, value: Any) -> Observation:
    """The returned value as an observation: itself, or with the value as its content."""
    if isinstance(value, Observation):
        fresh = msgspec.structs.replace(value, blob="")
    else:
        fresh = Observation(content=value, trust=tool.trust)
    if not has_attachments(fresh.content):
        return fresh
    content, attachments = taken_out(fresh.content)
    attachments = (*fresh.attachments, *attachments)
    return msgspec.structs.replace(fresh, content=content, attachments=attachments)


def _without_unfit(tool: ToolSpec, returned: Observation) -> Observation:
    """What a tool returned, without attachments that no provider could take: it says which.

    What else it returned stays, and what is known of the effect.
    """
    problems: list[str] = []
    fit: list[Attachment] = []
    for each in returned.attachments:
        try:
            check_attachment(f"the {type(each).__name__.lower()}", each)
            fit.append(each)
        except ConfigError as error:
            problems.append(str(error))
    if not problems:
        return returned
    code: Code = "bad_output" if returned.ok else returned.code
    unfit = f"{tool.name} returned what cannot be shown: {'; '.join(problems)}"
    lines = [error_text(code, unfit)]
    alone = len(returned.attachments) == 1 and returned.content == caption(returned.attachments[0])
    if returned.content != "" and not alone:
        content = plain(returned.content)
        lines.append(content if isinstance(content, str) else encode(content).decode())
    return msgspec.structs.replace(
        returned,
        content="\n".join(lines),
        ok=False,
        code=code,
        attachments=tuple(fit),
        trust="untrusted",
        detail=returned.detail or unfit,
    )


def _impossible(observation: Observation) -> str:
    """What of an observation no record can hold, in one line; or ""."""
    if observation.trust not in get_args(Trust):
        return f"an observation whose trust is {observation.trust!r}: trusted or untrusted"
    attachments: Any = observation.attachments
    if not isinstance(attachments, tuple):
        return f"attachments of the type {type(attachments).__name__}: give a tuple"
    for each in cast("list[Any]", attachments):
        if not isinstance(each, Attachment):
            return f"an attachment of the type {type(each).__name__}: give images, audio or files"
    return ""


def trust_of(source: Observation | ToolSpec, trajectory: Trajectory) -> Trust:
    """Trusted if the tool says so and its arguments were: nothing untrusted was read before."""
    return trajectory.trust if source.trust == "trusted" else "untrusted"
