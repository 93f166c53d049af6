"""What a model is asked through where its requests go into batches."""

from collections.abc import Callable
from typing import Final

from clew.models.batches.interface import BatchApi, Outcome
from clew.models.batches.waves import Waves
from clew.models.http.failures import BadReplyError, StatusError, read_trouble
from clew.models.http.sdk_client import Posting
from clew.models.http.stream import Incoming
from clew.support.errors import ModelError
from clew.support.live import LIVE

CANCELED: Final = "its batch was canceled: resume the run to ask again"


class BatchTransport:
    """A transport whose `send` takes hours; `waves` are those of this event loop."""

    def __init__(self, client: Posting, api: BatchApi, waves: Callable[[], Waves]) -> None:
        self._client = client
        self.api = api
        self._waves = waves

    async def send(self, path: str, content: bytes) -> bytes:
        """The reply to a request of the run at work. What failed is raised as if it were sent."""
        del path  # all of a model's requests go to the same
        live = LIVE.get()
        run = "" if live is None else f"{live.run_id} {live.began}"  # one of its id is another
        return _reply(await self._waves().outcome(self.api, run, content))

    async def stream(self, path: str, content: bytes) -> Incoming:
        """A batch streams nothing; nobody asks for it."""
        raise NotImplementedError(path, len(content))

    async def close(self) -> None:
        """Close the connections; what was handed in goes on."""
        await self._client.close()


def _reply(outcome: Outcome) -> bytes:
    match outcome.kind:
        case "answered":
            return outcome.body
        case "refused":
            raise StatusError(read_trouble(outcome.status, outcome.body.decode(errors="replace")))
        case "canceled":
            raise ModelError(CANCELED)
        case "expired":
            raise BadReplyError("did not answer within the hours of its batch, which expired")
        case "lost" if outcome.body:
            raise ModelError(f"{outcome.body.decode()}; resume the run to ask again")
        case "lost":
            raise BadReplyError("gave no reply in its batch, which ended without a word of it")
