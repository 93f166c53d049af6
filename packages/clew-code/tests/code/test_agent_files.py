"""Agent files whose format is `code`, and those that have command-line programs as tools."""

from pathlib import Path

import pytest

from clew import ConfigError, Tool
from clew.agent_files import load_agent
from clew.testing import ScriptedModel

FILE = 'tools = ["calc"]\n'


@pytest.fixture(autouse=True)
def _named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name, for a checkout whose table of entry points was read before it stood there."""
    folder = tmp_path / "named-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: named\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[clew.tools]\nrun_code = clew_code.programs:run_code\n"
        "[clew.codecs]\ncode = clew_code.codec.code:CODE\n"
        "[clew.programs]\ntool = clew_code.command_line:program\n"
    )
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("more", "tools"),
    [
        ('codec = "code"', ["calc", "run_code"]),
        ('codec = "paper"', ["calc"]),
        ("", ["calc"]),
    ],
)
def test_the_format_code_brings_its_tool(tmp_path: Path, more: str, tools: list[str]) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(FILE + more)
    agent = load_agent(path, model=ScriptedModel([])).agent
    assert [tool.name for tool in agent.tools] == tools
    if "run_code" in tools:
        assert "calc" in agent.tools[1].description


LIST = """
model = "offline"
tools = ["calc"]

[[programs]]
name = "list"
description = "List files."
argv = ["ls", "{where}"]
effect = "read"
timeout = 5

[programs.parameters.where]
type = "string"
"""


async def test_a_program_runs_in_the_folder_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("Lighthouses are kept by Ada.")
    (tmp_path / "agent.toml").write_text(LIST)
    agent = load_agent(tmp_path / "agent.toml").agent
    assert [tool.name for tool in agent.tools] == ["calc", "list"]
    program = agent.engine.tools["list"]
    assert isinstance(program, Tool)
    listed = await program.call({"where": "notes"}, "k")
    assert listed["stdout"] == "a.md\n"


HEAD = 'model = "offline"\n[[programs]]\ndescription = "b"\n'


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('name = "a"\nargv = ["no-such"]', 5, "there is no program 'no-such'"),
        ('name = "a"\nargv = ["ls"]\ntimeout = -1', 6, "timeout"),
        (
            'name = "a"\nargv = ["ls"]\nparameters = {a = {type = "string"}}',
            2,
            "program a: no element of argv uses a",
        ),
    ],
)
def test_what_is_wrong_with_a_program_is_told_with_its_line(
    text: str, line: int, why: str, tmp_path: Path
) -> None:
    (tmp_path / "agent.toml").write_text(HEAD + text)
    with pytest.raises(ConfigError, match=f"agent.toml, line {line}: .*{why}"):
        load_agent(tmp_path / "agent.toml")
