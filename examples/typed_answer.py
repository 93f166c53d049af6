"""An answer of your own type, checked by its schema and by you, asked for again where it fails.

Nothing is coerced: `"1797"` is no int. A rejected answer goes back `tries` times; after one more
rejection the `fallback` stands in, and the result says so. Prints:

    ERROR: invalid_arguments: answer.born: "1797" is a string, an integer is required. …
    ERROR: rejected: nobody dies before being born
    Life(name='Mary Shelley', born=1797, died=1851)
"""

from dataclasses import dataclass

from clew import Agent, MemoryStore, Trajectory, run_sync, sync
from clew.testing import ScriptedModel, finish


@dataclass(frozen=True)
class Life:
    """What is to be found out."""

    name: str
    born: int
    died: int


async def in_order(answer: Life, trajectory: Trajectory) -> str | None:
    """Say what is wrong with an answer, or None."""
    return "nobody dies before being born" if answer.died < answer.born else None


MODEL = ScriptedModel(
    [
        finish({"name": "Mary Shelley", "born": "1797", "died": 1851}),
        finish({"name": "Mary Shelley", "born": 1851, "died": 1797}),
        finish({"name": "Mary Shelley", "born": 1797, "died": 1851}),
    ],
    answer=Life,
)


def main() -> None:
    store = MemoryStore()
    agent = Agent(model=MODEL, answer=Life, checks=[in_order], tries=2)
    result = run_sync(agent, "When did Mary Shelley live?", store=store)
    for call in sync.read(result.run_id, store=store).calls:
        if call.observation and not call.observation.ok:
            print(call.observation.text)
    print(result.answer)


if __name__ == "__main__":
    main()
