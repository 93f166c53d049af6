"""Text environments: the shapes of gym, one tool, catching up with a record, what is lost."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import Agent, MemoryStore, read, resume, run
from clew.support.errors import ConfigError, ModelError, ReplayError
from clew.testing.models import act, acts, finish, say
from clew_evals.case import Case
from clew_evals.environments import world
from clew_evals.environments.moves import Game
from clew_evals.environments.textworld import text_world
from clew_evals.world import World
from tests.core.play import copy
from tests.evals.games import (
    FIRST,
    GOAL,
    BatchLamp,
    Lamp,
    NewLamp,
    StuckLamp,
    lamps,
    player,
    results_of_calls,
)

WON = ["take lamp", "go to hall", "light lamp"]
ROOT = Path(__file__).parents[2]


async def played(there: World, *script: Any, store: Any, **value: Any) -> tuple[Any, float | None]:
    """The first case from its beginning: its record, and what it paid."""
    case = there.cases[0]
    async with there.open(case) as episode:
        agent = player(episode, *script, **value)
        await run(agent, case.question, store=store, run_id="r")
        record = await read("r", store=store)
        return record, await episode.reward(record)


async def gone_on(there: World, *script: Any, store: Any) -> tuple[Any, float | None]:
    """The same in a new episode, from where its record is."""
    async with there.open(there.cases[0]) as episode:
        await episode.catch_up(await read("r", store=store))
        await resume(player(episode, *script), "r", store=store)
        record = await read("r", store=store)
        return record, await episode.reward(record)


@pytest.mark.parametrize("kind", [Lamp, NewLamp, BatchLamp])
async def test_every_shape_of_gym_is_played_alike(kind: Any) -> None:
    made, there = lamps(kind)
    offers = [] if kind is Lamp else ["You can: go to hall; take lamp"]
    assert there.cases[0].question == "\n\n".join([GOAL.question, FIRST, *offers])
    record, reward = await played(there, *WON, "look", finish("lit"), store=MemoryStore())
    *texts, last, over, _ = results_of_calls(record)
    assert [text.partition("\n\n")[0] for text in texts] == [
        "You have the lamp.",
        "You are in the hall.",
    ]
    if offers:
        assert texts[0].endswith("You can: go to hall; light lamp")
    assert last == "It is bright.\n\nThe episode is over."
    assert "the episode is over: nothing more can be done in it" in over
    assert (reward, made[-1].log) == (1.0, WON)
    assert [environment.closed for environment in made] == [True, True]
    assert {call.observation.effect for call in record.calls[:3]} == {"unsafe"}


async def test_what_is_shown_and_scored_can_be_said() -> None:
    _, there = lamps(NewLamp, commands=False, best=4.0, show=str.upper)
    assert there.cases[0].question == f"{GOAL.question}\n\n{FIRST.upper()}"
    record, reward = await played(there, "take lamp", finish("no"), store=MemoryStore())
    assert (results_of_calls(record)[0], reward) == ("YOU HAVE THE LAMP.", 0.0625)
    _, there = lamps(best=0.1)
    assert (await played(there, *WON, finish(""), store=MemoryStore()))[1] == 1.0
    assert (await played(there, finish(""), store=MemoryStore()))[1] == 0.0


async def test_thoughts_do_not_reach_the_game() -> None:
    made, there = lamps()
    script = ["think: where is it?", "think[where?]", "look", finish("no")]
    record, _ = await played(there, *script, store=MemoryStore())
    assert results_of_calls(record)[:3] == ["OK.", "OK.", "Nothing happens."]
    assert made[-1].log == ["look"]


async def test_the_papers_format_acts_with_bare_words() -> None:
    made, there = lamps()
    lines = ["Thought 1: I go.\nAction 1: act[go to hall]", "Thought 2: So.\nAction 2: Finish[no]"]
    store = MemoryStore()
    record, _ = await played(there, *map(say, lines), store=store, codec="paper")
    assert (record.stop.answer, made[-1].log) == ("no", ["go to hall"])


async def test_a_game_that_takes_its_time_holds_nobody_up() -> None:
    made, there = lamps(StuckLamp)
    store = MemoryStore()
    async with anyio.create_task_group() as group:
        group.start_soon(_play, there, store)
        while len(made) < 2:
            await anyio.sleep(0)
        while not made[1].entered.is_set():
            await anyio.sleep(0)  # the loop is free while the game is not
        made[1].let_on.set()
    assert results_of_calls(await read("r", store=store))[0] == "Nothing happens."


async def _play(there: World, store: Any) -> None:
    await played(there, "wait", finish("no"), store=store)


async def test_commands_of_one_reply_are_done_one_by_one() -> None:
    made, there = lamps()
    store = MemoryStore()
    together = acts(*(act("act", command=one) for one in ["go to hall", "look", "go to cellar"]))
    with pytest.raises(ModelError):
        await played(there, together, store=store)
    record, _ = await gone_on(there, together, finish("no"), store=store)
    assert len(record.calls) == 4
    assert made[-1].log == made[-2].log
    assert sorted(made[-1].log) == ["go to cellar", "go to hall", "look"]


async def test_a_second_run_needs_an_episode_of_its_own() -> None:
    _, there = lamps()
    store, case = MemoryStore(), there.cases[0]
    async with there.open(case) as episode:
        agent = player(episode, "take lamp", finish("no"))
        await run(agent, case.question, store=store, run_id="one")
        await run(agent, case.question, store=store, run_id="two")
    first, second = await read("one", store=store), await read("two", store=store)
    assert results_of_calls(first)[0] == "You have the lamp."
    assert "this episode is that of run one: enter another for two" in results_of_calls(second)[0]
    assert second.calls[0].observation is not None
    assert second.calls[0].observation.outcome == "not_done"


# ---------------------------------------------------------------- catching up


async def test_a_run_that_was_cut_goes_on_in_a_fresh_game(tmp_path: Path) -> None:
    made, there = lamps(NewLamp)
    script = ["think: now", *WON[:2]]
    with pytest.raises(ModelError, match="script is over"):
        await played(there, *script, store=tmp_path / "runs.sqlite")
    record, reward = await gone_on(
        there, *script, WON[2], finish("lit"), store=tmp_path / "runs.sqlite"
    )
    assert (record.stop.status, reward, made[-1].log) == ("answered", 1.0, WON)
    assert all(len(call.attempts) < 2 for call in record.calls)
    # a record that has stopped is scored again, without a model
    async with there.open(there.cases[0]) as episode:
        await episode.catch_up(record)
        assert await episode.reward(record) == 1.0


async def test_a_fresh_game_notices_by_itself_that_a_run_goes_on(tmp_path: Path) -> None:
    made, there = lamps(NewLamp)
    script = ["think: now", *WON[:2]]
    with pytest.raises(ModelError, match="script is over"):
        await played(there, *script, store=tmp_path / "runs.sqlite")
    async with there.open(there.cases[0]) as episode:
        await resume(
            player(episode, *script, WON[2], finish("lit")), "r", store=tmp_path / "runs.sqlite"
        )
        record = await read("r", store=tmp_path / "runs.sqlite")
        assert await episode.reward(record) == 1.0
    assert record.stop is not None
    assert (record.stop.status, made[-1].log) == ("answered", WON)
    async with there.open(there.cases[0]) as episode:  # and one that is only asked what it paid
        assert await episode.reward(record) == 1.0


async def test_a_game_that_is_another_one_makes_no_move(tmp_path: Path) -> None:
    _, there = lamps()
    with pytest.raises(ModelError, match="script is over"):
        await played(there, WON[0], store=tmp_path / "runs.sqlite")
    _, other = lamps(FailingLamp)
    async with other.open(other.cases[0]) as episode:
        await resume(player(episode, *WON, finish("no")), "r", store=tmp_path / "runs.sqlite")
        record = await read("r", store=tmp_path / "runs.sqlite")
    assert "'take lamp' fails now: OSError: out of oil" in results_of_calls(record)[1]
    assert "is lost: nothing can be done in it" in results_of_calls(record)[2]


async def test_every_cut_of_a_record_comes_to_the_same_end() -> None:
    _, there = lamps(BatchLamp, timeout=3)
    store = MemoryStore()
    value, _ = await played(there, *WON, finish("lit"), store=store)
    lines = await store.read("r")
    for index in range(1, len(lines)):
        cut = await copy(lines[:index])
        async with there.open(there.cases[0]) as episode:
            await episode.catch_up(await read("run", store=cut))
            agent = player(episode, *WON, finish("lit"))
            await resume(agent, "run", store=cut)
            record = await read("run", store=cut)
            assert await episode.reward(record) == 1.0
        assert results_of_calls(record) == results_of_calls(value)


async def test_a_move_in_which_the_process_died_is_made_in_the_new_one(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    done = subprocess.run(
        [sys.executable, "-m", "tests.evals.dying", str(store)], cwd=ROOT, check=False
    )
    assert done.returncode == -9
    made, there = lamps(timeout=3)
    record, reward = await gone_on(there, *WON, finish("lit"), store=store)
    assert (reward, made[-1].log) == (1.0, WON)
    assert [len(call.attempts) for call in record.calls] == [1, 2, 1, 0]
    assert results_of_calls(record)[1] == "You are in the hall."


class OtherLamp(Lamp):
    def moved(self, command: str) -> tuple[str, float]:
        text, reward = super().moved(command)
        return text.replace("the hall", "a hall"), reward


class SoundLamp(Lamp):
    def moved(self, command: str) -> tuple[str, float]:
        return ("Fine.", 0.0) if command == "break" else super().moved(command)


class FailingLamp(Lamp):
    def moved(self, command: str) -> tuple[str, float]:
        message = "out of oil"
        raise OSError(message)


@pytest.mark.parametrize(
    ("script", "kind", "why"),
    [
        (WON[:2], OtherLamp, "step 2, observation of 2.1: the environment is not the one of the"),
        (["break"], SoundLamp, "'break' leads otherwise than it did: now 'Fine.', recorded"),
        (WON[:1], FailingLamp, "'take lamp' fails now: OSError: out of oil"),
        (WON[:1], lambda: Lamp("You are in a tower."), "step 0, goal: .* it begins otherwise"),
    ],
)
async def test_another_environment_than_the_records_is_told(
    script: list[str], kind: Any, why: str
) -> None:
    _, there = lamps()
    store = MemoryStore()
    with pytest.raises(ModelError):
        await played(there, *script, store=store)
    _, other = lamps(kind)
    async with other.open(other.cases[0]) as episode:
        with pytest.raises(ReplayError, match=why):
            await episode.catch_up(await read("r", store=store))


async def test_what_fails_in_the_game_fails_again() -> None:
    made, there = lamps()
    store = MemoryStore()
    with pytest.raises(ModelError):
        await played(there, "break", "look", store=store)
    record, _ = await gone_on(there, "break", "look", *WON, finish("lit"), store=store)
    assert "crashed: KeyError: 'the game has no such word'" in results_of_calls(record)[0]
    assert record.calls[0].observation.outcome == "unknown"
    assert made[-1].log == ["break", "look", *WON]


async def test_a_game_that_hangs_is_lost_and_stays_so() -> None:
    made, there = lamps(StuckLamp, timeout=0.05)
    store = MemoryStore()
    try:
        record, reward = await played(there, "wait", "take lamp", finish("no"), store=store)
    finally:
        made[1].let_on.set()
    assert "did not end in 0.05 s" in results_of_calls(record)[0]
    assert "the environment did not answer in time and is lost" in results_of_calls(record)[1]
    async with there.open(there.cases[0]) as episode:
        await episode.catch_up(record)
        (tool,) = episode.tools
        assert tool.attempts.probe is not None
        for asked in (tool.call, tool.attempts.probe):
            with pytest.raises(Exception, match="is lost"):
                await asked({"command": "look"}, "r:9.1")
        assert await episode.reward(record) == reward == 0.0


async def test_who_waits_in_vain_behind_another_move_is_lost_with_it() -> None:
    made, there = lamps(StuckLamp, timeout=0.05)
    together = acts(act("act", command="wait"), act("act", command="wait"))
    try:
        record, _ = await played(there, together, "look", finish("no"), store=MemoryStore())
    finally:
        made[1].let_on.set()
    codes = [call.observation.code for call in record.calls[:2] if call.observation is not None]
    # Whose time ends first loses it for both: the other may hear of it before its own time ends.
    assert codes in (["timeout", "timeout"], ["timeout", "tool_error"], ["tool_error", "timeout"])
    assert "is lost" in results_of_calls(record)[2]
    async with there.open(there.cases[0]) as episode:
        await episode.catch_up(record)
        assert made[-1].log == []


# ---------------------------------------------------------------- what is no environment


class Pictures(Lamp):
    def reset(self, **value: Any) -> Any:
        return 7


class Two(Lamp):
    def reset(self, **value: Any) -> Any:
        return ["a", "b"], {}


class Three(Lamp):
    def step(self, command: Any) -> Any:
        return "a", 0.0, False


class Broken(Lamp):
    def __init__(self) -> None:
        message = "no such level"
        raise ValueError(message)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (Pictures, "case lamp: .* it shows a value of type int and no text"),
        (Two, "case lamp: .* it plays 2 games at once"),
        (Broken, "case lamp: its environment cannot be begun: ValueError: no such level"),
    ],
)
def test_what_is_no_environment_is_told_before_anything(kind: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        lamps(kind)


async def test_what_steps_otherwise_is_told() -> None:
    _, there = lamps(Three)
    record, _ = await played(there, "look", finish("no"), store=MemoryStore())
    assert (
        "step gave 3 values: four values (gym) or five (gymnasium) are known"
        in results_of_calls(record)[0]
    )


async def test_a_game_that_begins_otherwise_each_time_cannot_be_evaluated() -> None:
    number = iter(range(9))

    def make(case: Case) -> Game:
        return Game(Lamp(f"This is game {next(number)}."), {})

    there = text_world("lamps", [GOAL], make)
    with pytest.raises(ConfigError, match="case lamp: its environment begins otherwise than when"):
        async with there.open(there.cases[0]):
            pass


# ---------------------------------------------------------------- from a dataset


MODULE = """
from tests.evals.games import NewLamp

