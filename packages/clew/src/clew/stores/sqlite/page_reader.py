"""Reading an SQLite file that SQLite does not open: its rows, page by page, as the format has them.

SQLite opens no file that is shorter than its header says, and none whose schema it cannot read.
What leads to a page may have stood behind the cut, or in the schema. So each leaf page that is
there is read by itself, and what it holds is put into a database in memory, which is only read.
Whoever reads it holds lines and blobs against their hashes.
https://www.sqlite.org/fileformat2.html
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from clew.stores.listing import stops
from clew.stores.sqlite.labels import fill_labels

# By the first byte of a page: what stands in a cell before its length, and whether it has a number.
# A page with rows of a table, and two of an index: that of the ids tells them as well.
_CELLS: Final = {13: (0, True), 10: (0, False), 2: (4, False)}
_ABOVE: Final = 5  # a page that leads to pages of a table
_HEAD: Final = {13: 8, 10: 8, 2: 12}  # bytes before the places of the cells
# Where a file says how many pages it has, where its free ones begin, and what program it is of.
_PAGES, _FREE, _OURS = 28, 32, 68
_WRITES: Final = frozenset({sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE})
_INTS: Final = (0, 1, 2, 3, 4, 6, 8)  # bytes of an integer, by its type

_ENTRIES: Final = "entries (key, at, epoch, hash, mark, body)"

# A row tells by its form which table it is of; that of a whole number alone is of `open_runs`.
_TABLES: Final[dict[tuple[str, ...], str]] = {
    ("NoneType", "int", "int", "bytes", "bytes", "bytes"): _ENTRIES,
    ("NoneType", "int", "int", "bytes", "NoneType", "bytes"): _ENTRIES,
    ("NoneType", "int", "int", "bytes", "bytes"): "entries (key, at, epoch, hash, body)",  # older
    ("NoneType", "str", "int", "int"): "runs (number, run_id, epoch, indexed)",
    ("NoneType", "str", "int"): "runs (number, run_id, epoch)",  # older
    ("NoneType", "int", "int", "int"): "forks (number, base, shared, root)",
    ("NoneType", "int", "str"): "stopped_runs (number, at, status)",
    ("NoneType", "int", "bytes", "bytes"): "inbox (id, number, body, mark)",
    ("NoneType", "int", "bytes"): "inbox (id, number, body)",  # the same
    ("NoneType",): "open_runs (number)",
    ("str", "bytes"): "blobs (rowid, digest, body)",
}
_DIGEST: Final = 64  # characters, which stand in another index with the number of a run
_NAMELESS: Final = """
    SELECT DISTINCT key >> 32 FROM entries WHERE key >> 32 NOT IN (SELECT number FROM runs)"""
_NAME: Final = "INSERT INTO runs (number, run_id, epoch) VALUES (?, ?, 1)"

# Behind the last line of a run that may have had more stands a line that no chain of hashes goes
# through: so nobody takes the run for whole.
_ENDS: Final = """
    SELECT max(key), entries.at, body, (
        SELECT stopped_runs.at FROM stopped_runs WHERE number = key >> 32
    ) FROM entries GROUP BY key >> 32"""
_OPEN_END: Final = "INSERT INTO entries (key, at, epoch, hash, body) VALUES (?, ?, 0, x'', x'')"


def unreadable(path: Path, application: int) -> str:
    """Why SQLite does not open a file of ours; "" where it is another program's."""
    with path.open("rb") as file:
        header = file.read(100)
    if int.from_bytes(header[_OURS : _OURS + 4]) != application:
        return ""
    if there := _cut(header, path.stat().st_size):
        return f"was cut off: {there}"
    return "has a damaged schema: what its tables are cannot be read"


def rebuilt(path: Path, tables: str, why: str) -> sqlite3.Connection:
    """A database with the rows that are left, to be read; its table `cut` says why.

    A run whose id is lost gets another: no line of it has that in its hash.
    """
    data = _image(path)
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(f"{tables}; CREATE TABLE cut (why TEXT)")
    connection.execute("INSERT INTO cut VALUES (?)", (f"it {why}",))
    ends: dict[int, tuple[int, int]] = {}  # the first and last line on a page
    followed: set[int] = set()  # lines behind which stands another: on their page, or on the next
    for page, rows in _leaves(data):
        keys = [key for rowid, row in rows if (key := _put(connection, rowid, row))]
        if keys:
            ends[page] = (keys[0], keys[-1])
        followed.update(keys[:-1])
    if _cut(data, len(data)):
        for page, then in _neighbours(data):
            if page in ends and then in ends:
                followed.add(ends[page][1])
        _leave_open(connection, followed)
    for (number,) in connection.execute(_NAMELESS).fetchall():
        name = f"id-lost-{number}"
        connection.execute(_NAME, (number, name))
        remark = f"run number {number} has lost its id, and is called {name!r}"
        connection.execute("INSERT INTO cut VALUES (?)", (remark,))
    connection.execute("UPDATE runs SET indexed = 0")  # no page of labels is read
    fill_labels(connection)
    connection.set_authorizer(_only_read)
    return connection


def _cut(header: bytes, size: int) -> str:
    """How much of a file of this size is there; "" where all is."""
    there, page_count = size // _size(header), int.from_bytes(header[_PAGES:][:4])
    return f"{there:,} of its {page_count:,} pages are there" if there < page_count else ""


