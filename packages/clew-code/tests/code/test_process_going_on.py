"""Programs in CPython in the sandbox are run anew from the record, and come to the same."""

from pathlib import Path

import pytest

from clew import MemoryStore, read, replay, resume, run
from clew_code.programs.process import SandboxedPython
from clew_code.sandbox import kernel
from tests.code.test_going_on import agent, cut_copy, told
from tests.code.test_process import CALM, ended
from tests.code.test_programs import seen
from tests.core.scenarios import Ledger

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}"),
]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_cut_after_every_entry_it_comes_to_the_same(tmp_path: Path) -> None:
    """Where a call's outcome is unknown, the program gets to know it, and may go another way."""
    (tmp_path / "whole").mkdir()
    store, executor = MemoryStore(), SandboxedPython()
    await run(agent(tmp_path / "whole", executor=executor), "?", store=store, run_id="r")
    whole = await read("r", store=store)
    lines = await store.read("r")
    for cut in range(1, len(lines)):
        folder = tmp_path / str(cut)
        folder.mkdir()
        second = await cut_copy(store, cut)
        again = agent(folder, executor=executor)
        assert (await resume(again, "r", store=second)).answer == "done"
        record = await read("r", store=second)
        done = Ledger(folder / "effects").lines()
        assert len(done) == len(set(done)), cut
        doubted = [c for c in record.calls if c.observation and c.observation.outcome == "unknown"]
        if not doubted:
            texts = [text.partition("\nNote: ")[0] for text in seen(record)]
            assert texts == seen(whole), cut
            assert [one[:2] for one in told(record)] == [one[:2] for one in told(whole)]
    await replay(agent(tmp_path, executor=executor), "r", store=store)


async def test_numpy_is_there_where_it_is_installed() -> None:
    pytest.importorskip("numpy")
    async with SandboxedPython().open(CALM, [], "x") as session:
        came = await ended(session, "import numpy\nint(numpy.arange(5).sum())")
        assert getattr(came, "value", came) == "10"
