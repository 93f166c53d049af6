"""What limits and guards say of a tool by name is in force, or refused when the agent is made."""

from collections.abc import Mapping
from typing import Any

import pytest

from clew import Agent, ConfigError, Limits, MemoryStore, NoProgress, Tool, read, run, tool
from clew.testing.models import ScriptedModel, act, acts, finish, say

MODEL = ScriptedModel([say("ok")])


@tool(effect="read")
def send(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


@tool(effect="read")
def find_person(name: str) -> str:
    """Find somebody."""
    return name


def polls(*names: str) -> NoProgress:
    return NoProgress(polling=frozenset(names))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sned", "did you mean send?"),
        ("Send", "did you mean send?"),
        ("send ", "did you mean send?"),
        ("SEND_", "did you mean send?"),
        ("find-person", "did you mean find_person?"),
        ("findPerson", "did you mean find_person?"),
        ("find_persons", "did you mean find_person?"),
        ("mail.send", "did you mean send?"),
        ("qqqq", "there are find_person, "),
        ("", "there are find_person, "),
        ("*", "there are find_person, "),
        ("finish", "it ends the run, and is no tool to limit"),
    ],
)
@pytest.mark.parametrize("place", ["calls_per_tool", "polling", "guards"])
def test_a_name_of_no_tool_is_refused_with_the_nearest(name: str, hint: str, place: str) -> None:
    said: Mapping[str, Mapping[str, Any]] = {
        "calls_per_tool": {"limits": Limits(calls_per_tool={name: 1})},
        "polling": {"limits": Limits(no_progress=polls(name))},
        "guards": {"guards": [polls(name)]},
    }
    with pytest.raises(ConfigError) as refused:
        Agent(MODEL, tools=[send, find_person], **said[place])
    message = str(refused.value)
    assert f"names {name!r}, which is no tool of this agent: {hint}" in message
    assert "\n" not in message


def test_an_agent_without_tools_has_nothing_to_limit() -> None:
    with pytest.raises(ConfigError, match=r"names 'send', which is no tool.*: the agent has none"):
        Agent(MODEL, limits=Limits(calls_per_tool={"send": 1}))


@pytest.mark.parametrize("polling", ["send", ["send"], frozenset({1}), None, {"send": 1}, 3])
def test_what_is_no_set_of_names_is_refused(polling: Any) -> None:
    with pytest.raises(ConfigError, match=r"NoProgress: polling is .*: give a set of the names"):
        NoProgress(polling=polling)


def test_hidden_tools_and_those_that_read_on_can_be_limited() -> None:
    hidden = Tool("old", "Old.", {"type": "object"}, hidden=True, call=lambda args, key: "")
    limits = Limits(calls_per_tool={"old": 1, "read_more": 2}, no_progress=polls("recall"))
    agent = Agent(MODEL, tools=[send, hidden], limits=limits)
    assert agent.parts.countable == {"send", "old", "read_more", "recall"}


async def test_what_is_said_of_a_tool_is_in_force() -> None:
    model = ScriptedModel([acts(act("send", to="a"), act("send", to="b")), finish("done")])
    agent = Agent(model, tools=[send], limits=Limits(calls_per_tool={"send": 1}))
    store = MemoryStore()
    result = await run(agent, "q", store=store)
    calls = (await read(result.run_id, store=store)).calls
    codes = [call.observation.code for call in calls if call.observation is not None]
    assert codes[:2] == ["", "cap"]


def test_other_tools_leave_out_what_was_said_of_the_rest() -> None:
    limits = Limits(
        steps=7,
        calls_per_tool={"send": 1, "find_person": 2},
        no_progress=polls("send", "find_person"),
    )
    agent = Agent(
        MODEL,
        tools=[send, find_person],
        limits=limits,
        guards=[polls("send"), polls("find_person")],
    )
    less = agent.replace(tools=[find_person])
    assert less.limits.calls_per_tool == {"find_person": 2}
    assert less.limits.no_progress == polls("find_person")
    assert list(less.guards) == [polls(), polls("find_person")]
    assert less.limits.steps == 7
    same = less.replace(tools=[send, find_person])
    assert [each.name for each in same.tools] == ["send", "find_person"]
    assert same.limits is less.limits
    with pytest.raises(ConfigError, match="names 'send', which is no tool of this agent"):
        agent.replace(tools=[find_person], limits=limits)
    assert agent.replace(tools=()).limits.calls_per_tool == {}
    assert agent.seeded(3).limits is limits
