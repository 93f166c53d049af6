"""The faults of recorded replies, put into a reply that has none."""

import re
from collections.abc import Mapping
from typing import Final

from clew.interfaces import Reply
from clew_evals.simulated.player import KeyedRandom
from clew_evals.simulated.profiles import Fault

_PROSE: Final = "Sure, here is what I do next."
_BESIDE: Final = "Let me call the tool for that."
_INVENTED: Final = "Observation: that is done, and all is well."
_FINISH: Final = re.compile(r"^(Action \d+: )Finish\[", re.MULTILINE)


def drawn(rates: Mapping[Fault, float], luck: KeyedRandom, index: int) -> Fault | None:
    """The fault of the reply at this place, if it has one: at most one of them."""
    chance = luck("fault", index).random()
    for fault, rate in rates.items():
        if chance < rate:
            return fault
        chance -= rate
    return None


def spoiled(reply: Reply, fault: Fault | None, then: str) -> Reply:
    """The reply with this fault; `then` is the reply that would come next.

    Where a fault cannot be (`finish form` without an answer in brackets), prose stands instead.
    """
    text, finish = reply.text, reply.finish
    match fault:
        case None:
            return reply
        case "empty":
            return Reply()
        case "cut":
            return Reply(text[: len(text) * 2 // 3], reply.calls, "length")
        case "fence":
            text = f"```\n{text}\n```"
        case "beside":
            text = f"{text}\n{_BESIDE}".strip() if reply.calls else text
        case "two actions" if then:
            text = f"{text}\n{then}"
        case "finish form" if _FINISH.search(text):
            text = _FINISH.sub(r"\1FINISH [", text)
        case "several pairs":
            text = "\n".join(filter(None, [text, _INVENTED, then]))
        case _:
            text = f"{_PROSE}\n{text}"
    return Reply(text, reply.calls, finish)


def stopped(reply: Reply, stop: tuple[str, ...]) -> Reply:
    """The reply as far as a server lets it go that heeds stop sequences."""
    ends = [at for sequence in stop if (at := reply.text.find(sequence)) >= 0]
    return Reply(reply.text[: min(ends)], reply.calls, reply.finish) if ends else reply
