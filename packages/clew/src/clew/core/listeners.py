"""The interface of those who observe a run."""

from typing import Protocol, runtime_checkable

from clew.core.entries import Entry
from clew.support.structural import Structural


class Listener(Protocol):
    """Observes a run as it happens. It cannot influence the run."""

    def token(self, text: str) -> None:
        """A piece of the reply as it arrives."""
        ...

    def entry(self, entry: Entry) -> None:
        """An entry that has been recorded."""
        ...


@runtime_checkable
class Progress(Listener, Protocol, metaclass=Structural):
    """A listener that is also told how far a call is."""

    def progress(self, call: str, text: str) -> None:
        """News of a call (`step.index`) that is under way; never recorded."""
        ...
