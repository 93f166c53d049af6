"""What a tool may know and say of the call that it performs."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass

from clew.core.bounds import Left
from clew.core.trajectory import Trajectory
from clew.core.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """What a tool may know and say of the call that it performs, beside its arguments.

    `record` is that of its run, as it stands: it may be looked at, and not kept, for it grows.
    `left` is what the run may still spend. `task` is what an earlier attempt of the call began and
    nobody saw the end of: ask for that. `answer` is the person's, to what the call asked.
    """

    record: Trajectory
    left: "Callable[[], Left]"
    task: str = ""
    answer: Json = None
    blob: Callable[[str], Awaitable[bytes]]
    """Fetch a blob that the record names, such as what a call left to go on with."""
    begun: Callable[..., Awaitable[None]]
    """Put the id of a task on disk, before it is waited for, or "" and `by`: the tool at work."""
    progress: Callable[[str], None]
    """Tell whoever watches how far the call is (`Progress`)."""
    late: Callable[[str], None]
    """Leave word of the end of work that could not be stopped at its deadline, from its thread.

    The word becomes a note in the record if the process lives on.
    """


CALL: ContextVar[CallContext | None] = ContextVar("clew.call", default=None)
"""The call that is being performed: set around every call of a tool."""
