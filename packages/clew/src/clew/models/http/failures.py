"""What a provider's error means: worth another try, or a `ModelError` that says what to do."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from clew.core.redaction import blots_out
from clew.models.complaints import REFUSED, unreadable
from clew.models.http.error_body import all_messages, message_in, unwrapped, wait_in
from clew.models.http.retry import Busy, TryAgain, retry_after
from clew.support.errors import ModelError, TooLongError
from clew.support.short_text import one_line

PASSING: Final = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may pass by themselves."""

OVERLOADED: Final = frozenset({503, 529})
"""Statuses that mean too many requests, by whomever, where they name a time to come back."""

_CONTEXT: Final = re.compile(
    r"context[ _-](?:length|window|size|limit)|maximum context", re.IGNORECASE
)
_TOO_LONG: Final = re.compile(
    r"too many (?:input )?tokens"
    r"|(?:prompt|input|request|conversation|messages?)(?: text| tokens?| length)? (?:is|are|was) "
    r"(?:too (?:long|large)|longer than)|request too large|exceeds the maximum (?:size|length)"
    r"|input is too long|prompt_too_long|reduce the length of|reduce your prompt"
    r"|(?:tokens?|token count|input length|prompt length).{0,60}exceed(?:s|ed|ing)?\b"
    r"|exceed(?:s|ed|ing)? (?:the |this |its )?(?:model'?s? |available |maximum |max |allowed )*"
    r"(?:context|input|prompt|sequence|token)"
    r"|range of input length|maximum (?:prompt|input|sequence) (?:length|tokens)",
    re.IGNORECASE,
)
"""How servers say that a prompt does not fit."""

_NOT_TOO_LONG: Final = re.compile(
    r"\bmax_(?:completion_|output_|new_)?tokens\b.{0,40}"
    r"(?:must|should|at most|>|less|greater|large)"
    r"|per (?:minute|day|hour)|\b[RT]P[MD]\b|rate.?limit|quota",
    re.IGNORECASE,
)
"""What has such words and is about something else: the length of the reply, or a rate."""

_LARGER_THAN_RATE: Final = re.compile(r"request too large", re.IGNORECASE)
"""One request that no minute's allowance holds (Groq, OpenAI): waiting does not help."""

_STATUS: Final = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "model_not_found": 404,
    "invalid_request_error": 400,
    "context_length_exceeded": 400,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


@dataclass(frozen=True)
class ProviderError:
    """An error as a provider told it: HTTP status, its message, code and the parameter it names.

    `all` is everything that its body says: gateways put what matters anywhere. `after` are the
    seconds that it asks to wait.
    """

    status: int
    message: str = ""
    code: str = ""
    param: str = ""
    all: str = ""
    after: float | None = None

    @property
    def text(self) -> str:
        """Where a complaint is looked for."""
        return f"{self.message} '{self.param}' {self.code}\n{self.all}"

    @property
    def too_long(self) -> bool:
        """Whether it says that the prompt does not fit."""
        if self.code == "context_length_exceeded" or self.status == 413:
            return True
        if self.status == 429:
            return bool(_LARGER_THAN_RATE.search(self.text))
        if _CONTEXT.search(self.text):
            return True
        return bool(_TOO_LONG.search(self.text)) and not _NOT_TOO_LONG.search(self.text)


@dataclass(frozen=True)
class FailureSource:
    """Who failed, in the words of the message: model, address, the variable of its key, proxy."""

    name: str
    base_url: str
    key: str
    variable: str
    proxy: str = ""

    def tell(self, words: object) -> str:
        """One line of at most 300 characters in which the key does not occur, if it is a secret."""
        line = one_line(str(words))
        return (line.replace(self.key, "***") if blots_out(self.key) else line)[:300]


class StatusError(Exception):
    """The provider answered with an error, by its HTTP status or inside a reply."""

    def __init__(self, trouble: ProviderError, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(trouble.message)
        self.trouble = trouble
        self.headers = headers or {}


class SilentError(Exception):
    """The provider did not answer in time."""


class LostError(Exception):
    """There is no connection to the provider, or it was lost."""


class BadReplyError(Exception):
    """What came is no reply of this provider; the message goes on after the model's name."""


def read_trouble(status: int, body: object) -> ProviderError:
    """Read an error's body: `{"error": {"message", "code", "param"}}` or whatever came instead.

    With status 200 (an error inside a stream, or instead of a reply) its code tells the status; one
    that tells none counts as 500.
    """
    error = unwrapped(body)
    everything, after = all_messages(body), wait_in(body)
    if not isinstance(error, dict):
        status = status if status != 200 else 500
        return ProviderError(status, message_in(error), all=everything, after=after)
    known = cast("dict[str, Any]", error)
    code = known.get("code")
    if status == 200:
        named = (_STATUS.get(str(known.get(key)), 0) for key in ("code", "type"))
        told = code if isinstance(code, int) and 400 <= code < 600 else 0
        status = told or next(filter(None, named), 500)
    param = str(known.get("param") or "")
    return ProviderError(status, message_in(known), str(code or ""), param, everything, after)


def failure(source: FailureSource, trouble: ProviderError, headers: Mapping[str, str]) -> Exception:
    """The exception to raise: `TryAgain` where another try may help, else a `ModelError`.

    `Busy` where nobody should try before some time.
    """
    status, message = trouble.status, source.tell(trouble.message)
    told = f" ({status}){': ' if message else ''}{message}"
    if trouble.code == "insufficient_quota" or status == 402:
        return ModelError(f"{source.name}: the account has no credit left{told}; top it up")
    if trouble.too_long and status < 500:
        return TooLongError(f"{source.name}: the prompt is too long for it{told}")
    wrote = (status in REFUSED or status == 500) and unreadable(trouble.text)
    if wrote or status in PASSING or status >= 500:
        after = retry_after(headers, time.time())
        after = trouble.after if after is None else after
        if status == 429:
            return Busy(f"{source.name} is limiting the rate{told}", after)
        kind = Busy if status in OVERLOADED and after is not None else TryAgain
        what = "could not read what the model wrote" if wrote else "failed"
        return kind(f"{source.name} {what}{told}", after)
    if status == 401:
        where = f"in {source.variable}" if source.variable else "given"
        return ModelError(
            f"{source.name}: {source.base_url} refused the key {where} (401); set a valid one"
        )
    if status == 403:
        return ModelError(f"{source.name}: this key may not use it{told}; check the account")
    if status == 404:
        return ModelError(
            f"{source.name}: nothing of that name at {source.base_url}{told}; "
            "check the model's name and the address"
        )
    return ModelError(f"{source.name} refused the request{told}")
