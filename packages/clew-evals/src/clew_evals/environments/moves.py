"""What text environments in the manner of gym answer, read into one shape.

`reset` gives an observation, or that and a dict of infos. `step` gives four values (gym) or five
(gymnasium, where an episode is done when it is terminated or truncated). Batches of one, as those
of ALFWorld and TextWorld, give lists of one value for each of these.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from clew import ConfigError


@dataclass(frozen=True)
class EnvironmentOutput:
    """What an environment shows after a move, or at its beginning."""

    text: str
    reward: float = 0.0
    done: bool = False
    infos: Mapping[str, Any] = field(default_factory=dict[str, Any])


Offers: TypeAlias = Callable[[Any, EnvironmentOutput], Sequence[str]]
"""The commands that an environment says are possible now; none where it does not say."""


def admissible(environment: Any, seen: EnvironmentOutput) -> Sequence[str]:
    """Those of `admissible_commands` in the infos."""
    return sorted(seen.infos.get("admissible_commands") or ())


class Game:
    """An environment, and whether it is a batch of one. Its calls block."""

    def __init__(self, environment: Any, reset: Mapping[str, Any]) -> None:
        self.environment = environment
        self._reset = reset
        self._batch = False

    def begin(self) -> EnvironmentOutput:
        """Start the episode. Raises `ConfigError` if it is not a text environment."""
        observation: Any = self.environment.reset(**self._reset)
        infos: Any = None
        match observation:
            case (first, None | {} as second):
                observation, infos = first, second
            case _:
                pass
        self._batch = isinstance(observation, (list, tuple))
        return EnvironmentOutput(self._text(observation), infos=self._infos(infos))

    def move(self, command: str) -> EnvironmentOutput:
        """Make one move."""
        outcome = self.environment.step([command] if self._batch else command)
        match outcome:
            case (observation, reward, done, infos):
                cut: Any = [False] if self._batch else False
            case (observation, reward, done, cut, infos):
                pass
            case _:
                message = (
                    f"step gave {_kind(outcome)}: four values (gym) or five (gymnasium) are known"
                )
                raise ConfigError(message)
        return EnvironmentOutput(
            self._text(observation),
            float(self._one(reward)),
            bool(self._one(done)) or bool(self._one(cut)),
            self._infos(infos),
        )

    def close(self) -> None:
        """Close the environment, if it can be closed."""
        close = getattr(self.environment, "close", None)
        if close is not None:
            close()

    def _one(self, value: Any) -> Any:
        if not self._batch:
            return value
        if len(value) != 1:
            message = f"it plays {len(value)} games at once: make it with a batch of one"
            raise ConfigError(message)
        return value[0]

    def _text(self, observation: Any) -> str:
        text = self._one(observation)
        if not isinstance(text, str):
            message = f"it shows {_kind(text)} and no text: wrap it so that it does"
            raise ConfigError(message)
        return text

    def _infos(self, infos: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if not self._batch:
            return infos or {}
        return {name: value[0] for name, value in (infos or {}).items() if value is not None}


def _kind(value: Any) -> str:
    match value:
        case [*several]:
            return f"{len(several)} values"
        case _:
            return f"a value of type {type(value).__name__}"
