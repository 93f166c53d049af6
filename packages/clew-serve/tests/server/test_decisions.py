"""What people decide over HTTP: rulings, answers, settlings, and the course of a run."""

from typing import Any

import anyio
import pytest

from clew import Agent, delegate, read, run, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish
from clew.toolbox import HoldQuestions, ask_person
from clew.workers import WorkerConfig, work
from tests.server.site import ADA, BOB, RAY, Letters, Site, agent, hold_letters, site, writer


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@tool(external=True)
def sign(text: str) -> str:
    """Have it signed."""
    raise AssertionError


@tool(effect="unsafe")
async def post(to: str) -> str:
    """Send a letter."""
    raise RuntimeError(f"the line to {to} went dead")


async def held(here: Site, name: str = "writer") -> dict[str, Any]:
    """A run of Ada's that has stopped, as it is held."""
    return await here.by(ADA).until_stop(await here.by(ADA).begin(name))


@pytest.mark.parametrize("args", [None, {"text": "Dear Bob"}])
async def test_a_held_call_is_allowed_as_it_is_or_with_other_arguments(
    args: dict[str, str] | None,
) -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        state = await held(here)
        (waiting,) = (await here.by(ADA).get("/api/inbox"))["held"]
        assert [waiting["id"]] == [each["id"] for each in state["pending"]]
        allowed = {"allow": True, "args": args}
        await here.by(ADA).post(f"/api/rulings/{waiting['id']}", allowed)
        await here.by(ADA).post(
            f"/api/rulings/{waiting['id']}", allowed
        )  # as a client that retries
        state = await here.by(ADA).until_stop(state["run_id"])
        other = await here.by(ADA).ask("POST", f"/api/rulings/{waiting['id']}", {"allow": False})
        record = await read(state["run_id"], store="runs.sqlite")
    assert (state["status"], state["answer"]) == ("answered", "It is sent.")
    assert letters.sent == [(args or {"text": "Dear Ada"})["text"]]
    assert (other.status_code, other.json()["error"]) == (409, "already_ruled")
    ruling = record.calls[0].ruling
    assert ruling is not None
    assert ruling.by == "ada"


async def test_a_held_call_is_refused_with_the_reason_on_record() -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        state = await held(here)
        refused = {"allow": False, "why": "not to her"}
        await here.by(ADA).post(f"/api/rulings/{state['pending'][0]['id']}", refused)
        state = await here.by(ADA).until_stop(state["run_id"])
        page = await here.by(ADA).get(f"/api/runs/{state['run_id']}/entries")
    assert letters.sent == []
    rulings = [each for each in page["entries"] if each["event"] == "ruling"]
    assert [(each["allow"], each["why"]) for each in rulings] == [(False, "not to her")]


async def test_arguments_that_do_not_fit_use_no_ruling_up() -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        call = (await held(here))["pending"][0]["id"]
        wrong = await here.by(ADA).ask(
            "POST", f"/api/rulings/{call}", {"allow": True, "args": {"txt": "x"}}
        )
        assert (wrong.status_code, wrong.json()["error"]) == (422, "invalid")
        assert len((await here.by(ADA).get("/api/inbox"))["held"]) == 1
    assert letters.sent == []


async def test_questions_and_external_calls_are_answered() -> None:
    asking = agent(
        [act("ask_person", question="Which?"), finish("Thanks.")],
        [ask_person()],
        guards=[HoldQuestions()],
    )
    signing = agent([act("sign", text="x"), finish("Signed.")], [sign])
    async with site(agents={"asking": asking, "signing": signing}) as here:
        for name, kind in (("asking", "questions"), ("signing", "external")):
            state = await held(here, name)
            (waiting,) = (await here.by(ADA).get("/api/inbox"))[kind]
            await here.by(ADA).post(f"/api/answers/{waiting['id']}", {"value": "The red one"})
            state = await here.by(ADA).until_stop(state["run_id"])
            page = await here.by(ADA).get(f"/api/runs/{state['run_id']}/entries")
            seen = [each for each in page["entries"] if each["event"] == "observation"]
            assert state["status"] == "answered"
            assert "The red one" in str(seen[0]["content"])
        assert (await here.by(ADA).get("/api/inbox"))["questions"] == []


