"""An agent as a tool: its own record, a grant of the budget, only its result in view."""

import time
from dataclasses import replace
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    Evidence,
    Limits,
    ModelError,
    Observation,
    StoreError,
    Tool,
    ToolError,
    Usage,
    Verdict,
    cancel,
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
from clew.agent.runner import has_begun, start, take_up
from clew.context import PROMPT
from clew.core.bounds import Tripped
from clew.core.budget import smaller_grant
from clew.core.contents import Grant, Spending, text_parts
from clew.core.entries import Entry
from clew.core.events import Attempt, Cancel, Changed, Charged, Judged, Ruling, Started, Stop
from clew.core.journal import Journal, load
from clew.core.pending import interrupt
from clew.core.prompts import Prompt
from clew.core.replay import replay as replay_record
from clew.core.steps import sum_of
from clew.core.stores import Append
from clew.core.tools import AgentTool, AnyTool, SubRun
from clew.core.trajectory import Trajectory
from clew.core.values import Json, encode
from clew.guards.limits import DEFAULT_COST
from clew.stores.memory import MemoryStore
from clew.testing.models import ScriptedModel, act, acts, finish, say
from clew_testing.cut_store import CutStore
from tests.core.family import family, go_on, hold_letters, letters, lone, scripted

pytestmark = pytest.mark.both_loops

PLENTY = Grant(6, 14, 500_000, 600.0, 0.5, 2)


def observed(trajectory: Trajectory, key: str = "1.1") -> Observation:
    """What a call observed."""
    seen = trajectory.call(key).observation
    assert seen is not None
    return seen


async def of(agent: Agent, store: MemoryStore, **more: Any) -> Trajectory:
    """The record of a run of this agent."""
    return await read(
        (await run(agent, "Do.", store=store, run_id="r", **more)).run_id, store=store
    )


# ---------------------------------------------------------------- what comes back


async def test_only_the_result_enters_the_view_of_the_run_that_asked() -> None:
    prompts: list[Prompt] = []

    def last(prompt: Prompt) -> Any:
        prompts.append(prompt)
        return say("done")

    child = Agent(model=scripted(act("calc", expression="1"), say("it is one")), tools=[calc])
    trajectory = await of(
        lone(child, act("other", task="count to one"), last), store := MemoryStore()
    )
    shown = "\n".join(part.text for part in prompts[0])
    assert "it is one" in shown
    assert "secret of the child" not in shown
    below = await read("r-1.1", store=store)
    assert (below.goal, below.parent_call, below.started.parent) == (
        "count to one",
        "r:1.1",
        "r:1.1",
    )
    assert "secret of the child" in str(below.entries)
    seen = observed(trajectory)
    assert (seen.content, seen.ok, seen.outcome, seen.effect) == ("it is one", True, "done", "read")
    assert seen.spent == Spending(2, 1, Usage(20, 10, cost=0.0))
    assert trajectory.total.steps == 4
    assert trajectory.total.tool_calls == 2
    assert trajectory.usage == Usage(40, 20, cost=0.0)


@tool(effect="pure")
def calc(expression: str) -> str:
    """Calculate.

    Args:
        expression: What.
    """
    return f"{expression} is the secret of the child"


def found(text: str, trust: Any) -> Tool:
    """A tool that finds two pieces."""

    async def call(_args: dict[str, Json], _key: str) -> Observation:
        pieces = (Evidence("d1", text, 0.9), Evidence("d2", "other", 0.4))
        return Observation(content=text, evidence=pieces, trust=trust)

    return Tool("find", "Find it.", {"type": "object", "properties": {}}, call, effect="read")


@pytest.mark.parametrize("trust", ["trusted", "untrusted"])
async def test_evidence_keeps_apart_what_several_sub_runs_found(trust: str) -> None:
    child = Agent(
        model=scripted(act("find"), say("so says [d1] (not [d9])")), tools=[found("x", trust)]
    )
    twice = acts(act("other", task="a"), act("other", task="b"))
    root = lone(child, twice, say("both say so [1.1/d1] [1.2/d1]"))
    result = await run(root, "Do.", store=(store := MemoryStore()), run_id="r")
    assert {piece.doc_id for piece in result.evidence} == {"1.1/d1", "1.2/d1"}
    assert [piece.doc_id for piece in result.cited] == ["1.1/d1", "1.2/d1"]
    assert result.evidence[0].text == "x"
    trajectory = await read("r", store=store)
    assert observed(trajectory).content == "so says [1.1/d1] (not [d9])"
    assert observed(trajectory).trust == trust
    assert trajectory.untainted is (trust == "trusted")


