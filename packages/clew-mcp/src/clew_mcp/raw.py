"""Requests whose results are read here and not by the SDK, which judges them as a whole.

One tool or one piece of content that the protocol does not know makes a whole list or result
invalid to the SDK. It also checks structured content with the patterns of the server, by Python's
`re`, on the event loop: a pattern with nested quantifiers never ends.
"""

from collections.abc import Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.client.session import ClientSession

from clew.interfaces import Json


async def raw_result(
    session: ClientSession,
    request: types.Request[Any, Any],
    *,
    headers: Mapping[str, str] | None = None,
    progress: Callable[..., Any] | None = None,
) -> dict[str, Json]:
    """Make a request and return its result as it came. Raises `MCPError`."""
    message = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    return await send_raw(session, message, headers=headers, progress=progress)


async def send_raw(
    session: ClientSession,
    message: dict[str, Any],
    *,
    headers: Mapping[str, str] | None = None,
    progress: Callable[..., Any] | None = None,
) -> dict[str, Json]:
    """Send what a request says (`method` and `params`). Raises `MCPError`."""
    options: Any = {"headers": dict(headers or {})}
    if progress is not None:
        options["on_progress"] = progress
    # The SDK has no public way to get a result that it has not judged.
    known: Any = session
    known._stamp(message, options)  # noqa: SLF001 - see above
    result: dict[str, Json] = await known._dispatcher.send_raw_request(  # noqa: SLF001 - see above
        message["method"], message.get("params"), options
    )
    return result
