"""What is asked of a server, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from clew.core.events import Json
from clew.toolbox.web.trouble import Trouble

JSON_TYPES: Final = ("application/json",)


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a GET, or a POST of `json` where that is given.

    `types` are the beginnings of the content types that are read (none: all). `headers` may hold a
    key: they go to the first server only, and no further with a redirect to another.
    """

    url: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    json: Json = None
    types: tuple[str, ...] = JSON_TYPES


@dataclass(frozen=True, slots=True)
class Answer:
    """What came: `url` is where it came from after all redirects; header names in lower case."""

    url: str
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def type(self) -> str:
        """Such as "text/html", without parameters; "" where the server does not say."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def json(self) -> Any:
        """The body as JSON. Raises `Trouble`."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            text = "the answer is no JSON: try another source, or again later"
            raise Trouble("bad_answer", text) from error
