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


def response_usage(turn: Turn) -> dict[str, Any]:
    """As responses have it."""
    now, before = turn.record.usage, turn.before.usage
    sent, written = now.input - before.input, now.output - before.output
    cached, kept = now.cached - before.cached, now.written - before.written
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": kept},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": now.reasoning - before.reasoning},
        "total_tokens": sent + written,
    }
