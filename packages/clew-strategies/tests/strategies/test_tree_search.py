"""Tree search over forks: what it tries, what it pays, what it does not do twice."""

import io
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    ConfigError,
    Limits,
    MemoryStore,
    SqliteStore,
    StoreError,
    fork,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.interfaces import Json, ModelInfo, OnText, Prompt, RawCall, Reply, encode
from clew.retention import export_runs, gc, import_runs
from clew_strategies import AnswerVerdict, Score, TreeSearch, strategy_agent
from clew_testing.cut_store import CutStore

WAYS = {"": "LR", "L": "LR", "R": "LR"}
"""Doors of a house of two floors: the treasure lies behind R, then L."""


@tool(effect="read")
def go(door: str) -> str:
    """Go through a door.

    Args:
        door: L or R.
    """
    return f"behind {door}"


@dataclass
class Walker:
    """A model that goes through the first door that nobody tried, and says where it came to."""

    asked: list[str] = field(default_factory=list)
    scores: list[str] = field(default_factory=list)
    deep: int = 2
    info = ModelInfo("walker")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if "You judge the work" in prompt.head[0].text:
            return self._score(prompt.head[-1].text)
        doors = [part.text[-1] for part in prompt.parts if part.role == "tool"]
        path = "".join(doors)
        said = prompt.parts[-1].text if prompt.parts else ""
        if "Answer now" in said or len(path) == self.deep:
            self.asked.append(f"{path}!")
            return finish(path)
        notes = [part.text for part in prompt.parts if "tried already" in part.text]
        tried = notes[-1].split("tried already:")[1] if said and notes and notes[-1] == said else ""
        door = next((d for d in "LR" if f'"{d}"' not in tried), "L")
        self.asked.append(path + door)
        return Reply(
            f"I take {door}.",
            (RawCall(name="go", arguments=encode({"door": door}).decode()),),
            "calls",
        )

    def _score(self, seen: str) -> Reply:
        path = "".join(re.findall(r"Observation: behind (.)", seen))
        self.scores.append(path)
        good = 1.0 if "Answer: RL" in seen else 0.1 if "Answer: null" not in seen else 0.4
        good = 0.6 if good == 0.4 and path.startswith("R") else good
        return finish({"score": good, "why": f"it is at {path}"})


def finish(answer: Json) -> Reply:
    return Reply(
        "", (RawCall(name="finish", arguments=encode({"answer": answer}).decode()),), "calls"
    )


def searching(model: Any, tools: Any = (go,), **settings: Any) -> Agent:
    agent = Agent(model, list(tools), prompt="You are the walker.")
    return strategy_agent(TreeSearch(agent, **settings), agent)


@pytest.mark.parametrize("by", ["best", "uct"])
async def test_it_finds_what_lies_behind_the_second_way(by: Any) -> None:
    model, store = Walker(), MemoryStore()
    whole = searching(model, breadth=2, by=by)
    done = await run(whole, "Where is it?", store=store)
    assert (done.status, done.answer) == ("answered", "RL")
    assert len(model.asked) == len(set(model.asked))  # no shared step was asked for again
    asked = len(model.asked) + len(model.scores)
    replayed = await replay(whole, done.run_id, store=store)
    assert replayed.trajectory.stop is not None
    assert len(model.asked) + len(model.scores) == asked


async def test_the_best_branch_goes_on_first() -> None:
    model, store = Walker(), MemoryStore()
    done = await run(searching(model, breadth=2), "Where is it?", store=store)
    assert model.asked == ["L", "R", "RL", "RR", "RL!"]
    assert model.scores == ["L", "R", "RL", "RR", "RL"]
    record = await read(done.run_id, store=store)
    last = record.calls[-3]
    branch = await read(last.child, store=store)
    assert len(branch) > len(branch.steps) == 3
    assert branch.total.steps == 1  # two of its steps are shared
    assert branch.parent_call == f"{done.run_id}:{last.key}"
    assert record.total.steps == 10 + 5 + 5 + 1
    assert done.steps == len(record.steps)


async def test_branches_and_their_forks_replay() -> None:
    store = MemoryStore()
    agent = Agent(Walker(), [go], prompt="You are the walker.")
    search = TreeSearch(agent, breadth=2)
    done = await run(strategy_agent(search, agent), "Where is it?", store=store)
    record = await read(done.run_id, store=store)
    role: Any = search.roles["branch"]
    for call in record.calls:
        if call.action.name == "branch":
            again = await replay(role.bounded, call.child, store=store)
            assert again.trajectory.stop is not None
    other = await fork(agent, record.calls[0].child, at=1, store=store)
    apart = await read(other.run_id, store=store)
    assert (other.status, apart.parent_call) == ("answered", "")  # no branch now: it may go on
    assert apart.grant == (await read(record.calls[0].child, store=store)).grant  # but no further


