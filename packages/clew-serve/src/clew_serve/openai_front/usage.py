"""What a turn has used, in the words of OpenAI's two APIs."""

from typing import Any

from clew_serve.turns.turn import Turn


def chat_usage(turn: Turn) -> dict[str, Any]:
    """As Chat Completions have it."""
    now, before = turn.record.usage, turn.before.usage
    sent, written = now.input - before.input, now.output - before.output
    return {
        "prompt_tokens": sent,
        "completion_tokens": written,
        "total_tokens": sent + written,
        "prompt_tokens_details": {"cached_tokens": now.cached - before.cached},
        "completion_tokens_details": {"reasoning_tokens": now.reasoning - before.reasoning},
    }