class Numbered(NewLamp):
    def __init__(self, name):
        super().__init__(f"This is {name}.")
    def reset(self, seed=0):
        self.first = f"{self.first} Seed {seed}."
        return super().reset()
"""


async def test_a_matrix_file_names_what_makes_them(tmp_path: Path) -> None:
    (tmp_path / "lampmodule.py").write_text(MODULE)
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(
        '{"id": "a", "question": "Light it.", "gold": {"reward": 1.0}, '
        '"extra": {"make": {"name": "A"}, "reset": {"seed": 3}}}\n'
        '{"id": "b", "question": "Light it.", "gold": {"reward": 1.0}, '
        '"extra": {"make": {"name": "B"}}}\n'
    )
    make = "lampmodule:Numbered"
    there = world("textworld", tasks, make=make, commands=False, score="last", alone=False)
    first, second = there.cases
    assert first.question == "Light it.\n\nThis is A. Seed 3."
    assert second.question == "Light it.\n\nThis is B. Seed 0."
    _, reward = await played(there, *WON, finish("lit"), store=MemoryStore())
    assert reward == 0.75
    for options, why in (
        ({"make": "lampmodule:None"}, "has no 'None'"),
        ({"make": make, "best": 0}, "best and timeout must be more than 0"),
        ({"make": make, "score": "most"}, "Invalid enum value 'most'"),
    ):
        with pytest.raises(ConfigError, match=why):
            world("textworld", tasks, **options)
    tasks.write_text(tasks.read_text().replace('"make"', '"maker"'))
    with pytest.raises(ConfigError, match=r"case a: .* unknown field `maker`"):
        world("textworld", tasks, make=make)


def test_an_agent_takes_the_tools_as_they_are() -> None:
    """The tool is checked like any other, and its example is right."""
    _, there = lamps()

    async def tools() -> Agent:
        async with there.open(there.cases[0]) as episode:
            return player(episode, "look")

    agent = anyio.run(tools)
    assert [(tool.name, tool.effect) for tool in agent.tools] == [("act", "unsafe")]
    assert agent.engine.validators[agent.tools[0].name]({"command": ""}) != []
