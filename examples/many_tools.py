"""Forty tools, of which a model sees the four that match what is to be done next, and earlier ones.

A scripted demonstration: a script plays the model, and the search among the tools is real. Prints:

    (a script plays the model)
    added before thought 1, of 41 tools: book_bicycle, …
    added before thought 2, of 41 tools: weigh_violin
    answered: Both are done.
"""

from typing import Any

from clew import Agent, Context, MemoryStore, Tool, run_sync, sync
from clew.testing import ScriptedModel, act, finish
from clew.toolbox import calc
from clew.tools.retrieval import Retrieval

NOUNS = ["bicycle", "ferry", "invoice", "passport", "violin", "bakery", "canoe", "boat"]
VERBS = ["book", "rent", "paint", "weigh", "sell"]


def made(verb: str, noun: str) -> Tool:
    """A tool of a large catalogue."""

    async def call(args: dict[str, Any], key: str) -> str:
        return f"{verb}: {args[noun]}"

    parameters = {"type": "object", "properties": {noun: {"type": "string"}}, "required": [noun]}
    return Tool(f"{verb}_{noun}", f"{verb} a {noun}", parameters, call, effect="read")


def main() -> None:
    print("(a script plays the model)")
    catalogue = [made(verb, noun) for verb in VERBS for noun in NOUNS]
    bicycle = act(
        "book_bicycle", thought="First the bicycle. Then I weigh a violin.", bicycle="red"
    )
    model = ScriptedModel([bicycle, act("weigh_violin", violin="old"), finish("Both are done.")])
    retrieval = Retrieval(k=4, always=["calc"], embed="words")
    agent = Agent(model, [calc(), *catalogue], context=Context(retrieval=retrieval))
    store = MemoryStore()
    result = run_sync(agent, "Please book me a bicycle.", store=store)
    for number, step in enumerate(sync.read(result.run_id, store=store).steps[:2], start=1):
        shown = sorted((step.thought and step.thought.visible_tools) or ())
        print(f"added before thought {number}, of {len(agent.tools)} tools: {', '.join(shown)}")
    print(f"{result.status}: {result.answer}")


if __name__ == "__main__":
    main()
