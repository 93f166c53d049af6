"""The page says every key of what `to_json()` gives, and no other."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from clew import Agent, Evidence, MemoryStore, Usage, pending_approvals, read, run, tool
from clew.guards import Provenance
from clew.guards.links import OutsideLink
from clew.interfaces import Json
from clew.testing import ScriptedModel, act, finish
from clew_evals import Table
from clew_evals.table import Column

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[2] / "docs" / "streams.md"


def told() -> dict[str, set[str]]:
    """The keys of the table, by what they are of; links and words beside them left out."""
    section = PAGE.read_text("utf-8").partition("## As JSON")[2]
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE)
    return {of: {*re.findall(r"`(\w+)`", keys)} for of, keys in rows}


@tool(approve="ask first")
def pay(to: str) -> str:
    """Pay somebody."""
    raise OSError(to)


async def results() -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Json]]:
    """A held result, one whose call may have happened, and an entry."""
    store, script = MemoryStore(), [act("pay", to="Ada"), finish("Paid.")]
    agent = Agent(ScriptedModel(script), tools=[pay], guards=[Provenance("off")])
    held = await run(agent, "Pay Ada.", store=store, run_id="r")
    (waiting,) = await pending_approvals(store=store)
    assert held.to_json()["pending_approvals"] == [waiting.to_json()]
    again = agent.replace(tools=[tool(pay.function)])
    unknown = await run(again, "Pay Ada.", store=store)
    entry = (await read("r", store=store)).entries[0]
    return held.to_json(), unknown.to_json(), entry.to_json()


async def test_the_page_says_every_key() -> None:
    keys = told()

    def same(of: str, document: Iterable[str]) -> None:
        assert keys.pop(of) == {*document}, of

    held, unknown, entry = await results()
    same("a result", held)
    same("an approval", held["pending_approvals"][0])
    same("`unknown`", unknown["unknown"][0])
    same("`work`", held["work"])
    same("`usage`, `lost`", held["usage"])
    assert held["lost"].keys() == held["usage"].keys() == {*Usage.__struct_fields__, "tokens"}
    same("`cited`, `evidence`", msgspec.structs.asdict(Evidence("d", "t", 1.0, "s")))
    same("`links`", msgspec.structs.asdict(OutsideLink("https://a.example", "1.1")))
    same("a table of an evaluation", Table("t", "T", (Column("a"),), ()).to_json())
    assert keys.pop("an entry") <= entry.keys()
    assert keys.pop("an item of a stream") == {"event"}
    assert keys.keys() <= {"of", "---"}
