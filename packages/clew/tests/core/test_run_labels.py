"""Labels and an owner: on record, inherited, listed, filtered, and another's run is not found."""

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

import clew as package
from clew import (
    Agent,
    ClewError,
    ConfigError,
    MemoryStore,
    SqliteStore,
    Verdict,
    batch,
    cancel,
    delegate,
    follow,
    fork,
    list_runs,
    open_run,
    pending_approvals,
    prompt_of,
    read,
    replay,
    result_of,
    resume,
    rewind,
    rule,
    run,
    settle,
    start,
    submit,
    tool,
)
from clew.agent.labels import MAX_LABELS, MAX_NAME, MAX_VALUE
from clew.conversations import answer_messages, branch
from clew.guards.provenance import Provenance
from clew.interfaces import Store
from clew.stores import RunNotFoundError
from clew.testing import ScriptedModel, act, finish
from clew.workers import WorkerConfig, status, work

U17 = {"user": "u17", "plan": "gold"}


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send a letter."""
    return f"sent {text}"


def hold(call: Any, _record: Any) -> Verdict | None:
    """Hold every letter."""
    return Verdict("hold", "ask first") if call.action.name == "send" else None


def plain(*answers: str) -> Agent[str]:
    return Agent(ScriptedModel([finish(one) for one in answers or ("yes",)]))


def holding() -> Agent[str]:
    script = [act("send", text="x"), finish("sent")]
    return Agent(ScriptedModel(script), [send], guards=[hold, Provenance("off")])


async def test_labels_and_owner_are_in_the_first_entry_and_a_fork_has_the_same() -> None:
    store = MemoryStore()
    first = await run(plain(), "Q?", store=store, labels=U17, owner="ada")
    second = await fork(plain("no"), first.run_id, at=0, store=store)
    for result in (first, second):
        started = (await read(result.run_id, store=store)).started
        assert (started.labels, started.owner) == (U17, "ada")


async def test_a_run_without_labels_is_written_as_before() -> None:
    store = MemoryStore()
    result = await run(plain(), "Q?", store=store)
    (line, *_) = await store.read(result.run_id)
    assert not {"labels", "owner"} & json.loads(line.body).keys()


async def test_a_sub_run_has_those_of_the_run_it_serves() -> None:
    store = MemoryStore()
    helper = delegate(plain("42"), name="helper", description="Helps.", effect="read")
    root = Agent(ScriptedModel([act("helper", task="count"), finish("42")]), [helper])
    result = await run(root, "Q?", store=store, labels=U17, owner="ada")
    below = (await read(f"{result.run_id}-1.1", store=store, owner="ada")).started
    assert (below.labels, below.owner) == (U17, "ada")


async def test_a_batch_and_a_submitted_run_have_them(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    agent = plain(*["yes"] * 3)
    results = await batch(agent, ["A?", "B?"], store=store, labels=U17, owner="ada")
    sent = await submit(agent, "C?", store=store, labels=U17, owner="ada")
    await work(WorkerConfig(store=store, agents=[agent], until_idle=True))
    listed = await list_runs(store=store, labels={"user": "u17"}, owner="ada")
    assert {each.run_id for each in listed} == {*(each.run_id for each in results), sent}
    assert {each.status for each in listed} == {"answered"}
    await store.close()


async def test_a_secret_in_a_label_is_blotted_out_and_an_owner_may_be_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "swordfish-1234")
    store = MemoryStore()
    result = await run(plain(), "Q?", store=store, labels={"key": "swordfish-1234"})
    started = (await read(result.run_id, store=store)).started
    assert (started.labels, started.owner) == ({"key": "[redacted]"}, "")
    with pytest.raises(ConfigError, match="owner holds a secret"):
        await run(plain(), "Q?", store=store, owner="swordfish-1234")


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too many": ({"labels": {f"n{n}": "" for n in range(MAX_LABELS + 1)}}, "17 names"),
    "a long name": ({"labels": {"n" * (MAX_NAME + 1): ""}}, "65 characters"),
    "a long value": ({"labels": {"n": "v" * (MAX_VALUE + 1)}}, "257 characters"),
    "no name": ({"labels": {"": "v"}}, "is empty"),
    "a number": ({"labels": {"n": 7}}, "type int"),
    "a list": ({"labels": ["n"]}, "give a dict"),
    "half a character": ({"labels": {"n": "\ud800"}}, "give a text"),
    "an empty owner": ({"owner": ""}, "the owner is empty"),
    "a long owner": ({"owner": "o" * (MAX_VALUE + 1)}, "257 characters"),
    "an owner of another type": ({"owner": 7}, "type int"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_cannot_be_a_label_is_refused_in_a_line_and_begins_nothing(name: str) -> None:
    given, said = WRONG[name]
    store = MemoryStore()
    with pytest.raises(ConfigError, match=said) as caught:
        await run(plain(), "Q?", store=store, **given)
    assert "\n" not in str(caught.value)
    assert await store.runs() == []


async def _entries(run_id: str, store: Store, owner: str) -> list[Any]:
    return [entry async for entry in follow(run_id, store=store, owner=owner)]


READING: dict[str, Callable[[str, Store, str], Awaitable[Any]]] = {
    "read": lambda run_id, store, owner: read(run_id, store=store, owner=owner),
    "resume": lambda run_id, store, owner: resume(holding(), run_id, store=store, owner=owner),
    "fork": lambda run_id, store, owner: fork(holding(), run_id, at=0, store=store, owner=owner),
    "rule": lambda run_id, store, owner: rule(
        f"{run_id}:1.1", allow=True, store=store, owner=owner
    ),
    "cancel": lambda run_id, store, owner: cancel(run_id, store=store, owner=owner),
    "result_of": lambda run_id, store, owner: result_of(
        holding(), run_id, store=store, owner=owner
    ),
    "follow": _entries,
    "replay": lambda run_id, store, owner: replay(holding(), run_id, store=store, owner=owner),
    "status": lambda run_id, store, owner: status(run_id, store=store, owner=owner),
    "prompt_of": lambda run_id, store, owner: prompt_of(run_id, store=store, owner=owner),
}
"""What asks for a run, and may be asked of one that waits; a rewind may not."""


def test_whatever_asks_for_a_run_can_be_told_whose_it_must_be() -> None:
    asks = [
        name
        for name in package.__all__
        if callable(made := getattr(package, name))
        and not isinstance(made, type)
        and inspect.signature(made).parameters.keys() & {"run_id", "approval", "call"}
    ]
    assert len(asks) > 12
    assert [
        name for name in asks if "owner" not in inspect.signature(getattr(package, name)).parameters
    ] == []


BEGINNING: dict[str, Callable[[str, Store, str], Awaitable[Any]]] = {
    "run": lambda run_id, store, owner: run(
        holding(), "Write.", store=store, run_id=run_id, owner=owner
    ),
    "start": lambda run_id, store, owner: start(
        holding(), "Write.", store=store, run_id=run_id, owner=owner
    ),
    "submit": lambda run_id, store, owner: submit(
        holding(), "Write.", store=store, run_id=run_id, owner=owner
    ),
    "fork": lambda run_id, store, owner: fork(
        holding(), f"of-{owner}", at=0, store=store, new_id=run_id, owner=owner
    ),
    "branch": lambda run_id, store, owner: branch(
        holding(), f"of-{owner}", 1, "Read.", store=store, new_id=run_id, owner=owner
    ),
    "answer_messages": lambda run_id, store, owner: answer_messages(
        holding(), MESSAGES, store=store, run_id=run_id, owner=owner
    ),
}
MESSAGES: list[Any] = [{"role": "user", "content": "Write."}]
"""What begins a run under an id."""


@pytest.mark.parametrize("name", BEGINNING)
async def test_anothers_id_is_refused_as_a_run_that_is_not_found(name: str) -> None:
    """Whoever begins a run learns no more of another's than whoever reads one."""
    store = MemoryStore()
    await run(holding(), "Write.", store=store, run_id="theirs", owner="bob")
    await run(holding(), "Write.", store=store, run_id="of-ada", owner="ada")
    before = len(await store.read("theirs"))
    with pytest.raises(RunNotFoundError) as missing:
        await read("missing", store=store, owner="ada")
    async with open_run(holding(), run_id="theirs", store=store):  # at work, or not: the same
        with pytest.raises(RunNotFoundError) as caught:
            await BEGINNING[name]("theirs", store, "ada")
    with pytest.raises(RunNotFoundError):
        await BEGINNING[name]("theirs", store, "ada")
    assert str(caught.value) == str(missing.value).replace("missing", "theirs")
    assert len(await store.read("theirs")) == before
    await BEGINNING[name]("mine", store, "ada")
    assert (await read("mine", store=store, owner="ada")).started.owner == "ada"


