"""Why a turn ended, in the words of the protocol."""

from typing import Any

from acp import schema

from clew import Result


def stop_reason(result: Result[Any]) -> schema.StopReason:
    """The reason for a result. One that failed, or waits for somebody, ends the turn with words."""
    match result.status:
        case "bound":
            return "max_tokens" if result.limit == "tokens" else "max_turn_requests"
        case "refused":
            return "refusal"
        case "interrupted":
            return "cancelled"
        case _:
            return "end_turn"


def usage(result: Result[Any]) -> schema.Usage:
    """What the replies of the run took so far."""
    used = result.usage
    return schema.Usage(
        total_tokens=used.tokens,
        input_tokens=max(0, used.input),
        output_tokens=max(0, used.output),
        cached_read_tokens=max(0, used.cached),
    )
