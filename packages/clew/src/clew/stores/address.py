"""Addresses of stores: which there are, and what of one may be shown.

No part of an address that cannot be read is repeated in a message: it may be a piece of a password.
"""

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from clew.support.errors import StoreError
from clew.support.wings import STORES, names

_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_SECRET: Final = frozenset({"password", "sslpassword", "oauth_client_secret"})


def is_address(named: str) -> bool:
    """Whether a place is the address of an installed kind of store, and not a path."""
    scheme = scheme_of(named)
    return bool(scheme) and scheme.removesuffix("://") in names(STORES)


def scheme_of(named: str) -> str:
    """The scheme of an address, such as `https://`; "" for a path."""
    match = _ADDRESS.match(named)
    return match[0] if match else ""


def without_password(named: str) -> str:
    """The place as it may be printed: an address without its password."""
    scheme = scheme_of(named)
    if not is_address(named):
        return f"{scheme}…" if scheme else named
    try:
        return public_address(split_address(named))
    except StoreError:
        return f"{scheme}…"


def has_password(named: str) -> bool:
    """Whether a place is an address that contains a password or another secret."""
    if not is_address(named):
        return False
    parts = split_address(named)
    names = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    return bool(parts.password) or not names.isdisjoint(_SECRET)


def public_address(parts: SplitResult) -> str:
    """The address without anything secret."""
    user, at, host = parts.netloc.rpartition("@")
    visible = [one for one in parse_qsl(parts.query) if one[0] not in _SECRET]
    return joined_address(parts._replace(netloc=f"{user.partition(':')[0]}{at}{host}"), visible)


def joined_address(parts: SplitResult, options: Sequence[tuple[str, str]]) -> str:
    """The address again; without a host it still has its two slashes."""
    query = f"?{urlencode(options, safe='/')}" if options else ""
    return f"{parts.scheme}://{parts.netloc}{parts.path}{query}"


def split_address(named: str) -> SplitResult:
    """The parts of an address whose password cannot be taken for another part."""
    try:
        parts = urlsplit(named)
        port = parts.port if "," not in parts.netloc else None
    except ValueError:
        port, parts = 0, None
    if parts is None or port == 0:
        raise StoreError(f"the port in the database's address is no number: {_form(named)}")
    if named.count("@") > 1 or "@" in parts.path + parts.query or "#" in named:
        raise StoreError(
            "the database's address cannot be read: in a password write @ as %40, # as %23, "
            "/ as %2F, ? as %3F and : as %3A"
        )
    return parts


def _form(named: str) -> str:
    return f"write it as {scheme_of(named)}USER:PASSWORD@HOST:PORT/DATABASE"
