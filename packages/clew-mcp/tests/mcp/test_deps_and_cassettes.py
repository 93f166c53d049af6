"""Deps beside the tools of an MCP server, with a model whose replies are recorded and played again.

Each way to run, by each way to give the deps: both times they reach tools, guards and checks, the
server is called, and neither the record nor the cassette has a secret of theirs.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import anyio
import pytest

from clew import (
    Agent,
    Call,
    Observation,
    RunContext,
    Tool,
    Verdict,
    batch,
    delegate,
    list_runs,
    pending_approvals,
    read,
    resume,
    rule,
    run,
    start,
    submit,
    sync,
)
from clew.deps import RunIdentity
from clew.guards import Provenance
from clew.testing import Cassette, ScriptedModel, act, acts, finish
from clew.workers import WorkerConfig, work
from clew_mcp import McpServer, mcp_tools
from tests.deps.shop import REFUND, SECRET, Shop, refund
from tests.mcp.web import serving, shop

pytestmark = [
    pytest.mark.slow,
    pytest.mark.parametrize("anyio_backend", ["asyncio"]),  # uvicorn's
]

USER: Final = {"user": "u17"}
RUN: Final = "r"
SEEN: Final = list[str]()
"""What all shops saw: a run that goes on gets one that was made again."""
SCRIPT: Final = (acts(act("shop_price", item="boat"), act("shop_count")), REFUND, finish("done"))


def shop_of(identity: RunIdentity) -> Shop:
    """The shop of a run, by its recorded labels and owner."""
    return Shop(f"{identity.labels['user']} of {identity.owner}", SEEN)


async def shop_of_later(identity: RunIdentity) -> Shop:
    """The same, of a factory that waits."""
    await anyio.lowlevel.checkpoint()
    return shop_of(identity)


async def watched(call: Call, ctx: RunContext[Shop]) -> Verdict | None:
    """A guard that gets them for calls of the server too."""
    ctx.deps.seen.append(f"guard of {call.action.name} for {ctx.deps.user}")
    return None


async def holds(call: Call, ctx: RunContext[Shop]) -> Verdict | None:
    """A guard that holds what the user of the deps may not do alone."""
    alone = not ctx.deps.user.startswith("u17")
    return Verdict("hold", "ask") if call.action.name == "refund" and not alone else None


async def checked(answer: str, ctx: RunContext[Shop]) -> str | None:
    """A check that gets them."""
    ctx.deps.seen.append(f"check of {answer} for {ctx.deps.user}")
    return None


@dataclass
class Play:
    """One time: an agent with the model of the cassette and the tools of the server."""

    cassette: Cassette
    tools: Sequence[Tool]
    given: str
    store: str
    shop: Shop

    def agent(self, *guards: Any) -> Agent[str, Shop]:
        """The agent, made anew as by another process."""
        model = self.cassette.model("m", lambda: ScriptedModel(SCRIPT))
        factory = {"value": None, "factory": shop_of, "async factory": shop_of_later}
        return Agent[str, Shop](
            model, [*self.tools, refund], guards=[Provenance("off"), watched, *guards],
            checks=[checked], deps=cast("Any", factory[self.given]),
        )  # fmt: skip

    @property
    def options(self) -> dict[str, Any]:
        """What each way to run is told."""
        deps = {"deps": self.shop} if self.given == "value" else {}
        return {"store": self.store, "labels": USER, "owner": "ann", **deps}

    @property
    def again(self) -> dict[str, Any]:
        """What each way to go on is told: labels are on record."""
        return {name: value for name, value in self.options.items() if name != "labels"}


Way = Callable[[Play], Awaitable[object]]


async def by_run(play: Play) -> None:
    await run(play.agent(), "Pay.", run_id=RUN, **play.options)


async def by_open_agent(play: Play) -> None:
    async with play.agent() as agent:
        await run(agent, "Pay.", run_id=RUN, **play.options)


async def by_start(play: Play) -> None:
    await (await start(play.agent(), "Pay.", run_id=RUN, **play.options)).wait()


async def by_sync(play: Play) -> None:
    told = partial(sync.run, play.agent(), "Pay.", run_id=RUN, **play.options)
    await anyio.to_thread.run_sync(told)


async def by_batch(play: Play) -> None:
    await batch(play.agent(), ["Pay.", "Pay twice."], name=RUN, **play.options)


async def by_worker(play: Play) -> None:
    await submit(play.agent(), "Pay.", run_id=RUN, **play.options)
    await work(WorkerConfig(store=play.store, agents=[play.agent()], until_idle=True))


async def by_delegate(play: Play) -> None:
    hands = delegate(play.agent(), name="pay", description="Pays.")
    script = ScriptedModel([act("pay", task="Pay."), finish("done")])
    above = Agent[str, Shop](script, [hands], guards=[Provenance("off")], deps=play.agent().deps)
    await run(above, "Pay.", run_id=RUN, **play.options)


async def by_ruling(play: Play) -> None:
    held = await run(play.agent(holds), "Pay.", run_id=RUN, **play.options)
    assert held.status == "held"
    (asked,) = await pending_approvals(store=play.store, owner="ann")
    await rule(asked.id, allow=True, store=play.store, owner="ann")
    await resume(play.agent(holds), RUN, **play.again)


WAYS: Final[Mapping[str, Way]] = {
    each.__name__.removeprefix("by_"): each
    for each in (
        by_run, by_open_agent, by_start, by_sync, by_batch, by_worker, by_delegate, by_ruling,
    )
}  # fmt: skip


async def played(play: Play, way: str) -> tuple[list[str], dict[str, list[Observation]]]:
    """What the deps saw, and what each run's calls of the server gave."""
    await WAYS[way](play)
    assert not play.cassette.problem
    results = dict[str, list[Observation]]()
    for each in await list_runs(0, store=play.store, owner="ann"):
        record = await read(each.run_id, store=play.store)
        assert record.stop is not None
        assert record.stop.status == "answered"
        assert SECRET not in str(record.entries)
        calls = [call for call in record.calls if call.action.name.startswith("shop_")]
        results[each.run_id] = [call.observation for call in calls if call.observation]
    return sorted(SEEN), results


@pytest.mark.share(3)
@pytest.mark.parametrize("given", ["value", "factory", "async factory"])
@pytest.mark.parametrize("way", WAYS)
async def test_they_meet(way: str, given: str, tmp_path: Path) -> None:
    if (way, given) == ("worker", "value"):
        return  # a worker has none but those that it makes
    path, told = tmp_path / "cassette.json", list[Any]()
    async with serving(shop().streamable_http_app()) as url:
        server = McpServer(name="shop", url=f"{url}/mcp")
        for record in (True, False):
            SEEN.clear()
            cassette = Cassette(path, record=record)
            tools = await mcp_tools(server, pins=tmp_path / "pins.json")
            store = str(tmp_path / f"{record}.sqlite")
            play = Play(cassette, tools, given, store, Shop("u17 of ann", SEEN))
            told.append(await played(play, way))
            cassette.save()
    (seen, results), (seen_again, results_again) = told
    assert seen == seen_again
    assert results.keys() == results_again.keys()
    runs = [each for each in results.values() if each]
    assert len(runs) == (2 if way == "batch" else 1)
    for one in (*runs, *[each for each in results_again.values() if each]):
        assert [each.content or each.text for each in one] == [{"price": 4}, "three"]
    times = len(runs)
    for line in ("guard of shop_price", "guard of shop_count", "check of done"):
        assert seen.count(f"{line} for u17 of ann") == times
    assert len([line for line in seen if line.startswith("refund A7 for u17 of ann")]) == times
    assert SECRET not in path.read_text()
