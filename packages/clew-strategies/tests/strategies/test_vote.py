"""Votes: how they are decided, what they spend, and that no crash loses or pays anything twice."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_type

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    Evidence,
    Limits,
    MemoryStore,
    ModelError,
    Observation,
    StoreError,
    Usage,
    Verdict,
    cancel,
    open_run,
    open_store,
    read,
    replay,
    rule,
    tool,
)
from clew.core.contents import Reply
from clew.core.events import Stop
from clew.core.prompts import Prompt
from clew.core.stores import Append
from clew.core.trajectory import Call, Trajectory
from clew.stores import RunNotFoundError
from clew.testing.models import ScriptedModel, act, finish, say
from clew_strategies import VerifierChoice, agent_of, verifying, vote, vote_status, vote_sync
from tests.strategies.voters import QUESTION, Tape, Voters, ask, look, model_of, voters, watched

pytestmark = pytest.mark.anyio


async def second(question: str, runs: Mapping[int, Trajectory]) -> VerifierChoice:
    """A verifier that has read the runs."""
    assert question == QUESTION
    assert all(run.stop is not None and len(run.steps) > 1 for run in runs.values())
    return VerifierChoice(2, "it looked at page 2")


async def none_of_them(question: str, runs: Mapping[int, Trajectory]) -> VerifierChoice:
    """A verifier that cannot say."""
    del question, runs
    return VerifierChoice(0, "all are weak")


async def a_run_without_an_answer(question: str, runs: Mapping[int, Trajectory]) -> VerifierChoice:
    """A verifier that names what was not to be chosen."""
    del question, runs
    return VerifierChoice(9)


async def out_of_order(question: str, runs: Mapping[int, Trajectory]) -> VerifierChoice:
    """A verifier that fails."""
    raise RuntimeError(question)


def judge(*script: Any) -> Agent[VerifierChoice]:
    """A verifying agent that says this."""
    return verifying(ScriptedModel(script, answer=VerifierChoice))


@pytest.mark.parametrize(
    ("answers", "verifier", "how", "answer", "chosen"),
    [
        (("Paris", "paris.", "The Paris!"), second, "agreement", "Paris", 1),
        (("Rome", "Paris", "paris."), None, "majority", "Paris", 2),
        (("Rome", "Paris", "Oslo"), None, "tie", "Rome", 1),
        (("Rome", "Paris", "Rome"), second, "verifier", "Paris", 2),
        (("Rome", "Paris", "Rome"), judge(finish({"run": 2})), "verifier", "Paris", 2),
        (("Rome", "Paris", "Paris"), none_of_them, "majority", "Paris", 2),
        (("Rome", "Paris", "Paris"), a_run_without_an_answer, "majority", "Paris", 2),
        (("Rome", "Paris", "Paris"), out_of_order, "majority", "Paris", 2),
        (("Rome", "Paris", "Paris"), judge(), "majority", "Paris", 2),
        (("Rome", "Paris", "Paris"), judge(*[Reply()] * 9), "majority", "Paris", 2),
        (("Paris",), None, "agreement", "Paris", 1),
    ],
)
async def test_a_vote_is_decided_by_agreement_then_verifier_then_majority(
    answers: tuple[str, ...], verifier: Any, how: str, answer: str, chosen: int
) -> None:
    store = MemoryStore()
    agent = voters(*answers, meet=len(answers))
    found = await ask(agent, len(answers), verifier=verifier, store=store)
    assert (found.how, found.answer, found.chosen) == (how, answer, chosen)
    assert (found.result.status, found.result.ok) == ("answered", True)
    assert found.words
    for number, run in enumerate(found.runs, start=1):
        record = await read(run.run_id, store=store)
        assert record.started.parent == f"{found.result.run_id}:1.{number}"
    own = await read(found.result.run_id, store=store)
    assert own.stop == Stop("answered", "", answer)
    assert own.steps[-1].thought is not None
    assert own.steps[-1].thought.text == found.words


async def test_a_verifier_that_fails_is_named_in_the_decision() -> None:
    unavailable = await ask(voters("x", "y", meet=2), 2, verifier=judge())
    assert unavailable.choice is not None
    assert "the verifier was not available: the script is over" in unavailable.words
    crashed = await ask(voters("x", "y", meet=2), 2, verifier=out_of_order)
    assert "RuntimeError" in crashed.words
    bound = await ask(voters("x", "y", meet=2), 2, verifier=judge(*[Reply()] * 9))
    assert bound.words.startswith("The verifier chose none (its run ended as bound). 1 of 2 runs")


async def test_the_verifying_agent_sees_what_each_run_did_and_its_run_is_on_record() -> None:
    seen: list[str] = []

    def choose(prompt: Prompt) -> Any:
        seen.append("\n".join(part.text for part in prompt))
        return finish({"run": 1, "why": "page 7 says so"})

    store = MemoryStore()
    agent = voters([act("look", page=7), say("Rome")], [finish("y" * 5_000)])
    found = await ask(agent, 2, verifier=judge(choose), store=store)
    assert (found.how, found.answer) == ("verifier", "Rome")
    assert found.words == "The answers differ; the verifier chose that of run 1 (page 7 says so)."
    (prompt,) = seen
    assert f"The question: {QUESTION}" in prompt
    assert 'Action: look({"page":7})\nObservation: page 7' in prompt
    assert f"Answer of run 2: {'y' * 5_000}" in prompt
    own = await read(f"{found.result.run_id}.verifier", store=store)
    assert own.started.parent == f"{found.result.run_id}:2.1"
    assert found.result.usage == sum((run.usage for run in found.runs), start=own.usage)


async def test_a_long_observation_is_shown_to_the_verifier_by_its_ends() -> None:
    @tool(effect="read")
    def look(page: int) -> str:
        """Look at a page.

        Args:
            page: Its number.
        """
        return f"begin{page}" + "." * 9_000 + "end"

    seen: list[str] = []

    def choose(prompt: Prompt) -> Any:
        seen.append("\n".join(part.text for part in prompt))
        return finish({"run": 0})

    await ask(voters("x", "y", tools=[look]), 2, verifier=judge(choose))
    assert "begin1" in seen[0]
    assert "7,011 characters" in seen[0] or "7,009 characters" in seen[0]
    assert len(seen[0]) < 8_000


async def test_with_equal_scripts_three_runs_take_the_waits_of_one() -> None:
    scripts = [[act("look", page=9), say("Paris")]] * 3
    alone, together = voters(*scripts[:1], meet=1), voters(*scripts, meet=3)
    await ask(alone, 1)
    found = await ask(together, 3, verifier=none_of_them)
    assert found.how == "agreement"
    assert len(model_of(together).paid) == 3 * len(model_of(alone).paid) == 9
    assert model_of(together).meetings == model_of(alone).meetings == 3


async def test_a_certain_majority_ends_the_other_runs_and_says_so() -> None:
    begun = anyio.Event()

    @tool(effect="read")
    async def look(page: int) -> str:
        """Look at a page.

        Args:
            page: Its number.
        """
        if page == 2:
            begun.set()
            await anyio.sleep_forever()
        await begun.wait()
        return "a page"

    store = MemoryStore()
    found = await ask(voters("Paris", "Rome", "Paris.", tools=[look]), store=store)
    assert (found.how, found.answer) == ("majority", "Paris")
    assert found.words == "2 of 3 runs gave this answer (1 interrupted)."
    assert [run.status for run in found.runs] == ["answered", "interrupted", "answered"]
    ended = await read(found.runs[1].run_id, store=store)
    assert ended.stop == Stop("interrupted", "the vote was decided without it")
    assert not ended.step.pending
    own = await read(found.result.run_id, store=store)
    assert own.calls[1].observation is not None
    assert own.calls[1].observation.content["run_id"] == found.runs[1].run_id


async def test_a_run_that_is_not_needed_is_not_begun() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([say("42")]))  # answers without ever waiting
    found = await vote(agent, QUESTION, 3, store=store)
    assert sorted(run.status for run in found.runs) == ["answered", "answered", "not begun"]
    assert len(await store.runs()) == 3


@pytest.mark.parametrize("verifier", [None, second, "judge"])
async def test_cut_after_every_entry_and_asked_again_it_decides_the_same_and_pays_nothing_twice(
    verifier: Any,
) -> None:
    def made() -> tuple[Agent, Any]:
        agent = voters("Rome", "Paris", "Rome." if verifier is None else "Oslo", meet=1)
        script = [act("finish"), finish({"run": 2, "why": "it looked"})]
        return agent, judge(*script) if verifier == "judge" else verifier

    tape = Tape()
    agent, word = made()
    whole = await ask(agent, verifier=word, store=tape, run_id="vote")
    assert whole.how == ("majority" if verifier is None else "verifier")
    for cut in range(1, len(tape.written) + 1):
        left = await tape.cut(cut)
        before = await thoughts(left)
        agent, word = made()
        again = await ask(agent, verifier=word, store=left, run_id="vote")
        assert (again.how, again.answer, again.chosen) == (whole.how, whole.answer, whole.chosen), (
            f"cut after write {cut}"
        )
        after = await thoughts(left)
        paid = model_of(agent).paid
        assert len(paid) == len(set(paid))
        assert not before & set(paid), f"cut after write {cut}: paid what was recorded"
        assert len(after) == len(before | set(paid))
        if verifier is not None:  # else what a run that was not needed did depends on the moment
            assert (again.words, again.result.usage) == (whole.words, whole.result.usage)
        own = await read("vote", store=left)
        assert [type(entry.event).__name__ for entry in own.entries].count("Stop") == 1


async def thoughts(store: MemoryStore) -> set[tuple[int, int]]:
    """Which thoughts of which runs are on record."""
    found: set[tuple[int, int]] = set()
    for info in await store.runs():
        end = info.run_id.rpartition(".")[2]
        if end.isdigit():
            record = await read(info.run_id, store=store)
            found |= {(int(end), step.number) for step in record}
    return found


@pytest.mark.parametrize("place", ["memory", "runs", "runs.sqlite"])
async def test_every_store_keeps_a_vote_and_gives_it_again(tmp_path: Path, place: str) -> None:
    store = MemoryStore() if place == "memory" else open_store(tmp_path / place)
    agent = voters("Rome", "Paris", "Rome", meet=3)
    first = await ask(agent, store=store, run_id="vote", verifier=none_of_them)
    paid = list(model_of(agent).paid)
    again = await ask(agent, store=store, run_id="vote", verifier=none_of_them)
    assert again == first
    assert model_of(agent).paid == paid
    await store.close()


async def test_a_vote_and_its_runs_replay_without_a_call() -> None:
    def never(prompt: Prompt) -> Any:
        raise AssertionError(prompt)

    store = MemoryStore()
    agent = voters("Rome", "Paris", "Oslo", limits=Limits(tool_calls=9), meet=3)
    found = await ask(agent, store=store, verifier=judge(finish({"run": 3})), run_id="vote")
    own = await read("vote", store=store)
    silent = agent.replace(model=replaced(agent, [[never]] * 3))
    replayed = await replay(agent_of(silent, own), "vote", store=store)
    assert replayed.trajectory.stop == own.stop
    for run in found.runs:
        record = await read(run.run_id, store=store)
        replayed = await replay(agent_of(silent, record, own), run.run_id, store=store)
        assert replayed.trajectory.stop == record.stop
    with pytest.raises(ConfigError, match=r"run vote\.1 is no vote"):
        agent_of(agent, await read("vote.1", store=store))


def replaced(agent: Agent, scripts: Any) -> Any:
    """The agent's model with another script."""
    return type(model_of(agent))(scripts)


