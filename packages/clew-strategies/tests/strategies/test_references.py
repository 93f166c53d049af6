"""References of planned calls: read whole, or the plan goes back and no effect gets half of one."""

import pytest

from clew import Agent, MemoryStore, Result, run, tool
from clew.core.values import Json
from clew.guards import Provenance
from clew.testing import ScriptedModel, finish, say
from clew_strategies import ReWOO, strategy_agent
from clew_strategies.rewoo import CallPlan

pytestmark = pytest.mark.anyio


@tool(effect="read")
def lake(name: str) -> dict[str, Json]:
    """Look up a lake.

    Args:
        name: Its name.
    """
    return {"depth": 254, "towns": ["Bregenz", "Konstanz"], "of": {"country": "CH"}, "née": "x"}


async def sent_by(*written: str) -> tuple[Result[str], list[str]]:
    """How a plan ends that sends these texts, and what was sent."""
    sent: list[str] = []

    @tool
    def send(text: str) -> str:
        """Send a text.

        Args:
            text: A text.
        """
        sent.append(text)
        return "sent"

    calls: list[Json] = [
        {"id": "E1", "tool": "lake", "args": {"name": "Bodensee"}},
        *(
            {"id": f"E{place}", "tool": "send", "args": {"text": text}}
            for place, text in enumerate(written, start=2)
        ),
    ]
    plans = Agent(ScriptedModel([finish({"calls": calls})] * 2), answer=CallPlan)
    agent = Agent(ScriptedModel([say("Done.")]), [lake, send], guards=[Provenance("off")])
    strategy = ReWOO(agent, planner=plans)
    return await run(strategy_agent(strategy, agent), "How deep?", store=MemoryStore()), sent


@pytest.mark.parametrize(
    "written",
    [
        *("#E1.towns[0:1]", "#E1.towns[*]", "#E1.towns[first]", "#E1[depth]", "#E1:depth"),
        *("#E1->depth", "#E1?.depth", "#E1 .depth", "#E1.depth()", "#E1.towns[0]name"),
        *("#e1.depth", "# E1.depth", "#E1_depth", "$E1.depth", "${E1.depth}", "{{#E1.depth}}"),
        *("@E1.depth", "<E1.depth>", "\\#E1.depth", "＃E1.depth", "#E1.\u200bdepth"),
    ],
)
async def test_what_cannot_be_read_sends_the_plan_back(written: str) -> None:
    for text in (written, f"It says {written}"):
        done, sent = await sent_by(text)
        assert (done.status, sent) == ("declined", [])
        assert "which cannot be read: a reference is #E1" in str(done.answer)


@pytest.mark.parametrize(
    "written", ["#E1.length", "#E1.towns[9]", "#E1.towns[-3]", "#E1.of.name", "#E1.depth[0]"]
)
async def test_a_call_without_its_value_is_not_made(written: str) -> None:
    done, sent = await sent_by(written)
    assert (done.status, sent) == ("answered", [])


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("#E1.towns[-1]", "Konstanz"),
        ("#E1.towns.0", "Bregenz"),
        ("#E1['depth'] m", "254 m"),
        ("#E1.née", "x"),
        ("#E1.depth.5", "254.5"),
        ("#E1.depth, or more.", "254, or more."),
        ("(#E1.depth)", "(254)"),
        ("<#E1.towns[0]>", "<Bregenz>"),
        ("in colour #E1E1E1", "in colour #E1E1E1"),
        ("#E1.depth: deep", "254: deep"),
        ("is it #E1.depth?", "is it 254?"),
        ("cell E1", "cell E1"),
        ("#E1.depth/2-#E1.depth", "254/2-254"),
    ],
)
async def test_what_stands_around_a_reference_stays(written: str, told: str) -> None:
    done, sent = await sent_by(written)
    assert (done.status, sent) == ("answered", [told])
