"""The tables of every format that clew ever had, by kind of file: `KIND.sql`, a section for each.

A heading `-- 7` begins the statements that make the tables of format 7; `-- 7: with notices` tells
apart two that bore one number, before this was tested.
"""

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).parent

_SCHEMA: Final = """
    SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL
    AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'words_%' ORDER BY name"""
"""What FTS5 makes for a table `words` is SQLite's own."""

NEW_NUMBER: Final = (
    "the tables changed and their format's number did not, so whoever has an older file would be "
    "told that it is damaged: raise the number, bring older files up, and add a section to {file}"
)


def pins(kind: str, suffix: str = ".sql") -> Mapping[str, tuple[str, ...]]:
    """The lines of each format of a kind, by heading, the newest last."""
    text = (HERE / f"{kind}{suffix}").read_text(encoding="utf-8")
    _, *parts = re.split(r"^-- ", text, flags=re.MULTILINE)
    sections = (part.partition("\n") for part in parts)
    return {head: tuple(filter(None, body.splitlines())) for head, _, body in sections}


def number(heading: str) -> int:
    """The number of a format, of its heading."""
    return int(heading.partition(":")[0])


def schema(path: Path) -> tuple[str, ...]:
    """The statements that make a file's tables, each on one line."""
    with closing(sqlite3.connect(path)) as file:
        return tuple(" ".join(sql.replace('"', "").split()) for (sql,) in file.execute(_SCHEMA))


def version(path: Path) -> int:
    """The number of a file's format, where it is SQLite's own."""
    with closing(sqlite3.connect(path)) as file:
        ((value,),) = file.execute("PRAGMA user_version")
        return int(value)


def aged(path: Path, heading: str, statements: tuple[str, ...], *, journal: str) -> Path:
    """A copy of a file as the clew of an older format wrote it: what has a column there."""
    copy = path.with_name("older.sqlite")
    if statements == schema(path):  # what was written in them changed, and not the tables
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            file.execute("VACUUM INTO ?", (str(copy),))
        with closing(sqlite3.connect(copy)) as file:
            file.execute(f"PRAGMA user_version = {number(heading)}")
        return copy
    with closing(sqlite3.connect(copy, isolation_level=None)) as file:
        file.execute("PRAGMA page_size = 512")
        file.execute(f"PRAGMA journal_mode = {journal}")
        file.execute("ATTACH ? AS newer", (str(path),))
        tables = [sql for sql in statements if sql.startswith(("CREATE TABLE", "create table"))]
        for sql in tables:
            file.execute(sql)
            name = sql.split()[2].partition("(")[0]
            columns = ", ".join(row[1] for row in file.execute(f"PRAGMA main.table_info({name})"))
            there = {row[1] for row in file.execute(f"PRAGMA newer.table_info({name})")}
            assert {*columns.split(", ")} <= there, f"{name} has other columns now: copy by hand"
            file.execute(f"INSERT INTO main.{name} ({columns}) SELECT {columns} FROM newer.{name}")
        for sql in statements:
            if sql not in tables:
                file.execute(sql)
        ((ours,),) = file.execute("PRAGMA newer.application_id")
        file.execute(f"PRAGMA main.application_id = {ours}")
        file.execute(f"PRAGMA main.user_version = {number(heading)}")
    return copy
