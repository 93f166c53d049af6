"""What a worker says: to whoever it tells, and what went wrong to the log as well."""

import logging
from typing import Final

from clew.core.errors import ClewError
from clew.workers.driver import OnWorkerEvent, What, WorkerEvent

LOG: Final = logging.getLogger("clew")


def described(error: Exception) -> str:
    """What an error says, in a line: ours say what to do, of any other its name is told as well.

    Whatever it is made of: to describe it may fail, too.
    """
    try:
        said = " ".join(str(error).split())
        return said if isinstance(error, ClewError) else f"{type(error).__name__}: {said}"
    except BaseException:  # noqa: BLE001 - such as one of a user's own, with a __str__ that exits
        return type(error).__name__


class WorkerLog:
    """One worker's; it knows what it refused, since that is said once for however many runs."""

    def __init__(self, tell: OnWorkerEvent) -> None:
        self._tell = tell
        self._refusals: set[str] = set()

    def tell(self, what: What, run_id: str = "", text: str = "") -> None:
        """Whoever is told may look, never answer: not by failing either."""
        try:
            self._tell(WorkerEvent(what, run_id, text))
        except Exception:
            LOG.exception("who was told of run %s failed; the worker goes on", run_id)

    def warn(self, what: What, run_id: str, text: str) -> None:
        """Say it to the log too."""
        LOG.warning("run %s: %s", run_id, text)
        self.tell(what, run_id, text)

    def refuse(self, run_id: str, why: str) -> None:
        """Say once why a run is left to others: it may be true of thousands."""
        if why not in self._refusals:
            self._refusals.add(why)
            self.warn("refused", run_id, why)
