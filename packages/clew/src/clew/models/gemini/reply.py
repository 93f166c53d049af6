"""Gemini, the way back: a body or a stream of chunks as a `Reply`.

Format: https://ai.google.dev/api/generate-content. In a stream each chunk is a whole body with
further parts; a call comes whole, in one of them.

What only this model can read stays in the reply's wire as the list of its parts, in order, without
what the reply has elsewhere: a call is `{"call": true}` with the further keys of its part
(`thoughtSignature` …), a text has its length in the place of its words (its words, where a codec
would strip some). Thinking without a signature is for people only.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import msgspec

from clew.core.contents import RawCall, Reply, Usage, Wire
from clew.core.values import Json
from clew.models.endings import GEMINI, Ending
from clew.models.http.failures import BadReplyError, ProviderError, StatusError, read_trouble
from clew.models.tool_names import Toolbox
from clew.models.usage import completed, count, merged, sum_of
from clew.support.live import tell_arguments

_SPACE: Final = re.compile(r'("(?:[^"\\]|\\.)*")|\s+')

STATUS: Final = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "INTERNAL": 500,
    "UNKNOWN": 500,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""HTTP statuses by their names in Google's errors."""

_TOO_LONG: Final = re.compile(r"token count.*exceeds the maximum", re.IGNORECASE | re.DOTALL)


class CandidateContent(msgspec.Struct):
    """What a candidate says."""

    parts: list[dict[str, msgspec.Raw]] | None = None


class Candidate(msgspec.Struct):
    """One of the replies; only one is ever asked for."""

    content: CandidateContent | None = None
    reason: str | None = msgspec.field(default=None, name="finishReason")
    why: str | None = msgspec.field(default=None, name="finishMessage")


class Feedback(msgspec.Struct):
    """Why a prompt was not answered at all."""

    reason: str | None = msgspec.field(default=None, name="blockReason")
    why: str | None = msgspec.field(default=None, name="blockReasonMessage")


class GeminiBody(msgspec.Struct):
    """A reply's body, or one chunk of a stream."""

    candidates: list[Candidate] | None = None
    feedback: Feedback | None = msgspec.field(default=None, name="promptFeedback")
    usage: Any = msgspec.field(default=None, name="usageMetadata")
    model: str | None = msgspec.field(default=None, name="modelVersion")
    error: Any = None


class Called(msgspec.Struct):
    """A function call; its arguments are an object."""

    name: str = ""
    args: msgspec.Raw = msgspec.Raw(b"null")
    id: str | None = None


_decoder = msgspec.json.Decoder(GeminiBody)


