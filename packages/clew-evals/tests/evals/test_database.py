"""Tools over a database: reward by what the data have become, and how it is caught up with."""

import json
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, MemoryStore, read, resume, run
from clew.support.errors import ConfigError, ModelError, ReplayError
from clew.testing.models import ScriptedModel, act, acts, finish
from clew_evals.case import Case
from clew_evals.environments import world
from clew_evals.environments.data_tools import all_over
from clew_evals.environments.database import Task, database_world
from clew_evals.world import World
from tests.core.play import copy
from tests.evals import lending

LEND = {
    "id": "lend",
    "user_id": "ada",
    "instruction": "Lend Weirs (b3) to ada, and tell her what her fines are.",
    "actions": [
        {"name": "get_member", "kwargs": {"member": "ada"}},
        {"name": "lend_book", "kwargs": {"book": "b3", "member": "ada"}},
    ],
    "outputs": ["1200"],
}
MAIL = {
    "instruction": "Ada's address is ada@new.example now. Write her.",
    "actions": [
        {"name": "set_email", "kwargs": {"member": "ada", "email": "ada@new.example"}},
        {"name": "write_letter", "kwargs": {"member": "ada"}},
    ],
}
REPLIES: dict[str, Any] = {
    "tools": "tests.evals.lending:TOOLS",
    "data": "tests.evals.lending:load",
    "reads": ["get_*"],
    "idempotent": ["set_email"],
}


def tasks(folder: Path, *entries: object) -> Path:
    path = folder / "tasks.json"
    path.write_text(json.dumps(entries), "utf-8")
    return path


async def played(there: World, index: int, *script: Any, store: Any = None) -> tuple[Any, Any]:
    """A case of a world: its record, and what it paid."""
    kept, case = store or MemoryStore(), there.cases[index]
    async with there.open(case) as episode:
        agent = Agent(model=ScriptedModel([*script]), tools=episode.tools)
        await run(agent, case.question, store=kept, run_id="r")
        record = await read("r", store=kept)
        return record, await episode.reward(record)


LENT = act("lend_book", book="b3", member="ada")


@pytest.mark.parametrize(
    ("script", "reward"),
    [
        ([act("get_member", member="ada"), LENT, finish("Lent. Her fines are 1,200.")], 1.0),
        ([LENT, finish("Lent; fines: 1200 crowns")], 1.0),
        ([LENT, finish("Lent.")], 0.0),
        ([finish("Her fines are 1200.")], 0.0),
        ([LENT, act("write_letter", member="ada"), finish("1200")], 0.0),
        ([act("lend_book", book="b1", member="ada"), finish("1200")], 0.0),
        ([act("lend_book", book="b2", member="ben"), LENT, finish("1200")], 1.0),
    ],
)
async def test_it_counts_what_the_data_have_become_and_what_is_told(
    tmp_path: Path, script: list[Any], reward: float
) -> None:
    there = world("database", tasks(tmp_path, LEND), **REPLIES)
    assert (there.name, there.cases[0].gold) == ("tasks", {"reward": 1.0})
    assert (await played(there, 0, *script))[1] == reward


async def test_tools_have_the_effects_that_are_said(tmp_path: Path) -> None:
    (tmp_path / "policy.md").write_text("Be polite.\n")
    (tmp_path / "data.json").write_text(json.dumps(lending.DATA))
    fields = {**REPLIES, "data": "data.json", "policy": "policy.md"}
    there = world("database", tasks(tmp_path, LEND, MAIL), **fields)
    assert [case.id for case in there.cases] == ["lend", "task-2"]
    assert there.cases[1].question == f"Be polite.\n\n{MAIL['instruction']}"
    async with there.open(there.cases[0]) as episode:
        effects = {tool.name: tool.effect for tool in episode.tools}
        (member, lend, *_) = episode.tools
    assert effects == {
        "get_member": "read",
        "lend_book": "unsafe",
        "set_email": "idempotent",
        "write_letter": "unsafe",
    }
    assert member.description == "Look a member up."
    assert lend.parameters["required"] == ["book", "member"]
    assert member.attempts.probe is None
    script = [act("set_email", member="ada", email="ada@new.example")]
    script += [act("write_letter", member="ada", text="Hello"), finish("done")]
    assert (await played(there, 1, *script))[1] == 1.0


