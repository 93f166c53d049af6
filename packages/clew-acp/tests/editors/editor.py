"""An editor that starts an agent as a process, and keeps what it was told and asked."""

import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import acp
import anyio
from acp import schema

from tests.patience import PATIENCE


@dataclass
class Editor:
    """What a client of the SDK is: it keeps updates, and chooses `choice` where it is asked."""

    folder: Path
    choice: str = "allow"
    files: dict[str, str] = field(default_factory=dict[str, str])
    updates: list[tuple[str, dict[str, Any]]] = field(default_factory=list[Any])
    asked: list[schema.ToolCallUpdate] = field(default_factory=list[Any])
    programs: list[list[str]] = field(default_factory=list[Any])

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append((session_id, update.model_dump(exclude_none=True)))

    async def request_permission(
        self, session_id: str, tool_call: schema.ToolCallUpdate, options: Any, **_: Any
    ) -> schema.RequestPermissionResponse:
        assert [(each.option_id, each.kind) for each in options] == [
            ("allow", "allow_once"),
            ("reject", "reject_once"),
        ]
        self.asked.append(tool_call)
        if self.choice == "cancel":
            return schema.RequestPermissionResponse(
                outcome=schema.DeniedOutcome(outcome="cancelled")
            )
        outcome = schema.AllowedOutcome(outcome="selected", option_id=self.choice)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> Any:
        if path not in self.files:
            raise acp.RequestError.resource_not_found(path)
        return schema.ReadTextFileResponse(content=self.files[path])

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> None:
        self.files[path] = content

    async def create_terminal(
        self, session_id: str, command: str, args: list[str] | None = None, **_: Any
    ) -> schema.CreateTerminalResponse:
        self.programs.append([command, *(args or [])])
        return schema.CreateTerminalResponse(terminal_id=f"t{len(self.programs)}")

    async def wait_for_terminal_exit(self, **_: Any) -> schema.WaitForTerminalExitResponse:
        return schema.WaitForTerminalExitResponse(exit_code=0)

    async def terminal_output(self, **_: Any) -> schema.TerminalOutputResponse:
        return schema.TerminalOutputResponse(output="3 passed", truncated=False)

    async def release_terminal(self, **_: Any) -> None:
        self.programs.append(["released"])

    def on_connect(self, conn: Any) -> None:
        pass

    def told(self, kind: str, session_id: str = "") -> list[dict[str, Any]]:
        """The updates of a kind."""
        return [
            each
            for told_to, each in self.updates
            if each["session_update"] == kind and session_id in {"", told_to}
        ]

    def words(self, who: str = "agent_message", session_id: str = "") -> str:
        """What the agent, or the user, wrote."""
        return "".join(
            it["content"].get("text", "") for it in self.told(f"{who}_chunk", session_id)
        )

    def states(self, call: str) -> list[str]:
        """The states of a call (`step.index`), in their order."""
        kinds = {"tool_call", "tool_call_update"}
        return [
            each["status"]
            for _, each in self.updates
            if each["session_update"] in kinds and each["tool_call_id"].endswith(f":{call}")
        ]


FILES = schema.ClientCapabilities(
    fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
)


@dataclass
class Connection:
    """A started agent, seen from the editor."""

    agent: Any
    process: Process
    folder: Path
    about: schema.InitializeResponse

    async def new(self) -> str:
        made = await self.agent.new_session(cwd=str(self.folder), mcp_servers=[])
        return str(made.session_id)

    async def load(self, session_id: str) -> None:
        await self.agent.load_session(cwd=str(self.folder), session_id=session_id, mcp_servers=[])

    async def ask(self, session_id: str, *prompt: Any) -> schema.PromptResponse:
        """Say something, and wait for the end of the turn."""
        parts = [acp.text_block(it) if isinstance(it, str) else it for it in prompt]
        with anyio.fail_after(PATIENCE):
            answered: schema.PromptResponse = await self.agent.prompt(
                session_id=session_id, prompt=parts
            )
        return answered


def command(name: str, folder: Path, *more: str) -> list[str]:
    """What starts an agent of `process_agents`."""
    named = f"tests.editors.process_agents:{name}"
    store = str(folder / "runs.sqlite")
    return [sys.executable, "-m", "clew_cli", "acp", named, "--store", store, *more]


def environment(folder: Path) -> dict[str, str]:
    """That of the agent's process."""
    path = os.pathsep.join(sys.path)  # each package has a part of `tests`
    return {**os.environ, "EDITED_FOLDER": str(folder), "PYTHONPATH": path}


@asynccontextmanager
async def connect(
    editor: Editor, name: str, can: schema.ClientCapabilities | None = None, *more: str
) -> AsyncGenerator[Connection]:
    """Start an agent and greet it."""
    async with connect_to(editor, command(name, editor.folder, *more), can) as connection:
        yield connection


@asynccontextmanager
async def connect_to(
    editor: Editor,
    program: Sequence[str],
    can: schema.ClientCapabilities | None = None,
    **variables: str,
) -> AsyncGenerator[Connection]:
    """Start a program that serves an agent, with these variables more, and greet it."""
    async with acp.spawn_agent_process(
        cast("Any", editor), *program, env={**environment(editor.folder), **variables},
        cwd=editor.folder, transport_kwargs={"stderr": None},
        use_unstable_protocol=True,
    ) as (agent, process):  # fmt: skip
        about = await agent.initialize(
            protocol_version=1, client_capabilities=can or schema.ClientCapabilities(),
            client_info=schema.Implementation(name="test", version="1"),
        )  # fmt: skip
        yield Connection(agent, process, editor.folder, about)


async def until(path: Path) -> None:
    """Wait until there is a file."""
    with anyio.fail_after(PATIENCE):
        while not path.exists():
            await anyio.sleep(0.01)
