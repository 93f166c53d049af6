"""A run of thirty steps: how much of each prompt the server need not read again.

And a run of as many reads, whose replies are scripted, in a window that does not hold it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
from msgspec.structs import replace

from clew import (
    Agent,
    Compaction,
    Context,
    Limits,
    MemoryStore,
    ModelSettings,
    Trajectory,
    run,
    tool,
)
from clew.core.contents import Reply
from clew.core.events import Compacted
from clew.core.journal import load
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish
from clew_evals.gold import FOREIGN
from clew_local import LocalSettings, local_model
from durability.progress import tell
from live.ask import Asker
from live.configurations import BASE, SECONDS, TABLE
from live.outcomes import sum_of

FILE: Final = Path(__file__).with_name("outcomes") / "long.json"
STEPS: Final = 30
CONTEXT: Final = 16_384
LENGTH: Final = 400
"""Characters of a page that is read."""
WINDOWED: Final = FILE.with_name("window.json")
WINDOW: Final = 3_000
"""Tokens of the window that is too small."""
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
        return [pair for index, pair in enumerate(pairs) if index and index not in self.shorter]

    @property
    def share(self) -> float:
        """The cached share of these prompts."""
        return sum(cached for _, cached in self.grown) / sum(size for size, _ in self.grown)

    @property
    def again(self) -> float:
        """The cached share of what stood in the prompt before already, in these prompts."""
        paths = [n for n in range(1, len(self.input)) if n not in self.shorter]
        return sum(min(self.cached[n], self.input[n - 1]) for n in paths) / sum(
            self.input[n - 1] for n in paths
        )


def read(file: Path | None = None) -> Long | None:
    """What was measured."""
    file = file or FILE
    return msgspec.json.decode(file.read_bytes(), type=Long) if file.exists() else None


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
            guards=[Provenance("off")],
        )
        try:
            done = await run(agent, QUESTION, store=asker.store)
            record = await load(asker.store, done.run_id)
        finally:
            await asker.close()
    long_run = _measured(record, asker.sha256, asker.gguf)
    keep(long_run, FILE)
    tell(f"{len(long_run.input)} steps, {long_run.share:.1%} cached from step 2\n")


@dataclass
class Scripted:
    """A real model that reads each prompt; what it would say to it is left out.

    So the server has a prompt in its cache, and not the reply that stands in the next one.
    """

    model: Model
    replies: int = 0

    @property
    def info(self) -> ModelInfo:
        return self.model.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Read the next page; after the last one answer."""
        taken = await self.model.complete(prompt, None)
        self.replies += 1
        over = self.replies > STEPS
        move = finish("None.") if over else act("page", number=self.replies)
        writer = ScriptedModel([], codec="json", tools=[page])
        return replace(writer.written(move, self.replies), usage=taken.usage)


async def measure_window(gguf: Path, threads: int) -> None:
    """Read all pages in a small window, by a script, and keep what the prompts took."""
    take = LocalSettings(CONTEXT, 1, threads, grammar=False)
    model = local_model(str(gguf), take=take, settings=ModelSettings(max_tokens=2, temperature=0))
    agent = Agent(
        Scripted(model),
        [page],
        codec="json",
        limits=Limits(steps=2 * STEPS, tool_calls=2 * STEPS, seconds=SECONDS),
        context=Context(compaction=Compaction(window=WINDOW)),
        guards=[Provenance("off")],
    )
    store = MemoryStore()
    try:
        done = await run(agent, QUESTION, store=store)
        record = await load(store, done.run_id)
    finally:
        await model.close()
    long_run = _measured(record, sum_of(gguf), gguf)
    keep(long_run, WINDOWED)
    tell(f"{len(long_run.input)} steps, {long_run.again:.1%} of what was sent before cached\n")


def _measured(record: Trajectory, sha256: str, gguf: Path) -> Long:
    """What the prompts of a run took."""
    usages = [step.thought.reply.usage for step in record.steps if step.thought is not None]
    less = [step.number for step in record.steps for one in step.notices if _shortens(one)]
    return Long(
        sha256,
        gguf.stem,
        tuple(one.input for one in usages),
        tuple(one.cached for one in usages),
        tuple(dict.fromkeys(less)),
    )


def keep(record: Long, file: Path) -> None:
    """Write what was measured."""
    file.write_bytes(msgspec.json.format(msgspec.json.encode(record)) + b"\n")


def _shortens(notice: object) -> bool:
    """Whether a notice changes what was shown; its step is the place of the next prompt."""
    return isinstance(notice, Compacted)


@tool(effect="read")
def page(number: int) -> str:
    """Read a page by its number, from 1 to 30."""
    pages = sorted(FOREIGN.iterdir())[:STEPS]
    if not 1 <= number <= len(pages):
        return "there is no such page"
    return pages[number - 1].read_text(encoding="utf-8")[:LENGTH]


def all_read(answer: object, trajectory: Trajectory) -> str:
    """Let the run go on as long as a page is left."""
    read_ones = {call.action.args.get("number") for call in trajectory.calls}
    left = [number for number in range(1, STEPS + 1) if number not in read_ones]
    return f"page {left[0]} is not read yet" if left else ""


def section() -> str:
    """What a long run gives."""
    record, lines = read(), ["## The cache of a long run", ""]
    if record is None:
        return "\n".join([*lines, "Not run (`make live GGUF=… PARTS=long`)."])
    met = "met" if record.share >= AIM else "**missed**"
    lowest = min(cached / size for size, cached in record.grown)
    lines.append(
        f"`make live GGUF=… PARTS=long`: a run of {len(record.input)} steps that was to read pages "
        "one after the other. By the size of its steps it mostly answered instead, and was sent "
        f"back; its last prompt has {record.input[-1]:,} tokens. From step 2 on "
        f"{record.share:.1%} of all prompt tokens came from the server's cache (aim: at least "
        f"{AIM:.0%}, {met}), at no step less than {lowest:.1%}."
    )
    if (small := read(WINDOWED)) is not None:
        met = "met" if small.again >= AIM else "**missed**"
        lines += ["", (
            f"`PARTS=window`: a run of {len(small.input)} steps, whose replies are scripted, in a "
            f"window of {WINDOW:,} tokens. It was made shorter {len(small.shorter)} "
            f"times, and no prompt took more than {max(small.input):,} tokens. Between these times "
            f"{small.again:.1%} of what had been sent before came from the cache (aim: at least "
            f"{AIM:.0%}, {met}). That is {small.share:.1%} of all tokens of these prompts, where "
            f"{AIM:.0%} would be {'met' if small.share >= AIM else 'missed'}: the others are new."
        )]  # fmt: skip
    return "\n".join(lines)
