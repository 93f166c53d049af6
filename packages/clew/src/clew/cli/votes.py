"""Votes on the command line: `clew ask --votes K`, and commands that continue a vote."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import msgspec

from clew import ConfigError, Entry, Observation, Question, StoreError, Trajectory, read
from clew.agent.approvals import root_of
from clew.agent_files import Spec, make_model, origin
from clew.cli.agents import VOTES, Assembled, assemble
from clew.cli.memory import notes_for
from clew.cli.outcome import ShownResult
from clew.cli.render import TextBlock, render_event
from clew.cli.run_here import read_all, run_to_end
from clew.cli.screen import RunScreen
from clew.cli.store_option import command
from clew.interfaces import FINISH, Json, Store, Text, Thought
from clew.support import wings
from clew.support.printable import inert

NO_LOG: Final = "a log folder is for one run; each run of a vote can be shown (clew show --jsonl)"


@dataclass(frozen=True)
class VoteRequest:
    """How many runs answer a question, and the model that decides if they differ."""

    k: int
    verifier: str = ""


def vote_request_of(record: Trajectory) -> VoteRequest | None:
    """The settings of a vote, from its record; None for other records and for its runs.

    Raises `ConfigError` where they are none.
    """
    request = record.started.origin.get(VOTES)
    if request is None or record.started.parent:
        return None
    try:
        return msgspec.convert(request, VoteRequest)
    except msgspec.ValidationError as error:
        message = f"run {record.run_id} says that it is a vote, and not of what: {error}"
        raise ConfigError(message) from error


def root(record: Trajectory) -> str:
    """The vote that this run belongs to; "" for any other run, also a fork or sub-run."""
    apart = record.forks or record.parent_call
    return "" if apart else record.started.parent.rpartition(":")[0]


async def refuse_part(record: Trajectory, opened: Store, store: str | None) -> None:
    """Raise `ConfigError` for a run that is continued only through its root."""
    if (served := await root_of(opened, record)) != record.run_id:
        again = command("resume", served, store=store)
        message = f"run {record.run_id} serves run {served} and goes on with it: {again}"
        raise ConfigError(message)


def refuse_vote(record: Trajectory, verb: str) -> None:
    """Raise `ConfigError` for a vote, if the command needs one of its runs."""
    if vote_request_of(record) is not None:
        message = f"{record.run_id} is a vote: {verb} one of its runs, such as {record.run_id}.1"
        raise ConfigError(message)


def asked_before(record: Trajectory) -> Question:
    """The question of a record, to be asked again."""
    parts = record.started.question
    return [
        part.text if isinstance(part, Text) else msgspec.structs.replace(part, blob="")
        for part in parts
    ]


class VoteListener:
    """A listener that shows the vote's own record; the decision is shown at the end."""

    def __init__(self, screen: RunScreen) -> None:
        self._screen = screen
        self._step = 0

    def token(self, text: str) -> None:
        """A vote has no tokens."""

    def entry(self, entry: Entry) -> None:
        """An entry of the vote's own record."""
        event = entry.event
        self._step += isinstance(event, Thought)
        match event:
            case Thought(text=text, actions=actions) if not self._screen.debug:
                if actions and actions[0].name != FINISH:
                    self._screen.put(TextBlock("Vote", inert(text), "cyan"))
            case Observation() if not self._screen.debug:
                return
            case _:
                for piece in render_event(event, self._step, complete=self._screen.debug):
                    self._screen.put(piece)


class VoteRunListener:
    """A listener that shows one of several runs, without its tokens."""

    def __init__(self, screen: RunScreen, number: int) -> None:
        self._screen = screen
        self._name = f"Run {number}" if number else "Verifier"
        self._step = 0
        self._thought: Thought | None = None

    def token(self, text: str) -> None:
        """Tokens of several runs at once would be unreadable."""

    def entry(self, entry: Entry) -> None:
        """An entry of the run."""
        event, complete = entry.event, self._screen.debug
        if isinstance(event, Thought):
            self._step, self._thought = self._step + 1, event
        for piece in render_event(event, self._step, complete=complete, thought_of=self._thought):
            self._screen.put(TextBlock(f"{self._name} · {piece.label}", piece.text, piece.style))


async def assemble_vote(spec: Spec, screen: RunScreen) -> Assembled:
    """The agent of a vote, which is told of memories and keeps none: each run would write them."""
    made = await assemble(msgspec.structs.replace(spec, memory=""), screen)
    return replace(made, spec=msgspec.structs.replace(made.spec, memory=spec.memory))


async def carry_vote(
    wish: VoteRequest,
    question: Question,
    made: Assembled,
    run_id: str,
    screen: RunScreen,
    opened: Store,
    *,
    store: str | None,
) -> ShownResult:
    """Start or continue a vote in the foreground."""

    async def work() -> Any:
        await read_all(made.docs, screen)
        return await wings.require(wings.VOTES, "vote", "--votes")(
            made.agent, question, wish.k, store=opened, run_id=run_id,
            listener=VoteListener(screen), watch=partial(VoteRunListener, screen),
            **_options(wish, question, made),
        )  # fmt: skip

    done, error, reason = await run_to_end(work, run_id, store)
    try:
        record = await read(run_id, store=opened)
        stands = done or await wings.require(wings.VOTES, "vote_status", "--votes")(
            made.agent, run_id, store=opened
        )
    except StoreError:
        if error is None:
            raise
        getattr(error, "__notes__", []).clear()  # there is no record to go on with
        raise error from None
    result = None if done is None else done.result
    return ShownResult(record, result, store, made.why, reason, error, stands, made.spec.references)


def _options(wish: VoteRequest, question: Question, made: Assembled) -> dict[str, Any]:
    """The verifier of a vote, what it is made of, and what it is told of memories."""
    votes: dict[str, Json] = {"k": wish.k, "verifier": wish.verifier}
    same = wish.verifier.partition(":")[0] == made.spec.model.partition(":")[0]
    reached = made.spec.connection if same else Spec().connection
    verifier = Spec(model=wish.verifier, tools=(), connection=reached)
    words = " ".join(part for part in question if isinstance(part, str))
    words = question if isinstance(question, str) else words
    verifying = wings.require(wings.VOTES, "verifying", "--votes")
    return {
        "verifier": verifying(make_model(verifier)) if wish.verifier else None,
        "origin": {**origin(made.spec), VOTES: votes},
        "notes": notes_for(made.spec.memory, words) if made.spec.memory else (),
    }
