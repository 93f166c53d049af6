"""The ways in which an agent may answer: one run, each strategy that there is, and votes."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import clew_strategies as strategies
from clew.support.wings import STRATEGIES, find, names

NOT_ONE: Final = frozenset({"strategy_agent"})
"""An entry of the group that makes an agent of a strategy, and is none."""
HERE: Final = "tests.matrix.parts"


@dataclass(frozen=True)
class Way:
    """A way to answer: the strategy of the agent file ("" for none), and how many runs vote."""

    name: str
    strategy: str = ""
    votes: int = 0

    @property
    def acts(self) -> bool:
        """Whether its tools may have effects: several runs that vote may not."""
        return not self.votes


def ways() -> Iterator[Way]:
    """All of them, found where they are registered."""
    yield Way("react")
    registered = [name for name in names(STRATEGIES) if name not in NOT_ONE]
    for name in registered:
        yield Way(name, name)
    known = {find(STRATEGIES, name) for name in registered}
    for name in strategies.__all__:
        value = getattr(strategies, name)
        if is_strategy(value) and value not in known:
            yield Way(name.lower(), f"{HERE}:{name}")
    yield Way("votes", votes=2)
    yield Way("votes of plan_and_solve", "plan_and_solve", votes=2)


def is_strategy(value: Any) -> bool:
    """Whether a public name is a strategy that can be made."""
    return (
        isinstance(value, type)
        and dataclasses.is_dataclass(value)
        and all(hasattr(value, name) for name in ("roles", "params", "__call__"))
    )