@pytest.mark.parametrize("then", ["finish", "hold"])
async def test_what_is_unknown_below_stands_in_the_inbox_once_and_until_it_is_settled(
    then: str,
) -> None:
    letters = Letters()
    last = finish("Perhaps.") if then == "finish" else act("send", text="Dear Ada")
    low = agent([act("post", to="Ada"), last], [post, letters.tool], guards=[hold_letters])
    helper = delegate(low, name="help", description="Help.")
    script = [act("help", task="Post it."), finish("Done."), finish("Well.")]
    top = Agent(ScriptedModel(script), tools=[helper], guards=[Provenance("off")])
    async with site(agents={"top": top}) as here:
        state = await held(here, "top")
        (lost,) = (await here.by(ADA).get("/api/inbox"))["unknown"]
        assert (lost["id"], lost["run_id"]) == (
            f"{state['run_id']}-1.1:1.1",
            f"{state['run_id']}-1.1",
        )
        assert [lost["id"]] == [each["id"] for each in state["unknown"]]
        before = state["entries"]
        await here.by(ADA).post(f"/api/settlings/{lost['id']}", {"done": True})
        async for _ in here.by(ADA).events(state["run_id"], after=str(before)):
            pass
        assert (await here.by(ADA).get("/api/inbox"))["unknown"] == []


async def test_a_reviewer_settles_and_answers_for_somebody_else() -> None:
    """Also what is unknown below: the run that lists it and the one that made the call are seen."""
    low = agent([act("post", to="Ada"), finish("Perhaps.")], [post])
    helper = delegate(low, name="help", description="Help.")
    script = [act("help", task="Post it."), finish("Done."), finish("Well.")]
    top = Agent(ScriptedModel(script), tools=[helper], guards=[Provenance("off")])
    signing = agent([act("sign", text="Here."), finish("Signed.")], [sign])
    async with site(agents={"top": top, "signing": signing}) as here:
        ray, state, waits = here.by(RAY), await held(here, "top"), await held(here, "signing")
        box = await ray.get("/api/inbox")
        (lost,), (asked,) = box["unknown"], box["external"]
        runs = [state["run_id"], lost["run_id"], waits["run_id"]]
        assert [(await ray.get(f"/api/runs/{each}"))["owner"] for each in runs] == ["ada"] * 3
        settling = (f"/api/settlings/{lost['id']}", {"done": True})
        answering = (f"/api/answers/{asked['id']}", {"value": "Ada"})
        await ray.post(*settling)
        await ray.post(*answering)
        async for _ in here.by(ADA).events(state["run_id"], after=str(state["entries"])):
            pass
        assert (await here.by(ADA).until_stop(waits["run_id"]))["answer"] == "Signed."
        for each in runs:
            assert (await ray.ask("GET", f"/api/runs/{each}")).status_code == 404
        await ray.post(*settling)  # as a client that retries
        await ray.post(*answering)
        record = await read(waits["run_id"], store="runs.sqlite")
    settled = record.calls[0].settled
    assert settled is not None
    assert settled.by == "ray"


@pytest.mark.parametrize("done", [True, False])
async def test_an_unknown_outcome_is_settled(done: bool) -> None:
    posting = agent([act("post", to="Ada"), finish("Perhaps.")], [post])
    async with site(agents={"posting": posting}) as here:
        state = await held(here, "posting")
        (lost,) = (await here.by(ADA).get("/api/inbox"))["unknown"]
        assert (await here.by(BOB).get("/api/inbox"))["unknown"] == []
        assert [lost["id"]] == [each["id"] for each in state["unknown"]]
        path = f"/api/settlings/{lost['id']}"
        await here.by(ADA).post(path, {"done": done, "why": "she says so"})
        await here.by(ADA).until_stop(state["run_id"])
        assert (await here.by(ADA).get("/api/inbox"))["unknown"] == []
        record = await read(state["run_id"], store="runs.sqlite")
        again = await here.by(ADA).ask("POST", path, {"done": not done})
    settled = record.calls[0].settled
    assert settled is not None
    assert (settled.done, settled.by, settled.why) == (done, "ada", "she says so")
    assert (again.status_code, again.json()["error"]) == (409, "already_ruled")


