"""A word on a call, once: in the inbox of its run, of which the first counts.

A ruling, a result, and what came of a call of unknown outcome all reach a run in this way: the call
is looked up, the word is left unless somebody was faster, the runs above are told, and the run
goes on if an agent is given.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import anyio
from msgspec.structs import replace

from clew.agent.agent import A_co, Agent, D
from clew.agent.foreign import ForeignRunError
from clew.agent.labels import check_by, load_of
from clew.agent.open_run import open_run
from clew.agent.result import Result
from clew.agent.streaming.tasks import join
from clew.context.prompt_spec import recorded_prompt_spec
from clew.core.events import Ruling, Settled
from clew.core.inbox import encode_message, words_in
from clew.core.journal import load
from clew.core.pending import ApprovalId, ancestors, approval_id, digest_of
from clew.core.settling import unknown_below
from clew.core.stores import Store
from clew.core.tools import ToolSpec
from clew.core.trajectory import Call, Trajectory
from clew.core.values import encode
from clew.stores import Where, store_at
from clew.support.errors import (
    AlreadyRuledError,
    NotHeldError,
    RunBusyError,
    RunNotFoundError,
    StoreError,
)

Word: TypeAlias = Ruling | Settled
"""What may be said of a call."""

W = TypeVar("W", Ruling, Settled)

_TRIES: Final = 20
_LOOK: Final = 0.1  # seconds between two tries to go on with a run that another process has


@dataclass(frozen=True, slots=True)
class NamedCall:
    """The call of a run in an open store that somebody named by an id: the `target` of a word."""

    store: Store
    record: Trajectory
    target: Call
    asked: ApprovalId

    @property
    def has_changed(self) -> bool:
        """Whether the id names other arguments, or an earlier attempt."""
        return self.asked.digest not in {"", digest_of(self.target.question)}

    def on_record(self, word: W | None) -> W | None:
        """A word on record, if it is on what the id names: to say it again is no other word."""
        same = word is not None and self.asked.digest in {"", digest_of(word.hash)}
        return word if same else None

    @property
    def ruled_on(self) -> AlreadyRuledError:
        """The error that says so."""
        which = f"{self.target.key} of run {self.record.run_id}"
        held = self.target.verdict
        if held is not None and held.verdict.wants == "result":
            return AlreadyRuledError(f"{which} has a result already, and the first one counts")
        return AlreadyRuledError(f"{which} was ruled on already, and the first word counts")

    async def leave(
        self, word: Word, first: Word | None, check: Callable[[], Awaitable[None]]
    ) -> None:
        """Leave the word in the run's inbox, unless there is a `first` one, and tell those above.

        Where there is none, `check` raises if the word cannot be left. Raises `AlreadyRuledError`
        where the first word, or one that was faster, is another.
        """
        if first is None:
            body = encode_message(word)
            await check()
            await self.store.post(self.record.run_id, body)
            first = await _faster_word(self.store, self.record, self.target)
        if isinstance(word, Settled) and self.target.observation is not None:
            await _settle_above(self.store, self.record, word)
        else:
            await notify_ancestors(self.store, self.record, word.by)
        if first is not None and _meaning(first) != _meaning(word):
            raise self.ruled_on


async def say_of_call(
    named: str,
    leave: Callable[[NamedCall], Awaitable[None]],
    *,
    by: str,
    store: Where,
    owner: str | None,
    agent: Agent[A_co, D] | None,
    deps: D | None,
    accept_change: bool,
) -> Result[A_co] | None:
    """Look up the call of this id or key, `leave` a word on it, and go on if there is an agent.

    Raises `ConfigError` for what is no id, `RunNotFoundError`, `NotHeldError` where the run has no
    such call, and `ForeignRunError`.
    """
    check_by(by)
    asked = approval_id(named)
    async with store_at(store if agent is None or store is not None else agent.store) as opened:
        record = await load_of(opened, asked.run_id, owner)
        if record.is_foreign:
            raise ForeignRunError(record.run_id)
        call = next((each for each in record.calls if each.key == asked.key), None)
        if call is None:
            message = f"run {record.run_id} has no call {asked.key}: look at `clew show`"
            raise NotHeldError(message)
        await leave(NamedCall(opened, record, call, asked))
        if agent is None:
            return None
        return await _go_on(agent, opened, record, deps, accept_change=accept_change)


async def _go_on(
    agent: Agent[A_co, D], store: Store, record: Trajectory, deps: D | None, *, accept_change: bool
) -> Result[A_co]:
    """Resume the root of a run in whose inbox a word waits.

    Raises `RunBusyError` where another process works on it: that takes the word up.
    """
    root = await root_of(store, record)
    for left in reversed(range(_TRIES)):
        try:
            joined = await join(agent, root, store, None, None, accept_change=accept_change)
            if joined is not None:
                return await joined.wait()
            opening = open_run(
                agent, run_id=root, store=store, accept_change=accept_change, deps=deps
            )
            async with opening as opened:
                return await opened.until_stop()  # the word may be a repetition
        except RunBusyError as error:
            if not left or not await store.inbox(record.run_id):
                message = (
                    f"what was said is kept, but another process works on run {root}, and goes on "
                    "with it: follow the run"
                )
                raise RunBusyError(message) from error
        await anyio.sleep(_LOOK)  # it may have looked into the inbox before, and just end
    raise AssertionError  # pragma: no cover - the last try returns or raises


async def root_of(store: Store, trajectory: Trajectory) -> str:
    """The run to resume for this one; for a run of a vote, the vote."""
    while served := trajectory.parent_call or (
        "" if trajectory.forks else trajectory.started.parent
    ):
        run_id = served.rpartition(":")[0]
        try:
            trajectory = await load(store, run_id)
        except RunNotFoundError:  # it must be brought back first
            return run_id
    return trajectory.run_id


async def word_on(store: Store, record: Trajectory, call: Call) -> Word | None:
    """The word on a held call that is already in the inbox, if it covers its arguments."""
    return await _word_in(store, record, call, "", call.question) if call.held else None


async def first_word(store: Store, record: Trajectory, call: Call) -> Word | None:
    """The first word in the inbox on a call that is held, or whose outcome is unknown."""
    if call.held:
        return await word_on(store, record, call)
    return next((it for it in await _words(store, record, call) if isinstance(it, Settled)), None)


async def reached_root(store: Store, trajectory: Trajectory) -> bool:
    """Whether all runs above a sub-run continue, or were notified."""
    with suppress(StoreError):
        for above, call in await ancestors(store, trajectory):
            if call.held and await _word_in(store, above, call) is None:
                return False
    return True


async def notify_ancestors(store: Store, trajectory: Trajectory, by: str) -> None:
    """Notify every run above a sub-run, once each, that it goes on."""
    for above, call in await ancestors(store, trajectory):
        if call.observation is None and await _word_in(store, above, call) is None:
            await store.post(above.run_id, encode_message(Ruling(call.key, allow=True, by=by)))


async def _settle_above(store: Store, trajectory: Trajectory, word: Settled) -> None:
    """Tell every run above what came of a call that it lists among those of its sub-run, once."""
    below, above = f"{trajectory.run_id}:{word.call}", list[tuple[Trajectory, Call]]()
    with suppress(RunNotFoundError):  # nobody is left there who must know it
        above = await ancestors(store, trajectory)
    for record, call in above:
        told = [it for it in await words_in(store, record.run_id) if isinstance(it, Settled)]
        listed = any(each.id == below for each in unknown_below(call))
        if listed and all(it.below != below for it in told):
            again = replace(word, call=call.key, hash="", below=below)
            await store.post(record.run_id, encode_message(again))


async def recorded_tool(store: Store, record: Trajectory, call: Call) -> ToolSpec | None:
    """The tool of a call, as far as the record says what it is."""
    blob = (record.spec or record.started.spec).prompt_blob
    if not blob:
        return None
    try:
        prompt_spec, _ = recorded_prompt_spec(await store.blob(blob))
    except StoreError:  # it is lost: then the tool's own check is left
        return None
    visible = (*prompt_spec.more, *prompt_spec.tools, prompt_spec.finish)
    return {each.name: each for each in visible}.get(call.action.name)


async def _faster_word(store: Store, record: Trajectory, call: Call) -> Word | None:
    """The first word on a call, which somebody at work may have taken into the record."""
    if (first := await first_word(store, record, call)) is not None:
        return first
    record = await load(store, record.run_id)
    now = record.call(call.key)
    return now.settled or now.ruling


async def _word_in(store: Store, record: Trajectory, call: Call, *hashes: str) -> Word | None:
    """The first word on the call in its run's inbox, for one of these hashes or for any."""
    words = await _words(store, record, call)
    return next((word for word in words if word.hash in (hashes or {word.hash})), None)


async def _words(store: Store, record: Trajectory, call: Call) -> list[Word]:
    """The words on the call itself in its run's inbox, in their order."""
    return [
        word
        for word in await words_in(store, record.run_id)
        if isinstance(word, Ruling | Settled)
        and word.call == call.key
        and (isinstance(word, Ruling) or not word.below)
    ]


def _meaning(word: Word) -> bytes:
    """What two words must have in common to be the same."""
    if isinstance(word, Settled):
        return encode(["settled", word.done, word.result])
    return encode(["ruling", word.allow, word.args, word.answer])