async def hold_page_2(call: Call, trajectory: Trajectory) -> Verdict | None:
    del trajectory
    return Verdict("hold", "page 2 is private") if call.args.get("page") == 2 else None


async def test_a_run_that_is_held_holds_the_vote_until_a_person_rules() -> None:
    store = MemoryStore()
    agent = voters("Rome", "Paris", "Paris", guards=[hold_page_2])
    held = await ask(agent, store=store, run_id="vote")
    assert (held.result.status, held.answer, held.how) == ("held", None, "none")
    assert held.result.reason == "waiting for a ruling in vote.2"
    assert [run.status for run in held.runs] == ["answered", "held", "answered"]
    assert held.result.usage.tokens == 75
    assert (await ask(agent, store=store, run_id="vote")).result.status == "held"
    await rule("vote.2:1.1", allow=True, store=store)
    found = await ask(agent, store=store, run_id="vote")
    assert (found.how, found.answer) == ("majority", "Paris")
    assert len(model_of(agent).paid) == len(set(model_of(agent).paid)) == 6


async def test_a_run_that_is_held_holds_nothing_that_is_certain() -> None:
    store = MemoryStore()
    agent = voters("Paris", "Rome", "Paris", guards=[hold_page_2], meet=3)
    model_of(agent).meet = 1
    found = await ask(agent, store=store)
    assert (found.result.status, found.answer) == ("answered", "Paris")
    assert found.runs[1].status in {"interrupted", "not begun"}