async def test_what_fails_changes_nothing(tmp_path: Path) -> None:
    there = world("database", tasks(tmp_path, MAIL), **REPLIES)
    script = [
        act("set_email", member="ada", email="ada@new.example"),
        act("write_letter", member="ben"),  # fails after the letter is in the data
        act("get_member", member="eve"),
        act("write_letter", member="ada"),
        finish("done"),
    ]
    record, reward = await played(there, 0, *script)
    _, failed, refused, written, _ = record.calls
    assert "tool_error: KeyError: 'name'" in failed.observation.text
    assert (failed.observation.outcome, refused.observation.outcome) == ("not_done", "not_done")
    assert "there is no member eve" in refused.observation.text
    assert (written.observation.content, reward) == (1, 1.0)


@pytest.mark.parametrize("catch_up", [True, False])
async def test_every_cut_of_a_record_comes_to_the_same_end(tmp_path: Path, catch_up: bool) -> None:
    there = world("database", tasks(tmp_path, MAIL), **REPLIES, timeout=3)
    together = acts(
        act("set_email", member="ada", email="ada@new.example"), act("get_member", member="ada")
    )
    script = [act("write_letter", member="ben"), together]
    script += [act("write_letter", member="ada"), finish("done")]
    store = MemoryStore()
    value, reward = await played(there, 0, *script, store=store)
    assert reward == 1.0
    lines = await store.read("r")
    for index in range(1, len(lines) + 1):
        cut = await copy(lines[:index])
        async with there.open(there.cases[0]) as episode:
            if catch_up:  # else it notices by itself
                await episode.catch_up(await read("run", store=cut))
            agent = Agent(model=ScriptedModel(script), tools=episode.tools)
            await resume(agent, "run", store=cut)
            record = await read("run", store=cut)
            assert await episode.reward(record) == 1.0
        results = {call.key: call.observation.text for call in record.calls if call.observation}
        assert results["3.1"] == "1"
        assert len(results) == len(value.calls)


async def test_a_database_that_answers_otherwise_is_told() -> None:
    def there(tools: list[Any]) -> World:
        task = Task("Count.", id="count")
        return database_world("numbers", [("here", task)], b"{}", all_over(tools, (), ()))

    def number(data: dict[str, Any]) -> None:
        """Fails."""
        message = "no number"
        raise ValueError(message)

    store = MemoryStore()
    with pytest.raises(ModelError):
        await played(there([lending.number]), 0, act("number"), store=store)
    for tools, why in (
        ([lending.number], "step 1, observation of 1.1: number gives something else now"),
        ([number], "number fails now: ValueError: no number"),
    ):
        again = there(tools)
        async with again.open(again.cases[0]) as episode:
            with pytest.raises(ReplayError, match=why):
                await episode.catch_up(await read("r", store=store))


async def test_an_episode_is_one_runs(tmp_path: Path) -> None:
    there = world("database", tasks(tmp_path, LEND), **REPLIES)
    case = there.cases[0]
    async with there.open(case) as episode:
        (_, lend, _, _) = episode.tools
        args = {"book": "b3", "member": "ada"}
        assert lend.attempts.probe is not None
        assert await lend.attempts.probe(args, "one:1.1") is None
        assert await lend.call(args, "one:1.1") == "lent Weirs to ada"
        assert await lend.call(args, "one:1.1") == "lent Weirs to ada"  # once for its key
        assert await lend.attempts.probe(args, "one:1.1") == "lent Weirs to ada"
        with pytest.raises(Exception, match="this episode is that of run one"):
            await lend.call(args, "two:1.1")


