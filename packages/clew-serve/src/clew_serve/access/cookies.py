"""The cookie that a browser has after its first link.

No script reads it, and no other site sends it.
"""

from http.cookies import CookieError, SimpleCookie
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import Response

MAX_AGE: Final = 30 * 24 * 3600
"""Seconds that a browser keeps it."""


def cookie_in(headers: Headers, name: str) -> str:
    """The value of a cookie of a request; "" where it has none, or more than one of that name."""
    values: list[str] = []
    for line in headers.getlist("cookie"):
        for part in line.split(";"):
            try:
                parsed = SimpleCookie(part.strip())
            except CookieError:
                continue
            values += [morsel.value for key, morsel in parsed.items() if key == name]
    return values[0] if len(values) == 1 else ""


def set_cookie(response: Response, name: str, value: str, *, secure: bool) -> None:
    """Give the browser its cookie; a `secure` one goes over TLS only."""
    response.set_cookie(
        name, value, max_age=MAX_AGE, path="/", httponly=True, samesite="strict", secure=secure
    )
