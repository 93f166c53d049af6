"""The batch interfaces of the providers, the ledger, and what seldom becomes of a batch."""

import sqlite3
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from clew import ConfigError, MemoryStore, ModelError, batch
from clew.core.tools import Retry
from clew.models import resolve
from clew.models.batches.anthropic import AnthropicBatches
from clew.models.batches.http import BatchHttp
from clew.models.batches.interface import Handed, Outcome
from clew.models.batches.ledger import Ledger, Wanted, ledger_at
from clew.models.batches.openai import OpenAIBatches
from clew.models.batches.transport import BatchTransport
from clew_testing.servers import Drop, Fail, ReceivedRequest, Say, Turn
from clew_testing.servers.batch_bench import Entry
from tests.models.batches.bench import SERVICES, Place, Service, serving

EACH = pytest.mark.parametrize("service", SERVICES)
on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])

LIST = "/v1/messages/batches?limit=100"
OLD, NEW = "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z"
SINCE = 1_801_440_000.0
"""Unix time of `NEW`."""


class Canned:
    """A client to which every path has one body."""

    def __init__(self, bodies: Mapping[str, bytes]) -> None:
        self.bodies = bodies
        self.sent: list[str] = []

    async def send(self, path: str, content: bytes) -> bytes:
        self.sent.append(path)
        return content

    async def get(self, path: str) -> httpx2.Response:
        self.sent.append(path)
        return httpx2.Response(200, content=self.bodies[path])

    async def upload(
        self, path: str, fields: Mapping[str, str], name: str, content: bytes
    ) -> httpx2.Response:
        raise NotImplementedError(path, fields, name, content)


def listed(name: str, total: int = 1, status: str = "ended", at: str = NEW) -> str:
    counts = f'"request_counts": {{"processing": {total}}}'
    return f'{{"id": "{name}", "processing_status": "{status}", "created_at": "{at}", {counts}}}'


def page(*batches: str, more: bool = False) -> bytes:
    return f'{{"data": [{", ".join(batches)}], "has_more": {str(more).lower()}}}'.encode()


def results(name: str, mark: str = "") -> dict[str, bytes]:
    line = f'{{"custom_id": "{mark}-1", "result": {{"type": "errored"}}}}'
    return {f"/v1/messages/batches/{name}/results": line.encode() if mark else b""}


@on_asyncio
@pytest.mark.parametrize(
    ("bodies", "found"),
    [
        ({LIST: page(listed("a"))} | results("a", "mark"), "a"),
        ({LIST: page()}, ""),
        ({LIST: page(listed("known"))}, ""),
        ({LIST: page(listed("a", total=2))}, ""),
        ({LIST: page(listed("a"))} | results("a", "other"), ""),
        ({LIST: page(listed("a"))} | results("a"), ""),
        ({LIST: page(listed("a", status="in_progress"))}, None),
        ({LIST: page(listed("a", at=OLD), more=True)}, ""),
        (
            {LIST: page(listed("known"), more=True), f"{LIST}&after_id=known": page(listed("b"))}
            | results("b", "mark"),
            "b",
        ),
    ],
    ids=["its ids", "none", "known", "size", "another's", "empty", "goes on", "old", "next page"],
)
async def test_a_batch_of_anthropic_is_known_by_its_ids(
    bodies: dict[str, bytes], found: str | None
) -> None:
    handed = Handed("mark", SINCE, 1, frozenset({"known"}))
    assert await AnthropicBatches(BatchHttp(Canned(bodies))).find(handed) == found


@on_asyncio
@pytest.mark.parametrize(
    ("bodies", "found"),
    [
        ({"/batches?limit=100": b'{"data": [{"id": "a", "metadata": {"clew": "mark"}}]}'}, "a"),
        ({"/batches?limit=100": b'{"data": [{"id": "a"}, {"id": "b"}]}'}, ""),
        ({"/batches?limit=100": b'{"data": [{"id": "a"}], "has_more": true}'}, ""),
        (
            {
                "/batches?limit=100": (
                    b'{"data": [{"id": "a", "created_at": 1801440000}], "has_more": true}'
                ),
                "/batches?limit=100&after=a": (
                    b'{"data": [{"id": "b", "metadata": {"clew": "mark"}}]}'
                ),
            },
            "b",
        ),
    ],
    ids=["its mark", "none", "old", "next page"],
)
async def test_a_batch_of_openai_is_known_by_its_mark(bodies: dict[str, bytes], found: str) -> None:
    api = OpenAIBatches(BatchHttp(Canned(bodies)), "/chat/completions")
    assert await api.find(Handed("mark", SINCE, 1)) == found


