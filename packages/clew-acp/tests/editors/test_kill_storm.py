"""`clew acp` is killed at every write of a run; another process loads the session, and goes on.

What must hold: nothing that was on record is lost, no effect happens twice, a call whose outcome
nobody knows is said to be unknown, and the session comes to its answer.
"""

import signal
import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest
from acp import RequestError

from clew import Trajectory, read
from tests.editors.editor import Connection, Editor, connect_to
from tests.patience import PATIENCE

QUICK = [(3, "after"), (6, "before")]
"""Within the first effect, and while a person is asked."""
WRITES = 15
"""So many appends has the run: see the test of that."""
LEFT = (pytest.mark.slow, pytest.mark.long)
POINTS = [
    pytest.param(at, when, marks=() if (at, when) in QUICK else LEFT)
    for at in range(1, WRITES + 1)
    for when in ("before", "after")
]

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])


async def work(folder: Path, session: str, at: int, when: str) -> tuple[str, bool]:
    """A process that goes on with a session, or begins one; its id, and whether it lived on."""
    program = [sys.executable, "-m", "clew_cli", "acp", "tests.editors.killed_agent:agent"]
    killed = {"KILLED_AT": str(at), "KILLED": when}
    alive = True
    async with connect_to(Editor(folder), program, None, **killed) as agent:
        words = "/continue"
        try:
            await agent.load(session)
        except RequestError:  # it was killed before there was anything on record
            session, words = await agent.new(), "Do all of it."
        try:
            answered = await agent.ask(session, words)
            assert answered.stop_reason == "end_turn"
        except ConnectionError:
            alive = False
        if not alive:
            await ended_by_kill(agent)
    return session, alive


async def ended_by_kill(agent: Connection) -> None:
    with anyio.fail_after(PATIENCE):
        assert await agent.process.wait() == -signal.SIGKILL


async def recorded(folder: Path, session: str) -> Trajectory:
    return await read(session, store=str(folder / "runs.sqlite"))


def check(record: Trajectory, folder: Path) -> None:
    """Nothing twice, nothing lost."""
    lines = (folder / "effects").read_text("utf-8").splitlines()
    assert {line: count for line, count in Counter(lines).items() if count > 1} == {}
    happened = Counter(line.partition(" ")[0] for line in lines)
    calls = {call.action.name: call for call in record.calls if call.action.name != "finish"}
    assert [*calls] == ["send", "edit", "put"]
    for name, call in calls.items():
        assert call.observation is not None
        if call.observation.outcome == "done":
            assert happened[name] == 1
        else:
            assert (call.observation.outcome, name) != ("unknown", "put")
            assert happened[name] <= 1
    assert record.stop is not None
    assert (record.stop.status, record.stop.answer) == ("answered", "All is done.")


@pytest.mark.parametrize(("at", "when"), POINTS)
async def test_killed_at_a_write_the_session_goes_on_elsewhere(
    tmp_path: Path, at: int, when: str
) -> None:
    session, alive = await work(tmp_path, "none", at, when)
    assert not alive
    before = [] if at == 1 and when == "before" else (await recorded(tmp_path, session)).entries
    session, alive = await work(tmp_path, session, 0, "")
    assert alive
    record = await recorded(tmp_path, session)
    assert [*record.entries[: len(before)]] == [*before]
    check(record, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("each", [pytest.param(2, marks=pytest.mark.long), 3])
async def test_killed_again_and_again(tmp_path: Path, each: int) -> None:
    session, alive, deaths = "none", False, 0
    while not alive:
        session, alive = await work(tmp_path, session, each, "after")
        deaths += not alive
        assert deaths <= WRITES
    assert deaths > 1
    check(await recorded(tmp_path, session), tmp_path)


@pytest.mark.slow
async def test_the_number_of_writes(tmp_path: Path) -> None:
    session, alive = await work(tmp_path, "none", WRITES + 1, "before")
    assert alive
    check(await recorded(tmp_path, session), tmp_path)
