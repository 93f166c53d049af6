"""A server on 127.0.0.1 that speaks Gemini's generateContent, for tests with the real client.

It answers from a script, one entry a request, plain or as a stream, whichever was asked for:

    with GeminiServer([Say("Looking it up.", calls=[("search", '{"query": "x"}')]),
                       Fail(429, headers={"retry-after": "0"}),
                       Say("It is 42.")]) as server:
        model = google_gemini("scripted", base_url=server.base_url, api_key="any")
        ...
        assert server.requests[0].body["contents"][0]["role"] == "user"

Requests that the real service would refuse get its own errors and use up no entry of the script
(`gemini_rules`). What may be said, and the server under it, are in `http_server`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew import Usage
from clew.interfaces import encode
from clew_testing.servers.gemini_rules import GeminiRefusal, check, sign
from clew_testing.servers.http_server import (
    CompletionKind,
    Fail,
    HttpServer,
    ReceivedRequest,
    Say,
    Script,
    Send,
    to_json,
)

FINISH: Final[Mapping[str, str]] = {"length": "MAX_TOKENS", "filter": "SAFETY"}

STATUS: Final = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}

_PATH: Final = re.compile(
    r"/(?P<version>v\w+)(?:/publishers/google)?/models/(?P<model>[^:/]+):(?P<method>\w+)"
)
_METHODS: Final = frozenset({"generateContent", "streamGenerateContent"})


class GeminiServer(HttpServer):
    """The server; it runs in a thread of its own, so any event loop will do.

    Args:
        script: What to answer, in order; or a function from a request's body to the answer.
        key: Ask for this key, and refuse requests without it.
        models: Names of models; when given, others get 404.
        piece: The size in bytes of the pieces that a stream is sent in (0: one event each).
        ids: Whether calls have ids, which older models leave out.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        key: str = "",
        models: Sequence[str] = (),
        piece: int = 0,
        ids: bool = True,
    ) -> None:
        super().__init__(GeminiService(key, models, ids=ids), script, piece=piece)


@dataclass(frozen=True)
class GeminiService:
    """The paths of the models, in any version of the API, and on Vertex AI."""

    key: str = ""
    models: Sequence[str] = ()
    ids: bool = True
    root: str = ""
    stream_type: str = "text/event-stream"

    def find(self, seen: ReceivedRequest) -> CompletionKind | Send | Fail:
        match = _PATH.fullmatch(seen.path)
        if seen.method != "POST" or match is None or match["method"] not in _METHODS:
            return Send(b"<html><title>Error 404 (Not Found)!!1</title></html>", "text/html", 404)
        return GenerateContent(match["model"], match["method"], self)

    def error(self, fail: Fail) -> bytes:
        details: list[dict[str, Any]] = []
        if fail.code is not None:
            kind = "type.googleapis.com/google.rpc.ErrorInfo"
            details.append({"@type": kind, "reason": fail.code, "domain": "googleapis.com"})
        if (after := fail.headers.get("retry-after")) is not None:
            kind = "type.googleapis.com/google.rpc.RetryInfo"
            details.append({"@type": kind, "retryDelay": f"{after}s"})
        status = STATUS.get(fail.status, "UNKNOWN")
        error = {"code": fail.status, "message": fail.message, "status": status}
        return to_json({"error": error | ({"details": details} if details else {})})


@dataclass(frozen=True)
class GenerateContent:
    """One model's generateContent, or streamGenerateContent."""

    model: str
    method: str
    service: GeminiService

    def refuse(self, seen: ReceivedRequest) -> Fail | None:
        service = self.service
        if service.key and seen.headers.get("x-goog-api-key") != service.key:
            message = "API key not valid. Please pass a valid API key."
            return Fail(400, message, "API_KEY_INVALID")
        if service.models and self.model not in service.models:
            message = (
                f"models/{self.model} is not found for API version v1, or is not supported for "
                f"{self.method}. Call ListModels to see the list of available models."
            )
            return Fail(404, message)
        if self.streams(seen) and seen.query.get("alt") != "sse":
            return Fail(400, "this server streams with alt=sse only")
        try:
            check(seen.body, self.model)
        except GeminiRefusal as refused:
            return Fail(400, str(refused))
        return None

    def streams(self, seen: ReceivedRequest) -> bool:
        return self.method == "streamGenerateContent"

    def full_body(self, say: Say, seen: ReceivedRequest) -> bytes:
        return msgspec.json.format(encode(reply(say, seen.body, self.model, ids=self.service.ids)))

    def events(self, say: Say, seen: ReceivedRequest) -> Iterator[bytes]:
        for chunk in chunks(say, seen.body, self.model, ids=self.service.ids):
            yield b"data: " + encode(chunk) + b"\r\n\r\n"


