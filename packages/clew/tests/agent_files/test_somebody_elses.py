"""Agents of somebody else's records: what they name is told, and a replay does without it."""

import sys
from functools import partial
from pathlib import Path

import pytest

from clew import ConfigError, MemoryStore, SqliteStore, Tool
from clew.agent.foreign import trust
from clew.agent.runner import start
from clew.agent_files import (
    ORIGIN,
    ForeignOriginError,
    Spec,
    make_agent,
    origin,
    read_agent_file,
    refuse_foreign,
    spec_of,
    stand_ins,
)
from clew.core.journal import load
from clew.core.loop import run as go
from clew.core.replay import replay
from clew.core.tools import AgentTool
from clew.core.values import Json
from clew.testing.models import ScriptedModel, act, finish

PARTS = '''
from dataclasses import dataclass, replace
from clew import tool

def capital(args):
    city = args["city"]
    return None if city.istitle() else ({"city": city.title()}, "a name is written large")

@tool(effect="pure")
def visit(city: str) -> str:
    """Visit a city."""
    return f"seen {city}"

visit = replace(visit, repair=capital)

def enough(so_far):
    return "enough: one visit will do" if len(so_far.calls) > 1 else None

@dataclass
class Said:
    text: str

def letters(texts):
    return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]
'''
AGENT = """
model = "offline"
tools = ["their_parts:visit"]
bounds = ["their_parts:enough"]
answer = "their_parts:Said"
docs = "notes"
[retrieval]
embed = "their_parts:letters"
[connection]
base_url = "http://their.example/v1"
headers = { X-Key = "theirs" }
[[agents]]
name = "other"
description = "Asks another."
file = "other.toml"
"""


def theirs(folder: Path, text: str) -> Spec:
    (folder / "notes").mkdir()
    (folder / "their_parts.py").write_text(PARTS)
    (folder / "agent.toml").write_text(text)
    return read_agent_file(folder / "agent.toml")


async def test_all_that_an_agent_names_is_told_until_it_is_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = theirs(tmp_path, AGENT)
    mine = Path.home()
    monkeypatch.setenv("HOME", str(tmp_path))
    store = SqliteStore(tmp_path / "theirs.sqlite")
    await start(make_agent(Spec(model="offline")), "Go.", store, run_id="r", origin=origin(spec))
    await store.close()
    monkeypatch.setenv("HOME", str(mine))
    store = SqliteStore(tmp_path / "theirs.sqlite")
    record = await load(store, "r")
    with pytest.raises(ForeignOriginError, match="r was not begun by you") as caught:
        refuse_foreign(record, spec)
    assert [note.strip() for note in caught.value.__notes__] == [
        f"module their_parts:Said (answer) from {tmp_path}",
        f"module their_parts:visit (tools) from {tmp_path}",
        f"module their_parts:enough (bounds) from {tmp_path}",
        f"module their_parts:letters (embed) from {tmp_path}",
        f"agent file {tmp_path / 'other.toml'}",
        f"documents {tmp_path / 'notes'}",
        "server http://their.example/v1",
        "header X-Key: theirs",
    ]
    await trust(store, record)
    refuse_foreign(await load(store, "r"), spec)
    await store.close()


RUN = """
model = "offline"
tools = ["their_parts:visit"]
bounds = ["their_parts:enough"]
answer = "their_parts:Said"
fallback = {{ text = "Neither." }}
limits.landing = {}
[retrieval]
always = ["visit"]
"""
MOVES = (act("visit", city="oslo"), act("visit", city="bergen"), finish({"text": "Both."}))


