"""Three runs below each other, and what they do outside."""

from collections.abc import Mapping
from typing import Any

from clew import Agent, Result, RunContext, Tool, delegate, resume, rule, run
from clew import tool as as_tool
from clew.agent.runner import has_begun, take_up
from clew.core.stores import Store
from clew.testing.models import Line as Said
from clew.testing.models import ScriptedModel, act, acts, say
from tests.guards.verdicts import verdict_on

hold_letters = verdict_on("send", "hold", "a letter leaves the house")
"""Hold what leaves the house."""


def scripted(*script: Said, **more: Any) -> ScriptedModel:
    return ScriptedModel(script, **more)


def letters(done: list[tuple[str, str]]) -> Tool:
    """The tool `send`: whatever it did is in the list."""

    @as_tool(effect="unsafe")
    def send(text: str, ctx: RunContext) -> str:
        """Send a letter.

        Args:
            text: What it says.
        """
        done.append((ctx.key, text))
        return f"sent {text}"

    return send


def family(done: list[tuple[str, str]], **root: Any) -> tuple[Agent, Agent, Agent]:
    """An agent that hands on twice at once to one that hands on to one that sends two letters."""
    send = letters(done)
    clerk = Agent(
        model=scripted(acts(act("send", text="a"), act("send", text="b")), say("both")),
        tools=[send],
        guards=[hold_letters],
    )
    office = Agent(
        model=scripted(act("clerk", task="send a and b"), say("the clerk did it")),
        tools=[delegate(clerk, name="clerk", description="Sends letters.")],
    )
    model = scripted(acts(act("office", task="one"), act("office", task="two")), say("done"))
    head = Agent(
        model=model, tools=[delegate(office, name="office", description="An office.")], **root
    )
    return head, office, clerk


def lone(agent: Agent[Any], *script: Said, effect: Any = None, **root: Any) -> Agent:
    """An agent that hands a task to another: once, unless its script says otherwise."""
    tools = [delegate(agent, name="other", description="Another agent.", effect=effect)]
    script = script or (act("other", task="do it"), say("done"))
    return Agent(model=scripted(*script), tools=[*tools, *root.pop("more", ())], **root)


async def go_on(agent: Agent, store: Store, words: Mapping[str, bool] | None = None) -> Result:
    """Begin the run "r" or take it up, and rule on what is held until nothing is.

    The calls in `words` are allowed or refused; others are allowed.
    """
    if await has_begun(store, "r"):
        found = await resume(agent, "r", store=store)
    else:
        found = await run(agent, "Write.", store=store, run_id="r")
    while found.status == "held":
        for each in found.pending_approvals:
            allow = (words or {}).get(each.call, True)
            await rule(each.id, allow=allow, store=store)
        found = await resume(agent, "r", store=store)
    return found


__all__ = ["family", "go_on", "hold_letters", "letters", "lone", "scripted", "take_up"]
