"""Responses of values: JSON, as msgspec writes it."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from starlette.responses import Response

JSON: Final = "application/json"


def json_response(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """A value as JSON."""
    return Response(msgspec.json.encode(value), status, dict(headers or {}), JSON)
