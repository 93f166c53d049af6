"""A command that another package adds: it opens the store as clew does, and ends at a signal."""

import os
import signal
from pathlib import Path

import pytest

from tests.cli.shell import begin, clew, until_told
from tests.patience import PATIENCE

MODULE = """
import anyio
import click
from clew import ConfigError, ModelError, list_runs
from clew.cli.commands import (
    at_once_option, debug_option, existing_store, queue_option, say, serve_until_signal,
    shared_store, store_option,
)
from clew.workers import WorkerConfig, WorkerEvent, work

@click.group()
def acme(): ...

@acme.command()
@store_option
@debug_option
def questions(store):
    anyio.run(_questions, store)

async def _questions(store):
    async with existing_store(store) as opened:
        for run in await list_runs(store=opened):
            say(f"{run.title}")

@acme.command()
@click.argument("agents", nargs=-1)
@queue_option
@at_once_option
@store_option
def carry(agents, queue, at_once, store):
    config = WorkerConfig(
        store=shared_store(store, agents), agents=agents, queue=queue, at_once=at_once
    )
    async def serve(leaving, on_event):
        say("begun")
        on_event(WorkerEvent("failed", "r1", "a\\nline"))
        await work(config, on_event=on_event, leaving=leaving)
    return anyio.run(serve_until_signal, serve)
"""


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which a package adds `clew acme`."""
    site = tmp_path / "site"
    info = site / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[clew.commands]\nacme = acme_package:acme\n")
    (site / "acme_package.py").write_text(MODULE)
    return {"PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}


def test_it_reads_the_store_that_is_named_and_makes_none(env: dict[str, str]) -> None:
    assert clew("ask", "What is 2+3?", "--store", "runs.sqlite").code == 0
    done = clew("acme", "questions", "--store", "runs.sqlite", env=env)
    assert (done.code, done.out, done.err) == (0, "What is 2+3?\n", "")
    done = clew("acme", "questions", "--store", "none.sqlite", env=env)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "there are no runs yet at none.sqlite" in done.err
    assert not Path("none.sqlite").exists()
    done = clew("acme", "questions", "--store", "none.sqlite", "--debug", env=env)
    assert "Traceback" in done.err


def test_it_serves_until_a_signal_and_reports_runs_that_fail(env: dict[str, str]) -> None:
    process = begin("acme", "carry", "--store", "runs.sqlite", **env)
    until_told(process, "begun", 1)
    until_told(process, "clew: run r1 failed: a line\n")
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 0


def test_a_store_that_no_other_process_sees_is_refused(env: dict[str, str]) -> None:
    done = clew("acme", "carry", "--store", "memory:", env=env)
    assert (done.code, done.err.count("\n")) == (2, 1)
    for name in ("a", "b"):
        Path(f"{name}.toml").write_text(f'model = "offline"\nstore = "{name}.sqlite"\n')
    done = clew("acme", "carry", "a.toml", "b.toml", env=env)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "the agent files name several stores" in done.err
