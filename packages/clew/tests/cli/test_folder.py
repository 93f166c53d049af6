"""What a folder brings is input: its `.env` gives keys only, and a person sees what it gives."""

import os
import re
import stat
from pathlib import Path

import pytest

from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew
from tests.cli.terminal import terminal

KEY = "sk-of-the-environment-1234567890"
THEIRS = "sk-of-the-folder-0987654321"
SEEN = {"OPENAI_API_KEY": KEY, "COLUMNS": "300"}


def test_the_model_line_names_the_file_and_the_address() -> None:
    Path(".env").write_text(f"OPENAI_API_KEY={THEIRS}\n")
    with OpenAIServer([Say("Hello.")]) as server:
        done = clew("ask", "Hm?", env={"OPENAI_BASE_URL": server.base_url})
        line = (
            f"at {server.base_url}, by OPENAI_BASE_URL; with OPENAI_API_KEY from {Path.cwd()}/.env"
        )
    assert done.code == 0
    assert line in re.sub(r"\s+", " ", done.err).replace("/ ", "/")
    assert THEIRS not in done.out + done.err


def test_a_terminal_names_them_where_the_person_named_the_model() -> None:
    Path(".env").write_text(f"OPENAI_API_KEY={THEIRS}\n")
    with OpenAIServer([Say("Hello.")]) as server:
        url = server.base_url
        with terminal(
            "ask", "Hm?", "--model", "openai:m", OPENAI_BASE_URL=url, COLUMNS="300"
        ) as it:
            assert f"with OPENAI_API_KEY from {Path.cwd()}/.env" in it.shows(r"Hello\.")


def test_an_agent_file_is_named_beside_its_address_and_proxy() -> None:
    with OpenAIServer([Say("Hello.")]) as server:
        text = f'model = "openai:m"\n[connection]\nbase_url = "{server.base_url}"\n'
        Path("agent.toml").write_text(text)
        with terminal(
            "ask", "Hm?", "--agent", "agent.toml", OPENAI_API_KEY=KEY, COLUMNS="300"
        ) as it:
            told = it.shows(r"Hello\.")
    assert f"at {server.base_url}, by {Path.cwd()}/agent.toml" in told


def test_a_proxy_of_an_agent_file_is_named_without_its_password() -> None:
    proxy = "http://me:${OPENAI_API_KEY}@127.0.0.1:9"
    Path("agent.toml").write_text(f'model = "openai:m"\n[connection]\nproxy = "{proxy}"\n')
    with terminal("ask", "Hm?", "--agent", "agent.toml", **SEEN) as it:
        told = it.shows(r"agent\.toml\)")
        it.process.kill()
    assert "through http://127.0.0.1:9, by " in told
    assert "${" not in told


def test_doctor_says_of_each_setting_that_a_folder_gives_it() -> None:
    Path(".env").write_text(
        f"OPENAI_API_KEY={THEIRS}\nMISTRAL_API_KEY={THEIRS}\nCLEW_RATE=60 requests\n"
        "OPENAI_BASE_URL=http://evil.example\nHTTPS_PROXY=http://evil.example:1\nOTHER=x\n"
    )
    done = clew("doctor", "--json", env={"MISTRAL_API_KEY": KEY})
    found = {finding["name"]: finding for finding in done.document if finding["area"] == "settings"}
    file = f"{Path.cwd()}/.env"
    assert found["OPENAI_API_KEY"]["detail"] == f"a key from {file}"
    assert found["MISTRAL_API_KEY"]["detail"] == f"the environment has its own, not that of {file}"
    assert found["CLEW_RATE"]["detail"] == f"60 requests, from {file}"
    for name in ("OPENAI_BASE_URL", "HTTPS_PROXY"):
        assert found[name]["detail"] == f"a folder gives keys only: not taken from {file}"
        assert not found[name]["usable"]
    assert "OTHER" not in found
    by_name = {one["name"]: one["detail"] for one in done.document if one["area"] == "provider"}
    assert f"OPENAI_API_KEY is set by {file} (" in by_name["openai"]
    assert "MISTRAL_API_KEY is set (" in by_name["mistral"]
    for text in (done.out, done.err, clew("doctor").out):
        assert THEIRS not in text
        assert KEY not in text
        assert "evil.example" not in text