@on_asyncio
@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        (
            '{"custom_id": "m-1", "error": {"code": "odd", "message": "no"}}',
            Outcome("m-1", "refused", 500, b'{"error":{"code":"odd","message":"no"}}'),
        ),
        ('{"custom_id": "m-1", "error": {"code": "batch_expired"}}', Outcome("m-1", "expired")),
        ('{"custom_id": "m-1", "error": {"code": "batch_cancelled"}}', Outcome("m-1", "canceled")),
        (
            '{"custom_id": "m-1", "response": {"status_code": 200, "body": {}}}',
            Outcome("m-1", "answered", 200, b"{}"),
        ),
        (
            '{"custom_id": "m-1", "response": {"status_code": 400, "body": {}}}',
            Outcome("m-1", "refused", 400, b"{}"),
        ),
    ],
)
async def test_a_line_of_openai_says_what_became_of_a_request(line: str, outcome: Outcome) -> None:
    about = b'{"id": "b", "status": "completed", "output_file_id": "f"}'
    client = Canned({"/batches/b": about, "/files/f/content": f"\n{line}\n".encode()})
    api = OpenAIBatches(BatchHttp(client), "/chat/completions")
    assert [it async for it in api.outcomes("b")] == [outcome]


@on_asyncio
async def test_a_batch_is_canceled_at_its_address() -> None:
    client = Canned({})
    await AnthropicBatches(BatchHttp(client)).cancel("a")
    await OpenAIBatches(BatchHttp(client), "/responses").cancel("b")
    assert client.sent == ["/v1/messages/batches/a/cancel", "/batches/b/cancel"]


@on_asyncio
async def test_a_line_of_results_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    http = BatchHttp(Canned({"/f": b"one\n\ntwo"}))
    assert [line async for line in http.lines("/f")] == [b"one", b"two"]
    monkeypatch.setattr("clew.models.batches.http.LINE_BYTES", 2)
    with pytest.raises(httpx2.ReadError, match="longer than any may be"):
        assert [line async for line in http.lines("/f")]


@on_asyncio
async def test_batches_are_not_streamed() -> None:
    unused: Any = None
    with pytest.raises(NotImplementedError):
        await BatchTransport(unused, unused, unused).stream("/path", b"")


def test_a_ledger_opened_again_has_what_was_written(tmp_path: Path) -> None:
    first = Ledger(tmp_path / "b.sqlite")
    row, (one, two) = first.begin("scope", "key", "model", [Wanted("run", "a"), Wanted("run", "b")])
    first.sent(row.id, "remote")
    first.store([(one, Outcome("x", "answered", 200, b"reply"))])
    first.close()
    again = Ledger(tmp_path / "b.sqlite")
    assert [(it.remote, it.total) for it in again.batches()] == [("remote", 2)]
    assert again.outcome(one) == Outcome(str(one), "answered", 200, b"reply")
    assert again.outcome(two) is None
    assert again.outcome(99) is None
    again.forget(row.id)
    assert again.batches() == []
    with pytest.raises(ModelError, match=f"has batch {row.id} no more: resume the run"):
        again.batch(row.id)
    again.close()


def test_of_equal_requests_the_one_that_is_out_is_told_first(tmp_path: Path) -> None:
    """One was written down as its run was cancelled, and another went out: that is paid."""
    ledger = Ledger(tmp_path / "l.sqlite")
    wanted = [Wanted("r", "d")]
    _, (left,) = ledger.begin("s", "a", "m", wanted)
    row, (paid,) = ledger.begin("s", "a", "m", wanted)
    ledger.sending(row.id)
    assert [it.id for it in ledger.requests("s", "r", "d")] == [paid, left]
    ledger.sent(row.id, "batch_1")
    assert [it.id for it in ledger.requests("s", "r", "d")] == [paid, left]
    ledger.close()


def test_a_ledger_of_a_newer_clew_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "b.sqlite"
    db = sqlite3.connect(path)
    db.execute("pragma user_version=9")
    db.close()
    with pytest.raises(ConfigError, match=r"b\.sqlite is of a newer clew: update clew, or"):
        Ledger(path)


