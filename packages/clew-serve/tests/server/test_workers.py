"""A server that executes nothing, and workers elsewhere that are killed, over one store."""

import signal
from pathlib import Path

import pytest

from tests.cli.shell import begin, until
from tests.postgres import Server
from tests.server.site import ADA, site

AGENT = '''
from pathlib import Path
import anyio
from clew import Agent, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, finish

@tool(effect="read", timeout=600)
async def look(where: str) -> str:
    """Look; slowly, unless the file `go` is there."""
    Path("begun").touch()
    while not Path("go").exists():
        await anyio.sleep(0.01)
    return "a lighthouse"

@tool(effect="unsafe", approve="letters need a person")
async def send(text: str) -> str:
    """Send a letter."""
    with Path("sent").open("a") as file:
        file.write(text + "\\n")
    return "sent"

keeper = Agent(
    ScriptedModel([act("look", where="Skerry"), act("send", text="Dear Ada"), finish("Done.")]),
    tools=[look, send],
    guards=[Provenance("off")],
)
'''


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """What uvicorn runs on."""
    return "asyncio"


@pytest.mark.slow
async def test_a_killed_worker_loses_nothing_of_a_run_that_is_watched_and_ruled_on(
    postgres_server: Server,
) -> None:
    address = postgres_server.database()
    Path("keeping.py").write_text(AGENT)
    worker = ("worker", "--only", "--agent", "keeping:keeper", "--store", address)
    async with site(agents={"keeper": "keeping:keeper"}, store=address, work=False) as here:
        ada = here.by(ADA)
        run = await ada.begin("keeper", "Is there a lighthouse? Write to Ada.")
        first = begin(*worker)
        until("begun", first)
        assert (await ada.get(f"/api/runs/{run}"))["status"] == "working"
        first.send_signal(signal.SIGKILL)
        first.wait()
        Path("go").touch()
        second = begin(*worker)
        state = await ada.until_stop(run)
        assert (state["status"], Path("sent").exists()) == ("held", False)
        (waiting,) = (await ada.get("/api/inbox"))["held"]
        await ada.post(f"/api/rulings/{waiting['id']}", {"allow": True})
        events = [event async for event in ada.events(run)]
        state = await ada.get(f"/api/runs/{run}")
        second.send_signal(signal.SIGTERM)
        assert second.wait() == 0
    assert (state["status"], state["answer"]) == ("answered", "Done.")
    assert Path("sent").read_text() == "Dear Ada\n"
    numbers = [event.data["seq"] for event in events if event.kind == "Entry"]
    assert numbers == list(range(1, state["entries"] + 1))
