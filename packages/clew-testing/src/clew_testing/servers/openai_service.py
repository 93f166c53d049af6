"""What the forms of OpenAI's service have in common: paths, keys, models, errors, counting."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clew import Usage
from clew_testing.servers.http_server import (
    CompletionKind,
    Fail,
    ReceivedRequest,
    Say,
    Send,
    to_json,
)
from clew_testing.servers.openai_rules import OpenAIRefusal

CREATED: Final = 1_700_000_000
"""The time that all replies claim to be of."""

DONE: Final = b"data: [DONE]\n\n"
"""The last event of a stream."""

FINISH: Final[Mapping[str, str]] = {"filter": "content_filter", "refusal": "stop"}
"""How a reply ended, in OpenAI's words where they are not ours."""


@dataclass(frozen=True)
class OpenAIService:
    """The paths under `/v1`: a form of completion at each, and the list of models."""

    forms: Mapping[str, CompletionKind]
    models: Sequence[str] = ()
    listing: Send | None = None
    root: str = "/v1"
    stream_type: str = "text/event-stream; charset=utf-8"

    def find(self, seen: ReceivedRequest) -> CompletionKind | Send | Fail:
        path = seen.path.removeprefix(self.root)
        if (seen.method, path) == ("GET", "/models"):
            listed = [{"id": name, "object": "model"} for name in self.models]
            return self.listing or Send(to_json({"object": "list", "data": listed}))
        if seen.method == "POST" and path in self.forms and seen.path != path:
            return self.forms[path]
        return Fail(404, f"Invalid URL ({seen.method} {seen.path})")

    def error(self, fail: Fail) -> bytes:
        error = {
            "message": fail.message,
            "type": "invalid_request_error" if fail.status < 500 else "server_error",
            "param": fail.param,
            "code": fail.code,
        }
        return to_json({"error": error})


@dataclass(frozen=True)
class Access:
    """Who is served: requests with the key, for a model that is there."""

    key: str = ""
    models: Sequence[str] = ()

    def refuse(self, seen: ReceivedRequest, check: Callable[[Any], None]) -> Fail | None:
        """The error for a request without the key, against the rules, or for no such model."""
        key = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if self.key and key != self.key:
            return Fail(401, f"Incorrect API key provided: {key}.", "invalid_api_key")
        try:
            check(seen.body)
        except OpenAIRefusal as refused:
            return Fail(400, str(refused), None, refused.param)
        model = seen.body["model"]
        if self.models and model not in self.models:
            message = f"The model '{model}' does not exist."
            return Fail(404, message, "model_not_found", "model")
        return None


def words(text: str) -> list[str]:
    """The text cut before each word."""
    return re.findall(r"\S+\s*|\s+", text)


def pieces(text: str) -> list[str]:
    """The text in pieces of six signs, so that cuts fall anywhere."""
    return re.findall(r"(?s).{1,6}", text)


def chat_usage(say: Say, asked: object) -> Mapping[str, Any]:
    """Usage in the form of Chat Completions and completions; counted where `say` has none."""
    usage = say.usage
    if isinstance(usage, Usage):
        told = {
            "prompt_tokens_details": {
                "cached_tokens": usage.cached,
                "cache_write_tokens": usage.written,
            },
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
        }
        read, written = usage.input, usage.output
    elif usage is not None:
        return usage
    else:
        told, read, written = {}, len(to_json(asked)) // 4, len(say.text or "") // 4 + 1
    counts = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return counts | told
