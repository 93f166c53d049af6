"""A client that others wrote, acpx, drives a held run to its end."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from clew import list_runs, read
from tests import npm
from tests.editors.editor import command, environment
from tests.patience import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("anyio_backend", ["asyncio"])]


@pytest.mark.parametrize(("option", "text"), [("--approve-all", "yes"), ("--deny-all", "no")])
async def test_a_held_edit_is_ruled_on_by_acpx(tmp_path: Path, option: str, text: str) -> None:
    (tmp_path / "notes.txt").write_text("no", "utf-8")
    agent = shlex.join(command("editing", tmp_path))
    acpx = [*npm.script("acpx/dist/cli.js"), "--agent", agent, "--cwd", str(tmp_path), option]
    done = subprocess.run(
        [*acpx, "--format", "json", "exec", "Say yes in notes.txt."], stdin=subprocess.DEVNULL,
        env={**environment(tmp_path), "HOME": str(tmp_path / "home")},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    ends = [it["result"]["stopReason"] for it in messages if "stopReason" in it.get("result", {})]
    assert ends == ["end_turn"], done.stderr
    assert (tmp_path / "notes.txt").read_text("utf-8") == text
    store = str(tmp_path / "runs.sqlite")
    (listed,) = await list_runs(store=store)
    assert (ruling := (await read(listed.run_id, store=store)).call("2.1").ruling) is not None
    assert (ruling.allow, ruling.by) == (text == "yes", "acpx")
