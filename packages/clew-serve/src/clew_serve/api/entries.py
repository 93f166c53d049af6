"""The entries of a run: a page of them, and all as a file."""

import re
from collections.abc import AsyncGenerator
from typing import Annotated, Any, Final

import msgspec
from starlette.responses import StreamingResponse

from clew.retention import trace
from clew.stores.listing import entries_after
from clew_serve.api.access_to_runs import info_of, record_of
from clew_serve.endpoints import Inquiry, Position

MAX_PAGE: Final = 1_000
LINES: Final = "application/jsonl"


class EntryQuery(msgspec.Struct, forbid_unknown_fields=True):
    """A page of entries: those behind number `after`."""

    after: Position = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_PAGE)] = 200


class EntryPage(msgspec.Struct):
    """Entries in order, as `Entry.to_json` has them; `last` is the number of the run's last one."""

    entries: list[dict[str, Any]]
    last: int


async def get(inquiry: Inquiry) -> EntryPage:
    """A page of the entries of a run."""
    query: EntryQuery = inquiry.query
    info = await info_of(inquiry)
    store = inquiry.service.store
    entries = await entries_after(store, info.run_id, query.after, query.limit)
    return EntryPage([entry.to_json() for entry in entries], info.entries)


async def export(inquiry: Inquiry) -> StreamingResponse:
    """The run as a trace: lines of JSON, from which `clew.retention.read_trace` reads it again."""
    record = await record_of(inquiry)

    async def lines() -> AsyncGenerator[bytes]:
        for line in trace(record):
            yield msgspec.json.encode(line) + b"\n"

    name = re.sub(r"[^\w.-]", "_", record.run_id, flags=re.ASCII)
    headers = {"content-disposition": f'attachment; filename="{name}.jsonl"'}
    return StreamingResponse(lines(), media_type=LINES, headers=headers)
