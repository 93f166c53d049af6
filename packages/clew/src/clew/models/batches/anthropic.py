"""Anthropic's Message Batches: all requests in one body, one stream of results.

Facts, as the reference and the client's types have them (anthropic-sdk-python 2.11,
`types/messages/message_batch.py`, `batch_create_params.py`, `resources/messages/batches.py`; the
guide at platform.claude.com/docs/en/build-with-claude/batch-processing): at most 100,000 requests
or 256 MB; `custom_id` has 1 to 64 letters, digits, - and _, and is unique in the batch; a batch has
24 hours, and its results are there for 29 days, in any order; each is `succeeded`, `errored`,
`canceled` or `expired`, and only the first is charged, at half price, caching included. Batches
have no metadata: one that may have been handed in is known by the ids of its requests, which show
when it has ended.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import datetime
from typing import Final

import msgspec

from clew.models.batches.http import BatchHttp
from clew.models.batches.interface import BatchState, Handed, Kind, Outcome, Request

MAX_REQUESTS: Final = 100_000
MAX_BYTES: Final = 256_000_000
PAGE: Final = 100
SLACK: Final = 3600
"""Seconds by which the provider's clock may be behind: older batches are others."""

PATH: Final = "/v1/messages/batches"
_KINDS: Final[dict[str, Kind]] = {
    "succeeded": "answered",
    "errored": "refused",
    "canceled": "canceled",
    "expired": "expired",
}


class _Counts(msgspec.Struct):
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0

    @property
    def done(self) -> int:
        return self.succeeded + self.errored + self.canceled + self.expired

    @property
    def total(self) -> int:
        return self.done + self.processing


class _Batch(msgspec.Struct):
    id: str
    processing_status: str = ""
    created_at: datetime | None = None
    request_counts: _Counts = msgspec.field(default_factory=_Counts)


class _Page(msgspec.Struct):
    data: list[_Batch] = []
    has_more: bool = False
    last_id: str | None = None


class _Result(msgspec.Struct):
    type: str = ""
    message: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


class _Line(msgspec.Struct):
    custom_id: str = ""
    result: _Result = msgspec.field(default_factory=_Result)


class AnthropicBatches:
    """The Message Batches API."""

    max_requests = MAX_REQUESTS
    max_bytes = MAX_BYTES - 64

    def __init__(self, http: BatchHttp) -> None:
        self._http = http

    def size(self, request: Request) -> int:
        return len(_entry(request)) + 1

    async def prepare(self, requests: Sequence[Request], mark: str) -> bytes:
        del mark  # it is in the ids
        return b'{"requests":[' + b",".join(map(_entry, requests)) + b"]}"

    async def hand_in(self, prepared: bytes) -> str:
        return msgspec.json.decode(await self._http.post(PATH, prepared), type=_Batch).id

    async def find(self, handed: Handed) -> str | None:
        """By the ids of its requests, where as many were handed in since then; the latest first."""
        after, undecided = "", False
        while True:
            data = await self._http.get(f"{PATH}?limit={PAGE}{after}")
            page = msgspec.json.decode(data, type=_Page)
            recent = [each for each in page.data if _time(each) >= handed.since - SLACK]
            for batch in recent:
                if batch.id in handed.known or batch.request_counts.total != handed.total:
                    continue
                if batch.processing_status != "ended":
                    undecided = True
                elif await self._begins_with(batch.id, handed.mark):
                    return batch.id
            if not page.has_more or not recent:
                return None if undecided else ""
            after = f"&after_id={page.last_id or page.data[-1].id}"

    async def _begins_with(self, batch: str, mark: str) -> bool:
        async with aclosing(self.outcomes(batch)) as outcomes:
            async for outcome in outcomes:
                return outcome.custom_id.startswith(f"{mark}-")
        return False

    async def state(self, batch: str) -> BatchState:
        data = await self._http.get(f"{PATH}/{batch}")
        it = msgspec.json.decode(data, type=_Batch)
        counts = it.request_counts
        return BatchState(counts.done, counts.total, it.processing_status == "ended")

    async def outcomes(self, batch: str) -> AsyncGenerator[Outcome, None]:
        async with aclosing(self._http.lines(f"{PATH}/{batch}/results")) as lines:
            async for line in lines:
                it = msgspec.json.decode(line, type=_Line)
                kind = _KINDS.get(it.result.type, "lost")
                body = it.result.error if kind == "refused" else it.result.message
                status = 200  # the error's type says which it is (`read_trouble`)
                yield Outcome(it.custom_id, kind, status, bytes(body))

    async def cancel(self, batch: str) -> None:
        await self._http.post(f"{PATH}/{batch}/cancel")


def _entry(request: Request) -> bytes:
    """A request of the list, its body as it is: long conversations are encoded once."""
    return b'{"custom_id":"' + request.custom_id.encode() + b'","params":' + request.body + b"}"


def _time(batch: _Batch) -> float:
    """When it was made; one that does not say it may be any."""
    return batch.created_at.timestamp() if batch.created_at else float("inf")
