"""How the runs of a PostgreSQL store are listed: all, a page, what is due, by a part of an id."""

from typing import Final, LiteralString

LAST: Final = 1 << 62
"""Later than any time, and more than any number: where the first page begins."""

MANY: Final = 1000
"""With more runs of each label than this, a page is looked for from the latest run on."""

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
def _page(condition: LiteralString) -> LiteralString:
    return f"""{_COLUMNS} FROM (
        SELECT number, at FROM (
            SELECT number, end_.at FROM runs
            CROSS JOIN LATERAL (
                SELECT at FROM entries WHERE number = runs.number AND seq = runs.head OFFSET 0
            ) AS end_
            WHERE NOT stopped AND %(status)s::text IN ('', 'open') {condition}
            UNION ALL (
                SELECT number, stopped_at FROM runs
                WHERE stopped AND %(status)s::text = ''
                    AND (stopped_at, number) < {_BEFORE} {condition}
                ORDER BY stopped_at DESC, number DESC LIMIT %(most)s::bigint
            )
            UNION ALL (
                SELECT number, stopped_at FROM runs
                WHERE stopped AND status = %(status)s::text AND %(status)s::text <> ''
                    AND (stopped_at, number) < {_BEFORE} {condition}
                ORDER BY stopped_at DESC, number DESC LIMIT %(most)s::bigint
            )
        ) AS candidate
        WHERE (at, number) < {_BEFORE}
        ORDER BY at DESC, number DESC LIMIT %(most)s::bigint
    ) AS chosen {_CHOSEN}
    ORDER BY last.at DESC, runs.number DESC"""  # noqa: S608 - it is put together from constants


PAGE: Final = _page("")
SELECTED: Final = _page(
    """AND cardinality(%(digests)s::bytea[]) = (
        SELECT count(*) FROM labels
        WHERE labels.number = runs.number AND digest = ANY (%(digests)s::bytea[])
    )"""
)
# Those that have all of some labels (`digests`, each once), found by these; and this id unless that
# is "".
CHOSEN: Final = f"""{_COLUMNS} FROM (
        SELECT candidate.number, candidate.at FROM (
            SELECT number FROM runs
            WHERE run_id = %(named)s AND cardinality(%(digests)s::bytea[]) = (
                SELECT count(*) FROM labels
                WHERE labels.number = runs.number AND digest = ANY (%(digests)s::bytea[])
            )
            UNION ALL
            SELECT number FROM labels
            WHERE %(named)s::text = '' AND digest = ANY (%(digests)s::bytea[])
            GROUP BY number HAVING count(*) = cardinality(%(digests)s::bytea[])
        ) AS labelled
        CROSS JOIN LATERAL (
            SELECT runs.number, entries.at FROM runs
            JOIN entries ON entries.number = runs.number AND entries.seq = runs.head
            WHERE runs.number = labelled.number AND CASE %(status)s::text
                WHEN '' THEN true WHEN 'open' THEN NOT stopped
                ELSE stopped AND status = %(status)s::text END
            OFFSET 0
        ) AS candidate
        WHERE (candidate.at, candidate.number) < {_BEFORE}
        ORDER BY candidate.at DESC, candidate.number DESC LIMIT %(most)s::bigint
    ) AS chosen {_CHOSEN}
    ORDER BY last.at DESC, runs.number DESC"""  # noqa: S608 - it is put together from constants
FEWEST: Final = """
    SELECT min((SELECT count(*) FROM (SELECT FROM labels WHERE digest = wanted LIMIT %s) AS those))
    FROM unnest(%s::bytea[]) AS wanted"""

BEGIN: Final = """
    SELECT run_id FROM runs
    WHERE run_id >= %(part)s AND run_id < %(part)s || chr(1114111) AND head > shared
    ORDER BY run_id LIMIT %(most)s"""
END: Final = """
    SELECT run_id FROM runs
    WHERE reverse(run_id) >= reverse(%(part)s)
        AND reverse(run_id) < reverse(%(part)s) || chr(1114111) AND head > shared
    ORDER BY run_id LIMIT %(most)s"""
