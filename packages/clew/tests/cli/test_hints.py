"""What an error says to do can be done: of a store that is gone, and where descriptors ran out."""

import subprocess
import sys
from pathlib import Path

import pytest

from clew_testing.servers.openai_server import OpenAIServer, Say
from tests.cli.shell import clew

KEY = "sk-very-secret-0123456789"

GONE = {
    "removed": "place.unlink()",
    "moved": "place.rename('elsewhere')",
    "replaced by a copy": "shutil.copy(place, 'copy'); Path('copy').replace(place)",
    "replaced by nothing": "Path('empty').touch(); Path('empty').replace(place)",
    "all files removed": "[one.unlink() for one in Path().glob('s.sqlite*')]",
}

TOOL = """
import shutil
from pathlib import Path

from clew import tool


@tool(effect="unsafe")
def lose() -> str:
    \"\"\"Lose the store.\"\"\"
    place = Path("s.sqlite")
    {}
    return "lost"
"""


@pytest.mark.parametrize("how", GONE)
def test_no_store_that_is_gone_is_to_be_resumed(how: str) -> None:
    Path("losing.py").write_text(TOOL.format(GONE[how]))
    with OpenAIServer([Say(calls=[("lose", "{}")]), Say("It is lost.")]) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY}
        options = ("--model", "openai:test", "--tools", "losing:lose", "--store", "s.sqlite")
        done = clew("ask", "Lose it", *options, env=env)
    assert done.code == 5
    assert "was removed or replaced" in done.err
    assert "go on with" not in done.err


SPENT = """
import asyncio, os, resource, sys
from clew import Agent, StoreError, run  # before descriptors are spent: a name is loaded when used
from clew.testing import ScriptedModel, finish

async def main():
    agent = Agent(model=ScriptedModel([finish("done")]))
    resource.setrlimit(resource.RLIMIT_NOFILE, ({limit}, {limit}))
    held = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        for _ in range({left}):
            os.close(held.pop())
    try:
        await run(agent, "Well?", store={store})
    except StoreError as error:
        print(error)

asyncio.run(main())
"""


@pytest.mark.parametrize("left", [0, 1, 2])
@pytest.mark.parametrize("limit", [64, 128])
def test_spent_descriptors_are_named(limit: int, left: int, tmp_path: Path) -> None:
    script = SPENT.format(limit=limit, left=left, store=repr(str(tmp_path / "runs.sqlite")))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert "rights" not in done.stdout
    assert "too many files open" in done.stdout, done.stderr