@pytest.mark.parametrize(
    "use", [lambda it: it.batches(), lambda it: it.spend(1)], ids=["read", "write"]
)
def test_a_ledger_that_fails_says_so(use: Callable[[Ledger], object], tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "b.sqlite")
    ledger.close()
    with pytest.raises(ModelError, match=r"b\.sqlite failed \(.*closed.*\): resume the run"):
        use(ledger)


def test_batches_without_their_extra_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "clew.models.batches", raising=False)
    monkeypatch.setitem(sys.modules, "clew.models.batches.model", None)
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with pytest.raises(ConfigError, match=r"batch:openai:m: .* is missing: run pip install"):
        resolve("batch:openai:m")


async def why(place: Place, **more: Any) -> str:
    """Why the one run failed."""
    (result,) = await batch(place.agent(**more), ["shop 0"], store=MemoryStore())
    assert result.status == "failed"
    return result.reason


@on_asyncio
@EACH
async def test_a_request_that_fits_in_no_batch_is_refused(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for api in (AnthropicBatches, OpenAIBatches):
        monkeypatch.setattr(api, "max_bytes", 10)
    async with serving(service, tmp_path) as place:
        assert "a batch takes 10 bytes" in await why(place)
        assert place.sizes == []


@on_asyncio
@EACH
async def test_a_batch_that_the_provider_does_not_know_fails_its_runs(
    service: Service, tmp_path: Path
) -> None:
    def gone(seen: ReceivedRequest) -> Turn | None:
        return Fail(404, "no such batch") if seen.method == "GET" else None

    async with serving(service, tmp_path, faults=gone) as place:
        assert "no such batch" in await why(place)


@on_asyncio
@EACH
async def test_a_look_that_is_lost_is_taken_again(service: Service, tmp_path: Path) -> None:
    faults = iter([Drop()])

    def lost(seen: ReceivedRequest) -> Turn | None:
        return next(faults, None) if seen.method == "GET" else None

    async with serving(service, tmp_path, lambda _: Say("Fine."), faults=lost) as place:
        (result,) = await batch(place.agent(), ["shop 0"], store=MemoryStore())
        assert place.sizes == [1]
    assert result.answer == "Fine."


@on_asyncio
@EACH
@pytest.mark.parametrize("heard", [True, False])
async def test_a_batch_that_the_ledger_has_no_more_fails_its_runs(
    service: Service, heard: bool, tmp_path: Path
) -> None:
    """Somebody cleared the ledger, of a batch that goes on or of one that is looked for."""
    async with serving(service, tmp_path, held=True) as place:

        def clear(seen: ReceivedRequest) -> Turn | None:
            if seen.method == "POST" and seen.path.endswith("batches") and not heard:
                return Fail(503)
            if seen.method == "GET" and len(place.bench.seen) > 4:
                ledger_at(place.ledger).forget(1)
            return None

        place.bench.faults = clear
        assert "has batch 1 no more: resume the run" in await why(place, settle=60.0)


@on_asyncio
@EACH
async def test_a_batch_that_leaves_a_request_out_has_it_asked_again(
    service: Service, tmp_path: Path
) -> None:
    async with serving(service, tmp_path, lambda _: Say("Fine.")) as place:

        def swap(seen: ReceivedRequest) -> None:
            if seen.method == "GET" and len(place.bench.batches) == 1:
                (entry,) = place.bench.batches[0].entries
                place.bench.batches[0].entries[:] = [Entry("another-x", entry.body)]

        place.bench.faults = swap
        agent = place.agent(retries=Retry(times=3, delay=0.01))
        (result,) = await batch(agent, ["shop 0"], store=MemoryStore())
        assert len(place.bench.batches) == 2
    assert result.answer == "Fine."


@on_asyncio
@EACH
async def test_many_outcomes_are_stored_in_parts(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.models.batches.waves.CHUNK", 2)
    async with serving(service, tmp_path, lambda _: Say("Fine.")) as place:
        goals = [f"shop {n}" for n in range(5)]
        results = await batch(
            place.agent(requests=5, gather=60.0), goals, at_once=5, store=MemoryStore()
        )
        assert place.sizes == [5]
    assert [it.answer for it in results] == ["Fine."] * 5
