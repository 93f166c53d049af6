"""A program goes on where it was, from the record alone: after a crash, a wait, another version."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, MemoryStore, StoreError, Trajectory, read, replay, resume, run
from clew.core.stores import Append
from clew.guards import Provenance
from clew.support.resources import resources
from clew.testing import ScriptedModel, act, say
from clew_code.programs import CodeLimits, Executor, Monty, Session, code_tool
from tests.code.plain import Plain
from tests.code.test_programs import seen
from tests.core.scenarios import Ledger, effect_tools, lookup

FIRST = """
seen = []
for key in "abc":
    seen.append(lookup(key))
    try:
        seen.append(put(text=key))
        if key == "b":
            lookup("missing")
    except RuntimeError as error:
        seen.append(str(error))
print(post(text="letter"))
"""
SECOND = """
import random
send(text=str(len(seen)))
seen.append(random.randint(1, 1000))
print(lookup("d"))
seen
"""
Damage = Callable[[MemoryStore], None]


class Renamed:
    """Monty under another name: an executor that does not load what Monty kept."""

    name = "other/1"

    def open(
        self, limits: CodeLimits, functions: Sequence[str], seed: str
    ) -> AbstractAsyncContextManager[Session]:
        return Monty().open(limits, functions, seed)


def agent(folder: Path, *programs: str, executor: Executor | None = None) -> Agent:
    tools = [lookup, *effect_tools(Ledger(folder / "effects")), code_tool(executor or Monty())]
    moves = [*(act("run_code", code=text) for text in programs or (FIRST, SECOND)), say("done")]
    return Agent(model=ScriptedModel(moves, tools=tools), tools=tools, guards=[Provenance("off")])


async def cut_copy(store: MemoryStore, lines: int) -> MemoryStore:
    """A store with the first lines of the run, and all blobs."""
    kept = (await store.read("r"))[:lines]
    record = await read("r", store=store)
    digests = {getattr(entry.event, "blob", "") for entry in record.entries[:lines]}
    digests |= {record.started.spec.prompt_blob}
    blobs = {digest: await store.blob(digest) for digest in digests - {""}}
    copy = MemoryStore()
    await copy.create("r")
    for _ in range(1, kept[-1].epoch):
        await copy.open("r")
    await copy.append(Append("r", kept[-1].epoch, tuple(kept), blobs=blobs))
    return copy


def told(record: Trajectory) -> list[tuple[str, str, Any]]:
    """Each call with what it gave."""
    return [
        (call.key, call.action.name, call.observation.content if call.observation else None)
        for call in record.calls
    ]


@pytest.mark.both_loops
@pytest.mark.parametrize("executor", [Monty, Renamed, Plain])
async def test_cut_after_every_entry_it_comes_to_the_same(
    tmp_path: Path, executor: Callable[[], Executor]
) -> None:
    (tmp_path / "whole").mkdir()
    store = MemoryStore()
    begun = Plain() if executor is Plain else Monty()
    assert (
        await run(agent(tmp_path / "whole", executor=begun), "?", store=store, run_id="r")
    ).answer
    whole = await read("r", store=store)
    lines = await store.read("r")
    for cut in range(1, len(lines)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        second = await cut_copy(store, cut)
        again = agent(folder, executor=executor())
        assert (await resume(again, "r", store=second)).answer == "done"
        record = await read("r", store=second)
        done = Ledger(folder / "effects").lines()
        assert len(done) == len(set(done)), cut
        doubted = [c for c in record.calls if c.observation and c.observation.outcome == "unknown"]
        if not doubted:
            texts = [text.partition("\nNote: ")[0] for text in seen(record)]
            assert texts == seen(whole), cut
            assert [one[:2] for one in told(record)] == [one[:2] for one in told(whole)]
        if cut % 7 == 0:
            await replay(again, "r", store=second)
    assert not any("Note" in text for text in seen(whole))


async def gone_on(
    folder: Path, damage: Damage, *programs: str, executor: Executor | None = None, at: str = ""
) -> Trajectory:
    """A run that was cut off when the program waited for a call, and goes on over damage."""
    store = MemoryStore()
    await run(agent(folder, *programs), "?", store=store, run_id="r")
    entries = (await read("r", store=store)).entries
    place = next(
        entry.seq
        for entry in entries
        if type(entry.event).__name__ == "Observation" and getattr(entry.event, "call", "") == at
    )
    second = await cut_copy(store, place)
    damage(second)
    await resume(agent(folder, *programs, executor=executor), "r", store=second)
    return await read("r", store=second)


def nothing(store: MemoryStore) -> None:
    """No damage."""


def _blobs(store: MemoryStore) -> dict[str, bytes]:
    return store._blobs  # noqa: SLF001 - as somebody with the file


def changed(store: MemoryStore) -> None:
    """Every dump has another byte in it."""
    for digest, body in _blobs(store).items():
        _blobs(store)[digest] = body[:40] + b"!" + body[41:]


def torn(store: MemoryStore) -> None:
    """Every dump is cut."""
    for digest, body in _blobs(store).items():
        _blobs(store)[digest] = body[:20]


def lost(store: MemoryStore) -> None:
    """There are no blobs."""
    _blobs(store).clear()


@pytest.mark.parametrize(
    ("damage", "why"),
    [(changed, "changed after it was written"), (torn, "changed after"), (lost, "blob")],
    ids=["changed", "torn", "lost"],
)
async def test_what_does_not_load_is_run_anew_and_said(
    tmp_path: Path, damage: Damage, why: str
) -> None:
    program = "a = lookup('a')\nb = lookup('b')\nprint(a, b)"
    record = await gone_on(tmp_path, damage, program, at="1.2")
    (text,) = seen(record)
    assert text.startswith("the value of a the value of b\nNote: ")
    assert why in text
    assert "run anew over the recorded observations" in text


async def test_another_version_is_named(tmp_path: Path) -> None:
    program = "a = lookup('a')\nb = lookup('b')"
    (text,) = seen(await gone_on(tmp_path, nothing, program, executor=Renamed(), at="1.2"))
    assert f"other/1 cannot load what {Monty().name} kept of it" in text


async def test_a_program_that_asks_for_something_else_says_where(tmp_path: Path) -> None:
    program = "import time\nlookup(str(time.time_ns()))\nlookup('b')"
    record = await gone_on(tmp_path, lost, program, at="1.2")
    (text,) = seen(record)
    assert text.startswith("ERROR: tool_error: the program of 1.1 was run anew")
    assert "asks for lookup(" in text
    assert "where the record has 1.2, lookup(" in text
    assert len(record.steps[0].asked) == 1


class Forgetful(Plain):
    """Programs see how often a session was opened: what is run anew does something else."""

    @asynccontextmanager
    async def open(
        self, limits: CodeLimits, functions: Sequence[str], seed: str
    ) -> AsyncGenerator[Session]:
        async with super().open(limits, functions, seed) as session:
            names: dict[str, Any] = session.names  # type: ignore[attr-defined]  # of a Plain
            names["opened"] = len(self.opened)
            yield session


async def test_a_program_that_ends_early_says_where(tmp_path: Path) -> None:
    executor = Forgetful()
    program = "if opened == 1:\n    lookup('a')\nlookup('b')\n"
    other = "if opened < 3:\n    lookup('a')"
    for text, now in ((program, "asks for lookup"), (other, "ends where")):
        store = MemoryStore()
        await run(agent(tmp_path, text, executor=Forgetful()), "?", store=store, run_id="r")
        second = await cut_copy(store, 4)
        executor.opened = ["", "", ""]
        await resume(agent(tmp_path, text, executor=executor), "r", store=second)
        assert now in seen(await read("r", store=second))[0]


async def test_variables_that_cannot_be_had_again_are_said_to_be_gone(tmp_path: Path) -> None:
    executor = Forgetful()
    programs = ("if opened == 1:\n    lookup('a')\nx = 1", "print('x' in globals())")
    store = MemoryStore()
    await run(agent(tmp_path, *programs, executor=executor), "?", store=store, run_id="r")
    entries = (await read("r", store=store)).entries
    second = await cut_copy(
        store, next(e.seq for e in entries if getattr(e.event, "call", "") == "2.1") - 1
    )
    await resume(agent(tmp_path, *programs, executor=executor), "r", store=second)
    text = seen(await read("r", store=second))[1]
    assert text.startswith(
        "False\nNote: the variables of earlier programs are gone: the program of"
    )


async def test_a_program_that_was_lost_is_not_run_anew_for_its_variables(tmp_path: Path) -> None:
    programs = ("x = 1", "x = 2\nraise ValueError('lost')", "print(x)")
    store = MemoryStore()
    await run(agent(tmp_path, *programs, executor=Plain()), "?", store=store, run_id="r")
    assert seen(await read("r", store=store))[2] == "1"
    entries = (await read("r", store=store)).entries
    place = next(entry.seq for entry in entries if getattr(entry.event, "call", "") == "3.1") - 1
    second = await cut_copy(store, place)
    await resume(agent(tmp_path, *programs, executor=Plain()), "r", store=second)
    assert seen(await read("r", store=second))[2] == "1"


async def test_a_session_that_held_a_secret_is_run_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_PASSWORD", "p4ss/Wörd+#1")
    program = "a = lookup('a')\nsecret = 'p4ss/W' + 'örd+#1'\nb = lookup('b')\nprint(a)\n"
    record = await gone_on(tmp_path, nothing, program, at="1.3")
    assert seen(record)[0].startswith(
        "the value of a\nNote: what the record kept of it held a secret: it was run anew"
    )
    second = "print(b)"
    store = MemoryStore()
    await run(agent(tmp_path, program, second), "?", store=store, run_id="r")
    lines = await store.read("r")
    for cut in range(3, len(lines)):
        copy = await cut_copy(store, cut)
        await resume(agent(tmp_path, program, second), "r", store=copy)
        assert seen(await read("r", store=copy))[1] == "the value of b"


async def test_a_program_that_held_a_secret_itself_cannot_be_run_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_PASSWORD", "p4ss/Wörd+#1")
    programs = ("s = 'p4ss/Wörd+#1'\nlen(s)", "s[:2]")
    store = MemoryStore()
    await run(agent(tmp_path, *programs), "?", store=store, run_id="r")
    assert seen(await read("r", store=store))[1] == "'p4'"
    entries = (await read("r", store=store)).entries
    place = next(e.seq for e in entries if getattr(e.event, "call", "") == "2.1") - 1
    copy = await cut_copy(store, place)
    await resume(agent(tmp_path, *programs), "r", store=copy)
    text = seen(await read("r", store=copy))[1]
    assert "the variables of earlier programs are gone: 1.1 held a secret" in text


async def test_only_some_sessions_are_kept_open(tmp_path: Path) -> None:
    executor = Plain()
    store = MemoryStore()
    async with resources():
        for number in range(20):
            one = agent(tmp_path, "x = 1", "print(x)", executor=executor)
            await run(one, "?", store=store, run_id=f"r{number}")
        assert executor.closed == [f"r{number}" for number in range(4)]
    assert len(executor.closed) == 20


async def test_a_call_that_is_cut_off_closes_its_session(tmp_path: Path) -> None:
    class Broken(Plain):
        @asynccontextmanager
        async def open(
            self, limits: CodeLimits, functions: Sequence[str], seed: str
        ) -> AsyncGenerator[Session]:
            async with super().open(limits, functions, seed) as session:
                session.dump = self.fail  # type: ignore[method-assign]  # it fails here
                yield session

        async def fail(self) -> bytes:
            raise StoreError("no dump")

    executor, store = Broken(), MemoryStore()
    await run(agent(tmp_path, "lookup('a')", executor=executor), "?", store=store, run_id="r")
    assert "no dump" in seen(await read("r", store=store))[0]
    assert executor.closed == ["r"]
