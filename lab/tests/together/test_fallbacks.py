"""A replay of a fallback needs neither of the two tools."""

import sys
from functools import partial
from pathlib import Path

import pytest

from clew import MemoryStore
from clew.agent.runner import start
from clew.agent_files import Spec, make_agent, origin, read_agent_file, stand_ins
from clew.core.events import encode
from clew.core.journal import load
from clew.core.loop import run as go
from clew.core.replay import replay
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


SHIPPED = """
model = "offline"
tools = ["web_search", "wiki_search"]
[fallbacks]
web_search = "wiki_search"
"""


@pytest.mark.parametrize("own", [True, False])
async def test_a_replay_needs_neither_of_the_two(folder: Path, own: bool) -> None:
    """Tools of one's own are not imported; of those that ship only one has a fallback."""
    file = written(folder, f'{RENAMED}\nwiki = "library"')
    moves: list[Move] = [act("web", query="tide"), say("Done.")]
    if not own:
        file.write_text(SHIPPED, encoding="utf-8")
        moves = [act("web_search"), say("Done.")]  # without a query: nothing is searched
    spec: Spec = read_agent_file(file)
    store = MemoryStore()
    agent = make_agent(spec, model=ScriptedModel(moves))
    await go(agent.engine, await start(agent, "Go.", store, run_id="r", origin=origin(spec)))
    record = await load(store, "r")
    (folder / "own_searches.py").unlink()
    sys.modules.pop("own_searches", None)
    prompt_spec = await store.blob(record.started.setting.prompt_blob)
    bare, apart = stand_ins(
        spec, record, prompt_spec, partial(make_agent, model=ScriptedModel(moves))
    )
    assert apart >= {"tools.web" if own else "tools.web_search"}
    again = (await replay(bare.engine, record, MemoryStore(), apart)).trajectory.entries
    assert [encode(one.event) for one in again] == [encode(one.event) for one in record.entries]
