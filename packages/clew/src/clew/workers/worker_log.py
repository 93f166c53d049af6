"""The events of a worker: for whoever takes them; what went wrong goes to the log as well."""

import logging
from typing import Final

from clew.workers.config import OnWorkerEvent, What, WorkerEvent

LOG: Final = logging.getLogger("clew")


class WorkerLog:
    """One worker's; it knows what it refused, since that is said once for however many runs."""

    def __init__(self, on_event: OnWorkerEvent) -> None:
        self._on_event = on_event
        self._refusals: set[str] = set()

    def tell(self, what: What, run_id: str = "", text: str = "") -> None:
        """Hand out an event. A listener only observes: where it fails, the worker goes on."""
        try:
            self._on_event(WorkerEvent(what, run_id, text))
        except Exception:
            LOG.exception("a listener failed at an event of run %s; the worker goes on", run_id)

    def warn(self, what: What, run_id: str, text: str) -> None:
        """Say it to the log too."""
        LOG.warning("run %s: %s", run_id, text)
        self.tell(what, run_id, text)

    def refuse(self, run_id: str, why: str) -> None:
        """Say once why a run is left to others: it may be true of thousands."""
        if why not in self._refusals:
            self._refusals.add(why)
            self.warn("refused", run_id, why)
