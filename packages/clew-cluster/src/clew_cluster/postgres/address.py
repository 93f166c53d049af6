"""The address of a PostgreSQL store: what of it the server's client needs, and what may be shown.

No part of an address that cannot be read is repeated in a message: it may be a piece of a password.
"""

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

from clew import StoreError
from clew.stores.address import joined_address, public_address, split_address

PATIENCE: Final = 10.0
SCHEMA: Final = "clew"

_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,50}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a store's tables lie: `conninfo` is the address as libpq reads it, `redacted` without
    secrets, `schema` the name of the tables' schema, `patience` how long to wait for the server.
    """

    conninfo: str = field(repr=False)
    redacted: str
    schema: str = SCHEMA
    patience: float = PATIENCE


def parse(named: str) -> Address:
    """Read `postgresql://…`, which may hold `schema` and `patience` beside libpq's own options.

    Raises `StoreError`.
    """
    parts = split_address(named)
    schema, patience, options = SCHEMA, PATIENCE, list[tuple[str, str]]()
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name == "schema":
            schema = _schema(value)
        elif name == "patience":
            patience = _seconds(value)
        else:
            options.append((name, value))
    return Address(joined_address(parts, options), public_address(parts), schema, patience)


def _schema(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise StoreError(
            "the schema in the database's address must consist of small letters, digits and _"
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
