"""An episode in a text environment: its tools, how it is brought up to a record, what it pays.

An environment is an object in this process, so it dies with it. Its record lives on: before a move
in a fresh environment the recorded ones are made again, and what they show is compared. `catch_up`
does so at once. A call that a crash left in doubt was never made in the fresh environment, and the
tool's probe says so.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

import anyio

from clew import Call, Observation, ReplayError, Tool, ToolError, Trajectory
from clew.interfaces import CALL, Guard, Json
from clew.support.short_text import one_line
from clew.tools import Attempts
from clew.tools.schema import checked
from clew_evals.environments.moves import EnvironmentOutput, Game, Offers, admissible

T = TypeVar("T")

OVER: Final = "The episode is over."
_LOST: Final = "the environment did not answer in time and is lost: nothing can be done in it"
_THOUGHT: Final = "OK."


def total(seen: Sequence[EnvironmentOutput]) -> float:
    """The sum of all rewards."""
    return sum(one.reward for one in seen)


def last(seen: Sequence[EnvironmentOutput]) -> float:
    """The last reward, where each is the score so far."""
    return seen[-1].reward if seen else 0.0


Score: TypeAlias = Callable[[Sequence[EnvironmentOutput]], float]
"""From what was seen after each move to what it came to."""


@dataclass(frozen=True)
class Verb:
    """A tool of an environment: its one parameter, put into `form`, is the command."""

    name: str
    description: str
    parameter: str
    about: str
    example: str
    form: str = "{}"

    def command(self, args: Mapping[str, Json]) -> str:
        """The command of a call, without line breaks around it: models leave them there."""
        return self.form.format(str(args[self.parameter]).strip())


ACT: Final = Verb(
    "act",
    "Do one thing in the environment you are in, and see what comes of it. One at a time: look at "
    "what came of it before the next.",
    "command",
    "What to do, in the environment's own words",
    "look",
)


@dataclass(frozen=True)
class EnvironmentStyle:
    """How an environment is acted on, shown and scored.

    `show` may shorten what it says. Where it says which commands are possible, they are shown
    unless `commands` is False. The score is divided by `best`, the most that can be had, and cut to
    [0, 1]. A move that takes more than `timeout` seconds ends the episode. A command that begins
    with one of `thoughts` is answered "OK." and never reaches the environment, as in the paper.
    With `alone`, only one environment of a world is used at a time: many share something between
    them that two threads would spoil.
    """

    verbs: tuple[Verb, ...] = (ACT,)
    show: Callable[[str], str] = str.strip
    offers: Offers = admissible
    commands: bool = True
    score: Score = total
    best: float = 1.0
    timeout: float = 30.0
    thoughts: tuple[str, ...] = ("think:", "think[")
    alone: bool = True

    def observation_text(self, game: Game, seen: EnvironmentOutput) -> str:
        """What the model reads."""
        parts = [self.show(seen.text)]
        if self.commands and not seen.done and (offered := self.offers(game.environment, seen)):
            parts.append(f"You can: {'; '.join(offered)}")
        if seen.done:
            parts.append(OVER)
        return "\n\n".join(filter(None, parts))


@dataclass
class EpisodePlayer:
    """One episode: an environment that has begun, and what was done in it.

    `first` is what it showed first. `lock` is held while anything is done in it.
    """

    game: Game
    manner: EnvironmentStyle
    lock: threading.Lock
    first: str
    guards: Sequence[Guard] = ()
    run_id: str = ""
    _seen: list[EnvironmentOutput] = field(default_factory=list[EnvironmentOutput])
    _answers: dict[str, str] = field(default_factory=dict[str, str])
    _tried: set[str] = field(default_factory=set[str])
    _read: int = 0
    """How many entries of the record this environment knows."""
    _turn: anyio.Lock = field(default_factory=anyio.Lock)
    _lost: bool = False

    @property
    def tools(self) -> Sequence[Tool]:
        """A tool for each verb."""
        return [self._tool(verb) for verb in self.manner.verbs]

    async def catch_up(self, trajectory: Trajectory) -> None:
        """Make the recorded moves again. Raises `ReplayError` where they come to something else."""
        if self.first not in trajectory.goal:
            raise ReplayError(0, "goal", _otherwise("it begins", self.first, trajectory.goal))
        async with self._turn:
            await self._follow(trajectory)

    async def _follow(self, trajectory: Trajectory) -> None:
        """Make the moves of a record that this environment has not seen, in their order."""
        if trajectory.run_id != self.run_id:
            self.run_id, self._read = trajectory.run_id, 0
        verbs = {verb.name: verb for verb in self.manner.verbs}
        for entry in trajectory.entries[self._read :]:
            if isinstance(event := entry.event, Observation):
                call = trajectory.call(event.call)
                tried = f"{self.run_id}:{call.key}" in self._tried
                if call.action.name in verbs and event.outcome != "not_done" and not tried:
                    await self._replay_move(verbs[call.action.name], call, event)
            self._read = max(self._read, entry.seq)

    async def reward(self, trajectory: Trajectory) -> float | None:
        """What the environment paid, as its world scores it, in [0, 1]."""
        async with self._turn:
            await self._follow(trajectory)
        return min(1.0, max(0.0, self.manner.score(self._seen) / self.manner.best))

    def _tool(self, verb: Verb) -> Tool:
        async def call(args: dict[str, Json], key: str) -> str:
            return await self._do(verb.command(args), key)

        field_of: dict[str, Json] = {"type": "string", "minLength": 1, "description": verb.about}
        return checked(
            Tool(
                name=verb.name,
                description=verb.description,
                parameters={
                    "type": "object",
                    "properties": {verb.parameter: field_of},
                    "required": [verb.parameter],
                    "additionalProperties": False,
                },
                call=call,
                effect="unsafe",
                attempts=Attempts(timeout=self.manner.timeout, probe=self._probe),
                examples=({verb.parameter: verb.example},),
            )
        )

    async def _do(self, command: str, key: str) -> str:
        """Make a move, one after the other in the order they came."""
        run_id = key.rpartition(":")[0]
        self.run_id = self.run_id or run_id
        if run_id != self.run_id:
            message = f"this episode is that of run {self.run_id}: enter another for {run_id}"
            raise ToolError(message)
        if command.startswith(self.manner.thoughts):
            return _THOUGHT
        try:
            async with self._turn:
                if (made := CALL.get()) is not None:
                    await self._followed(made.record)
                if self._lost:
                    raise ToolError(_LOST)
                if self._seen and self._seen[-1].done:
                    message = "the episode is over: nothing more can be done in it; finish"
                    raise ToolError(message)
                self._tried.add(key)
                self._answers[key] = await self._move(command)
                return self._answers[key]
        except anyio.get_cancelled_exc_class():
            self._lost = True  # nobody will know whether it was made, or will be
            raise

    async def _followed(self, trajectory: Trajectory) -> None:
        """Follow a record that a run goes on with; where that fails, no move is made here."""
        try:
            await self._follow(trajectory)
        except ReplayError as error:
            self._lost = True
            raise ToolError(str(error)) from error

    async def _move(self, command: str) -> str:
        """Make the move and keep what was seen."""
        seen, told = await aside(self.lock, lambda: self._moved(command))
        self._seen.append(seen)
        return told

    def _moved(self, command: str) -> tuple[EnvironmentOutput, str]:
        seen = self.game.move(command)
        return seen, self.manner.observation_text(self.game, seen)

    async def _probe(self, args: dict[str, Json], key: str) -> str | None:
        """What came of a call in doubt: None means that this environment never saw it."""
        if self._lost:
            raise ToolError(_LOST)
        return self._answers.get(key)

    async def _replay_move(self, verb: Verb, call: Call, was: Observation) -> None:
        """Make a recorded move in the fresh environment, if it was made in the one before."""
        command = verb.command(call.args)
        if was.code == "timeout":
            self._lost = True
        if (
            self._lost
            or was.code not in ("", "crashed")
            or command.startswith(self.manner.thoughts)
        ):
            return
        key = f"{self.run_id}:{call.key}"
        try:
            told = self._answers[key] = await self._move(command)
        except Exception as error:
            if was.ok:
                why = f"{command!r} fails now: {type(error).__name__}: {error}"
                raise ReplayError(_step(call), f"observation of {call.key}", why) from error
            return
        if not was.ok or told != was.text:
            why = _otherwise(f"{command!r} leads", told, was.text)
            raise ReplayError(_step(call), f"observation of {call.key}", why)


async def aside(lock: threading.Lock, work: Callable[[], T]) -> T:
    """Do what blocks in a thread, holding the lock; when cancelled, leave it to itself."""

    def alone() -> T:
        with lock:
            return work()

    return await anyio.to_thread.run_sync(
        alone, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
    )


def _step(call: Call) -> int:
    return int(call.key.partition(".")[0])


def _otherwise(what: str, now: str, then: str) -> str:
    return (
        f"the environment is not the one of the record: {what} otherwise than it did: "
        f"now {one_line(now, 160)!r}, recorded {one_line(then, 160)!r}; "
        "see that it is deterministic"
    )