async def test_words_follow_up_and_come_once_for_each_request() -> None:
    talking = agent([finish("One."), finish("Two."), finish("Three.")])
    async with site(agents={"talking": talking}) as here:
        run_id = (await held(here, "talking"))["run_id"]
        for _ in range(2):
            words = {"say": "And then?", "request": "w1"}
            await here.by(ADA).post(f"/api/runs/{run_id}/words", words)
            await here.by(ADA).until_stop(run_id)
        state = await here.by(ADA).get(f"/api/runs/{run_id}")
        assert (state["answer"], state["steps"]) == ("Two.", 2)
        empty = await here.by(ADA).ask("POST", f"/api/runs/{run_id}/words", {"say": " "})
        assert empty.status_code == 422


async def test_a_cancelled_run_stops_and_waits_for_nobody() -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        state = await held(here)
        await here.by(ADA).post(f"/api/runs/{state['run_id']}/cancel", {})
        state = await here.by(ADA).until_stop(state["run_id"])
        assert (state["status"], state["reason"]) == ("interrupted", "ada cancelled it")
        assert (await here.by(ADA).get("/api/inbox"))["held"] == []
    assert letters.sent == []


async def test_a_run_that_was_cancelled_is_ended_once() -> None:
    """Also one in no queue, with which the server goes on itself."""
    first = await run(writer(Letters()), "Write.", store="runs.sqlite", run_id="r", owner="ada")
    assert first.status == "held"
    async with site(agents={"writer": writer(Letters())}) as here:
        await here.by(ADA).post("/api/runs/r/cancel", {})
        ended = await here.by(ADA).until_stop("r")
        for _ in range(3):
            await here.by(ADA).post("/api/runs/r/cancel", {})
        assert await here.by(ADA).until_stop("r") == ended
    assert ended["status"] == "interrupted"


async def test_words_to_a_held_run_say_that_it_waits() -> None:
    async with site(agents={"writer": writer(Letters())}) as here:
        state = await held(here)
        path, words = f"/api/runs/{state['run_id']}/words", {"say": "Be quick."}
        assert (await here.by(ADA).post(path, words))["held"] is True
        ruling = f"/api/rulings/{state['pending'][0]['id']}"
        assert (await here.by(ADA).post(ruling, {"allow": True}))["held"] is False
        await here.by(ADA).until_stop(state["run_id"])
        assert (await here.by(ADA).post(path, words))["held"] is False


async def test_a_fork_goes_on_in_another_way_and_belongs_to_the_same_user() -> None:
    looks: list[str] = []

    @tool(effect="read")
    def look(where: str) -> str:
        """Look."""
        looks.append(where)
        return "a lighthouse"

    looking = agent([act("look", where="Skerry"), finish("Seen.")], [look])
    async with site(agents={"looking": looking}) as here:
        run_id = (await held(here, "looking"))["run_id"]
        forked = await here.by(ADA).post(
            f"/api/runs/{run_id}/forks", {"at": 1, "observations": {"1.1": "nothing"}}
        )
        state = await here.by(ADA).until_stop(forked["run_id"])
        page = await here.by(ADA).get(f"/api/runs/{forked['run_id']}/entries")
        none = await here.by(ADA).ask("POST", f"/api/runs/{run_id}/forks", {"at": 9})
    assert (state["status"], state["owner"], looks) == ("answered", "ada", ["Skerry"])
    charged = [each["kind"] for each in page["entries"] if each["event"] == "charged"]
    assert charged in ([], ["left"])  # no reply was lost where one process hands on to another
    assert "nothing" in str(page["entries"])
    assert (none.status_code, none.json()["error"]) == (422, "invalid")


