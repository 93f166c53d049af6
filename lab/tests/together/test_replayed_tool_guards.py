"""A guard that comes with a tool is replayed from the record, whoever made the two."""

from itertools import permutations, product
from pathlib import Path

import pytest

from clew_testing.servers import OpenAIServer, Say
from tests.cli.shell import clew

OWN = '''
from dataclasses import replace
from clew import Verdict, tool

@tool(effect="pure")
def double(number: int) -> int:
    """Twice the number."""
    return 2 * number

@tool(effect="pure")
def triple(number: int) -> int:
    """Three times the number."""
    return 3 * number

@tool(effect="pure")
def half(number: int) -> int:
    """Half the number."""
    return number // 2

async def small(call, trajectory):
    return Verdict("deny", "too big") if call.args.get("number", 0) > 9 else None

async def even(call, trajectory):
    return Verdict("hint", "odd numbers take longer") if call.args.get("number", 0) % 2 else None

async def silent(call, trajectory):
    return None

doubled = replace(double, guard=small)
shared = replace(triple, guard=small)
halved = replace(half, guard=silent)
tripled = replace(triple, guard=even)
'''

MODEL = ["--model", "openai:test"]
TOOLS = {
    "a folder of the package for code": ["--workspace", "."],
    "one of the user's own": ["--tools", "calc,own_guarded:doubled"],
    "two": ["--tools", "calc,own_guarded:doubled,own_guarded:tripled"],
    "with one that has none": ["--tools", "own_guarded:triple,calc,own_guarded:doubled"],
    "beside a folder": ["--tools", "calc,own_guarded:tripled", "--workspace", "."],
}


def environment(server: OpenAIServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test-0123456789"}


@pytest.mark.parametrize("tool_args", TOOLS.values(), ids=[*TOOLS])
def test_a_run_whose_tool_brings_a_guard_is_replayed(
    tool_args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own_guarded.py").write_text(OWN)
    with OpenAIServer([Say("391")]) as server:
        asked = clew("ask", "What is 17 * 23?", *tool_args, *MODEL, env=environment(server))
    assert (asked.code, clew("replay", "last").code) == (0, 0)


CHOICES = [
    [*permutations(chosen)][number % 6]  # each set of tools in one of its orders
    for number, chosen in enumerate(
        product(("double", "doubled"), ("triple", "shared", "tripled"), ("half", "halved"))
    )
]


@pytest.mark.parametrize("tools", [",".join(chosen) for chosen in CHOICES])
def test_what_such_guards_said_is_replayed(
    tools: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own_guarded.py").write_text(OWN)
    named = ",".join(f"own_guarded:{name}" for name in tools.split(","))
    turns = [
        Say(calls=[("triple", '{"number": 3}')]),
        Say(calls=[("double", '{"number": 12}')]),
        *[Say(calls=[("triple", '{"number": 3}')])] * 3,  # clew's own guard speaks of it too
        Say(calls=[("half", '{"number": 4}')]),
        Say(calls=[("double", '{"number": 2}'), ("triple", '{"number": 5}')]),
        Say("done"),
    ]
    with OpenAIServer(turns) as server:
        asked = clew("ask", "Count.", "--tools", named, *MODEL, env=environment(server))
    assert (asked.code, clew("replay", "last").code) == (0, 0)
