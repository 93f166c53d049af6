"""How a browser signs in: by a token behind the `?` of a link, or in the form of the 401 page.

Either is answered with a cookie and a page that leads on, so the token stays in no address that a
page of the server is asked by; nothing writes it down.
"""

from typing import Final

from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope

from clew_serve.access.cookies import set_cookie
from clew_serve.bodies import read_body
from clew_serve.endpoints import FORM, pairs_of
from clew_serve.errors import RefusedError

TOKEN: Final = "token"  # noqa: S105 - the name of a parameter
"""What the first link has behind its `?`, and the field of the form."""

_MAX_FORM: Final = 4_096
_NEEDED: Final = "send authorization: Bearer TOKEN, or open /?token=TOKEN in a browser"
_WELCOME: Final = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    '<title>clew</title><a href="/">clew</a>'
)
"""A page of the server leads on, since the cookie is not sent behind a link from elsewhere."""


async def token_of(scope: Scope, receive: Receive, media_type: str, patience: float) -> str | None:
    """The token with which a browser signs in; None for a request that is none.

    Raises `RefusedError` for a form that is too long or too slow.
    """
    if scope["path"] != "/":
        return None
    if scope["method"] == "GET":
        pairs = pairs_of(scope.get("query_string", b""))
    elif scope["method"] == "POST" and media_type.partition(";")[0].strip().lower() == FORM:
        pairs = pairs_of(await read_body(receive, _MAX_FORM, patience))
    else:
        return None
    tokens = [value for name, value in pairs if name == TOKEN]
    return tokens[0].strip() if len(tokens) == 1 else None


def welcome(name: str, value: str, *, secure: bool) -> HTMLResponse:
    """The answer to who has signed in: the browser's cookie, and a page that leads on."""
    response = HTMLResponse(_WELCOME)
    set_cookie(response, name, value, secure=secure)
    return response


def unknown_user(*, wrong: bool) -> RefusedError:
    """What is said to a request with no token, or with one that is `wrong`."""
    message = "the token is wrong: no user of this server has it" if wrong else "a token is needed"
    return RefusedError(401, "no_token", message, _NEEDED, {"www-authenticate": "Bearer"})
