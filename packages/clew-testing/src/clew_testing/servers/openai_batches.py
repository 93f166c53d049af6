"""A server on 127.0.0.1 that speaks OpenAI's Batch API, for tests with the real client.

It keeps the published rules (`clew.models.batches.openai` has them): files of purpose `batch`, at
most 50,000 lines of unique ids, one model, one endpoint; results in any order, errors in a file of
their own; what is not done when a batch expires or is canceled says so.
"""

import email.parser
import email.policy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

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
)
from clew_testing.servers.openai_server import Chat
from clew_testing.servers.openai_service import Access, OpenAIService
from clew_testing.servers.responses import Responses

ENDPOINTS: Final = ("/v1/responses", "/v1/chat/completions", "/v1/embeddings", "/v1/completions")
MAX_REQUESTS: Final = 50_000
MAX_BYTES: Final = 200_000_000


class OpenAIBatchServer(HttpServer):
    """The server.

    Args:
        answers: What becomes of each request in a batch.
        key: Ask for this key, and answer 401 without it.
        looks: How often somebody looks at a batch before it has ended.
        faults: What happens to requests of the batch interface itself.
        held: Whether batches end only when they are canceled, until `bench.held` is set to False.
        max_requests: The most lines of a file.
        max_queued: The most requests in batches that have not ended; OpenAI counts tokens.
    """

    def __init__(
        self,
        answers: Answers,
        *,
        key: str = "",
        looks: int = 1,
        faults: Faults = lambda _: None,
        held: bool = False,
        max_requests: int = MAX_REQUESTS,
        max_queued: int | None = None,
    ) -> None:
        self.bench = Bench(answers, looks, faults, held)
        access = Access(key)
        self.service = OpenAIBatchService(self.bench, access, max_requests, max_queued)
        super().__init__(self.service)


@dataclass
class OpenAIBatchService:
    """Files and batches under `/v1`."""

    bench: Bench
    access: Access
    max_requests: int = MAX_REQUESTS
    max_queued: int | None = None
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    """The purpose and the content of each file, by its id."""
    root: str = "/v1"
    stream_type: str = "text/event-stream"

    def error(self, fail: Fail) -> bytes:
        return OpenAIService({}).error(fail)

    def find(self, seen: ReceivedRequest) -> CompletionKind:
        return answered(self.bench, seen, self._handle)

    def _handle(self, seen: ReceivedRequest) -> Send | Fail:
        key = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if self.access.key and key != self.access.key:
            return Fail(401, f"Incorrect API key provided: {key}.", "invalid_api_key")
        match [seen.method, *seen.path.removeprefix("/v1/").split("/")]:
            case ["POST", "files"]:
                return self._upload(seen)
            case ["GET", "files", file, "content"]:
                return self._content(file)
            case ["POST", "batches"]:
                return self._create(seen.body)
            case ["GET", "batches"]:
                limit = int(seen.query.get("limit", "20"))
                listed, more = page(self.bench.batches, seen.query.get("after", ""), limit)
                data = [self._batch(one) for one in listed]
                return as_json({"object": "list", "data": data, "has_more": more})
            case ["GET", "batches", name] if (batch := self.bench.find(name)) is not None:
                if not batch.more.get("errors"):
                    self.bench.look(batch, self._refuse(batch))
                return as_json(self._batch(batch))
            case ["POST", "batches", name, "cancel"] if (
                batch := self.bench.find(name)
            ) is not None:
                batch.ending = batch.ending if batch.ended else "canceled"
                return as_json(self._batch(batch))
            case _:
                return Fail(404, f"No such object: {seen.path}")

    def _upload(self, seen: ReceivedRequest) -> Send | Fail:
        fields = _form(seen)
        name, content = fields.get("file", ("", b""))
        purpose = fields.get("purpose", ("", b""))[1].decode()
        if purpose != "batch":
            return Fail(400, f"'{purpose}' is not one of ['batch']", None, "purpose")
        if not name.endswith(".jsonl"):
            return Fail(400, "Invalid file format for Batch API. Must be .jsonl")
        if len(content) > MAX_BYTES:
            return Fail(400, f"File is larger than {MAX_BYTES} bytes")
        file = self._keep("batch", content)
        told = {"id": file, "object": "file", "bytes": len(content), "created_at": 0}
        return as_json(told | {"filename": name, "purpose": purpose, "status": "processed"})

    def _keep(self, purpose: str, content: bytes) -> str:
        file = f"file-{next(self.bench.ids):04}"
        self.files[file] = purpose, content
        return file

    def _content(self, file: str) -> Send | Fail:
        if file not in self.files:
            return Fail(404, f"No such File object: {file}")
        return Send(self.files[file][1], "application/octet-stream")

    def _create(self, body: Mapping[str, Any]) -> Send | Fail:
        file = body.get("input_file_id")
        if self.files.get(str(file), ("", b""))[0] != "batch":
            return Fail(400, f"Invalid input_file_id: {file}", None, "input_file_id")
        if body.get("endpoint") not in ENDPOINTS:
            return Fail(400, f"Invalid endpoint: {body.get('endpoint')}", None, "endpoint")
        if body.get("completion_window") != "24h":
            return Fail(400, "completion_window must be '24h'", None, "completion_window")
        metadata: dict[str, Any] = body.get("metadata") or {}
        pairs = [(key, value) for key, value in metadata.items() if isinstance(value, str)]
        if len(pairs) > 16 or any(len(key) > 64 or len(value) > 512 for key, value in pairs):
            return Fail(400, "metadata has 16 pairs of short strings", None, "metadata")
        if len(pairs) < len(metadata):
            return Fail(400, "metadata values must be strings", None, "metadata")
        entries, errors = _entries(self.files[str(file)][1], body["endpoint"], self.max_requests)
        queued = sum(len(one.entries) for one in self.bench.batches if not one.ended)
        if self.max_queued is not None and queued + len(entries) > self.max_queued:
            limit = f"Enqueued token limit reached. Limit: {self.max_queued} enqueued tokens."
            errors = [{"code": "token_limit_exceeded", "message": limit, "line": None}]
        made = self.bench.add(entries, "batch", **body, errors=errors)
        made.ended = bool(errors)
        return as_json(self._batch(made))

    def _refuse(self, batch: Batch) -> Any:
        """What the endpoint refuses of a body."""
        kind = Chat(self.access) if "chat" in batch.more["endpoint"] else Responses(self.access)
        headers = {"authorization": f"Bearer {self.access.key}"}

        def refuse(body: Any) -> Any:
            if body.get("stream"):
                return Fail(400, "stream is not supported in a batch", None, "stream")
            return kind.refuse(ReceivedRequest("", headers, body, b""))

        return refuse

    def _batch(self, batch: Batch) -> dict[str, Any]:
        """A batch as it is told; the files of its results are made when it has ended."""
        errors = batch.more["errors"]
        more = {key: it for key, it in batch.more.items() if key not in {"errors", "output"}}
        if batch.ended and not errors and "output" not in batch.more:
            batch.more["output"] = self._results(batch)
        output, refused = batch.more.get("output", (None, None))
        status = {"": "completed", "canceled": "cancelled"}.get(batch.ending, batch.ending)
        done = sum(isinstance(turn, Say) for _, turn in batch.results)
        counts = {"total": len(batch.entries), "completed": done}
        counts["failed"] = len(batch.results) - done
        told = {"id": batch.id, "object": "batch", "created_at": batch.created}
        told |= {"status": "failed" if errors else status if batch.ended else "in_progress"}
        told |= {"errors": {"object": "list", "data": errors} if errors else None}
        told |= {"output_file_id": output, "error_file_id": refused, "request_counts": counts}
        return more | told

    def _results(self, batch: Batch) -> tuple[str | None, str | None]:
        """The files of replies and of errors, None for one that would be empty."""
        lines = [(turn, self._line(batch, entry, turn)) for entry, turn in batch.results]
        replies = [it for turn, it in lines if isinstance(turn, Say)]
        errors = [it for turn, it in lines if not isinstance(turn, Say)]
        return self._lines(replies), self._lines(errors)

    def _lines(self, lines: list[dict[str, Any]]) -> str | None:
        return self._keep("batch_output", as_lines(lines).body) if lines else None

    def _line(self, batch: Batch, entry: Entry, turn: Turn | None) -> dict[str, Any]:
        told = {"id": f"batch_req_{next(self.bench.ids):04}", "custom_id": entry.custom_id}
        if turn is None:
            word = "expired" if batch.ending == "expired" else "cancelled"
            error = {"code": f"batch_{word}", "message": f"This request was not done: {word}."}
            return told | {"response": None, "error": error}
        if isinstance(turn, Say):
            kind = Chat(self.access) if "chat" in batch.more["endpoint"] else Responses(self.access)
            status, body = 200, kind.full_body(turn, ReceivedRequest("", {}, entry.body, b""))
        elif isinstance(turn, Fail):
            status, body = turn.status, self.error(turn)
        else:
            raise TypeError(f"{turn!r} cannot become of a request in a batch")
        response = {"status_code": status, "request_id": "req", "body": json.loads(body)}
        return told | {"response": response, "error": None}


