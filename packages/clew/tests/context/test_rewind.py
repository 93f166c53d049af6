"""A wrong branch leaves the view: what came before stays to the byte, what was done stays done."""

import json
from pathlib import Path
from typing import Any

import pytest

import clew
from benchmarks.context.long_runs import WindowModel, page, pages_read, reading
from clew import Agent, ConfigError, Limits, MemoryStore, Trajectory
from clew.core.events import Charged, Note, Rewound
from clew.core.prompts import Prompt
from clew.core.stores import Store
from clew.core.values import encode
from clew.guards import Provenance
from clew.testing.models import Move, act, finish, say
from clew.toolbox import backtrack
from tests.cli.shell import clew as command
from tests.core.play import copy

LIMITS = Limits(steps=60, tool_calls=90)
LESSON = "The museum is closed; ask at the harbour."
posted: list[str] = []


@clew.tool
def post(text: str) -> str:
    """Post a notice."""
    posted.append(text)
    return "posted"


def agent(model: WindowModel, *tools: Any, **more: Any) -> Agent:
    tools, guards = (page, post, *tools), [*more.pop("guards", ()), Provenance("off")]
    return Agent(model, tools, limits=LIMITS, codec=model.codec, guards=guards, **more)


def goes_back(prompt: Prompt) -> Move:
    """Reads a page, posts and reads on, goes back to step 1 once, then answers."""
    if any("and are left out:" in part.text for part in prompt):
        return finish("at the harbour")
    turns = len(pages_read(prompt))
    if turns == 3:
        return act("backtrack", step=1, lesson=LESSON)
    return act("post", text="Is it open?") if turns == 1 else act("page", number=turns + 1)


async def whole(who: Agent, store: Store) -> Trajectory:
    await clew.run(who, "Where?", store=store, run_id="run")
    return await clew.read("run", store=store)


@pytest.mark.parametrize("codec", ["native", "json", "labelled", "paper"])
async def test_a_model_goes_back_to_an_earlier_step(codec: str) -> None:
    model = WindowModel(goes_back, codec=codec, tools=(page, post, backtrack()))
    store = MemoryStore()
    done = await whole(agent(model, backtrack()), store)
    assert done.stop is not None
    assert (done.stop.status, done.stop.answer) == ("answered", "at the harbour")
    assert [e.event for e in done.entries if isinstance(e.event, Rewound)] == [
        Rewound(1, LESSON, "model")
    ]
    assert model.sent[4][: len(model.sent[1])] == model.sent[1], "as the prompt after step 1"
    last = b"".join(model.sent[4]).decode()
    assert LESSON in last
    assert "Is it open?" in last, "it was posted, and stays so"
    assert "Page 3" not in last
    assert done.spent.steps == 5, "what was spent stays spent"
    await clew.replay(agent(WindowModel(goes_back, codec=codec), backtrack()), "run", store=store)


async def test_a_run_with_a_rewind_can_be_cut_anywhere() -> None:
    model = WindowModel(goes_back, reports=False, tools=(page, post, backtrack()))
    store = MemoryStore()
    want = [e.event for e in (await whole(agent(model, backtrack()), store)).entries]
    lines = await store.read("run")
    for cut in range(1, len(lines)):
        there, before = await copy(lines[:cut]), len(posted)
        made = any(b'"tool":"post"' in line.body for line in lines[:cut])
        model = WindowModel(goes_back, reports=False, tools=(page, post, backtrack()))
        await clew.resume(agent(model, backtrack()), "run", store=there)
        again = await clew.read("run", store=there)
        assert len(posted) - before == (not made), "an unsafe call is never made again"
        got = [e.event for e in again.entries if not isinstance(e.event, Charged)]
        if not made or any(b"posted" in line.body for line in lines[:cut]):
            assert got == want, f"cut after entry {cut}"


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"step": 2, "lesson": "x"}, "this is step 2: go back to an earlier one"),
        ({"step": -1, "lesson": "x"}, "invalid_arguments"),
        ({"step": 0, "lesson": ""}, "invalid_arguments"),
    ],
)
async def test_a_model_is_told_where_it_cannot_go_back_to(args: Any, why: str) -> None:
    script = reading(1, act("backtrack", **args), say("ok"))
    done = await whole(agent(WindowModel(script), backtrack()), MemoryStore())
    seen = done.steps[1].calls[0].observation
    assert seen is not None
    assert why in seen.text
    assert not done.omitted.rewinds


async def test_a_model_goes_back_only_so_often() -> None:
    def script(prompt: Prompt) -> Move:
        if any("which is all you may" in part.text for part in prompt):
            return say("ok")
        done = sum("and are left out:" in part.text for part in prompt)
        return act("backtrack", step=0, lesson=f"no {done}")

    done = await whole(agent(WindowModel(script), backtrack(2)), MemoryStore())
    assert [one.lesson for one in done.omitted.rewinds] == ["no 0", "no 1"]
    with pytest.raises(ConfigError, match="backtrack 0 times is never"):
        backtrack(0)


async def test_somebody_elses_tool_of_that_name_is_nothing_but_a_tool() -> None:
    @clew.tool(name="backtrack", effect="read")
    def theirs(step: int) -> str:
        """Something else."""
        return "ok"

    script = reading(1, act("backtrack", step=0), say("ok"))
    done = await whole(agent(WindowModel(script), theirs), MemoryStore())
    assert not done.omitted.rewinds


