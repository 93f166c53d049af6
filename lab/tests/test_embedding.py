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
def celery_worker(folder: Path) -> Iterator[None]:
    """A worker in a process of its own, with the files of a folder for a broker."""
    queue = folder / "queue"
    queue.mkdir()
    (folder / "celeryconfig.py").write_text(
        "broker_url = 'filesystem://'\n"
        f"broker_transport_options = {{'data_folder_in': {str(queue)!r},"
        f" 'data_folder_out': {str(queue)!r}, 'control_folder': {str(queue)!r}}}\n"
    )
    command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "--pool=solo"]
    worker = subprocess.Popen(
        [*command, "--without-gossip", "--without-mingle", "--loglevel=WARNING"],
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
