"""What a person last asked is said again where much has followed it: their words, and no others."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, resume, run, tool
from clew.context.view import RESTATE_CHARS
from clew.testing.models import act, say
from tests.core.watched import watched

QUESTION, WORDS = "The question again: Where is Ulm?", "The person's last words again: And Graz?"


@tool(effect="read")
def page(number: int) -> str:
    """Read a page."""
    return f"{number}:\n" + "It stands on the river.\n" * (RESTATE_CHARS // 20)


@tool(effect="read")
def line(number: int) -> str:
    """Read a line."""
    return f"line {number}"


def tails(model: Any) -> list[str]:
    """What stands at the end of each prompt of what a person said."""
    ends = ["\n".join(part.text for part in prompt.tail) for prompt in model.sent]
    said = ("The question again:", "The person's last words again:")
    return [
        end.removeprefix("NOTE: ") if any(words in end for words in said) else "" for end in ends
    ]


async def test_the_question_is_said_again_after_a_long_page_and_not_after_a_line() -> None:
    model = watched(act("line", number=1), act("page", number=1), act("line", number=2), say("ok"))
    await run(Agent(model, [page, line]), "Where is Ulm?", store=MemoryStore())
    assert tails(model) == ["", "", QUESTION, ""]


async def test_later_words_take_the_place_of_the_question() -> None:
    model = watched(say("In the south."), act("line", number=1), act("page", number=1), say("ok"))
    agent, store = Agent(model, [page, line]), MemoryStore()
    found = await run(agent, "Where is Ulm?", store=store)
    await resume(agent, found.run_id, say="And Graz?", store=store)
    assert tails(model) == ["", "", "", WORDS]


@pytest.mark.parametrize("again", [1, 2])
async def test_what_a_check_says_are_no_words_of_a_person(again: int) -> None:
    def short(answer: str, _: object) -> str | None:
        return "say where" if answer == "no" else None

    model = watched(*[say("no")] * again, act("page", number=1), say("ok"))
    agent = Agent(model, [page, line], checks=[short])
    found = await run(agent, "Where is Ulm?", store=MemoryStore())
    assert found.answer == "ok"
    assert tails(model)[-1] == QUESTION
