"""Records made to attack: whoever wrote them, nothing that they name is run, imported or asked."""

import os
import re
import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clew import SqliteStore
from clew.agent.runner import start
from clew.agent_files import make_agent, origin, read_agent_file
from clew.cli.errors import DECLINED
from clew.core.loop import advance
from clew.core.loop import run as go
from clew.retention import export_runs
from clew.testing.models import ScriptedModel, act, acts, say
from tests.cli.shell import RUN_ID, clew
from tests.patience import PATIENCE
from tests.stores.test_migrate import age

pytest.importorskip("clew_code", reason="a command-line program is one of the attacks")

EVIL = '''
"""A module that leaves a mark wherever it is imported."""
from pathlib import Path
Path(__file__).with_name("imported").touch()
from dataclasses import dataclass
from clew import Verdict, tool

@tool
def pay(to: str) -> str:
    """Pay."""
    Path(__file__).with_name("paid").touch()
    return "paid"

async def guard(call, so_far):
    return None

async def check(answer, so_far):
    return None

def bound(so_far):
    return None

async def screen(text):
    return None

@dataclass
class Answer:
    text: str
'''

AGENT = """
model = "offline"
tools = ["evil:pay", "calc"]
guards = ["evil:guard"]
bounds = ["evil:bound"]
checks = ["evil:check"]
screens = ["evil:screen", "injections-mark"]

[[programs]]
name = "touch"
description = "Touch a file."
argv = ["touch", "{file}"]
[programs.parameters.file]
type = "string"

[[processes]]
function = "evil:other"
name = "apart"
"""

OTHER = '''
def other(text: str) -> str:
    """Do something apart."""
    from pathlib import Path
    Path(__file__).with_name("apart").touch()
    return text
'''


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """Where an attacker lives, with an agent."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "evil.py").write_text(EVIL + OTHER)
    (folder / "agent.toml").write_text(AGENT)
    return folder


@dataclass(frozen=True)
class Fooled:
    """The offline model by its name, saying what an attacker wants."""

    inner: Any
    script: ScriptedModel

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def complete(self, prompt: Any, on_text: Any = None) -> Any:
        return await self.script.complete(prompt, on_text)


async def attack(theirs: Path, monkeypatch: pytest.MonkeyPatch, *, done: bool = False) -> None:
    """Begin a run as the attacker, in a queue, and leave it where its calls are to be made.

    The archive and the store of it lie beside the agent.
    """
    home = os.environ["HOME"]
    monkeypatch.setenv("HOME", str(theirs))
    spec = read_agent_file(theirs / "agent.toml")
    agent = make_agent(spec)
    calls = acts(
        act("touch", file=str(theirs / "touched")), act("pay", to="me"), act("apart", text="x")
    )
    fooled: Any = Fooled(agent.engine.model, ScriptedModel([calls, say("Done.")]))
    agent = agent.replace(model=fooled)
    store = SqliteStore(theirs / "runs.sqlite")
    journal = await start(
        agent, "Is it there?", store, run_id="attack", origin=origin(spec), queue="default"
    )
    await advance(agent.engine, journal)
    if done:
        await go(agent.engine, journal)
    await export_runs(theirs / "attack.clew", store=store)
    await store.close()
    monkeypatch.setenv("HOME", home)
    for name in marks(theirs):
        (theirs / name).unlink()


def marks(theirs: Path) -> list[str]:
    """What was run or imported of the attacker's."""
    return [name for name in ("imported", "paid", "touched", "apart") if (theirs / name).exists()]