@pytest.mark.parametrize(
    "line",
    [
        "OPENAI_BASE_URL = http://EVIL",
        "export OPENAI_BASE_URL=http://EVIL",
        "openai_base_url=http://EVIL",
        "'OPENAI_BASE_URL'=http://EVIL",
        '"OPENAI_BASE_URL"="http://EVIL"',
        "OPENAI_BASE_URL\u00a0=http://EVIL",
        "\ufeffOPENAI_BASE_URL=http://EVIL",
        "OPENAI_API_KEY='x\nOPENAI_BASE_URL=http://EVIL'",
        'OPENAI_API_KEY="x\\nOPENAI_BASE_URL=http://EVIL"',
        "OPENAI_API_KEY=http://EVIL",
        "MISTRAL_API_KEY=${OPENAI_API_KEY}",
        "OPENAI_API_BASE=http://EVIL\nOPENAI_ORG_ID=x\nOPENAI_PROXY=http://EVIL",
        "ALL_PROXY=http://EVIL\nall_proxy=http://EVIL",
        "NETRC=netrc\nHOME=.\nXDG_DATA_HOME=.\nXDG_CONFIG_HOME=.",
        "PYTHONPATH=.\nPYTHONSTARTUP=evil.py\nLD_PRELOAD=./evil.so\nPATH=.",
        "GIT_CONFIG_COUNT=1\nGIT_CONFIG_KEY_0=core.fsmonitor\nGIT_CONFIG_VALUE_0=./evil",
    ],
)
def test_no_spelling_of_a_line_sends_the_key_elsewhere(line: str) -> None:
    with OpenAIServer([Say("mine")]) as server, OpenAIServer([Say("yours")]) as other:
        Path(".env").write_text(line.replace("http://EVIL", other.base_url))
        Path("netrc").write_text("machine 127.0.0.1 login x password y\n")
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url}
        done = clew("ask", "Hm?", "--model", "openai:m", env=env)
        assert not other.requests
        if done.code == 0:
            (request,) = server.requests
            assert request.headers["authorization"] == f"Bearer {KEY}"
        else:
            assert "holds a control character" in done.err
    assert KEY not in done.out + done.err


@pytest.mark.parametrize("value", ["a\\nb", "a\\rHost: evil", "a\\tb", "a\\x1b[2J"])
def test_a_key_with_a_control_character_is_no_key(value: str) -> None:
    Path(".env").write_text(f'OPENAI_API_KEY="{value}"\n')
    done = clew("runs")
    wanted = 0 if "x1b" in value else 2  # which is a backslash and letters to a .env
    assert done.code == wanted, done.err
    assert ("the value of OPENAI_API_KEY holds a control character" in done.err) == bool(wanted)


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "dangling", "large"])
def test_an_env_file_that_is_none_stops_and_fills_nothing(kind: str) -> None:
    file = Path(".env")
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case "device":
            file.symlink_to("/dev/zero")
        case "dangling":
            file.symlink_to("nowhere")
        case _:
            with file.open("wb") as large:
                large.truncate(5_000_000_000)
    done = clew("runs")
    if kind == "large":
        assert (done.code, "larger than 1,000,000 bytes" in done.err) == (2, True)
    else:
        assert done.code == 0, done.err
        assert ("is no file: passed over" in done.err) == (kind == "pipe")
        assert not stat.S_ISREG(file.lstat().st_mode)


def test_a_folder_brings_no_store_pins_index_memory_or_agent_unasked() -> None:
    """Files by the names that clew itself uses are not read unless a person names them."""
    for name in ("clew.toml", "agent.toml", "mcp-pins.json", ".mcp.json", "clew.sqlite"):
        Path(name).write_text("not read: \0")
    for name in (".clew", ".cache/clew", ".config/clew"):
        Path(name).mkdir(parents=True)
        Path(name, "agent.toml").write_text("not read: \0")
    Path("sitecustomize.py").write_text("open('ran', 'w').close()\n")
    Path("usercustomize.py").write_text("open('ran', 'w').close()\n")
    done = clew("ask", "What is 2+3?", "--model", "offline", "--docs", ".")
    assert (done.code, done.err) == (0, "")
    assert not Path("ran").exists()
