"""The strategy of an agent file, and of the command line."""

from pathlib import Path

import pytest

from clew import ConfigError, MemoryStore, read, run
from clew.agent_files import load_agent
from clew.support.wings import STRATEGIES, names
from tests.cli.shell import clew

MODULE = '''
"""A strategy and a model of one's own."""

from clew.interfaces import ModelInfo, RawCall, Reply


class Twice:
    """Ask the agent twice, and put the answers together."""

    name = "twice"
    params = {}

    def __init__(self, agent):
        self.roles = {"work": agent}

    async def __call__(self, runs, task):
        runs.say("First the one.")
        one = await runs.run("work", task)
        runs.say("Then the other.")
        other = await runs.run("work", task.replace("17", "18"))
        return f"{one.answer} and {other.answer}"
'''

QUESTION = "What is 17 * 23?"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_strategy.py").write_text(MODULE)
    return tmp_path


async def test_a_strategy_of_ones_own_is_named_in_the_file(folder: Path) -> None:
    file = folder / "agent.toml"
    file.write_text('model = "offline"\nstrategy = "own_strategy:Twice"\n')
    store = MemoryStore()
    done = await run(load_agent(file).agent, QUESTION, store=store)
    assert done.answer == "17 * 23 = 391 and 18 * 23 = 414"
    record = await read(done.run_id, store=store)
    assert [call.action.name for call in record.calls] == ["work", "work", "finish"]


def test_it_is_asked_shown_and_replayed_by_commands(folder: Path) -> None:
    asked = clew("ask", QUESTION, "--model", "offline", "--strategy", "own_strategy:Twice")
    assert "17 * 23 = 391 and 18 * 23 = 414" in asked.out
    assert "Then the other." in clew("show", "last").out
    replayed = clew("replay", "last")
    assert replayed.code == 0, replayed
    assert "identical, no call made" in replayed.out


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('strategy = "guess"', "there is no strategy 'guess': there are "),
        ('strategy = "strategy_agent"', "there is no strategy 'strategy_agent'"),
        (
            '[strategy]\nname = "reflexion"\nmost = 3',
            "reflexion has no setting 'most'; its settings: trials, memory",
        ),
        ('[strategy]\nname = "reflexion"\ntries = 3', "unknown key 'tries' in strategy"),
    ],
)
def test_a_strategy_that_there_is_not_is_told_with_its_line(
    folder: Path, said: str, why: str
) -> None:
    file = folder / "agent.toml"
    file.write_text(f'model = "offline"\n{said}\n')
    with pytest.raises(ConfigError, match="line") as error:
        load_agent(file)
    assert why in str(error.value)


async def test_its_settings_stand_in_a_table(folder: Path) -> None:
    file = folder / "agent.toml"
    file.write_text('model = "offline"\n[strategy]\nname = "reflexion"\ntrials = 1\n')
    done = await run(load_agent(file).agent, "Hello?", store=MemoryStore())
    assert "None of 1 trials passed" in str(done.answer)


def test_one_that_ships_is_resumed_and_replayed_from_its_record_alone(folder: Path) -> None:
    asked = clew("ask", "Hello?", "--model", "offline", "--strategy", "plan_and_solve")
    assert "Declined: There was no plan that could be carried out" in asked.out
    assert "identical, no call made" in clew("replay", "last").out
    assert "There was no plan" in clew("resume", "last").out


@pytest.mark.skipif(
    not {"auto", "tree_search"} <= {*names(STRATEGIES)},
    reason="clew was installed before these had a name: pip install -e .",
)
@pytest.mark.parametrize("name", ["tree_search", "auto"])
def test_one_with_limits_of_its_own_is_replayed_from_its_record_alone(
    folder: Path, name: str
) -> None:
    asked = clew("ask", QUESTION, "--model", "offline", "--strategy", name)
    assert "Answer: 17 * 23 = 391" in asked.out
    replayed = clew("replay", "last")
    assert "identical, no call made" in replayed.out, replayed
