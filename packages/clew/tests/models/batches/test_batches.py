"""Runs whose model is asked through its provider's batch interface."""

import itertools
import logging
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from clew import (
    Agent,
    ConfigError,
    Limits,
    MemoryStore,
    ModelError,
    ModelSettings,
    SqliteStore,
    batch,
    read,
    run,
)
from clew.core.events import Charged, Thought
from clew.core.tools import Retry
from clew.interfaces import Model, Part, Prompt
from clew.models import Price, resolve
from clew.models.batches import Batched
from clew.models.openai.chat import openai_chat
from clew_testing.servers import Delay, Drop, Fail, ReceivedRequest, Say, Turn
from tests.models.batches.bench import SERVICES, Place, Service, serving, texts

EACH = pytest.mark.parametrize("service", SERVICES)
GO = Prompt((), (Part("user", "Go."),))

on_asyncio = pytest.mark.parametrize("anyio_backend", ["asyncio"])


def together(place: Place, count: int) -> Agent[str]:
    """An agent whose requests are handed in when so many wait, however long that takes."""
    return place.agent(requests=count, gather=60.0)


@EACH
async def test_runs_go_on_in_waves(service: Service, tmp_path: Path) -> None:
    async with serving(service, tmp_path) as place:
        store = MemoryStore()
        goals = [f"What is bread in shop {n}?" for n in range(7)]
        results = await batch(together(place, 7), goals, at_once=10, store=store)
        assert [result.answer for result in results if result.status == "answered"] == (
            ["320 cents."] * 7
        )
        assert place.sizes == [7, 7]
        assert len(place.bench.paid) == 14
        record = await read(results[0].run_id, store=store)
    assert record.started.spec.model.startswith(f"batch:{service}:")
    replies = [entry.event.reply for entry in record.entries if isinstance(entry.event, Thought)]
    assert [reply.usage.estimated for reply in replies] == [False, False]


async def ask_once(model: Model) -> float | None:
    result = await run(Agent(model), "Say hello.", store=MemoryStore())
    return result.usage.cost


@on_asyncio
async def test_it_costs_half(tmp_path: Path) -> None:
    async with serving("openai", tmp_path, lambda _: Say("Hello.")) as place:
        usual = await ask_once(place.model(discount=0.0))
        assert usual
        assert await ask_once(place.model()) == pytest.approx(usual / 2)
        own = {"gpt-4.1-mini": Price(1.0, 1.0, long=1, beyond=Price(2.0, 2.0))}
        paid = await ask_once(place.model(prices=own))
        assert paid
        assert await ask_once(place.model(prices=own, discount=0.5)) == pytest.approx(paid / 2)
        live, batched = (
            resolve("openai:gpt-4.1-mini", api_key="k").info.rates,
            place.model().info.rates,
        )
    assert live
    assert batched
    assert (batched.input, batched.output) == (live.input / 2, live.output / 2)


def shown(pieces: list[str], text: str) -> bool:
    pieces.append(text)
    return False


@on_asyncio
@EACH
async def test_a_reply_is_shown_when_it_came(service: Service, tmp_path: Path) -> None:
    pieces: list[str] = []
    async with serving(service, tmp_path, lambda _: Say("Hello.")) as place:
        reply = await place.model().complete(GO, partial(shown, pieces))
    assert reply.text == "Hello."
    assert pieces == ["Hello."]


@EACH
async def test_a_request_that_is_refused_is_told_to_its_run_alone(
    service: Service, tmp_path: Path
) -> None:
    def answers(body: Mapping[str, Any]) -> Turn:
        return Fail(400, "no such colour") if "shop 2" in texts(body) else Say("Fine.")

    async with serving(service, tmp_path, answers) as place:
        goals = [f"What of shop {n}?" for n in range(4)]
        results = await batch(place.agent(), goals, store=MemoryStore())
    assert [it.status for it in results] == ["answered", "answered", "failed", "answered"]
    assert "no such colour" in str(getattr(results[2], "reason", ""))


