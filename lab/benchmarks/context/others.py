"""The same long run under other systems' own compaction: their clients, one server that counts."""

import asyncio
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import platformdirs

import clew
from benchmarks.context.long_runs import FACT, breaks, page, page_text, shared
from benchmarks.context.page import PageFigures
from clew import Agent, Compaction, Context, Limits, MemoryStore
from clew.context.summary import ASKED
from clew.core.contents import Usage
from clew.core.values import encode
from clew.models.openai.chat import openai_chat
from clew_testing.servers.http_server import to_json
from clew_testing.servers.openai_server import Fail, OpenAIServer, Say, Send, reply
from durability.progress import tell
from live.others.systems import System, python_of, versions

STEPS: Final = 100
WINDOW: Final = 16_000
WHERE: Final = "Where is the ledger of the harbour master?"
PROGRAMS: Final = Path(__file__).with_name("inside")
ENVIRONMENTS: Final = Path(platformdirs.user_cache_dir("clew")) / "live"
"""Of other systems; `make live` makes some too."""
SUMMARY: Final = "The pages tell of the tide, day by day: it was calm, and nobody came. " * 10
OURS: Final = {
    "clew (default)": Compaction(window=WINDOW),
    "clew, `at=0.4`, `to=0.1`": Compaction(at=0.4, to=0.1, window=WINDOW),
    "clew, `duplicates`, `mask`, `summary`": Compaction(
        ("duplicates", "mask", "summary"), window=WINDOW
    ),
}
_PYDANTIC: Final = ("pydantic-ai-harness", "pydantic-ai-slim[openai]")
_LANGCHAIN: Final = ("langchain", "langchain-openai", "langgraph")
SYSTEMS: Final = (
    System(
        "Pydantic AI, `TieredCompaction`", _PYDANTIC, "compact_pydantic_ai", "tiered",
        "clears tool results, then sums up, down to 0.8 of the window",
    ),
    System(
        "Pydantic AI, `SummarizingCompaction`", _PYDANTIC, "compact_pydantic_ai", "summary",
        "from 0.9 of the window on, keeps 20 messages",
    ),
    System(
        "Pydantic AI, `SlidingWindowCompaction`", _PYDANTIC, "compact_pydantic_ai", "sliding",
        "from 0.9 of the window on, keeps 20 messages",
    ),
    System(
        "LangChain, `SummarizationMiddleware`", _LANGCHAIN, "compact_langchain", "summary",
        "from 0.8 of the window on, keeps 20 messages",
    ),
    System(
        "LangChain, the same, untrimmed", _LANGCHAIN, "compact_langchain", "untrimmed",
        "`trim_tokens_to_summarize=None`: by default it finds these messages too long to sum up",
    ),
    System(
        "LangChain, `ContextEditingMiddleware`", _LANGCHAIN, "compact_langchain", "editing",
        "from half of the window on, as 100,000 are of 200,000; keeps 3 results",
    ),
)  # fmt: skip


