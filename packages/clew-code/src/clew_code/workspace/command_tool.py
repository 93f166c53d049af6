"""The tool `run_command`: a program or a shell command in the sandbox."""

import os
import time
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from anyio import CancelScope, to_thread

from clew import Observation, Tool, ToolError
from clew.interfaces import Guard, Json, Trust
from clew.tools import Attempts
from clew.tools.run_process import SLACK
from clew_code.sandbox import CommandResult, Sandbox, SandboxError
from clew_code.workspace.display import head_and_tail
from clew_code.workspace.gate import Watch, watch_changes
from clew_code.workspace.protection import protected_paths, set_aside
from clew_code.workspace.root import Root, version
from clew_code.workspace.schemas import arguments

MAX_OUTPUT_CHARS: Final = 12_000
"""The most characters shown of each stream."""
KEPT: Final = 1_000_000
SECONDS: Final = 120
MAX_SECONDS: Final = 1_800
_SHELLS: Final = ("/bin/bash", "/bin/sh")


def command_tool(
    root: Root, sandbox: Sandbox, trust: Trust, guard: Guard | None, env: Collection[str]
) -> Tool:
    """The tool. Its programs get the environment variables named in `env`."""

    async def call(args: dict[str, Json], key: str) -> Observation:
        argv = _command_line(args)
        folder = args.get("folder") or ""
        if folder:
            folder = root.entries(folder)[0]
        seconds = args.get("seconds") or SECONDS
        kept = await to_thread.run_sync(protected_paths, root.path, root.protected)
        box = replace(sandbox, protected=(*sandbox.protected, *kept))
        begun = time.monotonic()
        remarks: list[str] = []
        with watch_changes(root) as watch:
            try:
                ended = await box.run(argv, seconds=seconds, limit=KEPT, cwd=folder, env=env)
            except SandboxError as error:
                raise ToolError(f"nothing was run: {error}") from error
            finally:
                with CancelScope(shield=True):
                    remarks += await to_thread.run_sync(set_aside, root.path, root.protected, kept)
        took = time.monotonic() - begun
        if ended.left:
            remarks.append(_LEFT.format(", ".join(ended.left)))
        remarks += await to_thread.run_sync(_remarks, root, watch)
        return _observation(ended, seconds, took, _note(remarks), trust)

    return Tool(
        "run_command",
        _ABOUT,
        _ARGS,
        call,
        effect="unsafe",
        trust=trust,
        guard=guard,
        attempts=Attempts(timeout=MAX_SECONDS + SLACK),
    )


def _remarks(root: Root, watch: Watch) -> list[str]:
    """What the program did to files that tools wrote meanwhile."""
    notes: list[str] = []
    for path, left in watch.changed.items():
        try:
            file = root.find(path)
        except ToolError:
            file = None
        if version(None if file is None else file.data) != left:
            notes.append(
                f"{path} was changed by a tool while the command ran, and by the command after "
                "that: read it, for the change of the tool may be lost"
            )
    return notes


def _note(remarks: Collection[str]) -> str:
    return "\n".join(["--- note", *remarks]) if remarks else ""


def _command_line(args: dict[str, Json]) -> list[str]:
    argv: list[str] = args.get("argv") or []
    line: str = args.get("command") or ""
    if bool(argv) == bool(line):
        raise ToolError("give either command, a line for the shell, or argv, a list of words")
    if any("\0" in word for word in [*argv, line]):
        raise ToolError("a NUL character is in the command, which no program can be given")
    shell = next((one for one in _SHELLS if os.path.exists(one)), _SHELLS[-1])
    return argv or [shell, "-c", line]


def _observation(
    ended: CommandResult, seconds: int, took: float, made: str, trust: Trust
) -> Observation:
    parts = [
        f"--- {name}\n{head_and_tail(stream, MAX_OUTPUT_CHARS).rstrip()}"
        for name, stream in (("stdout", ended.stdout), ("stderr", ended.stderr))
        if stream.strip()
    ]
    output = "\n".join([*parts, *filter(None, [made])]) or "(no output)"
    if ended.code is None:
        text = f"ERROR: timeout: it did not end in {seconds} s and was stopped, with all it started"
        text += f"; part of its work may be done\n{output}"
        return Observation(content=text, ok=False, code="timeout", outcome="unknown", trust=trust)
    if ended.why:
        text = f"ERROR: crashed: it was stopped, because {ended.why}\n{output}"
        return Observation(content=text, ok=False, code="crashed", outcome="unknown", trust=trust)
    how = f"exit code {ended.code}" if ended.code >= 0 else f"ended by signal {-ended.code}"
    return Observation(content=f"{how}, after {took:.1f} s\n{output}", trust=trust)


_LEFT: Final = (
    "still running when the command ended, and ended with it: {}. Nothing goes on in the "
    "background: start what you need, and use it, in one command"
)
_ABOUT: Final = (
    "Run a program, or a line of the shell, inside the folder: it can change files there, except "
    "in .git, and reaches no network. Its output is shown, of much the beginning and the end."
)
_ARGS: Final = arguments(
    [],
    command={"type": "string", "maxLength": 20_000, "description": "A line for the shell"},
    argv={
        "type": "array",
        "items": {"type": "string", "maxLength": 100_000},
        "maxItems": 1_000,
        "description": "A program and its arguments, without a shell",
    },
    folder={"type": "string", "maxLength": 4096, "description": "Where to run it"},
    seconds={"type": "integer", "minimum": 1, "maximum": MAX_SECONDS},
)