class TestAPerson:
    async def test_takes_a_wrong_branch_out_of_a_run_that_had_ended(self) -> None:
        store, posted_before = MemoryStore(), len(posted)
        first = agent(WindowModel(reading(6, say("wrong"), say("still wrong"))))
        await whole(first, store)
        await clew.resume(first, "run", say="Which harbour?", store=store)
        await clew.rewind("run", to=2, lesson=f"  {LESSON}\n", by="Ada", store=store)

        def script(prompt: Prompt) -> Move:
            return say("right") if any(LESSON in part.text for part in prompt) else say("wrong")

        model = WindowModel(script)
        result = await clew.resume(agent(model), "run", store=store)
        assert (result.status, result.answer, len(posted)) == ("answered", "right", posted_before)
        assert not any(b"Page 3" in one for one in model.sent[0])
        assert any(b"Which harbour?" in one for one in model.sent[0]), "a person's words stay"
        record = await clew.read("run", store=store)
        assert record.omitted.rewinds == [Rewound(2, LESSON, "Ada")]
        assert len(record.steps) == 9
        await clew.replay(agent(model), "run", store=store)

    async def test_goes_back_before_what_a_compaction_left_out(self) -> None:
        store = MemoryStore()
        await whole(agent(WindowModel(reading(30, say("wrong")), 6_000)), store)
        record = await clew.read("run", store=store)
        assert record.omitted.upto > 1
        await clew.rewind("run", to=1, lesson=LESSON, store=store)
        model = WindowModel(lambda prompt: say("right"), 6_000)
        await clew.resume(agent(model), "run", store=store)
        last = b"".join(model.sent[-1]).decode()
        assert "Page 30" not in last
        assert "Page 1," in last
        assert "Page 2," not in last

    async def test_leaves_its_lesson_where_a_compaction_leaves_out_the_branch(self) -> None:
        store = MemoryStore()
        await whole(agent(WindowModel(reading(4, say("wrong")), 6_000)), store)
        await clew.rewind("run", to=2, lesson=LESSON, store=store)
        model = WindowModel(reading(30, say("right")), 6_000)
        await clew.resume(agent(model), "run", store=store)
        record = await clew.read("run", store=store)
        assert record.omitted.upto > 5
        assert f"Learned in them:\n- {LESSON}" in record.omitted.compactions[-1].text
        other = MemoryStore()
        await whole(agent(WindowModel(reading(4, say("wrong")), 6_000)), other)
        await clew.rewind("run", to=2, lesson="Another one.", store=other)
        await clew.resume(agent(WindowModel(reading(30, say("right")), 6_000)), "run", store=other)
        parting = clew.diff(record, await clew.read("run", store=other)).parting
        assert parting is not None
        assert (parting.what, parting.right) == ("rewind to step 2", "Another one.")

    @pytest.mark.parametrize(
        ("given", "why"),
        [
            ({"to": 4, "lesson": "x"}, "run run has 4 steps: none follows step 4"),
            ({"to": -1, "lesson": "x"}, "none follows step -1"),
            ({"to": 1, "lesson": " \n"}, "a rewind needs a lesson"),
        ],
    )
    async def test_is_told_what_cannot_be(self, given: Any, why: str) -> None:
        store = MemoryStore()
        await whole(agent(WindowModel(reading(3, say("ok")))), store)
        with pytest.raises(ConfigError, match=why):
            await clew.rewind("run", store=store, **given)

    async def test_is_told_that_a_call_waits(self) -> None:
        def ask(call: clew.Call, trajectory: Trajectory) -> clew.Verdict | None:
            return clew.Verdict("hold", "may it?") if call.action.name == "post" else None

        store = MemoryStore()
        script = reading(1, act("post", text="x"), say("ok"))
        await whole(agent(WindowModel(script), guards=[ask]), store)
        with pytest.raises(ConfigError, match=r"call 2\.1 of run run is open"):
            await clew.rewind("run", to=1, lesson="x", store=store)

    @pytest.mark.parametrize("to", [-3, 9])
    async def test_a_rewind_that_came_too_late_is_set_aside(self, to: int) -> None:
        store = MemoryStore()
        await whole(agent(WindowModel(reading(3, say("ok")))), store)
        await store.post("run", encode(Rewound(to, "x")))
        await clew.resume(agent(WindowModel(reading(3, say("ok")))), "run", store=store)
        record = await clew.read("run", store=store)
        assert not record.omitted.rewinds
        (note,) = [e.event for e in record.entries if isinstance(e.event, Note)]
        assert note.text == "a rewind was set aside: calls are open, or no step follows"


def test_the_command_line_rewinds(tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "runs.sqlite"))
    asked = command("ask", "What is 17 * 23?", "--model", "offline", "--json", *store)
    run = json.loads(asked.out)["run_id"]
    back = ("--rewind-to", "0", "--lesson", "Begin anew.")
    done = command("resume", run, *back, "--json", *store)
    assert json.loads(done.out)["answer"] == "17 * 23 = 391"
    shown = command("show", run, *store)
    assert "Begin anew." in shown.out
    assert "needs a lesson" in command("resume", run, "--rewind-to", "0", *store).err
    assert "--rewind-to" in command("resume", run, "--lesson", "x", *store).err
