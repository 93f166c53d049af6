"""`clew serve`: what it prints, and one line for each thing that is in its way."""

import re
import signal
import socket
from pathlib import Path

import httpx2
import pytest

from clew import ConfigError, SqliteStore
from clew_serve import ServeConfig, User, read_users
from tests.cli.shell import begin, clew, until, until_told
from tests.patience import PATIENCE

AGENT = """
from clew import Agent
from clew.testing import ScriptedModel, finish
greeter = Agent(ScriptedModel([finish("Hello.")]))
"""


def test_it_prints_a_link_serves_and_ends_at_a_signal() -> None:
    Path("greeting.py").write_text(AGENT)
    process = begin("serve", "greeting:greeter", "--port", "0", "--store", "runs.sqlite")
    until_told(process, "\n")
    line = process.trajectory(2)
    match = re.fullmatch(r"clew: serving greeter: (http://127\.0\.0\.1:\d+/)\?token=(\S+)\n", line)
    assert match is not None, line
    signed = {"authorization": f"Bearer {match[2]}"}
    agents = httpx2.get(f"{match[1]}api/agents", headers=signed, timeout=PATIENCE).json()
    assert [each["name"] for each in agents["agents"]] == ["greeter"]
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, "", line)


def test_a_run_that_cannot_go_on_is_told_in_a_line_and_the_server_goes_on() -> None:
    Path("greeting.py").write_text(AGENT.replace('finish("Hello.")', ""))
    process = begin("serve", "greeting:greeter", "--port", "0", "--store", "runs.sqlite")
    until_told(process, "\n")
    url, _, token = process.trajectory(2).rpartition(" ")[2].strip().partition("?token=")
    signed, new = {"authorization": f"Bearer {token}"}, {"agent": "greeter", "question": "Hello?"}
    run = httpx2.post(f"{url}api/runs", json=new, headers=signed, timeout=PATIENCE).json()["run_id"]
    until_told(process, "tried again")
    assert httpx2.get(f"{url}readyz", headers=signed, timeout=PATIENCE).text == "ok\n"
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=PATIENCE)
    told = [line for line in err.splitlines() if run in line]
    pauses = [re.findall(r"again in (\d+) s", line) for line in told]
    assert process.returncode == 0
    assert all(len(each) == 1 for each in pauses), err
    assert len({*map(tuple, pauses)}) == len(told), told  # each attempt is told of once


BROWSER = """#!/bin/sh
echo "$1" > "$HOME/opened.tmp" && mv "$HOME/opened.tmp" "$HOME/opened"
"""


@pytest.mark.parametrize("more", [["runs.sqlite"], ["--store", "runs.sqlite", "--no-browser"]])
def test_view_opens_the_browser_on_a_server_that_only_shows(
    more: list[str], tmp_path: Path
) -> None:
    browser = tmp_path / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o755)
    assert clew("ask", "17 * 23?", "--model", "offline", "--store", "runs.sqlite").code == 0
    env = {"BROWSER": f"{browser} %s", "HOME": str(tmp_path)}
    process = begin("view", *more, **env)
    until_told(process, "\n", 1)
    link = process.trajectory(1).strip()
    url, token = link.split("?token=")
    if "--no-browser" not in more:
        until(str(tmp_path / "opened"), process)
        assert (tmp_path / "opened").read_text().strip() == link
    signed = {"authorization": f"Bearer {token}"}
    assert url.startswith("http://127.0.0.1:")
    assert len(token) > 40
    page = httpx2.get(url, headers=signed, timeout=PATIENCE)
    assert "17 * 23?" in page.text
    (run,) = httpx2.get(f"{url}api/runs", headers=signed, timeout=PATIENCE).json()["runs"]
    ending = f"{url}api/runs/{run['run_id']}/cancel"
    assert httpx2.post(ending, json={}, headers=signed, timeout=PATIENCE).status_code == 403
    assert httpx2.get(url, timeout=PATIENCE).status_code == 401
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, f"{link}\n", "")
    assert (tmp_path / "opened").exists() == ("--no-browser" not in more)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["no-such.sqlite"], 2, "there are no runs yet"),
        ([""], 2, "name one store"),
        (["a.sqlite", "--store", "b.sqlite"], 2, "name one store"),
        (["memory:"], 2, "store in memory"),
        (["."], 5, "is no store"),
        (["runs.sqlite", "--port", "99999"], 2, "--port"),
    ],
)
def test_what_is_in_the_way_of_a_view_is_one_line(
    arguments: list[str], code: int, words: str
) -> None:
    done = clew("view", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert words in done.err
    assert [*Path().glob("*.sqlite")] == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--store", "no-such.sqlite"], 2, "there are no runs yet"),
        (["--store", "memory:"], 2, "store in memory"),
        (["--host", "0.0.0.0", "--store", "runs.sqlite"], 2, "--allow-host NAME"),
        (["no-such.toml", "--store", "runs.sqlite"], 2, "no-such.toml"),
        (["--token-file", "tokens", "--store", "runs.sqlite"], 2, "cannot be read"),
        (["a=x:y", "a=z:y", "--store", "runs.sqlite"], 2, "two agents have the name a"),
    ],
)
def test_what_is_in_its_way_is_one_line(arguments: list[str], code: int, words: str) -> None:
    done = clew("serve", *arguments)
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1)
    assert words in done.err
    assert not Path("no-such.sqlite").exists()


def test_a_port_in_use_is_one_line() -> None:
    Path("greeting.py").write_text(AGENT)
    SqliteStore("runs.sqlite")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        each = [
            clew("serve", "greeting:greeter", "--port", port, "--store", "runs.sqlite"),
            clew("view", "runs.sqlite", "--port", port),
        ]
    for done in each:
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert f"cannot listen at 127.0.0.1:{port}: " in done.err
        assert done.err.count(port) == 1


def test_a_token_file_has_users() -> None:
    path = Path("tokens")
    path.write_text(f"# who may\nada run {'a' * 16}\n\nbob look {'b' * 16}\n")
    assert read_users(path) == [User("ada", "run", "a" * 16), User("bob", "look", "b" * 16)]
    path.write_text("c" * 20)
    assert read_users(path) == [User(token="c" * 20)]


@pytest.mark.parametrize(
    "text", ["", "short", f"ada king {'a' * 16}", f"ada run {'a' * 16}\nbob", "\xff\xfe"]
)
def test_a_token_file_that_lets_nobody_in_is_refused_and_shows_no_token(text: str) -> None:
    path = Path("tokens")
    path.write_text(text, "latin-1")
    with pytest.raises(ConfigError) as told:
        read_users(path)
    assert "\n" not in str(told.value)
    assert "a" * 16 not in str(told.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"host": ""},
        {"host": "192.0.2.1"},
        {"port": 65_536},
        {"at_once": 0},
        {"agents": {"a/b": "x:y"}},
        {"users": [User()]},
        {"users": [User("ada", "run")]},
        {"queue": ""},
    ],
)
def test_settings_that_would_let_others_in_or_mean_nothing_are_refused(
    settings: dict[str, object],
) -> None:
    with pytest.raises(ConfigError):
        ServeConfig(**settings)  # type: ignore[arg-type] # some of these are wrong on purpose