async def test_an_answer_of_another_type_is_cited_in_all_its_texts() -> None:
    answer: Json = {"n": 1, "why": ["[d1]", "[d2] and [d2]"]}
    child = Agent(
        model=scripted(act("find"), finish(answer), answer=dict), tools=[found("x", "trusted")],
        answer=dict[str, Any],
    )  # fmt: skip
    trajectory = await of(lone(child), MemoryStore())
    assert observed(trajectory).content == {"n": 1, "why": ["[1.1/d1]", "[1.1/d2] and [1.1/d2]"]}
    assert [piece.doc_id for piece in observed(trajectory).evidence] == ["1.1/d1", "1.1/d2"]


async def test_what_was_read_before_makes_the_goal_of_a_sub_run_untrusted() -> None:
    child = Agent(model=scripted(act("find"), say("fine")), tools=[found("x", "trusted")])
    root = lone(
        child,
        act("look"),
        act("other", task="a"),
        say("done"),
        more=[replace(found("y", "untrusted"), name="look")],
    )
    store = MemoryStore()
    trajectory = await of(root, store)
    below = await read("r-2.1", store=store)
    assert (below.untainted, below.started.trust) == (False, "untrusted")
    assert {observed(below).trust, observed(trajectory, "2.1").trust} == {"untrusted"}


async def object_to(answer: str, _so_far: Trajectory) -> str:
    """Take no answer."""
    return f"{answer} will not do"


async def refuse(text: str) -> Verdict:
    """Refuse all words."""
    assert text
    return Verdict("deny", "I will not")


LANDS = Limits(steps=1)


@pytest.mark.parametrize(
    ("child", "content", "code"),
    [
        pytest.param(
            Agent(
                model=scripted(act("calc", expression="1"), say("half")), tools=[calc], limits=LANDS
            ),
            {"answer": "half", "cut_short": "steps"},
            "",
            id="bound, with an answer",
        ),
        pytest.param(
            Agent(
                model=scripted(act("calc", expression="1")),
                tools=[calc],
                limits=replace(LANDS, landing=False),
                fallback="?",
            ),
            "ERROR: tool_error: the sub-run ended as bound (steps: 1 of 1 used) and gave no "
            'answer; declared for that case: "?"',
            "tool_error",
            id="bound, without",
        ),
        pytest.param(
            Agent(model=scripted(say("no")), checks=[object_to], tries=0),
            "ERROR: tool_error: the sub-run ended as failed (the answer was rejected: no will",
            "tool_error",
            id="failed",
        ),
        pytest.param(
            Agent(model=scripted(), screens=[refuse]),
            "ERROR: denied: the sub-run ended as refused (I will not) and gave no answer",
            "denied",
            id="refused",
        ),
    ],
)
async def test_a_sub_run_that_gave_no_answer_says_why(
    child: Agent, content: Json, code: str
) -> None:
    store = MemoryStore()
    trajectory = await of(root := lone(child), store)
    seen = observed(trajectory)
    if isinstance(content, str):
        assert seen.text.startswith(content)
    else:
        assert seen.content == content
    assert (seen.ok, seen.code, seen.outcome) == (not code, code, "not_done" if code else "done")
    assert trajectory.stop is not None
    assert trajectory.stop.answer == "done"
    await replay(root, "r", store=store)


UNFIT = "no task could be made of this (ConfigError: the task is"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (ToolError("only cities"), "only cities"),
        (KeyError("x"), "no task could be made of this (KeyError: 'x')"),
        (" ", "the task is empty: say what is to be done"),
        (["Go."], f"{UNFIT} a value of the type list: give a text)"),
        ("\ud800", f"{UNFIT} a text with half a character: give a text)"),
    ],
)
async def test_a_goal_that_cannot_be_written_is_for_the_model_to_mend(
    wrong: Any, text: str
) -> None:
    def goal(args: dict[str, Json]) -> Any:
        if args == {"city": "Rome"}:
            return "Go to Rome."
        if isinstance(wrong, Exception):
            raise wrong
        return wrong

    child = Agent(model=scripted(say("gone")))
    schema: dict[str, Json] = {"type": "object", "properties": {"city": {"type": "string"}}}
    go = delegate(child, name="go", description="Go.", parameters=schema, goal=goal)
    script = scripted(act("go", city="?"), act("go", city="Rome"), say("done"))
    store = MemoryStore()
    trajectory = await of(Agent(model=script, tools=[go]), store)
    assert observed(trajectory).text == f"ERROR: tool_error: {text}"
    assert observed(trajectory, "2.1").content == "gone"
    assert (await read("r-2.1", store=store)).goal == "Go to Rome."
    assert not await has_begun(store, "r-1.1")


