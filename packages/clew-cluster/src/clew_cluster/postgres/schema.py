"""The tables of a PostgreSQL store, and how a schema is brought up to them."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, LiteralString, TypeAlias

import psycopg
from psycopg import sql
from psycopg.errors import InsufficientPrivilege, UndefinedColumn

from clew import StoreError
from clew.stores.listing import digests_of
from clew.stores.refusals import newer
from clew_cluster.postgres.address import Address

# `head` is the number of a run's last line and `stopped` whether that is a stop: an append changes
# both in the row that it locks, so that a look at one row settles whether it may be made, and the
# runs that are due lie in an index of their own. `status` and `stopped_at` say how and when a run
# stopped, so that no listing passes all that did; the usual append touches no index of `runs`. A
# fork shares its first lines, up to `shared`, with `base`, the run that wrote the last of them;
# `root` has line 1. `refs` says which run has which blob. The foreign keys are there where two
# transactions may race: a run that gets a fork, a message or a blob's reference is not forgotten,
# nor the blob, in the same moment. An entry from `outside` came with an archive.
_TABLES: Final = """
CREATE TABLE runs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id text COLLATE "C" NOT NULL UNIQUE,
    epoch bigint NOT NULL DEFAULT 1,
    head bigint NOT NULL DEFAULT 0,
    stopped boolean NOT NULL DEFAULT false,
    status text NOT NULL DEFAULT '',
    stopped_at bigint NOT NULL DEFAULT 0,
    base bigint REFERENCES runs (number),
    shared bigint NOT NULL DEFAULT 0,
    root bigint
) WITH (fillfactor = 70);
CREATE INDEX runs_open ON runs (number) WHERE NOT stopped;
CREATE INDEX runs_stopped ON runs (stopped_at, number) WHERE stopped;
CREATE INDEX runs_status ON runs (status, stopped_at, number) WHERE stopped;
CREATE INDEX runs_end ON runs (reverse(run_id));
CREATE INDEX runs_base ON runs (base) WHERE base IS NOT NULL;
CREATE TABLE entries (
    number bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, epoch bigint NOT NULL,
    hash bytea NOT NULL, body bytea NOT NULL, outside boolean NOT NULL DEFAULT false,
    PRIMARY KEY (number, seq)
);
CREATE TABLE blobs (digest text COLLATE "C" PRIMARY KEY, body bytea NOT NULL);
CREATE TABLE refs (
    digest text COLLATE "C" NOT NULL REFERENCES blobs (digest),
    number bigint NOT NULL,
    PRIMARY KEY (digest, number)
);
CREATE INDEX refs_run ON refs (number);
CREATE TABLE inbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number bigint NOT NULL REFERENCES runs (number),
    body bytea NOT NULL
);
CREATE INDEX inbox_run ON inbox (number);
"""

# All appends of a group in one call: the server never waits for the client while it holds a lock,
# so that a client which is frozen in the middle stops nobody. `ids` to `ends` have a place for
# each append, what follows names the place it belongs to. It returns for each place whether
# something waits in the run's inbox, or null where the append was refused.
_APPEND: Final = """
CREATE FUNCTION append(
    ids text[], epochs bigint[], heads bigint[], uptos bigint[], statuses text[], ends bigint[],
    line_places bigint[], seqs bigint[], ats bigint[], eras bigint[], hashes bytea[],
    bodies bytea[], outsides bigint[],
    blob_places bigint[], digests text[], contents bytea[],
    taken_places bigint[], taken bigint[],
    durable boolean, channel text, wakes text[]
) RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
    numbers bigint[];
    found bigint;
    ended boolean;
    waiting boolean[];
