"""After an effect, the next run of a strategy is told of it, and its repetition is held."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest

from clew import (
    Agent,
    MemoryStore,
    Tool,
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
from clew.interfaces import Json, ModelInfo, OnText, Prompt, RawCall, Reply, encode
from clew_strategies import (
    AnswerVerdict,
    Chaining,
    EvaluatorOptimizer,
    Orchestrator,
    PlanAndSolve,
    Reflexion,
    ReWOO,
    RoutedAgent,
    Routing,
    Runs,
    Score,
    TreeSearch,
    strategy_agent,
)
from tests.strategies.post import Post

DONE = "Already done in the world"


class Clerk:
    """A model that works as its instructions say, and sees what its prompts tell of effects.

    A clerk makes the call `acts(n)` in its run n, and answers; as a judge it finds fault with all
    answers before the one numbered `passes`.
    """

    info = ModelInfo("clerk")

    def __init__(
        self,
        acts: Callable[[int], RawCall],
        passes: int = 99,
        plan: Json = None,
    ) -> None:
        self.acts, self.passes, self.plan = acts, passes, plan
        self.told: list[str] = []
        self.runs = self.judged = 0

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next reply."""
        del on_text
        system = prompt.head[0].text
        if "You are the clerk" in system:
            return self._work(prompt)
        if "You judge" in system:
            self.judged += 1
            said: Json = {"passed": self.judged >= self.passes, "why": "not yet"}
        elif "You plan" in system or "Divide" in system:
            said = self.plan
        else:
            return Reply("I should do better.")
        return Reply(
            "", (RawCall(name="finish", arguments=encode({"answer": said}).decode()),), "calls"
        )

    def _work(self, prompt: Prompt) -> Reply:
        if not any(part.role == "tool" for part in prompt):
            self.runs += 1
            self.told += [part.text for part in prompt if DONE in part.text]
            return Reply("", (self.acts(self.runs),), "calls")
        return Reply(f"answer {self.runs}")


def letter(number: int) -> RawCall:
    """The same letter in each run."""
    del number
    return RawCall(name="send", arguments='{"to":"ada"}')


def clerk(model: Clerk, *tools: Tool) -> Agent:
    return Agent(model, tools, prompt="You are the clerk.", guards=[Provenance("off")])


def twice(agent: Agent) -> Any:
    return Chaining({"first": agent, "second": agent})


async def own(runs: Runs, task: str) -> Json:
    await runs.run("work", task)
    return (await runs.run("work", f"{task} Again.")).answer


class Own:
    """A strategy of one's own."""

    name = "own"
    params: Mapping[str, Json] = MappingProxyType({})

    def __init__(self, agent: Agent) -> None:
        self.roles = {"work": agent}

    __call__ = staticmethod(own)


STEPS = {"steps": ["write", "write again"]}
PARTS = {"parts": [{"task": "write"}]}
ROUTE = {"name": "a", "why": "it"}

WAYS: list[tuple[Callable[[Agent], Any], Json]] = [
    (Reflexion, None),
    (EvaluatorOptimizer, None),
    (PlanAndSolve, STEPS),
    (twice, None),
    (Own, None),
    (lambda a: Reflexion(strategy_agent(Orchestrator(a), a), trials=2), PARTS),
    (lambda a: EvaluatorOptimizer(strategy_agent(PlanAndSolve(a), a)), {"steps": ["write"]}),
    (lambda a: Reflexion(strategy_agent(Routing({"a": a}, {"a": "all"}, a.replace(
        prompt="You plan who works.", tools=(), answer=RoutedAgent)), a)), ROUTE),
    (lambda a: twice(strategy_agent(EvaluatorOptimizer(a, rounds=1), a)), None),
    (lambda a: PlanAndSolve(strategy_agent(EvaluatorOptimizer(a, rounds=1), a)), STEPS),
]  # fmt: skip