async def test_a_model_that_fails_leaves_the_vote_open_unless_the_others_decide() -> None:
    store = MemoryStore()
    agent = voters("Rome", [], "Paris")
    with pytest.raises(ModelError, match="script is over"):
        await ask(agent, store=store, run_id="vote")
    assert (await read("vote", store=store)).stop is None
    stands = await vote_status(agent, "vote", store=store)
    assert [run.status for run in stands.runs] == ["answered", "open", "answered"]
    assert (stands.result.status, stands.result.usage.tokens) == ("failed", 75)
    model_of(agent).scripts = [[say("Rome")], [say("paris")], [say("Paris")]]
    found = await ask(agent, store=store, run_id="vote")
    assert (found.how, found.answer, found.chosen) == ("majority", "paris", 2)
    assert len(model_of(agent).paid) == len(set(model_of(agent).paid)) == 6
    decided = await ask(voters("Paris", [], "Paris"))
    assert decided.answer == "Paris"
    assert decided.runs[1].status in {"interrupted", "not begun"}


async def test_a_run_that_a_person_ended_has_no_vote() -> None:
    store = MemoryStore()
    agent = voters("Rome", [], "Paris")
    with pytest.raises(ModelError):
        await ask(agent, store=store, run_id="vote")
    await cancel("vote.2", why="it is hopeless", store=store)
    found = await ask(agent, store=store, run_id="vote")
    assert (found.how, found.answer, found.chosen) == ("tie", "Rome", 1)
    assert "(1 interrupted)" in found.words


