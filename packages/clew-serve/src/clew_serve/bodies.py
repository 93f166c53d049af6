"""The body of a request, read within bounds: so many bytes, in so many seconds."""

import anyio
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Receive

from clew_serve.errors import RefusedError


def check_declared(headers: Headers, max_bytes: int) -> None:
    """Raise `RefusedError` for a body that its header declares too long, or in no number."""
    declared = headers.get("content-length")
    if declared is None:
        return
    if not declared.isascii() or not declared.isdigit():
        raise RefusedError(400, "bad_request", "the content-length is no number")
    if len(declared) > 18 or int(declared) > max_bytes:
        raise too_long(max_bytes)


async def read_body(receive: Receive, max_bytes: int, patience: float) -> bytes:
    """The body. Raises `RefusedError` for a long one, however it comes, and for a slow one.

    Raises `ClientDisconnect` where the client leaves before its end.
    """
    pieces, size = list[bytes](), 0
    with anyio.move_on_after(patience):
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > max_bytes:
                raise too_long(max_bytes)
            pieces.append(piece)
            if not message.get("more_body", False):
                return b"".join(pieces)
    raise RefusedError(408, "too_slow", f"the body did not come within {patience:g} seconds")


def too_long(max_bytes: int) -> RefusedError:
    """What says that a body is too long."""
    hint = "max_body of the server allows more"
    return RefusedError(413, "too_long", f"the body has more than {max_bytes:,} bytes", hint)