@pytest.mark.parametrize("way", range(len(WAYS)))
async def test_a_letter_that_was_sent_is_held_in_the_next_run(way: int) -> None:
    made, plan = WAYS[way]
    office, store = Post(), MemoryStore()
    model = Clerk(letter, plan=plan)
    agent = clerk(model, office.send)
    whole = strategy_agent(made(agent), agent)
    held = await run(whole, "Write to Ada.", store=store, run_id="r")
    assert (held.status, office.letters) == ("held", ["ada"])
    assert len(model.told) == 1
    assert 'send({"to":"ada"})' in model.told[0]
    (waits,) = await pending_approvals(store=store)
    assert (waits.tool, "was done already, by r-" in waits.why) == ("send", True)
    await rule(waits.id, allow=False, store=store)
    done = await resume(whole, "r", store=store)
    while done.status == "held":
        for waits in await pending_approvals(store=store):
            await rule(waits.id, allow=False, store=store)
        done = await resume(whole, "r", store=store)
    assert office.letters == ["ada"]
    record = await read("r", store=store)
    assert (await replay(whole, "r", store=store)).trajectory.stop == record.stop


@pytest.mark.parametrize("made", [Reflexion, EvaluatorOptimizer, twice, Own])
async def test_another_letter_is_not_held_but_told(made: Callable[[Agent], Any]) -> None:
    office, store = Post(), MemoryStore()
    model = Clerk(
        lambda number: RawCall(name="send", arguments=encode({"to": f"{number}"}).decode())
    )
    agent = clerk(model, office.send)
    await run(strategy_agent(made(agent), agent), "Write.", store=store)
    assert len(office.letters) == len(set(office.letters)) == model.runs > 1
    assert [told.count("- send(") for told in model.told] == [*range(1, model.runs)]


@pytest.mark.parametrize("made", [Reflexion, EvaluatorOptimizer, twice, Own])
async def test_a_letter_of_which_nobody_knows_is_told_as_that(made: Callable[..., Any]) -> None:
    office, store = Post(fails=RuntimeError("the line broke")), MemoryStore()
    model = Clerk(letter)
    agent = clerk(model, office.send)
    done = await run(strategy_agent(made(agent), agent), "Write.", store=store)
    assert done.status == "held"
    assert "(it may or may not have happened)" in model.told[0]
    (waits,) = await pending_approvals(store=store)
    assert "may have been done already" in waits.why


@pytest.mark.parametrize("made", [Reflexion, EvaluatorOptimizer, twice, Own])
async def test_what_only_reads_may_be_done_again(made: Callable[[Agent], Any]) -> None:
    office = Post()
    model = Clerk(lambda number: RawCall(name="look", arguments='{"name":"Ada"}'))
    agent = clerk(model, office.look)
    done = await run(strategy_agent(made(agent), agent), "Look.", store=MemoryStore())
    assert (done.status in {"answered", "declined"}, model.told) == (True, [])
    assert model.runs > 1


@pytest.mark.parametrize("made", [Reflexion, EvaluatorOptimizer, twice, Own])
async def test_an_effect_of_a_sub_agent_is_held_in_the_next_runs_sub_agent(
    made: Callable[[Agent], Any],
) -> None:
    office, store = Post(), MemoryStore()
    inner = Clerk(letter)
    mail = [delegate(clerk(inner, office.send), name=f"mail{n}", description="Mail.") for n in "12"]
    outer = Clerk(
        lambda number: RawCall(name=f"mail{min(number, 2)}", arguments='{"task":"to Ada"}')
    )
    agent = Agent(outer, mail, prompt="You are the clerk.", guards=[Provenance("off")])
    done = await run(strategy_agent(made(agent), agent), "Write.", store=store)
    assert (done.status, office.letters) == ("held", ["ada"])


async def test_another_way_does_not_repeat_a_planned_call_whose_end_nobody_saw() -> None:
    office, store = Post(fails=RuntimeError("the line broke")), MemoryStore()
    plan = {"calls": [{"id": "E1", "tool": "send", "args": {"to": "ada"}}]}
    model = Clerk(letter, plan=plan)
    agent = clerk(model, office.send)
    done = await run(strategy_agent(ReWOO(agent), agent), "Write.", store=store, run_id="r")
    assert done.status == "held"
    (waits,) = await pending_approvals(store=store)
    assert "may have been done already, by r:2.1" in waits.why
    assert "(it may or may not have happened)" in model.told[0]


