"""What the server counts of itself: requests by status, and streams that are open."""

from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager

from clew.operations import Figure, Labels


class Counts:
    """Requests that were answered, by status; requests and streams that are open now."""

    def __init__(self) -> None:
        self.answered: Counter[int] = Counter()
        self.requests = 0
        self.streams = 0

    @contextmanager
    def request(self) -> Generator[Callable[[int], None]]:
        """Count a request while it is open; call what it gives with the status."""
        self.requests += 1

        def count(status: int) -> None:
            self.answered[status] += 1

        try:
            yield count
        finally:
            self.requests -= 1

    @contextmanager
    def stream(self) -> Generator[None]:
        """Count a stream while it is open."""
        self.streams += 1
        try:
            yield
        finally:
            self.streams -= 1

    def figures(self) -> list[Figure]:
        """All of it, as figures."""
        answered: dict[Labels, float] = {
            (("status", str(status)),): count for status, count in self.answered.items()
        }
        return [
            Figure("clew.http.requests", "counter", "requests that were answered", answered),
            Figure(
                "clew.http.open_requests", "gauge", "requests and streams that are open",
                {(): self.requests},
            ),
            Figure(
                "clew.http.open_streams", "gauge", "streams of events that are open",
                {(): self.streams},
            ),
        ]  # fmt: skip
