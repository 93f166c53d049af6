"""Recorded conversations through each policy: tokens, breaks, and what stays within reach."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import clew
from benchmarks.context.long_runs import breaks, messages, shared, tokens
from benchmarks.context.page import PageFigures
from benchmarks.context.real_talks import mini, recorded
from benchmarks.context.references import MINIMUM, Conversation, Reference
from clew import Agent, Compaction, Context, MemoryStore
from clew.agent.validate import MAX_TOOLS
from clew.core.contents import Reply, Usage
from clew.core.events import Compacted
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.guards import Provenance
from clew.support.errors import TooLongError
from clew.tools.definitions import published
from durability.progress import tell
from recordings.data import missing
from recordings.native_drive import LIMITS, Over, World, go_on
from recordings.native_talks import Talk

TRAJECTORIES: Final = "CLEW_TRAJECTORIES"
"""The variable that names a folder with trajectories of mini-swe-agent."""

WINDOWS: Final = (8_000, 16_000, 32_000)
POLICIES: Final[Mapping[str, tuple[str, ...] | None]] = {
    "all of it": None,
    "`duplicates`, `mask`, `drop` (default)": ("duplicates", "mask", "drop"),
    "`extract`, `drop`": ("extract", "drop"),
    "`drop`": ("drop",),
}


@dataclass
class Recorded:
    """A model that says what was recorded, and takes no prompt beyond its window."""

    talk: Talk
    window: int
    sent: list[list[bytes]] = field(default_factory=list[list[bytes]])
    refused: int = 0

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("recorded:window", window=self.window)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next recorded reply. Raises `TooLongError`."""
        now = messages(prompt)
        if (size := tokens(now)) > self.window:
            self.refused += 1
            raise TooLongError(f"{size} tokens are more than {self.window}")
        before = self.sent[-1] if self.sent else []
        reply = self.talk.turns[len(self.sent)].reply
        self.sent.append(now)
        total = sum(len(call.arguments or "") for call in reply.calls) + len(reply.text)
        usage = Usage(size, total // 4 + 1, cached=tokens(now[: shared(before, now)]), cost=0.0)
        return Reply(reply.text, reply.calls, reply.finish, usage, model="recorded:window")


@dataclass(frozen=True)
class Drive:
    """What a conversation took by one policy in one window; `ended` says why it went no further."""

    sent: Sequence[Sequence[bytes]]
    refused: int
    compactions: int
    record: clew.Trajectory
    ended: str = ""


async def drive(talk: Talk, system: str, by: tuple[str, ...] | None, window: int) -> Drive:
    """Follow the conversation; its tools are not classified, so each may have an effect."""
    model, world, store = Recorded(talk, window), World(talk.turns), MemoryStore()
    tools = [one.tool for one in published(talk.tools, world.call)][:MAX_TOOLS]
    more: dict[str, Any] = {"prompt": system} if system else {}
    agent = Agent(
        model, tools, limits=LIMITS, guards=[Provenance("off")],
        bounds=(Over(len(talk.turns)),), codec="native",
        context=Context(compaction=None if by is None else Compaction(by)), **more,
    )  # fmt: skip
    ended = ""
    try:
        await clew.run(agent, talk.goal, store=store, run_id="run")
        await go_on(agent, "run", talk.words, store)
    except clew.ClewError as error:
        ended = str(error)
    record = await clew.read("run", store=store)
    cuts = sum(isinstance(entry.event, Compacted) for entry in record.entries)
    return Drive(model.sent, model.refused, cuts, record, ended)


@dataclass
class Counted:
    """What was counted for one policy in one window."""

    talks: int = 0
    steps: int = 0
    total: int = 0
    breaks: int = 0
    refused: int = 0
    ended: int = 0
    references: int = 0
    in_view: int = 0
    recalled: int = 0
    read_on: int = 0
    actions: int = 0
    within_reach: int = 0
    lost: list[str] = field(default_factory=list[str])

    def add(self, name: str, conversation: Conversation, drive: Drive) -> None:
        """Count a conversation."""
        self.talks += 1
        self.steps += len(drive.sent)
        self.total += sum(map(tokens, drive.sent))
        self.breaks += len(breaks(drive.sent))
        self.refused += drive.refused
        self.ended += bool(drive.ended)
        reach: dict[int, bool] = {}
        for one in conversation.references:
            if one.step <= len(drive.sent):
                matches = self._reach(conversation, one, drive.sent[one.step - 1])
                reach[one.step] = reach.get(one.step, True) and matches
                if not matches:
                    self.lost.append(f"{name}, step {one.step}: {one.text}")
        self.actions += len(reach)
        self.within_reach += sum(reach.values())

    def _reach(self, conversation: Conversation, one: Reference, sent: Sequence[bytes]) -> bool:
        """Whether a reference is in view, or is found."""
        self.references += 1
        prompt = b"\n".join(sent).decode()
        if one.text in prompt:
            self.in_view += 1
        elif conversation.recalls(one):
            self.recalled += 1
        elif conversation.readable(one, prompt):
            self.read_on += 1
        else:
            return False
        return True


async def counted(folder: Path | None, sample: int = 1) -> Mapping[tuple[str, int, str], Counted]:
    """By source, window and policy: the conversations that outgrow the window."""
    fields: dict[tuple[str, int, str], Counted] = {}
    talks = [*recorded(), *(mini(folder) if folder is not None else ())][::sample]
    for number, (source, system, talk) in enumerate(talks, start=1):
        result = await drive(talk, system, None, 10**9)
        largest = max(map(tokens, result.sent), default=0)
        conversation = Conversation(result.record)
        for window in WINDOWS:
            if largest <= window:
                continue
            for name, by in POLICIES.items():
                one = result if by is None else await drive(talk, system, by, window)
                row = fields.setdefault((source, window, name), Counted())
                row.add(f"{talk.name}, {window:,}, {name}", conversation, one)
        if number % 50 == 0:
            tell(f"{number} of {len(talks)} conversations")
    return fields


HEAD: Final = """\
| conversations | window | policy | prompt tokens | of all of it | breaks | references | in view \
| found | neither | actions with all |
|---|---|---|---|---|---|---|---|---|---|---|"""
FEWEST: Final = 5
"""A table of fewer conversations says nothing."""

TEXT: Final = f"""\
Recorded conversations are driven through clew's own loop: a model that says what was recorded,
tools that give what was recorded, and a window that refuses what does not fit. They are customer
service (gpt-4o, gpt-4.1, qwen2.5:7b and others), runs of SWE-agent, and 45 runs of mini-swe-agent
with gpt-5-mini that are public
([source](https://github.com/RussellRyanH/CSCI-635-LiveSWE-Agent), commit `2813cfb`); none of them
is a part of the project (`CLEW_RECORDINGS`, `{TRAJECTORIES}`). A row has the conversations whose
whole prompt outgrows its window. Their tools are not classified, so a line stays for each call.

A *reference* is an identifier, path or number of {MINIMUM} characters or more in the arguments of
an action that an earlier result had, and nothing that a person said. It is *in view* if it stands
in the prompt of that action, *found* if it does not and `recall` gives it, or `read_more` by a
handle in the prompt. Whether a model would ask for it, a recording cannot say.
How `recall` tells names apart was mended after a look at these conversations, where it had missed
28 of 2,059 references: that none is in neither place is no figure of material that nobody had seen.

About half of the breaks here are no compactions: the first result that is shown in part brings
`read_more` and `recall`, and tools stand before all messages. It comes early, where little is
cached. The policies come to nearly the same: the question, the instructions and a line for each
call take the share `to` already, so the oldest steps go whole under each of them.
"""


def measure(sample: int) -> PageFigures:
    """Every nth conversation."""
    named = os.environ.get(TRAJECTORIES)
    folder = Path(named) if named else None
    if missing() or folder is None or not folder.is_dir():
        return PageFigures(
            "", [missing() or f"no trajectories: name their folder in {TRAJECTORIES}"]
        )
    result = asyncio.run(counted(folder, sample))
    lost = [line for one in result.values() for line in one.lost]
    lines = ["## Real conversations", "", TEXT, HEAD, *_rows(result)]
    return PageFigures(
        "\n".join([*lines, ""]), [f"neither in view nor found: {one}" for one in lost]
    )


def _rows(counted: Mapping[tuple[str, int, str], Counted]) -> Iterator[str]:
    for (source, window, name), one in sorted(counted.items(), key=lambda pair: pair[0][:2]):
        if one.talks < FEWEST:
            continue
        everything = counted[source, window, "all of it"]
        where = f"{source}: {one.talks}, with {one.steps / one.talks:.0f} steps each in the mean"
        reached = f"{one.in_view / max(1, one.references):.3f}"
        yield (
            f"| {where} | {window:,} | {name} | {one.total:,} | {one.total / everything.total:.3f} "
            f"| {one.breaks} | {one.references:,} | {reached} | {one.recalled + one.read_on:,} "
            f"| {len(one.lost)} | {one.within_reach:,} of {one.actions:,} |"
        )
