"""No tool of a workspace writes what decides what programs, and the agent itself, may do."""

import os
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.agent_files import load_agent
from clew.testing import ScriptedModel, act, acts, finish
from clew_code.sandbox import kernel
from clew_code.workspace import workspace_tools
from tests.workspace.folder import ran

SANDBOX = pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}")


def patch(*lines: str) -> Any:
    return act("apply_patch", patch="\n".join(["*** Begin Patch", *lines, "*** End Patch"]))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "agent.toml").write_text("name = 'a'\n")
    (folder / "agent.mcp.json").write_text("{}\n")
    (folder / ".env").write_text("A=1\n")
    (folder / "link").symlink_to(".env")
    os.link(folder / "agent.toml", folder / "hard.toml")
    return folder


WRITES = [
    act("write_file", path=".env", content="x", overwrite=True),
    act("write_file", path="sub/.env", content="x"),
    act("write_file", path="new/.env.local", content="x"),
    act("write_file", path=".ENV", content="x"),
    act("write_file", path=".envrc", content="x"),
    act("write_file", path="link", content="x", overwrite=True),
    act("write_file", path="agent.toml", content="x", overwrite=True),
    act("write_file", path="hard.toml", content="x", overwrite=True),
    act("write_file", path="sub/../agent.toml", content="x", overwrite=True),
    act("write_file", path="agent.mcp.json", content="x", overwrite=True),
    act("edit_file", path=".env", old_text="A=1\n", new_text="B=1\n"),
    patch("*** Update File: .env", "-A=1", "+B=1"),
    patch("*** Delete File: .env"),
    patch("*** Delete File: agent.toml"),
    patch("*** Update File: agent.toml", "*** Move to: other.toml"),
    patch("*** Update File: hard.toml", "*** Move to: .env.prod"),
    patch("*** Add File: .env.test", "+B=1"),
    act("apply_patch", patch="--- /dev/null\n+++ b/.env.x\n@@ -0,0 +1 @@\n+a\n"),
    act(
        "apply_patch",
        patch="diff --git a/agent.toml b/agent.toml\nold mode 100644\nnew mode 100755\n",
    ),
]


@pytest.mark.parametrize("write", WRITES, ids=map(str, range(len(WRITES))))
async def test_no_tool_writes_them(root: Path, write: Any) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    (seen,) = await ran(root, write, protected=[root / "agent.toml"])
    assert "is not written: it " in seen.text
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("protected", "path"),
    [
        ("agent.toml", "agent.toml"),
        ("./agent.toml", "agent.toml"),
        ("sub/../agent.toml", "hard.toml"),
        ("sub", "sub/new.txt"),
        ("sub/", "sub/deep/new.txt"),
        (".", "anything.txt"),
        ("later.txt", "later.txt"),
    ],
)
async def test_relative_paths_and_folders_are_protected(
    root: Path, protected: str, path: str
) -> None:
    (seen,) = await ran(
        root, act("write_file", path=path, content="x", overwrite=True), protected=[protected]
    )
    assert "is not written: it is protected from this agent; ask the person" in seen.text


@pytest.mark.parametrize("author", ["Ann <a@b>", "clew <clew@localhost>", "Ü. Å, jr <root>"])
def test_an_author_that_git_can_name_is_taken(root: Path, author: str) -> None:
    assert workspace_tools(root, author=author)


async def test_a_file_beside_a_protected_folder_is_written(root: Path) -> None:
    (seen,) = await ran(root, act("write_file", path="subway.txt", content="x"), protected=["sub"])
    assert seen.ok


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ({"env": ["A=B"]}, "env names 'A=B', which is no variable"),
        ({"env": [""]}, "env names '', which is no variable"),
        ({"env": ["A B"]}, "env names 'A B', which is no variable"),
        ({"env": [3]}, "env names 3, which is no variable"),
        ({"env": "LANG"}, "env is 'LANG': give a list of names"),
        ({"readable": ["/nonexist"]}, "readable names /nonexist, which is not there"),
        ({"readable": ["nonexist"]}, "/nonexist, which is not there: make it, or drop it"),
        ({"readable": "/usr"}, "readable is '/usr': give a list"),
        ({"protected": "agent.toml"}, "protected is 'agent.toml': give a list"),
        ({"only": "grep"}, "only is 'grep': give a list"),
        *(
            ({"author": author}, f"author is {author!r}: give a name and an address, as in 'clew <")
            for author in (
                "nobody",
                "",
                " ",
                "ann@example.com",
                "<ann@example.com>",
                "Ann <>",
                "Ann <a b>",
                "Ann <a@b> x",
                "Ann\n<a@b>",
                "A\nB <a@b>",
                "Ann <<a@b>>",
                "Ann<a@b>",
                5,
            )
        ),
    ],
    ids=str,
)
def test_settings_that_name_nothing_are_refused(
    root: Path, setting: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError) as refused:
        workspace_tools(root, **setting)
    assert says in str(refused.value)


@SANDBOX
@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "echo x > .env",
        "echo x >> agent.toml",
        "rm -f agent.mcp.json",
        "mv agent.toml b",
        "rm -rf .env",
    ],
)
async def test_no_program_writes_them(root: Path, command: str) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    await ran(root, act("run_command", command=command), protected=[root / "agent.toml"])
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@SANDBOX
@pytest.mark.slow
async def test_an_env_file_that_a_program_made_is_told(root: Path) -> None:
    (seen,) = await ran(root, act("run_command", command="echo x > sub/.env"))
    assert "the command made sub/.env" in seen.text


@SANDBOX
@pytest.mark.slow
async def test_a_file_that_a_program_and_a_tool_changed_at_once_is_told(root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    command = "while [ ! -e done.txt ]; do sleep 0.02; done; echo two > a.txt"
    edit = ("*** Update File: a.txt", "-one", "+one", "+more", "*** Add File: done.txt", "+x")
    both = acts(act("run_command", command=command, seconds=60), patch(*edit))
    said = await told(Agent(ScriptedModel([both, finish("Done.")]), workspace_tools(root)))
    assert "a.txt was changed by a tool while the command ran" in said[0]


async def told(agent: Agent[Any]) -> list[str]:
    store = MemoryStore()
    result = await run(agent, "Work.", store=store)
    record = await read(result.run_id, store=store)
    return [call.observation.text for call in record.calls if call.observation]


PARTS = '''
from clew import tool

@tool(effect="pure")
def double(number: int) -> int:
    """Twice the number."""
    return 2 * number
'''


@pytest.mark.parametrize("name", ["agent.toml", "parts_of_it.py", "agent.mcp.json"])
async def test_the_files_of_a_running_agent_are_not_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "parts_of_it.py").write_text(PARTS)
    file = tmp_path / "agent.toml"
    file.write_text('model = "offline"\ntools = ["parts_of_it:double"]\nworkspace = "."\n')
    loaded = load_agent(file).agent
    write = act("write_file", path=name, content="x", overwrite=True)
    said = await told(loaded.replace(model=ScriptedModel([write, finish("Done.")])))
    assert "is not written: it " in said[0]