@pytest.mark.slow
async def test_a_process_that_dies_anywhere_loses_nothing() -> None:
    model, whole = Walker(), CutStore()
    await run(searching(model, breadth=2), "Where?", store=whole, run_id="tree")
    asked = len(model.asked) + len(model.scores)
    for left in range(2, whole.written):
        store, before, after = CutStore(left=left), Walker(), Walker()
        with pytest.raises(StoreError):
            await run(searching(before, breadth=2), "Where?", store=store, run_id="tree")
        store.left = 1 << 30
        done = await resume(searching(after, breadth=2), "tree", store=store)
        assert done.answer == "RL"
        again = [*before.asked, *after.asked, *before.scores, *after.scores]
        assert len(again) <= asked + 1
        last = await replay(searching(Walker(), breadth=2), "tree", store=store)
        assert last.trajectory.stop is not None


async def test_what_a_branch_did_is_held_in_the_next() -> None:
    sent: list[str] = []

    @tool(effect="unsafe")
    def send(text: str) -> str:
        """Send a letter.

        Args:
            text: What it says.
        """
        sent.append(text)
        return "sent"

    @dataclass
    class Writer:
        info = ModelInfo("writer")

        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            if any(part.role == "tool" for part in prompt.parts):
                return finish("written")
            return Reply("", (RawCall(name="send", arguments='{"text": "Dear Ada"}'),), "calls")

    @tool(effect="pure")
    def score(task: str, answer: str) -> AnswerVerdict:
        """Never satisfied.

        Args:
            task: What was asked.
            answer: The answer.
        """
        return AnswerVerdict(passed=False, why="no")

    store = MemoryStore()
    whole = searching(Writer(), [send], scorer=score, breadth=2)
    waits = await run(whole, "Write.", store=store)
    assert (waits.status, sent) == ("held", ["Dear Ada"])
    [waiting] = await pending_approvals(store=store)
    assert (waiting.tool, waiting.root) == ("send", waits.run_id)
    assert "was done already" in waiting.why
    await rule(waiting.id, allow=False, why="once is enough", store=store)
    done = await resume(whole, waits.run_id, store=store)
    assert sent == ["Dear Ada"]
    assert done.status == "declined"
    assert "no (answer: written)" in str(done.answer)


async def test_a_test_scores_answers_only_and_paths_are_followed_to_their_end() -> None:
    @tool(effect="pure")
    def score(task: str, answer: str) -> Score:
        """Say whether it is there.

        Args:
            task: What was asked.
            answer: The answer.
        """
        return Score(float(answer == "LR"), f"at {answer}")

    model, store = Walker(), MemoryStore()
    done = await run(searching(model, scorer=score, breadth=2), "Where?", store=store)
    assert done.answer == "LR"
    assert model.asked == ["L", "R", "LL", "LR", "LL!", "LL!", "LR!"]


async def test_votes_are_averaged() -> None:
    model, store = Walker(), MemoryStore()
    done = await run(searching(model, breadth=2, votes=3), "Where?", store=store)
    record = await read(done.run_id, store=store)
    assert [len(step.calls) for step in record][:4] == [1, 3, 1, 3]
    assert len(model.scores) == 3 * len(model.asked)


async def test_without_an_answer_the_best_branch_is_asked_for_one() -> None:
    model, store = Walker(deep=9), MemoryStore()
    done = await run(
        searching(model, breadth=2, depth=2, max_branches=4, min_score=0.05), "Where?", store=store
    )
    assert done.answer == "R"
    assert model.asked[-1] == "R!"


async def test_a_limit_gives_the_best_answer_so_far() -> None:
    model, store = Walker(), MemoryStore()
    agent = Agent(model, [go], prompt="You are the walker.")
    search = TreeSearch(agent, breadth=2, enough=1.1, max_branches=99)
    whole = strategy_agent(search, agent, limits=Limits(steps=24))
    done = await run(whole, "Where is it?", store=store)
    assert (done.status, done.answer) == ("bound", "RL")


async def test_twins_are_not_followed() -> None:
    model, store = Walker(), MemoryStore()
    done = await run(searching(model, breadth=3), "Where?", store=store)
    record = await read(done.run_id, store=store)
    said = [step.thought.text for step in record if step.thought is not None]
    assert any("the same as branch 1" in text for text in said)
    assert model.scores[:3] == ["L", "R", "RL"]


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"by": "luck"}, "choose one of best, uct"), ({"breadth": 0}, "breadth is 0: give 1 or more")],
)
def test_settings_that_search_nothing_are_refused(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        TreeSearch(Agent(Walker(), [go]), **settings)


async def test_a_search_is_exported_brought_back_and_deleted_as_a_whole(tmp_path: Path) -> None:
    store, other, file = SqliteStore(tmp_path / "runs.sqlite"), MemoryStore(), io.BytesIO()
    whole = searching(Walker(), breadth=2)
    done = await run(whole, "Where?", store=store, run_id="tree")
    await export_runs(file, ["tree"], store=store)
    brought = await import_runs(io.BytesIO(file.getvalue()), store=other)
    assert set(brought.runs) == {info.run_id for info in await store.runs()}
    assert (await resume(whole, "tree", store=other)).answer == done.answer
    swept = await gc(status=["bound"], store=store)  # its branches ended so, the whole did not
    assert swept.removed == ()
    swept = await gc(status=["answered"], store=store)
    assert len(swept.removed) == len(brought.runs)
    await store.close()