def test_what_does_not_fit_is_said_when_the_tool_is_made() -> None:
    child = Agent(model=scripted())
    with pytest.raises(ConfigError, match="x: parameters and the goal that is written from them"):
        delegate(child, name="x", description="X.", goal=str)
    with pytest.raises(ConfigError, match="x: parameters and the goal"):
        delegate(child, name="x", description="X.", parameters={"type": "object"})
    acting = Agent(model=scripted(), tools=[letters([])])
    made = delegate(acting, name="x", description="X.")
    assert (made.effect, made.grant) == (
        "unsafe",
        Grant(15, 30, 1_000_000, 600.0, DEFAULT_COST, 3),
    )
    assert delegate(acting, name="x", description="X.", effect="read").effect == "read"
    other = delegate(acting.replace(tries=5), name="x", description="X.")
    assert made.version != other.version


async def test_whoever_watches_sees_the_sub_run_and_its_origin_is_recorded() -> None:
    class Seen:
        def __init__(self, run_id: str) -> None:
            self.run_id = run_id

        def token(self, text: str) -> None:
            del text

        def entry(self, entry: Any) -> None:
            seen.append((self.run_id, type(entry.event).__name__))

    seen: list[tuple[str, str]] = []
    child = Agent(model=scripted(say("gone")))
    made = delegate(child, name="go", description="Go.", watch=Seen, origin={"file": "go.toml"})
    store = MemoryStore()
    await of(Agent(model=scripted(act("go", task="x"), say("done")), tools=[made]), store)
    assert seen == [("r-1.1", "Started"), ("r-1.1", "Thought"), ("r-1.1", "Stop")]
    assert (await read("r-1.1", store=store)).started.origin["file"] == "go.toml"


# ---------------------------------------------------------------- the budget


def grants(trajectory: Trajectory) -> list[Grant | None]:
    """What was granted to the sub-runs of a run."""
    return [e.event.grant for e in trajectory.entries if isinstance(e.event, Attempt)]


async def test_sub_runs_of_a_step_get_equal_shares_and_the_run_keeps_what_it_needs() -> None:
    child = Agent(model=scripted(say("ok")))
    step = acts(*(act("other", task=str(n)) for n in range(3)), act("calc", expression="1"))
    limits = Limits(steps=12, tool_calls=13, tokens=90_000, cost=0.9, depth=2)
    trajectory = await of(lone(child, step, say("done"), limits=limits, more=[calc]), MemoryStore())
    given = grants(trajectory)
    assert given[0] is not None
    assert given == [given[0]] * 3
    share = given[0]
    # of 12 steps one is used and one kept; of 13 calls these four are the run's own
    assert (share.steps, share.tool_calls, share.depth) == (3, 3, 1)
    assert 28_000 < share.tokens < 30_000
    assert share.cost == pytest.approx(0.3)
    assert 599 < share.seconds <= 600  # passes for all at once


async def test_no_more_is_granted_than_the_agent_s_own_limits() -> None:
    own = Limits(steps=2, tool_calls=1, tokens=5_000, cost=0.1, seconds=5, depth=1)
    trajectory = await of(lone(Agent(model=scripted(say("ok")), limits=own)), MemoryStore())
    assert grants(trajectory) == [Grant(2, 1, 5_000, 5.0, 0.1, 1)]


async def test_what_several_sub_runs_took_is_counted_together() -> None:
    child = Agent(model=scripted(act("calc", expression="1"), say("one")), tools=[calc])
    twice = acts(act("other", task="a"), act("other", task="b"))
    trajectory = await of(lone(child, twice, say("done")), MemoryStore())
    assert (trajectory.total.steps, trajectory.total.tool_calls) == (2 + 2 * 2, 2 + 2)
    assert trajectory.total.usage == Usage(60, 30, cost=0.0)


def test_what_several_grants_come_to() -> None:
    grants = [Grant(1, 2, 3, 4.0), Grant(1, 2, 3, 4.0, 0.5, 1)]
    assert sum_of(grants) == Grant(2, 4, 6, 0.0, 0.5)


def test_the_smaller_of_two_grants_is_so_on_every_axis() -> None:
    no_price = replace_grant(PLENTY, cost=None)
    assert smaller_grant(no_price, no_price).cost is None
    assert (
        smaller_grant(PLENTY, no_price).cost == smaller_grant(no_price, PLENTY).cost == PLENTY.cost
    )


