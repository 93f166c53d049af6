"""What clew and Temporal tell each other of a run: ids, queues and how it stands, as JSON.

Nothing of what happens in a run is among it. Temporal keeps these, so fields are only ever added,
with defaults.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

WORKFLOW = "clew.run"
ADVANCE = "clew.advance"
CANCEL = "clew.cancel"
DUE = "due"

After: TypeAlias = Literal["over", "held", "left", "claimed", "refused", "failed", "superseded"]
"""What became of a run that a worker was asked to advance. It is over; it waits for a person, or a
time; its worker left it where its step ended; another has it; its agent is not there; its model or
store failed; and, said by the workflow alone, another worker was asked in the meantime."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a workflow begins with: its run, and the task queue of the workers that have its agent.

    `attributes` says whether the namespace has clew's search attributes.
    """

    run_id: str
    queue: str
    attributes: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """A worker saw that a run is due, whose agent those of the task queue `queue` have.

    There are new words or a time has come (`words`), or nobody works on it. With `over` it is to be
    taken from whoever has claimed it.
    """

    queue: str
    words: bool = False
    over: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A run to be advanced; with `over`, whoever has claimed it is fenced off."""

    run_id: str
    over: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """How a run stands after a worker was asked to advance it.

    `status` is that of its stop, `wake` when a held one goes on by itself (Unix milliseconds; 0:
    never), and `moved` says whether it got on before it failed.
    """

    after: After
    status: str = ""
    wake: int = 0
    moved: bool = False
