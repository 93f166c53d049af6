"""`clew records batches`: what is out, and how a person gives it up."""

import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from clew import Agent, MemoryStore, run
from clew.models.batches import Batched, open_batches
from clew_testing.servers import OpenAIBatchServer, Say
from tests.cli.shell import clew
from tests.patience import PATIENCE

KEY = "sk-very-secret-0123456789"
LEDGER = "batches.sqlite"
ENV = {"CLEW_BATCHES": LEDGER}


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    """One with two batches that are out, of one request and of two."""
    with OpenAIBatchServer(lambda _: Say("Ulm."), key=KEY, held=True) as server:
        anyio.run(_hand_in, server.base_url, ["Which?"])
        anyio.run(_hand_in, server.base_url, ["Which city?", "And where?"])
        yield server


async def _hand_in(base_url: str, questions: list[str]) -> None:
    """Ask, and leave it once the batch is out."""
    before = len(open_batches(LEDGER))
    model = Batched(
        "openai:gpt-4.1-mini", base_url=base_url, api_key=KEY, ledger=LEDGER,
        gather=60.0, requests=len(questions), poll=60.0,
    )  # fmt: skip
    agent = Agent(model, store=MemoryStore())
    async with anyio.create_task_group() as group:
        for each in questions:
            group.start_soon(run, agent, each)
        with anyio.fail_after(PATIENCE):
            while [it.status for it in open_batches(LEDGER)] != ["out"] * (before + 1):
                await anyio.sleep(0.01)
        group.cancel_scope.cancel()
    await model.close()


def test_they_are_listed_with_time_size_and_whose_key(server: OpenAIBatchServer) -> None:
    done = clew("records", "batches", env=ENV)
    first, second = done.out.splitlines()
    ids = [batch.id for batch in server.bench.batches]
    assert first.startswith(f"{ids[1]}  {time.strftime('%Y-')}")
    assert "  batch:openai:gpt-4.1-mini  2 requests, 0 done  account " in first
    assert "  1 request, 0 done  account " in second
    told = clew("records", "batches", "--json", env=ENV).document
    assert [(it["id"], it["status"], it["requests"]) for it in told] == [
        (ids[1], "out", 2), (ids[0], "out", 1),
    ]  # fmt: skip
    assert told[0]["base_url"] == server.base_url
    assert told[0]["account"] == told[1]["account"]
    assert KEY not in done.out


def test_one_is_canceled_at_the_provider(server: OpenAIBatchServer) -> None:
    first, second = server.bench.batches
    done = clew("records", "batches", "--cancel", second.id, env={**ENV, "OPENAI_API_KEY": KEY})
    assert (done.code, done.out) == (0, f"canceled  {second.id}\n")
    assert (first.ending, second.ending) == ("", "canceled")


@pytest.mark.parametrize(
    ("words", "key", "why"),
    [
        ("--cancel batch_0", KEY, "2 batches begin with batch_0: `clew records batches` lists"),
        ("--cancel x", KEY, "no batch x is out: `clew records batches` lists those that are"),
        ("--cancel ID", "other", "was handed in with another key (account "),
        ("--cancel ID", "", "was handed in with another key"),
        ("--forget batch_0", KEY, "2 batches begin with batch_0: give more of the id"),
        ("--forget x", KEY, "no batch x is out"),
    ],
)
def test_what_cannot_be_given_up_is_told_in_a_line(
    words: str, key: str, why: str, server: OpenAIBatchServer
) -> None:
    words = words.replace("ID", server.bench.batches[1].id)
    done = clew("records", "batches", *words.split(), env={**ENV, "OPENAI_API_KEY": key})
    assert done.code != 0
    assert why in " ".join(done.err.split())
    assert len(open_batches(LEDGER)) == 2


def test_one_is_forgotten_here_alone(server: OpenAIBatchServer) -> None:
    first, second = server.bench.batches
    done = clew("records", "batches", "--forget", second.id, env=ENV)
    assert (done.code, done.out) == (0, f"forgotten  {second.id}\n")
    assert [it.id for it in open_batches(LEDGER)] == [first.id]
    assert second.ending == ""


def test_to_look_makes_no_ledger() -> None:
    done = clew("records", "batches", env=ENV)
    assert (done.code, done.out) == (0, "no batches are out\n")
    assert clew("records", "batches", "--json", env=ENV).document == []
    assert not Path(LEDGER).exists()
