"""A call that a strategy makes itself does not repeat what one of its runs did, nor a run that."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    ModelError,
    StoreError,
    Tool,
    ToolError,
    delegate,
    fork,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.guards import Provenance
from clew.interfaces import AgentTool, Json, Prompt
from clew.testing.models import Move, ScriptedModel, act, acts, finish, say
from clew.tools.fallback import with_fallback
from clew_code.programs import run_code
from clew_strategies import (
    Chaining,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    Runs,
    TreeSearch,
    strategy_agent,
)
from clew_strategies.plan_and_solve import StepPlan
from clew_strategies.rewoo import CallPlan
from clew_testing.cut_store import CutStore
from tests.together.test_effects_beside import amends, divided_agent

WRITE = act("send", to="a")


@dataclass
class Post:
    """A post office, and what was sent from it."""

    sent: list[str] = field(default_factory=list)

    @property
    def tools(self) -> list[Any]:
        """Its tools."""

        @tool(effect="unsafe")
        def send(to: str, text: str = "") -> str:
            """Send a letter."""
            self.sent.append(to + text)
            return "a"

        @tool(effect="idempotent")
        def put(to: str) -> str:
            """Put a letter in a box."""
            self.sent.append(to)
            return "a"

        @tool(effect="unsafe")
        def lose(to: str) -> str:
            """Send a letter, and lose the receipt."""
            self.sent.append(to)
            raise OSError("no receipt")

        @tool(effect="unsafe")
        def wire(to: str) -> str:
            """Send a telegram; nobody is at the office."""
            raise ToolError(f"no office for {to}")

        @tool(effect="read")
        def look(q: str) -> str:
            """Look something up."""
            if q == "lost":
                raise ToolError("down")
            return "a"

        @tool(effect="unsafe")
        def publish(task: str, answer: str) -> Json:
            """Publish an answer, and say how it was received."""
            self.sent.append(answer)
            return {"passed": True, "score": 1, "why": task}

        pair = with_fallback(wire, send)
        return [send, put, lose, look, pair, publish, run_code()]


def agent(post: Post, *replies: Any, tools: Sequence[Any] = (), **more: Any) -> Agent:
    """Whoever works there."""
    model = ScriptedModel([*replies, say("a")])
    guards = [*more.pop("guards", ()), Provenance("off")]
    return Agent(model=model, tools=[*(tools or post.tools)], guards=guards, **more)


def step(id_: str, name: str, **args: Json) -> Json:
    """A planned call."""
    return {"id": id_, "tool": name, "args": args, "why": "x"}


def rewoo(post: Post, plan: Sequence[Json], *replies: Any, **more: Any) -> Agent:
    """Carries a plan out; `replies` are those of a run that looks for another way."""
    works = agent(post, *replies, **more)
    planner = Agent(model=ScriptedModel([finish({"calls": [*plan]})]), answer=CallPlan)
    return strategy_agent(ReWOO(works, planner=planner), works)


def writer(post: Post, *replies: Any) -> AgentTool:
    """A sub-agent that writes."""
    return delegate(agent(post, *(replies or (WRITE,))), name="write", description="Writes.")


LOST = step("E1", "look", q="lost")
STEP = step("E2", "look", q="x")
SEND = step("E3", "send", to="#E2")


class Own:
    """A strategy of one's own that has runs, and calls a tool itself."""

    name = "own"

    def __init__(
        self, works: Agent, send: Tool | AgentTool, steps: Sequence[Sequence[str]]
    ) -> None:
        self.roles = {"work": works, "send": send}
        self.steps = steps
        self.params = {"steps": [[*each] for each in steps]}

    async def __call__(self, runs: Runs, task: str) -> Json:
        """At each step, make these at once."""
        ways = {"work": {"task": task}, "send": {"to": "a"}}
        for each in self.steps:
            await runs.together([runs.call(role, **ways[role]) for role in each])
        return "done"


def own(post: Post, *steps: Sequence[str], does: Sequence[Any] = (WRITE,), **more: Any) -> Agent:
    works = agent(post, *does, **more)
    return strategy_agent(Own(works, works.tools[0], steps), works)


def with_writer(post: Post, plan: Sequence[Json], *replies: Any, **more: Any) -> Agent:
    """A plan in which a sub-agent writes."""
    return rewoo(post, plan, *replies, tools=[*post.tools, writer(post)], **more)


def solved(works: Agent, *steps: str) -> Agent:
    planner = Agent(model=ScriptedModel([finish({"steps": [*steps]})]), answer=StepPlan)
    return strategy_agent(PlanAndSolve(works, planner=planner), works)


