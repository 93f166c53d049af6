"""All tools of a workspace, and their settings."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

from anyio import to_thread

from clew import Call, ConfigError, Tool, Trajectory, Verdict
from clew.guards import Labels
from clew.interfaces import EFFECTFUL, Guard, Trust
from clew.tools.run_process import check_variables
from clew_code.sandbox import Sandbox, SandboxLimits, kernel
from clew_code.workspace.command_tool import command_tool
from clew_code.workspace.git_tools import Git, git_tools
from clew_code.workspace.read_tools import read_tools
from clew_code.workspace.root import Root
from clew_code.workspace.write_tools import write_tools

AUTHOR: Final = "clew <clew@localhost>"
NAMES: Final = (
    "list_files", "read_file", "grep", "edit_file", "write_file", "apply_patch", "run_command",
    "git_status", "git_diff", "git_commit",
)  # fmt: skip

_AUTHOR: Final = re.compile(r"[^<>\s\0][^<>\n\r\0]* <[^<>\s\0]+>")
_NAMED: Final = frozenset({"only", "env"})


async def ask_where_walls_lack(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Hold a call that runs a program if the kernel cannot build the whole sandbox."""
    lacks = (await to_thread.run_sync(kernel)).lacks
    if not lacks:
        return None
    reason = (
        f"this machine's sandbox is not complete ({lacks}): the program may reach more than the "
        "folder. Allow it?"
    )
    return Verdict("hold", reason)


def _limits(limits: SandboxLimits | Mapping[str, int]) -> SandboxLimits:
    if isinstance(limits, SandboxLimits):
        return limits
    known = [one.name for one in fields(SandboxLimits)]
    if unknown := [name for name in limits if name not in known]:
        message = f"there is no sandbox limit {unknown[0]!r}: there are {', '.join(known)}"
        raise ConfigError(message, field=f"limits.{unknown[0]}")
    return SandboxLimits(**limits)


def _check_lists(**lists: object) -> None:
    """Raise `ConfigError` for one text in the place of a list of them."""
    for name, value in lists.items():
        if isinstance(value, str):
            kind = "names" if name in _NAMED else "paths"
            raise ConfigError(f"{name} is {value!r}: give a list of {kind}", field=name)


def _check_author(author: object) -> None:
    """Raise `ConfigError` unless git can name the author: it wants a name and an address."""
    if not isinstance(author, str) or _AUTHOR.fullmatch(author) is None:
        message = f"author is {author!r}: give a name and an address, as in {AUTHOR!r}"
        raise ConfigError(message, field="author")


def _folder(root: str | Path) -> Path:
    """The folder of the workspace. Raises `ConfigError` where there is none."""
    folder = Path(root).expanduser()
    if not folder.is_dir():
        message = f"there is no folder {root} for the workspace: make it, or name another"
        raise ConfigError(message, field="root")
    return folder


def _variables(named: Sequence[str]) -> tuple[str, ...]:
    """The names of variables. Raises `ConfigError` for one that is not set."""
    names = check_variables(named)
    if unset := [name for name in names if name not in os.environ]:
        message = f"env names {unset[0]}, which is not set: set it, or leave it out"
        raise ConfigError(message, field="env")
    return names


def _below(folder: Path, protected: Sequence[str | Path]) -> tuple[str, ...]:
    """The real paths of what no tool writes; relative ones are below the folder."""
    return tuple(os.path.realpath(folder / Path(one).expanduser()) for one in protected)


def _absolute_paths(readable: Sequence[str]) -> tuple[str, ...]:
    """The absolute paths of places to read. Raises `ConfigError` for one that is not there."""
    paths = tuple(os.path.abspath(Path(one).expanduser()) for one in readable)
    if missing := [one for one in paths if not os.path.lexists(one)]:
        message = f"readable names {missing[0]}, which is not there: make it, or drop it"
        raise ConfigError(message, field="readable")
    return paths


def workspace_tools(
    root: str | Path,
    *,
    only: Sequence[str] = NAMES,
    network: bool = False,
    readable: Sequence[str] = (),
    env: Sequence[str] = (),
    limits: SandboxLimits | Mapping[str, int] | None = None,
    default_branch: bool = False,
    author: str = AUTHOR,
    protected: Sequence[str | Path] = (),
    trusted: bool = False,
    unsafe_kernel: bool = False,
) -> tuple[Tool, ...]:
    """Tools for the files below a folder, programs in it, and its git repository.

    `only` selects tools by name (of `NAMES`). Programs may use the `network`, read the places in
    `readable`, and get the environment variables named in `env`. `default_branch` allows commits to
    the default branch; `author` is their author. No tool writes the `protected` files and folders
    (relative paths are below the folder), nor a link to one, nor `.env` and the pins of MCP
    servers. File content and program output are untrusted unless `trusted`. If the kernel cannot
    build the whole sandbox, calls that run programs are held for approval, unless `unsafe_kernel`.
    Raises `ConfigError` for invalid settings.
    """
    if sys.platform == "win32":  # pragma: no cover - it has no paths below an open folder
        raise ConfigError("a workspace needs Linux or macOS: use a Linux container")
    folder = _folder(root)
    _check_lists(only=only, readable=readable, env=env, protected=protected)
    _check_author(author)
    _check_names(only)
    files = Root(os.path.realpath(folder), _below(folder, protected))
    trust: Trust = "trusted" if trusted else "untrusted"
    box = Sandbox(
        root=files.path,
        network=network,
        readable=_absolute_paths(readable),
        limits=_limits(limits or {}),
        weak=True,  # the guard asks a person first
    )
    guard: Guard | None = None if unsafe_kernel else ask_where_walls_lack
    command = command_tool(files, box, trust, guard, _variables(env))
    git = Git(files, box, author, default_branch)
    inside = [*write_tools(files), *git_tools(git, trust, guard)]
    inside += [] if network or unsafe_kernel else [command]
    tools = [*read_tools(files, trust), *map(_contained, inside)]
    tools += [command] if network or unsafe_kernel else []
    return tuple(
        sorted((it for it in tools if it.name in only), key=lambda it: NAMES.index(it.name))
    )


def _check_names(only: Sequence[str]) -> None:
    if unknown := [name for name in only if name not in NAMES]:
        has = ", ".join(NAMES)
        message = f"there is no workspace tool {unknown[0]!r}: there are {has}"
        raise ConfigError(message, field="only")


def _contained(tool: Tool) -> Tool:
    """The tool with the label that what it does stays in the folder."""
    return replace(tool, labels=Labels(contained=True)) if tool.effect in EFFECTFUL else tool
