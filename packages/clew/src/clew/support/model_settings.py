"""What a model is told beside its prompt: how it samples, how long it may write, think and wait."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast

from clew.support.errors import ConfigError
from clew.support.json_arguments import unfit
from clew.support.parts import short_repr
from clew.support.settings import check_fields, check_minimum

Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Cache: TypeAlias = Literal["off", "short", "long"]

_LONGEST: Final = 31_622_400
"""A year, in seconds: longer waits overflow the clocks of sockets."""

OURS: Final = ("seed", "cache", "timeout")
"""Settings that are no parameter of the record: a run has its seed, the others change no reply."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """What a model is told beside its prompt; None leaves it to the provider.

    Whoever is given a setting that it has none of refuses it, by name, where the agent is made.
    Those of an agent stand over those of its model.
    """

    HELP: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "temperature": "Sampling temperature, 0 to 2.",
            "top_p": "Sample from the likeliest tokens with this share of the probability, 0 to 1.",
            "max_tokens": "Tokens of one reply, reasoning included.",
            "stop": "A text at which a reply ends.",
            "seed": "Seed of the run: sent to the model, and recorded.",
            "effort": "How much the model reasons.",
            "reasoning_tokens": "Tokens of one reply's reasoning.",
            "cache": "How long the provider keeps the prompt.",
            "timeout": "Seconds for a reply, or for the next part of a streamed one.",
            "extra": "A parameter of the provider that clew has no name for.",
        }
    )
    """What each setting means, in its unit and range: options and tables are made of it."""

    temperature: float | None = None
    """How freely it samples, from 0 (the likeliest token) to 2."""
    top_p: float | None = None
    """The share of the probability, 0 to 1, of the tokens among which it samples."""
    max_tokens: int | None = None
    """Tokens of one reply, with those of its reasoning: 1 or more."""
    stop: Sequence[str] = ()
    """Texts at which a reply ends, beside those of the format."""
    seed: int | None = None
    """The seed of the runs: recorded, sent to models that take one, and given in the prompt."""
    effort: Effort | None = None
    """How much it reasons, as far as the provider knows the word."""
    reasoning_tokens: int | None = None
    """Tokens of one reply's reasoning: 1 or more, and fewer than `max_tokens`."""
    cache: Cache | None = None
    """Whether and how long the provider keeps the prompt for the next step: minutes, or hours."""
    timeout: float | None = None
    """Seconds to wait for a reply, or for the next event of a streamed one: more than 0."""
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Parameters that clew has no name for, in the provider's words: sent as they are."""

    def __post_init__(self) -> None:
        """Raise `ConfigError` for what no model could be told."""
        check_fields(self, signed=("seed",))
        self._check_range("temperature", 2)
        self._check_range("top_p", 1)
        for name in ("max_tokens", "reasoning_tokens"):
            if getattr(self, name) is not None:
                check_minimum(self, name)
        if self.timeout is not None and not 0 < self.timeout <= _LONGEST:
            self._refuse("timeout", f"give a number of seconds over 0, {_LONGEST:,} at most")
        limit, reasoning = self.max_tokens, self.reasoning_tokens
        if limit is not None and reasoning is not None and reasoning >= limit:
            self._refuse("reasoning_tokens", f"give fewer than max_tokens, which is {limit}")
        stop: Any = self.stop
        if isinstance(stop, str) or not isinstance(stop, Sequence):
            self._refuse("stop", 'give several texts, as in ("END",)')
        texts = tuple(cast("Sequence[object]", stop))
        if not all(isinstance(each, str) and each for each in texts):
            self._refuse("stop", "give texts that are not empty")
        object.__setattr__(self, "stop", texts)
        self._check_extra()

    def _check_extra(self) -> None:
        extra: Any = self.extra
        if not isinstance(extra, Mapping) or not all(
            isinstance(key, str) for key in cast("Mapping[object, object]", extra)
        ):
            self._refuse("extra", "give a table of parameters of the provider")
        if problem := unfit(dict(self.extra)):
            self._refuse("extra", f"it holds {problem}")
        for name, _ in self.set_fields():
            if name in self.extra and name not in OURS:  # the record has one place for both
                self._refuse("extra", f"leave out {name}, which is set beside it")

    def _check_range(self, name: str, limit: float) -> None:
        value = getattr(self, name)
        if value is not None and value > limit:
            self._refuse(name, f"give 0 to {limit}")

    def _refuse(self, name: str, wanted: str) -> None:
        value = getattr(self, name)
        text = repr(value) if isinstance(value, int | float) else short_repr(value)
        message = f"ModelSettings: {name} is {text}: {wanted}"
        raise ConfigError(message, field=name)

    def set_fields(self) -> Iterator[tuple[str, Any]]:
        """Each setting that says something, with its value; `extra` is not among them."""
        for name in self.HELP:
            value = getattr(self, name)
            if name != "extra" and value is not None and value != ():
                yield name, value

    def __bool__(self) -> bool:
        """Whether anything is set."""
        return bool(self.extra) or next(self.set_fields(), None) is not None

    @classmethod
    def of(cls, value: object) -> "ModelSettings":
        """What was passed as settings; None is none. Raises `ConfigError` for anything else."""
        if value is None:
            return cls()
        if not isinstance(value, ModelSettings):
            message = f"settings is {short_repr(value)}: give ModelSettings(temperature=…)"
            raise ConfigError(message, field="settings")
        return value

    def over(self, base: "ModelSettings") -> "ModelSettings":
        """These settings, and those of `base` of which these say nothing."""
        if not base:
            return self
        extra = {**base.extra, **self.extra}
        return dataclasses.replace(base, **dict(self.set_fields()), extra=extra)

    @property
    def recorded(self) -> dict[str, Any]:
        """What stands in the record as the model's parameters."""
        own = {name: value for name, value in self.set_fields() if name not in OURS}
        if "stop" in own:
            own["stop"] = [*self.stop]
        return {**self.extra, **own}


NOTHING_SET: Final = ModelSettings()
"""What leaves all to the provider."""


def refuse_settings(
    name: str, settings: ModelSettings, taken: Sequence[str] = (), why: str = ""
) -> None:
    """Raise `ConfigError` for the first setting that the model of this name has none of."""
    for field_name, _ in settings.set_fields():
        if field_name not in taken:
            message = f"{name} takes no {field_name}{why}: leave it out"
            raise ConfigError(message, field=field_name)
    if settings.extra and "extra" not in taken:
        message = f"{name} takes no {next(iter(settings.extra))}{why}: leave it out"
        raise ConfigError(message, field="extra")
