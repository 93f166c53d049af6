"""Run a record again without a single call, and learn where another agent would differ.

Model, tools, guards and the clock answer from the record; whatever the loop derives is compared
with it, byte by byte. Prints:

    thrown 2 times: it was what it was
    replayed 8 entries and 3 steps; thrown 2 times
    another prompt: step 0, spec.prompt: the agent has another prompt than the record
"""

import random

from clew import Agent, MemoryStore, ReplayError, run_sync, sync, tool
from clew.testing import ScriptedModel, act, finish

THROWN: list[int] = []


@tool(effect="read")
def throw_dice() -> int:
    """Throw a die."""
    THROWN.append(random.randint(1, 6))
    return THROWN[-1]


AGENT = Agent(
    model=ScriptedModel([act("throw_dice"), act("throw_dice"), finish("it was what it was")]),
    tools=[throw_dice],
)


def main() -> None:
    store = MemoryStore()
    result = run_sync(AGENT, "Throw twice", store=store)
    print(f"thrown {len(THROWN)} times: {result.answer}")
    again = sync.replay(AGENT, result.run_id, store=store).trajectory
    print(f"replayed {len(again)} entries and {len(again.steps)} steps; thrown {len(THROWN)} times")
    try:
        sync.replay(AGENT.replace(prompt="Be brief."), result.run_id, store=store)
    except ReplayError as error:
        print(f"another prompt: {error}")


if __name__ == "__main__":
    main()