async def test_a_store_that_fails_ends_the_vote_and_everything_stays_open() -> None:
    def full(append: Append) -> Exception | None:
        done = b'"event":"observation"' in append.lines[0].body and append.run_id == "vote.2"
        return StoreError("the disk is full: make room and resume") if done else None

    tape = Tape(fails=full)
    agent = voters("Rome", "Paris", "Paris", meet=3)
    with pytest.raises(StoreError, match="disk is full"):
        await ask(agent, store=tape, run_id="vote")
    assert {(await read(run, store=tape)).stop for run in ("vote", "vote.2")} == {None}
    tape.fails = lambda _: None
    model_of(agent).meet = 1
    found = await ask(agent, store=tape, run_id="vote")
    assert found.answer == "Paris"


async def test_a_cancelled_vote_writes_nothing_and_goes_on() -> None:
    tape = Tape()
    agent = voters("Paris", "Paris", "Rome", meet=4)  # nobody comes as the fourth
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: ask(agent, store=tape, run_id="vote"))
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()
    kinds = {line.body.split(b'"')[3] for line in await tape.read("vote")}
    assert kinds == {b"started", b"thought"}
    model_of(agent).meet = 1
    assert (await ask(agent, store=tape, run_id="vote")).answer == "Paris"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["not in the documents"], "not in the documents"),
        (["one reason", "another"], "one reason"),
        (["the same", "the same", "another"], "the same"),
        (["", "a reason"], "a reason"),
        (["", " "], "All 2 runs declined."),
    ],
)
@pytest.mark.parametrize("options", [{}, {"answer": int}, {"fallback": "I cannot say"}])
async def test_a_vote_of_which_all_runs_declined_has_declined(
    said: list[str], words: str, options: dict[str, Any]
) -> None:
    scripts = [[Reply(text, finish="declined")] for text in said]
    agent = Agent(model=Voters(scripts), tools=[look], **options)
    store = MemoryStore()
    found = await ask(agent, len(said), store=store)
    assert (found.result.status, found.answer, found.how) == ("declined", words, "none")
    assert found.words == f"None of {len(said)} runs gave an answer: {len(said)} declined."
    assert not found.result.fallback
    again = await ask(agent, len(said), store=store, run_id=found.result.run_id)
    assert (again.result.status, again.answer) == ("declined", words)
    record = await read(found.result.run_id, store=store)
    replayed = await replay(agent_of(agent, record), record.run_id, store=store)
    assert replayed.trajectory.entries == record.entries


