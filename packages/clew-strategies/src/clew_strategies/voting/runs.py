"""The runs of a vote while it is in progress: start, resume, verify and interrupt them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import anyio
import msgspec

from clew import Agent, ModelError, Question, ToolError, Trajectory, Verdict
from clew.agent.runner import complete, drive, has_begun, start_or_take_up
from clew.core.journal import Journal, load
from clew.core.pending import interrupt
from clew.interfaces import Json, Listener, Note, Store, Trust
from clew.support.parts import Patience, ask, of_kind, stable_name, using
from clew_strategies.voting.decision import Ballot, VerifierChoice, ballot, certain
from clew_strategies.voting.policy import RUN, ballots_in
from clew_strategies.voting.verifier import Verify, verifier_prompt

Watch: TypeAlias = Callable[[int], Listener | None]
"""Returns the listener of run number n of a vote; 0 is the verifier's run."""

NOT_NEEDED: Final = "the vote was decided without it"


def run_id_of(vote_id: str, number: int) -> str:
    """The id of a vote's run, or of its verifier's (0)."""
    return f"{vote_id}.{number or 'verifier'}"


@dataclass(frozen=True)
class Marked:
    """A screen that repeats what the vote's screens said of the question, for each run."""

    reasons: tuple[str, ...]

    async def __call__(self, text: str) -> Verdict | None:
        """A hint with the reasons; the question itself was already let through."""
        del text
        return Verdict("hint", "; ".join(self.reasons))


def run_agent(agent: Agent[Any], number: int, marks: tuple[str, ...] = ()) -> Agent[Any]:
    """The agent of run number n: with its own seed, and a question that is already screened."""
    screens = (Marked(marks),) if marks else ()
    return agent.replace(screens=screens).seeded(agent.engine.seed + number - 1)


