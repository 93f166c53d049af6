"""What a notebook shows of agents, runs and steps: tables in which no record writes markup."""

import inspect
from typing import Any

import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.testing import ScriptedModel, act, say

HOSTILE = "<script>alert('1')</script><img src=x onerror=\"alert(1)\">&lt;"


@tool(effect="read")
def look(place: str) -> str:
    """Look at a <b>place</b>."""
    return HOSTILE + place


def agent(**options: Any) -> Agent:
    script = [act("look", thought=HOSTILE, place=HOSTILE), say(HOSTILE)]
    return Agent(ScriptedModel(script), tools=[look], **options)


async def shown() -> dict[str, str]:
    store = MemoryStore()
    made = agent(prompt=HOSTILE)
    result = await run(made, HOSTILE, store=store)
    record = await read(result.run_id, store=store)
    each: dict[str, Any] = {"agent": made, "result": result, "run": record, "step": record.steps[0]}
    return {name: one._repr_html_() for name, one in each.items()}


async def test_text_of_a_record_is_no_markup() -> None:
    for name, html in (await shown()).items():
        rest = html
        for tag in ("table", "tr", "th", "td"):
            rest = rest.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
        assert "<" not in rest, name
        assert ">" not in rest, name
        assert "onerror=" not in rest or "onerror=&quot;" in rest


async def test_what_matters_is_there() -> None:
    html = await shown()
    assert "scripted:test" in html["agent"]
    assert "read: Look at a" in html["agent"]
    assert "<th>answered</th>" in html["run"]
    assert "<th>1.1</th><td>look(place=" in html["run"]
    assert "<th>step 1</th>" in html["step"]
    assert "<th>status</th><td>answered" in html["result"]


async def test_an_open_run_is_shown_as_far_as_it_is() -> None:
    """A notebook draws it again after each entry."""
    store = MemoryStore()
    result = await run(agent(), "Well?", store=store)
    whole = await read(result.run_id, store=store)
    for length in range(1, len(whole.entries)):
        part = type(whole)(whole.run_id, whole.entries[:length])
        assert "<th>open</th>" in part._repr_html_()
    begun = type(whole)(whole.run_id, whole.entries[:2])
    assert "→ …" in begun._repr_html_()


async def test_a_long_text_is_cut() -> None:
    record = agent(), "x" * 100_000
    store = MemoryStore()
    result = await run(*record, store=store)
    assert len((await read(result.run_id, store=store))._repr_html_()) < 10_000


@pytest.mark.parametrize("kind", [Agent, type("Mine", (Agent,), {})])
def test_a_signature_names_what_an_agent_takes(kind: Any) -> None:
    names = [*inspect.signature(kind).parameters]
    assert names[:2] == ["model", "tools"]
    assert "settings" in names
    assert "self" not in names