@pytest.mark.parametrize("name", sorted(BEGINNING.keys() - {"submit"}))
async def test_a_run_that_somebody_is_beginning_is_told_to_its_owner_only(name: str) -> None:
    """Its record has no entry yet, so whoever asks waits for that."""
    store = MemoryStore()
    for owner in ("ada", "bob"):
        await run(holding(), "Write.", store=store, run_id=f"of-{owner}", owner=owner)
    begun, ready = anyio.Event(), anyio.Event()

    async def make(_run: object) -> None:
        begun.set()
        await ready.wait()

    outcomes = dict[str, str]()

    async def ask(owner: str) -> None:
        try:
            await BEGINNING[name]("new", store, owner)
        except RunNotFoundError as error:
            outcomes[owner] = str(error)
        except ClewError as error:
            outcomes[owner] = type(error).__name__
        else:
            outcomes[owner] = "joined"

    async with anyio.create_task_group() as group:
        group.start_soon(
            partial(
                run, holding().replace(deps=make), "Write.",
                store=store, run_id="new", owner="bob",
            )
        )  # fmt: skip
        await begun.wait()
        for owner in ("ada", "bob"):
            group.start_soon(ask, owner)
        await anyio.wait_all_tasks_blocked()
        ready.set()
    with pytest.raises(RunNotFoundError) as missing:
        await read("missing", store=store, owner="ada")
    own = {"start": "joined"}.get(name, "RunExistsError")
    assert outcomes == {"ada": str(missing.value).replace("missing", "new"), "bob": own}


