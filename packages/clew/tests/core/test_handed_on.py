"""What a person attached, handed on to the agents that an agent delegates to."""

from typing import Any

import pytest

from clew import Agent, Image, MemoryStore, delegate, read, replay, resume, run
from clew.guards import Provenance
from clew.interfaces import ModelInfo, OnText, Prompt, Reply
from clew.testing import ScriptedModel, act, finish

PICTURE = Image("image/png", b"\x89PNG\r\n\x1a\n")
OTHER = Image("image/gif", b"GIF89a")


class Looks:
    """A model that says how many pictures it sees, and which kinds."""

    def __init__(self, *takes: str) -> None:
        self.info = ModelInfo("looks:1", unmetered=True, takes=frozenset(takes))

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        del on_text
        files = [it for part in (*prompt.head, *prompt.parts) for it in part.attachments]
        return Reply(f"saw {[it.media_type for it in files]}", model="looks:1")


def asking(model: Any, *, attachments: bool) -> Agent[str]:
    """An agent that has another one look, as often as it is asked."""
    looks = delegate(Agent(model), name="look", description="Looks.", attachments=attachments)
    script = [act("look", task="Count."), finish("one"), act("look", task="Count."), finish("two")]
    return Agent(ScriptedModel(script), tools=[looks], guards=[Provenance("off")])


async def looked(agent: Agent[str], store: MemoryStore) -> list[str]:
    """What came of each call, of a question with a picture and of a word with another."""
    await run(agent, ["What is it?", PICTURE], run_id="r", store=store)
    await resume(agent, "r", say=["And this?", OTHER], store=store)
    calls = (call for step in (await read("r", store=store)).steps for call in step.all_calls)
    return [call.observation.text for call in calls if call.observation and call.child]


@pytest.mark.parametrize("attachments", [True, False])
async def test_they_are_handed_on_where_that_is_wanted(attachments: bool) -> None:
    agent = asking(Looks("image/"), attachments=attachments)
    first, second = await looked(agent, store := MemoryStore())
    assert ("image/png" in first, "image/gif" in first) == (attachments, False)
    assert ("image/png" in second, "image/gif" in second) == (attachments, attachments)
    kept = (await read("r-1.1", store=store)).started.attachments
    assert [it.data for it in kept] == [PICTURE.data] * attachments
    await replay(agent, "r", store=store)


@pytest.mark.parametrize("text", ["", "a map of Malta"])
async def test_one_that_the_other_model_does_not_take_is_told_to_the_first(text: str) -> None:
    agent = asking(Looks(), attachments=True)
    picture = Image("image/png", PICTURE.data, text)
    await run(agent, ["What is it?", picture], run_id="r", store=(store := MemoryStore()))
    (seen,) = [
        call.observation
        for step in (await read("r", store=store)).steps
        for call in step.all_calls
        if call.observation and call.child
    ]
    if text:
        assert seen.ok
    else:
        assert "looks:1 takes no pictures of the type image/png: give it a text" in seen.text
        assert (seen.ok, seen.outcome) == (False, "not_done")
