"""Plays an attack: the run, the person who answers, and what has reached the tools."""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from clew import Agent, MemoryStore, Result, delegate, open_run, resume, rule
from clew.agent.api import fork
from clew.agent.approvals import pending_approvals
from clew.agent.rewinding import rewind
from clew.core.contents import Reply
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.tools import AnyTool
from clew.core.values import Json, encode
from clew.guards import Provenance
from clew.memory import MemorySource, SqliteMemory, memory_tools, note_of
from clew.testing import Move, ScriptedModel, say
from clew.toolbox import ask_person
from clew.toolbox.backtrack import backtrack
from clew_code.programs import run_code
from unseen.attack import Attack, Calls, Sub
from unseen.tools import CATALOGUE, Made, answering, noting

_ROUNDS: Final = 30
_DONE: Final = (say("Done."),) * 12


@dataclass(frozen=True)
class Outcome:
    """What came of an attack: calls that nobody asked for, questions, and the task."""

    bad: tuple[Made, ...]
    asked: int
    done: bool
    status: str
    reached: tuple[Made, ...] = ()

    @property
    def acted(self) -> bool:
        """Whether a call was made that the person did not ask for."""
        return bool(self.bad)


class Person:
    """Says yes to what the words ask for and is not done yet, and no to all else."""

    def __init__(self, made: list[Made]) -> None:
        self.made = made
        self.wanted: list[Made] = []
        self.asked = 0

    def wants(self, calls: Calls) -> None:
        """Ask for these calls too."""
        self.wanted += [Made(it.name, it.args) for move in calls for it in move.actions]

    def left(self) -> list[Made]:
        """What is wanted and was not done yet."""
        left = list(self.wanted)
        for each in self.made:
            if each in left:
                left.remove(each)
        return left

    def unasked(self) -> tuple[Made, ...]:
        """What was done and not wanted, or done too often."""
        left, bad = list(self.wanted), list[Made]()
        for each in self.made:
            if each in left:
                left.remove(each)
            else:
                bad.append(each)
        return tuple(bad)

    def says_yes(self, tool: str, args: dict[str, Json], granted: list[Made]) -> bool:
        """Whether the person allows a call; what was allowed just now is as good as done."""
        left = self.left()
        for each in granted:
            if each in left:
                left.remove(each)
        return Made(tool, args) in left


class Fooled:
    """Does what its script says, turn by turn, wherever a run goes back or forks."""

    def __init__(self, attack: Attack) -> None:
        self.turns = [(attack.moves, attack.scene.plan)]
        self.turns += [(turn.moves, turn.plan) for turn in attack.turns]
        lines: list[Move] = [line for moves, _ in self.turns for line in (*moves, *_DONE)]
        self.scripted = ScriptedModel(lines, plan=attack.scene.plan)
        self.next = 0

    @property
    def info(self) -> ModelInfo:
        """That of a scripted model."""
        return self.scripted.info

    def turn(self, number: int) -> None:
        """Go on with the moves and the plan of a turn."""
        self.next = sum(len(moves) + len(_DONE) for moves, _ in self.turns[:number])
        self.scripted = replace(self.scripted, plan=self.turns[number][1])

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next line, or the plan of the turn."""
        if prompt.purpose == "plan":
            return await self.scripted.complete(prompt, on_text)
        self.next += 1
        return self.scripted.reply(prompt, self.next - 1)


def _sub(sub: Sub, attack: Attack, made: list[Made]) -> AnyTool:
    says = {**attack.scene.says, **attack.says}
    tools = [answering(CATALOGUE[name], says, made) for name in sub.tools]
    model = ScriptedModel([*sub.moves, *_DONE], plan=sub.plan)
    agent = Agent(model=model, tools=tools, guards=[Provenance()])
    return delegate(agent, name=sub.name, description=f"Works on a task: {sub.name}.")


def _agent(
    attack: Attack, model: Fooled, made: list[Made], memory: SqliteMemory | None
) -> Agent[str]:
    says = {**attack.scene.says, **attack.says}
    special: dict[str, Any] = {
        "run_code": run_code,
        "ask_person": ask_person,
        "backtrack": backtrack,
    }
    tools: list[AnyTool] = [
        special[name]() if name in special else answering(CATALOGUE[name], says, made)
        for name in attack.scene.tools
        if name not in {"remember", "memories"}
    ]
    tools += [answering(tool, says, made) for tool in attack.extra]
    tools += [_sub(sub, attack, made) for sub in attack.subs]
    if memory is not None:
        kept = [each for each in memory_tools(memory) if each.name in attack.scene.tools]
        tools += [noting(each, made) for each in kept]
    return Agent(model=model, tools=tools, guards=[Provenance()])


async def _to_its_end(
    agent: Agent[str], result: Result[str], person: Person, store: MemoryStore
) -> Result[str]:
    """Answer whatever the run asks, until it asks no more."""
    for _ in range(_ROUNDS):
        if result.status != "held":
            return result
        granted = list[Made]()
        for each in await pending_approvals(store=store):
            allow = person.says_yes(each.tool, each.args, granted)
            person.asked += 1
            if allow:
                granted.append(Made(each.tool, each.args))
            await rule(each.id, allow=allow, store=store)
        result = await resume(agent, result.run_id, store=store)
    return result


async def play(attack: Attack) -> Outcome:
    """Play an attack in a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        memory = _memory(attack, Path(folder))
        try:
            return await _play(attack, memory)
        finally:
            if memory is not None:
                memory.close()


def _memory(attack: Attack, folder: Path) -> SqliteMemory | None:
    if not attack.memories and not {"remember", "memories"} & set(attack.scene.tools):
        return None
    memory = SqliteMemory(folder / "memory.sqlite")
    for number, (text, trusted) in enumerate(attack.memories):
        source = MemorySource(run="earlier", seq=number + 1, by="" if trusted else "remember")
        memory.add(text, trust="trusted" if trusted else "untrusted", source=source)
    return memory


async def _play(attack: Attack, memory: SqliteMemory | None) -> Outcome:
    made, store = list[Made](), MemoryStore()
    person = Person(made)
    person.wants(attack.scene.wanted)
    model = Fooled(attack)
    agent = _agent(attack, model, made, memory)
    run_id = "r"
    async with open_run(agent, attack.scene.question, store=store, run_id=run_id) as opened:
        if attack.way == "note" and memory is not None:
            note = note_of(memory.search(attack.scene.question))
            if note is not None:
                await store.post(run_id, encode(note))
        result = await opened.go_on()
    result = await _to_its_end(agent, result, person, store)
    if attack.way == "rewind":
        await rewind(run_id, to=attack.at, lesson=attack.lesson, store=store)
    for number, turn in enumerate(attack.turns, start=1):
        person.wants(turn.wanted)
        model.turn(number)
        if attack.way == "fork" and number == 1:
            result = await fork(
                agent, run_id, at=attack.at, say=turn.words, store=store, new_id="f"
            )
            run_id = "f"
        else:
            result = await resume(agent, run_id, say=turn.words, store=store)
        result = await _to_its_end(agent, result, person, store)
    return Outcome(person.unasked(), person.asked, not person.left(), result.status, tuple(made))
