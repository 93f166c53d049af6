"""What a model sees: of an agent's tools, and of a run that outgrows the model's window."""

from dataclasses import dataclass, replace
from typing import Any, Final, Self

from clew.context.compaction import Compaction
from clew.core.interfaces import Finder

_USUAL: Final = Compaction()


@dataclass(frozen=True)
class Context:
    """What a model sees.

    `retrieval` allows thousands of tools: the model sees those that it always shows, and others as
    they are found; None shows all. `compaction` says what is left out of a run that outgrows the
    model's window; None leaves out nothing.
    """

    retrieval: Finder | None = None
    compaction: Compaction | None = _USUAL

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return replace(self, **changes)


CONTEXT: Final = Context()
"""All tools, and compaction where the model's window is known."""
