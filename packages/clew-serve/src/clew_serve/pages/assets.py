"""What pages load of this server: scripts and styles, each at its own path.

`htmx.js` and `hx-sse.js` are those of the package htmx.org of npm, as they are there (`SOURCES`).
"""

import hashlib
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Final

from starlette.responses import Response

from clew_serve.endpoints import Endpoint, Inquiry

SOURCES: Final = {
    "htmx.js": (
        "htmx.org@4.0.1 dist/htmx.min.js",
        "a0abb04f2f45a1f89d1d4844023245537e5e6014c87b144553e0607b4cc32130",
    ),
    "hx-sse.js": (
        "htmx.org@4.0.1 dist/ext/hx-sse.min.js",
        "18ef2761356ec1fe0bb6d92612315b37517a7c1e9856b661c5ae81fef239d103",
    ),
}
"""Where the vendored files are from, and their SHA-256."""

_TYPES: Final = {".js": "text/javascript", ".css": "text/css"}
_NAMES: Final = ("htmx.js", "hx-sse.js", "clew.js", "clew.css")
_FILES: Final = {name: (files("clew_serve") / "static" / name).read_bytes() for name in _NAMES}
_KEPT: Final = {"cache-control": "private, max-age=31536000, immutable"}

STYLE: Final = _FILES["clew.css"].decode()
"""The style of the pages, for a file that has it in itself."""

VERSION: Final = hashlib.sha256(b"".join(_FILES.values())).hexdigest()[:12]
"""Stands in the addresses of the files, so that a browser may keep them."""


def _handler(name: str) -> Callable[[Inquiry], Awaitable[Response]]:
    kind = _TYPES[name[name.rindex(".") :]]

    async def get(inquiry: Inquiry) -> Response:
        del inquiry
        return Response(_FILES[name], media_type=kind, headers=_KEPT)

    return get


ASSETS: Final = tuple(
    Endpoint(
        method="GET", path=f"/static/{name}", role="look", handler=_handler(name),
        gives=_TYPES[name[name.rindex(".") :]], about="A script or style of the pages.",
    )
    for name in _NAMES
)  # fmt: skip
