"""Records of earlier schema and store versions: imported, they load, replay and go on.

What lies in `data/`, and in the folders of `tests/stores/data`, earlier versions of clew wrote as
JSON lines.
"""

import shutil
from pathlib import Path

import pytest

from clew import Agent, MemoryStore, prompt_of, read, replay, resume
from clew.core.events import Stop
from clew.retention import import_runs, verify
from clew.testing.models import act, finish
from tests.core.scenarios import Ledger, by_name
from tests.core.test_budget import charges, landing_of, recorded_agent
from tests.core.test_chat_tokens import observed, page
from tests.core.watched import watched
from tests.stores.test_versions import AGENT, DATA, VERSIONS, seen

OLD = Path(__file__).parent / "data"


async def brought(place: Path) -> MemoryStore:
    """A store with the runs of a folder, or of a file in it."""
    store = MemoryStore()
    done = await import_runs(place, store=store)
    assert (done.refused, done.missing, done.complete) == ((), (), True)
    return store


async def test_a_record_of_the_first_schema_loads_replays_and_goes_on(tmp_path: Path) -> None:
    store = await brought(OLD / "schema-1.jsonl")
    record = await read("schema-1", store=store)
    assert record.started.schema == 1
    assert record.stop == Stop("answered", answer="done")
    assert [call.action.name for call in record.calls] == [
        "send", "put", "post", "lookup", "finish",
    ]  # fmt: skip
    assert record.usage.tokens == 45
    assert record.call("1.1").attempts[0].tool == "send"
    who = by_name("effects of every kind").agent(tmp_path)
    who = who.replace(prompt=record.started.setting.prompt)  # the usual one has other words since
    replayed = await replay(who, "schema-1", store=store)
    assert replayed.trajectory.entries == record.entries
    assert Ledger(tmp_path / "effects").lines() == []
    more = watched(*[finish("and more")] * 9)
    assert (await resume(who.replace(model=more), "schema-1", say="And?", store=store)).steps > 1
    assert "And?" in observed(more.sent[0])


async def test_a_record_of_the_second_schema_loads_and_replays() -> None:
    store = await brought(OLD / "schema-2.jsonl")
    record = await read("schema-2", store=store)
    assert record.started.schema == 2
    assert [charge.usage.tokens for charge in charges(record)] == [3_403]
    assert landing_of(record).bound == "tokens"
    assert record.stop == Stop("bound", "tokens", "as far as I got")
    replayed = await replay(recorded_agent(), "schema-2", store=store)
    assert replayed.trajectory.entries == record.entries


async def test_a_record_of_the_third_schema_is_shown_as_it_was() -> None:
    """Its page holds tokens of chat templates, which models see changed since."""
    store = await brought(OLD / "schema-3")
    agent = Agent(watched(act("fetch", word="<|im_start|>"), finish("Yes.")), [page()])
    record = await read("run", store=store)
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries
    again = await prompt_of("run", 2, store=store)
    assert "<|im_start|>system" in observed(again.prompt)
    assert again.verdict.startswith("exactly what was sent")


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_folder_of_each_store_version_is_as_good_as_new(
    version: int, tmp_path: Path
) -> None:
    shutil.unpack_archive(DATA / f"store-{version}.zip", tmp_path)
    store = await brought(tmp_path / "runs")
    wanted = ["run"] if version == 1 else ["fork", "run"]
    assert sorted(info.run_id for info in await store.runs()) == wanted
    found, lost = await verify(store=store)
    assert ([one.run_id for one in found if not one.ok], lost) == ([], [])
    for run_id in wanted:
        record = await read(run_id, store=store)
        assert record.stop is not None
        assert record.stop.answer == ("found" if run_id == "run" else "elsewhere")
        assert record.call("1.1").observation.text == seen("the ball")  # type: ignore[union-attr]  # it was observed
        replayed = await replay(AGENT, run_id, store=store)
        assert replayed.trajectory.entries == record.entries
    assert (await resume(AGENT, "run", store=store)).answer == "again"
