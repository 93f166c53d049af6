"""Failures in OpenAI's form, with the status by which its clients tell them apart."""

from typing import Any, Final

import msgspec
from starlette.responses import Response

from clew_serve.errors import Problem
from clew_serve.responses import json_response

_KINDS: Final = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class ErrorBody(msgspec.Struct):
    """What its clients read of an error; `code` is the word for programs."""

    message: str
    type: str
    code: str
    param: str | None = None


class Failure(msgspec.Struct):
    """The body of a response that is none."""

    error: ErrorBody


def failure(status: int, problem: Problem) -> Response:
    """The response. What is invalid has status 400 there."""
    status = 400 if status == 422 else status
    return json_response({"error": error_of(status, problem)}, status)


def error_of(status: int, problem: Problem) -> dict[str, Any]:
    """An `ErrorBody`, as JSON."""
    usual = "invalid_request_error" if status < 500 else "server_error"
    message = f"{problem.message}: {problem.hint}" if problem.hint else problem.message
    kind = _KINDS.get(status, usual)
    return {"message": message, "type": kind, "param": None, "code": problem.error}
