"""Test an agent of your own: a scripted model plays it, a faulty one tries to break it.

Tools, guards, limits, checks and the record are the real ones; only the model is replaced. A line
of the script may be a function of the prompt, to look at what the model would have seen. Prints:

    the prompt held the observation
    20 faulty models: 20 stops, nothing booked twice
"""

from collections import Counter

from clew import Agent, Limits, MemoryStore, Result, run_sync, tool
from clew.interfaces import Prompt
from clew.testing import FaultyModel, Line, Move, ScriptedModel, act, finish

BOOKED: Counter[str] = Counter()


@tool(effect="read")
def free_rooms(day: str) -> list[str]:
    """List the free rooms of a day."""
    return ["blue", "green"]


@tool(effect="unsafe")
def book(room: str) -> str:
    """Book a room."""
    BOOKED[room] += 1
    return f"{room} is booked"


def book_what_was_seen(prompt: Prompt) -> Move:
    assert '["blue","green"]' in [part.text for part in prompt]
    print("the prompt held the observation")
    return act("book", room="green")


def ask(model: ScriptedModel | FaultyModel) -> Result:
    limits = Limits(steps=8, calls_per_tool={"book": 1})
    agent = Agent(model=model, tools=[free_rooms, book], limits=limits)
    return run_sync(agent, "Book a room for Monday", store=MemoryStore())


def main() -> None:
    look, book_green = act("free_rooms", day="Monday"), act("book", room="green")
    script: list[Line] = [look, book_what_was_seen, finish("the green room")]
    result = ask(ScriptedModel(script, plan=[book_green]))  # all that the request calls for
    assert (result.answer, result.steps, BOOKED["green"]) == ("the green room", 3, 1)
    plain = ScriptedModel([look, book_green, finish("the green room")])
    stops = list[str]()
    for seed in range(20):
        BOOKED.clear()
        stops.append(ask(FaultyModel(plain, seed=seed, rate=0.5)).status)
        assert BOOKED.total() <= 1
    print(f"20 faulty models: {len(stops)} stops, nothing booked twice")


if __name__ == "__main__":
    main()