def replace_grant(grant: Grant, **more: Any) -> Grant:
    return Grant(**{name: getattr(grant, name) for name in grant.__struct_fields__} | more)


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        (Limits(steps=2), "steps"),
        (Limits(tool_calls=1), "tool calls"),
        (Limits(tokens=5_000), "tokens"),
        (Limits(cost=1e-9), "cost"),
        (Limits(seconds=0.03), "seconds"),
    ],
)
async def test_where_nothing_is_left_the_call_is_refused(limits: Limits, what: str) -> None:
    child = Agent(model=scripted(say("ok")))
    usage = Usage(2_000, 500, cost=5e-10)

    def think(_prompt: Prompt) -> Any:
        time.sleep(0.011)  # a thought takes its time, and another would too
        return act("other", task="a")

    root = lone(child, limits=limits).replace(
        model=replace(scripted(think, say("done")), usage=usage)
    )
    store = MemoryStore()
    trajectory = await of(root, store)
    seen = observed(trajectory)
    assert (seen.ok, seen.code, seen.outcome) == (False, "cap", "not_done")
    assert seen.text == (
        f"ERROR: cap: too little is left of this run's {what} to hand on: answer with what is known"
    )
    assert not await has_begun(store, "r-1.1")
    await replay(root, "r", store=store)


async def test_runs_are_nested_only_so_deep() -> None:
    def deeper(agent: Agent, levels: int) -> Agent:
        return agent if levels == 0 else deeper(lone(agent, limits=Limits(depth=2)), levels - 1)

    store = MemoryStore()
    bottom = Agent(model=scripted(say("ok")))
    assert (await run(deeper(bottom, 3), "Do.", store=store, run_id="r")).answer == "done"
    depths = [(await read(info.run_id, store=store)).grant for info in await store.runs()]
    assert sorted(grant.depth for grant in depths if grant is not None) == [0, 1]
    seen = observed(await read("r-1.1-1.1", store=store))
    assert seen.text == (
        "ERROR: cap: runs are nested as deep as they may be: do it yourself, with your other tools"
    )


async def test_a_sub_run_sees_only_its_grant_and_lands_when_it_is_used_up() -> None:
    tails: list[str] = []

    def tell(prompt: Prompt) -> Any:
        tails.append("\n".join(part.text for part in prompt.tail))
        return act("calc", expression=str(len(tails)))

    told = PROMPT.replace(tell_left="always")
    child = Agent(model=scripted(*[tell] * 3, say("half")), tools=[calc], prompt=told)
    root = lone(child, limits=Limits(steps=5))
    store = MemoryStore()
    trajectory = await of(root, store)
    assert grants(trajectory)[0] == (await read("r-1.1", store=store)).grant
    assert "3 steps are left." in tails[0]
    assert "2 steps are left." in tails[1]
    assert "This is the last step" in tails[2]
    assert observed(trajectory).content == {"answer": "half", "cut_short": "grant"}
    assert trajectory.total.steps == 5
    below = await read("r-1.1", store=store)
    assert below.landing is not None
    assert below.landing.detail == "steps: 3 granted, and used"
    await replay(child, "r-1.1", store=store)
    await replay(root, "r", store=store)


def test_a_grant_that_is_spent_to_the_cent_is_spent() -> None:
    who = Agent(model=ScriptedModel([say("x")]))
    first = Started(text_parts("q"), who.spec, grant=Grant(9, 9, 9_999, 60.0, cost=0.5))
    trajectory = Trajectory("r", [Entry(1, 0, 1, first)])
    assert who.engine.budget.standing(trajectory).unaffordable is None
    trajectory.add(Entry(2, 0, 1, Charged(Usage(cost=0.5))))
    assert who.engine.budget.standing(trajectory).unaffordable == Tripped(
        "grant_cost", "grant", "$0.5000 granted, and spent"
    )
    later = Trajectory("r", [Entry(1, 0, 1, first), Entry(2, 59_999, 1, Charged(Usage()))])
    assert who.engine.budget.standing(later).unaffordable is None
    later.add(Entry(3, 60_000, 1, Charged(Usage())))
    used = Tripped("grant_seconds", "grant", "seconds: 60 granted, and used")
    assert who.engine.budget.standing(later).unaffordable == used


