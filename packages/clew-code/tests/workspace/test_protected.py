"""No tool of a workspace writes what decides what programs, and the agent itself, may do."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, ConfigError, MemoryStore, read, run
from clew.agent_files import load_agent
from clew.testing import ScriptedModel, act, acts, finish
from clew_code.sandbox import kernel
from clew_code.workspace import workspace_tools
from clew_code.workspace.repositories import is_plain, named_by_settings
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


@pytest.mark.parametrize(
    "path",
    [
        *("./.env", "sub/./../.env", "sub//..//.env", ".env.", ".env ", ".EnV", "\uff0eenv"),
        *(".e\u200cnv", ".env\u200b", ".\u2060env", "way/.env", "way/../.env", ".\uff25nv"),
        *("sub/x.MCP.JSON", ".mcp.json", "way/agent.toml", "HEAD", "sub/HEAD", "sub/head"),
    ],
)
@pytest.mark.parametrize("tool", ["write_file", "apply_patch", "rename"])
async def test_no_spelling_of_a_path_writes_them(root: Path, path: str, tool: str) -> None:
    (root / "way").symlink_to(".")
    (root / "plain.txt").write_text("A=1\n")
    write = {
        "write_file": act("write_file", path=path, content="x", overwrite=True),
        "apply_patch": patch(f"*** Add File: {path}", "+x"),
        "rename": patch("*** Update File: plain.txt", f"*** Move to: {path}", "-A=1", "+A=2"),
    }[tool]
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    (seen,) = await ran(root, write, protected=[root / "agent.toml"])
    assert not seen.ok
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("path", [".git/x", ".GIT/x", ".g\u200cit/x", ".git./x", ".git /x"])
async def test_no_spelling_of_git_is_written(root: Path, path: str) -> None:
    (seen,) = await ran(root, act("write_file", path=path, content="x"))
    assert "is git's own" in seen.text


@SANDBOX
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("mv conf old; mkdir conf; echo x > conf/agent.toml", "conf/agent.toml"),
        ("rm -rf conf; mkdir conf; echo x > conf/agent.toml", "conf/agent.toml"),
        ("ln -sfn /tmp conf", "conf/agent.toml"),
        ("mv sub old; mkdir sub; echo x > sub/.env", "sub/.env"),
    ],
)
async def test_no_folder_is_moved_away_with_them(root: Path, command: str, left: str) -> None:
    (root / "conf").mkdir()
    (root / "conf" / "agent.toml").write_text("name = 'a'\n")
    (root / "sub" / ".env").write_text("name = 'a'\n")
    await ran(root, act("run_command", command=command), protected=[root / "conf/agent.toml"])
    assert (root / left).read_text() == "name = 'a'\n"


@SANDBOX
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("rm -f x; echo x > later/.env", "later/.env"),
        ("ln -s /etc/hostname later/.env", "later/.env"),
        ("mkfifo later/.envrc", "later/.envrc"),
        ("echo x > b.mcp.json", "b.mcp.json"),
        ("echo x > later.toml", "later.toml"),
        ("ln -s /tmp later.toml", "later.toml"),
        ("mkdir later.toml; touch later/.env.from-command", "later.toml"),
    ],
)
async def test_what_a_command_made_is_set_aside(root: Path, command: str, made: str) -> None:
    (root / "later").mkdir()
    run_it = act("run_command", command=command)
    (seen,) = await ran(root, run_it, protected=["later.toml"])
    told = f"the command made {made}, which no tool writes: it is called {Path(made).name}.from-"
    assert told in seen.text
    assert not os.path.lexists(root / made)


@SANDBOX
@pytest.mark.slow
async def test_a_second_one_has_a_name_of_its_own(root: Path) -> None:
    again = act("run_command", command="echo x > b.mcp.json")
    (root / "b.mcp.json.from-command").write_text("x")
    (seen,) = await ran(root, again)
    assert "it is called b.mcp.json.from-command-2 now" in seen.text


@SANDBOX
@pytest.mark.slow
async def test_what_cannot_be_renamed_is_told(root: Path) -> None:
    deep = """import os