def evaluated(post: Post) -> Agent:
    works = agent(post, act("publish", task="t", answer="a"))
    publish = next(each for each in post.tools if each.name == "publish")
    return strategy_agent(Reflexion(works, evaluator=publish), works)


def searched(post: Post) -> Agent:
    works = agent(post, act("publish", task="t", answer="a"))
    publish = next(each for each in post.tools if each.name == "publish")
    return strategy_agent(TreeSearch(works, scorer=publish, max_branches=2, steps=3), works)


def rescued(post: Post, *does: Any, send: Json = SEND, **more: Any) -> Agent:
    """A look-up fails, the run that looks for another way does this, and then comes a call."""
    return rewoo(post, [LOST, STEP, send], *(does or (WRITE,)), **more)


def code(text: str) -> Move:
    return act("run_code", code=text)


FORMS: dict[str, Callable[[Post], Agent]] = {
    "another way, then the call": rescued,
    "another way, then the call in the next step": lambda p: rewoo(
        p, [LOST, step("E2", "send", to="a")], WRITE, limits=Limits(calls_per_step=1)
    ),
    "a value in another way, then the call": lambda p: rewoo(
        p, [LOST, step("E2", "send", to="#E1")], WRITE, finish({"value": "a", "why": ""})
    ),
    "a default spelled out": lambda p: rescued(p, send=step("E3", "send", to="#E2", text="")),
    "idempotent": lambda p: rescued(p, act("put", to="a"), send=step("E3", "put", to="#E2")),
    "an unknown outcome": lambda p: rescued(
        p, act("lose", to="a"), send=step("E3", "lose", to="#E2")
    ),
    "a program": lambda p: rescued(p, code('send(to="a")')),
    "two in a reply": lambda p: rescued(p, acts(act("look", q="x"), WRITE)),
    "a sub-agent in a run": lambda p: rescued(
        p, act("write", task="x"), tools=[*p.tools, writer(p)]
    ),
    "handed on, then made": lambda p: rescued(p, act("wire", to="a")),
    "made, then to be handed on": lambda p: rescued(p, send=step("E3", "wire", to="#E2")),
    "an amending guard": lambda p: rescued(p, guards=[amends]),
    "a sub-agent, then the call": lambda p: with_writer(
        p, [step("E1", "write", task="x"), step("E2", "send", to="#E1")]
    ),
    "a sub-agent and the call at once": lambda p: with_writer(
        p, [step("E1", "write", task="x"), step("E2", "send", to="a")]
    ),
    "the call and a sub-agent at once": lambda p: with_writer(
        p, [step("E1", "send", to="a"), step("E2", "write", task="x")]
    ),
    "the call, then a sub-agent": lambda p: with_writer(
        p, [step("E1", "send", to="a"), step("E2", "write", task="#E1")]
    ),
    "another way, then a sub-agent": lambda p: with_writer(
        p, [LOST, STEP, step("E3", "write", task="#E2")], WRITE
    ),
    "a sub-agent twice": lambda p: with_writer(
        p, [step("E1", "write", task="x"), step("E2", "write", task="#E1")]
    ),
    "own: a run, then the call": lambda p: own(p, ["work"], ["send"]),
    "own: the call, then a run": lambda p: own(p, ["send"], ["work"]),
    "own: at once": lambda p: own(p, ["work", "send"]),
    "own: at once, the call first": lambda p: own(p, ["send", "work"]),
    "own: a run between": lambda p: own(
        p, ["work"], ["work"], ["send"], does=[lambda q: WRITE if "t" in str(q) else say("a")]
    ),
    "own: a program at once": lambda p: own(p, ["work", "send"], does=[code('send(to="a")')]),
    "own: of a run of a strategy": lambda p: strategy_agent(
        Own(own(p, ["work"]), p.tools[0], [["work"], ["send"]]), agent(p)
    ),
    "own: at once with a run of a strategy": lambda p: strategy_agent(
        Own(own(p, ["work"]), p.tools[0], [["work", "send"]]), agent(p)
    ),
    "a worker that plans": lambda p: divided_agent(rescued(p), 1),
    "workers that plan": lambda p: divided_agent(rescued(p), 2),
    "workers of one's own": lambda p: divided_agent(own(p, ["work"], ["send"]), 3),
    "a step that plans": lambda p: solved(rescued(p), "write"),
    "two steps of one's own": lambda p: solved(own(p, ["send"]), "write", "write again"),
    "stages": lambda p: strategy_agent(
        Chaining({"one": agent(p, WRITE), "two": own(p, ["send"])}), agent(p)
    ),
    "an evaluator": evaluated,
    "a scorer": searched,
}


