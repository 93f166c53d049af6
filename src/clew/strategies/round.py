"""The runs of a vote while they go on: each a record of its own, begun or taken up by its key."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import anyio
import msgspec

from clew.core.agent import Agent
from clew.core.errors import ModelError, ToolError
from clew.core.events import Json, Verdict
from clew.core.interfaces import Listener, Store
from clew.core.journal import Journal, load
from clew.core.loop import run as go
from clew.core.pending import interrupt
from clew.core.runner import drive, has_begun, start_or_take_up
from clew.core.trajectory import Trajectory
from clew.strategies.ballots import RUN, ballots_in
from clew.strategies.decision import Ballot, Choice, ballot, certain
from clew.strategies.verifier import Verify, verifier_prompt
from clew.support.parts import Patience, ask, of_kind, stable_name, using

Watch: TypeAlias = Callable[[int], Listener | None]
"""Who watches run number n of a vote; 0 is the verifier's."""

NEEDLESS: Final = "the vote was decided without it"


def run_id_of(vote_id: str, number: int) -> str:
    """The id of a vote's run, or of its verifier's (0)."""
    return f"{vote_id}.{number or 'verifier'}"


@dataclass(frozen=True)
class Marked:
    """A screen: what the screens of the vote said of the question holds for its runs too."""

    reasons: tuple[str, ...]

    async def __call__(self, text: str) -> Verdict | None:
        """A mark; the words were let through once for all."""
        del text
        return Verdict("hint", "; ".join(self.reasons))


def member(agent: Agent, number: int, marks: tuple[str, ...] = ()) -> Agent:
    """The agent of run number n: with a seed of its own, and words that were screened already."""
    screens = (Marked(marks),) if marks else ()
    return agent.replace(seed=agent.seed + number - 1, screens=screens)


@dataclass
class Round:
    """What one worker knows of the runs of a vote. It is made anew from the record at any time.

    A run that is held, or whose model failed, keeps the vote open (`leave` is cancelled, and
    nothing is recorded) once all others have ended, unless they decide without it.
    """

    agent: Agent
    k: int
    verified: bool
    store: Store
    watch: Watch | None = None
    origin: dict[str, Json] = field(default_factory=dict[str, Json])
    leave: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    so_far: Trajectory = field(default_factory=lambda: Trajectory(""))
    """The vote's own record."""
    broken: Exception | None = None
    """What ended the vote here, whichever run it came from."""
    stuck: dict[int, ModelError | None] = field(default_factory=dict[int, ModelError | None])
    """Runs that wait: for a person (None), or for their model to come back."""
    _ended: dict[int, Ballot] = field(default_factory=dict[int, Ballot])
    _scopes: dict[int, anyio.CancelScope] = field(default_factory=dict[int, anyio.CancelScope])

    def take(self, so_far: Trajectory) -> None:
        """Work for this record; runs that have ended in it are not looked at again."""
        self.so_far = so_far
        told = [
            call.observation.text
            for call in so_far.calls
            if call.action.name == RUN and call.observation is not None
        ]
        self._ended = {each.run: each for each in ballots_in(told)}

    async def run(self, args: dict[str, Json], key: str) -> Json:
        """The tool `run`: take one run to its end, or close it when it is not needed any more."""
        number: int = args["run"]
        try:
            found = await self._ballot(number, key)
        except Exception as error:  # raised again by the vote: it is no observation
            await self._break(error)
            raise
        self._ended[number] = found
        self._look()
        return msgspec.to_builtins(found)

    async def _ballot(self, number: int, key: str) -> Ballot:
        run_id = run_id_of(key.rpartition(":")[0], number)
        if self._certain and not await has_begun(self.store, run_id):
            return Ballot(number, run_id, "not begun")
        marks = tuple(self.so_far.screen_notes)
        agent = member(self.agent, number, marks)
        journal = await self._open(agent, self.so_far.goal, run_id, key, number)
        with anyio.CancelScope() as scope:
            self._scopes[number] = scope
            self._look()
            await self._go(agent, journal, number)
        if scope.cancelled_caught:
            await interrupt(agent, journal, NEEDLESS)
        return ballot(number, journal.trajectory)

    async def _go(self, agent: Agent, journal: Journal, number: int) -> None:
        """Take the run to its end; where it has to wait, wait for what the others come to."""
        try:
            so_far = await go(agent, journal)
        except ModelError as error:
            self.stuck[number] = error
        else:
            if so_far.stop is None or so_far.stop.status != "held":
                return
            self.stuck[number] = None
        self._look()
        await anyio.sleep_forever()

    async def _open(self, agent: Agent, goal: str, run_id: str, key: str, number: int) -> Journal:
        """Begin the record of a run, or take it up where it is."""
        listener = None if self.watch is None else self._watched(self.watch, number)
        origin = self.origin if number else {}
        return await start_or_take_up(
            agent, goal, self.store, run_id, parent=key, listener=listener, origin=origin
        )

    def _watched(self, watch: Watch, number: int) -> Listener | None:
        with using(f"what watches run {number} of the vote"):
            return watch(number)

    async def verify(self, verifier: Agent, args: dict[str, Json], key: str) -> Json:
        """The tool `verify`: an agent's choice among runs, in a run of its own."""
        try:
            word = await self._word(verifier, args["runs"], key)
        except ModelError as error:
            message = f"the verifier was not available: {error}"
            raise ToolError(message) from error
        except Exception as error:  # as above
            await self._break(error)
            raise
        return msgspec.to_builtins(word)

    async def _word(self, verifier: Agent, numbers: list[int], key: str) -> Choice:
        runs = await self._read(numbers, key)
        run_id = run_id_of(key.rpartition(":")[0], 0)
        journal = await self._open(
            verifier, verifier_prompt(self.so_far.goal, runs), run_id, key, 0
        )
        found = await drive(verifier, journal)
        return found.answer if found.ok else Choice(0, f"its run ended as {found.status}")

    async def ask(self, function: Verify, args: dict[str, Json], key: str) -> Json:
        """The tool `verify`, where a function chooses; whatever it does wrong is observed."""
        runs, limits = await self._read(args["runs"], key), self.agent.limits
        who = f"the verifier {stable_name(function)}"
        patience = Patience(limits.reply_seconds, limits.grace, "reply_seconds")
        found = await ask(who, patience, function, self.so_far.goal, runs)
        return msgspec.to_builtins(of_kind(who, found, Choice, "a Choice"))

    async def _read(self, numbers: list[int], key: str) -> dict[int, Trajectory]:
        vote_id = key.rpartition(":")[0]
        return {n: await load(self.store, run_id_of(vote_id, n)) for n in numbers}

    @property
    def _certain(self) -> bool:
        return not self.verified and certain(self._ended.values(), self.k)

    def _look(self) -> None:
        """End the runs that are not needed any more; leave when none of those left can go on."""
        if self._certain:
            for number, scope in self._scopes.items():
                if number not in self._ended:
                    scope.cancel()
        elif self.stuck and {*self.stuck, *self._ended} == {*range(1, self.k + 1)}:
            self.leave.cancel()

    async def _break(self, error: Exception) -> None:
        """End the vote here with an error of the program or the store; every record stays open."""
        self.broken = self.broken or error
        self.leave.cancel()
        await anyio.sleep_forever()
