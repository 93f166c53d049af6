"""The table `fallbacks` of an agent file, and replays of runs that had one."""

import sys
from functools import partial
from pathlib import Path

import pytest

from clew import ConfigError, MemoryStore, read, run
from clew.agent.runner import start
from clew.agent_files import load_agent, make_agent, origin, read_agent_file, stand_ins
from clew.core.actions import Done
from clew.core.effects import effects_of
from clew.core.journal import load
from clew.core.loop import run as go
from clew.core.replay import replay
from clew.core.values import encode
from clew.testing import ScriptedModel, act, say
from clew.testing.models import Move

TOOLS = '''
from clew import ToolError, tool

@tool(effect="read")
def web(query: str, page: int = 1) -> str:
    """Search the web."""
    raise ToolError("the line is down")

@tool(effect="read")
def wiki(word: str) -> str:
    """Look a word up."""
    raise ToolError("no such word")

@tool(effect="read")
def library(word: str) -> str:
    """Look a word up in books."""
    return f"{word}: see there"

@tool(effect="read")
def clock() -> str:
    """Tell the time."""
    return "six"
'''
LETTERS = '''
from clew import ToolError, tool

@tool(effect="unsafe")
def email(to: str, note: str = "") -> str:
    """Send an e-mail."""
    raise ToolError("no line")

@tool(effect="unsafe")
def fax(to: str) -> str:
    """Send a fax."""
    raise ToolError("no paper")

@tool(effect="unsafe")
def post(address: str, text: str = "") -> str:
    """Send a letter."""
    return "posted"
'''
LISTED = '["own_searches:web", "own_searches:wiki", "own_searches:library", "own_searches:clock"]'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own_searches.py").write_text(TOOLS, encoding="utf-8")
    return tmp_path


def written(folder: Path, table: str) -> Path:
    file = folder / "agent.toml"
    text = f'model = "offline"\ntools = {LISTED}\n[fallbacks]\n{table}\n'
    file.write_text(text, encoding="utf-8")
    return file


RENAMED = 'web = { tool = "wiki", arguments = { query = "word", page = "" } }'


async def test_a_file_says_which_tool_is_called_when_another_fails(folder: Path) -> None:
    file = written(folder, f'{RENAMED}\nwiki = "library"')
    model = ScriptedModel([act("web", query="tide"), act("clock"), say("Done.")])
    agent, _ = load_agent(file, model=model)
    store = MemoryStore()
    run_id = (await run(agent, "Look.", store=store)).run_id
    found, time = (call.observation for call in (await read(run_id, store=store)).calls)
    assert found is not None
    assert found.text.endswith("]\ntide: see there")
    assert "wiki did not do it: no such word" in found.text
    assert time is not None
    assert time.text == "six"
    assert [tool.name for tool in agent.tools] == ["web", "wiki", "library", "clock"]


@pytest.mark.parametrize(
    ("table", "line", "said"),
    [
        ('web = "wiki"', 4, "wiki cannot be called for web: it takes no 'query'"),
        ('web = "nobody"', 4, "the agent has no tool 'nobody': add it to tools, or leave it out"),
        ('nobody = "web"', 4, "the agent has no tool 'nobody'"),
        ('wiki = "library"\nlibrary = "wiki"', 5, "wiki would be its own fallback: wiki → library"),
        ('web = { tool = "wiki", arguments = { query = "word" } }', 4, "it takes no 'page'"),
        ('web = { other = "wiki" }', 4, "other"),
        ("web = 3", 4, "fallbacks"),
    ],
)
def test_what_cannot_be_is_told_with_its_line(
    folder: Path, table: str, line: int, said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as told:
        load_agent(written(folder, table))
    assert f"agent.toml, line {line}:" in str(told.value)


HANDED_ON = """
model = "offline"
tools = ["own_letters:email", "own_letters:fax", "own_letters:post"]
[fallbacks]
email = { tool = "fax", arguments = { note = "" } }
fax = { tool = "post", arguments = { to = "address" } }
"""


async def test_nor_does_one_that_was_held_for_what_another_tool_would_do_again(
    tmp_path: Path,
) -> None:
    (tmp_path / "own_letters.py").write_text(LETTERS, encoding="utf-8")
    file = tmp_path / "agent.toml"
    file.write_text(HANDED_ON, encoding="utf-8")
    spec, store = read_agent_file(file), MemoryStore()
    posts = make_agent(spec, model=ScriptedModel([act("post", address="a"), say("Done.")]))
    first = await go(posts.engine, await start(posts, "Go.", store, run_id="q"))
    older = Done(
        "p:1.1", "fax", "", 'fax({"to":"b"})'
    )  # whose record does not say what it received
    done = (older, *(await effects_of(store, first, first.calls)).values())
    moves: list[Move] = [act("email", to="a", note="b"), say("Done.")]
    agent = make_agent(spec, model=ScriptedModel(moves))
    journal = await start(agent, "Go.", store, run_id="r", origin=origin(spec), done=done)
    assert (stop := (await go(agent.engine, journal)).stop) is not None
    assert stop.status == "held"
    record = await load(store, "r")
    assert "post would do in its place was done already, by q:1.1" in str(record.held[0].verdict)
    (tmp_path / "own_letters.py").unlink()
    sys.modules.pop("own_letters", None)
    prompt_spec = await store.blob(record.started.spec.prompt_blob)
    bare, apart = stand_ins(
        spec, record, prompt_spec, partial(make_agent, model=ScriptedModel(moves))
    )
    again = (await replay(bare.engine, record, MemoryStore(), apart)).trajectory.entries
    assert [encode(one.event) for one in again] == [encode(one.event) for one in record.entries]


async def test_a_replay_needs_no_tool_of_ones_own(folder: Path) -> None:
    spec = read_agent_file(written(folder, f'{RENAMED}\nwiki = "library"'))
    store, model = MemoryStore(), ScriptedModel([act("web", query="tide"), say("Done.")])
    agent = make_agent(spec, model=model)
    await go(agent.engine, await start(agent, "Go.", store, run_id="r", origin=origin(spec)))
    record = await load(store, "r")
    (folder / "own_searches.py").unlink()
    sys.modules.pop("own_searches", None)
    prompt_spec = await store.blob(record.started.spec.prompt_blob)
    bare, apart = stand_ins(spec, record, prompt_spec, partial(make_agent, model=model))
    assert apart >= {"tools.web"}
    again = (await replay(bare.engine, record, MemoryStore(), apart)).trajectory.entries
    assert [encode(one.event) for one in again] == [encode(one.event) for one in record.entries]
