"""What answering a task came to and took, whoever answered."""

from dataclasses import dataclass

import clew
from clew.core.codes import Status
from clew.core.values import Json
from live.strategies.counting import Counts


@dataclass(frozen=True)
class Took:
    """How it ended and what it took; the fields are those of an outcome."""

    status: Status
    reason: str
    answer: Json
    right: bool
    counts: Counts
    seconds: float
    stopped: bool = True
    taken_up: bool = False
    version: str = clew.__version__