async def test_a_vote_of_which_one_run_declined_goes_by_the_others() -> None:
    declining = [Reply("not in the documents", finish="declined")]
    agent = Agent(model=Voters([declining, [say("x")]]), tools=[look])
    answered = await ask(agent, 2)
    assert (answered.result.status, answered.answer) == ("answered", "x")
    limited = Agent(
        model=Voters([declining, [act("look", page=n) for n in range(9)]]),
        tools=[look], limits=Limits(steps=2),
    )  # fmt: skip
    assert (await ask(limited, 2)).result.status == "bound"


async def test_where_no_run_is_answered_the_best_of_the_bounds_counts_and_is_called_that() -> None:
    agent = voters(*[[act("look", page=9), say(each)] for each in ("a b", "c d", "c d!")])
    found = await ask(agent, limits=Limits(steps=2, tool_calls=90), verifier=none_of_them)
    assert (found.result.status, found.result.reason) == ("bound", "runs")
    assert (found.how, found.answer) == ("majority", "c d")
    assert {run.status for run in found.runs} == {"bound"}


async def test_where_no_run_has_an_answer_the_declared_one_stands_in() -> None:
    async def never(answer: object, trajectory: Trajectory) -> str:
        del answer, trajectory
        return "never good enough"

    agent = voters(*[[say("x")] * 3] * 3, checks=[never], fallback="I cannot say")
    found = await ask(agent)
    assert (found.result.status, found.result.reason) == ("bound", "runs: no answer")
    assert (found.answer, found.result.fallback, found.how) == ("I cannot say", True, "none")
    assert found.words == "None of 3 runs gave an answer: 3 failed."
    assert (found.counts, found.chosen) == ((), 0)


@dataclass(frozen=True)
class Words:
    text: str


async def test_a_declared_answer_of_a_type_stands_in_as_that_type(tmp_path: Path) -> None:
    def never(_answer: Words, _record: Trajectory) -> str:
        return "never good enough"

    unsure = Words("I cannot say")
    scripts = [[finish({"text": "x"})] * 3] * 3
    agent = Agent(Voters(scripts), [look], answer=Words, checks=[never], fallback=unsure)
    store = tmp_path / "runs.sqlite"
    found = await vote(agent, QUESTION, store=store, watch=watched)
    assert_type(found.answer, Words | str | None)
    assert (found.answer, found.result.fallback) == (unsure, True)
    assert found.result.to_json()["answer"] == {"text": "I cannot say"}
    again = await vote(agent, QUESTION, store=store, run_id=found.result.run_id)
    assert again.answer == unsure
    record = await read(found.result.run_id, store=store)
    replayed = await replay(agent_of(agent, record), record.run_id, store=store)
    assert replayed.trajectory.entries == record.entries


