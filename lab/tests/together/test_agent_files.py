"""Agent files with a database, a folder and servers."""

from pathlib import Path

import pytest

from clew import ConfigError
from clew.agent_files import load_agent

OWN = '''
from dataclasses import dataclass
from clew import Tool, Verdict, tool

@tool(effect="pure")
def weather(city: str) -> str:
    """The weather."""
    return f"sunny in {city}"

async def no_paris(call, so_far):
    """A guard."""
    return Verdict("deny", "not Paris") if call.args.get("city") == "Paris" else None

def never(so_far):
    return None

async def short(answer, so_far):
    return None if len(answer.text) < 20 else "too long"

@dataclass
class Said:
    text: str

def twice(number: int) -> int:
    """Twice the number."""
    return 2 * number

def letters(texts):
    return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]

not_callable = 3

class Odd:
    pass
odd = Tool("odd", "Odd.", {"type": "object", "properties": {"a b": {"type": "string"}}}, print)
unfit = Tool("unfit", "Unfit.", {"type": "array"}, print)
'''


def written(folder: Path, text: str) -> Path:
    (folder / "own_parts.py").write_text(OWN)
    (folder / "own_exit.py").write_text("raise SystemExit(3)")
    (folder / "own_needs.py").write_text("import not_here_at_all")
    file = folder / "my.toml"
    file.write_text(text)
    return file


def test_a_database_is_no_path_and_has_no_password_in_a_file(tmp_path: Path) -> None:
    address = "postgresql://ada@db.example.org/runs/"
    _, store = load_agent(written(tmp_path, f'model = "offline"\nstore = "{address}"\n'))
    assert store == address
    for secret in ("ada:word@h/runs", "ada@h/runs?password=word", "h/runs?sslpassword="):
        file = written(tmp_path, f'model = "offline"\nstore = "postgresql://{secret}"\n')
        with pytest.raises(ConfigError, match="has a password in it: leave it out") as caught:
            load_agent(file)
        assert "word@" not in str(caught.value)


@pytest.mark.parametrize(
    "table",
    [
        '[workspace]\nroot = "."\nonly = []',
        'workspace = {root = ".", only = [], network = true}',
        '[[mcp]]\nname = "s"\ncommand = "true"\nonly = []',
        '[[mcp]]\nname = "s"\nurl = "http://127.0.0.1:1/"\nonly = []',
    ],
)
def test_a_list_that_leaves_no_tool_is_not_all_tools(tmp_path: Path, table: str) -> None:
    (tmp_path / "agent.toml").write_text(f'model = "offline"\n{table}\n')
    with pytest.raises(ConfigError, match="only names no tool"):
        load_agent(tmp_path / "agent.toml")
