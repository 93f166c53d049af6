"""Reading a reply: what the codec parses, and what of it can be an answer."""

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Final

import msgspec

from clew.agent.kept_replies import bounded, told
from clew.codecs.arguments import may_act
from clew.codecs.no_answer import no_answer
from clew.codecs.quoted_answers import without_quotes
from clew.core.actions import Action
from clew.core.blobs import BLOB_BYTES
from clew.core.codec import Codec, Parsed, PromptSpec
from clew.core.codes import FINISH
from clew.core.contents import RawCall, Reply
from clew.core.models import Model
from clew.core.trajectory import Trajectory
from clew.core.values import encode
from clew.guards.limits import Limits
from clew.models.completion import invalid_reply
from clew.support.parts import PASSED, broken, of_kind
from clew.support.surrogates import HALF
from clew.tools.lost_digits import LONG_NUMBER, with_all_digits

_REPLACED: Final = "\ufffd"
_NAME: Final[Callable[[Action], str]] = attrgetter("name")
_ARGUMENTS: Final[Callable[[RawCall], str | None]] = attrgetter("arguments")


def read_reply(
    model: Model,
    codec: Codec,
    spec: PromptSpec,
    limits: Limits,
    trajectory: Trajectory,
    reply: Reply,
    *,
    text_only: bool,
) -> tuple[Reply, Parsed]:
    """Parse a reply; an error of the codec names the codec. It may be shorter then.

    `text_only` says that the answer may be any text. Raises `ModelError` for a reply that no record
    can hold, `PartError` where the codec fails.
    """
    who = f"the codec {codec.name}"
    try:
        parsed = _parsed(who, codec, spec, trajectory, reply, text_only=text_only)
        size = len(reply.text)
        for call in reply.calls:
            size += len(call.arguments or "") + call.size
        if size <= BLOB_BYTES:
            return reply, parsed
        if (kept := bounded(reply, parsed, limits.argument_bytes)) is not reply:
            parsed = _parsed(who, codec, spec, trajectory, kept, text_only=text_only)
        return kept, told(kept, parsed, limits.argument_bytes)
    except PASSED:
        raise
    except BaseException as error:
        try:  # the reply may be that which cannot be read
            msgspec.json.decode(encode(reply), type=Reply)
        except Exception as wrong:
            raise invalid_reply(model, wrong) from wrong
        raise broken(who, error) from error


def _parsed(
    who: str,
    codec: Codec,
    spec: PromptSpec,
    trajectory: Trajectory,
    reply: Reply,
    *,
    text_only: bool,
) -> Parsed:
    """The parsed reply; a text that cannot be an answer becomes a fault."""
    if reply.finish == "declined":  # nothing in such a text is a call
        return Parsed(answer=reply.text)
    read_reply = codec.parse(spec, reply)
    parsed = of_kind(who, read_reply, Parsed, "what it read (clew.interfaces.Parsed)")
    if not text_only:
        parsed = without_quotes(spec, parsed)
    if any(map(LONG_NUMBER.search, filter(None, (reply.text, *map(_ARGUMENTS, reply.calls))))):
        parsed = with_all_digits(spec, reply, parsed)
    if reply.mended:
        repairs = tuple(dict.fromkeys([*reply.mended, *parsed.repairs]))
        parsed = msgspec.structs.replace(parsed, repairs=repairs)
    if HALF in parsed.repairs:
        parsed = msgspec.structs.replace(
            parsed, actions=tuple(_without_halves(spec, parsed.actions))
        )
    if parsed.answer is not None:
        why = no_answer(codec, spec, trajectory, parsed.answer)
        return Parsed(text=parsed.answer, fault=why) if why else parsed
    if FINISH not in map(_NAME, parsed.actions):
        return parsed
    actions = tuple(_finished(codec, spec, trajectory, action) for action in parsed.actions)
    if len(actions) == 1 and actions[0].fault and not parsed.actions[0].fault and not reply.calls:
        return Parsed(text=parsed.text, fault=actions[0].fault)
    return msgspec.structs.replace(parsed, actions=actions)


def _without_halves(spec: PromptSpec, actions: Sequence[Action]) -> Iterator[Action]:
    """The actions; one with an effect is refused where half a character was replaced in it."""
    for action in actions:
        half = _REPLACED in encode(action.args).decode() and may_act(spec, action.name)
        why = f"half a character stands in the arguments, and {action.name} changes things"
        yield Action(action.name, fault=f"{why}: nothing was done") if half else action


def _finished(codec: Codec, spec: PromptSpec, trajectory: Trajectory, action: Action) -> Action:
    """A call of finish, refused if its argument cannot be an answer."""
    answer = action.args.get("answer")
    if action.name != FINISH or action.fault or not isinstance(answer, str):
        return action
    why = no_answer(codec, spec, trajectory, answer)
    return Action(FINISH, fault=why) if why else action
