"""An editor and `clew acp`, a process of its own: prompts, edits that wait, what is cancelled."""

import signal
from pathlib import Path

import anyio
import pytest
from acp import RequestError

from clew import read
from tests.editors.editor import Connection, Editor, connect, until
from tests.patience import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.parametrize("anyio_backend", ["asyncio"])]


async def test_an_edit_waits_for_the_person_at_the_editor(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no", "utf-8")
    editor = Editor(tmp_path)
    async with connect(editor, "editing") as agent:
        session = await agent.new()
        answered = await agent.ask(session, "Say yes in notes.txt.")
        assert (answered.stop_reason, editor.words("user_message")) == ("end_turn", "")
        assert (tmp_path / "notes.txt").read_text("utf-8") == "yes"
        assert editor.states("2.1") == ["pending", "in_progress", "completed"]
        (asked,) = editor.asked
        shown = asked.model_dump()
        assert (shown["kind"], shown["title"]) == ("edit", "`edit_file notes.txt`")
        diff, reason = shown["content"]
        path = str(tmp_path / "notes.txt")
        assert (diff["path"], diff["old_text"], diff["new_text"]) == (path, "no", "yes")
        assert "an edit needs a person" in reason["content"]["text"]
        (listed,) = (await agent.agent.list_sessions(cwd=str(tmp_path))).sessions
        assert (listed.session_id, listed.title) == (session, "Say yes in notes.txt.")
        assert (await agent.agent.list_sessions(cwd="/elsewhere")).sessions == []
        record = await read(session, store=str(tmp_path / "runs.sqlite"))
        assert (ruling := record.call("2.1").ruling) is not None
        assert (ruling.allow, ruling.by) == (True, "test")


async def test_text_from_outside_is_no_markup(tmp_path: Path) -> None:
    """Editors render Markdown: what tools give is in a fence, what the model says is made safe."""
    editor = Editor(tmp_path, choice="reject")
    async with connect(editor, "editing") as agent:
        await agent.ask(await agent.new(), "Say yes in notes.txt.")
    results = [
        each["content"][0]["content"]["text"]
        for each in editor.told("tool_call_update")
        if "content" in each
    ]
    assert results[0].startswith("````\na lighthouse is at Skerry; ![x]")
    assert results[0].endswith("\n````")
    assert not {"\x1b", "\u202e"} & set(results[0])
    assert editor.states("2.1") == ["pending", "failed"]
    assert "hxxps://evil[.]example" in editor.words()
    assert "https://" not in editor.words()
    assert not (tmp_path / "notes.txt").exists()


@pytest.mark.parametrize("name", ["waiting", "editing"])
async def test_a_cancelled_turn_ends_and_the_session_goes_on(tmp_path: Path, name: str) -> None:
    editor = Editor(tmp_path, choice="cancel")
    async with connect(editor, name) as agent:
        session = await agent.new()
        async with anyio.create_task_group() as group:
            if name == "waiting":
                group.start_soon(cancel_once_it_waits, agent, session)
            assert (await agent.ask(session, "Begin.")).stop_reason == "cancelled"
        record = await read(session, store=str(tmp_path / "runs.sqlite"))
        assert record.stop is not None
        assert record.stop.status == "interrupted"
        assert (await agent.ask(session, "And now?")).stop_reason in {"end_turn", "cancelled"}


async def test_a_turn_that_is_cancelled_during_an_effect_tells_how_it_ended(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    async with connect(editor, "sending") as agent:
        session = await agent.new()

        async def cancel_then_open() -> None:
            await cancel_once_it_waits(agent, session)
            (tmp_path / "open").touch()

        async with anyio.create_task_group() as group:
            group.start_soon(cancel_then_open)
            assert (await agent.ask(session, "Begin.")).stop_reason == "cancelled"
        record = await read(session, store=str(tmp_path / "runs.sqlite"))
        assert record.stop is not None
        assert record.stop.status == "interrupted"
    assert editor.states("1.1") == ["pending", "in_progress", "completed"]
    assert (tmp_path / "sent").read_text("utf-8") == "Dear Ada\n"


async def cancel_once_it_waits(agent: Connection, session: str) -> None:
    await until(agent.folder / "waiting")
    await agent.agent.cancel(session_id=session)


async def test_a_killed_agent_goes_on_and_no_effect_is_repeated(tmp_path: Path) -> None:
    first, second = Editor(tmp_path), Editor(tmp_path)
    async with connect(first, "sending") as agent:
        session = await agent.new()
        async with anyio.create_task_group() as group:
            group.start_soon(is_cut_off, agent, session)
            await until(tmp_path / "waiting")
            agent.process.send_signal(signal.SIGKILL)
    (tmp_path / "open").touch()
    async with connect(second, "sending") as agent:
        with pytest.raises(RequestError, match="is not open"):
            await agent.ask(session, "Go on.")
        await agent.load(session)
        assert second.words("user_message") == "Write to Ada."
        assert second.states("1.1") == ["pending", "in_progress"]
        assert (await agent.ask(session, "/continue")).stop_reason == "end_turn"
        assert second.states("1.1")[-1] == "failed"
        assert second.words() == "It is sent, or not."
        assert (await agent.ask(session, "Really?")).stop_reason == "end_turn"
        assert second.words().endswith("Yes.")
        assert second.words("user_message") == "Write to Ada."
    assert (tmp_path / "sent").read_text("utf-8") == "Dear Ada\n"


async def is_cut_off(agent: Connection, session: str) -> None:
    with pytest.raises(ConnectionError):
        await agent.ask(session, "Write to Ada.")


async def test_two_sessions_at_once_and_a_fork(tmp_path: Path) -> None:
    editor = Editor(tmp_path)
    async with connect(editor, "telling") as agent, connect(Editor(tmp_path), "telling") as other:
        one, two = await agent.new(), await agent.new()
        await agent.load(two)  # there is nothing to tell yet
        with anyio.fail_after(PATIENCE):
            async with anyio.create_task_group() as group:
                group.start_soon(agent.ask, one, "First?")
                group.start_soon(agent.ask, two, "First?")
        assert editor.words(session_id=one) == editor.words(session_id=two) == "One."
        forked = (
            await other.agent.fork_session(cwd=str(tmp_path), session_id=one, mcp_servers=[])
        ).session_id
        await other.ask(forked, "And then?")
        await agent.ask(one, "And then?")
        assert editor.words(session_id=one) == "One.Two."
        record = await read(forked, store=str(tmp_path / "runs.sqlite"))
        assert len(record.steps) == 2
        listed = (await agent.agent.list_sessions()).sessions
        assert {each.session_id for each in listed} == {one, two, forked}
