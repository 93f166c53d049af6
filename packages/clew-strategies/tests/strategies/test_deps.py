"""Labels, owner and deps reach every run of every strategy and of a vote, however they come."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, RunContext, list_runs, run, tool
from clew.deps import RunIdentity
from clew.interfaces import FINISH, Json, ModelInfo, OnText, Prompt, RawCall, Reply, encode
from clew.stores import RunNotFoundError
from clew.support.street import names_of
from clew.support.wings import STRATEGIES, find
from clew_strategies import (
    Chaining,
    Routing,
    strategy_agent,
    verifying,
    vote,
    vote_status,
)

LABELS = {"user": "u17"}
WITHOUT = {"strategy_agent"}
"""What of the registry is no strategy."""


@dataclass
class Desk:
    """The deps: whose desk it is, and who came to it."""

    user: str
    visits: list[tuple[str, Mapping[str, str], str]] = field(default_factory=list)


DESKS: dict[str, Desk] = {}


def open_desk(identity: RunIdentity) -> Desk:
    """The desk of a run, which only its labels tell."""
    return DESKS.setdefault(identity.run_id, Desk(identity.labels["user"]))


@tool(effect="read")
async def whose(ctx: RunContext[Desk]) -> str:
    """Say whose desk it is."""
    ctx.deps.visits.append((ctx.run_id, ctx.labels, ctx.owner))
    return ctx.deps.user


VALUES: Mapping[str, Json] = {
    "passed": True,
    "why": "it is",
    "steps": ["Look."],
    "calls": [{"id": "E1", "tool": "whose", "args": {}}],
    "parts": [{"task": "Look."}],
    "score": 1.0,
    "name": "only",
    "run": 1,
}
"""What a planner, a judge or a chooser says, by the field of its answer."""


class Guess:
    """A model that looks once where it can, and then answers as it is asked to."""

    info = ModelInfo("guess")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        known = {each.name: each for each in prompt.tools}
        looked = any(part.role == "tool" for part in prompt.parts)
        if "whose" in known and not looked and prompt.calls == "auto":
            return Reply("", (RawCall(name="whose", arguments="{}"),), "calls")
        if (ending := known.get(FINISH)) is None:
            return Reply("done")
        schema: dict[str, Any] = ending.parameters["properties"]["answer"]
        if named := schema.get("$ref"):
            schema = ending.parameters["$defs"][named.rpartition("/")[2]]
        answer = {name: VALUES[name] for name in schema.get("properties", {})} or "done"
        return Reply("", (RawCall(name=FINISH, arguments=encode({"answer": answer}).decode()),))


def worker(**more: Any) -> Agent[str, Desk]:
    return Agent(Guess(), [whose], **more)


def made(name: str, agent: Agent[Any, Any]) -> Agent[Any, Any]:
    """The agent that answers by a strategy of the registry, or by one that takes several."""
    if name == "chaining":
        return strategy_agent(Chaining({"first": agent, "second": agent}), agent)
    if name == "routing":
        return strategy_agent(Routing({"only": agent}, {"only": "all of it"}), agent)
    strategy: Callable[[Agent[Any]], Any] | None = find(STRATEGIES, name)
    assert strategy is not None
    return strategy_agent(strategy(agent), agent)


NAMES = [*sorted({*names_of(STRATEGIES)} - WITHOUT), "chaining", "routing", "vote"]


async def answered(name: str, agent: Agent[Any, Any], store: MemoryStore, **options: Any) -> str:
    """Answer by a strategy or a vote; the id of the whole."""
    if name == "vote":
        voted = await vote(agent, "Whose desk?", 2, store=store, **options)
        assert voted.result.ok, voted.words
        return voted.result.run_id
    result = await run(made(name, agent), "Whose desk?", store=store, **options)
    assert result.ok, result.reason
    return result.run_id


@pytest.mark.parametrize("way", ["deps", "factory"])
@pytest.mark.parametrize("name", NAMES)
async def test_every_run_has_them(name: str, way: str) -> None:
    store, desk = MemoryStore(), Desk("u17")
    agent = worker(deps=open_desk) if way == "factory" else worker()
    options: dict[str, Any] = {"deps": desk} if way == "deps" else {}
    root = await answered(name, agent, store, labels=LABELS, owner="Eve", **options)
    listed = await list_runs(0, store=store)
    assert len(listed) > 1
    assert {(tuple(each.labels.items()), each.owner) for each in listed} == {
        (tuple(LABELS.items()), "Eve")
    }
    desk = desk if way == "deps" else DESKS[root]  # one for all of it, made of the root's labels
    assert desk.user == "u17"
    assert desk.visits
    assert all(labels == LABELS and owner == "Eve" for _, labels, owner in desk.visits)


@pytest.mark.parametrize("name", NAMES)
async def test_nothing_begins_without_them(name: str) -> None:
    store = MemoryStore()
    with pytest.raises(ConfigError, match=r"the tool whose takes RunContext\[Desk\]\): give deps="):
        await answered(name, worker(), store)
    assert await list_runs(store=store) == []


async def test_a_verifier_gets_those_of_the_vote() -> None:
    store, desk = MemoryStore(), Desk("u17")
    verifier = verifying(Guess()).replace(tools=[whose])
    said = iter(["one", "two"])

    class Differs(Guess):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            reply = await super().complete(prompt, on_text)
            looks = any(call.name == "whose" for call in reply.calls)
            return reply if looks else Reply(next(said))

    agent = Agent[str, Desk](Differs(), [whose])
    voted = await vote(agent, "?", 2, verifier=verifier, store=store, deps=desk)
    assert voted.how == "verifier"
    assert len(desk.visits) == 3
    empty = MemoryStore()
    with pytest.raises(ConfigError, match=r"RunContext\[Desk\]"):
        await vote(Agent(Guess()), "?", 2, verifier=verifier, store=empty)
    assert await list_runs(store=empty) == []


async def test_another_s_vote_is_not_there() -> None:
    store = MemoryStore()
    agent = worker(deps=lambda _: Desk("u17"), store=store)
    await vote(agent, "?", 2, run_id="v", owner="Eve")
    assert (await vote(agent, "?", 2, run_id="v", owner="Eve")).result.ok
    assert (await vote_status(agent, "v", owner="Eve")).result.ok
    for reach in (
        vote_status(agent, "v", owner="Bob"),
        vote(agent, "?", 2, run_id="v", owner="Bob"),
    ):
        with pytest.raises(RunNotFoundError):
            await reach


@pytest.mark.parametrize("others", [{"user": "u18"}, {}, {**LABELS, "desk": "3"}])
async def test_a_vote_is_not_continued_with_other_labels(others: dict[str, str]) -> None:
    agent, store = worker(deps=open_desk), MemoryStore()
    first = await vote(agent, "?", 2, run_id="v", labels=LABELS, owner="Eve", store=store)
    before = await store.read("v")
    with pytest.raises(ConfigError, match=r"run v was begun with another label '(user|desk)'"):
        await vote(agent, "?", 2, run_id="v", labels=others, owner="Eve", store=store)
    with pytest.raises(RunNotFoundError):
        await vote(agent, "?", 2, run_id="v", labels=LABELS, owner="Bob", store=store)
    assert await store.read("v") == before
    for same in (None, LABELS):
        again = await vote(agent, "?", 2, run_id="v", labels=same, store=store)
        assert again.result.run_id == first.result.run_id