COMMANDS = {
    "resume": ("resume", "attack"),
    "follow-up": ("resume", "attack", "--say", "Go on"),
    "with an option": ("resume", "attack", "--set", "limits.steps=20", "--accept-change"),
    "fork from the start": ("fork", "attack", "--at", "0"),
    "chat": ("chat", "--resume", "attack"),
}


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("how", COMMANDS)
async def test_what_somebody_else_began_is_shown_and_not_made(
    how: str, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await attack(theirs, monkeypatch)
    brought = clew("records", "import", str(theirs / "attack.clew"))
    assert (brought.code, brought.out) == (0, "1 run imported\n")
    assert "not made without --trust-origin" in brought.err
    done = clew(*COMMANDS[how])
    assert done.code == 2
    assert "run attack was not begun by you on this machine" in done.err
    for named in ("program touch: ['touch', '{file}']", "module evil:pay (tools)", "evil:other"):
        assert named in done.err
    assert marks(theirs) == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_same_of_a_store_that_somebody_else_wrote(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await attack(theirs, monkeypatch)
    store = ("--store", str(theirs / "runs.sqlite"))
    assert clew("resume", "last", *store).code == 2
    assert clew("records", "verify", *store).code == 0
    assert clew("diff", "attack", "attack", *store).code == 0
    shown = clew("show", "last", *store).out
    for named in ("['touch', '{file}']", "module evil:guard (guards)", "not begun by you"):
        assert named in shown
    assert "not begun by you" in clew("show", "last", "--md", *store).out
    assert marks(theirs) == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_worker_makes_no_agent_of_it(theirs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    await attack(theirs, monkeypatch)
    clew("records", "import", str(theirs / "attack.clew"))
    done = clew("worker", "--until-idle")
    assert done.code == 5
    assert "refused   attack" in done.out
    assert "that you did not begin on this machine (program touch: ['touch', '{file}']" in done.out
    assert marks(theirs) == []
    named = clew("worker", "--until-idle", "--agent", str(theirs / "agent.toml"), "--only")
    assert "ended" in named.out  # whoever names an agent has chosen it, and not what the run wants
    assert marks(theirs) == ["imported"]
    shown = clew("show", "attack").out
    assert shown.count("this run came from elsewhere") == 3


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("done", [False, True])
async def test_a_replay_imports_nothing(
    theirs: Path, monkeypatch: pytest.MonkeyPatch, *, done: bool
) -> None:
    await attack(theirs, monkeypatch, done=done)
    clew("records", "import", str(theirs / "attack.clew"))
    shutil.move(theirs / "evil.py", theirs / "gone.py")
    replayed = clew("replay", "attack")
    assert (replayed.code, replayed.err) == (0, "")
    assert "identical, no call made" in replayed.out
    assert marks(theirs) == []
    shutil.move(theirs / "gone.py", theirs / "evil.py")
    other = clew("replay", "attack", "--set", "limits.steps=3")
    assert "another parts.bounds" in other.err
    assert marks(theirs) == []


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_what_is_trusted_once_is_remembered(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await attack(theirs, monkeypatch)
    clew("records", "import", str(theirs / "attack.clew"))
    trusted = clew("resume", "attack", "--trust-origin", "--quiet")
    assert trusted.code == DECLINED
    assert "you trust run attack:" in trusted.err
    for told in ("module evil:pay (tools)", "call 1.2: pay {'to': 'me'}"):
        assert told in trusted.err
    assert marks(theirs) == ["imported", "paid", "touched", "apart"]
    again = clew("resume", "attack", "--quiet")
    assert (again.code, again.err) == (DECLINED, "")
    file = Path.home() / ".local/share/clew/key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_worker_that_trusts_any_record_makes_it(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await attack(theirs, monkeypatch)
    clew("records", "import", str(theirs / "attack.clew"))
    assert "ended" in clew("worker", "--until-idle", "--trust-origin").out
    assert "paid" in marks(theirs)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_an_agent_of_ones_own_makes_no_call_that_the_record_waits_for(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D39: the way out that the refusal offers."""
    await attack(theirs, monkeypatch)
    clew("records", "import", str(theirs / "attack.clew"))
    own = theirs / "mine.toml"
    own.write_text((theirs / "agent.toml").read_text())
    forked = clew("fork", "attack", "--at", "0", "--set", f"agent={own}", "--quiet")
    assert forked.code == DECLINED
    done = clew("resume", "attack", "--set", f"agent={own}", "--accept-change", "--quiet")
    assert done.code == DECLINED
    assert marks(theirs) == ["imported"]
    assert clew("resume", "attack").code == DECLINED  # what it is made of is one's own now
    assert clew("replay", "attack").code == 0


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_no_export_says_that_a_run_is_ones_own(tmp_path: Path) -> None:
    """D38: whoever held one exported run could write runs that passed for one's own."""
    mine = clew("ask", "What is 2 + 3?", "--model", "offline", "--json").document["run_id"]
    fork = clew("fork", mine, "--at", "0", "--json").document["run_id"]
    assert clew("resume", fork).code == clew("resume", mine).code == 0
    clew("records", "export", mine, "--archive", str(tmp_path / "archive"))
    exports = [
        clew("show", mine, "--json").out,
        clew("show", mine, "--jsonl").out,
        (tmp_path / "archive").read_text(),
    ]
    with closing(sqlite3.connect(os.environ["CLEW_STORE"])) as file:
        (mark,) = file.execute("SELECT mark FROM entries").fetchone()
    key = (Path.home() / ".local/share/clew/key").read_text()
    for text in exports:
        assert "What is 2 + 3?" in text
        assert "seal" not in text
        assert mark.hex() not in text
        assert key not in text


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_word_on_a_held_call_says_that_the_run_is_somebody_else_s(
    theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = """
from clew import Verdict
async def guard(call, so_far):
    return Verdict("hold", "ask first")
"""
    (theirs / "holding.py").write_text(held)
    file = theirs / "agent.toml"
    file.write_text(file.read_text().replace("evil:guard", "holding:guard"))
    await attack(theirs, monkeypatch, done=True)
    clew("records", "import", str(theirs / "attack.clew"))
    done = clew("approve", "attack", "1.1", "--yes", "--no-resume")
    assert done.code == 2
    assert "not begun by you on this machine" in done.err
    assert "(clew resume attack --trust-origin)" in done.err
    listed = clew("approvals").out
    assert "Held" not in listed
    assert "1 imported run waits" in listed
    assert clew("resume", "attack").code == 2
    assert marks(theirs) == []


def process(*words: str) -> "subprocess.CompletedProcess[str]":
    """A command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "clew.cli", *words], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, timeout=PATIENCE,
    )  # fmt: skip


def test_without_a_place_for_a_key_a_run_is_nobody_s() -> None:
    home = Path.home() / ".local" / "share"
    home.mkdir(parents=True)
    (home / "clew").write_text("no folder")
    done = process("ask", "What is 2 + 3?", "--model", "offline", "--quiet")
    assert done.returncode == 0
    assert "not marked as yours" in done.stderr
    assert "not begun by you" in process("resume", "last").stderr


def test_runs_of_a_store_of_before_are_trusted_by_the_command_that_it_names() -> None:
    """It did not note whose they are, so they are anybody's until they were shown."""
    assert clew("ask", "What is 2 + 3?", "--model", "offline", "--store", "s.sqlite").code == 0
    age(Path("s.sqlite"), 4, forks=True)
    (run_id,) = re.findall(RUN_ID, clew("runs", "--store", "s.sqlite").out)
    refused = clew("resume", run_id, "--store", "s.sqlite", "--say", "And 2 + 4?")
    assert refused.code == 2
    command_ = f"clew resume {run_id} --trust-origin"
    assert f"look at it (clew show {run_id}), then trust it ({command_})" in refused.err
    trusted = clew(*command_.split()[1:], "--store", "s.sqlite", "--say", "And 2 + 4?")
    assert trusted.code == 0
    assert f"you trust run {run_id}:" in trusted.err
    again = clew("resume", run_id, "--store", "s.sqlite", "--say", "And 2 + 5?")
    assert again.code == 0
    assert "trust" not in again.err


def test_a_broken_key_is_told() -> None:
    assert clew("ask", "What is 2 + 3?", "--model", "offline").code == 0
    key = Path.home() / ".local/share/clew/key"
    key.write_text("rust")
    done = clew("resume", "last")
    assert (done.code, "is no key: delete it" in done.err) == (2, True)
    key.unlink()
    assert "not begun by you" in clew("resume", "last").err
