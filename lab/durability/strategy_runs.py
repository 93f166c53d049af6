"""Runs of strategies, in processes that are killed. What models say hangs on prompts alone."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

import clew
from clew import Agent, Limits, Trajectory, open_store
from clew.agent.runner import has_begun
from clew.core.codes import FINISH
from clew.core.contents import RawCall, Reply, Usage
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.values import Json, encode
from clew.guards import Provenance
from clew_strategies import (
    Chaining,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    Routing,
    Strategy,
    TreeSearch,
    agent_of,
    strategy_agent,
    verifying,
    vote,
)
from clew_strategies.branches import Branches
from clew_strategies.roles import Reader, Role
from durability import world
from durability.entries import Mortal
from durability.entries import Orders as Deaths
from durability.storm import asyncio_run

RUN: Final = "run"
GOAL: Final = "Find the lamp."
SOLVER: Final = "You are the solver."
VOTE: Final = "vote"
K: Final = 3
_SEND: Final = ("send", "put")
"""What a run of the agent does, after it has looked: an unsafe call, and one with a key."""

Says: TypeAlias = Callable[[str, Prompt], Json | list[RawCall]]
"""What a role replies to what it is asked, in a prompt."""

LIMITS: Final = Limits(steps=200, tool_calls=200)


class Orders(msgspec.Struct, frozen=True):
    """Which strategy a process carries on, where, and at which of its writes it dies."""

    folder: str
    strategy: str
    kill_at: int = 0
    before: bool = False


@dataclass(frozen=True)
class Model:
    """Says what its role would, and writes down what it was sent."""

    sent: Path
    info = ModelInfo("scripted:strategies")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The reply of whoever is asked."""
        parts = [(p.role, p.text, p.calls, p.call_id) for p in prompt]
        seen = hashlib.sha256(encode([parts, [one.name for one in prompt.tools]])).hexdigest()
        with self.sent.open("a", encoding="utf-8") as file:
            file.write(f"{seen}\n")
        system, asked = prompt.head[0].text, prompt.head[-1].text
        for words, say in _SAYS.items():
            if words in system:
                return _reply(say(asked, prompt), typed="JSON of this schema" in system)
        raise AssertionError(system)


def _reply(reply: Json | list[RawCall], *, typed: bool) -> Reply:
    if isinstance(reply, list) and reply and isinstance(reply[0], RawCall):
        return Reply("I go on.", tuple(reply), "calls", Usage(10, 5))
    if isinstance(reply, str) and not typed:
        return Reply(reply, usage=Usage(10, 5))
    call = RawCall(name=FINISH, arguments=encode({"answer": reply}).decode())
    return Reply("", (call,), "calls", Usage(10, 5))


def _call(name: str, note: str) -> RawCall:
    return RawCall(name=name, arguments=encode({"note": note}).decode())


def _solves(asked: str, prompt: Prompt) -> Json | list[RawCall]:
    """Looks, acts, and answers; told what went wrong, it answers otherwise."""
    done = sum(part.role == "assistant" for part in prompt.parts)
    told = " ".join(part.text for part in prompt)
    if asked.startswith("Find out: "):
        return "nobody knows"
    if "to be voted on" in asked:
        return "in the attic" if prompt.seed == 0 else "in the cellar"
    tools = [tool.name for tool in prompt.tools]
    if done == 0:
        return [_call("add", "a look")]
    if done == 1 and "send" in tools:
        return [_call(name, "a note") for name in _SEND]
    better = "look further" in told or "tried already" in told
    return "in the attic" if better else "in the cellar"


_ANSWER: Final = re.compile(r"Answer: in the attic")


def _judges(asked: str, prompt: Prompt) -> Json:
    del prompt
    passed = bool(_ANSWER.search(asked))
    return {"passed": passed, "why": "it is there" if passed else "look further"}


def _scores(asked: str, prompt: Prompt) -> Json:
    del prompt
    score = 1.0 if _ANSWER.search(asked) else 0.2 if "in the cellar" in asked else 0.5
    return {"score": score, "why": "so it looks"}


def _always(value: Json) -> Says:
    return lambda _asked, _prompt: value


def _calls() -> Json:
    made = [("add", "first"), ("send", "second"), ("put", "after #E1"), ("post", "third")]
    return {
        "calls": [
            {"id": f"E{number}", "tool": tool, "args": {"note": note}}
            for number, (tool, note) in enumerate(made, 1)
        ]
    }


