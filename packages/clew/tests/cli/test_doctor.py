"""`clew doctor`, `--version` and `--help`."""

import re
import tomllib
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from clew import __version__
from clew.cli import COMMANDS, main
from clew.cli.doctor import EXTRAS
from clew.support.street import PACKAGES
from clew_testing.servers.openai_server import OpenAIServer
from tests.cli.shell import clew, own_tools

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
KEY = "sk-very-secret-0123456789"


def findings(*words: str, **env: str) -> dict[str, dict[str, Any]]:
    done = clew("doctor", "--json", *words, env=env)
    return {f"{found['area']} {found['name']}": found for found in done.document}


def test_without_keys_and_servers_the_offline_rules_answer() -> None:
    done = clew("doctor")
    assert done.code == 0
    assert re.search(r"^--  provider  openai +set OPENAI_API_KEY", done.out, re.MULTILINE)
    assert re.search(r"^ok  model +offline +used when none is named", done.out, re.MULTILINE)
    assert not Path("store").exists()


def test_a_key_is_seen_and_never_shown() -> None:
    env = {"OPENAI_API_KEY": KEY, "GROQ_BASE_URL": f"https://user:{KEY}@example.org/v1"}
    done = clew("doctor", env=env)
    assert re.search(r"^ok  provider  openai +OPENAI_API_KEY is set", done.out, re.MULTILINE)
    assert KEY not in done.out + done.err + clew("doctor", "--json", env=env).out


def test_a_provider_without_an_address_of_its_own_asks_for_one() -> None:
    found = findings(AZURE_OPENAI_API_KEY=KEY)["provider azure"]
    assert (found["usable"], found["detail"]) == (False, "set AZURE_OPENAI_ENDPOINT to its address")
    there = {"AZURE_OPENAI_API_KEY": KEY, "AZURE_OPENAI_ENDPOINT": "https://x.openai.azure.com"}
    assert findings(**there)["provider azure"]["usable"] is True


def test_a_local_server_is_found() -> None:
    with OpenAIServer([], models=["tiny"]) as server:
        found = findings(OLLAMA_BASE_URL=server.base_url)
    assert found["provider ollama"]["usable"] is True
    assert found["provider vllm"]["usable"] is False
    assert "model ollama:tiny" in found


def test_the_store_and_the_env_file_are_looked_at() -> None:
    Path(".env").write_text("")
    clew("ask", "What is 2+3?")
    found = findings()
    assert found[f"store {Path.cwd()}/store"]["detail"] == "1 run"
    assert found["settings .env"]["detail"] == f"{Path.cwd()}/.env"
    Path("file").write_text("no database")
    broken = clew("doctor", "--store", "file")
    assert broken.code == 5
    assert re.search(r"^--  store +file +file is no store", broken.out, re.MULTILINE)


def test_findings_of_the_same_word_share_a_line() -> None:
    every = [found for found in findings().values() if found["area"] == "extra"]
    names = [found["name"] for found in every if found["usable"]]
    assert len(names) > 1
    shared = f"ok  extra     {len(names)} extras +installed: {', '.join(names)}$"
    assert re.search(shared, clew("doctor").out, re.MULTILINE)


def test_every_extra_is_looked_for() -> None:
    project = tomllib.loads(PROJECT.read_text())["project"]
    assert {*EXTRAS} == project["optional-dependencies"].keys()


def test_every_package_is_looked_for() -> None:
    every = [one["name"] for one in findings().values() if one["area"] == "package"]
    assert sorted(every) == sorted(PACKAGES)


def test_a_store_of_another_kind_is_named_without_its_password() -> None:
    done = clew("doctor", "--store", "mysql://me:secret@host/runs")
    assert done.code == 5
    said = "mysql://… is no store: name a file[^\n]*"
    assert re.search(rf"^--  store +mysql://… +{said}$", done.out, re.MULTILINE)
    told = clew("runs", "--store", "mysql://me:secret@host/runs").err
    assert re.fullmatch(f"clew: {said}\n", told)


def test_an_address_that_cannot_be_one_is_told_without_its_password() -> None:
    done = clew("doctor", env={"OLLAMA_BASE_URL": "http://me:secret@host:port"})
    assert done.code == 0
    said = "'http://host:port' is no address of a server: mend OLLAMA_BASE_URL"
    assert re.search(rf"^--  provider +ollama +{said}$", done.out, re.MULTILINE)


def test_tools_are_listed_with_effect_and_arguments() -> None:
    own_tools()
    done = clew("tools", "list")
    assert re.search(r"^calc\(expression: string\): pure, trusted$", done.out, re.MULTILINE)
    assert re.search(r"^docs\(query: string, \[limit: integer\]\): read$", done.out, re.MULTILINE)
    (pay, wait) = clew("tools", "list", "--tools", "own:both", "--json").document
    assert (pay["name"], pay["effect"], wait["effect"]) == ("pay", "unsafe", "read")


def test_version_and_help() -> None:
    assert clew("--version").out == f"clew {__version__}\n"
    shown = clew("--help")
    assert shown.code == 0
    listed = shown.out.split("Ask:\n")[1].split("Examples:")[0]
    commands = re.findall(r"^  ([\w-]+)  +\S", listed, re.MULTILINE)
    assert commands[0] == "ask"
    assert sorted(commands) == sorted(entry.name for group in COMMANDS.values() for entry in group)
    own = [entry.name for group in COMMANDS.values() for entry in group if not entry.package]
    for command in own:  # what a process adds has been seen above
        shown_of = CliRunner().invoke(main, [command, "--help"], prog_name="clew")
        assert shown_of.output.startswith(f"Usage: clew {command} ")
    assert clew().code == 2
