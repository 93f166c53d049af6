"""Any text environment with the methods of gym: whatever has `reset()` and `step(command)`.

What it shows first stands in the case's question; then there is one tool, `act(command)`.
"""

import threading
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import anyio
import msgspec
from msgspec.structs import replace

from clew import ConfigError
from clew.agent_files.imports import imported_function
from clew.support.error_text import described, message_of
from clew_evals.case import Case
from clew_evals.dataset import read_dataset
from clew_evals.environments.entries import chosen
from clew_evals.environments.episode import (
    EnvironmentStyle,
    EpisodePlayer,
    Score,
    aside,
    last,
    total,
)
from clew_evals.environments.moves import Game
from clew_evals.world import Episode, World

Make: TypeAlias = Callable[[Case], Game]
"""Makes the environment of a case, which has not begun. It may block."""

USUAL: Final = EnvironmentStyle()
_SCORES: Final[Mapping[str, Score]] = {"sum": total, "last": last}


class TextWorldOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a matrix file may say of such a world.

    `make` names a function of yours, `module:name`, that makes an environment. A case's `extra` may
    have the tables `make` and `reset`: what is given to that function, and to `reset`, by name.
    `score` says whether rewards are added up ("sum") or each is the score so far ("last"); the
    score is divided by `best`. `alone` is False where environments may be used at the same time.
    """

    make: str
    commands: bool = True
    score: Literal["sum", "last"] = "sum"
    best: float = 1.0
    timeout: float = 30.0
    alone: bool = True
    take: int = 0


OPTIONS: Final = TextWorldOptions
"""What `clew_evals.environments` reads the settings of a matrix file into."""


class _Extra(msgspec.Struct, forbid_unknown_fields=True):
    make: dict[str, Any] = {}
    reset: dict[str, Any] = {}
    script: Any = None  # what a simulated model plays
    wrong: Any = None


def world(path: str | Path, options: TextWorldOptions) -> World:
    """The cases of a dataset, each with an environment made for it. Raises `ConfigError`."""
    function = imported_function(options.make, "environment", str(Path(path).resolve().parent))
    if options.best <= 0 or options.timeout <= 0:
        message = "best and timeout must be more than 0"
        raise ConfigError(message)
    cases = chosen(str(path), ((str(path), one) for one in read_dataset(path)), options.take)
    manner = EnvironmentStyle(
        commands=options.commands,
        score=_SCORES[options.score],
        best=options.best,
        timeout=options.timeout,
        alone=options.alone,
    )

    def make(case: Case) -> Game:
        extra = msgspec.convert(case.extra, _Extra)
        return Game(function(**extra.make), extra.reset)

    return text_world(options.make, cases, make, manner)


def text_world(
    name: str, cases: Sequence[Case], make: Make, manner: EnvironmentStyle = USUAL
) -> World:
    """A world of text environments.

    Each environment starts once now, since the question ends with its first text, and again for
    every trial. Raises `ConfigError` if one cannot start.
    """
    shared = threading.Lock()
    firsts = {case.id: _first(case, make, manner) for case in cases}
    asked = [
        replace(case, question=f"{case.question}\n\n{firsts[case.id]}".strip()) for case in cases
    ]

    @asynccontextmanager
    async def enter(case: Case) -> AsyncGenerator[Episode]:
        lock = shared if manner.alone else threading.Lock()
        game, first = await aside(lock, lambda: _start_game(case, make, manner))
        try:
            if first not in case.question:
                message = (
                    f"case {case.id}: its environment begins otherwise than when the question was "
                    f"made: see that it is deterministic (give it a seed)"
                )
                raise ConfigError(message)
            yield EpisodePlayer(game, manner, lock, first)
        finally:
            # what hangs in a move cannot be closed, and is left to itself
            with anyio.move_on_after(manner.timeout, shield=True):
                await aside(lock, game.close)

    return World(name, asked, enter)


def _first(case: Case, make: Make, manner: EnvironmentStyle) -> str:
    """What an environment shows first."""
    game, first = _start_game(case, make, manner)
    game.close()
    return first


def _start_game(case: Case, make: Make, manner: EnvironmentStyle) -> tuple[Game, str]:
    try:
        game = make(case)
        return game, manner.observation_text(game, game.begin())
    except Exception as error:
        line = message_of(error) if isinstance(error, ConfigError) else described(error)
        message = f"case {case.id}: its environment cannot be begun: {line}"
        raise ConfigError(message) from error
