"""The files and terminals of an editor as tools: a session has those that its client offers.

A read sees what is not saved yet, and a write is a change in the editor that a person can undo.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol

from acp import RequestError, schema

from clew import Agent, RunContext, Tool, ToolError, Trajectory, tool
from clew.interfaces import Json
from clew.tools import Attempts
from clew_acp.turn import Editor

READ: Final = "editor_read"
WRITE: Final = "editor_write"
RUN: Final = "editor_run"
NAMES: Final = (READ, WRITE, RUN)

_OUTPUT: Final = 100_000
"""The most bytes of a program's output."""
_PATIENCE: Final = 600.0
"""Seconds that a program in a terminal may take."""


class EditorClient(Editor, Protocol):
    """What the SDK's connection can ask of a client."""

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None
    ) -> schema.ReadTextFileResponse:
        """The text of a file."""
        ...

    async def write_text_file(
        self, session_id: str, path: str, content: str
    ) -> schema.WriteTextFileResponse | None:
        """Write a file."""
        ...

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[schema.EnvVariable] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
    ) -> schema.CreateTerminalResponse:
        """Begin a program in a terminal."""
        ...

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str
    ) -> schema.WaitForTerminalExitResponse:
        """Wait until the program has ended."""
        ...

    async def terminal_output(
        self, session_id: str, terminal_id: str
    ) -> schema.TerminalOutputResponse:
        """What the program has printed."""
        ...

    async def release_terminal(
        self, session_id: str, terminal_id: str
    ) -> schema.ReleaseTerminalResponse | None:
        """End the program, if it has not, and forget the terminal."""
        ...


def editor_tools(
    client: EditorClient,
    session_id: str,
    folders: Sequence[Path],
    can: schema.ClientCapabilities,
) -> tuple[Tool, ...]:
    """The tools that a client offers; files are those below the session's folders."""
    files = _Files(client, session_id, folders)
    offers = {
        READ: can.fs is not None and can.fs.read_text_file,
        WRITE: can.fs is not None and can.fs.write_text_file,
        RUN: can.terminal,
    }
    reads = bool(offers[READ])
    tools = {READ: files.reader(), WRITE: files.writer(reads=reads), RUN: files.runner()}
    return tuple(tools[name] for name in NAMES if offers[name])


def offered_before(record: Trajectory) -> schema.ClientCapabilities:
    """What the client of a record offered, by the tools that its agent had."""
    tools = (record.spec or record.started.spec).tools
    files = schema.FileSystemCapabilities(
        read_text_file=READ in tools, write_text_file=WRITE in tools
    )
    return schema.ClientCapabilities(fs=files, terminal=RUN in tools)


def is_agent_of(agent: Agent[Any], record: Trajectory) -> bool:
    """Whether a record's agent is this one."""
    old, new = record.spec or record.started.spec, agent.spec
    same = (old.model, old.codec, old.prompt) == (new.model, new.codec, new.prompt)
    return same and (old.params, old.tools, old.parts) == (new.params, new.tools, new.parts)


class _Files:
    """The files of a session, as the editor has them."""

    def __init__(self, client: EditorClient, session_id: str, folders: Sequence[Path]) -> None:
        self._client, self._session, self._folders = client, session_id, folders

    def _path(self, path: str) -> str:
        """The absolute path. Raises `ToolError` for one outside of the session's folders."""
        parts = Path(path)
        if "\0" in path or ".." in parts.parts:
            raise ToolError("the path must not contain ..: give a path below the session's folder")
        file = self._folders[0] / parts
        if not any(file.is_relative_to(folder) for folder in self._folders):
            names = ", ".join(map(str, self._folders))
            raise ToolError(
                f"{path} is outside of the session's folders: give a path below {names}"
            )
        return str(file)

    async def _text(self, path: str, line: int | None = None, limit: int | None = None) -> str:
        came = await self._client.read_text_file(
            session_id=self._session, path=path, line=line, limit=limit
        )
        return came.content

    def reader(self) -> Tool:
        """The tool that reads."""

        @tool(name=READ, effect="read", timeout=60)
        async def editor_read(path: str, line: int | None = None, limit: int | None = None) -> str:
            """Read a text file as it stands in the editor, with changes that are not saved.

            Args:
                path: Its path from the top of the session's folder, or an absolute one.
                line: The first line to read, from 1.
                limit: How many lines to read.
            """
            file = self._path(path)
            try:
                return await self._text(file, line, limit)
            except RequestError as error:
                raise ToolError(f"the editor cannot read {path}: {error}") from error

        return editor_read

    def writer(self, *, reads: bool) -> Tool:
        """The tool that writes; after a crash it looks what the editor has, if it `reads`."""

        async def is_written(args: dict[str, Json], key: str) -> str | None:
            """What the call gave, where the file has its text. Raises where nobody can know."""
            del key
            if await self._text(self._path(str(args["path"]))) == args["content"]:
                return _WRITTEN
            raise ToolError("the file has another text: a person may have changed it since")

        @tool(name=WRITE, effect="unsafe", timeout=60)
        async def editor_write(path: str, content: str) -> str:
            """Write a text file in the editor, in place of all that it has.

            Args:
                path: Its path from the top of the session's folder, or an absolute one.
                content: All of its text.
            """
            file = self._path(path)
            try:
                await self._client.write_text_file(
                    session_id=self._session, path=file, content=content
                )
            except RequestError as error:
                raise ToolError(f"the editor did not write {path}: {error}") from error
            return _WRITTEN

        if not reads:
            return editor_write
        return replace(editor_write, attempts=Attempts(timeout=60, probe=is_written))

    def runner(self) -> Tool:
        """The tool that runs a program; a person approves each."""

        @tool(name=RUN, effect="unsafe", timeout=_PATIENCE, approve="runs a program in the editor")
        async def editor_run(  # noqa: D417 - no model is told of the context
            command: str, ctx: RunContext, args: list[str] | None = None
        ) -> dict[str, Json]:
            """Run a program in a terminal of the editor, in the session's folder.

            Args:
                command: The program.
                args: Its arguments; no shell reads them.
            """
            try:
                made = await self._client.create_terminal(
                    session_id=self._session, command=command, args=args or [],
                    cwd=str(self._folders[0]), output_byte_limit=_OUTPUT,
                )  # fmt: skip
            except RequestError as error:
                raise ToolError(f"the editor did not run {command}: {error}") from error
            terminal = schema.TerminalToolCallContent(type="terminal", terminal_id=made.terminal_id)
            update = schema.ToolCallProgress(
                session_update="tool_call_update", tool_call_id=ctx.key, content=[terminal]
            )
            await self._client.session_update(self._session, update)
            return await self._ended(made.terminal_id)

        return editor_run

    async def _ended(self, terminal: str) -> dict[str, Json]:
        """What a program printed, and how it ended."""
        try:
            ended = await self._client.wait_for_terminal_exit(
                session_id=self._session, terminal_id=terminal
            )
            came = await self._client.terminal_output(
                session_id=self._session, terminal_id=terminal
            )
        finally:
            await self._client.release_terminal(session_id=self._session, terminal_id=terminal)
        return {
            "exit_code": ended.exit_code, "signal": ended.signal, "output": came.output,
            "cut": bool(came.truncated),
        }  # fmt: skip


_WRITTEN: Final = "written"
