"""Every attempt to get out of the folder by the file tools, and its result.

`python -m tests.workspace.escapes` prints them as a table.
"""

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from clew import Observation, ToolError
from tests.workspace.folder import tools_of

SECRET = "swordfish"
BEFORE = {"secret": SECRET, "sub/deep": SECRET}


@dataclass(frozen=True)
class Way:
    """A call, and what stands in the folder for it; `times` it is tried, while `meanwhile` runs."""

    name: str
    tool: str
    args: dict[str, Any]
    prepare: Callable[[Path, Path], object] = lambda root, outside: None
    meanwhile: Callable[[Path, Path], object] | None = None
    times: int = 1


def _linked(name: str, target: str) -> Callable[[Path, Path], object]:
    """Put a link there; OUT in its target is the folder outside."""

    def prepare(root: Path, outside: Path) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(target.replace("OUT", str(outside)))

    return prepare


def _ring(root: Path, outside: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")


def _folder_for_link(root: Path, outside: Path) -> None:
    """Swap a folder for a link that leads outside, and back."""
    with contextlib.suppress(OSError):
        (root / "way").rename(root / "was")
        (root / "way").symlink_to(outside)
        (root / "way").unlink()
        (root / "was").rename(root / "way")


def _file_for_link(root: Path, outside: Path) -> None:
    """Swap a file for a link that leads outside, and back."""
    with contextlib.suppress(OSError):
        (root / "plain").rename(root / "was")
        (root / "plain").symlink_to(outside / "secret")
        (root / "plain").unlink()
        (root / "was").rename(root / "plain")


def _made(root: Path, outside: Path) -> None:
    (root / "way").mkdir()
    (root / "way" / "secret").write_text("harmless")
    (root / "plain").write_text("harmless")


def _huge(root: Path, outside: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(10**12)


def _git(root: Path, outside: Path) -> None:
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / ".git" / "config").write_text(SECRET)


def _linked_git(root: Path, outside: Path) -> None:
    _git(root, outside)
    (root / "g").symlink_to(".git")


def _patch(line: str, *lines: str) -> dict[str, Any]:
    return {"patch": "\n".join(["*** Begin Patch", line, *lines, "*** End Patch"])}


OUTSIDE = "outside/secret"
EDIT = {"old_text": SECRET, "new_text": "harm"}
WAYS = [
    Way("read `../outside`", "read_file", {"path": "../outside/secret"}),
    Way("read an absolute path", "read_file", {"path": "OUT/secret"}),
    Way("read `a/../../outside`", "read_file", {"path": "way/../../outside/secret"}, _made),
    Way("read through a link", "read_file", {"path": "link"}, _linked("link", "OUT/secret")),
    Way("read through a relative link", "read_file", {"path": "d/link"},
        _linked("d/link", "../../outside/secret")),
    Way("read through a linked folder", "read_file", {"path": "way/secret"},
        _linked("way", "OUT")),
    Way("read through /proc/self/root", "read_file", {"path": "p/OUT/secret"},
        _linked("p", "/proc/self/root")),
    Way("read through /proc/self/cwd", "read_file", {"path": "/proc/self/cwd/pyproject.toml"}),
    Way("a link to itself", "read_file", {"path": "a"}, _ring),
    Way("a path with NUL", "read_file", {"path": "a\0/../../outside/secret"}),
    Way("a path of bytes that are no text", "read_file", {"path": "\udcff/x"}),
    Way("a name that is too long", "read_file", {"path": "x" * 300}),
    Way("a pipe that nobody writes to", "read_file", {"path": "pipe"},
        lambda root, _: os.mkfifo(root / "pipe")),
    Way("a link to a device", "read_file", {"path": "zero"}, _linked("zero", "/dev/zero")),
    Way("a huge file", "read_file", {"path": "huge"},
        _huge),
    Way("list `..`", "list_files", {"path": ".."}),
    Way("list a linked folder", "list_files", {"path": "way"}, _linked("way", "OUT")),
    Way("search outside", "grep", {"pattern": "sword", "path": "../outside"}),
    Way("search through links", "grep", {"pattern": "sword"}, _linked("way", "OUT")),
    Way("a pattern that never ends", "grep", {"pattern": "(a+)+$", "path": "a"},
        lambda root, _: (root / "a").write_text("a" * 60 + "b")),
    Way("write `../outside`", "write_file", {"path": "../outside/made", "content": "x"}),
    Way("write an absolute path", "write_file", {"path": "OUT/made", "content": "x"}),
    Way("write through a linked folder", "write_file", {"path": "way/made", "content": "x"},
        _linked("way", "OUT")),
    Way("write through a link to nothing", "write_file", {"path": "link", "content": "x"},
        _linked("link", "OUT/made")),
    Way("make folders through a link", "write_file", {"path": "way/a/b/c", "content": "x"},
        _linked("way", "OUT")),
    Way("edit through a link", "edit_file", {"path": "link", **EDIT},
        _linked("link", "OUT/secret")),
    Way("edit a hard link to a file outside", "edit_file", {"path": "hard", **EDIT},
        lambda root, outside: os.link(outside / "secret", root / "hard")),
    Way("add a file outside by a patch", "apply_patch",
        _patch("*** Add File: ../outside/made", "+x")),
    Way("move a file outside by a patch", "apply_patch",
        _patch("*** Update File: plain", "*** Move to: ../outside/made", "-harmless", "+x"), _made),
    Way("remove a file outside by a patch", "apply_patch",
        _patch("*** Delete File: way/secret"), _linked("way", "OUT")),
    Way("change a file outside by a diff", "apply_patch",
        {"patch": f"--- a/../{OUTSIDE}\n+++ b/../{OUTSIDE}\n@@ -1,1 +1,1 @@\n-{SECRET}\n+x\n"}),
    Way("read git's settings", "read_file", {"path": ".git/config"}, _git),
    Way("write a hook of git", "write_file", {"path": ".git/hooks/pre-commit", "content": "x"},
        _git),
    Way("write a hook of git, spelled `.GIT`", "write_file",
        {"path": ".GIT/hooks/pre-commit", "content": "x"}, _git),
    Way("write git's settings through a link", "write_file",
        {"path": "g/config", "content": "x", "overwrite": True},
        _linked_git),
    Way("write while a folder is swapped for a link", "write_file",
        {"path": "way/made", "content": "x", "overwrite": True}, _made, _folder_for_link, 300),
    Way("read while a folder is swapped for a link", "read_file", {"path": "way/secret"}, _made,
        _folder_for_link, 300),
    Way("edit while a file is swapped for a link", "edit_file", {"path": "plain", **EDIT}, _made,
        _file_for_link, 300),
    Way("run a command in a folder outside", "run_command",
        {"command": "cat secret", "folder": "../outside"}),
    Way("run a command in a linked folder", "run_command",
        {"command": "cat secret", "folder": "way"}, _linked("way", "OUT")),
]  # fmt: skip


async def tried(way: Way) -> tuple[bool, str]:
    """Whether nothing outside was read or changed, and what the tool said."""
    with tempfile.TemporaryDirectory(prefix="ways-") as place:
        root, outside = Path(place) / "root", Path(place) / "outside"
        for folder in (root, outside / "sub"):
            folder.mkdir(parents=True)
        for name, text in BEFORE.items():
            (outside / name).write_text(text)
        way.prepare(root, outside)
        told = await _called(way, root, outside)
        left = {
            str(path.relative_to(outside)): path.read_text()
            for path in outside.rglob("*")
            if path.is_file()
        }
        hooks = root / ".git" / "hooks"
        fine = left == BEFORE and not (hooks.is_dir() and list(hooks.iterdir()))
        fine &= not any(SECRET in said for said in told if way.name != EXPECTED)
        return fine, min(told, key=len).replace("ERROR: tool_error: ", "").splitlines()[0]


EXPECTED = "edit a hard link to a file outside"
"""The name in the folder is the folder's own: it is cut off from the file outside."""


async def _called(way: Way, root: Path, outside: Path) -> list[str]:
    """Call the tool, and give what it said each time."""
    tool = tools_of(root)[way.tool]
    args = {
        name: text.replace("OUT", str(outside)) if isinstance(text, str) else text
        for name, text in way.args.items()
    }
    over = threading.Event()

    def swap() -> None:
        while way.meanwhile is not None and not over.is_set():
            way.meanwhile(root, outside)

    thread = threading.Thread(target=swap)
    thread.start()
    told: list[str] = []
    try:
        for _ in range(way.times):
            try:
                seen: Any = await tool.call(dict(args), "run:1.1")
                told.append(seen.text if isinstance(seen, Observation) else seen)
            except ToolError as error:
                told.append(str(error))
    finally:
        over.set()
        thread.join()
    return told


async def main() -> None:
    """Print the table."""
    held = 0
    print("| attempt | tool | result |\n|---|---|---|")
    for way in WAYS:
        fine, said = await tried(way)
        held += fine
        said = said if len(said) < 90 else said[:90] + " …"
        print(f"| {way.name} | `{way.tool}` | {'' if fine else '**escaped** '}{said} |")
    print(f"\n{held} of {len(WAYS)} attempts failed.")


if __name__ == "__main__":
    anyio.run(main)
