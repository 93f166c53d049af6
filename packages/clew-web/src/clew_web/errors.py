"""What can go wrong on the web: a closed list, each with a line that says what to do."""

from typing import Literal, TypeAlias

from clew import ToolError

Kind: TypeAlias = Literal[
    "no_key",  # a source needs a key, and its variable is not set
    "wrong_key",  # a source does not take the key
    "quota",  # a source's free or paid share is used up
    "captcha",  # a source wants to see a person
    "layout_changed",  # a page can be read, but not found to be one of results
    "busy",  # the server asks to come back later, and goes on asking
    "timeout",  # no answer in time
    "unreachable",  # no such host, no connection, or the server fails
    "not_allowed",  # an address that is not asked: private, of another scheme, a loop
    "robots",  # the site asks that programs stay away from this page
    "not_found",  # no such page
    "refused",  # the server will not answer this
    "too_large",
    "not_readable",  # a kind of document that nobody here can read
    "bad_answer",  # a source did not answer in its documented form
    "bad_query",  # nothing that could be searched for
    "all_failed",  # each source of web_search failed
]


class WebToolError(ToolError):
    """A `ToolError` whose message begins with its kind: `captcha: …`."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
