"""Programs of others around an agent: a notebook with its kernel, and a Celery worker."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clew import Entry, sync
from clew.interfaces import Stop
from tests.patience import PATIENCE

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_notebook_shows_progress_and_tables(tmp_path: Path) -> None:
    pytest.importorskip("ipykernel", reason="the extra tests of the lab brings it")
    nbclient = pytest.importorskip("nbclient", reason="the extra tests of the lab brings it")
    nbformat = pytest.importorskip("nbformat", reason="nbclient brings it")
    notebook = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=PATIENCE, resources=resources).execute()
    agent, run, step = (cell.outputs for cell in notebook.cells if cell.cell_type == "code")
    assert "<th>born</th><td>read: Look up a year of birth.</td>" in html(agent[0])
    table, result = run
    assert "<th>answered</th><td>She was 20.</td>" in html(table)  # as it was drawn last
    assert "<th>status</th><td>answered</td>" in html(result)
    assert "born(name=&#39;Mary Shelley&#39;) → 1797" in html(step[0])


def html(output: Any) -> str:
    return str(output["data"]["text/html"])


@contextmanager
def celery_worker(folder: Path, module: str = "tasks", pool: str = "solo") -> Iterator[None]:
    """A worker in a process of its own, with the files of a folder for a broker."""
    queue = folder / "queue"
    queue.mkdir()
    (folder / "celeryconfig.py").write_text(
        "broker_url = 'filesystem://'\n"
        f"broker_transport_options = {{'data_folder_in': {str(queue)!r},"
        f" 'data_folder_out': {str(queue)!r}, 'control_folder': {str(queue)!r}}}\n"
    )
    command = [sys.executable, "-m", "celery", "-A", module, "worker", f"--pool={pool}"]
    worker = subprocess.Popen(
        [*command, "--concurrency=1", "--without-gossip", "--without-mingle", "--loglevel=WARNING"],
        cwd=folder, env=os.environ | {"C_FORCE_ROOT": "1"},
    )  # fmt: skip
    try:
        yield
    finally:
        worker.terminate()
        worker.wait(PATIENCE)


ASK = """\
import tasks
run = tasks.ask("Write to Ada.", "u17")
tasks.work.delay(run)  # the broker delivers it twice
print(run, tasks.ask("Write again.", "u17"))
"""


def test_a_celery_worker_does_what_a_view_handed_over_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("celery", reason="the extra tests of the lab brings it")
    shutil.copy(EXAMPLES / "hand_off" / "tasks.py", tmp_path)
    monkeypatch.setenv("CLEW_STORE", str(tmp_path / "runs.sqlite"))
    with celery_worker(tmp_path):
        asked = subprocess.run(
            [sys.executable, "-c", ASK], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        for run_id in asked.stdout.split():
            *_, end = sync.follow(run_id, store=tmp_path / "runs.sqlite", owner="u17")
            assert isinstance(end, Entry)
            assert isinstance(end.event, Stop)
            assert end.event.answer == "The letter is out."
    assert (tmp_path / "letters.txt").read_text() == "Ada\nAda\n"  # two runs, three tasks


KILLED = """\
import os
import signal
from pathlib import Path

import tasks
from clew import tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say

app = tasks.app
lives = Path("lives.txt")


def die(where):
    \"""The first process that comes here does not live to tell.\"""
    with lives.open("a") as file:
        file.write(f"{where}\\n")
    if os.environ["DIES"] == where and lives.read_text().count(f"{where}\\n") == 1:
        os.kill(os.getpid(), signal.SIGKILL)


@tool
def send(to: str) -> str:
    \"""Send a letter.\"""
    die("before")
    with Path("letters.txt").open("a") as letters:
        letters.write(f"{to}\\n")
    die("within")
    return "sent"


def answer(prompt):
    die("after")
    return say("The letter is out.")


tasks.clerk = tasks.clerk.replace(
    model=ScriptedModel([act("send", to="Ada"), answer]), tools=[send]
)
"""
OUTCOMES = {"before": "unknown", "within": "unknown", "after": "done"}
"""Where a worker is killed, and what the record then says of the letter."""


@pytest.mark.parametrize("where", OUTCOMES)
def test_a_task_whose_worker_is_killed_is_delivered_again_and_acts_once(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("celery", reason="the extra tests of the lab brings it")
    shutil.copy(EXAMPLES / "hand_off" / "tasks.py", tmp_path)
    (tmp_path / "killed.py").write_text(KILLED)
    store = tmp_path / "runs.sqlite"
    monkeypatch.setenv("CLEW_STORE", str(store))
    monkeypatch.setenv("DIES", where)
    ask = 'import killed; print(killed.tasks.ask("Write to Ada.", "u17"))'
    with celery_worker(tmp_path, "killed", "prefork"):
        asked = subprocess.run(
            [sys.executable, "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        run_id = asked.stdout.strip()
        *_, end = sync.follow(run_id, store=store, owner="u17")
    assert isinstance(end, Entry)
    assert isinstance(end.event, Stop)
    record = sync.read(run_id, store=store)
    assert len({entry.epoch for entry in record.entries}) > 1  # another process went on
    letters = tmp_path / "letters.txt"
    sent = letters.read_text() if letters.exists() else ""
    assert sent == ("" if where == "before" else "Ada\n")
    (call,) = record.effects
    assert call.observation
    assert call.observation.outcome == OUTCOMES[where]
    assert end.event.answer == "The letter is out."