@pytest.mark.parametrize("axis", ["tool_calls", "cost", "tokens"])
async def test_a_grant_binds_on_every_axis_and_a_further_word_gives_no_more(axis: str) -> None:
    usage = Usage(1_000, 500, cost=0.01)
    script = [act("calc", expression=str(n)) for n in range(20)]
    model = replace(scripted(*script), usage=usage)
    child = Agent(model=model, tools=[calc], limits=Limits(landing=False))
    limits = {"tool_calls": Limits(tool_calls=5), "cost": Limits(cost=0.1)}
    limits["tokens"] = Limits(tokens=15_000)
    store = MemoryStore()
    trajectory = await of(lone(child, limits=limits[axis]), store)
    below = await read("r-1.1", store=store)
    assert below.stop is not None
    assert below.grant is not None
    assert below.stop.reason.startswith("grant: ")
    assert axis.replace("_", "") in below.stop.reason.replace("_", "") or "$" in below.stop.reason
    assert trajectory.total.tool_calls <= 5 or axis != "tool_calls"
    assert (trajectory.usage.cost or 0.0) <= 0.1 or axis != "cost"
    assert trajectory.usage.tokens <= 15_000 or axis != "tokens"
    again = await fork(child, "r-1.1", at=len(below.steps), say="Go on.", store=store)
    assert again.status == "bound"
    assert again.reason.partition(" used")[0] == below.stop.reason.partition(" used")[0]


async def test_what_is_lent_counts_as_spent_until_the_rest_comes_back() -> None:
    """While a sub-run waits, a sibling that is ruled on later finds its grant gone."""
    done: list[tuple[str, str]] = []
    send = letters(done)
    child = Agent(
        model=scripted(act("send", text="a"), say("sent")), tools=[send], guards=[hold_letters]
    )
    step = acts(act("other", task="x"), act("send", text="b"))
    limits = Limits(tool_calls=4)
    root = lone(child, step, say("done"), limits=limits, more=[send], guards=[hold_letters])
    store = MemoryStore()
    result = await run(root, "Do.", store=store, run_id="r")
    assert [(each.run_id, each.call) for each in result.pending_approvals] == [
        ("r-1.1", "1.1"),
        ("r", "1.2"),
    ]
    trajectory = await read("r", store=store)
    assert (
        trajectory.reserved.tool_calls == 2
    )  # of 4: the call itself, two lent, one kept for `send`
    left = root.engine.budget.standing(trajectory).left
    assert (left.tool_calls, left.steps) == (1, 15 - 1 - trajectory.reserved.steps)
    assert left.tokens == 1_000_000 - 15 - trajectory.reserved.tokens
    await rule("r:1.2", allow=True, store=store)
    await resume(root, "r", store=store)
    assert done == [("r:1.2", "b")]
    await rule("r-1.1:1.1", allow=True, store=store)
    await resume(root, "r", store=store)
    trajectory = await read("r", store=store)
    assert (trajectory.reserved.tool_calls, trajectory.total.tool_calls) == (0, 3)
    assert root.engine.budget.standing(trajectory).left.tool_calls == 1
    await replay(root, "r", store=store)


async def test_the_calls_of_a_sub_run_are_capped_by_its_grant() -> None:
    many = acts(*(act("calc", expression=str(n)) for n in range(6)))
    child = Agent(model=scripted(many, say("ok")), tools=[calc])
    store = MemoryStore()
    trajectory = await of(lone(child, limits=Limits(tool_calls=4)), store)
    below = await read("r-1.1", store=store)
    assert below.total.tool_calls == 3
    assert observed(below, "1.4").text == (
        "ERROR: cap: all 3 tool calls granted are used: answer with what is known"
    )
    assert trajectory.total.tool_calls == 4


async def test_an_agent_without_a_price_is_granted_no_money() -> None:
    child = Agent(model=replace(scripted(say("ok")), priced=False, usage=Usage(10, 5)))
    middle = lone(child).replace(
        model=replace(scripted(act("other", task="x"), say("ok")), priced=False, usage=Usage(10, 5))
    )
    store = MemoryStore()
    await of(middle, store)
    grant = (await read("r-1.1", store=store)).grant
    assert grant is not None
    assert (grant.steps, grant.tool_calls, grant.cost) == (13, 29, None)
    priced = lone(middle)
    await run(priced, "Do.", store=store, run_id="p")
    for run_id in ("p-1.1", "p-1.1-1.1"):
        grant = (await read(run_id, store=store)).grant
        assert grant is not None
        assert grant.cost == DEFAULT_COST  # passed on, though nobody here knows a price


