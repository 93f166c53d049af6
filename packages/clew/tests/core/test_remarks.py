"""What the model is told beside an observation: each hint once, and what was really called."""

from pathlib import Path

import pytest

from clew import Agent, MemoryStore, read, replay, resume, rule, run
from clew.testing.models import act, say
from tests.core.play import copy
from tests.core.scenarios import TOOLS, Ledger, effect_tools, hold_sends, lookup, warn_of_adding
from tests.core.watched import CODECS, watched
from tests.guards.verdicts import verdict_on

EDITED = 'the arguments were changed to {"text":"goodbye"} by a person'
AMENDED = 'the arguments were changed to {"key":"ex"}: x is spelled ex'


@pytest.mark.parametrize("codec", CODECS)
async def test_the_model_is_told_what_a_person_changed(codec: str, tmp_path: Path) -> None:
    tools = [lookup, *effect_tools(ledger := Ledger(tmp_path / "effects"))]
    script = act("send", text="hello"), act("finish", answer="sent")
    model = watched(*script, codec=codec, tools=tools)
    agent = Agent(model=model, tools=tools, codec=codec, guards=[hold_sends])
    await run(agent, "Say hello", store=(store := MemoryStore()), run_id="run")
    await rule("run:1.1", allow=True, args={"text": "goodbye"}, store=store)
    assert (await resume(agent, "run", store=store)).answer == "sent"
    assert [line.split()[2] for line in ledger.lines()] == ["goodbye"]
    assert _shown(model, "sent goodbye") == ["sent goodbye", EDITED]
    record = await read("run", store=store)
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries


@pytest.mark.parametrize("codec", CODECS)
async def test_the_model_is_told_what_a_guard_changed(codec: str) -> None:
    script = act("lookup", key="x"), act("finish", answer="ex")
    model = watched(*script, codec=codec, tools=TOOLS)
    agent = Agent(model=model, tools=TOOLS, codec=codec, guards=[warn_of_adding])
    await run(agent, "What is x?", store=MemoryStore())
    assert _shown(model, "the value of ex") == ["the value of ex", AMENDED]


@pytest.mark.parametrize("edited", [{"text": "hello"}, None])
async def test_what_was_left_as_it_was_is_not_remarked(
    edited: dict[str, object] | None, tmp_path: Path
) -> None:
    tools = effect_tools(Ledger(tmp_path / "effects"))
    model = watched(act("send", text="hello"), say("sent"), tools=tools)
    agent = Agent(model=model, tools=tools, guards=[hold_sends])
    await run(agent, "Say hello", store=(store := MemoryStore()), run_id="run")
    await rule("run:1.1", allow=True, args=edited, store=store)
    await resume(agent, "run", store=store)
    assert _shown(model, "sent hello") == ["sent hello"]


def _shown(model: object, about: str) -> list[str]:
    """The lines of the part that tells of an observation, without their labels."""
    parts = [part.text for part in model.sent[-1].parts if about in part.text]  # type: ignore[attr-defined]  # whatever watches
    (text,) = parts
    return [line.partition(": ")[2] if ": " in line[:16] else line for line in text.splitlines()]


hold_after_a_hint = verdict_on("add", "hold", "adding needs a person")
"""A second guard, which holds what the first had a hint on."""


async def test_a_hint_is_given_once_however_often_its_call_is_judged() -> None:
    model = watched(act("add", a=1, b=2), say("3"))
    guards = [warn_of_adding, hold_after_a_hint]
    agent, store = Agent(model=model, tools=TOOLS, guards=guards), MemoryStore()
    await run(agent, "1 + 2?", store=store, run_id="run")
    await rule("run:1.1", allow=True, store=store)
    await resume(agent, "run", store=store)
    lines = await store.read("run")
    hint = next(n for n, line in enumerate(lines, 1) if b'"kind":"hint"' in line.body)
    for cut in range(hint, len(lines)):
        again = await copy(lines[:cut])
        if (await resume(agent, "run", store=again)).status == "held":
            await rule("run:1.1", allow=True, store=again)
            await resume(agent, "run", store=again)
        record = await read("run", store=again)
        assert [len(call.hints) for call in record.calls] == [1], f"cut after entry {cut}"
        assert (await replay(agent, "run", store=again)).trajectory.entries == record.entries
