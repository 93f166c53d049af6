"""`clew follow`: the entries of a run from a place on, as text and as lines of JSON."""

import json
import signal

import pytest

from tests.cli.shell import begin, clew, until_told
from tests.patience import PATIENCE


@pytest.fixture
def run_id() -> str:
    asked = clew("ask", "What is 6 * 7?", "--model", "offline", "--json")
    return str(json.loads(asked.out)["run_id"])


def test_a_run_is_shown_to_its_end(run_id: str) -> None:
    told = clew("follow", run_id)
    assert told.code == 0
    labels = [line.partition(":")[0] for line in told.out.splitlines()]
    assert labels == ["Thought 1", "Action 1.1", "Observation 1.1", "Thought 2", "Stop", "Answer"]


def test_lines_of_json_go_on_behind_a_position(run_id: str) -> None:
    lines = [json.loads(line) for line in clew("follow", run_id, "--json").out.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert {line["run_id"] for line in lines} == {run_id}
    for line in lines:
        rest = clew("follow", run_id, "--json", "--after", line["position"]).out.splitlines()
        assert [json.loads(each) for each in rest] == lines[line["seq"] :]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--after", "99"), "so nothing follows entry 99"),
        (("--after", "soon"), "is no place in a stream"),
    ],
)
def test_a_place_that_is_none_is_told(run_id: str, words: tuple[str, ...], why: str) -> None:
    told = clew("follow", run_id, *words)
    assert told.code == 2
    assert why in told.err
    assert clew("follow", "unknown").code == 2


@pytest.mark.parametrize("as_json", [False, True])
def test_a_run_that_nobody_works_on_says_so_and_what_to_do(as_json: bool) -> None:
    """Beside lines of JSON on stderr; Ctrl-C then ends the command, and nothing of the run."""
    run_id = clew("submit", "What is 6 * 7?", "--model", "offline").out.strip()
    process = begin("follow", run_id, *(["--json"] if as_json else []))
    until_told(process, f"nobody works on run {run_id}: a worker of queue 'default'", 1 + as_json)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.wait() == 130
    if as_json:
        assert [json.loads(line)["event"] for line in out.splitlines()] == ["started"]
