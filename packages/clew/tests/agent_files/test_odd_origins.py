"""Origins that describe nothing, or another agent than was recorded: an error that says so."""

from functools import partial
from typing import Any

import pytest

from clew import ConfigError, MemoryStore, Trajectory
from clew.agent.runner import start
from clew.agent_files import Spec, make_agent, spec_of, stand_ins
from clew.cli.votes import vote_request_of
from clew.core.journal import load
from clew.testing.models import ScriptedModel, finish

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])

MODEL: dict[str, Any] = {"model": "offline"}
NO_SPEC: list[Any] = [
    None, 1, True, "x", [], ["x"], {"model": 1}, {"tools": "calc"}, {"tools": [[]]},
    {"grounded": 1, "checks": 5}, {"grounded": True, "checks": {"a": 1}}, {"prompt": 5},
    {"prompt": [], "thought": 1}, {"limits": "x"}, {"agents": [{}]}, {"mcp": ["x"]},
    {"strategy": 1}, {"no such key": 1},
]  # fmt: skip
ANOTHER: list[dict[str, Any]] = [
    {"checks": ["x:y"]}, {"checks": ["x:y", "x:z"]}, {"screens": ["x:y"]}, {"checks": ["x:y"] * 3},
    {"guards": ["x:y"], "checks": ["x:y"]}, {"checks": ["grounded", "x:y"]},
    {"strategy": {"name": "x:y"}, "checks": ["x:y"]},
    {"strategy": {"name": "nobody"}, "screens": ["x:y"]},
    {"screens": ["x:y"], "parser": "nobody:x"}, {"screens": ["injections-mark", "x:y"]},
]  # fmt: skip


async def begun(origin: dict[str, Any]) -> tuple[Trajectory, bytes | None]:
    """A run of a plain agent, with an origin that somebody made up."""
    store = MemoryStore()
    agent = make_agent(Spec(model="offline", tools=("calc",)))
    await start(agent, "Go.", store, run_id="r", origin=origin)
    record = await load(store, "r")
    blob = record.started.spec.prompt_blob
    return record, await store.blob(blob) if blob else None


@pytest.mark.parametrize("said", NO_SPEC)
async def test_what_is_no_spec_is_refused(said: Any) -> None:
    record, _ = await begun({"cli": said})
    with pytest.raises(ConfigError, match="run r "):
        spec_of(record)


@pytest.mark.parametrize("said", ANOTHER)
async def test_the_spec_of_another_agent_is_refused(said: dict[str, Any]) -> None:
    record, prompt_spec = await begun({"cli": MODEL | said})
    spec = spec_of(record)
    assert spec is not None
    with pytest.raises(ConfigError):
        stand_ins(
            spec, record, prompt_spec, partial(make_agent, model=ScriptedModel([finish("x")]))
        )


@pytest.mark.parametrize(
    "said", [1, "x", [], {}, {"k": 3}, {"k": "x", "verifier": ""}, {"k": 3, "verifier": 1}]
)
async def test_what_is_no_vote_is_refused(said: Any) -> None:
    record, _ = await begun({"cli": MODEL, "votes": said})
    if said == {"k": 3}:  # nobody verifies
        assert vote_request_of(record) is not None
    else:
        with pytest.raises(ConfigError, match="says that it is a vote"):
            vote_request_of(record)
