"""Conversations in the matrix: what a run has come to, and the door by which one goes on with it.

Every talk is a session of an owner, begun by a request of a client's own id. `STATES` says what it
comes to first, `DOORS` how it is entered then; each is crossed with each, and with every way.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from clew import (
    Image,
    Question,
    RunSummary,
    SqliteStore,
    StoreError,
    cancel,
    follow,
    fork,
    list_runs,
    pending_approvals,
    read,
    replay,
    result_of,
    resume,
    rewind,
    run,
    settle,
)
from clew.conversations import answer_messages, branch, session_run, to_anthropic, to_openai
from clew.interfaces import Note
from tests.matrix.model import GOAL, Script
from tests.matrix.outcome import Outcome
from tests.matrix.promises import Promise
from tests.matrix.situations import FURTHER, Play, Situation, cut_store
from tests.matrix.ways import Way

NAME: Final = "talk"
OWNER: Final = "ada"
OTHER: Final = "bob"
FIRST: Final = "first"
"""The client's id of the request that begins a talk."""
CUT: Final = 4
"""At which write the process ends that is told to stop."""
PIXEL: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8ff"
    "ff3f0005fe02fea7359c810000000049454e44ae426082"
)


async def say(play: Play, words: Question, request: str) -> Any:
    """Say something in the talk."""
    done = await run(
        play.agent, words, session=NAME, owner=OWNER, request=request, store=play.store,
        labels={"team": "blue"},
    )  # fmt: skip
    play.outcome.results.append(done)
    return done


async def settled(play: Play) -> None:
    """What was interrupted goes on, what is held is ruled on, what is unknown settled as done."""
    if play.outcome.result.status == "interrupted":
        await play.go_on()
    await play.settle()
    for call in play.outcome.result.unknown:
        done = await settle(call.id, done=True, store=play.store, owner=OWNER, agent=play.agent)
        play.outcome.results.append(done)


# ---------------------------------------------------------------------- what it comes to first


async def answered(play: Play) -> None:
    """Ask, and rule on what is held."""
    await say(play, play.goal, FIRST)
    await play.settle()


async def left_held(play: Play) -> None:
    """Ask, and leave what is held."""
    await say(play, play.goal, FIRST)


async def cancelled(play: Play) -> None:
    """The process ends early, and a person stops the run before another takes it up."""
    complete = play.store
    play.store = cut_store(SqliteStore(complete.path), CUT)
    with suppress(StoreError):
        await say(play, play.goal, FIRST)
    play.store = complete
    del play.agent
    with suppress(StoreError):  # it was never begun
        await cancel(play.run_id, store=play.store, owner=OWNER)
    await say(play, play.goal, FIRST)
    await play.settle()


async def forked(play: Play) -> None:
    """Ask, and go on with a fork of its first step."""
    await answered(play)
    if len((await read(play.run_id, store=play.store)).steps) > 1:
        await fork(play.agent, play.run_id, at=1, store=play.store, new_id="fork", owner=OWNER)
        await play.settle("fork")


async def elsewhere(play: Play) -> None:
    """Ask in one process, and go on in another."""
    await answered(play)
    del play.agent


async def with_picture(play: Play) -> None:
    """Ask with a picture."""
    await say(play, [play.goal, Image("image/png", PIXEL, "a white dot")], FIRST)
    await play.settle()


@dataclass(frozen=True)
class State:
    """What a talk comes to first: how, and what its agent file says for it."""

    come: Situation
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    script: Script = field(default_factory=Script)


HOLDS: Final = {"guards": ["tests.matrix.parts:hold"]}
STATES: Final[Mapping[str, State]] = {
    "plain": State(answered),
    "held": State(left_held, HOLDS),
    "unknown": State(answered, script=Script(acts="stumble")),
    "bound": State(answered, {"limits": {"tool_calls": 1}}, Script(times=3)),
    "cancelled": State(cancelled),
    "forked": State(forked),
    "elsewhere": State(elsewhere),
    "deps": State(
        answered,
        {"deps": "tests.matrix.parts:deps_of", "checks": ["tests.matrix.parts:has_deps"]},
    ),
    "attachments": State(with_picture),
}


# ---------------------------------------------------------------------- how one goes on with it


async def sent_twice(play: Play) -> None:
    """The client sends its first request again: it is that run, and nothing is done again."""
    before, asked = play.effects, len(play.model.asked)
    ended = (await read(play.run_id, store=play.store)).stop
    again = await say(play, _goal(play), FIRST)
    if again.run_id != play.run_id:
        play.complaints.append(f"sent twice, another run answered: {again.run_id}")
    done = ended is not None and ended.status == "answered"
    if done and (play.effects != before or len(play.model.asked) > asked):
        play.complaints.append("sent twice, a model was asked or a tool called again")
    await settled(play)


async def say_more(play: Play) -> None:
    """Something more is said, twice with one request: it is in the record once."""
    for _ in range(2):
        await say(play, FURTHER, "more")
    await settled(play)
    await _recorded_once(play, ["more"])


async def at_once(play: Play) -> None:
    """Two things are said at once: both are in the record, and both are answered."""
    async with anyio.create_task_group() as tasks:
        for name, words in (("one", FURTHER), ("two", "Please send moon.")):
            tasks.start_soon(say, play, words, name)
    await settled(play)
    await _recorded_once(play, ["one", "two"])


