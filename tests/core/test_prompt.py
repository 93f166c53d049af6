"""The prompt as a part: what it says, who decides that, and that the record can tell it again."""

from collections.abc import Sequence
from typing import Any

import pytest

from clew import Agent, Limits, MemoryStore, run
from clew.events import Thought
from clew.journal import load
from clew.protocols import Prompt
from clew.testing.models import Line, ScriptedModel, act
from tests.core.scenarios import TOOLS

pytestmark = pytest.mark.anyio


class Sent:
    """A scripted model's script that keeps every prompt it was sent."""

    def __init__(self, *script: Line) -> None:
        self.prompts: list[Prompt] = []
        self.script: Sequence[Line] = [self._keeping(line) for line in script]

    def _keeping(self, line: Line) -> Line:
        def keep(prompt: Prompt) -> Any:
            self.prompts.append(prompt)
            return line(prompt) if callable(line) else line

        return keep


ONE_STEP = Limits(steps=1)


@pytest.mark.parametrize(
    ("codec", "answer", "form"),
    [
        ("native", int, [None, {"type": "integer"}]),
        ("native", str, [None, None]),
        ("paper", int, [None, None]),
        ("labelled", int, [None, None]),
    ],
)
async def test_the_last_reply_of_a_typed_answer_is_held_to_its_schema(
    codec: str, answer: type, form: list[Any]
) -> None:
    last = {"native": "7", "paper": "Action 2: Finish[7]", "labelled": "Final Answer: 7"}[codec]
    sent = Sent(act("lookup", key="a"), last)
    model = ScriptedModel(sent.script, codec=codec, tools=TOOLS, answer=answer)
    agent = Agent(model=model, tools=TOOLS, codec=codec, answer=answer, limits=ONE_STEP)
    store = MemoryStore()
    result = await run(agent, "What?", store=store)
    assert (result.status, result.answer) == ("bound", answer(7))
    assert [prompt.form for prompt in sent.prompts] == form
    record = await load(store, result.run_id)
    prints = [e.event.prints.params for e in record.entries if isinstance(e.event, Thought)]
    assert (prints[0] == prints[1]) is (form[0] == form[1])