# ---------------------------------------------------------------- crashes, cancels, changes


async def test_a_model_that_fails_below_leaves_all_open_and_is_gone_on_with() -> None:
    store = MemoryStore()
    child = Agent(model=scripted(act("calc", expression="1")), tools=[calc])
    with pytest.raises(ModelError, match="the script is over"):
        await run(lone(child), "Do.", store=store, run_id="r")
    for run_id in ("r", "r-1.1"):
        assert (await read(run_id, store=store)).stop is None
    mended = child.replace(model=scripted(act("calc", expression="1"), say("ok")))
    result = await resume(lone(mended), "r", store=store)
    assert result.answer == "done"
    below = await read("r-1.1", store=store)
    assert len(below.steps) == 2
    assert (
        sum(isinstance(entry.event, Attempt) for entry in (await read("r", store=store)).entries)
        == 1
    )


async def test_another_agent_below_is_another_tool_and_is_accepted_with_it() -> None:
    done: list[tuple[str, str]] = []
    store = MemoryStore()
    child = Agent(
        model=scripted(act("send", text="a"), say("ok")), tools=[letters(done)],
        guards=[hold_letters],
    )  # fmt: skip
    await run(lone(child), "Do.", store=store, run_id="r")
    await rule("r-1.1:1.1", allow=True, store=store)
    other = lone(child.replace(tries=7))
    with pytest.raises(ConfigError, match=r"differs from the record's in tools\.other"):
        await resume(other, "r", store=store)
    assert (await resume(other, "r", store=store, accept_change=True)).ok
    below = await read("r-1.1", store=store)
    (changed,) = [entry.event for entry in below.entries if isinstance(entry.event, Changed)]
    assert changed.what == ("parts.tries",)


async def test_a_run_that_only_has_the_name_of_a_sub_run_is_left_alone() -> None:
    store = MemoryStore()
    child = Agent(model=scripted(say("mine")))
    await run(child, "Something else.", store=store, run_id="r-1.1")
    with pytest.raises(ConfigError, match=r"run r-1\.1 is in this store, and run r has not begun"):
        await run(lone(child), "Do.", store=store, run_id="r")


async def test_a_cancel_reaches_the_sub_run_that_is_at_work() -> None:
    store = MemoryStore()

    @tool(effect="read")
    async def wait() -> str:
        """Wait for somebody to lose patience."""
        await cancel("r", why="too slow", store=store)
        return "waited"

    child = Agent(model=scripted(act("wait"), say("never")), tools=[wait])
    root = lone(lone(child))
    result = await run(root, "Do.", store=store, run_id="r")
    assert (result.status, result.reason) == ("interrupted", "too slow")
    for run_id, steps in (("r", 3), ("r-1.1", 2), ("r-1.1-1.1", 1)):
        trajectory = await read(run_id, store=store)
        assert trajectory.stop is not None
        assert (trajectory.stop.status, trajectory.total.steps) == ("interrupted", steps)
        assert await store.inbox(run_id) == []
    await replay(root, "r", store=store)


class Told(MemoryStore):
    """A store in which the root is cancelled in the moment after its sub-run's attempt."""

    why = "at once"

    async def append(self, append: Append) -> bool:
        quiet = await super().append(append)
        if append.run_id == "r" and b'"child"' in append.lines[-1].body:
            await self.post("r", b"no event")
            await self.post("r", encode(Cancel(self.why)))
        return quiet


@pytest.mark.parametrize("why", ["at once", ""])
async def test_a_sub_run_that_is_only_now_begun_hears_of_a_cancel_before_it(why: str) -> None:
    store = Told()
    store.why = why
    root = lone(Agent(model=scripted()))
    result = await run(root, "Do.", store=store, run_id="r")
    assert (result.status, result.reason) == ("interrupted", why or "a person interrupted the run")
    below = await read("r-1.1", store=store)
    assert below.stop is not None
    assert (below.stop.status, len(below.steps)) == ("interrupted", 0)
    await replay(root, "r", store=store)


