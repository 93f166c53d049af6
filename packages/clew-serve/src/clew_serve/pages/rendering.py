"""HTML from templates, in which every value is made safe on its way (`safe_html`)."""

import re
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from clew_serve.endpoints import Inquiry
from clew_serve.pages.assets import VERSION
from clew_serve.pages.safe_html import ENTIRE, html, path, short

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
"""What a page may load: scripts, styles and pictures of this server, and nothing of others."""

_HEADERS: Final = {
    "content-security-policy": POLICY,
    "referrer-policy": "same-origin",  # without a referrer a browser's form has the origin "null"
}

_MAX_YEAR_MS: Final = 253_402_300_799_000


def _time(at: int) -> Markup:
    """A time in Unix milliseconds, as an element."""
    if not 0 <= at <= _MAX_YEAR_MS:
        return html(str(at))
    moment = datetime.fromtimestamp(at // 1000, UTC)
    return Markup("<time datetime={0:%Y-%m-%dT%H:%M:%SZ}>{0:%Y-%m-%d %H:%M:%S}</time>").format(
        moment
    )


def _class(text: str) -> str:
    """A word of a closed list as the name of a class; what is none is no class."""
    return text if re.fullmatch(r"[a-z_]{1,20}", text) else "other"


_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("clew_serve"), autoescape=True, undefined=StrictUndefined,
    trim_blocks=True, lstrip_blocks=True, finalize=html,
)  # fmt: skip
_FILTERS: Final = {"short": short, "path": path, "time": _time, "class": _class}
_ENVIRONMENT.filters.update(_FILTERS)  # pyright: ignore[reportUnknownMemberType] - jinja2 leaves it open
_ENVIRONMENT.globals.update(version=VERSION)  # pyright: ignore[reportUnknownMemberType] - as above


def fragment(template: str, **values: Any) -> Markup:
    """A piece of a page, of this template."""
    text = _ENVIRONMENT.get_template(template).render(**values)
    return Markup(text)  # noqa: S704 - each value in it went through `html`


_ENTIRE: Final = _ENVIRONMENT.overlay(finalize=partial(html, limit=ENTIRE))


def entire_fragment(template: str, **values: Any) -> Markup:
    """The same, where no page leads to the rest of a long text."""
    text = _ENTIRE.get_template(template).render(**values)
    return Markup(text)  # noqa: S704 - each value in it went through `html`


def page(inquiry: Inquiry, template: str, **values: Any) -> HTMLResponse:
    """A page of this template, for the user who asks."""
    shows = inquiry.service.config.read_only
    return html_response(fragment(template, user=inquiry.user, read_only=shows, **values))


def html_response(text: str, status: int = 200) -> HTMLResponse:
    """HTML that was rendered here, which may load nothing of others."""
    return HTMLResponse(text, status, headers=_HEADERS)
