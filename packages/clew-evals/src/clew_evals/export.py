"""Outcomes and tables for other programs: CSV and JSON."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from clew.interfaces import Json, encode
from clew_evals.clusters import clusters, why
from clew_evals.outcome import About, Outcome
from clew_evals.table import Table, inert

FORMULA: Final = ("=", "+", "-", "@", "\t")
"""What a text begins with that a spreadsheet would reckon out: an apostrophe goes before it."""


def trial_rows(outcomes: Iterable[Outcome]) -> list[dict[str, Json]]:
    """A row for each trial, with everything known about it, as values that JSON has.

    All rows have the same names, as the columns of `trials_csv` do: those of the fields of
    `Outcome` and of its `counted`, with `input_tokens`, `output_tokens` and `cost` of its usage.
    `why` is what was wrong with the answer, in words; `judge` and `judge_reasons` are the judge's
    score and reasons, None without one; `unknown_tools` and `bad_arguments` count calls.
    """
    return list(map(_trial, outcomes))


def trials_csv(outcomes: Iterable[Outcome]) -> str:
    """A CSV row for each trial, with everything known about it."""
    rows = trial_rows(outcomes)
    return _csv(list(rows[0]) if rows else [], [list(row.values()) for row in rows])


def table_csv(table: Table) -> str:
    """A table as CSV; an interval has a column for each end."""
    apart = [column.form in {"interval", "range"} for column in table.columns]
    heads: list[Json] = []
    for column, two in zip(table.columns, apart, strict=True):
        heads += [f"{column.name} low", f"{column.name} high"] if two else [column.name]
    rows: list[list[Json]] = []
    for row in table.rows:
        cells: list[Json] = []
        for cell, two in zip(row, apart, strict=True):
            cells += (cell or [None, None]) if two else [cell]
        rows.append(cells)
    return _csv(heads, rows)


def report_document(
    outcomes: Sequence[Outcome], about: About, tables: Iterable[Table]
) -> dict[str, Json]:
    """The whole report as one document."""
    return {
        "about": msgspec.to_builtins(about),
        "tables": [table.to_json() for table in tables],
        "clusters": [
            {
                "kind": cluster.kind,
                "common": cluster.common,
                "trials": [one.run_id for one in cluster.trials],
            }
            for cluster in clusters(outcomes)
        ],
        "trials": trial_rows(outcomes),
    }


def _trial(one: Outcome) -> dict[str, Json]:
    counts = one.counted
    return {
        "case": one.case,
        "category": one.category,
        "pair": one.pair,
        "configuration": one.configuration,
        "model": one.model,
        "seed": one.seed,
        "repetition": one.repetition,
        "run_id": one.run_id,
        "runs": list(one.runs),
        "votes": one.votes,
        "status": one.status,
        "reason": one.reason,
        "right": one.right,
        "passed": one.passed,
        "kind": one.kind,
        "why": why(one),
        "answer": one.answer,
        "score": one.score,
        "em": one.em,
        "f1": one.f1,
        "reward": one.reward,
        "judge": one.judgement.score if one.judgement is not None else None,
        "judge_reasons": one.judgement.reasons if one.judgement is not None else None,
        "steps": counts.steps,
        "seconds": counts.seconds,
        "input_tokens": counts.usage.input,
        "output_tokens": counts.usage.output,
        "cost": counts.usage.cost,
        "faults": counts.faults,
        "repairs": counts.repairs,
        "landings": counts.landings,
        "calls": counts.calls,
        "failed_calls": counts.failed_calls,
        "unknown_tools": counts.unknown,
        "bad_arguments": counts.bad_arguments,
        "claims": counts.claims,
        "supported": counts.supported,
    }


def _csv(heads: Sequence[Json], rows: Iterable[Sequence[Json]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in (heads, *rows):
        if row:
            writer.writerow(list(_cells(row)))
    return out.getvalue()


def _cells(row: Iterable[Json]) -> Iterator[str]:
    """Texts without control characters, other values as JSON, None as nothing."""
    for cell in row:
        if isinstance(cell, str):
            text = inert(cell)
            yield f"'{text}" if text.startswith(FORMULA) else text
        else:
            yield "" if cell is None else encode(cell).decode()
