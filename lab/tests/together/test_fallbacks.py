"""A replay of a fallback needs neither of the two tools, of which only one ships with clew-web."""

from functools import partial
from pathlib import Path

from clew import MemoryStore
from clew.agent.runner import start
from clew.agent_files import make_agent, origin, read_agent_file, stand_ins
from clew.core.journal import load
from clew.core.loop import run as go
from clew.core.replay import replay
from clew.core.values import encode
from clew.testing import ScriptedModel, act, say

SHIPPED = """
model = "offline"
tools = ["web_search", "wiki_search"]
[fallbacks]
web_search = "wiki_search"
"""


async def test_a_replay_needs_neither_of_the_two(tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    file.write_text(SHIPPED, encoding="utf-8")
    spec, store = read_agent_file(file), MemoryStore()
    model = ScriptedModel([act("web_search"), say("Done.")])  # without a query: none is searched
    agent = make_agent(spec, model=model)
    await go(agent.engine, await start(agent, "Go.", store, run_id="r", origin=origin(spec)))
    record = await load(store, "r")
    prompt_spec = await store.blob(record.started.spec.prompt_blob)
    bare, apart = stand_ins(spec, record, prompt_spec, partial(make_agent, model=model))
    assert apart >= {"tools.web_search"}
    again = (await replay(bare.engine, record, MemoryStore(), apart)).trajectory.entries
    assert [encode(one.event) for one in again] == [encode(one.event) for one in record.entries]