async def reject(agent: Agent, store: Any) -> None:
    """Say no to whatever waits, until nothing does."""
    result = await resume(agent, "r", store=store)
    rounds = 0
    while result.status == "held":
        for waits in await pending_approvals(store=store):
            assert " already, by r-" in waits.why or " already, by r:" in waits.why
            await rule(waits.id, allow=False, store=store)
        result = await resume(agent, "r", store=store)
        rounds += 1
        assert rounds < 9


async def replays(agent: Agent, store: Any) -> None:
    """A replay comes to the same end."""
    again = await replay(agent, "r", store=store)
    assert again.trajectory.stop == (await read("r", store=store)).stop


@pytest.mark.parametrize("form", FORMS)
async def test_it_is_had_once(form: str) -> None:
    post, store = Post(), MemoryStore()
    forms = FORMS[form](post)
    held = await run(forms, "t", store=store, run_id="r")
    assert (held.status, len(post.sent)) == ("held", 1)
    await replays(forms, store)
    await reject(forms, store)
    assert len(post.sent) == 1
    await replays(forms, store)


FREE: dict[str, tuple[int, Callable[[Post], Agent]]] = {
    "planned twice": (
        2, lambda p: rewoo(p, [step("E1", "send", to="a"), step("E2", "send", to="a")])
    ),
    "planned twice, one after the other": (
        2, lambda p: rewoo(p, [step("E1", "send", to="a"), step("E2", "send", to="#E1")])
    ),
    "asked for three times": (3, lambda p: own(p, ["send", "send"], ["send"])),
    "another letter": (2, lambda p: rescued(p, act("send", to="b"))),
    "a run that failed for certain": (1, lambda p: rescued(p, act("look", q="lost"))),
    "a run that only looked": (
        2, lambda p: own(p, ["work"], ["send"], ["send"], does=[act("look", q="x")])
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FREE)
async def test_what_is_no_repetition_waits_for_nobody(form: str) -> None:
    post, store = Post(), MemoryStore()
    letters, make = FREE[form]
    value = make(post)
    ended = await run(value, "t", store=store, run_id="r")
    assert ended.status == "answered"
    assert len(post.sent) == letters
    await replays(value, store)


@pytest.mark.parametrize(
    "form", ["another way, then the call", "own: at once", "a worker that plans"]
)
async def test_a_person_may_let_it_happen_twice(form: str) -> None:
    post, store = Post(), MemoryStore()
    forms = FORMS[form](post)
    await run(forms, "t", store=store, run_id="r")
    (waits,) = await pending_approvals(store=store)
    await rule(waits.id, allow=True, store=store)
    ended = await resume(forms, "r", store=store)
    assert (ended.status, post.sent) == ("answered", ["a", "a"])
    await replays(forms, store)


DYING = ["another way, then the call", "own: a run, then the call", "own: the call, then a run"]


@pytest.mark.parametrize("form", [*DYING, "own: at once", "own: at once, the call first"])
async def test_a_process_that_dies_anywhere_repeats_nothing(form: str) -> None:
    cut_store = CutStore()
    await run(FORMS[form](Post()), "t", store=cut_store, run_id="r")
    for left in range(2, cut_store.written):
        post, store = Post(), CutStore(left=left)
        with suppress(StoreError):  # what is written at once may be fewer commits this time
            await run(FORMS[form](post), "t", store=store, run_id="r")
        store.left = 1 << 30
        again = FORMS[form](post)
        first = await resume(again, "r", store=store)
        assert (first.status, len(post.sent) < 2) == ("held", True)
        await reject(again, store)
        assert len(post.sent) < 2  # none, where the process died as it was about to send it


async def test_after_a_failure_the_call_is_held_in_a_new_process() -> None:
    post, store = Post(), MemoryStore()

    def fails(prompt: Prompt) -> Move:
        del prompt
        raise ModelError("down")

    with pytest.raises(ModelError):
        await run(rescued(post, WRITE, fails), "t", store=store, run_id="r")
    assert post.sent == ["a"]
    held = await resume(rescued(post, WRITE), "r", store=store)
    assert (held.status, post.sent) == ("held", ["a"])


async def test_forks_and_further_questions_are_held_too() -> None:
    post, store = Post(), MemoryStore()
    composed = own(post, ["work"], ["send"])
    await run(composed, "t", store=store, run_id="r")
    await reject(composed, store)
    forked = await fork(composed, "r", at=1, store=store, new_id="f")
    assert (forked.status, post.sent) == ("held", ["a"])
    works = agent(post, say("a"))
    plain = strategy_agent(Own(works, works.tools[0], [["send"]]), works)
    more = await resume(plain, "r", say="And now?", store=store, accept_change=True)
    assert (more.status, post.sent) == ("held", ["a"])
