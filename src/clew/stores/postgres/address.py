"""The address of a PostgreSQL store: what of it the server's client needs, and what may be shown.

No part of an address that cannot be read is repeated in a message: it may be a piece of a password.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from clew.core.errors import StoreError

SCHEMES: Final = ("postgresql://", "postgres://")
PATIENCE: Final = 10.0
SCHEMA: Final = "clew"

_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,50}", re.ASCII)
_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_SECRET: Final = frozenset({"password", "sslpassword", "oauth_client_secret"})
_FORM: Final = "write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a store's tables lie: `conninfo` is the address as libpq reads it, `shown` without
    secrets, `schema` the name of the tables' schema, `patience` how long to wait for the server.
    """

    conninfo: str = field(repr=False)
    shown: str
    schema: str = SCHEMA
    patience: float = PATIENCE


def is_address(named: str) -> bool:
    """Whether a place is a database and no path."""
    return named.startswith(SCHEMES)


def scheme_of(named: str) -> str:
    """What an address of anything begins with, such as `https://`; "" for a path."""
    found = _ADDRESS.match(named)
    return found[0] if found else ""


def without_password(named: str) -> str:
    """The place as it may be printed: an address without its password."""
    if not is_address(named):
        scheme = scheme_of(named)
        return f"{scheme}…" if scheme else named
    try:
        return parse(named).shown
    except StoreError:
        return "postgresql://…"


def has_password(named: str) -> bool:
    """Whether a place is an address with a password, or any other secret, in it."""
    if not is_address(named):
        return False
    parts = _split(named)
    names = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    return bool(parts.password) or not names.isdisjoint(_SECRET)


def parse(named: str) -> Address:
    """Read `postgresql://…`, which may hold `schema` and `patience` beside libpq's own options.

    Raises `StoreError`.
    """
    parts = _split(named)
    schema, patience, options = SCHEMA, PATIENCE, list[tuple[str, str]]()
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name == "schema":
            schema = _schema(value)
        elif name == "patience":
            patience = _seconds(value)
        else:
            options.append((name, value))
    user, at, place = parts.netloc.rpartition("@")
    visible = [one for one in parse_qsl(parts.query) if one[0] not in _SECRET]
    public = parts._replace(netloc=f"{user.partition(':')[0]}{at}{place}")
    return Address(_joined(parts, options), _joined(public, visible), schema, patience)


def _joined(parts: SplitResult, options: Sequence[tuple[str, str]]) -> str:
    """The address again; without a host it still has its two slashes."""
    query = f"?{urlencode(options, safe='/')}" if options else ""
    return f"{parts.scheme}://{parts.netloc}{parts.path}{query}"


def _split(named: str) -> SplitResult:
    """The parts of an address whose password cannot be taken for another part."""
    try:
        parts = urlsplit(named)
        port = parts.port if "," not in parts.netloc else None
    except ValueError:
        port, parts = 0, None
    if parts is None or port == 0:
        raise StoreError(f"the port in the database's address is no number: {_FORM}")
    if named.count("@") > 1 or "@" in parts.path + parts.query or "#" in named:
        raise StoreError(
            "the database's address cannot be read: in a password write @ as %40, # as %23, "
            "/ as %2F, ? as %3F and : as %3A"
        )
    return parts


def _schema(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise StoreError(
            "the schema in the database's address is no plain name: take small letters, digits, _"
        )
    return value


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= 3600:
        raise StoreError("the patience in the database's address is a number of seconds, to 3600")
    return seconds
