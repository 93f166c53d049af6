"""The cassette of a test: opened when a model of it is asked for, written when the test ends."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew.concurrency.portal import wait_for
from clew.interfaces import Model
from clew.models import resolve
from clew.testing import Cassette


@dataclass
class Session:
    """The models of one test."""

    path: Path
    record: bool
    names: Mapping[str, str]
    cassette: Cassette | None = None
    closing: list[Callable[[], Awaitable[None]]] = field(
        default_factory=list[Callable[[], Awaitable[None]]]
    )

    def model(self, model: str | Model, **options: Any) -> Model:
        """The model of this name, or this model, recorded or played."""
        if self.cassette is None:
            self.cassette = Cassette(self.path, record=self.record, names=self.names)
        if isinstance(model, str):
            return self.cassette.model(model, lambda: self._opened(resolve(model, **options)))
        return self.cassette.model(model.info.name, lambda: self._opened(model))

    def _opened(self, model: Model) -> Model:
        """A model that is asked: its connections are closed when the test ends."""
        if (close := getattr(model, "close", None)) is not None:
            self.closing.append(close)
        return model

    def end(self) -> None:
        """Write what was recorded."""
        for close in self.closing:
            wait_for(close)
        if self.cassette is not None:
            self.cassette.save()

    def check(self) -> None:
        """Raise `AssertionError` for a request that was not recorded."""
        if self.cassette is not None and self.cassette.problem:
            raise AssertionError(self.cassette.problem)
