"""The interface of models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol, TypeAlias, runtime_checkable

from clew.core.contents import Reply
from clew.core.prompts import Prompt
from clew.core.specs import Rates
from clew.core.values import Json
from clew.support.settings import check_fields
from clew.support.structural import Structural

OnText: TypeAlias = Callable[[str], bool]
"""Takes a piece of a reply as it arrives; True means that no more is wanted."""

STRATEGY: Final = "strategy"
"""What the models of strategies are called, before the name of the strategy."""


@dataclass(frozen=True)
class ModelInfo:
    """What is known about a model beforehand; only its name is required.

    `name` is `provider:model`; `params` are sampling parameters, as recorded. A `priced` model
    reports the cost with each reply; `rates`, in US dollars per million tokens, allow to reserve
    calls beforehand. An `unmetered` model costs nobody tokens, like rules: nothing is charged for a
    lost reply. `validate` raises `ConfigError` for a prompt (its tools, stop sequences or form)
    that the model cannot take. `billions` of weights say how big it is, where its name does not.
    `window` are the tokens that prompt and reply may take together. `takes` are media types, or
    their beginnings ("image/"), of attachments that it is shown: of others it gets the text.
    A reply of it may `wait` so many seconds at its provider, and is kept there when nobody waits
    any more: a run's limit on seconds counts that beside it, and nothing is charged as lost.
    """

    name: str
    params: Mapping[str, Json] = field(default_factory=dict[str, Json])
    priced: bool = False
    rates: Rates | None = None
    unmetered: bool = False
    validate: Callable[[Prompt], None] = field(default=lambda _: None, repr=False, compare=False)
    billions: float | None = None
    window: int | None = None
    takes: frozenset[str] = frozenset({""})
    wait: float = 0.0

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)


@runtime_checkable
class Model(Protocol, metaclass=Structural):
    """Anything that completes a prompt."""

    @property
    def info(self) -> ModelInfo:
        """Its name, and what is known about it beforehand."""
        ...

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Complete the prompt; with `on_text`, stream. Raises `ModelError` after its retries."""
        ...
