"""A typed function as a tool: strict arguments, errors that teach, and what the model reads.

`effect` says what a call does to the world; without it a tool counts as `unsafe`. A `ToolError` is
for the model, and promises that nothing was done. Prints:

    population(city="Atlantis") -> ERROR: tool_error: no such city; there are Vienna, Warsaw
    population(city="Vienna", year="2024") -> ERROR: invalid_arguments: …
    population(city="Vienna", year=2024) -> 2006000
    answered: about two million
"""

from clew import Agent, Call, MemoryStore, ToolError, run_sync, sync, tool
from clew.interfaces import encode
from clew.testing import ScriptedModel, act, finish

PEOPLE = {"Vienna": 2_006_000, "Warsaw": 1_860_000}


@tool(effect="read", timeout=5)
def population(city: str, year: int = 2024) -> int:
    """How many people live in a city.

    Args:
        city: Its English name.
        year: The year of the count.
    """
    if city not in PEOPLE:
        raise ToolError(f"no such city; there are {', '.join(PEOPLE)}")
    return PEOPLE[city] if year >= 2023 else 0


MODEL = ScriptedModel(
    [
        act("population", city="Atlantis"),
        act("population", city="Vienna", year="2024"),
        act("population", city="Vienna", year=2024),
        finish("about two million"),
    ]
)


def written(call: Call) -> str:
    args = ", ".join(f"{name}={encode(value).decode()}" for name, value in call.args.items())
    return f"{call.action.name}({args})"


def main() -> None:
    store = MemoryStore()
    result = run_sync(Agent(model=MODEL, tools=[population]), "How big is Vienna?", store=store)
    for call in sync.read(result.run_id, store=store).calls:
        if call.observation and call.action.name != "finish":
            print(f"{written(call)} -> {call.observation.text}")
    print(f"{result.status}: {result.answer}")


if __name__ == "__main__":
    main()
