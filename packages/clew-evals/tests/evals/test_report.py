"""The tables and clusters of a report, and the command that shows them."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click import UsageError

from clew import Agent, run_sync
from clew.cli.errors import Shell
from clew.core.contents import Usage
from clew.core.values import encode
from clew.support.errors import ConfigError, StoreError
from clew.support.extras import install
from clew.testing.models import ScriptedModel, act, say
from clew.toolbox.calc import calc
from clew_evals.cli.eval_report import report
from clew_evals.clusters import clusters, common_answers
from clew_evals.export import table_csv, trial_rows, trials_csv
from clew_evals.measures import paired
from clew_evals.outcome import About, Counted, GoldScore, Outcome
from clew_evals.overview import overview
from clew_evals.results import Results, ResultsHeader, Row
from clew_evals.table import Column, Form, Table, format_cell
from clew_evals.tables import differences, tables
from tests.evals.seeded import about, outcomes


def by_name(table: Table, row: int) -> dict[str, Any]:
    return dict(zip((column.name for column in table.columns), table.rows[row], strict=True))


def one(case: str, passed: bool, **fields: Any) -> Outcome:
    counted = Counted(
        steps=fields.pop("steps", 2), usage=fields.pop("usage", Usage(100, 10, cost=0.01)),
        seconds=fields.pop("seconds", 1.0), calls={"calc": 1}, claims=4, supported=3,
    )  # fmt: skip
    of: dict[str, Any] = {
        "status": "answered", "configuration": "a", "model": "m", "run_id": f"a-{case}", **fields,
    }  # fmt: skip
    return Outcome(case=case, passed=passed, right=passed, counted=counted, **of)


def test_the_overview_counts_what_happened() -> None:
    of = about(4, ("a", "b"), ("m",), seeds=(0,), repetitions=1)
    table = overview(
        [one("case-0", True), one("case-1", False, seconds=9.0), one("case-2", True, steps=5),
         one("case-3", True, configuration="b", usage=Usage(5, 5))],
        of,
    )  # fmt: skip
    first, second = by_name(table, 0), by_name(table, 1)
    assert first | {"interval": None} == {
        "configuration": "a", "model": "m", "accuracy": pytest.approx(2 / 3), "interval": None,
        "trials": 3, "time": 1.0, "steps": 3, "calls": 1, "tokens": 110, "cost": 0.01,
        "faults": 0, "grounded": 0.75,
    }  # fmt: skip
    assert second["cost"] is None, "a price that is not known is not 0"
    assert "Only 4 of 8 trials" in table.note
    assert "twin" not in table.note
    assert "judge" not in table.note
    assert "simulated" not in table.note


@pytest.mark.parametrize(
    ("cell", "form", "text"),
    [
        (None, "share", "–"), (0.9167, "share", "91.7%"), (1234, "count", "1,234"),
        ([0.1, 0.25], "interval", "10.0% to 25.0%"), ([-0.1, 0.25], "range", "-10.0 to +25.0"),
        (0.031, "points", "+3.1"), (2.5, "number", "2.50"), (2500.4, "number", "2,500"),
        (0.0123, "seconds", "12 ms"), (1.25, "seconds", "1.2 s"), (604, "seconds", "10:04"),
        (59.97, "seconds", "1:00"), (3723, "seconds", "1:02:03"), (0.00123, "dollars", "$0.001230"),
        (0, "dollars", "$0.00"), (0.05, "dollars", "$0.0500"), (-0.0001, "points", "0.0"),
        (1234.5, "dollars", "$1,234.50"),
    ],
)  # fmt: skip
def test_cells_are_written_in_their_form(cell: object, form: Form, text: str) -> None:
    assert format_cell(cell, form) == text


def test_every_table_has_a_row_for_each_and_marks_what_is_simulated() -> None:
    of = about()
    made_tables = tables(outcomes(of), of)
    assert [table.name for table in made_tables] == [
        "overview", "differences", "categories", "steps", "repetitions", "answers", "judge",
        "kinds", "mistakes", "calls",
    ]  # fmt: skip
    for table in made_tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
        assert table.formatted_rows()
        if any("simulated:weak" in row for row in table.rows):
            assert "simulated:… is not a language model" in table.note
    assert len(made_tables[0].rows) == len(of.configurations) * len(of.models)


def test_what_the_figures_leave_out_is_said() -> None:
    of = msgspec.structs.replace(
        about(12, ("a", "b"), ("m",), seeds=(0,), repetitions=1), judge="m (passes 4)"
    )
    rows = [
        one("case-2", True, pair="pair-0"), one("case-5", True, pair="pair-0"),
        one("case-2", True, pair="pair-0", configuration="b"),
        one("case-3", False, status="failed", stopped=False),
        one("case-4", False, status="failed"),
    ]  # fmt: skip
    note = overview(rows, of).note
    assert "Cost is without the judge's." in note
    assert "Failed before an answer, and not passed: 1." in note
    assert "Counted without a twin that is not finished: 1." in note


def test_what_there_is_nothing_to_say_of_has_no_table() -> None:
    of = about(6, ("a",), ("m",), seeds=(0,), repetitions=1)
    all_right = [one(case.id, True) for case in of.cases]
    assert [table.name for table in tables(all_right, of)] == [
        "overview", "categories", "steps", "mistakes", "calls",
    ]  # fmt: skip


def test_the_baseline_may_be_named() -> None:
    of = about()
    table = differences(outcomes(of), of, "votes of 3")
    assert {row[0] for row in table.rows} == {"baseline", "no planner"}
    with pytest.raises(ConfigError, match=r"no configuration 'nix'.*baseline, no planner, votes"):
        differences(outcomes(of), of, "nix")


def failure(case: str, kind: Any, **fields: Any) -> Outcome:
    made = one(case, False, run_id=f"{case}-{fields}", **fields)
    return msgspec.structs.replace(made, kind=kind)


def counted(**fields: Any) -> Counted:
    return Counted(**fields)


def test_failures_that_are_alike_stand_together() -> None:
    wrong = (GoldScore("exact", False, 0.0, "it is not 7"), GoldScore("grounded", True, 1.0))
    missing = (GoldScore("grounded", False, 0.0, "'1911' stands nowhere"),)
    asked = msgspec.structs.replace(
        failure("e", "no such tool"), counted=counted(unknown={"google": 2, "bing": 1})
    )
    misused = msgspec.structs.replace(
        failure("f", "bad arguments"), counted=counted(bad_arguments={"calc": 1})
    )
    groups = clusters([
        one("passed", True),
        failure("a", "bound", reason="steps: 15 are used up", code="steps"),
        failure("b", "bound", reason="steps: 9 are used up", code="steps"),
        failure("c", "failed", reason="HTTP 500 after 3 tries"),
        failure("d", "failed", reason="HTTP 503 after 5 tries"),
        asked, misused,
        failure("g", "wrong answer", marks=wrong, answer="The 8."),
        failure("g", "wrong answer", marks=wrong, answer="the 8", seed=1),
        failure("g", "wrong answer", marks=wrong, seed=2),
        failure("h", "unsupported claim", marks=missing),
        failure("i", "unsupported claim", marks=missing),
        failure("j", "twin", pair="boat"),
        failure("k", "fault"),
    ])  # fmt: skip
    told = [(cluster.kind, cluster.common, len(cluster.trials)) for cluster in groups]
    assert told[0] == ("wrong answer", "g", 3)
    assert set(told[1:4]) == {
        ("failed", "HTTP # after # tries", 2),
        ("bound", "steps", 2),
        ("unsupported claim", "grounded: '1911' stands nowhere", 2),
    }
    assert set(told[4:]) == {
        ("fault", "replies of m", 1),
        ("no such tool", "bing, google", 1),
        ("bad arguments", "calc", 1),
        ("twin", "boat", 1),
    }
    assert common_answers(groups[0]) == [("The 8.", 2), ("(none)", 1)]


def test_a_text_that_a_spreadsheet_would_reckon_out_is_one_in_csv() -> None:
    hostile = '=HYPERLINK("http://example.org")'
    (row,) = csv.DictReader(io.StringIO(trials_csv([one("-a", False, answer=hostile)])))
    assert row["answer"] == f"'{hostile}"
    (row,) = csv.DictReader(io.StringIO(trials_csv([one("-a", False, answer="\x1b[2J\rtwo\n3")])))
    assert row["answer"] == "\\u001b[2J\\u000dtwo\n3"
    assert row["case"] == "'-a"
    assert (row["steps"], row["cost"], row["calls"]) == ("2", "0.01", '{"calc":1}')
    assert row["em"] == ""
    table = Table("t", "T", (Column("a"), Column("b", "range")), (("x", [-0.5, 0]), ("y", None)))
    assert list(csv.reader(io.StringIO(table_csv(table)))) == [
        ["a", "b low", "b high"], ["x", "-0.5", "0"], ["y", "", ""],
    ]  # fmt: skip
    assert trials_csv([]) == ""


def kept(path: Path, of: About, rows: list[Outcome]) -> None:
    results = Results.begin(path, ResultsHeader(of))
    for outcome in rows:
        results.add(Row(outcome, again=False, cost=None))
    results.close()


def show(*args: str) -> int:
    code: int = report.main(list(args), standalone_mode=False, obj=Shell())
    return code


def test_the_terminal_shows_every_table_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    of = about(6)
    kept(tmp_path / "r.sqlite", of, outcomes(of))
    assert show(str(tmp_path / "r.sqlite")) == 0
    output = capsys.readouterr().out
    rows = [line.split() for line in output.splitlines()]
    for table in tables(paired(outcomes(of)), of):
        assert table.title in output
        for row in table.formatted_rows():
            words = [word for cell in row for word in cell.split()]
            parts = [line for line in rows if line[: len(row[0].split())] == row[0].split()]
            assert set(words) <= {word for line in parts for word in line}
    assert all(len(line) <= 80 for line in output.splitlines() if "clew show" not in line)
    assert "more clusters" in output


def test_the_files_say_the_same_and_hold_the_traces(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    of = about(6)
    rows = outcomes(of)
    kept(path, of, rows)
    expected = tables(paired(rows), of, "no planner")
    failed = clusters(paired(rows))[0].trials[0]
    model = ScriptedModel([act("calc", expression="1+1"), say("It is <b>two</b>.")])
    run_sync(Agent(model=model, tools=[calc()]), "1+1?", store=path, run_id=failed.run_id)
    names = ("--html", "r.html", "--csv", "r.csv", "--tables", "t", "--baseline", "no planner")
    assert show(str(path), *names) == 0
    page = Path("r.html").read_text("utf-8")
    assert "It is &lt;b&gt;two&lt;/b&gt;." in page
    assert f"clew show {failed.run_id} --store {path}" in page
    assert len(list(csv.DictReader(io.StringIO(Path("r.csv").read_text("utf-8"))))) == len(rows)
    for table in expected:
        assert Path("t", f"{table.name}.csv").read_text("utf-8") == table_csv(table)


def test_a_report_is_written_over_nothing_that_it_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, of = tmp_path / "r.sqlite", about(6)
    kept(path, of, outcomes(of))
    before = path.read_bytes()
    Path("folder").mkdir()
    for names, message in (
        (("--html", str(path)), "holds the results themselves: name another file"),
        (("--csv", str(path)), "holds the results themselves: name another file"),
        (("--csv", "nowhere/r.csv"), r"nowhere/r.csv cannot be written \(No such file"),
        (("--html", "folder"), r"folder cannot be written \(Is a directory\): name another place"),
        (("--tables", str(path)), r"cannot be written \(File exists\)"),
    ):
        with pytest.raises(ConfigError, match=message):
            show(str(path), *names)
    with pytest.raises(UsageError, match="name two files"):
        show(str(path), "--html", "r.txt", "--csv", "r.txt")
    assert path.read_bytes() == before
    assert list(Path().rglob("*.html")) == []
    capsys.readouterr()
    assert show(str(path), "--json", "--csv", "r.csv") == 0
    out, err = capsys.readouterr()
    assert (json.loads(out)["about"]["name"], err) == (of.name, "wrote r.csv\n")


def test_a_program_gets_one_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of = about(6)
    kept(tmp_path / "r.sqlite", of, outcomes(of))
    assert show(str(tmp_path / "r.sqlite"), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    expected = tables(paired(outcomes(of)), of)
    assert [table["rows"] for table in document["tables"]] == [
        json.loads(encode(table.rows)) for table in expected
    ]
    assert len(document["trials"]) == 144
    assert sum(len(cluster["trials"]) for cluster in document["clusters"]) == sum(
        not trial["passed"] for trial in document["trials"]
    )


def test_what_is_no_file_of_results_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no results at nothing"):
        show("nothing")
    Path("empty").touch()
    with pytest.raises(ConfigError, match="no results at empty"):
        show("empty")
    assert Path("empty").read_bytes() == b""
    Path("text").write_text("no database")
    with pytest.raises(StoreError, match="text is no store of clew"):
        show("text")
    kept(tmp_path / "r.sqlite", about(), [])
    with pytest.raises(ConfigError, match=r"no trial of .*r\.sqlite is finished yet"):
        show(str(tmp_path / "r.sqlite"))


def test_the_command_line_begins_without_the_extra_and_names_it() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import clew.cli; print([name for name in sys.modules if 'clew_evals' in name])\n"
        "clew.cli.main(['eval', 'report', 'results.sqlite'])"
    )
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": path},
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("[]\n", 2)
    assert done.stderr == f"clew: numpy is not installed: run {install('reports', 'clew-evals')}\n"


def test_rows_are_values_of_json_and_those_of_the_csv() -> None:
    outcomes = [one("-a", True), one("-b", False, answer={"n": [1, None]})]
    rows = trial_rows(outcomes)
    assert json.loads(json.dumps(rows)) == rows
    read = list(csv.DictReader(io.StringIO(trials_csv(outcomes))))
    assert [[*row] for row in rows] == [[*row] for row in read]
    assert [row["passed"] for row in rows] == [True, False]
    assert rows[1]["answer"] == {"n": [1, None]}


def test_a_table_gives_its_rows_by_the_names_of_their_columns() -> None:
    heads = (Column("who"), Column("share", "share"))
    table = Table("t", "T", heads, (("ada", 0.5), ("bob", None)))
    assert table.dicts() == [{"who": "ada", "share": 0.5}, {"who": "bob", "share": None}]
    made = table.to_json()
    assert json.loads(json.dumps(made))["rows"] == [["ada", 0.5], ["bob", None]]
    assert made["columns"] == [{"name": "who", "form": "text"}, {"name": "share", "form": "share"}]
