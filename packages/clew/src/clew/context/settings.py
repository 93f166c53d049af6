"""What a model sees: of an agent's tools, and of a run that outgrows the model's window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from clew.context.compaction import Compaction
from clew.context.triggers import Rewinds
from clew.core.events import AnyEvent
from clew.core.tools import Finder
from clew.core.trajectory import Trajectory
from clew.support.arguments import NONE, check_argument

_USUAL: Final = Compaction()


@dataclass(frozen=True)
class Context:
    """What a model sees.

    `retrieval` allows thousands of tools: the model sees those that it always shows, and others as
    they are found; None shows all. `compaction` says what is left out of a run that outgrows the
    model's window; None leaves out nothing. `rewinds` says when a run takes a wrong branch out of
    its view by itself; None never does.
    """

    retrieval: Finder | None = None
    compaction: Compaction | None = _USUAL
    rewinds: Rewinds | None = None

    def __post_init__(self) -> None:
        """Raise `ConfigError` for settings of another type; `Agent` looks at the retrieval."""
        check_argument("compaction", self.compaction, (Compaction, NONE), "Compaction(…) or None")
        check_argument("rewinds", self.rewinds, (Rewinds, NONE), "Rewinds(…) or None")

    async def review(
        self, trajectory: Trajectory, seconds: float, grace: float
    ) -> Sequence[AnyEvent]:
        """What a critic's review took, and the rewind if it says so; it has so many seconds."""
        rewinds = self.rewinds
        return () if rewinds is None else await rewinds.review(trajectory, seconds, grace)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


CONTEXT: Final = Context()
"""All tools, and compaction where the model's window is known."""
