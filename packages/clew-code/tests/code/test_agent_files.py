"""An agent file whose format is `code` has the tool that runs programs."""

from pathlib import Path

import pytest

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