async def test_typed_answers_are_compared_as_values() -> None:
    answers = [[finish({"x": 1.0})], [finish({"x": 1})], [finish({"x": 2})]]
    found = await ask(voters(*answers, answer=dict[str, float]), verifier=none_of_them)
    assert (found.how, found.answer) == ("majority", {"x": 1.0})
    assert [count.runs for count in found.counts] == [(1, 2), (3,)]


@dataclass(frozen=True)
class Whose:
    """A check that is content with any answer, and audits it."""

    async def __call__(self, answer: object, trajectory: Trajectory) -> str | None:
        del answer, trajectory
        return None

    def audit(self, answer: object, trajectory: Trajectory) -> str:
        """Where it was asked."""
        del answer
        return f"audited in {trajectory.run_id}"


async def test_the_evidence_is_that_of_the_run_whose_answer_was_taken() -> None:
    @tool(effect="read")
    def look(page: int) -> Observation:
        """Look at a page.

        Args:
            page: Its number.
        """
        piece = Evidence("doc_1", f"page {page}", 0.9)
        return Observation(content=f"page {page}", evidence=(piece,))

    said = ("Rome [doc_1]", "Paris [doc_1]", "Paris")
    found = await ask(voters(*said, tools=[look], checks=[Whose()]), verifier=none_of_them)
    assert found.result.audit == f"audited in {found.runs[1].run_id}"
    assert [piece.text for piece in found.result.cited] == ["page 2"]
    assert [piece.text for piece in found.result.evidence] == ["page 2"]


async def test_screens_are_asked_once_and_what_they_say_holds_for_all_runs() -> None:
    asked: list[str] = []

    async def screen(text: str) -> Verdict | None:
        asked.append(text)
        return Verdict("hint", "it sounds odd")

    store = MemoryStore()
    agent = voters("Rome", "Rome", "Rome", screens=[screen], meet=3)
    found = await ask(agent, store=store)
    assert (found.answer, asked) == ("Rome", [QUESTION])
    for run in found.runs:
        assert (await read(run.run_id, store=store)).screen_notes == ["it sounds odd"]

    async def refuse(text: str) -> Verdict | None:
        return Verdict("deny", f"not that: {text[:5]}")

    agent = voters("Rome", screens=[refuse])
    refused = await ask(agent)
    assert (refused.result.status, refused.result.reason) == ("refused", "not that: Which")
    assert (model_of(agent).paid, refused.runs, refused.how) == ([], (), "none")


async def test_the_limits_of_the_whole_are_divided() -> None:
    store = MemoryStore()
    limits = Limits(tool_calls=7, tokens=900, cost=0.3, calls_per_tool={"look": 6})
    agent = voters("Rome", "Rome", "Rome", meet=3)
    await ask(agent, limits=limits, store=store, run_id="vote")
    shared = (await read("vote.1", store=store)).started.spec.parts["limits"]
    assert shared == repr(
        Limits(tool_calls=2, tokens=300, cost=0.3 / 3, calls_per_tool={"look": 2})
    )
    await ask(agent, limits=limits, store=store, run_id="with", verifier=judge())
    shared = (await read("with.1", store=store)).started.spec.parts["limits"]
    assert "tokens=225, cost=0.075" in shared
    unlimited = await ask(voters("Rome"), 1, store=store)
    assert (
        "cost=1.0"
        in (await read(unlimited.runs[0].run_id, store=store)).started.spec.parts["limits"]
    )


