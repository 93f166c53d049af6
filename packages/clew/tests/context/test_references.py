"""What a later action refers to is still in view, or found; and a checker that says so."""

import pytest

import clew
from benchmarks.context.references import Conversation, Reference
from clew import Agent, MemoryStore, ToolError
from clew.core.trajectory import Trajectory
from clew.testing.models import Move, ScriptedModel, act, say
from clew.tools.recall import recall, recall_tools

SPELLED = {
    "get_first_name": "def get_first_name(self): return self.words[0]",
    "values": "The values were high.",
    "src/ship/log_2024-05.txt": "see src/ship/log_2024-05.txt for the rest",
    "Ship": "class Ship: the one with a mast",
}


@clew.tool(effect="read")
def read(what: str) -> str:
    """Read about it."""
    return SPELLED.get(what, "get the first value of a name, ship by ship, in a log of 2024")


@clew.tool(effect="read")
def write(text: str) -> str:
    """Write it down."""
    return "written"


async def record(*moves: Move) -> Trajectory:
    store = MemoryStore()
    model = ScriptedModel([*moves, say("ok")])
    result = await clew.run(Agent(model, [read, write]), "About the harbour.", store=store)
    return await clew.read(result.run_id, store=store)


@pytest.mark.parametrize("name", SPELLED)
async def test_recall_finds_a_name_as_it_is_spelled(name: str) -> None:
    """An index of words takes it for other words; there is more that has those."""
    noise = [act("read", what=f"{number}") for number in range(8)]
    others = [act("read", what=other) for other in SPELLED]
    done = await record(*others, *noise)
    found = recall(done, name).text.split("\n\n")
    assert any(SPELLED[name] in one for one in found)


async def test_words_of_no_name_are_found_as_before() -> None:
    done = await record(act("read", what="a"), act("read", what="values"))
    assert "The values were" in recall(done, "where is a high value?").text.split("\n\n")[0]
    assert recall(done, "_?").text == "no earlier result has words of '_?'"
    with pytest.raises(ToolError):
        recall_tools(2_000)[1].call({"query": "x"}, "k:1.1")


async def test_a_reference_is_what_an_action_took_from_an_earlier_result() -> None:
    done = await record(
        act("read", what="get_first_name"),
        act("write", text="In the harbour: self.words and get_first_name, not last_name."),
    )
    conversation = Conversation(done)
    assert conversation.references == [Reference(2, "self.words"), Reference(2, "get_first_name")]
    assert all(map(conversation.recalls, conversation.references))
    assert not conversation.recalls(Reference(2, "last_name"))
    assert not conversation.recalls(Reference(1, "self.words")), "it came later"
    assert conversation.readable(Reference(2, "self.words"), 'read_more("1.1") shows them')
    assert not conversation.readable(Reference(2, "self.words"), 'read_more("2.1") shows them')