async def test_tools_and_tasks_of_tau_bench_are_taken_as_they_are() -> None:
    there = world(
        "database",
        tools="tests.evals.lending:ALL_TOOLS",
        data="tests.evals.lending:DATA",
        tasks="tests.evals.lending:TASKS_TEST",
        reads=["get_*"],
    )
    assert [case.id for case in there.cases] == ["task-1", "task-2"]
    script = [act("return_book", book="b2", also=1), act("return_book", book="b2")]
    record, reward = await played(there, 0, *script, finish("Locks is back"))
    assert record.calls[0].observation.code == "invalid_arguments"
    assert record.calls[1].observation.content == '{"title": "Locks", "lent_to": null}'
    assert reward == 1.0
    assert (await played(there, 1, finish("nothing")))[1] == 1.0


def wrong(**changes: Any) -> dict[str, Any]:
    return {**LEND, "id": "other", **changes}


BAD_TASKS = [
    (wrong(instruction=" "), "entry 2: it has no instruction"),
    (wrong(id="lend"), "entry 2: the id 'lend' is there twice"),
    (wrong(action=[]), "entry 2: Object contains unknown field `action`"),
    (
        wrong(actions=[{"name": "sell_book", "kwargs": {}}]),
        "entry 2: expected action 1 (sell_book): there is no such tool; there are get_member",
    ),
    (
        wrong(actions=[{"name": "lend_book", "kwargs": {"book": 1, "member": "ada"}}]),
        "entry 2: expected action 1 (lend_book): ",
    ),
    (
        wrong(actions=[{"name": "get_member", "kwargs": {"member": "eve"}}]),
        "entry 2: expected action 1 (get_member) fails: there is no member eve",
    ),
    (
        wrong(actions=[{"name": "lend_book", "kwargs": {"book": "b9", "member": "ada"}}]),
        "entry 2: expected action 1 (lend_book) fails: KeyError: 'b9'",
    ),
]


@pytest.mark.parametrize(("task", "why"), BAD_TASKS, ids=[why[9:40] for _, why in BAD_TASKS])
def test_a_bad_task_is_named(tmp_path: Path, task: object, why: str) -> None:
    path = tasks(tmp_path, LEND, task)
    with pytest.raises(ConfigError) as caught:
        world("database", path, **REPLIES)
    assert str(caught.value).startswith(f"{path}: {why}")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"reads": ["fetch_*"]}, r"'fetch_\*' names no tool; there are get_member"),
        ({"tools": "tests.evals.lending:DATA"}, "is of type dict: name a list"),
        ({"tools": "tests.evals.lending:NONE"}, "has no 'NONE'"),
        ({"data": "none.json"}, r"none\.json: cannot be read: No such file"),
        ({"data": "tasks.json"}, r"tasks\.json: Expected `object`, got `array`"),
        ({"data": "tests.evals.lending:get_member"}, "cannot be had as JSON: TypeError"),
        ({"tasks": "tests.evals.lending:TOOLS"}, "TOOLS: entry 1: Object missing required field"),
        ({"policy": "none.md"}, r"none\.md: cannot be read"),
        ({"effects": {}}, "unknown field `effects`; its options are tools, data, reads"),
    ],
)
def test_a_bad_option_is_told(tmp_path: Path, changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        world("database", tasks(tmp_path, LEND), **{**REPLIES, **changes})


@pytest.mark.parametrize(
    ("tools", "why"),
    [
        ([lending.get_member, lending.get_member], "two tools are called get_member"),
        ([lending.load], "function load: its first parameter must be the data"),
        ([7], "7 is neither a function over data nor a class with invoke and get_info"),
        ([Case], "is neither a function over data"),
    ],
)
def test_a_bad_tool_is_told(tools: list[Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        all_over(tools, (), ())
