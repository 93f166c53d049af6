"""Runs go on with an agent that was changed meanwhile, where the application says so, on record."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    ConfigError,
    answer,
    pending_approvals,
    prompt_of,
    read,
    replay,
    resume,
    rule,
    run,
    serving,
    start,
    submit,
    tool,
)
from clew.agent_files import load_agent
from clew.guards import Provenance
from clew.interfaces import Changed
from clew.testing import ScriptedModel, act, finish
from clew.workers import WorkerConfig, work

pytestmark = pytest.mark.both_loops

SENT: list[str] = []


@tool(approve="ask first")
def send(text: str) -> str:
    """Send a letter."""
    SENT.append(text)
    return f"sent {text}"


@tool(effect="read")
def look() -> str:
    """Look around."""
    return "nothing"


@tool(external=True)
def sign(text: str) -> str:
    """Have it signed."""
    raise AssertionError


@dataclass
class Letter:
    text: str


def clerk(*moves: Any, answer: Any = "done", **fields: Any) -> Agent[Any]:
    fields.setdefault("tools", [send, sign])
    return Agent(
        ScriptedModel([*moves, finish(answer)]), guards=[Provenance("off")], **fields
    )  # fmt: skip


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "prompt": ({"prompt": "Be brief."}, "prompt"),
    "tools": ({"tools": [send, sign, look]}, "tools.look"),
    "answer type": ({"answer": {"text": "done"}, "kind": Letter}, "parts.answer"),
}

SEND = act("send", text="a")


def changed(name: str, move: Any, **more: Any) -> tuple[Agent[Any], str]:
    """The agent as it is now, and what differs."""
    fields, what = CHANGES[name]
    kind = fields.get("kind", str)
    fields = {key: each for key, each in fields.items() if key not in {"answer", "kind"}}
    value = CHANGES[name][0].get("answer", "done")
    made = clerk(move, answer=value, **fields, **more)
    return (made.replace(answer=kind) if kind is not str else made), what


async def _ruled(agent: Agent[Any], run_id: str, where: Path) -> None:
    (waiting,) = await pending_approvals(store=where)
    assert waiting.root == run_id
    await rule(waiting.id, allow=True, store=where, agent=agent)


async def _rule(run_id: str, where: Path) -> None:
    await rule(f"{run_id}:1.1", allow=True, store=where)


async def _resumed(agent: Agent[Any], run_id: str, where: Path) -> None:
    await _rule(run_id, where)
    await resume(agent, run_id, store=where)


async def _started(agent: Agent[Any], run_id: str, where: Path) -> None:
    await _rule(run_id, where)
    await (await start(agent, run_id=run_id, store=where)).wait()


async def _served(agent: Agent[Any], run_id: str, where: Path) -> None:
    await _rule(run_id, where)
    other = Agent(ScriptedModel([finish("no")]), [look], prompt="Be quiet.", changes="continue")
    async with serving(other, agent, store=where) as app:
        await app.wait()


WAYS: dict[str, Callable[[Agent[Any], str, Path], Awaitable[None]]] = {
    "rule": _ruled,
    "resume": _resumed,
    "start": _started,
    "serving": _served,
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", WAYS)
async def test_a_held_run_goes_on_with_the_agent_as_it_is_now(
    way: str, change: str, tmp_path: Path
) -> None:
    SENT.clear()
    where = tmp_path / "runs.sqlite"
    old = clerk(SEND)
    run_id = (await run(old, "?", store=where)).run_id
    refusing, what = changed(change, SEND)
    if way == "serving":
        await _served(refusing, run_id, where)  # it leaves another's run alone
        assert (await read(run_id, store=where)).stop.status == "held"  # type: ignore[union-attr] # it is held
    else:
        with pytest.raises(ConfigError, match=rf"differs from the record's in .*{what}"):
            await WAYS[way](refusing, run_id, where)
    assert SENT == []
    new = refusing.replace(changes="continue")
    assert new.spec.fingerprint == refusing.spec.fingerprint
    if way == "rule":
        await resume(new, run_id, store=where)
    else:
        await WAYS[way](new, run_id, where)
    record = await read(run_id, store=where)
    assert record.stop
    assert record.stop.status == "answered"
    assert SENT == ["a"]
    (event,) = [each.event for each in record.entries if isinstance(each.event, Changed)]
    assert record.started.spec.fingerprint == old.spec.fingerprint
    assert event.spec.fingerprint == new.spec.fingerprint
    assert what in event.what
    for step, agent in ((1, old), (2, new)):
        rebuilt = await prompt_of(run_id, step, store=where)
        assert rebuilt.differs == ()
        assert rebuilt.spec.fingerprint == agent.spec.fingerprint
    replayed = await replay(new, run_id, store=where)
    assert replayed.trajectory.stop == record.stop


async def test_a_result_that_comes_later_goes_to_the_agent_as_it_is_now(tmp_path: Path) -> None:
    where = tmp_path / "runs.sqlite"
    sends = act("sign", text="b")
    run_id = (await run(clerk(sends), "?", store=where)).run_id
    new, _ = changed("prompt", sends, changes="continue", store=where)
    done = await answer(f"{run_id}:1.1", "Ada", agent=new)
    assert done.status == "answered"


async def test_a_worker_goes_on_with_the_nearest(tmp_path: Path) -> None:
    where = tmp_path / "runs.sqlite"
    run_id = await submit(clerk(act("look"), tools=[look]), "?", store=where)
    stranger = Agent(ScriptedModel([finish("no")]), [sign], prompt="Be loud.", changes="continue")
    far = clerk(finish("far"), tools=[look, send], prompt="Be loud.", changes="continue")
    near = clerk(act("look"), answer="near", tools=[look], prompt="Be brief.", changes="continue")
    await work(WorkerConfig(store=where, agents=[stranger], only=True, until_idle=True))
    assert (await read(run_id, store=where)).stop is None
    agents = [stranger, far, near]
    await work(WorkerConfig(store=where, agents=agents, only=True, until_idle=True))
    stop = (await read(run_id, store=where)).stop
    assert stop
    assert (stop.status, stop.answer) == ("answered", "near")


def test_it_is_a_word_of_two_and_stands_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"'contine': did you mean continue\?$"):
        clerk(changes="contine")
    (file := tmp_path / "agent.toml").write_text('model = "offline"\nchanges = "continue"\n')
    assert load_agent(file).agent.changes == "continue"
    file.write_text('model = "offline"\nchanges = "maybe"\n')
    with pytest.raises(ConfigError, match="changes"):
        load_agent(file)