@dataclass(slots=True)
class GeminiReplyBuilder:
    """A reply as it comes together; `source` is (provider, model asked for)."""

    source: tuple[str, str]
    box: Toolbox
    texts: list[str] = field(default_factory=list[str])
    thoughts: list[str] = field(default_factory=list[str])
    calls: list[RawCall] = field(default_factory=list[RawCall])
    parts: list[dict[str, Json]] = field(default_factory=list[dict[str, Json]])
    words: list[str] = field(default_factory=list[str])
    why: str = ""
    blocked: bool = False
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    model: str = ""
    done: bool = False

    @property
    def empty(self) -> bool:
        return not (self.texts or self.calls)

    @property
    def ended(self) -> bool:
        return bool(self.words) or self.blocked

    def end_early(self) -> None:
        self.words = ["STOP"]

    def take(self, data: bytes, *, complete: bool) -> str:
        body = _decoder.decode(data)
        if body.error:
            raise StatusError(read_error(200, body.error))
        if body.feedback is not None and body.feedback.reason:
            self.blocked, self.why = True, body.feedback.why or body.feedback.reason
        if complete and not (body.candidates or self.blocked):
            raise BadReplyError("sent a reply without a candidate")
        self.usage = merged(self.usage, body.usage)
        self.model = body.model or self.model
        if not body.candidates:
            return ""
        candidate = body.candidates[0]
        GEMINI.note(self.words, candidate.reason)
        self.why = candidate.why or self.why
        content = candidate.content or CandidateContent()
        return "".join(map(self._take_part, content.parts or ()))

    def _take_part(self, part: dict[str, msgspec.Raw]) -> str:
        """Take a part; the text in it that is for the person."""
        if "functionCall" in part:
            called = msgspec.json.decode(part.pop("functionCall"), type=Called)
            args = compact_json(bytes(called.args).decode())
            told = None if args == "null" else args
            tell_arguments(len(self.calls), self.box.name(called.name), told or "{}")
            self.calls.append(
                RawCall(name=self.box.name(called.name), arguments=told, id=called.id or "")
            )
            self.parts.append({"call": True} | _read(part))
            return ""
        known = _read(part)
        text = known.get("text")
        if not isinstance(text, str):
            if known:
                self.parts.append(known)
            return ""
        if known.get("thought"):
            self.thoughts.append(text)
            if known.keys() - {"text", "thought"}:
                self.parts.append(known)
            return ""
        if text:
            self.texts.append(text)
        self._take_text(known)
        return text

    def _take_text(self, part: dict[str, Json]) -> None:
        """Keep a text: a further piece of the last one, unless either has a signature."""
        last = self.parts[-1] if self.parts else {}
        if part.keys() == {"text"} == last.keys():
            last["text"] += part["text"]
        elif part["text"] or len(part) > 1:
            self.parts.append(part)

    def reply(self, sent: int) -> Reply:
        text, calls = "".join(self.texts), tuple(self.calls)
        ending = self._ending()
        if not text and ending.finish in {"cut", "filter", "refusal"}:
            text = self.why
        return Reply(
            text=text,
            calls=calls,
            finish=ending.finish,
            ending=ending.word,
            usage=_usage(self.usage, sent, text, calls),
            model=self.model or self.source[1],
            reasoning="".join(self.thoughts),
            wire=self._wire(),
        )

    def _ending(self) -> Ending:
        if self.blocked:
            return Ending("refusal")
        return GEMINI.read(self.words, calls=bool(self.calls), empty=self.empty)

    def _wire(self) -> Wire | None:
        if not any(part.keys() - {"text", "call"} for part in self.parts):
            return None
        text = "".join(self.texts)
        kept = self.parts
        if text == text.strip():
            kept = [
                part | {"text": len(part["text"])} if "text" in part and "thought" not in part
                else part
                for part in self.parts
            ]  # fmt: skip
        provider, model = self.source
        return Wire(provider=provider, model=model, items=kept)


def _read(part: dict[str, msgspec.Raw]) -> dict[str, Json]:
    return {key: msgspec.json.decode(value) for key, value in part.items()}


def compact_json(text: str) -> str:
    """JSON without the space between its signs, which are left as they are: numbers above all."""
    return _SPACE.sub(r"\1", text)


def _usage(usage: dict[str, Any], sent: int, text: str, calls: tuple[RawCall, ...]) -> Usage:
    """Read usage; thinking is counted beside the reply, and is paid for like it."""
    thought = "thoughtsTokenCount"
    read = Usage(
        input=sum_of(usage, "promptTokenCount", "toolUsePromptTokenCount"),
        output=sum_of(usage, "candidatesTokenCount", thought),
        cached=count(usage, "cachedContentTokenCount"),
        reasoning=count(usage, thought),
    )
    return completed(read, count(usage, "totalTokenCount"), sent, text, calls)


class Detail(msgspec.Struct):
    """A detail of an error: what exactly is wrong."""

    reason: str = ""


class Error(msgspec.Struct):
    """An error as Google's APIs write it."""

    code: int = 0
    message: str = ""
    status: str = ""
    details: list[Detail] = []


class ErrorEnvelope(msgspec.Struct):
    """An error in a body of its own."""

    error: Error


def read_error(status: int, body: object) -> ProviderError:
    """What an error's body says.

    A wrong key comes with status 400, and counts as 401. With status 200 (an error inside a stream,
    or instead of a reply) the error's own code or name tells the status; else it counts as 500.
    """
    told = read_trouble(status, body)
    try:
        error = _error(body)
    except msgspec.ValidationError:
        return told
    if not error.message:
        return told
    if status == 200:
        status = error.code if 400 <= error.code < 600 else STATUS.get(error.status, 500)
    code = next((detail.reason for detail in error.details if detail.reason), error.status)
    if code == "API_KEY_INVALID":
        status = 401
    elif status == 400 and _TOO_LONG.search(error.message):
        code = "context_length_exceeded"
    elif status == 429 and "depleted" in error.message.lower():
        code = "insufficient_quota"
    return replace(told, status=status, code=code)


def _error(body: object) -> Error:
    if isinstance(body, list) and body:
        return _error(cast("list[object]", body)[0])
    try:
        return msgspec.convert(body, ErrorEnvelope).error
    except msgspec.ValidationError:
        return msgspec.convert(body, Error)