def _image(path: Path) -> bytes:
    """The file with what its log has; as it is, where SQLite reads no page of it."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection,
    ):
        return connection.serialize()
    return path.read_bytes()


def _leave_open(connection: sqlite3.Connection, followed: set[int]) -> None:
    """Put an end that fits no chain behind each run that may have had more."""
    for key, at, body, stopped in connection.execute(_ENDS).fetchall():
        if key not in followed and not (at == stopped and stops(body)):
            connection.execute(_OPEN_END, (key + 1, at))


def _only_read(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_DENY if action in _WRITES else sqlite3.SQLITE_OK


def _put(connection: sqlite3.Connection, rowid: int, row: list[Any]) -> int:
    """Put a row where it belongs; the key, if it is a line. What fits nowhere is left out."""
    if not rowid:  # an index, of which only that of the ids tells more than the tables
        match row:
            case [str(run_id), int(number)] if len(run_id) != _DIGEST:
                with suppress(sqlite3.IntegrityError):
                    connection.execute(_NAME, (number, run_id))
            case _:
                pass
        return 0
    if (table := _TABLES.get(tuple(type(value).__name__ for value in row))) is None:
        return 0
    values = [rowid, *(row if row[0] is not None else row[1:])]
    marks = ", ".join("?" * len(values))
    with suppress(sqlite3.IntegrityError):  # a page of long ago says otherwise
        connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608 - our own names
    return rowid if table.startswith("entries") else 0


def _size(header: bytes) -> int:
    size = int.from_bytes(header[16:18])
    return 65_536 if size == 1 else size


def _pages(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Each whole page: its number, where it begins, and where what it says of itself does."""
    size = _size(data)
    for start in range(0, len(data) - size + 1, size):
        yield start // size + 1, start, start + (100 if start == 0 else 0)


def _free(data: bytes) -> set[int]:
    """The pages that hold nothing any more: what was deleted may still be read on them."""
    size, pages = _size(data), set[int]()
    trunk = int.from_bytes(data[_FREE : _FREE + 4])
    while trunk and trunk not in pages and trunk * size <= len(data):
        pages.add(trunk)
        at = (trunk - 1) * size
        count = min(int.from_bytes(data[at + 4 : at + 8]), size // 4 - 2)
        offsets = range(at + 8, at + 8 + 4 * count, 4)
        pages.update(int.from_bytes(data[offset : offset + 4]) for offset in offsets)
        trunk = int.from_bytes(data[at : at + 4])
    return pages


def _neighbours(data: bytes) -> Iterator[tuple[int, int]]:
    """Pages of a table of which one stands right behind the other, as pages above them say."""
    for _, start, head in _pages(data):
        if data[head] == _ABOVE:
            count = int.from_bytes(data[head + 3 : head + 5])
            cells = range(head + 12, head + 12 + 2 * count, 2)
            offsets = [start + int.from_bytes(data[cell : cell + 2]) for cell in cells]
            yield from pairwise(int.from_bytes(data[at : at + 4]) for at in (*offsets, head + 8))


def _leaves(data: bytes) -> Iterator[tuple[int, list[tuple[int, list[Any]]]]]:
    """The rows of each page that has any, with their numbers; none that goes on behind the cut."""
    size, free = _size(data), _free(data)
    usable = size - data[20]
    for page, start, head in _pages(data):
        if page in free or (kind := data[head]) not in _CELLS:
            continue
        count = int.from_bytes(data[head + 3 : head + 5])
        rows: list[tuple[int, list[Any]]] = []
        for offset in range(head + _HEAD[kind], head + _HEAD[kind] + 2 * count, 2):
            with suppress(IndexError, KeyError, ValueError):  # no page of rows, or a cut one
                at = int.from_bytes(data[offset : offset + 2])
                if at < size:
                    rows.append(_row(data, start + at, size, usable, kind))
        yield page, rows


def _row(data: bytes, at: int, size: int, usable: int, kind: int) -> tuple[int, list[Any]]:
    """The row that begins there. Raises `IndexError` or `ValueError` where there is none, whole."""
    before, numbered = _CELLS[kind]
    length, at = _number(data, at + before)
    rowid, at = _number(data, at) if numbered else (0, at)
    min_local = (usable - 12) * 32 // 255 - 23
    max_local = usable - 35 if numbered else (usable - 12) * 64 // 255 - 23
    local = length
    if length > max_local:
        local = min_local + (length - min_local) % (usable - 4)
        local = local if local <= max_local else min_local
    payload = bytearray(data[at : at + local])
    further = int.from_bytes(data[at + local : at + local + 4])
    if length > len(data):
        raise ValueError("no row is so long")
    while len(payload) < length:
        page = (further - 1) * size
        if further < 1 or page + size > len(data):
            raise ValueError("the rest of the row is not there")
        further = int.from_bytes(data[page : page + 4])
        payload += data[page + 4 : page + 4 + min(usable - 4, length - len(payload))]
    return rowid, _values(bytes(payload))


def _values(payload: bytes) -> list[Any]:
    """The values of a row. Raises `IndexError` or `ValueError` where these bytes are none."""
    end, at = _number(payload, 0)
    offset, values = end, list[Any]()
    while at < end:
        kind, at = _number(payload, at)
        if kind >= 12:
            body = payload[offset : offset + (kind - 12) // 2]
            offset += len(body)
            values.append(body.decode() if kind % 2 else body)
        elif 1 <= kind <= 6:
            values.append(int.from_bytes(payload[offset : offset + _INTS[kind]], signed=True))
            offset += _INTS[kind]
        else:  # nothing, or 0 or 1 by its type alone
            values.append({0: None, 8: 0, 9: 1}[kind])
    return values


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where the next thing begins; ours have at most eight bytes, which end alike."""
    value = 0
    for position in range(at, at + 9):
        value = value << 7 | data[position] & 127
        if data[position] < 128:
            return value, position + 1
    raise ValueError("no number of ours is so long")