async def test_a_sub_run_that_was_interrupted_before_it_was_begun_is_begun_by_nobody() -> None:
    """Neither by a worker that was about to, was frozen, and wakes up when all is over."""
    cut = CutStore()
    root = lone(Agent(model=scripted(say("ok"))))
    cut.left = 4  # begun: created, started, thought, attempted
    with pytest.raises(StoreError):
        await run(root, "Do.", store=cut, run_id="r")
    store = cut.inner
    await cancel("r", store=store)
    assert (await resume(root, "r", store=store)).status == "interrupted"
    trajectory = await read("r", store=store)
    assert observed(trajectory).text == (
        "ERROR: interrupted: the sub-run ended as interrupted (a person interrupted the run) "
        "and gave no answer"
    )
    assert observed(trajectory).outcome == "not_done"
    below = await read("r-1.1", store=store)
    assert [type(entry.event) for entry in below.entries] == [Started, Stop]
    with pytest.raises(StoreError, match=r"there is a run 'r-1\.1' already"):
        await start(root, "do it", store, run_id="r-1.1", parent="r:1.1")
    await replay(root, "r", store=store)


async def test_a_task_that_is_cancelled_inside_a_sub_run_leaves_all_open() -> None:
    """As Ctrl-C does it: nothing is written, and whoever resumes the root goes on below."""
    done: list[str] = []
    store = MemoryStore()
    inside = anyio.Event()

    @tool(effect="unsafe", timeout=0.2)  # it is seen to its end
    async def push() -> str:
        """Push a button."""
        done.append("pushed")
        inside.set()
        await anyio.sleep_forever()
        return "never"

    child = Agent(model=scripted(act("push"), say("I looked: it was pushed")), tools=[push])
    root = lone(child)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: run(root, "Do.", store=store, run_id="r"))
        await inside.wait()
        group.cancel_scope.cancel()
    assert (await read("r", store=store)).stop is None
    assert (await resume(root, "r", store=store)).answer == "done"
    assert done == ["pushed"]
    assert observed(await read("r-1.1", store=store)).outcome == "unknown"
    seen = observed(await read("r", store=store))
    assert (seen.content, seen.outcome) == ("I looked: it was pushed", "unknown")


async def test_an_answer_that_was_there_before_the_interrupt_is_not_lost() -> None:
    store = CutStore()
    root = lone(Agent(model=scripted(say("found"))))
    store.left = 8  # as above, and the sub-run to its end; not what the call observed
    with pytest.raises(StoreError):
        await run(root, "Do.", store=store, run_id="r")
    assert (await read("r-1.1", store=store)).stop is not None
    await cancel("r", store=store.inner)
    await resume(root, "r", store=store.inner)
    assert observed(await read("r", store=store.inner)).content == "found"


# ---------------------------------------------------------------- forks, replay, tools by hand


async def test_a_fork_has_sub_runs_of_its_own() -> None:
    """A step whose sub-run goes on is not complete, so no fork begins with an open one."""
    done: list[tuple[str, str]] = []
    store = MemoryStore()
    root, _, _ = family(done)
    await run(root, "Write.", store=store, run_id="r")
    with pytest.raises(ConfigError, match=r"cannot be forked at 1: give 0 to 0 \(step 1 waits for"):
        await fork(root, "r", at=1, store=store, new_id="f")
    again = await fork(root, "r", at=0, store=store, new_id="f")
    assert {each.why.split(":")[0] for each in again.pending_approvals} == {
        "this may have been done already, by r"
    }
    for each in again.pending_approvals:
        await rule(each.id, allow=True, store=store)
    again = await resume(root, "f", store=store)
    assert {each.run_id for each in again.pending_approvals} == {"f-1.1-1.1", "f-1.2-1.1"}
    assert len(await pending_approvals(store=store)) == 8
    for each in again.pending_approvals:
        await rule(each.id, allow=True, store=store)
    assert (await resume(root, "f", store=store)).answer == "done"
    assert {key.partition("-")[0] for key, _ in done} == {"f"}
    assert (await read("r-1.1", store=store)).stop is not None
    later = await fork(root, "f", at=1, say="And again?", store=store, new_id="g")
    assert later.status == "answered"
    assert len(done) == 4  # what the shared step did below it is shared


async def test_a_sub_run_of_another_run_is_never_taken_up() -> None:
    """As in a record that was copied under another id."""
    store = MemoryStore()
    root = lone(Agent(model=scripted(say("not for you"))))
    await of(root, store)
    lines = [entry.event for entry in (await read("r", store=store)).entries[1:3]]
    journal = await start(root, "Do.", store, run_id="copy")
    await journal.record(*lines)
    result = await resume(root, "copy", store=store)
    seen = observed(await read("copy", store=store))
    assert result.answer == "done"
    assert seen.text == (
        "ERROR: unknown: it was begun as run r-1.1, which is not this run's: look there"
    )
    assert seen.outcome == "unknown"
    assert not await has_begun(store, "copy-1.1")


