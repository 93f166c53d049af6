"""What an agent can do in a world: what the world lets be done, unless the agent names tools."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from clew import ConfigError, SqliteStore, Trajectory, sync
from clew_evals.matrix import read_matrix
from clew_evals.runner import evaluate_sync, foreseen_sync
from tests.evals.test_database import LEND
from tests.together.test_hotpotqa_fever import BRIDGES, CLAIM, FERRY, claims, questions

OWN = """
from clew import tool
from tests.evals.games import NewLamp
from clew_evals.case import Case
from clew_evals.world import World, quiet

def lamp(**said):
    return NewLamp()

@tool(effect="read")
def note(text: str) -> str:
    "Note something."
    return text

def plain(path):
    return World("plain", [Case("a", "What is 2 + 2?", "4")])
"""


def _hotpotqa(folder: Path) -> str:
    return f'dataset = "{questions(folder, FERRY, BRIDGES).name}"\nworld = "hotpotqa"\n'


def _fever(folder: Path) -> str:
    return f'dataset = "{claims(folder, CLAIM).name}"\nworld = "fever"\n'


def _textworld(folder: Path) -> str:
    case = {"id": "a", "question": "Light the lamp.", "gold": {"reward": 1.0}}
    (folder / "games.jsonl").write_text(json.dumps(case))
    options = 'options = { make = "spaceparts:lamp" }'
    return f'dataset = "games.jsonl"\nworld = "textworld"\n{options}\n'


def _database(folder: Path) -> str:
    (folder / "tasks.json").write_text(json.dumps([LEND]))
    tools = 'tools = "tests.evals.lending:TOOLS", data = "tests.evals.lending:load"'
    return f'dataset = "tasks.json"\nworld = "database"\noptions = {{ {tools} }}\n'


WORLDS: dict[str, tuple[Callable[[Path], str], set[str]]] = {
    "hotpotqa": (_hotpotqa, {"search", "lookup"}),
    "fever": (_fever, {"search", "lookup"}),
    "textworld": (_textworld, {"act"}),
    "database": (
        _database,
        {"get_member", "lend_book", "set_email", "write_letter"},
    ),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    (tmp_path / "spaceparts.py").write_text(OWN)


def evaluated(folder: Path, text: str) -> list[Trajectory]:
    """The records of an evaluation."""
    (folder / "m.toml").write_text(text)
    results = folder / "m.sqlite"
    done = evaluate_sync(read_matrix(folder / "m.toml"), results)
    store = SqliteStore(results)
    return [sync.read(one.run_id, store=store) for one in done.outcomes]


def space(record: Trajectory) -> set[str]:
    return {*record.started.spec.tools}


MODEL = 'models = ["offline"]\n'


@pytest.mark.parametrize("name", WORLDS)
def test_the_action_space_is_the_worlds(name: str, tmp_path: Path) -> None:
    make, tools = WORLDS[name]
    for record in evaluated(tmp_path, MODEL + make(tmp_path)):
        assert space(record) == tools


def test_an_agent_that_names_tools_has_them_too(tmp_path: Path) -> None:
    here = MODEL + _hotpotqa(tmp_path)
    named = """
[[configurations]]
name = "sums"
set.tools = ["calc"]
[[configurations]]
name = "own"
set.tools = ["spaceparts:note"]
[[configurations]]
name = "fewer"
leave_out = ["lookup"]
"""
    spaces = {frozenset(space(record)) for record in evaluated(tmp_path, here + named)}
    assert spaces == {
        frozenset({"calc", "search", "lookup"}),
        frozenset({"note", "search", "lookup"}),
        frozenset({"search"}),
    }


@pytest.mark.parametrize("agent", ['[agent]\ntools = ["calc"]\n', 'agent = "mine.toml"\n'])
def test_an_agent_of_its_own_is_asked_in_the_same_way(agent: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("[limits]\nsteps = 3\n")
    toml = MODEL + _hotpotqa(tmp_path)
    records = evaluated(tmp_path, agent + toml if "mine" in agent else toml + agent)
    has = {"calc"} if "calc" in agent else set[str]()
    assert {frozenset(space(one)) for one in records} == {frozenset({"search", "lookup"} | has)}


def test_where_a_world_has_nothing_to_do_the_usual_tools_are_there(tmp_path: Path) -> None:
    text = f'{MODEL}dataset = ""\nworld = "spaceparts:plain"\n'
    assert space(evaluated(tmp_path, text)[0]) == {"calc", "planner"}


def test_demonstrations_are_those_that_fit_the_world(tmp_path: Path) -> None:
    records = evaluated(tmp_path, f"{MODEL}{_hotpotqa(tmp_path)}[agent]\nprompt.examples = 2\n")
    assert [one.started.spec.parts["examples"] for one in records] == [2, 2]
    (tmp_path / "t.toml").write_text(f"{MODEL}{_textworld(tmp_path)}[agent]\nprompt.examples = 2\n")
    with pytest.raises(ConfigError) as caught:
        foreseen_sync(read_matrix(tmp_path / "t.toml"), tmp_path / "t.sqlite")
    text = "configuration 'agent': examples is 2, and 0 that ship or can be made fit this agent"
    assert str(caught.value).startswith(text)
