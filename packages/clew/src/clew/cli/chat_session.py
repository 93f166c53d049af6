"""Who answers in a chat, and where its record lies: a run that is kept open, or one by name."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, Final

import anyio

from clew import OpenRun, Question, open_run, read
from clew.agent_files import origin
from clew.cli.agents import Assembled, assemble, option_keys, options, recorded
from clew.cli.foreign_runs import trusted
from clew.cli.options import Attached
from clew.cli.safe_text import say
from clew.cli.screen import RunScreen
from clew.cli.store_option import command, existing, exists, find_run
from clew.conversations import session_run
from clew.interfaces import Json, Store
from clew.stores import RunBusyError, RunExistsError, RunNotFoundError, open_store
from clew.support.short_text import counted

_LOOK: Final = 0.1  # seconds between two looks whether another process is done


@dataclass
class ChatSession:
    """A chat: who answers, where the record lies, and the record itself once there is one."""

    made: Assembled
    stored_at: Store
    store: str | None
    screen: RunScreen
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    opened: OpenRun[Any] | None = None
    attached: Attached = ()
    """What goes with what is said next."""
    name: str = ""
    """That of a session, whose run others may go on with between two lines."""
    owner: str | None = None

    @property
    def named(self) -> str:
        """The run of the session by name, or ""."""
        return session_run(self.name, self.owner or "") if self.name else ""

    async def open(self, goal: Question | None = None, run_id: str = "") -> OpenRun[Any]:
        """Begin the record with a question, or go on with an earlier one."""
        opening = open_run(
            self.made.agent, goal, run_id=run_id, store=self.stored_at, owner=self.owner,
            listener=self.screen, origin=origin(self.made.spec),
        )  # fmt: skip
        self.opened = await self.stack.enter_async_context(opening)
        return self.opened

    async def open_named(self, goal: Question) -> tuple[OpenRun[Any], Question]:
        """The run of the session, once nobody else is at work on it; and what is left to say."""
        before, waited = self.opened, False
        while True:
            try:
                if await _has_begun(self.stored_at, self.named):
                    opened = await self.open(run_id=self.named)
                    break
                return await self.open(goal, self.named), ""
            except (RunBusyError, RunExistsError):
                if not waited:
                    say("another process is at work on this session: waiting for it")
                waited = True
                await anyio.sleep(_LOOK)
        if before is not None and (more := len(opened.record) - len(before.record)):
            shows = command("show", self.named, store=self.store)
            say(f"{counted(more, 'entry', 'entries')} came from elsewhere since then: {shows}")
        return opened, goal

    @property
    def again(self) -> str:
        """The command that goes on with it; "" where there is no record."""
        if self.named:
            whose = ("--owner", self.owner) if self.owner else ()
            return command("chat", "--session", self.name, *whose, store=self.store)
        if self.opened is None:
            return ""
        return command("chat", "--resume", self.opened.run_id, store=self.store)

    async def leave(self) -> None:
        """Let others go on with a session by name; any other record is kept open."""
        if self.named:
            await self.stack.aclose()

    async def close(self) -> None:
        """Leave the record to others."""
        self.opened = self.screen.trajectory = None
        self.name = ""
        await self.stack.aclose()


async def open_chat(
    screen: RunScreen,
    arguments: dict[str, Json],
    store: str | None,
    *,
    earlier: str = "",
    name: str = "",
    owner: str | None = None,
    trust_origin: bool = False,
) -> ChatSession:
    """A chat by these options: a new one, an `earlier` run, or the session of a name."""
    spec = options(arguments) if not earlier else None
    store = store or (spec.store if spec is not None else None) or None
    named = session_run(name, owner or "") if name else ""
    run_id = named
    if earlier or (named and exists(store)):
        async with existing(store) as opened:
            run_id = await find_run(opened, earlier) if earlier else named
            if earlier or await _has_begun(opened, run_id):
                record = await read(run_id, store=opened, owner=owner)
                if trust_origin:
                    record = await trusted(opened, record)
                spec = recorded(record, option_keys(arguments))
    made = await assemble(spec or options(arguments), screen)
    store = store or made.spec.store or None
    session = ChatSession(made, open_store(store), store, screen, name=name, owner=owner)
    if earlier:
        await session.open(run_id=run_id)
    return session


async def _has_begun(store: Store, run_id: str) -> bool:
    try:
        return bool(await store.read(run_id))
    except RunNotFoundError:
        return False
