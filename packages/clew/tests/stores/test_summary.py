"""What a listing says of a run, by its first and last line."""

import msgspec
import pytest

from clew import Agent, MemoryStore, run
from clew.agent.runner import start
from clew.core.contents import text_parts
from clew.core.events import Note
from clew.core.stores import RunInfo
from clew.core.values import encode
from clew.stores.listing import summary
from clew.testing import ScriptedModel, say

AGENT = Agent(model=ScriptedModel([say("yes")]))


async def one(store: MemoryStore) -> RunInfo:
    (info,) = await store.runs()
    return info


async def test_a_run_is_summed_up_by_how_it_began_and_how_it_stopped() -> None:
    await start(AGENT, "Is it open?", store := MemoryStore(), queue="nightly")
    found = summary(await one(store))
    assert found is not None
    assert (found.started.goal, found.started.queue, found.stop) == ("Is it open?", "nightly", None)
    await run(AGENT, "Has it ended?", store=(store := MemoryStore()))
    found = summary(await one(store))
    assert found is not None
    assert found.stop is not None
    assert found.stop.status == "answered"


@pytest.mark.parametrize(
    "body", [b"", b"\xff", b'{"event":"of a newer clew"}', encode(Note(text_parts("x")))]
)
async def test_lines_that_cannot_be_read_here_say_nothing(body: bytes) -> None:
    await run(AGENT, "Has it ended?", store=(store := MemoryStore()))
    info = await one(store)
    first = msgspec.structs.replace(info.first, body=body)
    assert summary(msgspec.structs.replace(info, first=first)) is None
