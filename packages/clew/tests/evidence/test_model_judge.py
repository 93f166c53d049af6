"""A model of the user's own beside the rules: given to `Grounded` as it is."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clew import Agent, MemoryStore, Observation, read, replay, run, tool
from clew.agent_files import load_agent
from clew.core.contents import Evidence, Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.evidence import CANNOT_ANSWER, Grounded
from clew.testing.models import ScriptedModel, act, say

pytestmark = pytest.mark.anyio


@dataclass
class Judge:
    """A model that gives these replies in turn, and remembers what it was asked."""

    replies: list[str]
    prompts: list[Prompt] = field(default_factory=list[Prompt])
    info: ModelInfo = field(default_factory=lambda: ModelInfo("scripted:judge"))

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.prompts.append(prompt)
        return Reply(self.replies[len(self.prompts) - 1])


TEXT = "The tower of Skarn was built by Ottilie Brandt in 1868."
RIGHT = "Ottilie Brandt built it [doc_1]."


@tool(effect="read")
def search(query: str) -> Observation:
    """Search the notes."""
    piece = Evidence("doc_1", TEXT, 0.9, "")
    return Observation(content={"results": [{"doc_id": "doc_1"}]}, evidence=(piece,))


def agent(judge: Judge, *answers: str) -> Agent:
    model = ScriptedModel([act("search", query="it"), *map(say, answers), *[say(answers[-1])] * 4])
    checks = [Grounded(entails=judge)]
    return Agent(model=model, tools=[search], checks=checks, fallback=CANNOT_ANSWER)


@pytest.mark.parametrize("reply", ["entails", "Entails.", "**entails**: it says so", " ENTAILS\n"])
async def test_an_answer_passes_that_the_model_finds_borne_out(reply: str) -> None:
    judge = Judge([reply] * 5)
    result = await run(agent(judge, RIGHT), "Who built it?", store=MemoryStore())
    assert result.answer == RIGHT
    prompt = judge.prompts[0]
    shown = "".join(part.text for part in prompt)
    assert TEXT in shown
    assert "Ottilie Brandt built it" in shown


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("contradicts", "contradict it"),
        ("Contradicts!", "contradict it"),
        ("neither", "do not say it"),
        ("yes", "do not say it"),
        ("it entails it", "do not say it"),
        ("", "do not say it"),
    ],
)
async def test_anything_else_rejects_it(reply: str, why: str) -> None:
    judge, store = Judge([reply] * 5), MemoryStore()
    result = await run(agent(judge, RIGHT), "Who built it?", store=store)
    assert result.answer == CANNOT_ANSWER
    record = await read(result.run_id, store=store)
    assert why in str([entry.event for entry in record.entries])


async def test_what_the_rules_reject_is_not_shown_to_the_model() -> None:
    judge = Judge([])
    result = await run(agent(judge, "Anna Lind built it [doc_1]."), "Who?", store=MemoryStore())
    assert result.answer == CANNOT_ANSWER
    assert judge.prompts == []


async def test_a_replay_asks_the_model_no_more() -> None:
    judge, store = Judge(["contradicts", "entails"]), MemoryStore()
    one = agent(judge, RIGHT, "It was built by Ottilie Brandt [doc_1].")
    result = await run(one, "Who built it?", store=store)
    assert result.answer == "It was built by Ottilie Brandt [doc_1]."
    assert len(judge.prompts) == 2
    await replay(one, result.run_id, store=store)
    assert len(judge.prompts) == 2


def test_the_record_names_the_model() -> None:
    judge = Judge([])
    assert repr(Grounded(entails=judge)).endswith(f"entails={judge.info.name!r})")


async def test_an_agent_file_names_a_check_with_a_model(tmp_path: Path) -> None:
    (tmp_path / "judging.py").write_text(
        "from clew.evidence import Grounded\n"
        "from tests.evidence.test_model_judge import Judge\n"
        "meant = Grounded(entails=Judge(['contradicts']))\n"
    )
    file = tmp_path / "agent.toml"
    file.write_text('model = "offline"\nchecks = ["judging:meant"]\n')
    (check,) = load_agent(file).agent.checks
    assert repr(check).endswith("entails='scripted:judge')")
