"""What the record says of a run before anything runs: all that a factory of deps is told."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from typing_extensions import TypeVar

Deps = TypeVar("Deps", default=Any)
"""The type of what an application gives to its runs."""


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """Which run deps are made for: its id, its recorded labels, and its owner ("" for nobody).

    The same in every process that works on the run; of a fork or a sub-run the labels and the owner
    are those of the run it comes from.
    """

    run_id: str
    labels: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    owner: str = ""


MakeDeps: TypeAlias = Callable[[RunIdentity], Awaitable[Deps] | Deps]
"""Makes the deps of a run, whichever process works on it."""
