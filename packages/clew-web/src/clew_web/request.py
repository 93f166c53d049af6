"""What is asked of a server, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from clew.interfaces import Json
from clew_web.errors import WebToolError

JSON_TYPES: Final = ("application/json",)


@dataclass(frozen=True, slots=True)
class WebRequest:
    """A request: a GET, or a POST of `json` if that is given.

    `types` are prefixes of the accepted content types (none: all). `headers` may contain a key:
    they go to the first server only, not to another after a redirect.
    """

    url: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    json: Json = None
    types: tuple[str, ...] = JSON_TYPES


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: `url` is its address after all redirects; header names are in lower case."""

    url: str
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def type(self) -> str:
        """For example "text/html", without parameters; "" if the server does not say."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def json(self) -> Any:
        """The body as JSON. Raises `WebToolError`."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            text = "the answer is no JSON: try another source, or again later"
            raise WebToolError("bad_answer", text) from error