@dataclass
class Book:
    """The model behind the server: it reads a page a step, and sums up where it is asked to.

    Of a summary nobody can say what a model would keep: this one keeps the fact where it was shown.
    """

    last: Sequence[Say]
    steps: int = STEPS
    window: int = WINDOW
    sent: list[list[bytes]] = field(default_factory=list[list[bytes]])
    total: int = 0
    new: int = 0
    """Tokens that did not stand in the same place of the prompt before."""
    summaries: int = 0
    overflows: int = 0

    def __call__(self, body: dict[str, Any]) -> Send | Fail:
        """The next reply to a request, which is counted at four bytes a token."""
        now = [encode(body.get("tools") or []), *map(encode, body["messages"])]
        size = sum(map(len, now)) // 4
        if size > self.window:
            self.overflows += 1
            why = f"This model's maximum context length is {self.window} tokens: {size} were sent."
            return Fail(400, why, "context_length_exceeded")
        before = self.sent[-1] if self.sent else []
        self.total += size
        self.new += sum(map(len, now[shared(before, now) :])) // 4
        if asks_for_summary(body):
            self.summaries += 1
            text = f"{SUMMARY}{FACT if FACT.encode() in b''.join(now) else ''}"
            return self._sent(Say(text, usage=Usage(size, len(text) // 4)), body)
        self.sent.append(now)
        read = len(self.sent)
        reply = Say("", [("page", json.dumps({"number": read}))])
        if read > self.steps:
            reply = self.last[min(read - self.steps, len(self.last)) - 1]
        return self._sent(replace(reply, usage=Usage(size, 20)), body)

    def _sent(self, planned: Say, body: dict[str, Any]) -> Send:
        """The reply, its calls with ids that never come again: the other systems pair by them."""
        made = reply(planned, body)
        for call in made["choices"][0]["message"].get("tool_calls", ()):
            call["id"] = f"call_{len(self.sent)}"
        return Send(to_json(made))

    @property
    def weighed(self) -> int:
        """The tokens, where one that is read from a cache counts a tenth."""
        return self.new + (self.total - self.new) // 10

    @property
    def has_fact(self) -> bool:
        """Whether the last request has the fact of the third page."""
        return bool(self.sent) and FACT.encode() in b"".join(self.sent[-1])

    @property
    def largest(self) -> int:
        """The largest prompt of the run itself."""
        return max((sum(map(len, now)) // 4 for now in self.sent), default=0)


def asks_for_summary(body: dict[str, Any]) -> bool:
    """Whether it asks for a summary: without tools, or by its last message."""
    last = body["messages"][-1]
    text = json.dumps(last.get("content"))
    return not body.get("tools") or (last["role"] == "user" and ASKED[:40] in text)


@dataclass(frozen=True)
class Outcome:
    """What a system's run came to; `failed` says why it ended early."""

    name: str
    book: Book
    failed: str = ""

    @property
    def row(self) -> str:
        """Its line of the table."""
        book = self.book
        ended = f" (it ended after {len(book.sent) - 1} steps)" if self.failed else ""
        text = "yes" if book.has_fact and not self.failed else "no"
        sizes = f"{book.total:,} | {book.new:,} | {book.weighed:,} | {book.largest:,}"
        rest = f"{book.overflows} | {len(breaks(book.sent))} | {book.summaries} | {text}"
        return f"| {self.name}{ended} | {sizes} | {rest} |"


async def ours(name: str, compaction: Compaction) -> Outcome:
    """The run under clew, with its own client over the same server."""
    recalled = Say("", [("recall", json.dumps({"query": WHERE}))])
    book = Book((recalled, Say("In the green cupboard.")))
    limits = Limits(steps=10**6, tool_calls=10**6, tokens=10**12, seconds=10**6)
    with OpenAIServer(book, key="none") as server:
        model = openai_chat("local", base_url=server.base_url, api_key="none")
        agent = Agent(
            model, [page], prompt="Read.", limits=limits, codec="native",
            context=Context(compaction=compaction),
        )  # fmt: skip
        result = await clew.run(agent, WHERE, store=MemoryStore())
        await model.close()
    return Outcome(name, book, "" if result.ok else str(result.reason))


def theirs(system: System, folder: Path) -> Outcome:
    """The run under another system, in a process and an environment of its own."""
    book = Book((Say("In the green cupboard."),))
    pages = [page_text(number) for number in range(1, STEPS + 1)]
    # Of our own environment it gets nothing: no key, and no path to other packages.
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    quiet = {"PYDANTIC_AI_NO_LOGFIRE": "1", "LANGSMITH_TRACING": "false", "NO_PROXY": "127.0.0.1"}
    with OpenAIServer(book, key="none") as server:
        asked = {
            "address": server.base_url, "form": system.form, "window": WINDOW, "pages": pages,
            "question": WHERE,
        }  # fmt: skip
        done = subprocess.run(
            [python_of(system, folder), PROGRAMS / f"{system.program}.py"],
            input=json.dumps(asked) + "\n", capture_output=True, text=True, check=False,
            env={**kept, **quiet},
        )  # fmt: skip
    failed = " ".join(done.stderr.split()[-30:]) if done.returncode else ""
    return Outcome(system.name, book, failed)


TEXT: Final = f"""\
The same run of {STEPS} pages under other systems' own compaction: each system's own client asks one
server on this machine, which speaks OpenAI's chat completions by the strict rules, refuses what is
over {WINDOW:,} tokens and counts four bytes of messages and tools as a token. The model behind it
is simulated. It reads a page a step; asked for a summary, it writes 180 tokens, and keeps the fact
of the third page wherever that stands in what it was shown. All prompts are counted, those for
summaries too; *new* are the tokens that a provider's cache of the prompt before does not hold, and
*weighed* counts those that it holds for a tenth. In the end clew's model asks `recall` for the
fact. The others have no such tool; a model could read the page again, where that is still there.

The aim is that clew takes no more tokens than any of them.
"""
HEAD: Final = """\
| system | all prompts | new | weighed | largest | over the window | breaks | summaries | found |
|---|---|---|---|---|---|---|---|---|"""


def measure(sample: int) -> PageFigures:
    """All systems; the sample is of no concern to a run of a few seconds."""
    del sample
    mine = [asyncio.run(ours(*one)) for one in OURS.items()]
    others: list[Outcome] = []
    for system in SYSTEMS:
        others.append(theirs(system, ENVIRONMENTS))
        tell(f"{system.name}: {others[-1].book.total:,} tokens {others[-1].failed}")
    used = sorted({versions(system, ENVIRONMENTS) for system in SYSTEMS})
    settings = [f"- {system.name}: {system.what}" for system in SYSTEMS]
    rows = [outcome.row for outcome in (*mine, *others)]
    lines = ["## Beside other systems", "", TEXT, "Settings, from each system's own examples:", ""]
    lines += [*settings, "", f"Versions: {'; '.join(used)}.", "", HEAD, *rows, ""]
    total = mine[0].book.total
    missed = [
        f"{mine[0].name} takes {total:,} tokens, {one.name} {one.book.total:,}"
        for one in others
        if not one.failed and one.book.total < total
    ]
    if missed:
        lines += [f"**Missed**: {'; '.join(missed)}.", ""]
    return PageFigures("\n".join(lines), missed)