def reply(say: Say, body: Mapping[str, Any], model: str, *, ids: bool = True) -> dict[str, Any]:
    """The body of a plain reply."""
    parts = [{"text": say.text}] if say.text else []
    parts = [*_thoughts(say, body), *parts, *_calls(say, body, model, ids=ids)]
    if parts and not say.calls:
        parts[-1]["thoughtSignature"] = sign(model, {})
    return _frame(say, body, model, parts, ends=True)


def chunks(
    say: Say, body: Mapping[str, Any], model: str, *, ids: bool = True
) -> Iterator[dict[str, Any]]:
    """The chunks of a streamed reply: words, then calls, each whole, then the end."""
    words = re.findall(r"\S+\s*|\s+", say.text or "")
    parts = [*_thoughts(say, body), *({"text": word} for word in words)]
    parts += _calls(say, body, model, ids=ids)
    for part in parts:
        yield _frame(say, body, model, [part], ends=False)
    last = [{"text": "", "thoughtSignature": sign(model, {})}] if parts and not say.calls else []
    yield _frame(say, body, model, last, ends=True)


def _frame(
    say: Say, body: Mapping[str, Any], model: str, parts: list[dict[str, Any]], *, ends: bool
) -> dict[str, Any]:
    version: dict[str, Any] = {"modelVersion": say.model or model, "responseId": "scripted"}
    if say.usage != {}:
        version = {"usageMetadata": _usage(say, body)} | version
    if say.refusal is not None or say.finish == "refusal":
        blocked = {"blockReason": "PROHIBITED_CONTENT"}
        why = {"blockReasonMessage": say.refusal} if say.refusal else {}
        return {"promptFeedback": blocked | why} | version
    candidate: dict[str, Any] = {"content": {"role": "model"}, "index": 0}
    if parts:
        candidate["content"]["parts"] = parts
    if ends and say.finish is not None:
        candidate["finishReason"] = FINISH.get(say.finish, say.finish) or "STOP"
        if (odd := _malformed(say)) is not None:
            candidate["finishReason"] = "MALFORMED_FUNCTION_CALL"
            candidate["finishMessage"] = f"Malformed function call: {odd}"
    return {"candidates": [candidate]} | version


def _thoughts(say: Say, body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is thought, where it was asked for; and the parts in `more`."""
    config: dict[str, Any] = body.get("generationConfig", {}).get("thinkingConfig", {})
    thoughts = say.reasoning and (config.get("includeThoughts") or config.get("include_thoughts"))
    thought: list[dict[str, Any]] = [{"text": say.reasoning, "thought": True}] if thoughts else []
    return thought + [dict(part) for part in say.more.get("parts", ())]


def _calls(say: Say, body: Mapping[str, Any], model: str, *, ids: bool) -> list[dict[str, Any]]:
    """The calls, the first of which is signed; none where one has no object for arguments."""
    if _malformed(say) is not None:
        return []
    before = sum(
        "functionCall" in part for content in body["contents"] for part in content["parts"]
    )
    parts: list[dict[str, Any]] = []
    for index, (name, arguments) in enumerate(say.calls):
        call: dict[str, Any] = {"name": name}
        if arguments is not None:
            call["args"] = json.loads(arguments)
        if ids:
            call["id"] = f"call_{before + index}"
        signed = {"thoughtSignature": sign(model, {"functionCall": call})} if not index else {}
        if arguments is not None:  # sign by sign as scripted, but on one line
            call["args"] = msgspec.Raw(arguments.replace("\r", " ").replace("\n", " ").encode())
        parts.append({"functionCall": call} | signed)
    return parts


def _malformed(say: Say) -> str | None:
    """The first call whose arguments are no object, which this API has no way to write."""
    for name, arguments in say.calls:
        try:
            fine = arguments is None or isinstance(json.loads(arguments), dict)
        except ValueError:
            fine = False
        if not fine:
            return f"{name}({arguments})"
    return None


def _usage(say: Say, body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Usage as given, or counted; thinking stands beside what is said."""
    usage = say.usage
    if not isinstance(usage, Usage):
        if usage is not None:
            return usage
        usage = Usage(len(to_json(body["contents"])) // 4, len(say.text or "") // 4 + 1)
    counts = {
        "promptTokenCount": usage.input,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    }
    if usage.cached:
        counts["cachedContentTokenCount"] = usage.cached
    if usage.reasoning:
        counts["thoughtsTokenCount"] = usage.reasoning
    return counts