async def branched(play: Play) -> None:
    """The first word is said otherwise in a branch, and one more behind the last in another."""
    record = await read(play.run_id, store=play.store)
    words = 1 + sum(_is_word(each.event) for each in record.entries)
    before = len(record)
    words_to_say = [(1, "Please send sun."), *([] if record.held else [(words + 1, FURTHER)])]
    for number, text in words_to_say:
        new = f"branch-{number}"
        done = await branch(
            play.agent, play.run_id, number, text, store=play.store, new_id=new, owner=OWNER
        )
        play.outcome.results.append(done)
        await play.settle(new)
    after = await read(play.run_id, store=play.store)
    if len(after) != before and after.stop != record.stop:
        play.complaints.append("a branch changed the conversation that it is of")


async def as_messages(play: Play) -> None:
    """Its messages, in each form, begin another run, in which nothing of it is done again."""
    await settled(play)
    record = await read(play.run_id, store=play.store)
    for name, form in (("openai", to_openai), ("anthropic", to_anthropic)):
        messages = [*form(record), {"role": "user", "content": f"Please send {name}."}]
        done = await answer_messages(
            play.agent, messages, store=play.store, run_id=name, trust="trusted", owner=OWNER
        )
        play.outcome.results.append(done)
        await play.settle(name)
        if not (await read(name, store=play.store)).started.owner:
            play.complaints.append("a run of messages lost its owner")


async def by_a_stranger(play: Play) -> None:
    """Somebody else names the run by every door: it is not found, and nothing is written."""
    before = len(await read(play.run_id, store=play.store))
    agent, run_id, store = play.agent, play.run_id, play.store

    async def followed() -> None:
        async for _ in follow(run_id, store=store, owner=OTHER):
            pass

    doors: Mapping[str, Callable[[], Awaitable[Any]]] = {
        "read": lambda: read(run_id, store=store, owner=OTHER),
        "result_of": lambda: result_of(agent, run_id, store=store, owner=OTHER),
        "resume": lambda: resume(agent, run_id, say=FURTHER, store=store, owner=OTHER),
        "fork": lambda: fork(agent, run_id, at=0, store=store, owner=OTHER),
        "rewind": lambda: rewind(run_id, to=0, lesson="No.", store=store, owner=OTHER),
        "replay": lambda: replay(agent, run_id, store=store, owner=OTHER),
        "branch": lambda: branch(agent, run_id, 1, FURTHER, store=store, owner=OTHER),
        "cancel": lambda: cancel(run_id, store=store, owner=OTHER),
        "follow": followed,
    }
    for name, enter in doors.items():
        try:
            await enter()
        except StoreError:
            continue
        play.complaints.append(f"{name} lets somebody else in")
    listed: list[RunSummary] = await list_runs(0, store=store, owner=OTHER)
    listed += await list_runs(store=store, owner=OTHER, session=NAME)
    if listed or await pending_approvals(store=store, owner=OTHER):
        play.complaints.append("somebody else sees the run, or what it waits for")
    if len(await read(run_id, store=store)) != before:
        play.complaints.append("somebody else wrote to the run")
    await settled(play)


async def looked_at(play: Play) -> None:
    """What came of it is told alike: by its result, its record, its listing and its stream."""
    await settled(play)
    done = await result_of(play.agent, play.run_id, store=play.store, owner=OWNER)
    (row,) = await list_runs(store=play.store, owner=OWNER, session=NAME)
    if (row.status, row.labels.get("team"), row.session) != (done.status, "blue", NAME):
        play.complaints.append(f"listed otherwise: {row}")
    async with follow(play.run_id, store=play.store, owner=OWNER) as stream:
        events = [each async for each in stream]
    if not events:
        play.complaints.append("its stream says nothing")
    if done.outcome and done.status not in {"answered", "declined"}:
        play.complaints.append(f"an outcome without an answer: {done.status}, {done.outcome}")
    if done.unknown:
        play.complaints.append(f"settled, and still unknown: {done.unknown}")


DOORS: Final[Mapping[str, Situation]] = {
    each.__name__.replace("_", " "): each
    for each in (sent_twice, say_more, at_once, branched, as_messages, by_a_stranger, looked_at)
}


MESSAGES: Final = "as messages"


def entered(state: str, door: str) -> Situation:
    """The situation of a talk that comes to a state, and is entered by a door."""

    async def talk(play: Play) -> None:
        play.run_id = session_run(NAME, OWNER)
        await STATES[state].come(play)
        await DOORS[door](play)

    return talk


TALKS: Final[Mapping[str, tuple[str, str]]] = {
    f"{state}, then {door}": (state, door) for state in STATES for door in DOORS
}
"""The names of all talks."""


def promised(o: Outcome) -> Iterator[str]:
    """What holds of each talk, beside what its door and every situation promise."""
    for name, record in o.records.items():
        if not record.started.parent and record.started.owner != OWNER:
            yield f"{name} has lost its owner"


def promise_of(state: str, door: str, way: Way) -> Promise:
    """The agent file and the model of a talk.

    Messages have the calls of one record: what a strategy's runs did is not among them, and may be
    done again in a run that begins with them.
    """
    one = STATES[state]
    repeats = {"repeats"} if way.strategy and door == MESSAGES else set[str]()
    return Promise(
        f"talk: {state}", (), one.values, promised, one.script,
        lax=frozenset({"acts", "answers", *repeats}),
    )  # fmt: skip


def _goal(play: Play) -> Question:
    """The first words, as they were sent."""
    pictured = play.outcome.situation.startswith("attachments")
    return [GOAL, Image("image/png", PIXEL, "a white dot")] if pictured else play.goal


def _is_word(event: object) -> bool:
    return isinstance(event, Note) and event.source == "person" and bool(event.parts)


async def _recorded_once(play: Play, requests: list[str]) -> None:
    record = await read(play.run_id, store=play.store)
    for name in requests:
        noted = [e for e in record.entries if isinstance(e.event, Note) and e.event.request == name]
        if len(noted) != 1:
            play.complaints.append(f"{name} is {len(noted)} times in the record")
