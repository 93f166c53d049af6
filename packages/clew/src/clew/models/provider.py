"""What is known of a provider before anything of it is loaded: a row of the table of models."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from clew.support.structural import Structural

ListRequest: TypeAlias = Callable[[str, str], tuple[str, dict[str, str]]]
"""From a variable and the key in it to where the list of models is, and the headers that get it."""


def bearer_request(variable: str, key: str) -> tuple[str, dict[str, str]]:
    """As OpenAI's server, and most others, are asked for their models."""
    del variable
    return "/models", {"authorization": f"Bearer {key}"} if key else {}


class Provider(msgspec.Struct, frozen=True):
    """The address of a provider, and what makes a model of it.

    Its entry point in the group `clew.models` is its `name` or an alias. `make` names the function
    that makes a model, as module:name, and `library` what that needs: the module, and the `extra`
    that installs it. `base_url` is its address (empty: none that all users share), `address` the
    environment variable that overrides it, `key` the one with the key (empty: it needs none), and
    `model` an example (empty: ask the server). `more` maps further options of `make` to their
    variables. `first` is a variable that takes precedence over `key`, `last` one used if neither is
    set. `formats` are other functions, by the suffix of the name: `NAME-responses`. `rank` is its
    position in lists, and in the search for keys by `clew.models.resolve.default`, which also finds
    a `probed` server running on this machine.
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
        """The environment variable of the key in this environment."""
        names = (self.first, self.key, self.last)
        return next((name for name in names if name and env.get(name)), self.key)


class Offered(msgspec.Struct, frozen=True):
    """A model that can be fetched by its name; `description` says its size and its licence."""

    name: str
    here: bool
    description: str


@runtime_checkable
class Downloads(Protocol, metaclass=Structural):
    """What makes models of files, and fetches some by their names when somebody asks for it."""

    def offered(self) -> Sequence[Offered]:
        """The models of its list."""
        ...

    def download(self, name: str) -> str:
        """Fetch one. Gives where it is from, its licence and its path. Raises `ClewError`."""
        ...