async def test_a_replay_needs_no_record_but_the_run_s_own() -> None:
    done: list[tuple[str, str]] = []
    store = MemoryStore()
    root, office, clerk = family(done)
    await go_on(root, store)
    assert len(done) == 4
    alone = MemoryStore()
    for agent, run_id in ((root, "r"), (office, "r-1.2"), (clerk, "r-1.2-1.1")):
        await replay_record(agent.engine, await load(store, run_id), alone)
    assert await alone.runs() == []
    assert len(done) == 4


def by_hand(sub: Any) -> Agent:
    """An agent with a tool whose sub-run is none of ours."""
    parameters: dict[str, Json] = {"type": "object", "properties": {}}
    made: AnyTool = AgentTool("mine", "Mine.", parameters, sub, effect="read")
    if sub is None:
        made = replace(calc, name="mine", parameters=parameters)
    return Agent(model=scripted(act("mine"), say("done")), tools=[made])


async def test_a_run_whose_worker_died_over_one_of_two_sub_runs_replays() -> None:
    died = anyio.CancelScope()

    class Watch:
        def token(self, text: str) -> None: ...

        def entry(self, entry: Entry) -> None:
            if isinstance(entry.event, Observation):  # of the first; the other is at work
                died.cancel()

    async def sub(given: SubRun) -> Observation | Verdict:
        if given.parent == "r:1.2" and not died.cancel_called:
            await anyio.sleep_forever()
        return Observation(content="ok", outcome="not_done")

    store = MemoryStore()
    root = by_hand(sub).replace(model=scripted(acts(act("mine"), act("mine")), say("done")))
    with died:
        await run(root, "Do.", store=store, run_id="r", listener=Watch())
    assert (await resume(root, "r", store=store)).answer == "done"
    record = await load(store, "r")
    replayed = await replay_record(root.engine, record, MemoryStore())
    assert replayed.trajectory.entries == record.entries


async def test_a_tool_may_keep_its_sub_runs_where_it_likes() -> None:
    asked: list[SubRun] = []

    async def sub(given: SubRun) -> Observation | Verdict:
        asked.append(given)
        if len(asked) == 1:
            return Verdict("hold", "somebody must look at it elsewhere")
        return Observation(content={"ok": 1}, outcome="not_done", spent=Spending(2, 3, Usage(7, 1)))

    store = MemoryStore()
    root = by_hand(sub)
    result = await run(root, "Do.", store=store, run_id="r")
    assert result.pending_approvals[0].why == "somebody must look at it elsewhere"
    assert await pending_approvals(store=store) == ()  # it is told where it waits
    await store.post("r", b'{"event":"ruling","call":"1.1","allow":true}')
    assert (await resume(root, "r", store=store)).ok
    assert [(each.run_id, each.parent, each.waited) for each in asked] == [
        ("r-1.1", "r:1.1", False),
        ("r-1.1", "r:1.1", True),
    ]
    assert asked[0].grant == asked[1].grant
    trajectory = await read("r", store=store)
    assert (trajectory.total.steps, trajectory.total.tool_calls, trajectory.usage.input) == (
        4,
        4,
        27,
    )
    assert [e.event.by for e in trajectory.entries if isinstance(e.event, Judged)] == ["sub-run"]
    await replay(root, "r", store=store)


async def held_always(given: SubRun) -> Verdict:
    """Wait, even where it is to be closed."""
    return Verdict("hold", f"{given.run_id} waits")


async def test_a_sub_run_that_is_to_be_closed_may_not_wait() -> None:
    store = MemoryStore()
    root = by_hand(held_always)
    await run(root, "Do.", store=store, run_id="r")
    await cancel("r", store=store)
    with pytest.raises(ConfigError, match="a sub-run that is to be closed cannot be held: mend"):
        await resume(root, "r", store=store)


async def test_a_tool_that_hands_on_no_more_is_told_of() -> None:
    store = MemoryStore()
    root = by_hand(held_always)
    await run(root, "Do.", store=store, run_id="r")
    plain = by_hand(None)
    journal = await take_up(plain, "r", store, accept_change=True)
    await journal.record(Ruling("1.1", allow=True))
    with pytest.raises(
        ConfigError, match=r"was begun in a run of its own \(r-1\.1\), and now works"
    ):
        await resume(plain, "r", store=store)
    await interrupt(plain.engine, await Journal.open(store, "r"), "enough")
    seen = observed(await read("r", store=store))
    assert seen.text == (
        "ERROR: unknown: a person interrupted it, and nobody is left to close its run r-1.1"
    )
