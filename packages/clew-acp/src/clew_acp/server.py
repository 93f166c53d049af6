"""The agent's side of the protocol: each request of a client is answered by the runs of a store."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, cast

from acp import RequestError, run_agent, schema

from clew import Agent, ClewError, ConfigError, Question, Trajectory, read
from clew.conversations import check_question
from clew.interfaces import Json, Store
from clew.stores import RunNotFoundError, Where, store_at, without_password
from clew_acp.content import Block, ReadFile, question_of, reads_nothing, takes
from clew_acp.editor_tools import EditorClient, editor_tools, is_agent_of, offered_before
from clew_acp.sessions import Session, Sessions
from clew_acp.stops import stop_reason, usage
from clew_acp.transport import LineTransport, own_stdio
from clew_acp.turn import Turn

LOG: Final = logging.getLogger("clew")
VERSION: Final = 1
"""The version of the protocol."""

CONTINUE: Final = "/continue"
_COMMANDS: Final = [
    schema.AvailableCommand(
        name="continue", description="Go on where the session was left, without new words"
    )
]
_NOT_CONNECTED: Final = (
    "the session's MCP servers are not used: name them in the agent's file instead (%s)"
)


@asynccontextmanager
async def one_line_errors() -> AsyncGenerator[None]:
    """Errors of clew as errors of JSON-RPC, with the line that says what to do."""
    try:
        yield
    except RunNotFoundError as error:
        raise RequestError(-32002, str(error)) from error
    except ConfigError as error:
        raise RequestError(-32602, str(error)) from error
    except (ClewError, ConnectionError) as error:
        raise RequestError(-32603, str(error)) from error


@dataclass
class AcpAgent:
    """Answers one client; make it for a connection. `store_location` is for commands to copy."""

    agent: Agent[Any]
    store: Store
    origin: dict[str, Json] = field(default_factory=dict[str, Json])
    accept_change: bool = False
    store_location: str = ""
    _client: EditorClient | None = None
    _name: str = "editor"
    _telling: set[asyncio.Future[None]] = field(default_factory=set["asyncio.Future[None]"])

    def __post_init__(self) -> None:
        """Begin without sessions, and with a client that can nothing."""
        self._capabilities = schema.ClientCapabilities()
        self._sessions = Sessions(self.store, self._agent_of, self.origin, self.accept_change)

    def on_connect(self, conn: Any) -> None:
        """Keep the client, to tell and to ask it. The SDK calls this."""
        self._client = conn

    @property
    def client(self) -> EditorClient:
        """The client. Raises `ConfigError` before there is one."""
        if self._client is None:
            raise ConfigError("no client is connected")
        return self._client

    def _agent_of(
        self, session_id: str, folders: Sequence[Path], record: Trajectory | None
    ) -> tuple[Agent[Any], bool]:
        """The agent with the tools of the editor, and whether that is all that has changed."""

        def equipped(can: schema.ClientCapabilities) -> Agent[Any]:
            tools = editor_tools(self.client, session_id, folders, can)
            if not tools:
                return self.agent
            return self.agent.replace(tools=(*self.agent.tools, *tools))

        agent = equipped(self._capabilities)
        if record is None:
            return agent, False
        return agent, is_agent_of(equipped(offered_before(record)), record)

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: schema.ClientCapabilities | None = None,
        client_info: schema.Implementation | None = None,
    ) -> schema.InitializeResponse:
        """Say what this agent can, and learn what the client can."""
        del protocol_version  # there is one
        self._capabilities = client_capabilities or schema.ClientCapabilities()
        self._name = client_info.name[:200] if client_info is not None else "editor"
        sessions = schema.SessionCapabilities(
            list=schema.SessionListCapabilities(), fork=schema.SessionForkCapabilities(),
            resume=schema.SessionResumeCapabilities(), close=schema.SessionCloseCapabilities(),
            additional_directories=schema.SessionAdditionalDirectoriesCapabilities(),
        )  # fmt: skip
        return schema.InitializeResponse(
            protocol_version=VERSION,
            agent_capabilities=schema.AgentCapabilities(
                load_session=True, prompt_capabilities=takes(self.agent),
                session_capabilities=sessions,
            ),
            agent_info=schema.Implementation(
                name="clew", title="clew", version=version("clew-acp")
            ),
            auth_methods=[],
        )  # fmt: skip

    async def new_session(
        self,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
    ) -> schema.NewSessionResponse:
        """Begin a session: its run begins with its first prompt."""
        async with one_line_errors():
            session = self._sessions.new(cwd, additional_directories or ())
        self._opened(session, mcp_servers)
        return schema.NewSessionResponse(session_id=session.id)

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[Any] | None = None,
        additional_directories: list[str] | None = None,
    ) -> schema.LoadSessionResponse:
        """Open a session of before, and tell all that happened in it."""
        session = await self._load(session_id, cwd, additional_directories, mcp_servers)
        async with one_line_errors():
            await self._tell_record(session, silently=False)
        return schema.LoadSessionResponse()

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
    ) -> schema.ResumeSessionResponse:
        """Open a session of before, without telling what happened in it."""
        session = await self._load(session_id, cwd, additional_directories, mcp_servers)
        async with one_line_errors():
            await self._tell_record(session, silently=True)
        return schema.ResumeSessionResponse()

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: list[str] | None = None,
        mcp_servers: list[Any] | None = None,
    ) -> schema.ForkSessionResponse:
        """Begin a session with all that happened in another."""
        async with one_line_errors():
            session = await self._sessions.fork(session_id, cwd, additional_directories or ())
        self._opened(session, mcp_servers)
        return schema.ForkSessionResponse(session_id=session.id)

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None
    ) -> schema.ListSessionsResponse:
        """List sessions, last written first, in pages of 100."""
        async with one_line_errors():
            runs, after = await self._sessions.page(cwd or "", cursor or "")
        infos = [
            schema.SessionInfo(
                session_id=run.run_id, cwd=run.labels.get("cwd", "/"), title=run.title,
                updated_at=datetime.fromtimestamp(run.at / 1000, UTC).isoformat(),
            )
            for run in runs
        ]  # fmt: skip
        return schema.ListSessionsResponse(sessions=infos, next_cursor=after or None)

    async def close_session(self, session_id: str) -> schema.CloseSessionResponse:
        """End the turn of a session, and forget it here."""
        async with one_line_errors():
            await self._sessions.close(session_id)
        return schema.CloseSessionResponse()

    async def cancel(self, session_id: str) -> None:
        """End the turn of a session; what has begun is seen to its end."""
        turn = self._sessions.turn_of(session_id)
        if turn is None:
            LOG.info("nothing is under way in session %s that could be cancelled", session_id[:100])
        else:
            turn.cancel()

    async def prompt(self, session_id: str, prompt: list[Block]) -> schema.PromptResponse:
        """Say something in a session, and answer when its run has stopped."""
        async with one_line_errors():
            session = self._sessions.get(session_id)
            async with session.working:
                return await self._turn(session, prompt)

    async def _turn(self, session: Session, prompt: list[Block]) -> schema.PromptResponse:
        turn = session.turn = Turn(
            self.client, session.updates, self.store, session.folder, self.store_location,
            self._name, self._reader(session),
        )  # fmt: skip
        try:
            return await self._run(session, turn, prompt)
        finally:
            session.turn = None

    async def _run(
        self, session: Session, turn: Turn, prompt: list[Block]
    ) -> schema.PromptResponse:
        texts = [block.text for block in prompt if isinstance(block, schema.TextContentBlock)]
        question: Question = ""
        if not session.begun or texts != [CONTINUE] or len(prompt) > 1:
            question = await question_of(prompt, session.folders, self._reader(session))
            check_question(session.agent, question)
        if turn.cancelled:  # before anything of it was on record
            return schema.PromptResponse(stop_reason="cancelled")
        forks = session.parent is not None and not session.begun
        opening, say = self._sessions.open(session, question)
        async with opening as opened:
            session.begun = True
            result = await turn.run(opened, say, silently=forks)
        return schema.PromptResponse(stop_reason=stop_reason(result), usage=usage(result))

    def _reader(self, session: Session) -> ReadFile:
        """Reads a file as the editor has it, where the client can."""
        fs = self._capabilities.fs

        async def read_file(path: Path) -> str | None:
            if fs is None or not fs.read_text_file:
                return await reads_nothing(path)
            try:
                came = await self.client.read_text_file(session_id=session.id, path=str(path))
            except RequestError:
                return None  # it has no such buffer: the file is as it is on the disk
            return came.content

        return read_file

    async def _load(
        self, session_id: str, cwd: str, more: list[str] | None, servers: list[Any] | None
    ) -> Session:
        async with one_line_errors():
            session = await self._sessions.load(session_id, cwd, more or ())
        self._opened(session, servers)
        return session

    async def _tell_record(self, session: Session, *, silently: bool) -> None:
        """Tell the client what the record has, or only take it for told."""
        if not session.begun:
            return
        for entry in (await read(session.id, store=self.store)).entries:
            for update in session.updates.of(entry):
                if not silently:
                    await self.client.session_update(session.id, update)

    def _opened(self, session: Session, servers: list[Any] | None) -> None:
        """Say which commands there are, after the answer; and what is not done for the client."""
        if servers:
            LOG.warning(_NOT_CONNECTED, ", ".join(str(each.name) for each in servers)[:500])
        update = schema.AvailableCommandsUpdate(
            session_update="available_commands_update", available_commands=_COMMANDS
        )
        told = asyncio.ensure_future(self.client.session_update(session.id, update))
        self._telling.add(told)
        told.add_done_callback(self._told)

    def _told(self, task: asyncio.Future[None]) -> None:
        self._telling.discard(task)
        if not task.cancelled() and task.exception() is not None:
            LOG.info("the client has left: %s", task.exception())


async def serve_stdio(
    agent: Agent[Any],
    *,
    store: Where = None,
    accept_change: bool = False,
) -> None:
    """Serve an agent to the client at stdin and stdout, until it leaves; needs asyncio.

    From then on what is printed goes to stderr. A turn that is under way at the end is left: an
    effect that has begun is seen to its end, and the run stays open. With `accept_change` a session
    goes on though its agent has changed since. Raises `ConfigError` if stdin or stdout is no pipe.
    """
    store = agent.store if store is None else store
    await serve(agent, await own_stdio(), store=store, accept_change=accept_change)


async def serve(
    agent: Agent[Any],
    transport: LineTransport,
    *,
    store: Where = None,
    origin: dict[str, Json] | None = None,
    accept_change: bool = False,
) -> None:
    """Serve an agent to the client at the other end of `transport`, until it leaves."""
    location = without_password(store) if isinstance(store, str) else ""
    async with store_at(store) as opened, agent:
        served = AcpAgent(agent, opened, origin or {}, accept_change, location)
        # The SDK's protocol class has every method that there is; those that are missing here are
        # answered as unknown.
        await run_agent(cast("Any", served), transport, use_unstable_protocol=True)
