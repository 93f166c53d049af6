"""What another package adds by entry points is used by its name, as what ships is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew import ConfigError, sync
from clew.agent_files.build import make_tools
from clew.agent_files.spec import Spec
from clew.support.wings import require
from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import COMMAND, SOURCE

ENTRIES = """
[clew.models]
acme = acme:acme_model
acme-cloud = acme:CLOUD
acme-old = acme:OLD
acme-far = acme:FAR
openai = acme:acme_model
torn = acme_torn:MODEL [fast]

[clew.stores]
acme = acme:open_store

[clew.workers]
acme = acme

[clew.tools]
abacus = acme:abacus

[clew.guards]
abacus = acme:Watch

[clew.screens]
quiet = acme:QUIET

[clew.commands]
greet = acme:greet
torn = acme_torn:command
"""

MODULE = """
import click
from msgspec.structs import replace
from clew import Verdict, tool
from clew import SqliteStore
from clew.models.openai.providers import chat_provider
from clew.testing.models import ScriptedModel, act, say
from clew.workers import WorkerEvent

CLOUD = chat_provider("acme-cloud", "", "ACME_URL", key="ACME_KEY", model="small")
OLD = replace(CLOUD, name="acme-old", make="acme_old:model")
FAR = replace(CLOUD, name="acme-far", make="acme_torn:model")

def acme_model(model, **options):
    first = [act("abacus", beads=3)] if model == "counting" else []
    return ScriptedModel([*first, say(f"I am {model}.")], name=f"acme:{model}")

def open_store(address):
    return SqliteStore(address.removeprefix("acme://"))

async def serve(config, on_event, leaving):
    on_event(WorkerEvent("serving", text="acme carries " + config.queue))

def abacus():
    @tool(effect="pure")
    def abacus(beads: int) -> int:
        "Count beads."
        return beads
    return abacus

def Watch():
    def watch(call, so_far):
        return Verdict("deny", "the beads are gone") if call.action.name == "abacus" else None
    return watch

def QUIET(text):
    return Verdict("deny", "be quiet") if "loud" in text else None

@click.command()
def greet():
    "Greet whoever asks."
    click.echo("Good day.")
"""


@pytest.fixture
def acme(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which the package `acme` is installed."""
    site = tmp_path / "site"
    info = site / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (site / "acme.py").write_text(MODULE)
    (site / "acme_torn.py").write_text("import a_library_that_nobody_has\n")
    (site / "acme_old.py").write_text("from clew import a_word_of_another_version\n")
    path = os.pathsep.join([str(site), SOURCE, os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


def clew(env: dict[str, str], *words: str) -> tuple[int, str, str]:
    done = subprocess.run([*COMMAND, *words], env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_a_function_of_another_package_makes_the_model(acme: dict[str, str]) -> None:
    code, out, err = clew(
        acme, "ask", "Who are you?", "--model", "acme:small", "--store", "memory:"
    )
    assert (code, "Answer: I am small." in out, err) == (0, True, "")


@pytest.mark.slow
def test_a_row_of_another_package_is_a_provider(acme: dict[str, str]) -> None:
    with OpenAIServer([Say("Ok.")], key="k") as server:
        env = {**acme, "ACME_URL": server.base_url, "ACME_KEY": "k"}
        _, out, _ = clew(env, "ask", "Well?", "--model", "acme-cloud:small", "--store", "memory:")
        assert "Answer: Ok." in out
        assert server.requests[0].body["model"] == "small"
        code, listed, _ = clew(env, "doctor", "models", "acme-cloud", "--json")
    assert code == 0
    assert "acme-cloud" in listed
    _, _, err = clew(acme, "ask", "Well?", "--model", "acme-cloud:small", "--store", "memory:")
    assert "set ACME_URL" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("acme-old", "acme-old:m cannot be loaded from acme_old:model: cannot import name"),
        ("acme-far", "acme-far:m needs a_library_that_nobody_has, which is not installed"),
    ],
)
def test_an_error_inside_a_provider_is_no_missing_package(
    acme: dict[str, str], name: str, said: str
) -> None:
    env = {**acme, "ACME_URL": "http://127.0.0.1:9", "ACME_KEY": "k"}
    code, _, err = clew(env, "ask", "Well?", "--model", f"{name}:m", "--store", "memory:")
    assert (code, said in " ".join(err.split())) == (2, True), err
    assert "needs clew" not in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import clew.a_module_of_another_version\n", "No module named 'clew.a_module_of_another_"),
        ("from acme import nothing\n", "cannot import name 'nothing' from 'acme'"),
        ("import json.nothing\n", "No module named 'json.nothing'"),
        ("raise ImportError('libfoo.so cannot be opened')\n", "libfoo.so cannot be opened"),
        ("raise ImportError('too old', name='click')\n", "too old"),
        ("from clew.core import nothing\n", "cannot import name 'nothing' from 'clew.core'"),
        ("import acme.part\n", "No module named 'acme.part'"),
        ("from json import nothing\n", "cannot import name 'nothing' from 'json'"),
        ("model = 1\nraise ModuleNotFoundError('no driver')\n", "no driver"),
    ],
)
def test_whatever_fails_inside_a_provider_is_told_as_it_is(
    acme: dict[str, str], tmp_path: Path, source: str, said: str
) -> None:
    (tmp_path / "site" / "acme_old.py").write_text(source)
    env = {**acme, "ACME_URL": "http://127.0.0.1:9", "ACME_KEY": "k"}
    code, _, err = clew(env, "ask", "Well?", "--model", "acme-old:m", "--store", "memory:")
    told = f"acme-old:m cannot be loaded from acme_old:model: {said}"
    assert (code, told in " ".join(err.split())) == (2, True), err


