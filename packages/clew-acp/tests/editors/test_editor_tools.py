"""The editor's files and terminals: tools of a session if its client has them, and else not."""

import signal
from pathlib import Path

import anyio
import pytest

from clew import Trajectory, read
from tests.editors.editor import FILES, Connection, Editor, connect, until
from tests.editors.test_sessions import is_cut_off
from tests.patience import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("anyio_backend", ["asyncio"])]


async def record_of(folder: Path, session: str) -> Trajectory:
    return await read(session, store=str(folder / "runs.sqlite"))


async def test_what_is_not_saved_is_read_written_and_run(tmp_path: Path) -> None:
    path = str(tmp_path / "notes.txt")
    editor, bare = Editor(tmp_path, files={path: "not saved"}), Editor(tmp_path)
    async with connect(editor, "reading", FILES) as agent:
        session = await agent.new()
        assert (await agent.ask(session, "Test it.")).stop_reason == "end_turn"
        assert editor.files == {path: "yes"}
        assert editor.programs == [["make", "test"], ["released"]]
        assert [each.title for each in editor.asked] == ["`editor_run make`"]
        shown = [each.get("content") or [{}] for each in editor.told("tool_call_update")]
        assert any(each[0].get("terminal_id") == "t1" for each in shown)
        record = await record_of(tmp_path, session)
        results = [call.observation for call in record.calls[:3]]
        assert [each.text if each else "" for each in results][:2] == ["not saved", "written"]
    assert not Path(path).exists()
    async with connect(bare, "reading") as agent:  # another editor goes on, without files
        await agent.load(session)
        assert (await agent.ask(session, "Again?")).stop_reason == "end_turn"
        assert (spec := (await record_of(tmp_path, session)).spec) is not None
        assert "editor_read" not in spec.tools
        new = await agent.new()
        await agent.ask(new, "Test it.")
        assert bare.told("tool_call_update", new)[0]["status"] == "failed"
        assert "editor_read" not in (await record_of(tmp_path, new)).started.spec.tools
    assert bare.asked == []


@pytest.mark.parametrize("by", ["eof", "signal"])
async def test_who_leaves_cuts_off_no_effect(tmp_path: Path, by: str) -> None:
    async with connect(Editor(tmp_path), "sending") as agent:
        session = await agent.new()
        async with anyio.create_task_group() as group:
            group.start_soon(is_cut_off, agent, session)
            await until(tmp_path / "waiting")
            leave(agent, by)
        (tmp_path / "open").touch()  # only now: the agent has closed its stdout
        with anyio.fail_after(PATIENCE):
            await agent.process.wait()
    record = await record_of(tmp_path, session)
    assert (observation := record.call("1.1").observation) is not None
    assert observation.text == "the door is open"
    assert record.stop is None


async def test_a_call_of_unknown_outcome_is_asked_about(tmp_path: Path) -> None:
    editor, later = Editor(tmp_path, choice="reject"), Editor(tmp_path, choice="reject")
    async with connect(editor, "doubting") as agent:
        session = await agent.new()
        async with anyio.create_task_group() as group:
            group.start_soon(is_cut_off, agent, session)
            await until(tmp_path / "waiting")
            agent.process.send_signal(signal.SIGKILL)
    assert (await record_of(tmp_path, session)).call("1.1").observation is None
    async with connect(later, "doubting") as agent:
        await agent.load(session)
        assert (await agent.ask(session, "/continue")).stop_reason == "end_turn"
        (asked,) = later.asked
        assert asked.title == '`send {"text":"Dear Ada"}`'
        assert later.words() == "I leave it."
    assert (tmp_path / "sent").read_text("utf-8") == "Dear Ada\n"


def leave(agent: Connection, by: str) -> None:
    """Close the agent's stdin, or ask it to end."""
    assert agent.process.stdin is not None
    if by == "signal":
        agent.process.send_signal(signal.SIGTERM)
    else:
        agent.process.stdin.close()