async def test_the_verifier_spends_no_more_than_its_share() -> None:
    store = MemoryStore()
    agent = voters("Rome", "Paris")
    await ask(agent, 2, limits=Limits(tokens=15_000), store=store, run_id="vote", verifier=judge())
    verifier = await read("vote.verifier", store=store)
    limits = verifier.started.spec.parts["limits"]
    assert "tokens=5000" in limits
    assert f"cost={1 / 3}" in limits


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send a letter.

    Args:
        text: What it says.
    """
    return text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"k": 0}, "k is 0: give a whole number of runs, 1 or more"),
        ({"k": True}, "k is True: give a whole number"),
        ({"agent": voters("x", tools=[look, send])}, "3 runs would each do what send does"),
        ({"limits": Limits(tool_calls=2)}, "limit tool_calls is 2, too few for 3 runs"),
        (
            {"limits": Limits(calls_per_tool={"look": 1})},
            r"limit calls_per_tool\[look\] is 1, too few for 3 runs: raise it, or lower k",
        ),
        ({"limits": Limits(tokens=3), "verifier": judge()}, "limit tokens is 3, too few for 4"),
        ({"goal": " "}, "the question is empty"),
    ],
)
async def test_what_does_not_fit_is_said_before_anything_is_spent(
    given: dict[str, Any], said: str
) -> None:
    store = MemoryStore()
    options: dict[str, Any] = {"agent": voters("x"), "goal": QUESTION, **given}
    with pytest.raises(ConfigError, match=said):
        await vote(store=store, **options)
    assert await store.runs() == []


async def test_an_id_belongs_to_one_vote() -> None:
    store = MemoryStore()
    await ask(voters("x", "x", "x", meet=3), store=store, run_id="vote")
    for other, options in (
        ("agent", {"agent": voters("x", prompt="Do it well.")}),
        ("question", {"goal": "What else?"}),
        ("k", {"k": 2}),
        ("verifier", {"verifier": judge()}),
        ("verifier", {"verifier": second}),
    ):
        given: dict[str, Any] = {"agent": voters("x"), "goal": QUESTION, **options}
        with pytest.raises(ConfigError, match=f"begun with another {other}: "):
            await vote(store=store, run_id="vote", **given)
    with pytest.raises(ConfigError, match=r"run vote\.1 is no vote"):
        await ask(voters("x"), store=store, run_id="vote.1")


async def test_anothers_vote_is_not_found_whoever_is_at_work_on_it() -> None:
    store, theirs = MemoryStore(), Agent(ScriptedModel([finish("x")]))
    async with open_run(theirs, "?", run_id="theirs", store=store, owner="bob"):
        with pytest.raises(RunNotFoundError):
            await vote(voters("x"), QUESTION, 1, store=store, run_id="theirs", owner="ada")
    mine = await ask(voters("x"), 1, store=store, run_id="mine", owner="ada")
    assert (mine.answer, (await read("mine", store=store, owner="ada")).started.owner) == (
        "x",
        "ada",
    )


async def test_a_record_of_something_else_is_not_taken_for_a_run() -> None:
    store = MemoryStore()
    await ask(voters("x"), 1, store=store, run_id="mine.1")
    with pytest.raises(ConfigError, match=r"run mine\.1 is another's: give"):
        await ask(voters("x"), 1, store=store, run_id="mine")


async def test_a_vote_that_a_person_interrupted_decides_from_what_had_ended() -> None:
    store = MemoryStore()
    agent = voters("Rome", [], "Paris")
    with pytest.raises(ModelError):
        await ask(agent, store=store, run_id="vote")
    model_of(agent).scripts = [[say("Rome")], [say("paris")], [say("Paris")]]
    await cancel("vote", store=store)
    stopped = await ask(agent, store=store, run_id="vote")
    assert (stopped.result.status, stopped.answer) == ("interrupted", None)
    found = await ask(agent, store=store, run_id="vote")
    assert (found.result.status, found.how, found.answer) == ("answered", "tie", "Rome")
    assert [run.status for run in found.runs] == ["answered", "open", "answered"]


def test_it_has_a_twin_for_callers_without_an_event_loop() -> None:
    found = vote_sync(Agent(model=ScriptedModel([say("42")])), QUESTION, store=MemoryStore())
    assert (found.answer, found.result.usage) == ("42", Usage(20, 10, cost=0.0))
