"""What a file says of tools that other settings take away goes with them."""

from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError
from clew.agent_files import make_agent, read_agent_file
from clew.testing import ScriptedModel
from clew.tools import tool

FILE = """
model = "offline"
tools = ["calc", "planner", "mine:look", "mine.deep:dig"]
fallbacks = { look = "dig" }

[limits]
calls_per_tool = { calc = 2, planner = 3, look = 4, dig = 5, list_files = 1, other = 6 }

[retrieval]
always = ["look", "calc"]

[[programs]]
name = "list_files"
description = "List files."
argv = ["ls"]
effect = "read"

[[processes]]
function = "mine:other"
"""


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({"tools": ["calc"]}, {"calc", "list_files", "other"}),
        ({"tools": ["mine:look", "mine.deep:dig"]}, {"look", "dig", "list_files", "other"}),
        ({"tools": []}, {"list_files", "other"}),
        ({"tools": None}, {"calc", "planner", "list_files", "other"}),
        ({"programs": []}, {"calc", "planner", "look", "dig", "other"}),
        ({"processes": []}, {"calc", "planner", "look", "dig", "list_files"}),
        ({"limits.steps": 3}, {"calc", "planner", "look", "dig", "list_files", "other"}),
        ({"tools": ["calc"], "limits.calls_per_tool.planner": 1},
         {"calc", "planner", "look", "dig", "list_files", "other"}),
        ({"tools": ["calc"], "limits.calls_per_tool": {"dig": 1}}, {"dig"}),
        ({"tools": ["calc"], "limits": {"calls_per_tool": {"dig": 1}}}, {"dig"}),
    ],
)  # fmt: skip
def test_limits_on_tools_go_with_them(
    changes: dict[str, Any], kept: set[str], tmp_path: Path
) -> None:
    (tmp_path / "a.toml").write_text(FILE)
    spec = read_agent_file(tmp_path / "a.toml").replace(changes)
    assert set(spec.limits.calls_per_tool or {}) == kept


def test_fallbacks_and_what_is_always_shown_go_too(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(FILE)
    spec = read_agent_file(tmp_path / "a.toml")
    only = spec.replace({"tools": ["calc"]})
    assert (only.fallbacks, only.retrieval and only.retrieval.always) == ({}, ("calc",))
    half = spec.replace({"tools": ["mine:look"]})
    assert (half.fallbacks, half.retrieval and half.retrieval.always) == ({}, ("look",))


def test_a_wrong_name_is_refused_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        'model = "offline"\ntools = ["calc", "planner"]\n[limits]\ncalls_per_tool = {plan = 1}\n'
    )
    spec = read_agent_file(tmp_path / "a.toml").replace({"tools": ["calc"]})
    with pytest.raises(ConfigError, match="'plan', which is no tool of this agent: there are calc"):
        make_agent(spec)


def test_the_tools_that_are_listed_are_those_that_somebody_named() -> None:
    @tool(effect="pure")
    def look(place: str) -> str:
        """Look."""
        return place

    with pytest.raises(ConfigError, match=r"there are look$"):
        Agent(model=ScriptedModel([]), tools=[look]).replace(
            limits=Agent(model=ScriptedModel([])).limits.__class__(calls_per_tool={"qqqq": 1})
        )
