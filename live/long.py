"""A run of thirty steps: how much of each prompt the server need not read again."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from clew import Agent, Limits, Trajectory, run, tool
from clew.core.journal import load
from clew.evals.gold import FOREIGN
from durability.progress import tell
from live.ask import Asker
from live.configurations import BASE, SECONDS, TABLE

FILE: Final = Path(__file__).with_name("outcomes") / "long.json"
STEPS: Final = 30
CONTEXT: Final = 16_384
LENGTH: Final = 400
"""Characters of a page that is read."""
AIM: Final = 0.95
QUESTION: Final = (
    "Read page 1, then page 2, and so on, one after the other, until all 30 are read. "
    "How many of them are lists?"
)


class Long(msgspec.Struct, frozen=True):
    """The tokens of each step's prompt, and how many of them came from the cache."""

    sha256: str
    model: str
    input: tuple[int, ...]
    cached: tuple[int, ...]

    @property
    def share(self) -> float:
        """The cached share of all prompts but the first."""
        return sum(self.cached[1:]) / sum(self.input[1:])


def read() -> Long | None:
    """What was measured."""
    return msgspec.json.decode(FILE.read_bytes(), type=Long) if FILE.exists() else None


async def measure(made: Callable[[Path], Asker]) -> None:
    """Ask once, with the base of all configurations, and keep what the steps took."""
    (base,) = (one for one in TABLE if one.name == BASE)
    with TemporaryDirectory() as folder:
        asker = made(Path(folder) / "records.sqlite")
        agent = Agent(
            asker.model(base),
            [page],
            limits=Limits(steps=STEPS, seconds=SECONDS),
            checks=[all_read],
            tries=STEPS,
        )
        try:
            done = await run(agent, QUESTION, store=asker.store)
            record = await load(asker.store, done.run_id)
        finally:
            await asker.close()
    usages = [step.thought.reply.usage for step in record.steps if step.thought is not None]
    found = Long(
        asker.sha256,
        asker.gguf.stem,
        tuple(one.input for one in usages),
        tuple(one.cached for one in usages),
    )
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
    tell(f"{len(usages)} steps, {found.share:.1%} cached from step 2\n")


@tool(effect="read")
def page(number: int) -> str:
    """Read a page by its number, from 1 to 30."""
    pages = sorted(FOREIGN.iterdir())[:STEPS]
    if not 1 <= number <= len(pages):
        return "there is no such page"
    return pages[number - 1].read_text(encoding="utf-8")[:LENGTH]


def all_read(answer: object, so_far: Trajectory) -> str:
    """Let the run go on as long as a page is left."""
    read_ones = {call.action.args.get("number") for call in so_far.calls}
    left = [number for number in range(1, STEPS + 1) if number not in read_ones]
    return f"page {left[0]} is not read yet" if left else ""


def section() -> str:
    """What a long run gives."""
    found, lines = read(), ["## The cache of a long run", ""]
    if found is None:
        return "\n".join([*lines, "Not run (`make live GGUF=… PARTS=long`)."])
    met = "met" if found.share >= AIM else "**missed**"
    least = min(c / i for c, i in zip(found.cached[1:], found.input[1:], strict=True))
    lines.append(
        f"`make live GGUF=… PARTS=long`: a run of {len(found.input)} steps that reads pages one "
        f"after the other; its last prompt has {found.input[-1]:,} tokens. From step 2 on "
        f"{found.share:.1%} of all prompt tokens came from the server's cache (aim: at least "
        f"{AIM:.0%}, {met}), at no step less than {least:.1%}."
    )
    return "\n".join(lines)
