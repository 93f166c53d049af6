"""Four ways to go on where a trigger fires: each begins with the same steps of the same run.

So they are paired to the byte, and what came before is asked once. The first three do what a rewind
does with the same lesson and as often, without leaving anything out of the view.
"""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from dataclasses import replace as fields_replaced
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from clew import Agent, Context, MemoryStore, NoProgress, Rewinds, Trajectory
from clew.agent.runner import start, start_fork
from clew.core.codec import Constrains
from clew.core.contents import Reply, text_parts
from clew.core.events import Note, Rewound
from clew.core.fork import find_fork_point
from clew.core.journal import Journal
from clew.core.loop import advance
from clew.core.models import Model, ModelInfo, OnText
from clew.core.moves import next_move
from clew.core.prompts import Prompt
from clew.core.stores import Store

Arm: TypeAlias = str
ARMS: Final[Sequence[Arm]] = ("nothing", "hint", "rewind", "fresh start")
"""In this order: so a server's cache holds for each what it would hold if it were alone."""

CRITIC: Final = "rewind by a critic"
OFFERED: Final = "rewind, all tools offered"
HELD: Final = "nothing, tool held back"
"""What a rewind does for a small model, in its two parts: leave out the branch, and keep from the
model, in the next reply, the tool with which it began.
"""


@dataclass
class Held:
    """A model that is held to another grammar in its next reply."""

    model: Model
    grammar: str

    @property
    def info(self) -> ModelInfo:
        return self.model.info

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The model's reply."""
        grammar, self.grammar = self.grammar, ""
        held = replace(prompt, grammar=grammar) if grammar else prompt
        return await self.model.complete(held, on_text)


class Outcome(msgspec.Struct, frozen=True):
    """What came of one task in one arm, with the steps before it parted from the others.

    `prompts` are the tokens of all prompts, a critic's too. `later` are those of all thoughts but
    the first, and `cached` the part of them that the server had. `fired` counts the triggers.
    """

    task: str
    arm: Arm
    right: bool
    answer: str
    status: str
    steps: int
    fired: int
    by: tuple[str, ...]
    prompts: int
    replies: int
    later: int
    cached: int


@dataclass(frozen=True)
class Total:
    """A bound: so many steps in all, whatever a person says in between."""

    steps: int

    def __call__(self, trajectory: Trajectory) -> str | None:
        """The reason once they are made."""
        return "steps: all are made" if trajectory.total.steps >= self.steps else None


Making: TypeAlias = Callable[[Model, int, Context], Agent]
"""Makes the agent of a task, for a model, at most so many steps, and a context."""


@dataclass
class Task:
    """A question, who is to answer it, and whether an answer is right."""

    name: str
    question: str
    agent: Making
    right: Callable[[object], bool]


async def settle(
    task: Task, model: Model, steps: int, rewinds: Rewinds,
    *, arms: Sequence[Arm] = ARMS, critic: Rewinds | None = None,
) -> list[Outcome]:  # fmt: skip
    """Answer a task in some arms; in that of the `critic` only this decides."""
    store, plain = MemoryStore(), Context()
    agent = task.agent(model, steps, plain)
    journal = await start(agent, task.question, store, run_id="beginning")
    back = await _drive(agent, journal, rewinds, 0)
    if back is None:  # nothing to part for
        return [_outcome(task, arm, [journal.trajectory], []) for arm in arms]
    outcomes: list[Outcome] = []
    for arm in arms:
        settings = critic if arm == CRITIC and critic is not None else rewinds
        records, fired = await _go_on(task, arm, model, steps, settings, journal, back, store)
        outcomes.append(_outcome(task, arm, records, fired))
    return outcomes


