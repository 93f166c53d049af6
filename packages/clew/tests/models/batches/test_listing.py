"""What a person sees of batches that are out, and how one is given up."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from msgspec.structs import replace

from clew import ConfigError, MemoryStore, ModelError, batch, resume, run
from clew.interfaces import Store
from clew.models import resolve
from clew.models.batches import BatchInfo, forget_batch, open_batches
from clew_testing.servers import Drop, Fail, ReceivedRequest, Say, Turn
from tests.models.batches.bench import NAMES, SERVICES, Place, Service, serving
from tests.patience import PATIENCE

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])
EACH = pytest.mark.parametrize("service", SERVICES)


async def begun(
    place: Place,
    store: Store,
    status: str = "out",
    is_reached: Callable[[], bool] = lambda: True,
    **more: Any,
) -> BatchInfo:
    """Begin a run, and leave it once its batch is so, and the server as far; as Ctrl-C does."""
    async with anyio.create_task_group() as group:
        group.start_soon(asked, place.agent(**more), store)
        with anyio.fail_after(PATIENCE):
            while [it.status for it in open_batches(place.ledger)] != [status] or not is_reached():
                await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    return open_batches(place.ledger)[0]


async def asked(agent: Any, store: Store) -> list[Any]:
    return await batch(agent, ["shop 0"], name="b", store=store)


def fine(_: object) -> Turn:
    return Say("Fine.")


def refusing(path: str, turn: Turn) -> Callable[[ReceivedRequest], Turn | None]:
    """What happens to all that is sent to such a path."""
    return lambda seen: turn if seen.method == "POST" and seen.path.endswith(path) else None


@on_asyncio
@EACH
async def test_a_batch_that_is_out_is_listed_until_it_has_ended(
    service: Service, tmp_path: Path
) -> None:
    async with serving(service, tmp_path, fine, held=True) as place:
        assert open_batches(place.ledger) == []
        assert not place.ledger.exists()
        info = await begun(place, store := MemoryStore())
        assert info.id == place.bench.batches[0].id
        assert (info.model, info.requests, info.done) == (f"batch:{NAMES[service]}", 1, 0)
        assert "key" not in repr(info)
        place.bench.held = False
        assert [it.status for it in await asked(place.agent(), store)] == ["answered"]
        assert open_batches(place.ledger) == []
        assert place.sizes == [1]


@on_asyncio
@EACH
async def test_it_is_canceled_by_its_id_and_its_run_asks_anew(
    service: Service, tmp_path: Path
) -> None:
    async with serving(service, tmp_path, fine, held=True) as place:
        info = await begun(place, store := MemoryStore())
        await place.model().cancel(info.id[:-1])
        assert open_batches(place.ledger) == [replace(info, status="canceled")]
        (told,) = await asked(place.agent(), store)
        assert "was canceled: resume the run to ask again" in told.reason
        place.bench.held = False
        assert [it.status for it in await asked(place.agent(), store)] == ["answered"]
        assert place.sizes == [1, 1]
        assert len(place.bench.paid) == 1


@on_asyncio
@EACH
async def test_with_another_key_nothing_is_asked_of_it_nor_asked_anew(
    service: Service, tmp_path: Path
) -> None:
    async with serving(service, tmp_path, fine, held=True) as place:
        info = await begun(place, store := MemoryStore())
        seen = len(place.bench.seen)
        (told,) = await asked(place.agent(api_key="other"), store)
        why = f"batch {info.id} was handed in with another key (account {info.account})"
        assert why in told.reason
        with pytest.raises(
            ModelError, match="set that one, or give it up: clew records batches --forget"
        ):
            await place.model(api_key="other").cancel(info.id)
        assert len(place.bench.seen) == seen
        place.bench.held = False
        assert [it.status for it in await asked(place.agent(), store)] == ["answered"]
        assert place.sizes == [1]


def of_version_1(ledger: Path, *, sending: bool) -> Path:
    """A copy as that wrote it, without an account; maybe with a batch whose end nobody heard."""
    copy = ledger.with_name("older.sqlite")
    with closing(sqlite3.connect(ledger)) as file:
        file.execute("VACUUM INTO ?", (str(copy),))
    with closing(sqlite3.connect(copy)) as file, file:
        file.execute("DROP TABLE canceled")
        file.execute("ALTER TABLE batches DROP COLUMN account")
        if sending:
            file.execute("UPDATE batches SET remote = ''")
        file.execute("PRAGMA user_version = 1")
    return copy


@on_asyncio
@EACH
async def test_a_ledger_of_version_1_is_gone_on_with(service: Service, tmp_path: Path) -> None:
    async with serving(service, tmp_path, fine, held=True) as place:
        info = await begun(place, store := MemoryStore())
        copy = of_version_1(place.ledger, sending=False)
        assert open_batches(copy) == [replace(info, account="")]
        place.bench.held = False
        assert [it.status for it in await asked(place.agent(ledger=copy), store)] == ["answered"]
        assert place.sizes == [1]
        assert open_batches(copy) == []


@on_asyncio
async def test_of_version_1_what_was_perhaps_handed_in_is_not_paid_again(tmp_path: Path) -> None:
    """Nothing says with which key to look for it."""
    async with serving("openai", tmp_path, fine, held=True) as place:
        await begun(place, store := MemoryStore())
        copy = of_version_1(place.ledger, sending=True)
        (info,) = open_batches(copy)
        place.bench.held = False
        (told,) = await asked(place.agent(ledger=copy), store)
        assert f"give it up: clew records batches --forget {info.id}" in told.reason
        assert place.sizes == [1]
        await forget_batch(info.id, copy)
        assert [it.status for it in await asked(place.agent(ledger=copy), store)] == ["answered"]
        assert place.sizes == [1, 1]


@on_asyncio
async def test_a_reply_that_is_here_is_told_whatever_the_key(tmp_path: Path) -> None:
    async with serving("openai", tmp_path, fine, held=True) as place:
        store, agent = MemoryStore(), place.agent(requests=2, gather=60.0)
        async with anyio.create_task_group() as group:
            for name in ("one", "two"):
                group.start_soon(partial(run, agent, name, store=store, run_id=name))
            with anyio.fail_after(PATIENCE):
                while [it.status for it in open_batches(place.ledger)] != ["out"]:
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        place.bench.held = False
        await resume(place.agent(), "one", store=store)
        seen = len(place.bench.seen)
        result = await resume(place.agent(api_key="other"), "two", store=store)
        assert (result.answer, len(place.bench.seen)) == ("Fine.", seen)


@on_asyncio
async def test_a_forgotten_batch_is_asked_anew(tmp_path: Path) -> None:
    async with serving("openai", tmp_path, fine, held=True) as place:
        info = await begun(place, store := MemoryStore())
        await forget_batch(info.id, place.ledger)
        place.bench.held = False
        assert [it.status for it in await asked(place.agent(), store)] == ["answered"]
        assert place.sizes == [1, 1]


@on_asyncio
async def test_one_that_is_not_handed_in_yet_is_taken_back(tmp_path: Path) -> None:
    faults = refusing("files", Fail(503))
    async with serving("openai", tmp_path, fine, faults=faults) as place:
        info = await begun(place, MemoryStore(), "preparing", poll=60.0)
        await place.model().cancel(info.id)
        assert open_batches(place.ledger) == []
        assert place.sizes == []


@on_asyncio
@EACH
@pytest.mark.parametrize("fault", [Drop(), Fail(503)], ids=["taken", "not taken"])
async def test_one_that_was_perhaps_handed_in_is_looked_up(
    service: Service, fault: Turn, tmp_path: Path
) -> None:
    faults, met = refusing("batches", fault), list[Turn]()

    def met_by(seen: ReceivedRequest) -> Turn | None:
        if (turn := faults(seen)) is not None:
            met.append(turn)
        return turn

    async with serving(service, tmp_path, fine, faults=met_by, held=True) as place:
        # the ledger says so before anything is sent: what the server took is waited for
        reached = (lambda: bool(place.sizes)) if isinstance(fault, Drop) else (lambda: bool(met))
        info = await begun(place, MemoryStore(), "unsure", reached, poll=60.0)
        place.bench.faults = lambda _: None
        if service == "anthropic" and place.sizes:  # which shows what it has when it has ended
            with pytest.raises(ModelError, match=r"not known yet whether .* was handed in: try"):
                await place.model().cancel(info.id)
            return
        await place.model().cancel(info.id)
        assert [it.ending for it in place.bench.batches] == ["canceled"] * len(place.sizes)
        assert len(open_batches(place.ledger)) == len(place.sizes)


@on_asyncio
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (
            Fail(404, "no such batch"),
            "is not at http.* any more: clew records batches --forget batch_0",
        ),
        (Fail(409, "it has ended"), r"failed \(409\): it has ended"),
        (Fail(401), "refused the key"),
        (Drop(), "is not reached .*: try again"),
    ],
)
async def test_a_provider_that_does_not_cancel_says_why(
    fault: Turn, why: str, tmp_path: Path
) -> None:
    async with serving("openai", tmp_path, fine, held=True) as place:
        info = await begun(place, MemoryStore())
        place.bench.faults = refusing("cancel", fault)
        with pytest.raises(ModelError, match=why) as caught:
            await place.model().cancel(info.id)
        assert "\n" not in str(caught.value)
        assert open_batches(place.ledger) == [info]


@on_asyncio
async def test_what_names_no_batch_is_told(tmp_path: Path) -> None:
    async with serving("openai", tmp_path, fine, held=True) as place:
        with pytest.raises(ConfigError, match="no batch x is out: `clew records batches` lists"):
            await forget_batch("x", place.ledger)
        info = await begun(place, MemoryStore())
        place.bench.held = False
        for name in ("x", "", f"{info.id}0"):
            with pytest.raises(
                ConfigError, match="is out: `clew records batches` lists those that are"
            ):
                await forget_batch(name, place.ledger)
        with pytest.raises(ConfigError, match=r"is one of batch:openai:gpt-4\.1-mini at http"):
            await place.model(model="openai:gpt-4.1").cancel(info.id)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("opnai:gpt-4.1-mini", "did you mean batch:openai:gpt-4.1-mini?"),
        ("antropic:claude-sonnet-4-5", "did you mean batch:anthropic:claude-sonnet-4-5?"),
        ("openai/gpt-4.1-mini", "did you mean batch:openai:gpt-4.1-mini?"),
        ("gpt-4.1-mini", "did you mean batch:openai:gpt-4.1-mini?"),
        ("openai", "'batch:openai' names no model: write batch:openai:MODEL"),
        ("", "'batch:' names no model: write batch:openai:MODEL"),
        ("mistral:m", "clew knows the batch interfaces of openai, openai-responses, anthropic"),
        ("offline", "leave batch: out"),
        ("nobody:m", "leave batch: out"),
    ],
)
def test_a_wrong_name_gets_its_hint_before_a_key_is_asked_for(name: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve(f"batch:{name}", env={})
    assert why in str(caught.value)
    assert f"batch:{name}" in str(caught.value)
