"""What a local model takes of the memory: python -m live.memory GGUF prints it, as JSON."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import anyio
import msgspec
import psutil

from clew import ModelSettings
from clew.core.prompts import Part, Prompt
from clew_local import LocalModel, LocalSettings, local_model, read_header
from durability.progress import tell

FILE: Final = Path(__file__).with_name("outcomes") / "memory.json"
CONTEXT: Final = 4_096
SLOTS: Final = 2
WORDS: Final = 1_500
"""Of each of two prompts that are read at once."""


class Memory(msgspec.Struct, frozen=True):
    """Bytes: of the file, of the cache of all slots, of the process before and at the end."""

    model: str
    file: int
    cache: int
    before: int
    after: int

    @property
    def beyond(self) -> int:
        """What the process took beside file, cache, and what it had before."""
        return self.after - self.before - self.file - self.cache


def read() -> Memory | None:
    """What was measured."""
    return msgspec.json.decode(FILE.read_bytes(), type=Memory) if FILE.exists() else None


def measure(gguf: Path) -> None:
    """Measure it in a process of its own, which has loaded nothing yet."""
    ran = subprocess.run(
        [sys.executable, "-m", "live.memory", str(gguf)], check=True, stdout=subprocess.PIPE
    )
    FILE.write_bytes(msgspec.json.format(ran.stdout) + b"\n")
    decoded = msgspec.json.decode(ran.stdout, type=Memory)
    tell(f"memory beyond the file and its context: {decoded.beyond / 2**20:.0f} MB\n")


def section() -> str:
    """What it takes."""
    record, lines = read(), ["## Memory", ""]
    if record is None:
        return "\n".join([*lines, "Not run (`make live GGUF=… PARTS=memory`)."])
    file, cache, beyond = (size / 2**20 for size in (record.file, record.cache, record.beyond))
    lines.append(
        f"A process that loads the file ({file:,.0f} MB) for {SLOTS} runs of {CONTEXT:,} tokens "
        f"each ({cache:,.0f} MB), and reads two prompts of {WORDS:,} words at once, takes "
        f"{beyond:,.0f} MB more than it had before (aim: at most 300 MB)."
    )
    return "\n".join(lines)


async def _replies(model: LocalModel) -> None:
    async with anyio.create_task_group() as tasks:
        for word in ("word ", "text "):
            prompt = Prompt((Part("user", word * WORDS),), ())
            tasks.start_soon(model.complete, prompt)
    await model.close()


def main(gguf: str) -> None:
    """Print what this process takes."""
    take = LocalSettings(CONTEXT, SLOTS, grammar=False)
    model = local_model(gguf, take=take, settings=ModelSettings(max_tokens=20))
    before, header = psutil.Process().memory_info().rss, read_header(Path(gguf))
    anyio.run(_replies, model)
    cache = header.cache_bytes * CONTEXT * SLOTS
    after = psutil.Process().memory_info().rss
    memory = Memory(Path(gguf).name, header.size, cache, before, after)
    sys.stdout.buffer.write(msgspec.json.encode(memory))


if __name__ == "__main__":
    main(sys.argv[1])
