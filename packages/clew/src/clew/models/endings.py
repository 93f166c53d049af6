"""How replies end, one table for each family of providers.

The good endings are listed. Any other word means that the reply is not complete: the reply then
says so with `finish`, and quotes the word in `ending`. Of several words in one reply (a stream may
end twice) the worst counts.

Where the words are from: each provider's page on its replies, and for servers that speak Chat
Completions what they were seen to send (pydantic-ai #2844 and #7816, inspect_ai #5143, vLLM's and
TGI's sources).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from clew.core.codes import Finish

NO_WORD: Final = "null"
"""What is quoted where a provider has to say how a reply ended, and does not."""

WORD_CHARS: Final = 60
"""How much of a provider's word is quoted."""

_NOTHING: Final = frozenset({"null", "FINISH_REASON_UNSPECIFIED"})
"""What chunks before the last have in the place of a word, at DashScope and Gemini."""

_WORSE: Final[tuple[Finish, ...]] = ("stop", "length", "cut", "filter", "refusal")


class Ending(NamedTuple):
    """How a reply ended; `word` is the provider's own, where it is none of the good endings."""

    finish: Finish
    word: str = ""


@dataclass(frozen=True)
class Endings:
    """The endings of one family of providers.

    `good` are those of complete replies, `bad` those that say why one is not. All others are not
    complete either. `demanded` says that the protocol has a word for every reply, so that one
    without is not complete; where it is not, a reply that came whole without a word counts.
    """

    good: frozenset[str]
    bad: Mapping[str, Finish]
    demanded: bool = True

    def note(self, words: list[str], word: str | None) -> None:
        """Add a word, unless it says nothing."""
        if word and word not in _NOTHING:
            words.append(word)

    def read(self, words: Iterable[str], *, calls: bool, empty: bool) -> Ending:
        """How a reply ended that has `calls`, or is `empty`."""
        endings = [self._of(word) for word in words]
        if not endings and (self.demanded or empty):
            return Ending("cut", NO_WORD)
        worst = max(endings, key=lambda each: _WORSE.index(each.finish), default=Ending("stop"))
        return Ending("calls") if calls and worst.finish == "stop" else worst

    def _of(self, word: str) -> Ending:
        if word in self.good:
            return Ending("stop")
        finish = self.bad.get(word, "cut")
        return Ending(finish, word[:WORD_CHARS] if finish == "cut" else "")

    def explains(self, word: str | None) -> bool:
        """Whether a reply that ended like this may have nothing in it."""
        return bool(word) and word not in self.good


CHAT: Final = Endings(
    frozenset(
        {"stop", "tool_calls", "function_call"}
        | {"eos", "eos_token", "stop_sequence"}  # Together, TGI
        | {"end_turn", "tool_use"}  # gateways that pass on the words of Anthropic and Bedrock
    ),
    {
        "length": "length",
        "max_tokens": "length",
        "model_length": "length",  # Mistral: the context is full
        "model_context_window_exceeded": "length",  # Z.ai
        "content_filter": "filter",
        "sensitive": "filter",  # Z.ai
        "guardrail_intervened": "filter",  # Bedrock
        "refusal": "refusal",
    },
    demanded=False,  # Ollama and others send null with whole replies (pydantic-ai #2996)
)
"""OpenAI's Chat Completions, and all servers that speak them.

Words of others: `error` (OpenRouter, Mistral, vLLM), `insufficient_system_resource` (DeepSeek),
`abort` and `repetition` (vLLM), `network_error` (Z.ai).
"""

COMPLETIONS: Final = Endings(CHAT.good, CHAT.bad, demanded=False)
"""OpenAI's legacy completions, which the same servers speak."""

LOCAL: Final = Endings(frozenset({"stop", "tool_calls"}), {"length": "length"})
"""llama.cpp in this process."""

RESPONSES: Final = Endings(
    frozenset({"completed"}), {"max_output_tokens": "length", "content_filter": "filter"}
)
"""OpenAI's Responses: a status, or the reason why a response is incomplete.

Others: `failed`, `cancelled`, `queued`, `in_progress`, and `incomplete` without a reason.
"""

ANTHROPIC: Final = Endings(
    frozenset({"end_turn", "stop_sequence", "tool_use"}),
    {
        "max_tokens": "length",
        "model_context_window_exceeded": "length",
        "refusal": "refusal",
    },
)
"""Anthropic's Messages. `pause_turn` and `compaction` ask for another request."""

GEMINI: Final = Endings(
    frozenset({"STOP"}),
    {
        "MAX_TOKENS": "length",
        "CONTINUATION": "length",
        "SAFETY": "filter",
        "RECITATION": "filter",
        "LANGUAGE": "filter",
        "BLOCKLIST": "filter",
        "PROHIBITED_CONTENT": "filter",
        "SPII": "filter",
        "ESCALATION": "filter",
        "MODEL_ARMOR": "filter",
        "IMAGE_SAFETY": "filter",
        "IMAGE_PROHIBITED_CONTENT": "filter",
        "IMAGE_RECITATION": "filter",
        "PUP_LIMITED_DISABLED": "refusal",
    },
)
"""Gemini's `finishReason`. Others: `OTHER`, `MALFORMED_FUNCTION_CALL` and their like."""