while (left := 4080 - len(os.getcwd())) > 2:
    os.mkdir("d" * min(left, 240)); os.chdir("d" * min(left, 240))
open(".env", "w")"""
    (seen,) = await ran(root, act("run_command", command=f"python3 -c '{deep}'"))
    assert "look into it before a program reads it (File name too long)" in seen.text


@SANDBOX
@pytest.mark.slow
async def test_a_repository_without_programs_stays_where_a_command_made_it(root: Path) -> None:
    lines = "git init -q; git config user.name A; git init -q --bare sub/b; touch .env.example"
    (seen,) = await ran(root, act("run_command", command=lines))
    assert "the command made .git, a git repository without programs" in seen.text
    assert "the command made .env.example: look into it" in seen.text
    assert (root / ".git" / "HEAD").exists()
    assert (root / "sub" / "b" / "HEAD").exists()


async def test_what_git_names_is_not_written_and_told(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for key, value in {
        "core.hooksPath": "hooks", "alias.x": "!sh 'tools/x.sh", "alias.co": "checkout plain.txt",
        "filter.x.clean": f"{root}/tools/y", "diff.z.command": "python -m pack.z --q z.txt",
    }.items():  # fmt: skip
        subprocess.run(["git", "-C", str(root), "config", key, value], check=True)
    for path in ("hooks/new", "tools/y", "pack/z.py", "pack/z/more.py", "z.txt"):
        (seen,) = await ran(root, act("write_file", path=path, content="x"))
        assert f"{path} is not written: the settings of git name it as a program" in seen.text
    for path in ("plain.txt", "tools/other", "--q", "checkout"):
        assert (await ran(root, act("write_file", path=path, content="x")))[0].ok


async def test_no_file_is_put_into_a_repository_of_any_name(root: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(root / "sub" / "meta")], check=True)
    (root / "half").mkdir()
    (root / "half" / "HEAD").write_text("ref: refs/heads/m\n")
    for path in (
        "sub/meta/config",
        "sub/meta/hooks/pre-commit",
        "half/objects/x",
        "half/commondir",
    ):
        (seen,) = await ran(root, act("write_file", path=path, content="x", overwrite=True))
        assert "it belongs to a git repository, whose settings name programs" in seen.text
    assert (await ran(root, act("write_file", path="half/other", content="x")))[0].ok


def test_without_git_nothing_is_named_by_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "config", "core.hooksPath", "hooks"], check=True)
    assert named_by_settings(str(root)) == [f"{root}/hooks"]
    assert not is_plain(str(root / ".git"))
    monkeypatch.setenv("PATH", str(root))
    assert named_by_settings(str(root)) == []
    assert not is_plain(str(root / ".git"))
    assert is_plain(str(root / "sub"))  # no settings: git's own


@pytest.mark.parametrize("name", ["", "-wal", ".heads", ".claims"])
async def test_a_store_of_runs_in_the_folder_is_not_written(root: Path, name: str) -> None:
    """The record of the run itself may lie there."""
    (root / "runs.sqlite").write_bytes(b"SQLite format 3\0")
    (root / "runs.sqlite.heads").write_bytes(b"clew")
    path = f"runs.sqlite{name}"
    before = (root / path).read_bytes() if (root / path).exists() else b""
    (seen,) = await ran(root, act("write_file", path=path, content="x", overwrite=bool(before)))
    assert "store of runs" in seen.text
    assert ((root / path).read_bytes() if before else b"") == before


@SANDBOX
@pytest.mark.slow
async def test_the_longest_of_names_is_changed_too(root: Path) -> None:
    name = "x" * 240 + ".mcp.json"
    (seen,) = await ran(root, act("run_command", command=f"echo x > {name}"))
    assert f"it is called {'x' * 200}.from-command now" in seen.text
