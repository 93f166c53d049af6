"""A small text game, in every shape that gym has had, and how the tests play it."""

import threading
from collections.abc import Mapping
from typing import Any

from clew import Agent
from clew.guards import Provenance
from clew.testing.models import ScriptedModel, act
from clew_evals.case import Case
from clew_evals.environments.episode import EnvironmentStyle
from clew_evals.environments.moves import Game
from clew_evals.environments.textworld import Make, text_world
from clew_evals.world import Episode, World

FIRST = "You are in a cellar. There is a lamp."
GOAL = Case("lamp", "Light the lamp in the hall.", {"reward": 1.0})


class Lamp:
    """Gym as it was: `reset` gives the observation, `step` four values."""

    def __init__(self, first: str = FIRST) -> None:
        self.first = first
        self.log: list[str] = []
        self.closed = False

    def reset(self, **value: Any) -> Any:
        self.log = []
        self.room, self.has, self.done = "cellar", False, False
        return self.first

    def offered(self) -> list[str]:
        there = ["go to hall"] if self.room == "cellar" else ["go to cellar"]
        return [*there, "light lamp" if self.has else "take lamp"]

    def moved(self, command: str) -> tuple[str, float]:
        self.log.append(command)
        match command:
            case "go to hall" | "go to cellar":
                self.room = command.removeprefix("go to ")
                return f"You are in the {self.room}.", 0.0
            case "take lamp" if self.room == "cellar" and not self.has:
                self.has = True
                return "You have the lamp.", 0.25
            case "light lamp" if self.room == "hall" and self.has:
                self.done = True
                return "It is bright.", 0.75
            case "break":
                message = "the game has no such word"
                raise KeyError(message)
            case _:
                return "Nothing happens.", 0.0

    def step(self, command: Any) -> Any:
        text, reward = self.moved(command)
        return text, reward, self.done, {}

    def close(self) -> None:
        self.closed = True


class NewLamp(Lamp):
    """Gymnasium: `reset` gives infos too, `step` five values; the commands are in the infos."""

    def reset(self, **value: Any) -> Any:
        return super().reset(), {"admissible_commands": self.offered()}

    def step(self, command: Any) -> Any:
        text, reward = self.moved(command)
        return text, reward, False, self.done, {"admissible_commands": self.offered()}


class BatchLamp(Lamp):
    """A batch of one, as TextWorld makes them: a list of one value for everything."""

    def reset(self, **value: Any) -> Any:
        return [super().reset()], {"admissible_commands": [self.offered()], "won": [False]}

    def step(self, command: Any) -> Any:
        (only,) = command
        text, reward = self.moved(only)
        infos: Mapping[str, Any] = {"admissible_commands": [self.offered()], "won": [self.done]}
        return [text], [reward], [self.done], infos


class StuckLamp(Lamp):
    """A game that waits to be let on at the word `wait`."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.let_on = threading.Event(), threading.Event()

    def moved(self, command: str) -> tuple[str, float]:
        if command == "wait":
            self.entered.set()
            self.let_on.wait()
        return super().moved(command)


def made(kind: Any = Lamp) -> tuple[list[Any], Make]:
    """What makes environments of this kind, and a list of all it has made."""
    values: list[Any] = []

    def make(case: Case) -> Game:
        values.append(kind())
        return Game(values[-1], {})

    return values, make


def lamps(kind: Any = Lamp, **manner: Any) -> tuple[list[Any], World]:
    """A world of one case, and the environments it has made."""
    values, make = made(kind)
    return values, text_world("lamps", [GOAL], make, EnvironmentStyle(**{"timeout": 5.0, **manner}))


def player(episode: Episode, *script: Any, **value: Any) -> Agent:
    """An agent that does this there; a text is a command."""
    moves = [act("act", command=one) if isinstance(one, str) else one for one in script]
    guards: list[Any] = [*episode.guards, Provenance("off")]
    return Agent(model=ScriptedModel(moves), tools=episode.tools, guards=guards, **value)


def results_of_calls(record: Any) -> list[str]:
    """What each call came to."""
    return [call.observation.text for call in record.calls if call.observation is not None]
