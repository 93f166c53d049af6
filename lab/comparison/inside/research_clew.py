"""The research script in clew: five look-ups at once, citations, a budget, and what it cost."""

import json
import sys

import library

from clew import Agent, Evidence, Limits, Observation, run_sync, tool
from clew.evidence import Grounded

# --- begins


@tool(effect="read")
def look_up(city: str) -> Observation:
    """Look a city up."""
    piece = Evidence(city, library.look_up(city), 1.0, city)
    return Observation(content={"doc_id": city, "text": piece.text}, evidence=(piece,))


research = Agent(
    "openai:gpt-4.1-mini", [look_up], prompt="Answer from the library. Cite as [city].",
    checks=[Grounded()], limits=Limits(cost=0.01), store="runs.sqlite",
)  # fmt: skip

if __name__ == "__main__":
    result = run_sync(research, sys.argv[1], session="research", request="1")
    print(json.dumps([result.status, str(result), (result.usage + result.lost).cost]))