@pytest.mark.parametrize("landing", ["true", "false"])
async def test_a_replay_needs_no_part_that_the_record_names(tmp_path: Path, landing: str) -> None:
    spec = theirs(tmp_path, RUN.format(landing))
    store = SqliteStore(tmp_path / "runs.sqlite")
    agent = make_agent(spec, model=ScriptedModel([*MOVES]))
    journal = await start(agent, "Go.", store, run_id="r", origin=origin(spec))
    await go(agent.engine, journal)
    record = await load(store, "r")
    (tmp_path / "their_parts.py").unlink()
    del sys.modules["their_parts"]
    prompt_spec = await store.blob(record.started.spec.prompt_blob)
    make = partial(make_agent, model=ScriptedModel([*MOVES]))
    bare, apart = stand_ins(spec, record, prompt_spec, make)
    own = {"tools.visit", "parts.answer", "parts.fallback", "parts.retrieval"}
    assert apart == own | {"parts.guards", "parts.provenance"}
    await replay(bare.engine, record, MemoryStore(), apart)
    visit = bare.engine.tools["visit"]
    assert isinstance(visit, Tool)
    probe = visit.attempts.probe
    assert probe is not None
    with pytest.raises(ConfigError, match="only stands in for another was called"):
        await probe({"city": "Rome"}, "k")
    with pytest.raises(
        ConfigError, match="does not hold the schema of visit: say with --set agent=FILE"
    ):
        stand_ins(spec, record, None, make)
    await store.close()


CLERK = """
from clew import Agent, delegate
from clew.testing import ScriptedModel, say

clerk = delegate(Agent(ScriptedModel([say("filed")])), name="clerk", description="Files.")
"""


async def test_an_agent_that_a_module_makes_a_tool_of_is_stood_in_for(tmp_path: Path) -> None:
    (tmp_path / "their_clerk.py").write_text(CLERK)
    (tmp_path / "agent.toml").write_text('model = "offline"\ntools = ["their_clerk:clerk"]\n')
    spec = read_agent_file(tmp_path / "agent.toml")
    moves = [act("clerk", task="File it."), finish("Done.")]
    store = SqliteStore(tmp_path / "runs.sqlite")
    agent = make_agent(spec, model=ScriptedModel(moves))
    journal = await start(agent, "Go.", store, run_id="r", origin=origin(spec))
    assert (await go(agent.engine, journal)).stop is not None
    record = await load(store, "r")
    (tmp_path / "their_clerk.py").unlink()
    del sys.modules["their_clerk"]
    prompt_spec = await store.blob(record.started.spec.prompt_blob)
    bare, apart = stand_ins(
        spec, record, prompt_spec, partial(make_agent, model=ScriptedModel(moves))
    )
    assert isinstance(bare.engine.tools["clerk"], AgentTool)
    await replay(bare.engine, record, MemoryStore(), apart)
    await store.close()


STAMPED = """
from dataclasses import replace

from clew import tool


@tool(effect="read")
def visit(city: str) -> str:
    "Visits a city."
    return city.title()


visit = replace(visit, version={version!r})
"""


@pytest.mark.parametrize("version", ["", " ", "2 of May", "1.0\n(beta)", "read 1"])
async def test_a_version_may_be_any_text(tmp_path: Path, version: str) -> None:
    (tmp_path / "their_stamped.py").write_text(STAMPED.format(version=version))
    (tmp_path / "agent.toml").write_text('model = "offline"\ntools = ["their_stamped:visit"]\n')
    spec = read_agent_file(tmp_path / "agent.toml")
    moves = [act("visit", city="oslo"), finish("Done.")]
    store = MemoryStore()
    agent = make_agent(spec, model=ScriptedModel(moves))
    journal = await start(agent, "Go.", store, run_id="r", origin=origin(spec))
    assert (await go(agent.engine, journal)).stop is not None
    record = await load(store, "r")
    (tmp_path / "their_stamped.py").unlink()
    del sys.modules["their_stamped"]
    prompt_spec = await store.blob(record.started.spec.prompt_blob)
    bare, apart = stand_ins(
        spec, record, prompt_spec, partial(make_agent, model=ScriptedModel(moves))
    )
    visit = bare.engine.tools["visit"]
    assert (visit.version, visit.effect) == (version, "read")
    await replay(bare.engine, record, MemoryStore(), apart)


async def test_an_origin_of_another_clew_is_told() -> None:
    store = MemoryStore()
    said: dict[str, Json] = {ORIGIN: {"model": 3}}
    await start(make_agent(Spec(model="offline")), "Go.", store, run_id="r", origin=said)
    with pytest.raises(ConfigError, match="r was begun with options this clew does not know: Exp"):
        spec_of(await load(store, "r"))