BEGIN
    IF NOT durable THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
    FOR place IN 1 .. cardinality(ids) LOOP
        ended := statuses[place] <> 'open';
        UPDATE runs SET head = uptos[place], stopped = ended,
            status = CASE WHEN ended THEN statuses[place] ELSE '' END,
            stopped_at = CASE WHEN ended THEN ends[place] ELSE 0 END
        WHERE run_id = ids[place] AND epoch = epochs[place] AND head = heads[place]
        RETURNING number INTO found;
        numbers[place] := found;
    END LOOP;
    INSERT INTO entries (number, seq, at, epoch, hash, body, outside)
    SELECT numbers[line.place], line.seq, line.at, line.era, line.hash, line.body, line.outside = 1
    FROM unnest(line_places, seqs, ats, eras, hashes, bodies, outsides)
        AS line (place, seq, at, era, hash, body, outside)
    WHERE numbers[line.place] IS NOT NULL;
    IF cardinality(digests) > 0 THEN
        INSERT INTO blobs (digest, body)
        SELECT blob.digest, blob.body
        FROM unnest(blob_places, digests, contents) AS blob (place, digest, body)
        WHERE numbers[blob.place] IS NOT NULL
        ORDER BY blob.digest ON CONFLICT DO NOTHING;
        INSERT INTO refs (digest, number)
        SELECT blob.digest, numbers[blob.place]
        FROM unnest(blob_places, digests) AS blob (place, digest)
        WHERE numbers[blob.place] IS NOT NULL
        ORDER BY blob.digest ON CONFLICT DO NOTHING;
    END IF;
    IF cardinality(taken) > 0 THEN
        DELETE FROM inbox USING unnest(taken_places, taken) AS message (place, id)
        WHERE inbox.id = message.id AND inbox.number = numbers[message.place];
    END IF;
    FOR place IN 1 .. cardinality(ids) LOOP
        waiting[place] := CASE WHEN numbers[place] IS NOT NULL THEN
            EXISTS (SELECT FROM inbox WHERE inbox.number = numbers[place]) END;
    END LOOP;
    FOR place IN 1 .. cardinality(wakes) LOOP
        PERFORM pg_notify(channel, wakes[place]);
    END LOOP;
    RETURN waiting;
