"""A store in a real PostgreSQL: the contract, its versions, and what is said when it goes wrong."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, LiteralString
from urllib.parse import urlsplit

import anyio
import psycopg
import pytest

from clew import Agent, fork, list_runs, run
from clew.core.stores import Append, Line, Store
from clew.stores import open_store, store_at
from clew.stores.listing import Selection
from clew.support.errors import StoreBusyError, StoreError, StoreUnreachableError
from clew.testing import ScriptedModel, finish
from clew_cluster.postgres.connection import SESSION
from clew_cluster.postgres.listing import BEGIN, CHOSEN, END, LAST, PAGE, SELECTED
from clew_cluster.postgres.schema import STEPS, bring_up
from clew_cluster.postgres.store import PostgresStore
from clew_testing.store_claims import CLAIMS, a_killed_process_loses_its_claims
from clew_testing.store_contract import CONTRACT, Check, append, blob, numbers, refused
from clew_testing.store_prunes import AT_ONCE
from tests.patience import PATIENCE
from tests.postgres import Server
from tests.stores.notices import notices_are_kept_for_every_instance_and_go_with_the_run

pytestmark = pytest.mark.slow

_SCHEMAS = count(1)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """Psycopg runs on no other."""
    return "asyncio"


@pytest.fixture
def address(postgres_server: Server) -> str:
    """A schema of its own, which takes less time than a database."""
    return f"{postgres_server.address()}?schema=test_{next(_SCHEMAS)}"


@asynccontextmanager
async def stores(address: str, number: int = 1) -> AsyncIterator[list[PostgresStore]]:
    opened = [PostgresStore(address) for _ in range(number)]
    try:
        yield opened
    finally:
        for store in opened:
            await store.close()


def user(address: str, name: str, password: str) -> str:
    place = urlsplit(address).netloc.rpartition("@")[2]
    return urlsplit(address)._replace(netloc=f"{name}:{password}@{place}").geturl()


@pytest.mark.parametrize("check", [*CONTRACT, *AT_ONCE, *CLAIMS], ids=lambda check: check.__name__)
async def test_contract(check: Check, address: str) -> None:
    async def make() -> Store:
        return open_store(address)

    await check(make)


async def test_notices_are_remembered(address: str) -> None:
    async def make() -> Store:
        return open_store(address)

    await notices_are_kept_for_every_instance_and_go_with_the_run(make)


async def test_claims_end_with_their_process(address: str) -> None:
    await a_killed_process_loses_its_claims(address)


async def test_a_claim_that_asyncio_cancels_anywhere_is_nobody_s(address: str) -> None:
    """Else it stays with its connection, and no store knows of it: the run would be stuck."""
    async with stores(address, 2) as (store, other):
        assert await store.claim("kept")
        for turns in range(8):
            name = f"run {turns}"
            for work in (store.claim(name), store.release(name)):
                task = asyncio.create_task(work)
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
                if not task.cancelled():
                    assert task.result() is not False
            await store.release(name)
            assert await other.claim(name), f"after {turns} turns of the loop"
        assert not await other.claim("kept")


async def test_claims_that_are_asked_for_at_once_are_had_once_each(address: str) -> None:
    async with stores(address, 2) as (one, other):
        names = [f"run {number % 50}" for number in range(100)]
        taken = await asyncio.gather(
            *(store.claim(name) for name in names for store in (one, other))
        )
        assert sum(taken) == 50
        await asyncio.gather(*(store.release(name) for name in names for store in (one, other)))
        steps = (one.claim("r"), one.release("r"), one.claim("r"), one.claim("r"))
        said: list[bool | None] = list(await asyncio.gather(*steps))
        assert said == [True, None, True, False]
        assert all(await asyncio.gather(*map(other.claim, set(names))))


async def test_a_store_that_is_closed_while_a_claim_is_asked_for_lets_go_of_it(
    address: str,
) -> None:
    async with stores(address, 2) as (one, other):
        assert await one.claim("kept")
        asking = asyncio.create_task(one.claim("r"))
        await asyncio.sleep(0)
        await one.close()
        assert await asking
        with anyio.fail_after(PATIENCE):
            while not (await other.claim("r") and await other.claim("kept")):
                await other.release("r")


async def test_a_loop_that_ends_while_a_claim_is_asked_for_leaves_nobody_waiting(
    address: str,
) -> None:
    async def main() -> None:
        async with stores(address) as (store,):
            for turns in (2, 4):
                claims = [asyncio.create_task(store.claim("r")) for _ in range(2)]
                for _ in range(turns):
                    await asyncio.sleep(0)
                for task in asyncio.all_tasks() - {asyncio.current_task(), *claims}:
                    task.cancel()
                await asyncio.wait(claims)
                assert claims[1].cancelled()

    await anyio.to_thread.run_sync(lambda: asyncio.run(main()))


async def test_a_store_that_a_cancel_leaves_lets_go_of_all_it_has(address: str) -> None:
    with anyio.CancelScope() as scope:
        async with store_at(address) as store:
            assert isinstance(store, PostgresStore)
            assert await store.claim("r")
            scope.cancel()
            await anyio.sleep_forever()
    async with stores(address) as (other,):
        assert await other.claim("r")


async def test_a_store_that_ships_is_taken_as_it_is(address: str) -> None:
    async with stores(address) as (store,), store_at(store) as taken:
        assert taken is store


async def test_a_run_that_has_ids_of_all_kinds_and_none_that_cannot_be(address: str) -> None:
    async with stores(address) as (store,):
        await refused(store.create("half \ud800"), "an id with half a character")
        await refused(store.create("a\0b"), "an id with a zero byte")
        await refused(
            store.append(Append("half \ud800", 1, (Line(1, 1, 1, b"{}", b"#"),))),
            "an append with half a character",
        )
        epoch = await store.create("r")
        far = Line(1, 1 << 80, epoch, b"{}", b"#")
        await refused(store.append(Append("r", epoch, (far,))), "a time that no clock shows")
        await store.append(append("r", epoch, 1))
        assert await numbers(store, "r") == [1]


async def test_one_bad_append_does_not_fail_its_neighbours(address: str) -> None:
    async with stores(address) as (store,):
        for run_id in "abc":
            await store.create(run_id)
        results = await asyncio.gather(
            store.append(append("a", 1, 1)),
            store.append(append("b", 1, 1, blobs={"x\0": b"a digest that cannot be"})),
            store.append(Append("half \ud800", 1, (Line(1, 1, 1, b"{}", b"#"),))),
            store.append(append("c", 1, 1)),
            store.append(append("c", 1, 2)),
            return_exceptions=True,
        )
        assert [type(one) for one in results] == [bool, StoreError, StoreError, bool, bool]
        assert [await numbers(store, run_id) for run_id in "abc"] == [[1], [], [1, 2]]


async def test_what_is_ready_together_is_one_commit(address: str, postgres_server: Server) -> None:
    async with stores(address) as (store,):
        ids = [f"r{number}" for number in range(40)]
        for run_id in ids:
            await store.create(run_id)
        await asyncio.gather(*(store.append(append(run_id, 1, 1)) for run_id in ids))
        table = f"{store.database.schema}.entries"
        query = f"SELECT count(*), count(DISTINCT xmin::text) FROM {table}"
        ((lines, commits),) = postgres_server.execute(query)
        assert (lines, commits) == (40, 1)


async def test_a_run_of_many_lines_and_a_group_of_many_bytes(address: str) -> None:
    async with stores(address) as (store,):
        await store.create("long")
        await store.append(append("long", 1, *range(1, 2_001)))
        assert len(await store.read("long", 500)) == 1_500
        large = {digest: body for body, digest in (blob(f"{n}" * (9 << 20)) for n in range(3))}
        for run_id in "abc":
            await store.create(run_id)
        await asyncio.gather(*(
            store.append(append(run_id, 1, 1, blobs=dict([one])))
            for run_id, one in zip("abc", large.items(), strict=True)
        ))  # fmt: skip
        for digest, body in large.items():
            assert await store.blob(digest) == body


async def test_wakes_tell_of_lines_and_messages_whoever_wrote_them(
    address: str, postgres_server: Server
) -> None:
    async with stores(address, 2) as (writer, looker):
        await writer.create("before")
        await writer.append(append("before", 1, 1))
        ids = ["r", "ラン", "x" * 9_000, *(f"{'i' * 60}{n}" for n in range(300))]
        for run_id in ids:
            await writer.create(run_id)
        async with looker.wakes() as wakes:
            with anyio.fail_after(PATIENCE):
                postgres_server.execute(f"NOTIFY {looker.database.schema}, 'not of ours'")
                await writer.post("x" * 9_000, b"{}")
                await writer.post("before", b"{}")
                assert await anext(wakes) == "before"
                await asyncio.gather(*(writer.append(append(one, 1, 1)) for one in ids))
                heard = {await anext(wakes) for _ in range(len(ids) - 1)}
        assert heard == set(ids) - {"x" * 9_000}, "all but an id too long for a notification"


async def test_wakes_go_on_after_the_connection_was_lost(
    address: str, postgres_server: Server
) -> None:
    async with stores(address, 2) as (writer, looker):
        await writer.create("r")
        async with looker.wakes() as wakes:
            async with anyio.create_task_group() as group:
                heard = anyio.Event()

                async def listen() -> None:
                    async for _ in wakes:
                        heard.set()

                group.start_soon(listen)
                assert end_sessions(postgres_server, "LISTEN%") == 1
                with anyio.fail_after(PATIENCE):
                    for seq in count(1):
                        await writer.append(append("r", 1, seq))
                        with anyio.move_on_after(0.05):
                            await heard.wait()
                        if heard.is_set():
                            break
                group.cancel_scope.cancel()


def end_sessions(server: Server, query: str) -> int:
    """End the sessions whose last statement was like this; how many there were."""
    ended = server.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'clew'"
        f" AND pid <> pg_backend_pid() AND query LIKE '{query}'"
    )
    return len(ended)


async def test_claims_are_taken_again_when_their_connection_is_lost(
    address: str, postgres_server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async with stores(address, 2) as (one, other):
        assert await one.claim("r")
        assert end_sessions(postgres_server, "%pg_try_advisory_lock%") == 1
        assert await one.claim("s"), "this finds the connection lost, and makes a new one"
        assert not await other.claim("r"), "taken again"
        assert not await one.claim("r")
        with anyio.fail_after(PATIENCE):
            while not await other.claim("r"):  # until it is faster than the first one
                end_sessions(postgres_server, "%pg_try_advisory_lock%")
        end_sessions(postgres_server, "SELECT true%")
        assert await one.claim("t")
        assert "the claim of r was lost: another worker has it now" in caplog.text
        await one.release("r")
        assert not await one.claim("r"), "it is the other's"
        await other.release("r")
        assert await one.claim("r")


async def test_a_server_that_is_full_of_locks_says_so(
    address: str, postgres_server: Server
) -> None:
    async with stores(address) as (one,):
        assert await one.claim("first")
        with psycopg.connect(postgres_server.address(), autocommit=True) as hoarder:
            with pytest.raises(psycopg.errors.OutOfMemory):
                hoarder.execute("SELECT pg_advisory_lock(n) FROM generate_series(1, 1000000) n")

            async def claim_all() -> None:
                for number in count():
                    await one.claim(f"{number}")

            with pytest.raises(StoreError, match="max_locks_per_transaction"):
                await claim_all()
            names = [f"together {number}" for number in range(3)]
            left = asyncio.create_task(one.claim("left"))
            letting_go = asyncio.create_task(one.release("first"))
            asking = [asyncio.create_task(one.claim(name)) for name in names]
            for _ in range(3):
                await asyncio.sleep(0)
            left.cancel()
            told = await asyncio.gather(*asking, return_exceptions=True)
            await letting_go
            assert {type(answer) for answer in told} <= {StoreError, bool}
            hoarder.execute("SELECT pg_advisory_unlock_all()")
        assert await one.claim("again")
        async with stores(address) as (other,):
            for name, answer in zip(names, told, strict=True):
                assert await other.claim(name) is isinstance(answer, StoreError)


async def test_readers_that_lose_their_connections_get_new_ones(
    address: str, postgres_server: Server
) -> None:
    async with stores(address) as (store,):
        await store.create("r")
        table = f"{store.database.schema}.entries"
        with psycopg.connect(postgres_server.address()) as locker:
            locker.execute(f"LOCK TABLE {table}".encode())
            async with anyio.create_task_group() as group:
                for _ in range(7):  # more than there are connections
                    group.start_soon(store.read, "r")
                waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
                with anyio.fail_after(PATIENCE):
                    while postgres_server.execute(waiting) != [(4,)]:
                        await anyio.sleep(0.005)
                assert end_sessions(postgres_server, "%WITH RECURSIVE part%") == 4
                await anyio.sleep(0)
                locker.rollback()
        end_sessions(postgres_server, "%")
        await store.append(append("r", 1, 1))


async def test_readers_that_wait_too_long_say_so(address: str, postgres_server: Server) -> None:
    async with stores(f"{address}&patience=2") as (store,):
        await store.create("r")
        with psycopg.connect(postgres_server.address()) as locker:
            locker.execute(f"LOCK TABLE {store.database.schema}.entries".encode())
            told = await asyncio.gather(
                *(store.read("r") for _ in range(7)), return_exceptions=True
            )
            assert {type(one) for one in told} == {StoreBusyError, StoreUnreachableError}
        assert await store.read("r") == []


async def test_a_loop_that_ends_in_the_middle_leaves_nobody_waiting(address: str) -> None:
    async with stores(address) as (own,):
        await own.create("r")

        async def main() -> list[object]:
            async with stores(address) as (store,):
                works = [asyncio.create_task(store.append(append("r", 1, n))) for n in (1, 2)]
                for _ in range(4):
                    await asyncio.sleep(0)
                for task in asyncio.all_tasks() - {asyncio.current_task(), *works}:
                    task.cancel()
                return list(await asyncio.gather(*works, return_exceptions=True))

        told = await anyio.to_thread.run_sync(lambda: asyncio.run(main()))
        assert [type(one) for one in told] == [StoreError, StoreError]
        assert all("may or may not have been made" in str(one) for one in told)
        assert await numbers(own, "r") in ([], [1])


async def test_claims_are_taken_again_without_being_asked(
    address: str, postgres_server: Server
) -> None:
    async with stores(address) as (one,):
        assert await one.claim("r")
        held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        before = postgres_server.execute(held)
        end_sessions(postgres_server, "%pg_try_advisory_lock%")
        with anyio.fail_after(PATIENCE):
            while postgres_server.execute(held) != [(before[0][0] - 1,)]:
                await anyio.sleep(0.005)
            while postgres_server.execute(held) != before:
                await anyio.sleep(0.05)


async def test_a_blob_is_never_forgotten_under_a_run_that_brings_it(address: str) -> None:
    body, digest = blob("shared" * 1_000)
    async with stores(address, 3) as (one, other, third):

        async def come_and_go(store: PostgresStore, name: str) -> None:
            for turn in range(15):
                run_id = f"{name}{turn}"
                await store.create(run_id)
                await store.append(append(run_id, 1, 1, blobs={digest: body}))
                assert await store.blob(digest) == body
                await store.forget(run_id)

        with anyio.fail_after(PATIENCE):
            await asyncio.gather(
                come_and_go(one, "a"), come_and_go(other, "b"), come_and_go(third, "c")
            )
        await refused(one.blob(digest), "reading a blob that nobody has any more")


async def test_a_blob_that_is_being_removed_is_brought_anew(
    address: str, postgres_server: Server
) -> None:
    body, digest = blob("going")
    async with stores(address) as (store,):
        schema = store.database.schema
        await store.create("r")
        await store.append(append("r", 1, 1, blobs={digest: body}))
        with psycopg.connect(postgres_server.address()) as remover:
            for table in ("refs", "blobs"):
                remover.execute(f"DELETE FROM {schema}.{table}".encode())
            appended = asyncio.create_task(store.append(append("r", 1, 2, blobs={digest: body})))
            waiting = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted"
            with anyio.fail_after(PATIENCE):
                while postgres_server.execute(waiting) != [(True,)]:
                    await anyio.sleep(0.005)
            remover.commit()
        await appended
        assert await store.blob(digest) == body
        assert await numbers(store, "r") == [1, 2]


async def test_a_group_that_is_chosen_to_give_way_is_made_again(
    address: str, postgres_server: Server
) -> None:
    async with stores(f"{address}&options=-cdeadlock_timeout%3D500ms") as (store,):
        for run_id in "ab":
            await store.create(run_id)
        lock = f"SELECT FROM {store.database.schema}.runs WHERE run_id = %s FOR UPDATE".encode()
        with psycopg.connect(postgres_server.address()) as other:
            other.execute("SET deadlock_timeout = '60s'")  # the other one finds it
            other.execute(lock, ("b",))
            both = asyncio.gather(*(store.append(append(run_id, 1, 1)) for run_id in "ab"))
            waiting = "SELECT count(*) > 0 FROM pg_locks WHERE NOT granted"
            with anyio.fail_after(PATIENCE):
                while postgres_server.execute(waiting) != [(True,)]:
                    await anyio.sleep(0)
                # It has a and waits for b; now each waits for the other.
                await anyio.to_thread.run_sync(other.execute, lock, ("a",))
            other.commit()
            await both
        assert [await numbers(store, run_id) for run_id in "ab"] == [[1], [1]]


async def test_processes_that_make_the_tables_at_once_share_them(address: str) -> None:
    async with stores(address, 6) as opened:
        await asyncio.gather(*(store.create(f"r{n}") for n, store in enumerate(opened)))
        for number, store in enumerate(opened):
            assert await store.append(append(f"r{number}", 1, 1))
        assert len(await opened[0].runs()) == 6


async def test_an_older_store_is_brought_up_once_and_a_newer_one_refused(address: str) -> None:
    async with stores(address) as (store,):
        await store.append(append("r", await store.create("r"), 1))
        place = store.database
        steps = (*STEPS, "ALTER TABLE runs ADD COLUMN later bigint NOT NULL DEFAULT 7")

        async def upgrade() -> None:
            async with await psycopg.AsyncConnection.connect(
                place.conninfo, autocommit=True, options=f"-csearch_path={place.schema}"
            ) as connection:
                await bring_up(connection, place, steps)

        await asyncio.gather(*(upgrade() for _ in range(4)))
        assert await store.append(append("r", 1, 2)), "who has it open goes on"
    async with stores(address) as (again,):
        with pytest.raises(
            StoreError, match=r"another version of clew \(store version 4, this one knows 3\)"
        ):
            await again.read("r")


async def test_runs_of_before_are_found_by_their_labels(
    address: str, postgres_server: Server
) -> None:
    agent = Agent(ScriptedModel([finish("done")]))
    async with stores(address) as (store,):
        for user in ("ada", "bob"):
            await run(agent, '"labels": \0?', run_id=user, labels={"user": user}, store=store)
        await fork(agent.replace(tries=1), "ada", at=1, new_id="fork", store=store)
        postgres_server.execute(
            f"""
            SET search_path = {store.database.schema};
            DROP TABLE labels, notices;
            UPDATE about SET version = 1;
            """
        )
    async with stores(address) as (store,):
        for user, ids in (("ada", {"ada", "fork"}), ("bob", {"bob"})):
            listed = await list_runs(store=store, labels={"user": user})
            assert {each.run_id for each in listed} == ids
        await run(agent, "?", run_id="new", owner="ada", store=store)
        assert [each.run_id for each in await list_runs(store=store, owner="ada")] == ["new"]
        await store.forget("new")
        assert await list_runs(store=store, owner="ada") == []


async def test_a_process_of_before_writes_no_line(address: str, postgres_server: Server) -> None:
    """It may have the store open, but would leave its runs without labels."""
    async with stores(address) as (store,):
        await store.create("r")
        append_ = f"SELECT {store.database.schema}.append({', '.join(['NULL'] * 21)})"
        with pytest.raises(psycopg.errors.UndefinedFunction):
            postgres_server.execute(append_)


async def test_a_page_costs_the_same_however_many_runs_have_stopped(
    address: str, postgres_server: Server
) -> None:
    """The server says how many rows passed: of those that stopped, as many as are shown."""
    async with stores(address) as (store,):
        await store.create("r")
        postgres_server.execute(
            f"""
            SET search_path = {store.database.schema};
            INSERT INTO runs (run_id, head, stopped, status, stopped_at)
            SELECT 'r' || n, 1, true, 'answered', n FROM generate_series(1, 3000) AS n;
            INSERT INTO entries SELECT number, 1, 1, 1, '', '' FROM runs WHERE head = 1;
            """
        )
        first = {"at": LAST, "run_id": "", "none": LAST, "most": 20, "status": ""}
        asked: list[tuple[LiteralString, dict[str, Any]]] = [
            (PAGE, first),
            (PAGE, first | {"status": "answered"}),
            (PAGE, first | {"status": "open"}),
            (BEGIN, {"part": "r2999", "most": 20}),
            (END, {"part": "2999", "most": 20}),
        ]
        async with await psycopg.AsyncConnection.connect(store.database.conninfo) as connection:
            for name, value in (*SESSION, ("search_path", store.database.schema)):
                await connection.execute("SELECT set_config(%s, %s, false)", (name, value))
            for query, given in asked:
                assert 0 < await rows_passed(connection, query, given) < 600


async def test_few_runs_of_a_label_are_found_without_a_look_at_the_others(
    address: str, postgres_server: Server
) -> None:
    async with stores(address) as (store,):
        await store.create("r")
        rare, common = Selection({"user": "ada"}), Selection({"plan": "gold"})
        postgres_server.execute(
            f"""
            SET search_path = {store.database.schema};
            INSERT INTO runs (run_id, head, stopped, status, stopped_at)
            SELECT 'r' || n, 1, true, 'answered', n FROM generate_series(1, 9000) AS n;
            INSERT INTO entries SELECT number, 1, stopped_at, 1, '', '' FROM runs WHERE head = 1;
            INSERT INTO labels
            SELECT '\\x{common.digests[0].hex()}', number FROM runs WHERE stopped;
            INSERT INTO labels SELECT '\\x{rare.digests[0].hex()}', number FROM runs
            WHERE stopped_at % 450 = 0 AND stopped;
            ANALYZE;
            """
        )
        wanted = [f"r{n}" for n in range(9000, 0, -450)]
        for limit in (0, 20, 5):
            listed = [run.run_id for run in await store.select(rare, limit)]
            assert listed == wanted[: limit or None]
        page = await store.select(common, 30)
        assert [run.run_id for run in page] == [f"r{n}" for n in range(9000, 8970, -1)]
        assert len(await store.select(common)) == 9000
        first = {"at": LAST, "run_id": "", "none": LAST, "status": "", "named": ""}
        async with await psycopg.AsyncConnection.connect(store.database.conninfo) as connection:
            for name, value in (*SESSION, ("search_path", store.database.schema)):
                await connection.execute("SELECT set_config(%s, %s, false)", (name, value))
            for query, which, most in ((CHOSEN, rare, 50), (SELECTED, common, 20)):
                given = first | {"digests": which.digests, "most": most}
                assert 0 < await rows_passed(connection, query, given) < 600


async def rows_passed(
    connection: psycopg.AsyncConnection[Any], query: str, given: dict[str, Any]
) -> float:
    """How many rows passed through all parts of the plan of a query."""
    explained: Any = f"EXPLAIN (ANALYZE, FORMAT JSON) {query}"
    cursor = await connection.execute(explained, given)
    ((((plan,),)),) = await cursor.fetchall()
    return rows_of(plan["Plan"])


def rows_of(node: dict[str, Any]) -> float:
    """So many rows passed through this part of a plan and those below it."""
    below = sum(rows_of(each) for each in node.get("Plans", ()))
    return float(node["Actual Rows"] * node["Actual Loops"]) + below


async def test_a_schema_of_another_program_is_left_alone(postgres_server: Server) -> None:
    tables = (
        "CREATE TABLE {}.runs (a int)",
        "CREATE TABLE {}.about (what text)",
        "CREATE TABLE {}.about AS SELECT 'theirs' AS program, 1 AS version",
        "CREATE TABLE {}.about (program text, version int)",
    )
    for number, statement in enumerate(tables):
        schema = f"theirs{number}"
        postgres_server.execute(f"CREATE SCHEMA {schema}")
        postgres_server.execute(statement.format(schema))
        async with stores(f"{postgres_server.address()}?schema={schema}") as (store,):
            with pytest.raises(StoreError, match=r"tables of another program: add \?schema=NAME"):
                await store.runs()


async def test_a_user_who_may_not(postgres_server: Server, address: str) -> None:
    for name in ("guest", "keeper"):
        postgres_server.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'secret-word'")
    async with stores(user(address, "guest", "secret-word")) as (store,):
        with pytest.raises(StoreError, match="does not let this user make its tables"):
            await store.create("r")
    async with stores(address) as (own,):
        await own.append(append("r", await own.create("r"), 1))
        schema = own.database.schema
    async with stores(user(address, "guest", "secret-word")) as (store,):
        with pytest.raises(StoreError, match="does not let this user read or write"):
            await store.read("r")
        postgres_server.execute(f"GRANT USAGE ON SCHEMA {schema} TO guest")
        postgres_server.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO guest")
        assert await numbers(store, "r") == [1], "it may look"
        with pytest.raises(StoreError, match="does not let this user read or write"):
            await store.append(append("r", 1, 2))
    postgres_server.execute("CREATE SCHEMA made_for AUTHORIZATION keeper")
    made_for = f"{postgres_server.address()}?schema=made_for"
    async with stores(user(made_for, "keeper", "secret-word")) as (store,):
        assert await store.create("r") == 1


@pytest.fixture
def wrong(postgres_server: Server) -> Callable[..., str]:
    """The address of the server with something else in its place."""
    password, port = postgres_server.password, postgres_server.port

    def made(
        password: str = password,
        host: str = "127.0.0.1",
        port: object = port,
        path: str = "postgres",
    ) -> str:
        return f"postgresql://clew:{password}@{host}:{port}/{path}"

    return made


WRONG: list[tuple[dict[str, object], str]] = [
    ({"password": "not-it-secret"}, "does not accept the user or the password"),
    ({"password": "p@ss-secret"}, "write @ as %40"),
    ({"password": "p/secret"}, "port in the database's address is no number"),
    ({"password": "12#secret"}, "write @ as %40"),
    ({"password": "p#secret"}, "no number|write @ as %40"),
    ({"password": "12?secret"}, "cannot be|has a part that is not known"),
    ({"port": 9}, "cannot be reached .*start the server or check the address"),
    ({"port": "x"}, "port in the database's address is no number"),
    ({"host": "nowhere.invalid"}, "cannot be reached"),
    ({"path": "nothing"}, "does not exist on that server: create it"),
    ({"path": "postgres?schema=No%20Name"}, "schema .* must consist of"),
    ({"path": "postgres?patience=long"}, "patience .* is a number of seconds"),
    ({"path": "postgres?shape=round"}, "has a part that is not known"),
]


@pytest.mark.parametrize(("change", "said"), WRONG)
async def test_a_wrong_address_is_told_in_one_line_without_its_password(
    wrong: Callable[..., str], change: dict[str, object], said: str
) -> None:
    address = wrong(**change)
    with pytest.raises(StoreError, match=said) as caught:
        async with stores(address) as (store,):
            await store.runs()
    text = str(caught.value)
    assert "\n" not in text
    assert "secret" not in text
    assert wrong().split(":")[2].partition("@")[0] not in text


async def test_no_password_is_shown(wrong: Callable[..., str]) -> None:
    address = wrong(password="my-secret", path="postgres?sslpassword=x-secret&sslmode=disable")
    store = PostgresStore(address)
    assert "secret" not in repr(store)
    assert store.database.redacted.endswith("/postgres?sslmode=disable")
    assert store.database.redacted.startswith("postgresql://clew@127.0.0.1:")


@pytest.mark.filterwarnings("ignore:.*deleted while still open")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the same
async def test_an_instance_belongs_to_one_loop_until_it_is_closed(address: str) -> None:
    async with stores(address) as (store,):
        await store.create("r")
        for step in (store.runs, store.close):
            told = await anyio.to_thread.run_sync(in_a_loop_of_its_own, step)
            assert "is open in another event loop" in told
        await store.close()
        assert await anyio.to_thread.run_sync(in_a_loop_of_its_own, store.runs, store.close) == ""
        assert await anyio.to_thread.run_sync(in_a_loop_of_its_own, store.runs) == ""
        assert await store.runs() == [], "whose loop has ended is opened anew"
        await store.close()
        await store.close()
        gc.collect()  # what the ended loop left open


def in_a_loop_of_its_own(*steps: Callable[[], Awaitable[object]]) -> str:
    async def main() -> str:
        try:
            for step in steps:
                await step()
        except StoreError as error:
            return str(error)
        return ""

    return asyncio.run(main())


@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_trio_is_told_that_it_is_asyncio_only() -> None:
    with pytest.raises(StoreError, match="needs asyncio"):
        await PostgresStore("postgresql://localhost/x").runs()
