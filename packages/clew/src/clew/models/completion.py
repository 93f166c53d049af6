"""One completion by any model, ours or a user's: within its deadline, as a record can hold it."""

from collections.abc import Awaitable
from typing import Any

import anyio
import msgspec

from clew.concurrency.tasks import run_with_deadline
from clew.core.contents import Reply
from clew.core.models import Model, OnText
from clew.core.prompts import Prompt
from clew.core.values import encode
from clew.models.reply_size import within_size
from clew.models.undercount import size_of, with_size
from clew.models.usage import MAX_TOKENS, estimate, possible
from clew.support.error_text import described, message_of
from clew.support.errors import ModelError, PartError
from clew.support.live import LIVE
from clew.support.parts import PASSED, broken, short_repr
from clew.support.street import SHIPPED
from clew.support.surrogates import HALF, mended


async def complete(
    model: Model, prompt: Prompt, hear: OnText | None, seconds: float, grace: float
) -> Reply:
    """The model's reply; one of a user's own has so many `seconds`, and `grace` to let go.

    Raises `ModelError` if it is unavailable, `PartError` if it is broken.
    """
    ours = type(model).__module__.partition(".")[0] in SHIPPED
    if hear is not None and (live := LIVE.get()) is not None and live.followed:
        hear = live.hearing(hear)
    try:
        if ours:  # it keeps its own deadlines
            reply: Any = await model.complete(prompt, hear)
        else:
            reply = await _watched(model, model.complete(prompt, hear), seconds, grace)
    except PASSED:
        raise
    except Exception as error:
        raise _failed(model, error) from error
    if isinstance(reply, Reply):
        received = _received(model, prompt, reply)
        # A user's own may ask a server that cuts prompts off; ours have looked at that.
        return received if ours else with_size(prompt, received, size_of(prompt))
    message = f"the model {model.info.name} gave {short_repr(reply)}, which is no Reply: mend it"
    raise ModelError(message)


async def _watched(model: Model, work: Awaitable[Any], seconds: float, grace: float) -> Any:
    """The reply of a user's own model, within its deadline."""
    ended = await run_with_deadline(work, seconds, grace)
    if ended.late:
        message = f"the model {model.info.name} gave no reply in {seconds:g} s: resume the run, "
        raise ModelError(f"{message}or raise the limit reply_seconds")
    if isinstance(ended.error, PASSED):
        raise ended.error
    if ended.error is not None:
        raise _failed(model, ended.error) from ended.error
    return ended.value


def _failed(model: Model, error: BaseException) -> ModelError | PartError:
    """What a model raised that has no word for it: the network, or a mistake in its code.

    Where its server is away it may come back, so workers try again. A mistake stays one.
    """
    name = f"the model {model.info.name}"
    if not isinstance(error, (OSError, anyio.get_cancelled_exc_class())):
        return broken(name, error)
    return ModelError(f"{name} failed: {described(error)}; mend it and resume the run")


def _metered(model: Model, prompt: Prompt, reply: Reply) -> Reply:
    """The reply with a usage that can be right: what a model does not tell is estimated.

    Raises `ModelError` for a cost that is none, where no rates tell a better one: a limit on the
    cost could not be held.
    """
    usage, info = reply.usage, model.info
    fields: tuple[Any, ...] = (
        usage.input, usage.output, usage.cached, usage.written, usage.reasoning,
    )  # fmt: skip
    told = True
    for each in fields:  # at every step: a look at the type and the size will do
        told = told and type(each) is int and 0 <= each <= MAX_TOKENS
    paid = usage.cost is None or possible(usage.cost)
    if told and paid and possible(usage.min_cost):
        return reply
    if not told:
        sent = sum(len(part.text) for part in prompt)
        usage = estimate(sent, reply.text, reply.calls)
    rates = info.rates
    if not paid and rates is None:
        wrong = f"a cost of {reply.usage.cost!r}: give US dollars, 0 or more, or None"
        raise ModelError(f"the model {info.name} gave {wrong}; mend it and resume the run")
    cost = reply.usage.cost if paid else None
    if rates is not None and (cost is None or not told):
        cost = (usage.input * rates.input + usage.output * rates.output) / 1_000_000
    return msgspec.structs.replace(
        reply, usage=msgspec.structs.replace(usage, cost=cost, min_cost=0.0, estimated=True)
    )


def _received(model: Model, prompt: Prompt, reply: Reply) -> Reply:
    """The reply as a record can hold it: half characters in it are mended, and named.

    Raises `ModelError` where no record can.
    """
    try:
        return _mended(_metered(model, prompt, within_size(reply)))
    except ModelError:
        raise
    except Exception as error:
        raise invalid_reply(model, error) from error


def _mended(reply: Reply) -> Reply:
    try:
        encode(reply)
    except RecursionError:  # it is for the journal to say
        return reply
    except UnicodeEncodeError:
        mended_reply = msgspec.convert(mended(msgspec.to_builtins(reply)), Reply)
        return msgspec.structs.replace(mended_reply, mended=(*reply.mended, HALF))
    return reply


def invalid_reply(model: Model, error: Exception) -> ModelError:
    """The error of a reply that no record can hold."""
    return ModelError(
        f"the model {model.info.name} gave no true Reply: {message_of(error)}; mend it"
    )