async def test_a_wrong_branch_is_taken_back_with_a_lesson() -> None:
    async with site(agents={"talking": agent([finish("One."), finish("Two.")])}) as here:
        run_id = (await held(here, "talking"))["run_id"]
        lesson = {"to": 0, "lesson": "Count from nought."}
        await here.by(ADA).post(f"/api/runs/{run_id}/rewind", lesson)
        await here.by(ADA).until_stop(run_id)
        page = await here.by(ADA).get(f"/api/runs/{run_id}/entries")
    taken = [each for each in page["entries"] if each["event"] == "rewound"]
    assert [(each["lesson"], each["by"]) for each in taken] == [("Count from nought.", "ada")]


async def test_a_run_in_no_queue_goes_on_here_after_a_ruling() -> None:
    """As one that a program began, in the same store."""
    letters = Letters()
    one = writer(letters)
    first = await run(one, "Write.", store="runs.sqlite", run_id="by-hand", owner="ada")
    assert first.status == "held"
    async with site(agents={"writer": one}) as here:
        (waiting,) = (await here.by(ADA).get("/api/inbox"))["held"]
        await here.by(ADA).post(f"/api/rulings/{waiting['id']}", {"allow": True})
        state = await here.by(ADA).until_stop("by-hand")
    assert (state["status"], letters.sent) == ("answered", ["Dear Ada"])


async def test_a_server_without_work_leaves_it_to_workers_elsewhere() -> None:
    letters = Letters()
    one = writer(letters)

    async def worker() -> None:
        await work(WorkerConfig(store="runs.sqlite", agents=[one], only=True, until_idle=True))

    async with site(agents={"writer": one}, work=False) as here:
        run_id = await here.by(ADA).begin("writer")
        assert (await here.by(ADA).get(f"/api/runs/{run_id}"))["status"] == "waiting"
        await worker()
        state = await here.by(ADA).until_stop(run_id)
        await here.by(ADA).post(f"/api/rulings/{state['pending'][0]['id']}", {"allow": True})
        await worker()
        state = await here.by(ADA).until_stop(run_id)
        fork = await here.by(ADA).ask("POST", f"/api/runs/{run_id}/forks", {"at": 1})
    assert (state["status"], letters.sent) == ("answered", ["Dear Ada"])
    assert (fork.status_code, fork.json()["error"]) == (409, "no_work_here")


async def test_a_run_that_cannot_be_gone_on_with_says_why_in_the_inbox() -> None:
    async with site(agents={"short": agent([])}) as here:  # its model has no reply
        run_id = await here.by(ADA).begin("short")
        with anyio.fail_after(60):
            while not (await here.by(ADA).get("/api/inbox"))["broken"]:
                await anyio.lowlevel.checkpoint()
        (broken,) = (await here.by(ADA).get("/api/inbox"))["broken"]
        assert (await here.by(BOB).get("/api/inbox"))["broken"] == []
        state = await here.by(ADA).get(f"/api/runs/{run_id}")
    assert broken["run_id"] == run_id
    assert broken["why"] == state["failure"] != ""


async def test_two_people_rule_at_once_and_the_first_word_counts() -> None:
    letters = Letters()
    async with site(agents={"writer": writer(letters)}) as here:
        call = (await held(here))["pending"][0]["id"]
        answers: list[int] = []

        async def rule(allow: bool) -> None:
            body = {"allow": allow}
            answer = await here.by(ADA).ask("POST", f"/api/rulings/{call}", body)
            answers.append(answer.status_code)

        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(rule, number % 2 == 0)
        assert {*answers} == {200, 409}
        await here.by(ADA).until_stop(call.partition(":")[0])
    assert len(letters.sent) <= 1
