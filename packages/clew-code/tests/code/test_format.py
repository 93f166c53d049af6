"""The format of programs, with what runs them."""

from clew import Agent, MemoryStore, run_sync, sync, tool
from clew.testing import ScriptedModel
from clew_code.codec.code import Code
from clew_code.programs import run_code

CODE = Code()


PROGRAM = "x = look('a')\nprint(x)"


@tool(effect="read")
def look(query: str, *, deep: bool = False) -> list[str]:
    """Look something up.

    Args:
        query: What to look for.
        deep: Whether to look twice.
    """
    return [query] * (1 + deep)


def test_a_run_shows_programs_and_what_they_print() -> None:
    replies = [
        f"I look.\n```python\n{PROGRAM}\n```",
        "```python\nprint('`' * 3)  # ```\n```",
        "Answer: done",
    ]
    model = ScriptedModel(replies)
    agent = Agent(model=model, tools=[look, run_code()], codec="code")
    store = MemoryStore()
    assert run_sync(agent, "?", store=store, run_id="r").answer == "done"
    record = sync.read("r", store=store)
    parts = [part.text for part in CODE.render(agent.engine.prompt_spec, record.steps[0])]
    assert parts == [f"Thought: I look.\n```python\n{PROGRAM}\n```", "Observation: ['a']"]
    parts = [part.text for part in CODE.render(agent.engine.prompt_spec, record.steps[1])]
    assert parts == ["````python\nprint('`' * 3)  # ```\n````", "Observation: ```"]