END
$$;
"""

# `labels` says which run has which label, by the digests (`clew.stores.labels`) of its first line.
_LABELS: Final = """
CREATE TABLE labels (
    digest bytea NOT NULL, number bigint NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    PRIMARY KEY (digest, number)
);
CREATE INDEX labels_run ON labels (number);
DROP FUNCTION append;
"""
_INTO_LABELS: Final = """
    IF cardinality(label_places) > 0 THEN
        INSERT INTO labels (digest, number)
        SELECT label.digest, numbers[label.place]
        FROM unnest(label_places, label_digests) AS label (place, digest)
        WHERE numbers[label.place] IS NOT NULL ON CONFLICT DO NOTHING;
    END IF;"""
_AFTER_MESSAGES: Final = """
        WHERE inbox.id = message.id AND inbox.number = numbers[message.place];
    END IF;"""
_PARAMETERS: Final = """
    taken_places bigint[], taken bigint[],"""
_APPEND_WITH_LABELS: Final = _APPEND.replace(
    _PARAMETERS, _PARAMETERS + "\n    label_places bigint[], label_digests bytea[],"
).replace(_AFTER_MESSAGES, _AFTER_MESSAGES + _INTO_LABELS)

# One run after the other (`turn` is the lock's number): two that had a blob at once would each
# leave it to the other. True where there was such a run, and no fork of it.
_FORGET: Final = """
CREATE FUNCTION forget(unwanted text, turn bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    gone bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(turn);
    SELECT number INTO gone FROM runs WHERE run_id = unwanted FOR UPDATE;
    IF gone IS NULL OR EXISTS (SELECT FROM runs WHERE base = gone) THEN
        RETURN false;
    END IF;
    DELETE FROM entries WHERE number = gone;
    DELETE FROM inbox WHERE number = gone;
    WITH had AS (DELETE FROM refs WHERE number = gone RETURNING digest)
    DELETE FROM blobs USING had WHERE blobs.digest = had.digest
        AND NOT EXISTS (SELECT FROM refs WHERE refs.digest = had.digest AND number <> gone);
    DELETE FROM runs WHERE number = gone;
    RETURN true;
END
$$;
"""

_LABELLED: Final = """
    SELECT runs.number, body FROM runs
    JOIN entries ON entries.number = coalesce(root, runs.number) AND seq = 1
    WHERE position('"labels":'::bytea IN body) > 0 OR position('"owner":'::bytea IN body) > 0"""


async def _add_labels(connection: psycopg.AsyncConnection[Any]) -> None:
    """Add the table of labels, with those of the runs that are there."""
    await connection.execute(_LABELS + _APPEND_WITH_LABELS)
    rows = await (await connection.execute(_LABELLED)).fetchall()
    values = [(digest, number) for number, body in rows for digest in digests_of(bytes(body))]
    async with connection.cursor() as cursor:
        await cursor.executemany("INSERT INTO labels (digest, number) VALUES (%s, %s)", values)


# Up to where of each run somebody outside was told (`--on-held`).
_NOTICES: Final = """
CREATE TABLE notices (
    number bigint PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE, upto bigint NOT NULL
);
"""

Step: TypeAlias = LiteralString | Callable[[psycopg.AsyncConnection[Any]], Awaitable[None]]

STEPS: Final[Sequence[Step]] = (_TABLES + _APPEND + _FORGET, _add_labels, _NOTICES)
"""What brings the tables from each version to the next. A step that was released never changes."""


def key(schema: str, name: str) -> int:
    """The 64-bit number of an advisory lock."""
    digest = hashlib.blake2b(f"{schema}\0{name}".encode(errors="surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), signed=True)


async def bring_up(
    connection: psycopg.AsyncConnection[Any],
    address: Address,
    steps: Sequence[Step] = STEPS,
) -> None:
    """Make the tables, or bring older ones up, unless another process does. Raises `StoreError`."""
    if await _version(connection, address, len(steps)) == len(steps):
        return
    try:
        async with connection.transaction():
            lock = "SELECT pg_advisory_xact_lock(%s)"
            await connection.execute(lock, (key(address.schema, "\0tables"),))
            version = await _version(connection, address, len(steps))
            if version is None:
                await _begin(connection, address.schema)
            for step in steps[version or 0 :]:
                if callable(step):
                    await step(connection)
                else:
                    await connection.execute(step)
            await connection.execute("UPDATE about SET version = %s", (len(steps),))
    except InsufficientPrivilege as error:
        raise StoreError(
            f"{address.redacted} does not let this user make its tables: have the database's owner "
            f"run `CREATE SCHEMA {address.schema} AUTHORIZATION user`"
        ) from error


async def _version(
    connection: psycopg.AsyncConnection[Any], address: Address, known: int
) -> int | None:
    """The version of the tables; None where there are none. Refuses what is not ours to change."""
    cursor = await connection.execute(
        "SELECT count(*), count(*) FILTER (WHERE relname = 'about') FROM pg_class"
        " JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = %s",
        (address.schema,),
    )
    taken, ours = await cursor.fetchone() or (0, 0)
    try:
        if not ours and taken:
            raise UndefinedColumn
        if not ours:
            return None
        about = sql.Identifier(address.schema, "about")
        query = sql.SQL("SELECT program, version FROM {}").format(about)
        program, version = await (await connection.execute(query)).fetchone() or ("", 0)
        if program != "clew":
            raise UndefinedColumn
    except UndefinedColumn:
        raise StoreError(
            f"the schema {address.schema!r} of {address.redacted} holds tables of another program: "
            "add ?schema=NAME to the address, with a name of your own"
        ) from None
    if version > known:
        raise newer(address.redacted, version, known)
    return int(version)


async def _begin(connection: psycopg.AsyncConnection[Any], schema: str) -> None:
    """Make the schema, unless somebody made it for this user, and the table of its version."""
    cursor = await connection.execute("SELECT to_regnamespace(%s) IS NULL", (schema,))
    if await cursor.fetchone() == (True,):
        await connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    await connection.execute("CREATE TABLE about (program text NOT NULL, version bigint NOT NULL)")
    await connection.execute("INSERT INTO about VALUES ('clew', 0)")
