"""OpenAI's Batch API: a JSONL file of requests goes up, one or two files of results come back.

Facts, as the reference and the client's types have them (openai-python 3.52, `types/batch.py`,
`resources/batches.py`, `resources/files.py`; developers.openai.com/api/docs/guides/batch): at most
50,000 requests and 200 MB in a file of purpose `batch`, all for one model and one endpoint;
`completion_window` is "24h"; `custom_id` is unique in the file; `metadata` has 16 pairs, of values
up to 512 characters; the results of `output_file_id` and `error_file_id` are in any order; what
expired or was canceled leaves what was done in the output file, and is charged for that alone;
files of this purpose are kept for 30 days; all is at half price.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final

import msgspec

from clew.models.batches.http import BatchHttp
from clew.models.batches.interface import BatchState, Handed, Kind, Outcome, Request

MARK: Final = "clew"
"""Under this name a batch's metadata has its mark."""

MAX_REQUESTS: Final = 50_000
MAX_BYTES: Final = 200_000_000
PAGE: Final = 100
SLACK: Final = 3600
"""Seconds by which the provider's clock may be behind: older batches are others."""

_ENDED: Final = frozenset({"completed", "expired", "cancelled", "failed"})


class _Counts(msgspec.Struct):
    total: int = 0
    completed: int = 0
    failed: int = 0


class _Problem(msgspec.Struct):
    code: str | None = ""
    message: str | None = ""
    line: int | None = None


class _Problems(msgspec.Struct):
    data: list[_Problem] | None = None


class _Batch(msgspec.Struct):
    id: str
    status: str = ""
    created_at: float = 0
    metadata: dict[str, Any] | None = None
    request_counts: _Counts | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Problems | None = None


class _Page(msgspec.Struct):
    data: list[_Batch] = []
    has_more: bool = False


class _File(msgspec.Struct):
    id: str


class _Response(msgspec.Struct):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"")


class _Error(msgspec.Struct):
    code: str | None = ""
    message: str | None = ""


class _Line(msgspec.Struct):
    custom_id: str = ""
    response: _Response | None = None
    error: _Error | None = None


class OpenAIBatches:
    """The Batch API for one `path` of completions, such as "/chat/completions"."""

    max_requests = MAX_REQUESTS
    max_bytes = MAX_BYTES

    def __init__(self, http: BatchHttp, path: str) -> None:
        self._http = http
        self._endpoint = f"/v1{path}"

    def size(self, request: Request) -> int:
        return len(self._line(request)) + 1

    async def prepare(self, requests: Sequence[Request], mark: str) -> bytes:
        """Upload the file; what begins the batch of it."""
        lines = b"\n".join(map(self._line, requests)) + b"\n"
        data = await self._http.upload("/files", {"purpose": "batch"}, f"{mark}.jsonl", lines)
        uploaded = msgspec.json.decode(data, type=_File)
        return msgspec.json.encode(
            {
                "input_file_id": uploaded.id,
                "endpoint": self._endpoint,
                "completion_window": "24h",
                "metadata": {MARK: mark},
            }
        )

    async def hand_in(self, prepared: bytes) -> str:
        made = await self._http.post("/batches", prepared)
        return msgspec.json.decode(made, type=_Batch).id

    async def find(self, handed: Handed) -> str | None:
        """By its metadata, among those since then; the list begins with the latest."""
        after = ""
        while True:
            data = await self._http.get(f"/batches?limit={PAGE}{after}")
            page = msgspec.json.decode(data, type=_Page)
            for batch in page.data:
                if (batch.metadata or {}).get(MARK) == handed.mark:
                    return batch.id
            recent = [each for each in page.data if each.created_at >= handed.since - SLACK]
            if not page.has_more or not recent:
                return ""
            after = f"&after={page.data[-1].id}"

    async def state(self, batch: str) -> BatchState:
        it = await self._batch(batch)
        counts = it.request_counts or _Counts()
        ended, failed, code = it.status in _ENDED, "", ""
        if it.status == "failed":
            problems = (it.errors.data if it.errors else None) or [_Problem()]
            first = problems[0]
            where = "" if first.line is None else f" (line {first.line})"
            code = first.code or ""
            failed = f"{first.message or first.code or 'no reason was given'}{where}"
        return BatchState(counts.completed + counts.failed, counts.total, ended, failed, code)

    async def outcomes(self, batch: str) -> AsyncGenerator[Outcome, None]:
        it = await self._batch(batch)
        for file in filter(None, (it.output_file_id, it.error_file_id)):
            async with aclosing(self._http.lines(f"/files/{file}/content")) as lines:
                async for line in lines:
                    yield _outcome(msgspec.json.decode(line, type=_Line), it.status)

    async def cancel(self, batch: str) -> None:
        await self._http.post(f"/batches/{batch}/cancel")

    async def _batch(self, batch: str) -> _Batch:
        return msgspec.json.decode(await self._http.get(f"/batches/{batch}"), type=_Batch)

    def _line(self, request: Request) -> bytes:
        """A request as a line, its body as it is: long conversations are encoded once."""
        head = {"custom_id": request.custom_id, "method": "POST", "url": self._endpoint}
        return msgspec.json.encode(head)[:-1] + b',"body":' + request.body + b"}"


def _outcome(line: _Line, status: str) -> Outcome:
    response = line.response
    if response is not None and response.status_code:
        kind: Kind = "answered" if response.status_code < 400 else "refused"
        return Outcome(line.custom_id, kind, response.status_code, bytes(response.body))
    error = line.error or _Error()
    if error.code == "batch_expired":
        return Outcome(line.custom_id, "expired")
    if error.code == "batch_cancelled" or status == "cancelled":
        return Outcome(line.custom_id, "canceled")
    return Outcome(line.custom_id, "refused", 500, msgspec.json.encode({"error": error}))
