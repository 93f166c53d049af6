"""How the runs of a PostgreSQL store are listed: all, a page, what is due, by a part of an id."""

from typing import Final

LAST: Final = 1 << 62
"""Later than any time, and more than any number: where the first page begins."""

_COLUMNS: Final = """
    SELECT runs.run_id, parents.run_id, runs.shared,
           first.seq, first.at, first.epoch, first.body, first.hash,
           last.seq, last.at, last.epoch, last.body, last.hash"""
RUNS: Final = f"""{_COLUMNS} FROM runs
    JOIN entries AS last ON last.number = runs.number AND last.seq = runs.head
    JOIN entries AS first ON first.number = coalesce(runs.root, runs.number) AND first.seq = 1
    LEFT JOIN runs AS parents ON parents.number = runs.base
    ORDER BY last.at DESC, runs.number DESC"""

# The same for some, by their numbers. Each is looked up by its key (OFFSET 0 keeps the planner from
# turning that round), so that a look at a few costs as much however many runs there are.
_CHOSEN: Final = """
    CROSS JOIN LATERAL (SELECT * FROM runs WHERE number = chosen.number OFFSET 0) AS runs
    CROSS JOIN LATERAL (
        SELECT * FROM entries WHERE number = runs.number AND seq = runs.head OFFSET 0
    ) AS last
    CROSS JOIN LATERAL (
        SELECT * FROM entries WHERE number = coalesce(runs.root, runs.number) AND seq = 1 OFFSET 0
    ) AS first
    LEFT JOIN LATERAL (
        SELECT run_id FROM runs AS base WHERE base.number = runs.base OFFSET 0
    ) AS parents ON true"""
DUE: Final = f"""{_COLUMNS} FROM (
        SELECT number FROM runs WHERE NOT stopped UNION SELECT number FROM inbox
    ) AS chosen {_CHOSEN}
    ORDER BY last.at, runs.number"""  # noqa: S608 - it is put together from constants

_BEFORE: Final = """(%(at)s::bigint,
    coalesce((SELECT number FROM runs WHERE run_id = %(run_id)s), %(none)s::bigint))"""
# The open runs, which are looked through, and of those that stopped as many as there is room for.
PAGE: Final = f"""{_COLUMNS} FROM (
        SELECT number, at FROM (
            SELECT number, end_.at FROM runs
            CROSS JOIN LATERAL (
                SELECT at FROM entries WHERE number = runs.number AND seq = runs.head OFFSET 0
            ) AS end_
            WHERE NOT stopped AND %(status)s::text IN ('', 'open')
            UNION ALL (
                SELECT number, stopped_at FROM runs
                WHERE stopped AND %(status)s::text = '' AND (stopped_at, number) < {_BEFORE}
                ORDER BY stopped_at DESC, number DESC LIMIT %(most)s::bigint
            )
            UNION ALL (
                SELECT number, stopped_at FROM runs
                WHERE stopped AND status = %(status)s::text AND %(status)s::text <> ''
                    AND (stopped_at, number) < {_BEFORE}
                ORDER BY stopped_at DESC, number DESC LIMIT %(most)s::bigint
            )
        ) AS candidate
        WHERE (at, number) < {_BEFORE}
        ORDER BY at DESC, number DESC LIMIT %(most)s::bigint
    ) AS chosen {_CHOSEN}
    ORDER BY last.at DESC, runs.number DESC"""  # noqa: S608 - it is put together from constants

BEGIN: Final = """
    SELECT run_id FROM runs
    WHERE run_id >= %(part)s AND run_id < %(part)s || chr(1114111) AND head > shared
    ORDER BY run_id LIMIT %(most)s"""
END: Final = """
    SELECT run_id FROM runs
    WHERE reverse(run_id) >= reverse(%(part)s)
        AND reverse(run_id) < reverse(%(part)s) || chr(1114111) AND head > shared
    ORDER BY run_id LIMIT %(most)s"""
