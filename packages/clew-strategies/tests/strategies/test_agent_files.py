"""The strategy of an agent file, and of the command line."""

from pathlib import Path

import pytest

from clew import ConfigError, MemoryStore, read, run
from clew.agent_files import load_agent, read_agent_file
from clew.agent_files.untrusted import outside_parts
from clew.evidence import CANNOT_ANSWER
from clew.support.wings import STRATEGIES, names
from tests.cli.shell import clew

MODULE = '''
"""A strategy and a model of one's own."""

from dataclasses import dataclass

from clew.interfaces import ModelInfo, RawCall, Reply

@dataclass
class Words:
    text: str


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

TYPED = 'answer = "own_strategy:Words"\nfallback = { text = "?" }'


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
            '[strategy]\nname = "reflexion"\nmax_steps = 3',
            "reflexion has no setting 'max_steps'; its settings: evaluator, reflector, trials",
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
    assert "The one trial did not pass" in str(done.answer)


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


JUDGED = '''
"""A test, and a model that judges."""

from clew import tool
from clew_strategies import AnswerVerdict


@tool(effect="pure")
def passes(task: str, answer: str) -> AnswerVerdict:
    """Say whether it is the number.

    Args:
        task: What was asked.
        answer: The answer.
    """
    return AnswerVerdict("391" in answer, "it is to have 391")
'''


async def test_a_tool_of_the_agent_judges_and_is_no_longer_its_own(folder: Path) -> None:
    (folder / "own_test.py").write_text(JUDGED)
    file = folder / "agent.toml"
    file.write_text(
        'model = "offline"\ntools = ["calc", "own_test:passes"]\n'
        '[strategy]\nname = "reflexion"\nevaluator = "passes"\n'
    )
    store = MemoryStore()
    done = await run(load_agent(file).agent, QUESTION, store=store)
    assert (done.status, done.answer) == ("answered", "17 * 23 = 391")
    record = await read(done.run_id, store=store)
    assert [call.action.name for call in record.calls] == ["solve", "passes", "finish"]
    solved = await read(f"{done.run_id}-1.1", store=store)
    assert "passes" not in solved.started.spec.tools


async def test_another_file_judges_and_has_what_it_leaves_out_from_the_strategy(
    folder: Path,
) -> None:
    (folder / "judges").mkdir()
    (folder / "judges" / "judge.toml").write_text('model = "offline"\n')
    file = folder / "agent.toml"
    file.write_text(
        'model = "offline"\n[strategy]\nname = "reflexion"\ntrials = 1\n'
        'evaluator = "judges/judge.toml"\n'
    )
    store = MemoryStore()
    done = await run(load_agent(file).agent, QUESTION, store=store)
    assert "The one trial did not pass: the evaluation failed" in str(done.answer)
    judged = await read(f"{done.run_id}-2.1", store=store)
    assert "You judge the work of an assistant" in judged.started.spec.prompt
    assert judged.started.spec.tools == {}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('evaluator = "guess"', "'guess' is no agent file (….toml), and no tool of the agent"),
        ('evaluator = "none.toml"', "none.toml"),
        ('reflector = "agent.toml"', "reflector leads back to"),
        ('reflector = "other.toml"', "planner leads back to"),
        ('planner = "other.toml"', "reflexion has no setting 'planner'"),
    ],
)
def test_who_does_not_fit_is_told_with_its_line(folder: Path, said: str, why: str) -> None:
    file = folder / "agent.toml"
    file.write_text(f'model = "offline"\n[strategy]\nname = "reflexion"\n{said}\n')
    (folder / "other.toml").write_text(
        'model = "offline"\n[strategy]\nname = "plan_and_solve"\nplanner = "agent.toml"\n'
    )
    with pytest.raises(ConfigError, match="line") as error:
        load_agent(file)
    assert why in str(error.value)


async def test_a_strategy_of_ones_own_gets_the_others_too(folder: Path) -> None:
    (folder / "judge.toml").write_text('model = "offline"\ntools = ["calc"]\n')
    (folder / "own_planned.py").write_text(
        MODULE.replace("def __init__(self, agent):", "def __init__(self, agent, planner=None):")
        .replace('{"work": agent}', '{"work": agent, "plan": planner}')
        .replace('one = await runs.run("work", task)', 'one = await runs.run("plan", task)')
    )
    file = folder / "agent.toml"
    file.write_text(
        'model = "offline"\n[strategy]\nname = "own_planned:Twice"\nplanner = "judge.toml"\n'
    )
    done = await run(load_agent(file).agent, QUESTION, store=MemoryStore())
    assert done.answer == "17 * 23 = 391 and 18 * 23 = 414"


async def test_what_another_file_says_itself_stands(folder: Path) -> None:
    (folder / "judge.toml").write_text('model = "offline"\nprompt = "Be strict."\n')
    file = folder / "agent.toml"
    file.write_text(
        'model = "offline"\n[strategy]\nname = "reflexion"\ntrials = 1\nevaluator = "judge.toml"\n'
    )
    store = MemoryStore()
    done = await run(load_agent(file).agent, QUESTION, store=store)
    judged = await read(f"{done.run_id}-2.1", store=store)
    assert "Be strict." in judged.started.spec.prompt
    assert f"agent file {folder / 'judge.toml'}" in list(outside_parts(read_agent_file(file)))


@pytest.mark.parametrize("name", names(STRATEGIES))
@pytest.mark.parametrize("keys", ['fallback = "?"', 'checks = ["grounded"]', TYPED])
def test_every_strategy_takes_an_agent_that_declares_an_answer(
    folder: Path, name: str, keys: str
) -> None:
    if name == "strategy_agent":  # it makes the agent of each
        return
    file = folder / "agent.toml"
    file.write_text(f'model = "offline"\nstrategy = "{name}"\n{keys}\n')
    agent = load_agent(file).agent
    assert agent.fallback is not None
    assert repr(agent.fallback).strip("'") in {"?", CANNOT_ANSWER, "Words(text='?')"}


async def test_a_judge_declares_what_its_strategy_reads(folder: Path) -> None:
    judge = 'model = "offline"\ntools = []\n'
    (folder / "judge.toml").write_text(judge + 'fallback = { passed = true, why = "so" }\n')
    file = folder / "agent.toml"
    file.write_text(
        'model = "offline"\nstrategy = { name = "reflexion", evaluator = "judge.toml" }\n'
    )
    store = MemoryStore()
    done = await run(load_agent(file).agent, QUESTION, store=store)
    judged = await read(f"{done.run_id}-2.1", store=store)
    assert judged.started.spec.parts["fallback"] == {"passed": True, "why": "so"}
    (folder / "judge.toml").write_text(judge + 'fallback = "yes"\n')
    with pytest.raises(ConfigError, match="fallback is no answer of this agent"):
        load_agent(file)
