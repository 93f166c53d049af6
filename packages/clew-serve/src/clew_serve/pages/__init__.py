"""The pages that a browser shows: endpoints of the same table, mounted at `/`."""

from typing import Final

from clew_serve.endpoints import Endpoint
from clew_serve.pages.start import START

PAGES: Final[tuple[Endpoint, ...]] = (START,)
"""All pages. Each is an endpoint, with a role, like those of the API."""