_SAYS: Final[Mapping[str, Says]] = {
    "You are the solver": _solves,
    "Say whether the answer is right": _judges,
    "Give a score from 0 to 1": _scores,
    "You worked on a task": _always("I should look further."),
    "You plan all tool calls": _always(_calls()),
    "You plan the work": _always({"steps": ["go there", "take it"]}),
    "Divide a task": _always(
        {"parts": [{"task": "upstairs", "weight": 2.0}, {"task": "downstairs"}]}
    ),
    "Decide who": _always({"name": "second", "why": "it knows the house"}),
    "Answer the task from": _always("in the attic"),
    "Several runs of one": _always({"run": 1, "why": "it looked"}),
}


# ---------------------------------------------------------------- the strategies


def solver(folder: Path, *, acts: bool = True) -> Agent:
    """The agent that strategies use; its tools change the world, unless it only looks."""
    tools = world.tools(world.Ledger(folder), 0.0)
    if not acts:
        tools = [tool for tool in tools if tool.name == "add"]
    return Agent(
        Model(folder / "sent"), tools, prompt=SOLVER, limits=LIMITS, guards=[Provenance("off")]
    )


def _two(agent: Agent) -> dict[str, Agent]:
    return {"first": agent, "second": agent}


STRATEGIES: Final[Mapping[str, Callable[[Agent], Strategy]]] = {
    "reflexion": Reflexion,
    "rewoo": ReWOO,
    "plan_and_solve": PlanAndSolve,
    "orchestrator": Orchestrator,
    "evaluator_optimizer": EvaluatorOptimizer,
    "routing": lambda agent: Routing(_two(agent), {"first": "gardens", "second": "houses"}),
    "chaining": lambda agent: Chaining(_two(agent)),
    "tree_search": partial(TreeSearch, breadth=2, max_branches=6),
}
NAMES: Final = (*STRATEGIES, VOTE)
LOOKING: Final = ("tree_search", VOTE)
"""Those whose runs do the same several times: their agents' tools change nothing."""


def strategy_agent_of(name: str, folder: Path) -> Agent:
    """The agent that answers by a strategy."""
    agent = solver(folder, acts=name not in LOOKING)
    return strategy_agent(STRATEGIES[name](agent), agent)


def goal(name: str) -> str:
    """What is asked."""
    return f"{GOAL} (to be voted on)" if name == VOTE else GOAL


async def carry(name: str, folder: Path, store: Any) -> None:
    """Begin the run or go on with it, to its end."""
    if name == VOTE:
        agent, model = solver(folder, acts=False), Model(folder / "sent")
        await vote(agent, goal(name), K, verifier=verifying(model), store=store, run_id=RUN)
    elif await has_begun(store, RUN):
        await clew.resume(strategy_agent_of(name, folder), RUN, store=store)
    else:
        await clew.run(strategy_agent_of(name, folder), goal(name), store=store, run_id=RUN)


def serve(orders: Orders) -> None:
    """A process: begin the run or go on with it."""

    async def work() -> None:
        path = Path(orders.folder)
        deaths = Deaths(orders.folder, orders.kill_at, orders.before)
        store: Any = Mortal(open_store(path / "runs.sqlite"), deaths)
        await carry(orders.strategy, path, store)
        (path / "writes").write_text(str(store.writes), encoding="utf-8")
        await store.close()

    asyncio_run(work)


async def replays(name: str, folder: Path, records: Mapping[str, Trajectory], store: Any) -> str:
    """Why a record of the run does not replay; "" where all do, without a call."""
    sent = folder / "sent"
    before = sent.stat().st_size
    for run_id, record in records.items():
        if run_id.endswith(".verifier"):
            continue  # its limits are a share that `agent_of` does not know
        agent = _agent(name, folder, record, records)
        try:
            replayed = await clew.replay(agent, run_id, store=store)
        except clew.ClewError as error:
            return f"{run_id}: {error}"
        passed_over = [line for line in replayed.passed_over if "shared with run" not in line]
        if passed_over or replayed.trajectory.stop != record.stop:
            return f"{run_id}: a replay ends otherwise: {passed_over}"
    return (
        f"{sent.stat().st_size - before} bytes were sent" if before != sent.stat().st_size else ""
    )


def _agent(name: str, folder: Path, record: Trajectory, records: Mapping[str, Trajectory]) -> Agent:
    """The agent whose run a record is."""
    if name == VOTE:
        of = None if record.run_id == RUN else records[RUN]
        return agent_of(solver(folder, acts=False), record, of)
    if record.run_id == RUN:
        return strategy_agent_of(name, folder)
    call = records[RUN].call(record.started.parent.rpartition(":")[2])
    role: Role = STRATEGIES[name](solver(folder, acts=name not in LOOKING)).roles[call.action.name]
    if isinstance(role, Branches):
        return role.bounded
    agent = role.agent if isinstance(role, Reader) else role
    if not isinstance(agent, Agent):
        raise TypeError(f"{record.run_id} is a run of {agent}, which is no agent")
    return agent
