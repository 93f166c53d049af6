"""The page at `/`: what this server is, and where to look."""

from typing import Final

from starlette.responses import HTMLResponse

from clew_serve.endpoints import Endpoint, Inquiry
from clew_serve.pages.rendering import page


async def get(inquiry: Inquiry) -> HTMLResponse:
    """Who the browser is signed in as, and links."""
    return page("start.html", user=inquiry.user, agents=inquiry.service.agents)


START: Final = Endpoint(
    method="GET", path="/", role="look", handler=get, gives="text/html",
    about="The first page.",
)  # fmt: skip