async def test_a_batch_goes_on_with_runs_of_its_owner_only() -> None:
    """Also with one that somebody works on, or that another batch begins at the same moment."""
    store = MemoryStore()
    (held,) = await batch(holding(), ["Write."], name="b", store=store, owner="bob")
    before = len(await store.read("b-1"))
    with pytest.raises(RunNotFoundError) as missing:
        await read("missing", store=store, owner="ada")
    async with open_run(holding(), run_id="b-1", store=store):
        with pytest.raises(RunNotFoundError) as caught:
            await batch(holding(), ["Write."], name="b", store=store, owner="ada")
    assert str(caught.value) == str(missing.value).replace("missing", "b-1")
    assert len(await store.read("b-1")) == before
    (again,) = await batch(holding(), ["Write."], name="b", store=store, owner="bob")
    assert again == held

    outcomes = list[object]()

    async def begin(owner: str) -> None:
        try:
            (result,) = await batch(holding(), ["Write."], name="c", store=store, owner=owner)
            outcomes.append(result.status)
        except RunNotFoundError:
            outcomes.append("not found")

    async with anyio.create_task_group() as group:
        for owner in ("bob", "ada"):
            group.start_soon(begin, owner)
    assert sorted(map(str, outcomes)) == ["held", "not found"]


async def test_who_decides_has_a_name_of_some_length_and_nothing_is_recorded() -> None:
    store, long = MemoryStore(), "b" * 10_000_000
    await run(holding(), "Write.", store=store, run_id="r")
    for ruling in (
        rule("r:1.1", allow=True, by=long, store=store),
        settle("r:1.1", done=True, by=long, store=store),
        rewind("r", to=0, lesson="Ask first.", by=long, store=store),
        rule("r:1.1", allow=True, by=7, store=store),  # type: ignore[call-overload]  # it is refused
    ):
        with pytest.raises(ConfigError, match="by ") as caught:
            await ruling
        assert len(str(caught.value)) < 100
    assert await store.inbox("r") == []
    await rule("r:1.1", allow=True, by="b" * MAX_VALUE, store=store)
    assert len(await store.inbox("r")) == 1


async def test_anothers_run_is_not_rewound() -> None:
    store = MemoryStore()
    script = [act("send", text="x"), finish("sent")]
    agent = Agent(ScriptedModel(script), [send], guards=[Provenance("off")])
    await run(agent, "Q?", store=store, run_id="theirs", owner="bob")
    with pytest.raises(RunNotFoundError):
        await rewind("theirs", to=1, lesson="Ask first.", store=store, owner="ada")
    assert await store.inbox("theirs") == []
    await rewind("theirs", to=1, lesson="Ask first.", store=store, owner="bob")
    assert len(await store.inbox("theirs")) == 1


@pytest.mark.parametrize("name", READING)
async def test_anothers_run_is_not_found_as_a_missing_one_is_not(name: str) -> None:
    store = MemoryStore()
    held = await run(holding(), "Write.", store=store, run_id="theirs", owner="bob")
    nobodys = await run(holding(), "Write.", store=store, run_id="nobodys")
    before = [len(await store.read(each.run_id)) for each in (held, nobodys)]
    said = set[str]()
    for run_id in ("theirs", "nobodys", "missing"):
        with pytest.raises(RunNotFoundError) as caught:
            await READING[name](run_id, store, "ada")
        said.add(str(caught.value).replace(run_id, "X"))
    assert len(said) == 1
    assert before == [len(await store.read(each.run_id)) for each in (held, nobodys)]
    assert await store.inbox("theirs") == []
    with pytest.raises(ConfigError, match="the owner is empty"):
        await READING[name]("theirs", store, "")
    await READING[name]("theirs", store, "bob")