@on_asyncio
@EACH
async def test_what_expired_is_asked_again(service: Service, tmp_path: Path) -> None:
    late = iter([True])

    def answers(body: Mapping[str, Any]) -> Turn:
        return Delay() if "shop 1" in texts(body) and next(late, False) else Say("Fine.")

    async with serving(service, tmp_path, answers) as place:
        results = await batch(
            place.agent(retries=Retry(times=3, delay=0.01)),
            ["shop 0", "shop 1"],
            store=MemoryStore(),
        )
        assert sum(place.sizes) == 3
    assert [it.status for it in results] == ["answered", "answered"]


@on_asyncio
@EACH
async def test_what_a_person_canceled_is_told_and_asked_again_on_resume(
    service: Service, tmp_path: Path
) -> None:
    async with serving(service, tmp_path, lambda _: Say("Fine."), held=True) as place:
        store = MemoryStore()

        def cancel(seen: ReceivedRequest) -> None:
            if seen.method == "GET" and place.bench.held:
                place.bench.batches[0].ending = "canceled"

        place.bench.faults = cancel
        results = await batch(place.agent(), ["shop 0"], name="b", store=store)
        assert results[0].status == "failed"
        assert "canceled: resume the run" in results[0].reason
        place.bench.held = False
        again = await batch(place.agent(), ["shop 0"], name="b", store=store)
    assert again[0].status == "answered"


@on_asyncio
async def test_a_batch_that_failed_says_why(tmp_path: Path) -> None:
    async with serving("openai", tmp_path, max_requests=1) as place:
        results = await batch(place.agent(), ["shop 0", "shop 1"], store=MemoryStore())
    assert [it.status for it in results] == ["failed", "failed"]
    assert "too many lines" in results[0].reason


@on_asyncio
async def test_an_account_that_takes_few_tokens_gets_small_batches(tmp_path: Path) -> None:
    async with serving("openai", tmp_path, lambda _: Say("Fine."), max_queued=2) as place:
        goals = [f"shop {n}" for n in range(5)]
        results = await batch(place.agent(), goals, store=MemoryStore())
        accepted = [len(it.entries) for it in place.bench.batches if not it.more["errors"]]
    assert {it.status for it in results} == {"answered"}
    assert max(accepted) <= 2


@on_asyncio
@EACH
async def test_no_batch_is_larger_than_it_may_be(service: Service, tmp_path: Path) -> None:
    async with serving(service, tmp_path, lambda _: Say("Fine.")) as place:
        goals = [f"shop {n}" for n in range(5)]
        results = await batch(place.agent(requests=2), goals, store=MemoryStore())
        assert max(place.sizes) <= 2
        assert sum(place.sizes) == 5
    assert {it.status for it in results} == {"answered"}


@on_asyncio
async def test_the_key_is_wrong(tmp_path: Path) -> None:
    async with serving("openai", tmp_path) as place:
        results = await batch(place.agent(api_key="wrong"), ["shop 0"], store=MemoryStore())
    assert "refused the key" in results[0].reason


@on_asyncio
@EACH
async def test_a_full_batch_that_is_refused_for_now_waits_longer_each_time(
    service: Service, tmp_path: Path
) -> None:
    tried: list[float] = []

    def busy(seen: ReceivedRequest) -> Turn | None:
        if seen.method != "POST" or not seen.path.endswith("batches"):
            return None
        tried.append(time.monotonic())
        return Fail(429) if len(tried) < 3 else None

    async with serving(service, tmp_path, lambda _: Say("Fine."), faults=busy) as place:
        reply = await place.model(requests=1, gather=0.0, poll=0.05).complete(GO)
    assert reply.text == "Fine."
    first, second, third = tried
    assert second - first >= 0.1
    assert third - second >= 0.2


@on_asyncio
@EACH
@pytest.mark.parametrize("path", ["batches", "files"])
@pytest.mark.parametrize("fault", [Fail(503), Fail(429), Drop()], ids=["503", "429", "lost"])
async def test_nothing_is_handed_in_twice_where_nobody_heard_of_it(
    service: Service, path: str, fault: Fail | Drop, tmp_path: Path
) -> None:
    """The request is refused, or taken and its answer lost: it is looked for before another."""
    faults = iter([fault, fault])

    def interrupt(seen: ReceivedRequest) -> Turn | None:
        posts = seen.method == "POST" and seen.path.endswith(path)
        return next(faults, None) if posts else None

    async with serving(service, tmp_path, lambda _: Say("Fine."), faults=interrupt) as place:
        results = await batch(together(place, 2), ["shop 0", "shop 1"], store=MemoryStore())
        assert place.sizes == [2]
        assert len(place.bench.paid) == 2
    assert {it.status for it in results} == {"answered"}