@dataclass
class VoteRuns:
    """The runs of a vote in this process, rebuilt from the record on every resume.

    If a run is held, or its model failed, the vote stays open when all others have ended, unless
    they decide it: `scope` is cancelled, and nothing is recorded.
    """

    agent: Agent[Any]
    k: int
    verified: bool
    store: Store
    watch: Watch | None = None
    origin: dict[str, Json] = field(default_factory=dict[str, Json])
    notes: Sequence[Note] = ()
    """What each run is told beside the question, such as memories."""
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    trajectory: Trajectory = field(default_factory=lambda: Trajectory(""))
    """The vote's own record."""
    error: Exception | None = None
    """The error that ended the vote in this process, whichever run raised it."""
    waiting: dict[int, ModelError | None] = field(default_factory=dict[int, ModelError | None])
    """Runs that wait for a person (None), or whose model failed."""
    _ballots: dict[int, Ballot] = field(default_factory=dict[int, Ballot])
    _scopes: dict[int, anyio.CancelScope] = field(default_factory=dict[int, anyio.CancelScope])

    def load(self, trajectory: Trajectory) -> None:
        """Take over the record of the vote, with the ballots that it already has."""
        self.trajectory = trajectory
        texts = [
            call.observation.text
            for call in trajectory.calls
            if call.action.name == RUN and call.observation is not None
        ]
        self._ballots = {each.run: each for each in ballots_in(texts)}

    async def run(self, args: dict[str, Json], key: str) -> Json:
        """The tool `run`: complete one run, or interrupt it when it is no longer needed."""
        number: int = args["run"]
        try:
            result = await self._ballot(number, key)
        except Exception as error:  # raised again by the vote, not observed
            await self._fail(error)
            raise
        self._ballots[number] = result
        self._settle()
        return msgspec.to_builtins(result)

    async def _ballot(self, number: int, key: str) -> Ballot:
        run_id = run_id_of(key.rpartition(":")[0], number)
        if self._certain and not await has_begun(self.store, run_id):
            return Ballot(number, run_id, "not begun")
        marks = tuple(self.trajectory.screen_notes)
        agent = run_agent(self.agent, number, marks)
        asked = self.trajectory.started
        question: Question = [*asked.attachments, asked.goal] if asked.attachments else asked.goal
        journal = await self._open(agent, question, run_id, key, number, asked.trust)
        with anyio.CancelScope() as scope:
            self._scopes[number] = scope
            self._settle()
            await self._drive(agent, journal, number)
        if scope.cancelled_caught:
            await interrupt(agent.engine, journal, NOT_NEEDED)
        return ballot(number, journal.trajectory)

    async def _drive(self, agent: Agent[Any], journal: Journal, number: int) -> None:
        """Complete the run; if it must wait, sleep until the other runs settle the vote."""
        try:
            trajectory = await complete(agent, journal)
        except ModelError as error:
            self.waiting[number] = error
        else:
            if trajectory.stop is None or trajectory.stop.status != "held":
                return
            self.waiting[number] = None
        self._settle()
        await anyio.sleep_forever()

    async def _open(
        self, agent: Agent[Any], goal: Question, run_id: str, key: str, number: int, trust: Trust
    ) -> Journal:
        """Create the record of a run, or continue it."""
        listener = None if self.watch is None else self._listener(self.watch, number)
        origin = self.origin if number else {}
        journal = await start_or_take_up(
            agent, goal, self.store, run_id,
            parent=key, listener=listener, origin=origin, trust=trust,
            labels=(first := self.trajectory.started).labels, owner=first.owner or None,
        )  # fmt: skip
        if self.notes and number and len(journal.trajectory.entries) == 1:
            await journal.record(*self.notes)
        return journal

    def _listener(self, watch: Watch, number: int) -> Listener | None:
        with using(f"what watches run {number} of the vote"):
            return watch(number)

    async def verify(self, verifier: Agent[Any], args: dict[str, Json], key: str) -> Json:
        """The tool `verify`: an agent chooses among runs, in its own run."""
        try:
            choice = await self._agent_choice(verifier, args["runs"], key)
        except ModelError as error:
            message = f"the verifier was not available: {error}"
            raise ToolError(message) from error
        except Exception as error:  # as above
            await self._fail(error)
            raise
        return msgspec.to_builtins(choice)

    async def _agent_choice(
        self, verifier: Agent[Any], numbers: list[int], key: str
    ) -> VerifierChoice:
        runs = await self._read(numbers, key)
        run_id = run_id_of(key.rpartition(":")[0], 0)
        goal, read = verifier_prompt(self.trajectory.goal, runs), runs.values()
        trust: Trust = "trusted" if all(each.untainted for each in read) else "untrusted"
        journal = await self._open(verifier, goal, run_id, key, 0, trust)
        result = await drive(verifier, journal)
        return (
            result.unwrap() if result.ok else VerifierChoice(0, f"its run ended as {result.status}")
        )

    async def verify_by_function(self, function: Verify, args: dict[str, Json], key: str) -> Json:
        """The tool `verify`: a function chooses; its errors are observations."""
        runs, limits = await self._read(args["runs"], key), self.agent.limits
        who = f"the verifier {stable_name(function)}"
        patience = Patience(limits.reply_seconds, limits.grace, "reply_seconds")
        choice = await ask(who, patience, function, self.trajectory.goal, runs)
        return msgspec.to_builtins(of_kind(who, choice, VerifierChoice, "a Choice"))

    async def _read(self, numbers: list[int], key: str) -> dict[int, Trajectory]:
        vote_id = key.rpartition(":")[0]
        return {n: await load(self.store, run_id_of(vote_id, n)) for n in numbers}

    @property
    def _certain(self) -> bool:
        return not self.verified and certain(self._ballots.values(), self.k)

    def _settle(self) -> None:
        """Interrupt runs that are no longer needed; stop if no remaining run can continue."""
        if self._certain:
            for number, scope in self._scopes.items():
                if number not in self._ballots:
                    scope.cancel()
        elif self.waiting and {*self.waiting, *self._ballots} == {*range(1, self.k + 1)}:
            self.scope.cancel()

    async def _fail(self, error: Exception) -> None:
        """End the vote in this process with an error; every record stays open."""
        self.error = self.error or error
        self.scope.cancel()
        await anyio.sleep_forever()
