"""What went wrong, as a status and one line of JSON: `error` for programs, `message` and `hint`."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import msgspec
from starlette.responses import Response

from clew import (
    AlreadyRuledError,
    ClewError,
    ConfigError,
    ModelError,
    NotHeldError,
    PartError,
    StaleApprovalError,
    StoreError,
)
from clew.agent_files import ForeignOriginError, ForeignRunError
from clew.stores import (
    RunBusyError,
    RunExistsError,
    RunNotFoundError,
    StoreBusyError,
    StoreUnreachableError,
)
from clew_serve.responses import json_response

LOG: Final = logging.getLogger("clew")


class Problem(msgspec.Struct, frozen=True):
    """What a refused or failed request is answered with.

    `error` is one word of a fixed list, which programs read; `message` says what is wrong, and
    `hint` what to do, for people.
    """

    error: str
    message: str
    hint: str = ""


@dataclass
class RefusedError(Exception):
    """A request that is refused for what it is, before clew is asked anything."""

    status: int
    error: str
    message: str
    hint: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def __str__(self) -> str:
        return self.message


_LOOK: Final = "look at the run again: GET /api/runs/RUN"
_AGAIN: Final = "send the request again in a moment"
_STATUSES: Final[tuple[tuple[type[ClewError], int, str, str], ...]] = (
    (RunNotFoundError, 404, "run_not_found", "GET /api/runs lists the runs that you may see"),
    (AlreadyRuledError, 409, "already_ruled", _LOOK),
    (StaleApprovalError, 409, "stale", "GET /api/inbox has the call as it is now"),
    (NotHeldError, 409, "not_held", "GET /api/inbox lists what waits"),
    (RunBusyError, 409, "run_busy", _AGAIN),
    (RunExistsError, 409, "run_exists", _LOOK),
    (ForeignRunError, 409, "foreign_run", "it takes the command line on the server's machine"),
    (ForeignOriginError, 409, "foreign_run", "it takes the command line on the server's machine"),
    (ConfigError, 422, "invalid", "GET /api/openapi.json says what a request takes"),
    (StoreBusyError, 503, "store_busy", _AGAIN),
    (StoreUnreachableError, 503, "store_unreachable", _AGAIN),
    (StoreError, 500, "store", "`clew records verify` on the server's machine says more"),
    (ModelError, 502, "model", _AGAIN),
    (PartError, 500, "part", "the server's log says more"),
)
"""The first row whose class fits counts."""


def problem_of(error: Exception) -> tuple[int, Problem]:
    """The status and the answer for an error. What nobody foresaw is logged, and tells nothing."""
    if isinstance(error, RefusedError):
        return error.status, Problem(error.error, error.message, error.hint)
    for kind, status, name, hint in _STATUSES:
        if isinstance(error, kind):
            return status, Problem(name, " ".join(str(error).split()), hint)
    LOG.error("a request failed", exc_info=error)
    message = "this should not have happened"
    return 500, Problem("internal", message, "the server's log says more")


FailureForm: TypeAlias = Callable[[int, Problem], Response]
"""The form of failures: of a page, or of another protocol."""


def answer_to(error: Exception, form: FailureForm | None = None) -> Response:
    """The response to a request that an error ended: JSON, or what the `form` makes of it."""
    status, problem = problem_of(error)
    headers = dict(error.headers) if isinstance(error, RefusedError) else {}
    if status in {408, 413}:  # what the client still sends is not read
        headers["connection"] = "close"
    if form is None:
        return json_response(problem, status, headers)
    response = form(status, problem)
    response.headers.update(headers)
    return response