@on_asyncio
@EACH
async def test_a_provider_that_is_away_for_long_is_told_and_nothing_is_lost(
    service: Service, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    away = [True]

    def interrupt(seen: ReceivedRequest) -> Turn | None:
        return Fail(502) if away[0] and seen.method == "GET" else None

    caplog.set_level(logging.WARNING, "clew.models")
    async with serving(service, tmp_path, lambda _: Say("Fine."), faults=interrupt) as place:
        store = MemoryStore()
        results = await batch(place.agent(poll=0.001), ["shop 0"], name="b", store=store)
        assert results[0].status == "failed"
        assert "what was handed in goes on there" in results[0].reason
        away[0] = False
        again = await batch(place.agent(), ["shop 0"], name="b", store=store)
        assert place.sizes == [1]
    assert again[0].status == "answered"
    assert "the next try is in" in caplog.text


@on_asyncio
@EACH
async def test_who_asks_the_same_again_wants_another_reply(
    service: Service, tmp_path: Path
) -> None:
    numbers = itertools.count(1)
    async with serving(service, tmp_path, lambda _: Say(f"{next(numbers)}")) as place:
        model = place.model()
        first, second = [(await model.complete(GO)).text for _ in range(2)]
        assert (first, second) == ("1", "2")
        assert place.sizes == [1, 1]
        replies: list[str] = []

        async def ask() -> None:
            replies.append((await model.complete(GO)).text)

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(ask)
        assert sorted(replies) == ["3", "4", "5"]
        assert sum(place.sizes) == 5


@on_asyncio
async def test_models_of_other_settings_share_a_batch(tmp_path: Path) -> None:
    async with serving("openai", tmp_path, lambda _: Say("Fine.")) as place:
        model = place.model(requests=2, gather=60.0)
        agents = [Agent(model, settings=ModelSettings(temperature=t)) for t in (0.0, 0.5)]
        async with anyio.create_task_group() as group:
            for agent in agents:
                group.start_soon(partial(run, agent, "shop", store=MemoryStore()))
        assert place.sizes == [2]
    assert {body["temperature"] for body in place.bench.paid} == {0.0, 0.5}


@on_asyncio
@EACH
async def test_other_accounts_pay_for_themselves(service: Service, tmp_path: Path) -> None:
    async with serving(service, tmp_path, lambda _: Say("Fine.")) as place:
        place.bench.faults = lambda seen: users.append(seen.headers.get("user", ""))
        users: list[str] = []
        models = [place.model(headers={"User": name}) for name in ("ada", "bob")]
        async with anyio.create_task_group() as group:
            for model in models:
                group.start_soon(model.complete, GO)
        assert place.sizes == [1, 1]
        assert set(users) == {"ada", "bob"}


@on_asyncio
async def test_another_key_is_another_account(tmp_path: Path) -> None:
    async with serving("openai", tmp_path, lambda _: Say("Fine.")) as place:
        good, bad = place.model(), place.model(api_key="wrong")
        ends: dict[str, str] = {}

        async def ask(name: str, model: Batched) -> None:
            try:
                ends[name] = (await model.complete(GO)).text
            except ModelError as error:
                ends[name] = str(error)

        async with anyio.create_task_group() as group:
            group.start_soon(ask, "good", good)
            group.start_soon(ask, "bad", bad)
    assert ends["good"] == "Fine."
    assert "refused the key" in ends["bad"]


@EACH
def test_equal_requests_that_were_left_are_paid_once(service: Service, tmp_path: Path) -> None:
    numbers = itertools.count(1)

    async def ask(place: Place, count: int) -> set[str]:
        model = place.model()
        replies: set[str] = set()

        async def one() -> None:
            replies.add((await model.complete(GO)).text)

        async with anyio.create_task_group() as group:
            for _ in range(count):
                group.start_soon(one)
        return replies

    async def twice() -> None:
        async with serving(service, tmp_path, lambda _: Say(f"{next(numbers)}")) as place:
            first = await ask(place, 3)
            await anyio.to_thread.run_sync(anyio.run, partial(again, place, first))
            assert sum(place.sizes) == 3

    async def again(place: Place, first: set[str]) -> None:
        """In a loop that knows nothing of what the other one was told, as after a crash."""
        assert await ask(place, 3) == first

    anyio.run(twice)


@on_asyncio
@EACH
async def test_a_run_of_the_same_id_elsewhere_is_another(service: Service, tmp_path: Path) -> None:
    numbers = itertools.count(1)
    async with serving(service, tmp_path, lambda _: Say(f"{next(numbers)}")) as place:
        answers: list[object] = []

        async def ask() -> None:
            model = place.model()
            result = await run(Agent(model), "Go.", store=MemoryStore(), run_id="x")
            answers.append(result.answer)
            await model.close()

        for _ in range(2):
            await anyio.to_thread.run_sync(anyio.run, ask)
        assert answers == ["1", "2"]


@on_asyncio
async def test_waiting_is_no_work(tmp_path: Path) -> None:
    async with serving("openai", tmp_path, looks=30) as place:
        agent = place.agent().replace(limits=Limits(seconds=0.05))
        result = await run(agent, "What is bread?", store=MemoryStore())
    assert result.status == "answered"


@on_asyncio
async def test_a_named_batch_goes_on_where_it_was_left(tmp_path: Path) -> None:
    broken = [True]

    def answers(body: Mapping[str, Any]) -> Turn:
        return Fail(400, "broken") if broken[0] and "shop 1" in texts(body) else Say("Fine.")

    async with serving("openai", tmp_path, answers) as place:
        store = SqliteStore(tmp_path / "runs.sqlite")
        goals = ["shop 0", "shop 1"]
        first = await batch(place.agent(), goals, name="shops", store=store)
        assert [it.status for it in first] == ["answered", "failed"]
        broken[0] = False
        again = await batch(place.agent(), goals, name="shops", store=store)
        assert [it.status for it in again] == ["answered", "answered"]
        assert [it.run_id for it in again] == ["shops-1", "shops-2"]
        assert len(place.bench.paid) == 2
        record = await read("shops-2", store=store)
        assert not [it for it in record.entries if isinstance(it.event, Charged)]
        with pytest.raises(ConfigError, match="shops-1 answers another question"):
            await batch(place.agent(), ["shop 7"], name="shops", store=store)
        await store.close()


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        (
            "ollama:llama3",
            {},
            "clew knows the batch interfaces of openai, openai-responses, anthro",
        ),
        ("openai:m", {"discount": 1.0}, "discount is 1.0"),
        ("openai:m", {"poll": -1.0}, "poll is -1.0"),
        ("openai:m", {"gather": float("inf")}, "gather is inf"),
        ("openai:m", {"requests": 0}, "requests is 0"),
        ("openai:m", {"polls": 3}, "takes no option 'polls'"),
        (3, {}, "a name as"),
        ("openai", {}, "names no model"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    name: Any, options: dict[str, Any], why: str, tmp_path: Path
) -> None:
    key: dict[str, Any] = {} if name == "ollama:llama3" else {"api_key": "key"}
    with pytest.raises(ConfigError, match=why):
        Batched(name, ledger=tmp_path / "b.sqlite", **key, **options)


def test_a_ledger_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "b.sqlite").write_text("no database " * 100)
    with pytest.raises(ConfigError, match=r"b\.sqlite cannot be used .*CLEW_BATCHES"):
        Batched("openai:m", api_key="key", ledger=tmp_path / "b.sqlite")


def test_it_has_a_name_that_resolves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEW_BATCHES", str(tmp_path / "b.sqlite"))
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    model = resolve("batch:openai:gpt-4.1-mini", rate="3/m")
    assert model.info.name == "batch:openai:gpt-4.1-mini"
    assert (tmp_path / "b.sqlite").exists()
    assert Batched(openai_chat("gpt-4.1-mini")).info == model.info