@pytest.mark.parametrize(("at", "judged"), [(1, 1), (2, 0)])
@pytest.mark.parametrize("made", [Reflexion, EvaluatorOptimizer])
async def test_a_fork_of_a_strategy_goes_on_from_the_runs_it_shares(
    made: Callable[[Agent], Any], at: int, judged: int
) -> None:
    office, store = Post(), MemoryStore()
    model = Clerk(letter, passes=1)
    agent = clerk(model, office.send)
    whole = strategy_agent(made(agent), agent)
    first = await run(whole, "Write.", store=store, run_id="r")
    assert (first.status, office.letters, model.judged) == ("answered", ["ada"], 1)
    model.judged = 0
    again = await fork(whole, "r", at=at, store=store, new_id="f")
    assert (again.status, again.answer) == ("answered", first.answer)
    assert office.letters == ["ada"]
    assert (model.judged, model.runs) == (judged, 1)
    other = await fork(whole, "f", at=1, store=store, new_id="g")  # a fork of a fork
    assert (other.status, office.letters) == ("answered", ["ada"])


@pytest.mark.parametrize("at", [1, 2, 3, 4])
async def test_a_fork_of_a_tree_search_goes_on(at: int) -> None:
    @tool(effect="pure")
    def score(task: str, answer: str) -> Score:
        """Score an answer.

        Args:
            task: The task.
            answer: The answer.
        """
        return Score(0.2, f"{answer} is wrong")

    office, store = Post(), MemoryStore()
    agent = clerk(
        Clerk(lambda number: RawCall(name="look", arguments='{"name":"Ada"}')), office.look
    )
    whole = strategy_agent(TreeSearch(agent, scorer=score, breadth=2, max_branches=4), agent)
    first = await run(whole, "Where?", store=store, run_id="r")
    again = await fork(whole, "r", at=at, store=store, new_id="f")
    assert (first.status, again.status) == ("declined", "declined")
    record = await read("f", store=store)
    told = [str(call.observation.content) for call in record.calls if call.observation]
    assert not [text for text in told if "not in this store" in text or "no run of its" in text]


@pytest.mark.parametrize("at", [0, 1, 2, 3])
async def test_no_fork_of_reflexion_repeats_what_later_trials_did(at: int) -> None:
    office, store = Post(), MemoryStore()
    model = Clerk(letter, passes=2)
    agent = clerk(model, office.send)
    whole = strategy_agent(Reflexion(agent, trials=2), agent)
    held = await run(whole, "Write.", store=store, run_id="r")
    assert held.status == "held"
    for waits in await pending_approvals(store=store):
        await rule(waits.id, allow=True, store=store)
    assert (await resume(whole, "r", store=store)).status == "answered"
    assert office.letters == ["ada", "ada"]
    model.judged = 0
    await fork(whole, "r", at=at, store=store, new_id="f")
    assert office.letters == ["ada", "ada"]


async def test_an_evaluators_effect_is_no_secret_to_the_next_trial() -> None:
    @tool(effect="unsafe")
    def send(to: str) -> str:
        """Send.

        Args:
            to: The address.
        """
        letters.append(to)
        return "sent"

    letters: list[str] = []
    judge = Clerk(letter)
    judging: Sequence[Tool] = [send]
    evaluator = Agent(
        judge,
        judging,
        prompt="You are the clerk.",
        answer=AnswerVerdict,
        guards=[Provenance("off")],
    )
    model = Clerk(letter)
    agent = clerk(model, send)
    whole = strategy_agent(EvaluatorOptimizer(agent, evaluator=evaluator), agent)
    done = await run(whole, "Write.", store=MemoryStore())
    assert (done.status, letters) == ("held", ["ada"])
