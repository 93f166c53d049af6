"""How a turn ended, for a client of any protocol."""

from dataclasses import dataclass, field
from typing import Any

from clew import PendingApproval
from clew.interfaces import Json
from clew_serve.errors import RefusedError
from clew_serve.service import Service
from clew_serve.turns.safe_words import answer_text, safe_text
from clew_serve.turns.turn import Turn, waiting_in


@dataclass
class Ending:
    """What a turn came to.

    `text` is what may be shown: the answer, or why there is none. `calls` are those of the client's
    own tools, `held` what else waits, `refusal` why the request was screened out, and `told` what
    clients that know clew may read beside their protocol.
    """

    status: str
    text: str = ""
    answer: Json = None
    refusal: str = ""
    calls: list[PendingApproval] = field(default_factory=list[PendingApproval])
    held: list[PendingApproval] = field(default_factory=list[PendingApproval])
    told: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def is_answer(self) -> bool:
        """Whether the text is the answer."""
        return self.answer is not None


async def ending_of(service: Service, turn: Turn) -> Ending:
    """How the turn ended. Raises `RefusedError` where the run failed without an answer."""
    stop = turn.stop
    if stop is None:
        raise RefusedError(502, "run_failed", f"run {turn.run_id} has no end yet")
    calls, held = await waiting_in(service, turn)
    ending = Ending(stop.status, calls=calls, held=held)
    ending.told = {
        "run_id": turn.run_id,
        "status": stop.status,
        "pending": [each.to_json() for each in held],
    }
    record = turn.record
    if stop.status == "held":
        ending.text = "" if calls and not held else waits(turn.run_id, held, record)
    elif stop.status == "refused":
        ending.refusal = safe_text(stop.reason, record) or "refused"
    elif stop.answer is not None:
        ending.answer, ending.text = stop.answer, answer_text(stop.answer, record)
    elif stop.status == "failed":
        hint = f"GET /api/runs/{turn.run_id} has the run"
        raise RefusedError(502, "run_failed", safe_text(stop.reason, record), hint)
    else:
        ending.text = f"({stop.status}: {safe_text(stop.reason, record)})"
    return ending


def waits(run_id: str, held: list[PendingApproval], record: Any) -> str:
    """What a person reads of calls that wait for somebody."""
    lines = [f"- {each.tool}: {safe_text(each.why, record)}" for each in held]
    return "\n".join((f"Run {run_id} waits for a decision (/inbox):", *lines))
