"""What a browser is shown where a request is refused or fails: what is wrong, and what to do."""

from typing import Final

from starlette.responses import HTMLResponse

from clew_serve.errors import Problem
from clew_serve.pages.rendering import fragment, html_response

_TITLES: Final = {
    401: "Sign in first",
    403: "This is refused",
    404: "There is nothing here",
    409: "This does not go now",
    413: "This is too long",
    422: "This does not fit",
    503: "Try again in a moment",
}
_ADVICE: Final = {
    "no_token": "Enter your token, or open the server's address with /?token=TOKEN at its end.",
    "foreign_host": "Open the server by a name that it has, such as 127.0.0.1.",
    "foreign_origin": "Open the page on the server itself, and send the form from there.",
    "role": "Ask whoever runs the server for that role.",
    "read_only": "Whoever runs the server can start it without --read-only.",
    "run_not_found": "It may have been removed, or belong to somebody else.",
    "no_such_path": "Go on from the list of runs.",
    "already_ruled": "Somebody else has decided. Look at the run again.",
    "stale": "The call has changed since. The inbox has it as it is now.",
    "not_held": "It does not wait any more. The inbox lists what does.",
    "invalid": "Go back, and change what you sent.",
}
"""What to do, for those problems whose hint is for programs."""


def failure_page(status: int, problem: Problem) -> HTMLResponse:
    """A page of its own: it needs no user, and says the same to whoever is refused."""
    text = fragment(
        "refused.html", title=_TITLES.get(status, "This went wrong"), problem=problem,
        advice=_ADVICE.get(problem.error, problem.hint), signed=status != 401,
    )  # fmt: skip
    return html_response(text, status)