@pytest.mark.slow
def test_nobody_takes_the_place_of_what_ships(acme: dict[str, str]) -> None:
    env = {name: value for name, value in acme.items() if name != "OPENAI_API_KEY"}
    code, _, err = clew(env, "ask", "Who?", "--model", "openai:small", "--store", "memory:")
    assert (code, "set OPENAI_API_KEY" in err) == (2, True)


@pytest.mark.slow
def test_a_package_that_is_broken_says_so_where_it_is_asked_for(acme: dict[str, str]) -> None:
    needs = "torn needs a_library_that_nobody_has, which is not installed: run pip install 'acme"
    code, _, err = clew(acme, "ask", "Who?", "--model", "torn:x", "--store", "memory:")
    assert (code, f"{needs}[fast]'" in err) == (2, True)
    code, out, _ = clew(acme, "doctor", "models", "offline")
    assert (code, "offline" in out) == (0, True)
    code, out, _ = clew(acme, "--help")
    assert (code, f"{needs}'" in " ".join(out.split())) == (0, True)


@pytest.mark.slow
def test_a_store_of_another_package_is_opened_by_its_scheme(
    acme: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "runs.sqlite"
    code, _, _ = clew(acme, "ask", "Who?", "--model", "acme:s", "--store", f"acme://{place}")
    assert code == 0
    code, out, _ = clew(acme, "runs", "--store", str(place), "--json")
    assert sync.read(json.loads(out)[0]["run_id"], store=place).stop is not None
    code, _, err = clew(acme, "runs", "--store", "kiwi://here")
    assert "kiwi://… is no store: name a file or acme://… or postgres://…" in err


@pytest.mark.slow
def test_an_agent_file_names_tools_and_screens_of_another_package(
    acme: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "acme.toml"
    file.write_text('model = "acme:counting"\ntools = ["abacus"]\nscreens = ["quiet"]\n')
    words = ("--agent", str(file), "--store", str(tmp_path / "runs.sqlite"))
    code, out, _ = clew(acme, "ask", "How many?", *words)
    assert (code, "the beads are gone" in out, "I am counting." in out) == (0, True, True)
    code, out, _ = clew(acme, "ask", "How loud?", *words)
    assert (code, "be quiet" in out) == (6, True)
    _, listed, _ = clew(acme, "tools", "list", "--json")
    assert "abacus" in [tool["name"] for tool in json.loads(listed)]


def test_a_driver_of_another_package_carries_the_runs(acme: dict[str, str], tmp_path: Path) -> None:
    words = ("worker", "--driver", "acme", "--store", str(tmp_path / "runs.sqlite"))
    code, out, _ = clew(acme, *words)
    assert (code, "acme carries default" in out) == (0, True)


@pytest.mark.slow
def test_a_command_of_another_package_is_called_and_listed(acme: dict[str, str]) -> None:
    assert clew(acme, "greet")[:2] == (0, "Good day.\n")
    assert "greet" in clew(acme, "--help")[1]
    assert "Greet whoever asks." in clew(acme, "--help")[1]


def test_the_table_is_not_read_before_a_name_is_asked_for() -> None:
    code = "import sys, clew, clew.cli; print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_what_nobody_adds_is_said_to_be_missing() -> None:
    with pytest.raises(ConfigError, match="nothing here has the name nosuch in clew"):
        require("clew.checks", "nosuch")


def test_a_table_of_before_the_code_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "clew-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: clew\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[clew.models]\noffline = clew.models.offline:x\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match="clew was installed before it had the entry point calc:"):
        make_tools(Spec(tools=("calc",)), None)
    with pytest.raises(ConfigError, match="or clew again: pip install"):
        require("clew.agents", "named")
