"""A run of thirty steps: how much of each prompt the server need not read again.

The same in a window that does not hold it, which leaves out what it must now and then.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec

from clew import Agent, Compaction, Context, Limits, Tool, Trajectory, run, tool
from clew.core.events import Compacted
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
WINDOWED: Final = FILE.with_name("window.json")
WINDOW: Final = 3_000
"""Tokens of the window that is too small."""
LONGER: Final = 1_000
"""Characters of a page that is read in it."""
AIM: Final = 0.95
QUESTION: Final = (
    "Read page 1, then page 2, and so on, one after the other, until all 30 are read. "
    "How many of them are lists?"
)


class Long(msgspec.Struct, frozen=True):
    """The tokens of each step's prompt, and how many of them came from the cache.

    `shorter` are the places of the prompts that begin otherwise than the ones before them.
    """

    sha256: str
    model: str
    input: tuple[int, ...]
    cached: tuple[int, ...]
    shorter: tuple[int, ...] = ()

    @property
    def grown(self) -> list[tuple[int, int]]:
        """Tokens, and cached ones, of the prompts that begin with the whole of the one before."""
        pairs = list(zip(self.input, self.cached, strict=True))
        return [pair for place, pair in enumerate(pairs) if place and place not in self.shorter]

    @property
    def share(self) -> float:
        """The cached share of these prompts."""
        return sum(cached for _, cached in self.grown) / sum(size for size, _ in self.grown)


def read(file: Path | None = None) -> Long | None:
    """What was measured."""
    file = file or FILE
    return msgspec.json.decode(file.read_bytes(), type=Long) if file.exists() else None


async def measure(
    made: Callable[[Path], Asker], file: Path | None = None, window: int | None = None
) -> None:
    """Ask once, with the base of all configurations, and keep what the steps took."""
    (base,) = (one for one in TABLE if one.name == BASE)
    with TemporaryDirectory() as folder:
        asker = made(Path(folder) / "records.sqlite")
        agent = Agent(
            asker.model(base),
            [pages(LENGTH if window is None else LONGER)],
            limits=Limits(steps=STEPS, seconds=SECONDS),
            checks=[all_read],
            tries=STEPS,
            context=Context(compaction=Compaction(window=window)),
        )
        try:
            done = await run(agent, QUESTION, store=asker.store)
            record = await load(asker.store, done.run_id)
        finally:
            await asker.close()
    usages = [step.thought.reply.usage for step in record.steps if step.thought is not None]
    less = [step.number for step in record.steps for one in step.notices if _shortens(one)]
    found = Long(
        asker.sha256,
        asker.gguf.stem,
        tuple(one.input for one in usages),
        tuple(one.cached for one in usages),
        tuple(dict.fromkeys(less)),
    )
    keep(found, file or FILE)
    tell(f"{len(usages)} steps, {found.share:.1%} cached from step 2\n")


def keep(found: Long, file: Path) -> None:
    """Write what was measured."""
    file.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")


def _shortens(notice: object) -> bool:
    """Whether a notice changes what was shown; its step is the place of the next prompt."""
    return isinstance(notice, Compacted)


def pages(length: int) -> Tool:
    """The tool that reads so many characters of a page."""

    @tool(effect="read")
    def page(number: int) -> str:
        """Read a page by its number, from 1 to 30."""
        there = sorted(FOREIGN.iterdir())[:STEPS]
        if not 1 <= number <= len(there):
            return "there is no such page"
        return there[number - 1].read_text(encoding="utf-8")[:length]

    return page


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
    least = min(cached / size for size, cached in found.grown)
    lines.append(
        f"`make live GGUF=… PARTS=long`: a run of {len(found.input)} steps that reads pages one "
        f"after the other; its last prompt has {found.input[-1]:,} tokens. From step 2 on "
        f"{found.share:.1%} of all prompt tokens came from the server's cache (aim: at least "
        f"{AIM:.0%}, {met}), at no step less than {least:.1%}."
    )
    if (small := read(WINDOWED)) is not None:
        met = "met" if small.share >= AIM else "**missed**"
        lines += ["", (
            f"`PARTS=window`: the same in a window of {WINDOW:,} tokens. The run of "
            f"{len(small.input)} steps was made shorter {len(small.shorter)} times, and no prompt "
            f"took more than {max(small.input):,} tokens. Between these times {small.share:.1%} of "
            f"all prompt tokens came from the cache (aim: at least {AIM:.0%}, {met})."
        )]  # fmt: skip
    return "\n".join(lines)
