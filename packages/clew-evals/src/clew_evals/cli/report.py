"""The report of an evaluation, on a terminal and in files."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
from rich.text import Text

from clew import ConfigError, StoreError, read
from clew.cli.render import pieces
from clew.cli.safe_text import json_text
from clew.cli.screen import console
from clew.cli.store_option import command
from clew.stores import store_at
from clew.support.printable import inert
from clew.support.private_files import make_folder, write_text
from clew_evals import (
    Cluster,
    Results,
    clusters,
    example_runs,
    report_document,
    table_csv,
    trials_csv,
)
from clew_evals.cli.tables import grids
from clew_evals.tables import tables

FAILURES: Final = 12
"""So many clusters of failures are told on a terminal."""


class Report:
    """What the results in a file come to. Raises `ConfigError` where there is nothing to say."""

    def __init__(self, results: str, baseline: str) -> None:
        opened = Results(results)
        try:
            self._about, self._outcomes = opened.about, opened.outcomes
        finally:
            opened.close()
        if not self._outcomes:
            message = f"no trial of {results} is finished yet: `clew eval run` goes on with it"
            raise ConfigError(message)
        self._path = results
        self._tables = tables(self._outcomes, self._about, baseline)

    def show(self) -> None:
        """Show it on a terminal."""
        out = console()
        passed = sum(one.passed for one in self._outcomes)
        out.print(
            Text(f"{inert(self._about.name)}: {len(self._outcomes):,} trials, {passed:,} passed")
        )
        for table in self._tables:
            out.print()
            out.print(Text(inert(table.title), style="bold"))
            for grid in grids(table, out.width):
                out.print(grid)
            out.print(Text(inert(table.note), style="dim"), soft_wrap=False)
        for line in self._failures():
            out.print(line)

    def json(self) -> str:
        """It as one document."""
        return json_text(report_document(self._outcomes, self._about, self._tables))

    def write_html(self, to: str, page: Any) -> str:
        """Write it as a page (the module `clew_evals.page`); say what was written."""
        traces = anyio.run(partial(self._traces, example_runs(clusters(self._outcomes))))
        text = page.page(self._outcomes, self._about, self._tables, traces, self._path)
        return self._write(Path(to), text)

    def write_trials(self, to: str) -> str:
        """Write a row for each trial."""
        return self._write(Path(to), trials_csv(self._outcomes))

    def write_tables(self, folder: str) -> str:
        """Write each table into a file of its own."""
        output_folder = Path(folder)
        try:
            make_folder(output_folder)
        except OSError as error:
            raise _unwritable(output_folder, error) from error
        return "\n".join(
            self._write(output_folder / f"{table.name}.csv", table_csv(table))
            for table in self._tables
        )

    def _write(self, output_folder: Path, text: str) -> str:
        """Write a file, and say so; never over the results themselves."""
        if output_folder.exists() and output_folder.samefile(Path(self._path).expanduser()):
            message = (
                f"{output_folder} holds the results themselves: name another file for the report"
            )
            raise ConfigError(message)
        try:
            write_text(output_folder, text)
        except OSError as error:
            raise _unwritable(output_folder, error) from error
        return f"wrote {output_folder}"

    async def _traces(self, runs: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """The records of these runs, as a person reads them; those that are not there are not."""
        by_case: dict[str, list[tuple[str, str]]] = {}
        parts = {one.run_id: one.runs for one in self._outcomes if one.votes > 1}
        async with store_at(self._path) as store:
            for run_id in runs:
                try:
                    record = await read(run_id, store=store)
                except StoreError:
                    continue
                lines = [(piece.label, piece.text) for piece in pieces(record)]
                lines += [
                    ("A run of the vote", self._command(run)) for run in parts.get(run_id, ())
                ]
                by_case[run_id] = lines
        return by_case

    def _failures(self) -> Iterator[Text]:
        """The largest clusters of failures, each with the command that shows one of them."""
        failures = clusters(self._outcomes)
        if failures:
            yield Text("\nFailures that are alike", style="bold")
        for cluster in failures[:FAILURES]:
            yield Text(self._cluster_line(cluster))
        if (more := len(failures) - FAILURES) > 0:
            yield Text(f"{more:,} more clusters: --html FILE has all of them", style="dim")

    def _cluster_line(self, cluster: Cluster) -> str:
        shared = f": {cluster.common}" if cluster.common else ""
        line = inert(f"{len(cluster.trials):>4}  {cluster.kind}{shared}")
        return f"{line}\n      {self._command(cluster.trials[0].run_id)}"

    def _command(self, run_id: str) -> str:
        return inert(command("show", run_id, store=self._path))


def _unwritable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"{path} cannot be written ({error.strerror}): name another place")
