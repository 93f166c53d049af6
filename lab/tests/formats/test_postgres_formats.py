"""The tables of a PostgreSQL store: a step that was released never changes, and brings up the rest.

What the steps make is asked of a real server, and pinned for each version by digests.
"""

import hashlib
from typing import Any, Final

import psycopg
import pytest

from clew_cluster.postgres.address import parse
from clew_cluster.postgres.schema import STEPS, bring_up
from tests.formats.pins import pins
from tests.postgres import Server

pytestmark = pytest.mark.slow

COLUMNS: Final = """
    SELECT table_name, column_name, data_type, is_nullable, column_default
    FROM information_schema.columns WHERE table_schema = current_schema
    ORDER BY table_name, ordinal_position"""
INDEXES: Final = """
    SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema
    ORDER BY indexdef"""
CONSTRAINTS: Final = """
    SELECT relname, pg_get_constraintdef(pg_constraint.oid)
    FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
    WHERE connamespace = current_schema::regnamespace ORDER BY 1, 2"""
FUNCTIONS: Final = """
    SELECT proname, pg_get_functiondef(oid) FROM pg_proc
    WHERE pronamespace = current_schema::regnamespace ORDER BY proname"""


async def schema(connection: psycopg.AsyncConnection[Any], name: str) -> tuple[str, ...]:
    """Each table and function, and a digest of what it is."""
    parts = dict[str, list[str]]()
    for query in (COLUMNS, INDEXES, CONSTRAINTS, FUNCTIONS):
        for part, *more in await (await connection.execute(query)).fetchall():
            parts.setdefault(part, []).append(repr(more).replace(name, "SCHEMA"))
    return tuple(
        f"{part} {hashlib.sha256(repr(lines).encode()).hexdigest()[:16]}"
        for part, lines in sorted(parts.items())
    )


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_each_version_is_what_it_was(postgres_server: Server) -> None:
    """And from each, the steps after it lead to the newest."""
    pinned = pins("postgres", ".txt")
    assert [*map(str, range(1, len(STEPS) + 1))] == [*pinned], "a new step needs a section"
    for version in range(1, len(STEPS) + 1):
        address = parse(f"{postgres_server.address()}?schema=format_{version}")
        async with await psycopg.AsyncConnection.connect(
            address.conninfo, autocommit=True, options=f"-csearch_path={address.schema}"
        ) as connection:
            await bring_up(connection, address, STEPS[:version])
            tables = await schema(connection, address.schema)
            assert tables == pinned[str(version)], f"{version} is released: add a step instead"
            await bring_up(connection, address)
            assert await schema(connection, address.schema) == [*pinned.values()][-1]
