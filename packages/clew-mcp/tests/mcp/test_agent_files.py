"""MCP servers in agent files, and what `classify` writes into one."""

import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import ConfigError, MemoryStore, read, replay, run, run_sync
from clew.agent_files import load_agent, make_agent, read_agent_file, stand_ins
from clew.agent_files.spec import origin
from clew.agent_files.untrusted import outside_parts
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp.classify import classify
from tests.mcp.servers import SCRIPT, Plain, plain_server


@pytest.fixture
def plain(tmp_path: Path) -> Plain:
    return plain_server(tmp_path / "plain")


def agent_file(plain: Plain, more: str = "") -> Path:
    file = plain.folder / "agent.toml"
    file.write_text(
        f"""# My agent.
model = "offline"
tools = []

[[mcp]]  # the first
name = "plain"  # its name
command = "{sys.executable}"
args = ["{SCRIPT}", "server.json"]
{more}
[limits]
steps = 5
"""
    )
    return file


def test_a_file_names_servers_whose_pins_lie_beside_it(plain: Plain) -> None:
    file = agent_file(plain, 'effects = { echo = "read" }\nonly = ["echo"]\n')
    model = ScriptedModel([act("plain_echo", text="hello"), finish("done")])
    agent = load_agent(file, model=model).agent
    assert [tool.name for tool in agent.tools] == ["plain_echo"]
    assert (plain.folder / "agent.mcp.json").exists()
    result = run_sync(agent, "go", store=MemoryStore())
    assert result.status == "answered"
    assert plain.calls == ['echo {"text": "hello"}']


@pytest.mark.parametrize(
    ("more", "line", "why"),
    [
        ('only = ["no"]\n', 5, "only of the MCP server plain names no, and its tools are"),
        ('url = "https://x"\n', 5, "needs a command or a url, and not both"),
        ('effects = { echo = "reed" }\n', 9, "none of pure, read, idempotent, unsafe"),
        ("trust = true\n", 9, "unknown key 'trust' in mcp.0: did you mean trusted"),
        ('[[mcp]]\nname = "plain"\ncommand = "x"\n', 9, "two MCP servers are called plain"),
        ('env = { TOKEN = "abc" }\n', 9, "name a variable of the environment"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(plain: Plain, more: str, line: int, why: str) -> None:
    file = agent_file(plain, more)
    with pytest.raises(ConfigError) as told:
        load_agent(file)
    assert f"{file}, line {line}: " in str(told.value)
    assert why in str(told.value)


async def test_a_replay_needs_neither_server_nor_pins(plain: Plain) -> None:
    file = agent_file(plain, 'effects = { echo = "read" }\n')
    spec = read_agent_file(file)
    model = ScriptedModel([act("plain_echo", text="hello"), finish("done")])
    store = MemoryStore()
    result = await run(make_agent(spec, model=model), "go", store=store, origin=origin(spec))
    for place in plain.folder.iterdir():
        place.unlink()
    record = await read(result.run_id, store=store)
    assert [call.observation is not None for call in record.calls] == [True, True]
    body = await store.blob(record.started.spec.prompt_blob)
    replica, apart = stand_ins(spec, record, body, partial(make_agent, model=model))
    assert "tools.plain_echo" in apart
    await replay(replica, result.run_id, store=store, stand_ins=apart)


def test_what_somebody_elses_file_would_start_is_told(plain: Plain) -> None:
    spec = read_agent_file(agent_file(plain, 'env = { LEVEL = "info" }\n'))
    told = [*outside_parts(spec)]
    assert any(line.startswith("MCP server plain: [") for line in told)
    assert "MCP server plain gets LEVEL: info" in told


# ---------------------------------------------------------------- classify


def test_a_tool_is_classified_in_the_file_and_its_comments_stay(plain: Plain) -> None:
    file = agent_file(plain, 'effects = { pid = "read" }  # mine\n')
    classify(file, "plain_echo", "idempotent", trusted=True)
    text = file.read_text()
    assert 'effects = { pid = "read", echo = "idempotent" }  # mine' in text
    assert 'name = "plain"  # its name\ntrusted = ["echo"]\n' in text
    assert text.startswith("# My agent.\n")
    classify(file, "plain_echo", "read")
    (server,) = read_agent_file(file).mcp
    assert (server.effects, server.trusted) == ({"pid": "read", "echo": "read"}, ())


@pytest.mark.parametrize("more", ['trusted = [\n  "pid",\n]\n', '[mcp.effects]\npid = "read"\n'])
def test_what_cannot_be_changed_line_by_line_is_told(plain: Plain, more: str) -> None:
    file = agent_file(plain, more)
    before = file.read_text()
    with pytest.raises(ConfigError, match="write for the server plain: effects = "):
        classify(file, "plain_echo", "read", trusted=True)
    assert file.read_text() == before


def test_a_tool_of_no_server_is_told(plain: Plain) -> None:
    with pytest.raises(ConfigError, match="no MCP server with a tool other_echo: its tools are pl"):
        classify(agent_file(plain), "other_echo", "read")


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_any_name_of_a_tool_can_be_written(
    tmp_path_factory: pytest.TempPathFactory, names: list[str]
) -> None:
    file = tmp_path_factory.mktemp("any") / "agent.toml"
    file.write_text('[[mcp]]\nname = "a"\ncommand = "x"\n[[mcp]]\nname = "b"\ncommand = "y"\n')
    for name in names:
        classify(file, f"b_{name}", "read", trusted=True)
    first, second = tomllib.loads(file.read_text())["mcp"]
    assert first == {"name": "a", "command": "x"}
    assert second["effects"] == dict.fromkeys(names, "read")
    assert sorted(second["trusted"]) == sorted(set(names))