async def test_what_waits_is_filtered_by_labels_and_owner() -> None:
    store = MemoryStore()
    await run(holding(), "A.", store=store, run_id="a", labels=U17, owner="ada")
    await run(holding(), "B.", store=store, run_id="b", labels={"user": "u18"}, owner="bob")
    waiting = await pending_approvals(store=store, labels={"user": "u17"})
    assert [(each.run_id, each.labels, each.owner) for each in waiting] == [("a", U17, "ada")]
    assert [each.run_id for each in await pending_approvals(store=store, owner="bob")] == ["b"]
    assert await pending_approvals(store=store, labels={"user": "u17"}, owner="bob") == ()
    assert len(await pending_approvals(store=store)) == 2


async def test_runs_are_listed_by_labels_owner_status_and_number_and_have_titles() -> None:
    store = MemoryStore()
    for number in range(5):
        labels = {"parity": str(number % 2), "title": "A title" if number == 3 else ""}
        await run(plain(), f"Q{number}?\nmore", store=store, labels=labels, owner="ada")
    await run(plain(), "Other?", store=store)
    odd = await list_runs(store=store, labels={"parity": "1"})
    assert {each.title for each in odd} == {"A title", "Q1?"}
    assert len(await list_runs(2, store=store, owner="ada")) == 2
    assert await list_runs(store=store, status="open", owner="ada") == []
    assert await list_runs(store=store, owner="bob") == []
    assert len(await list_runs(0, store=store)) == 6


def clew(*words: str, store: Path) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "CLEW_STORE": str(store)}
    return subprocess.run(
        [sys.executable, "-m", "clew.cli", *words],
        env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_command_line_labels_lists_and_filters(tmp_path: Path) -> None:
    store = tmp_path / "runs.sqlite"
    ask = ("ask", "What is 2*3?", "--model", "offline", "-q")
    assert clew(*ask, "--label", "user=u17", "--owner", "ada", store=store).returncode == 0
    assert clew(*ask, store=store).returncode == 0
    listed = json.loads(clew("runs", "--label", "user=u17", "--json", store=store).stdout)
    assert [(each["labels"], each["owner"]) for each in listed] == [({"user": "u17"}, "ada")]
    shown = clew("show", listed[0]["run_id"], store=store).stdout
    assert "owner ada, user=u17" in shown
    assert json.loads(clew("runs", "--owner", "bob", "--json", store=store).stdout) == []
    assert len(json.loads(clew("runs", "--json", store=store).stdout)) == 2
    wrong = clew("runs", "--label", "user", store=store)
    assert wrong.returncode == 2
    assert "write NAME=VALUE" in wrong.stderr
    held = clew("approvals", "--label", "user=u17", "--json", store=store)
    assert json.loads(held.stdout) == []


Again = Callable[..., Awaitable[Any]]


async def _started(agent: Agent[Any], store: Store, **given: Any) -> str:
    return (await (await start(agent, "?", run_id="r", store=store, **given)).wait()).run_id


async def _batched(agent: Agent[Any], store: Store, **given: Any) -> str:
    (done,) = await batch(agent, ["?"], name="r", store=store, **given)
    return done.run_id


async def _submitted(agent: Agent[Any], store: Store, **given: Any) -> str:
    return await submit(agent, "?", request="r", store=store, **given)


AGAIN: dict[str, Again] = {"start": _started, "batch": _batched, "submit": _submitted}
OTHERS: dict[str, dict[str, str]] = {
    "another value": {**U17, "user": "u18"},
    "one more": {**U17, "desk": "3"},
    "one less": {"user": "u17"},
    "none": {},
}


@pytest.mark.parametrize("others", OTHERS)
@pytest.mark.parametrize("way", AGAIN)
async def test_a_begun_run_is_not_taken_for_one_with_other_labels(
    way: str, others: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", secret := "sk-live-0123456789abcdef")
    labels = {**U17, "request": "9", "key": secret}
    agent, store = Agent(ScriptedModel([finish("done")])), MemoryStore()
    run_id = await AGAIN[way](agent, store, labels=labels)
    before = await store.read(run_id)
    other = {**labels, **OTHERS[others]}
    for name in U17.keys() - OTHERS[others].keys():
        del other[name]
    with pytest.raises(ConfigError, match=r"was begun with another label '\w+': leave its labels"):
        await AGAIN[way](agent, store, labels=other)
    assert await store.read(run_id) == before
    for same in (None, labels):
        assert await AGAIN[way](agent, store, labels=same) == run_id
    assert await store.read(run_id) == before
