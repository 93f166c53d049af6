"""A record of 10,000 entries: its page has the first of them, and reads no more of the store."""

from collections import Counter
from typing import Any

import httpx2
import pytest

from clew import MemoryStore
from clew_serve import ServeConfig, application
from clew_serve.pages.live import SCREEN
from tests.server.counting_store import Counting
from tests.server.parsed_page import parsed
from tests.server.site import ROOT
from tests.server.written_runs import started, thought, write

ENTRIES = 10_000


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@pytest.mark.slow
async def test_a_page_of_a_long_run_is_as_large_as_that_of_a_short_one_and_asks_as_often() -> None:
    async with MemoryStore() as kept:
        store: Any = Counting(kept)
        for name, count in (("short", SCREEN), ("long", ENTRIES)):
            thoughts = [thought("t" * 10_000) for _ in range(count - 1)]
            await write(kept, name, [started(), *thoughts])
        config = ServeConfig(store=store, users=[ROOT])
        sizes, asked = dict[str, int](), dict[str, Counter[str]]()
        async with application(config) as app:
            transport = httpx2.ASGITransport(app=app)
            headers = {"authorization": f"Bearer {ROOT.token}"}
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
                for name in ("short", "long"):
                    store.asked = Counter[str]()
                    answer = await http.get(f"/runs/{name}", headers=headers)
                    sizes[name] = len(answer.content)
                    assert len(parsed(answer.text).having("entry")) == SCREEN
                    more = await http.get(f"/runs/{name}/more?after=9", headers=headers)
                    assert more.status_code == 200
                    asked[name] = store.asked.copy()
                last = await http.get(f"/runs/long?after={ENTRIES - 5}", headers=headers)
    assert asked["long"].keys() == asked["short"].keys() == {"page", "lines", "bytes"}
    assert asked["long"]["page"] == asked["short"]["page"] == 2
    assert asked["long"]["bytes"] <= 2 * SCREEN * 21_000
    assert sizes["long"] < sizes["short"] + 1_000
    assert sizes["long"] < 600_000
    assert len(parsed(last.text).having("entry")) == 5
    assert parsed(last.text).having("next") == []
