"""HTML from templates, in which every value is escaped."""

from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("clew_serve"), autoescape=True, undefined=StrictUndefined,
    trim_blocks=True, lstrip_blocks=True,
)  # fmt: skip

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""What a page may load: nothing, and styles of its own."""


def page(template: str, **values: Any) -> HTMLResponse:
    """A page of this template."""
    text = _ENVIRONMENT.get_template(template).render(**values)
    return HTMLResponse(text, headers={"content-security-policy": POLICY})
