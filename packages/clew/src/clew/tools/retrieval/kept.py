"""An index that is made at its first use and kept for the same tools."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.core.interfaces import ToolSpec
from clew.tools.retrieval.index import Index
from clew.tools.retrieval.meaning import Ranking


@dataclass
class Kept:
    """The index of the tools that were asked for last. Threads may share it."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _made: Index | None = None

    def rank(
        self, tools: Sequence[ToolSpec], texts: Sequence[str], ranking: Ranking | None
    ) -> list[str]:
        """The names of the tools, best first for these texts."""
        given = tuple(tools)
        if not given:
            return []
        with self._lock:
            if self._made is None or self._made.tools != given:
                self._made = Index(given, ranking)
            return self._made.rank(texts)
