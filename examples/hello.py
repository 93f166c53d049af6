"""Ask a folder of documents, offline: the answer, what it cites, and the way there.

The model `offline` is a set of fixed rules, no language model. Put "openai:gpt-4.1-mini" in its
place, with a key in the environment, and nothing else changes. Prints:

    20 – Mary Shelley: She was born in London on 30 August 1797 and … 1 January 1818, …
    (answered by clew's offline rules, not by a language model)
    [doc_6] mary-shelley.md
    [doc_4] frankenstein.md
    planner, docs, docs, calc, finish
"""

from pathlib import Path

from clew import Agent, MemoryStore, run_sync, sync
from clew.toolbox import calc, planner
from clew.toolbox.docs import docs_tools

LIBRARY = Path(__file__).parent / "library"
QUESTION = "How old was Mary Shelley when Frankenstein was published?"


def main() -> None:
    store = MemoryStore()  # leave it out, and records lie in a file in your data folder
    agent = Agent(model="offline", tools=[calc(), planner(), *docs_tools(LIBRARY)])
    result = run_sync(agent, QUESTION, store=store)
    print(result.answer)
    print(f"({result.note})")
    for piece in result.cited:
        print(f"[{piece.doc_id}] {piece.source}")
    record = sync.read(result.run_id, store=store)
    print(", ".join(call.action.name for call in record.calls))


if __name__ == "__main__":
    main()
