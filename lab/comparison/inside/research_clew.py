"""The research script in clew: five look-ups at once, citations, a budget, and what it cost."""

import json
import sys

import library

from clew import Agent, Evidence, Limits, Observation, run_sync, tool
from clew.evidence import Grounded

# --- begins


@tool(effect="read")
def look_up(place: str) -> Observation:
    """Look a place up."""
    piece = Evidence(place, library.look_up(place), 1.0, place)
    return Observation(content={"doc_id": place, "text": piece.text}, evidence=(piece,))


research = Agent(
    "openai:gpt-4.1-mini", [look_up], prompt="Answer from the library. Cite as [place].",
    checks=[Grounded()], limits=Limits(cost=0.01), store="runs.sqlite",
)  # fmt: skip

if __name__ == "__main__":
    result = run_sync(research, sys.argv[1], session="research", request="1")
    print(json.dumps([result.status, str(result), (result.usage + result.lost).cost]))