async def _go_on(
    task: Task, arm: Arm, model: Model, steps: int, rewinds: Rewinds,
    beginning: Journal, back: Rewound, store: Store,
) -> tuple[list[Trajectory], list[Rewound]]:  # fmt: skip
    """The records of the rest of an arm, and what fired."""
    begun = beginning.trajectory
    if arm == "fresh start":
        return await _anew(task, model, steps, rewinds, begun, back)
    goes_back = "rewind" in arm
    context = Context(rewinds=rewinds) if goes_back else Context()
    agent = task.agent(model, steps, context)
    if arm == OFFERED:
        plain = NoProgress(hint=2, refuse=3)
        agent = agent.replace(limits=fields_replaced(agent.limits, no_progress=plain))
    if arm == HELD:
        began = {call.action.name for call in begun.steps[back.to].calls}
        agent = task.agent(Held(model, _grammar(agent, began)), steps, context)
    say = back.lesson if arm == "hint" else ""
    point = find_fork_point(begun, len(begun.steps), say=say)
    journal = await start_fork(agent, point, store, re.sub(r"\W+", "-", arm))
    fired = [back]
    some = rewinds if arm == "hint" else None
    while (again := await _drive(agent, journal, some, len(fired))) is not None:
        await journal.record(Note(text_parts(again.lesson)))
        fired.append(again)
    if goes_back:
        fired = journal.trajectory.omitted.rewinds
    return [journal.trajectory], fired


def _grammar(agent: Agent, without: Collection[str]) -> str:
    """The grammar of a reply in which these tools are not called."""
    prompt_spec, codec = agent.engine.prompt_spec, agent.engine.codec
    tools = tuple(tool for tool in prompt_spec.tools if tool.name not in without)
    assert isinstance(codec, Constrains)
    value = agent.engine.model.info.params.get("max_tokens")
    return codec.grammar(fields_replaced(prompt_spec, tools=tools), "auto", value)


async def _anew(
    task: Task, model: Model, steps: int, rewinds: Rewinds, begun: Trajectory, back: Rewound
) -> tuple[list[Trajectory], list[Rewound]]:
    """Runs from the beginning, each with the lessons so far, until one is not in vain."""
    records, fired = [begun], [back]
    while (left := steps - sum(len(one.steps) for one in records)) > 0:
        agent = task.agent(model, left, Context())
        lessons = "\n".join(f"Learned in an earlier try: {one.lesson}" for one in fired)
        question = f"{task.question}\n\n{lessons}"
        journal = await start(agent, question, MemoryStore(), run_id=f"anew-{len(fired)}")
        again = await _drive(agent, journal, rewinds, len(fired))
        records.append(journal.trajectory)
        if again is None:
            break
        fired.append(again)
    return records, fired


async def _drive(
    agent: Agent, journal: Journal, rewinds: Rewinds | None, fired: int
) -> Rewound | None:
    """Advance until the run stops, or until a trigger fires, which is not recorded."""
    trajectory = journal.trajectory
    while trajectory.stop is None:
        if rewinds is not None and fired < rewinds.max_rewinds:
            thinks = next_move(agent.engine, trajectory).kind == "think"
            if thinks and (back := rewinds.due(trajectory, agent.tries)) is not None:
                return back
        await advance(agent.engine, journal)
    return None


def _outcome(
    task: Task, arm: Arm, records: Sequence[Trajectory], fired: Sequence[Rewound]
) -> Outcome:
    last = records[-1]
    answer = None if last.stop is None else last.stop.answer
    usages = [
        [step.thought.reply.usage for step in one.steps if step.thought is not None]
        for one in records
    ]
    flat = [usage for run in usages for usage in run]
    later, lost = flat[1:], last.total.lost  # what a critic took
    status = "open" if last.stop is None else last.stop.status
    return Outcome(
        task.name, arm, status == "answered" and task.right(answer), str(answer)[:200], status,
        len(flat), len(fired), tuple(one.by for one in fired),
        sum(one.input for one in flat) + lost.input, sum(one.output for one in flat) + lost.output,
        sum(one.input for one in later), sum(one.cached for one in later),
    )  # fmt: skip
