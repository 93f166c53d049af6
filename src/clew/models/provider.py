"""What is known of a provider before anything of it is loaded: a row of the table of models."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec

ListRequest: TypeAlias = Callable[[str, str], tuple[str, dict[str, str]]]
"""From a variable and the key in it to where the list of models is, and the headers that get it."""


def bearer_request(variable: str, key: str) -> tuple[str, dict[str, str]]:
    """As OpenAI's server, and most others, are asked for their models."""
    del variable
    return "/models", {"authorization": f"Bearer {key}"} if key else {}


class Provider(msgspec.Struct, frozen=True):
    """Where a provider is, and what makes a model of it.

    Its entry point in the group `clew.models` has its `name`, or another that it goes by. `make` is
    the function that makes a model, as module:name, and `library` what that needs: the module, and
    the `extra` that brings it. `base_url` is its address (empty: it has none that all share),
    `address` the environment variable that overrides it, `key` the one that holds the key (empty:
    it needs none) and `model` a model of it to begin with (empty: ask the server). `more` are the
    variables of further options of `make`, by the option. `first` is a variable that goes before
    `key` where both are set, `last` one that holds the key where neither is. `formats` are other
    functions, by what is written behind the name: `NAME-responses`. `rank` is its place in lists,
    and where `clew.models.default_model` looks for keys; a server that is `probed` is found by it
    where it runs on this machine.
    """

    name: str
    make: str
    library: str
    extra: str
    base_url: str
    address: str
    key: str = ""
    model: str = ""
    more: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    first: str = ""
    last: str = ""
    formats: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    rank: int = 100
    probed: bool = False
    list_request: ListRequest = bearer_request

    def variable(self, env: Mapping[str, str]) -> str:
        """The variable that holds the key in this environment, or would."""
        names = (self.first, self.key, self.last)
        return next((name for name in names if name and env.get(name)), self.key)