def _form(seen: ReceivedRequest) -> dict[str, tuple[str, bytes]]:
    """The fields of a form: the name of the file, if it is one, and the content."""
    head = f"content-type: {seen.headers.get('content-type', '')}\r\n\r\n".encode()
    parser = email.parser.BytesParser(policy=email.policy.HTTP)
    message = parser.parsebytes(head + seen.raw)
    fields: dict[str, tuple[str, bytes]] = {}
    for part in message.iter_parts() if message.is_multipart() else ():
        name = str(part.get_param("name", header="content-disposition"))
        content = part.get_payload(decode=True)
        fields[name] = part.get_filename() or "", content if isinstance(content, bytes) else b""
    return fields


def _entries(
    content: bytes, endpoint: str, max_requests: int
) -> tuple[list[Entry], list[dict[str, Any]]]:
    """The requests of a file, and what is wrong with it."""
    lines = content.splitlines()
    errors: list[dict[str, Any]] = []
    entries: list[Entry] = []
    for number, line in enumerate(lines, 1):
        try:
            it = json.loads(line)
            entries.append(Entry(it["custom_id"], it["body"]))
            code = next(_wrong(it, endpoint, entries), "")
        except (ValueError, KeyError, TypeError):
            code = "invalid_json_line"
        if code:
            errors.append({"code": code, "message": f"{code} in the file", "line": number})
    if len(lines) > max_requests:
        errors.append({"code": "too_many_tasks", "message": "too many lines", "line": None})
    if not lines:
        errors.append({"code": "empty_file", "message": "The input file is empty", "line": None})
    return entries, errors


def _wrong(line: Mapping[str, Any], endpoint: str, entries: list[Entry]) -> Iterator[str]:
    if line.get("method") != "POST":
        yield "invalid_method"
    if line.get("url") != endpoint:
        yield "mismatched_endpoint"
    if [entry.custom_id for entry in entries].count(line["custom_id"]) > 1:
        yield "duplicate_custom_id"
    if not isinstance(line["custom_id"], str) or not 0 < len(line["custom_id"]) <= 64:
        yield "invalid_custom_id"
    if line["body"].get("model") != entries[0].body.get("model"):
        yield "mismatched_model"
