"""Runs that go on with messages from elsewhere, and branches from a word of a conversation on."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

import msgspec

from clew.agent.agent import A_co, Agent, D
from clew.agent.labels import begins, checked_owner, load_of, refuse_anothers
from clew.agent.open_run import OpenRun, open_run
from clew.agent.question import Question, message_parts
from clew.agent.result import Result
from clew.agent.runner import start, start_fork
from clew.agent.session_names import session_run
from clew.conversations.history import history_of, question_of
from clew.conversations.reading import Messages
from clew.core.codes import Trust
from clew.core.contents import Asked
from clew.core.entries import Entry
from clew.core.events import Forked, Note, Started
from clew.core.fork import ForkPoint, find_fork_point
from clew.core.listeners import Listener
from clew.core.trajectory import Trajectory
from clew.stores import Where, store_at
from clew.support.arguments import check_argument
from clew.support.errors import ConfigError, RunExistsError
from clew.support.resources import resources
from clew.support.run_ids import new_run_id


async def answer_messages(
    agent: Agent[A_co, D],
    messages: Messages,
    *,
    store: Where = None,
    run_id: str = "",
    session: str | None = None,
    trust: Trust = "untrusted",
    listener: Listener | None = None,
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
    deps: D | None = None,
) -> Result[A_co]:
    """Answer the last of messages of OpenAI's or Anthropic's form; the others are its history.

    A new run begins with them: calls, results and pictures too, none of which is made again. They
    came from elsewhere, so they are as little trusted as any text from outside, but for the last
    one; `trust="trusted"` says that your own application kept them. Raises `ConfigError` for what
    cannot be read.
    """
    first, history = history_of(agent, messages, trust)
    run_id = _named(session, run_id, owner)
    where = agent.store if store is None else store
    async with store_at(where) as opened, resources(agent):
        if owner is not None:
            await refuse_anothers(opened, run_id, owner)
        with _named_anew(session):
            async with begins(opened, run_id, owner, agent.parts.patience):
                journal = await start(
                    agent, first, opened, run_id=run_id, listener=listener,
                    labels=labels, owner=owner, deps=deps, history=history,
                )  # fmt: skip
                return await OpenRun(agent, journal).go_on()


async def branch(
    agent: Agent[A_co, D],
    run_id: str,
    word: int,
    say: Question = "",
    *,
    store: Where = None,
    new_id: str = "",
    session: str | None = None,
    listener: Listener | None = None,
    owner: str | None = None,
    deps: D | None = None,
) -> Result[A_co]:
    """Say something else as word number `word` of a conversation, in a new run; the old one stays.

    Words are counted from 1, the question; with one more than there are the branch goes on behind
    them. Without `say` the same word is answered anew. The branch has the name of the `session`, if
    one is named, and an answer to what came before it; nothing of that is done again.
    """
    check_argument("agent", agent, Agent, "an Agent")
    words = message_parts(agent, "say", say) if say != "" else ()
    named = _named(session, new_id, owner)
    where = agent.store if store is None else store
    async with store_at(where) as opened, resources(agent):
        record = await load_of(opened, run_id, owner)
        if owner is not None:
            await refuse_anothers(opened, named, owner)
        entry, words = _word(record, word, words)
        with _named_anew(session):
            if word == 1:
                started = record.started
                async with open_run(
                    agent, question_of(words), run_id=named, store=opened, listener=listener,
                    labels=started.labels, owner=started.owner or None, deps=deps,
                ) as run:  # fmt: skip
                    return await run.go_on()
            async with begins(opened, named, owner, agent.parts.patience):
                point = _cut(record, entry, words)
                journal = await start_fork(
                    agent, point, opened, named, listener=listener, deps=deps
                )
                return await OpenRun(agent, journal).go_on()


@contextmanager
def _named_anew(session: str | None) -> Generator[None]:
    """Tell that a session exists by its name: its run's id is not the caller's."""
    try:
        yield
    except RunExistsError as error:
        if session is None:
            raise
        message = f"the session {session!r} exists: name another, or speak in it with run"
        raise RunExistsError(message) from error


def _named(session: str | None, run_id: str, owner: str | None) -> str:
    """The id of a new run, which may be that of a session."""
    if session is None:
        return run_id or new_run_id()
    if run_id:
        raise ConfigError("give a session or an id, not both: a session has a run of its own")
    return session_run(session, checked_owner(owner))


def _word(record: Trajectory, number: int, words: Asked) -> tuple[Entry | None, Asked]:
    """The entry of a word, None behind the last, and what is said in the place of it."""
    if type(number) is not int or number < 1:
        message = f"there is no message {number!r} (word): give 1 for the question, 2 for the next"
        raise ConfigError(message, field="word")
    entries = [entry for entry in record.entries if _parts(entry)]
    if number > len(entries) + bool(words):
        many = "1 message" if len(entries) == 1 else f"{len(entries)} messages"
        message = f"run {record.run_id} has {many}: name one of them, or say the next"
        raise ConfigError(message)
    entry = entries[number - 1] if number <= len(entries) else None
    return entry, words or (() if entry is None else _parts(entry))


def _parts(entry: Entry) -> Asked:
    event = entry.event
    if isinstance(event, Started):
        return event.question
    return event.parts if isinstance(event, Note) and event.source == "person" else ()


def _cut(record: Trajectory, entry: Entry | None, words: Asked) -> ForkPoint:
    """Where the record stood before a word."""
    end = len(record) if entry is None else entry.seq - 1
    shared = record.entries[:end]
    before = Trajectory(record.run_id, shared)
    point = find_fork_point(record, len(before.steps), say=words)
    if before.step.pending:  # it came while calls were under way: none is made again
        return point
    later = record.forks[sum(isinstance(each.event, Forked) for each in shared) :]
    parent = later[0].parent if later else record.run_id
    return msgspec.structs.replace(point, parent=parent, shared=tuple(shared), again=(Note(words),))
