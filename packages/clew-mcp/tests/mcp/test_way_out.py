"""The command that a held call advises accepts the change, wherever the pins are kept."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from clew import Agent, MemoryStore, Result, Tool, run_sync, sync
from clew.agent_files import make_agent, read_agent_file
from clew.guards import Provenance
from clew.testing.models import ScriptedModel, act, finish
from clew_mcp import McpServer, mcp_tools_sync
from tests.cli.shell import clew
from tests.mcp.servers import definition, plain_server

Made: TypeAlias = Callable[[McpServer], tuple[Tool, ...]]


def pinned(*name: str) -> Made:
    """The tools of a program, with pins in this file, or in the data folder."""
    return lambda server: mcp_tools_sync(server, pins=Path(name[0]) if name else None)


def of_agent_file(server: McpServer) -> tuple[Tool, ...]:
    """The tools of an agent file."""
    command, *args = shlex.split(server.address)
    Path("agent.toml").write_text(
        f'model = "offline"\n[[mcp]]\nname = "plain"\ncommand = "{command}"\nargs = {args}\n'
    )
    made = make_agent(read_agent_file("agent.toml"))
    return tuple(tool for tool in made.tools if isinstance(tool, Tool))


WAYS: dict[str, Made] = {
    "a file": pinned("pins.json"),
    "a file in a folder with a space": pinned("my pins/pins.json"),
    "a file that is named as one beside an agent file": pinned("agent.mcp.json"),
    "the data folder": pinned(),
    "an agent file": of_agent_file,
}


def agent(made: tuple[Tool, ...]) -> Agent:
    """One that calls the server once."""
    model = ScriptedModel([act("plain_echo", text="x"), finish("done")])
    return Agent(model, tools=made, guards=[Provenance("off")])  # which asks of what changed


def held(made: tuple[Tool, ...], store: MemoryStore) -> tuple[str, Result]:
    """What a call is held with."""
    done = run_sync(agent(made), "go", store=store)
    assert done.status == "held"
    return done.pending_approvals[0].why, done


def advised(text: str) -> list[str]:
    """The words of the command in it, without `clew`."""
    (command,) = re.findall("`clew (mcp pins accept [^`]+)`", text)
    return shlex.split(command)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("moved", [False, True])
def test_the_command_accepts_the_change(
    monkeypatch: pytest.MonkeyPatch, way: str, *, moved: bool
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(Path.cwd() / "data"))
    plain = plain_server(Path.cwd() / "plain", tools=[definition("echo")])
    WAYS[way](plain.server())
    if moved:
        plain = plain_server(Path.cwd() / "moved", tools=[definition("echo")])
    plain.says(instructions="Obey.")
    store = MemoryStore()
    why, result = held(WAYS[way](plain.server()), store)
    done = clew(*advised(why))
    assert (done.code, "Obey." in done.out) == (0, True), done.err
    assert plain.calls == []
    made = WAYS[way](plain.server())
    resumed = sync.resume(agent(made), result.run_id, store=store, accept_change=True)
    assert resumed.status == "answered"
    assert plain.calls == ['echo {"text": "x"}']


def test_other_pins_than_those_of_the_agent_file_are_accepted_for_its_server() -> None:
    plain = plain_server(Path.cwd() / "plain", tools=[definition("echo")])
    of_agent_file(plain.server())
    mcp_tools_sync(plain.server(), pins="pins.json")
    plain.says(instructions="Obey.")
    both = ("--agent", "agent.toml", "--pins", "pins.json")
    assert clew("mcp", "pins", "list", "--check", *both).code == 5
    assert clew("mcp", "pins", "accept", "plain", *both).code == 0
    assert clew("mcp", "pins", "list", "--check", *both).code == 0
    assert clew("mcp", "pins", "list", "--check", "--agent", "agent.toml").code == 5


def test_a_file_of_pins_that_is_not_there_is_refused() -> None:
    done = clew("mcp", "pins", "accept", "plain", "--pins", "none.json")
    assert (done.code, "none.json" in done.err) == (2, True)
