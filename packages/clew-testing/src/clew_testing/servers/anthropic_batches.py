"""A server on 127.0.0.1 that speaks Anthropic's Message Batches, for tests with the real client.

It keeps the published rules (`clew.models.batches.anthropic` has them): at most 100,000 requests
whose ids are unique and of 1 to 64 letters, digits, - and _; results in any order, when the batch
has ended; a request that is refused, canceled or expired is so by itself.
"""

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from clew_testing.servers.anthropic_server import AnthropicService, Messages
from clew_testing.servers.batch_bench import (
    Answers,
    Batch,
    Bench,
    Entry,
    Faults,
    answered,
    as_json,
    as_lines,
    page,
)
from clew_testing.servers.http_server import (
    CompletionKind,
    Fail,
    HttpServer,
    ReceivedRequest,
    Say,
    Send,
    Turn,
    object_of,
)

MAX_REQUESTS: Final = 100_000
MAX_BYTES: Final = 256_000_000
_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class AnthropicBatchServer(HttpServer):
    """The server; the arguments are those of `OpenAIBatchServer`."""

    def __init__(
        self,
        answers: Answers,
        *,
        key: str = "",
        looks: int = 1,
        faults: Faults = lambda _: None,
        held: bool = False,
        max_requests: int = MAX_REQUESTS,
    ) -> None:
        self.bench = Bench(answers, looks, faults, held)
        super().__init__(AnthropicBatchService(self.bench, Messages(key), max_requests))


@dataclass
class AnthropicBatchService:
    """Batches under `/v1/messages/batches`."""

    bench: Bench
    messages: Messages
    max_requests: int = MAX_REQUESTS
    root: str = ""
    stream_type: str = "text/event-stream"

    def error(self, fail: Fail) -> bytes:
        return AnthropicService(self.messages).error(fail)

    def find(self, seen: ReceivedRequest) -> CompletionKind:
        return answered(self.bench, seen, self._handle)

    def _handle(self, seen: ReceivedRequest) -> Send | Fail:
        bearer = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if self.messages.key and self.messages.key not in {bearer, seen.headers.get("x-api-key")}:
            return Fail(401, "invalid x-api-key")
        if "anthropic-version" not in seen.headers:
            return Fail(400, "anthropic-version: header is required")
        match [seen.method, *seen.path.removeprefix("/v1/messages/").split("/")]:
            case ["POST", "batches"]:
                return self._create(seen)
            case ["GET", "batches"]:
                return self._list(seen)
            case [method, "batches", *where]:
                return self._about(method, where, seen)
            case _:
                return Fail(404, f"Not found: {seen.path}")

    def _list(self, seen: ReceivedRequest) -> Send:
        limit = int(seen.query.get("limit", "20"))
        listed, more = page(self.bench.batches, seen.query.get("after_id", ""), limit)
        for batch in listed:
            self.bench.look(batch, self._refuse)
        data = [_batch(one) for one in listed]
        ends = {"first_id": data[0]["id"], "last_id": data[-1]["id"]} if data else {}
        return as_json({"data": data, "has_more": more} | ends)

    def _about(self, method: str, where: list[str], seen: ReceivedRequest) -> Send | Fail:
        """What is asked of one batch."""
        match [method, *where]:
            case ["GET", name] if (batch := self.bench.find(name)) is not None:
                self.bench.look(batch, self._refuse)
                return as_json(_batch(batch))
            case ["GET", name, "results"] if (batch := self.bench.find(name)) is not None:
                if not batch.ended:
                    return Fail(400, f"{name} has no results before it has ended")
                return as_lines(
                    {"custom_id": entry.custom_id, "result": self._result(batch, entry, turn)}
                    for entry, turn in batch.results
                )
            case ["POST", name, "cancel"] if (batch := self.bench.find(name)) is not None:
                batch.ending = batch.ending if batch.ended else "canceled"
                return as_json(_batch(batch))
            case _:
                return Fail(404, f"Not found: {seen.path}")

    def _create(self, seen: ReceivedRequest) -> Send | Fail:
        if len(seen.raw) > MAX_BYTES:
            return Fail(413, "Request exceeds the maximum size")
        body = object_of(seen.body) or {}
        requests: list[Mapping[str, Any]] = body.get("requests") or []
        if not 0 < len(requests) <= self.max_requests:
            return Fail(400, f"requests: 1 to {self.max_requests} are taken")
        if extra := {*body} - {"requests"}:
            return Fail(400, f"{min(extra)}: Extra inputs are not permitted")
        ids = [request.get("custom_id") for request in requests]
        for number, custom_id in enumerate(ids):
            if not isinstance(custom_id, str) or not _ID.fullmatch(custom_id):
                pattern = f"requests.{number}.custom_id: String should match pattern"
                return Fail(400, f"{pattern} '^[a-zA-Z0-9_-]{{1,64}}$'")
        if repeated := [one for one, count in Counter(ids).items() if count > 1]:
            return Fail(400, f"requests: custom_id {repeated[0]} is not unique")
        entries = [Entry(str(it["custom_id"]), it["params"]) for it in requests]
        return as_json(_batch(self.bench.add(entries, "msgbatch")))

    def _refuse(self, body: Any) -> Fail | None:
        """What Messages refuses of a body."""
        if body.get("stream"):
            return Fail(400, "stream: not supported in a batch")
        headers = {"anthropic-version": "2023-06-01", "x-api-key": self.messages.key}
        refused = self.messages.refuse(ReceivedRequest("", headers, body, b""))
        return refused if isinstance(refused, Fail) else None

    def _result(self, batch: Batch, entry: Entry, turn: Turn | None) -> dict[str, Any]:
        if turn is None:
            return {"type": batch.ending or "canceled"}
        if isinstance(turn, Say):
            message = self.messages.full_body(turn, ReceivedRequest("", {}, entry.body, b""))
            return {"type": "succeeded", "message": json.loads(message)}
        if isinstance(turn, Fail):
            return {"type": "errored", "error": json.loads(self.error(turn))}
        raise TypeError(f"{turn!r} cannot become of a request in a batch")


def _batch(batch: Batch) -> dict[str, Any]:
    """A batch as it is told."""
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    if not batch.ended:
        counts["processing"] = len(batch.entries)
    for _, turn in batch.results:
        undone = batch.ending or "canceled"
        what = undone if turn is None else "succeeded" if isinstance(turn, Say) else "errored"
        counts[what] += 1
    status = "ended" if batch.ended else "canceling" if batch.ending else "in_progress"
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": status,
        "request_counts": counts,
        "created_at": _at(batch.created),
        "expires_at": _at(batch.created + 86_400),
        "ended_at": _at(batch.created + 60) if batch.ended else None,
        "results_url": f"/v1/messages/batches/{batch.id}/results" if batch.ended else None,
        "cancel_initiated_at": None,
        "archived_at": None,
    }


def _at(seconds: int) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).isoformat()
