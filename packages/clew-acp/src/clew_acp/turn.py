"""One prompt: the run goes on, what happens is told, and a person is asked, until it stops."""

import contextlib
import secrets
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
from acp import RequestError, schema

from clew import Entry, OpenRun, PendingApproval, Question, Result, Stream, cancel, rule
from clew.agent.approvals import pending_in
from clew.interfaces import Store
from clew_acp.content import ReadFile, reads_nothing
from clew_acp.permissions import (
    ALLOW,
    call_view,
    held_call,
    is_permission,
    is_question,
    options,
    waits_for,
)
from clew_acp.updates import Update, Updates, message

_WHY: Final = "cancelled in the editor"


class Editor(Protocol):
    """What a turn says to the client, and asks of it."""

    async def session_update(self, session_id: str, update: Update) -> None:
        """Tell what happened."""
        ...

    async def request_permission(
        self,
        session_id: str,
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
    ) -> schema.RequestPermissionResponse:
        """Ask a person."""
        ...


@dataclass
class Turn:
    """The work on one prompt. `updates` know what the client was told of the run before."""

    editor: Editor
    updates: Updates
    store: Store
    folder: Path
    store_location: str = ""
    by: str = "editor"
    read_file: ReadFile = reads_nothing
    cancelled: bool = False
    _scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    _asked: set[str] = field(default_factory=set[str])
    _last: int = 0
    """The number of the last entry, once the run has stopped."""

    def cancel(self) -> None:
        """End the turn: what has begun is seen to its end, and nothing else is begun."""
        self.cancelled = True
        self._scope.cancel()

    async def run(
        self, opened: OpenRun[Any], say: Question = "", *, silently: bool = False
    ) -> Result[Any]:
        """Go on until the run stops, and nobody here can say more to it.

        Where it begins `silently`, the client knows all that is on record.
        """
        request = self.updates.request = f"acp-{secrets.token_hex(8)}"
        await self._tell_rest(opened, silently=silently)
        result: Result[Any] | None = None
        with self._scope:
            if say and await self._answers(opened, say):
                say = ""
            result = await self._go_on(opened, say, request if say else "")
            while result.status == "held" and await self._rule(result.pending_approvals):
                result = await self._go_on(opened)
        if result is None or (self.cancelled and result.status == "held"):
            result = await self._end(opened)
        for approval in result.pending_approvals:
            waits = waits_for(approval, self.updates.record, self.store_location)
            await self._tell([message(waits)])
        return result

    async def _go_on(
        self, opened: OpenRun[Any], say: Question = "", request: str = ""
    ) -> Result[Any]:
        async with self._telling(opened):
            return await opened.go_on(say, request=request)

    async def _answers(self, opened: OpenRun[Any], say: Question) -> bool:
        """Whether the words answer the question that the run waits with: then they are its ruling.

        Nothing is a question to a person but a call of `ask_person` that waits alone.
        """
        waiting = await pending_in(self.store, opened.record)
        if len(waiting) != 1 or not is_question(waiting[0]) or not isinstance(say, str):
            return False
        args = {**waiting[0].args, "answer": say}
        await rule(waiting[0].id, allow=True, args=args, by=self.by, store=self.store)
        return True

    async def _end(self, opened: OpenRun[Any]) -> Result[Any]:
        """Close what is pending, and stop: later words go on from there."""
        await cancel(opened.run_id, why=_WHY, store=self.store)
        return await self._go_on(opened)

    async def _rule(self, approvals: tuple[PendingApproval, ...]) -> bool:
        """Ask a person about each call that was not asked about before; whether any was ruled."""
        new = [each for each in approvals if is_permission(each) and each.id not in self._asked]
        for each in new:
            self._asked.add(each.id)
            allow = await self._permission(each)
            if allow is None:
                new = [one for one in new if one is not each]
            else:
                await rule(each.id, allow=allow, by=self.by, store=self.store)
        return bool(new)

    async def _permission(self, approval: PendingApproval) -> bool | None:
        """What a person says of a held call; None where the client cannot ask."""
        view = call_view(approval, self.folder)
        if (path := view.overwritten) is not None:
            view = self.updates.compare(view, await self.read_file(path))
        try:
            chosen = await self.editor.request_permission(
                self.updates.run_id, held_call(approval, view), options(approval)
            )
        except RequestError:
            return None  # it is told below what waits, and how to rule on it
        if isinstance(chosen.outcome, schema.AllowedOutcome):
            return chosen.outcome.option_id == ALLOW
        self.cancel()
        await anyio.lowlevel.checkpoint()  # ends the scope
        return None

    @asynccontextmanager
    async def _telling(self, opened: OpenRun[Any]) -> AsyncGenerator[None]:
        """Tell what happens meanwhile, and then what is not told yet."""
        errors: list[Exception] = []
        self._last = 0
        await self._tell_rest(opened)  # a turn that was cancelled recorded how a call ended
        async with opened.follow() as items, anyio.create_task_group() as group:
            group.start_soon(self._follow, items, group.cancel_scope)
            try:
                yield
            except Exception as error:  # noqa: BLE001 - it is raised below, and not in a group
                errors.append(error)
            self._last = len(opened.record)
            if errors or len(self.updates.record) >= self._last:
                group.cancel_scope.cancel()
        if errors:
            raise errors[0]
        await self._tell_rest(opened)

    async def _follow(self, items: Stream[Any], scope: anyio.CancelScope) -> None:
        async for item in items:
            await self._tell(self.updates.of(item))
            if isinstance(item, Entry) and item.seq == self._last:
                scope.cancel()

    async def _tell_rest(self, opened: OpenRun[Any], *, silently: bool = False) -> None:
        """Tell what the record has, and the client was not told."""
        for entry in opened.record.entries[len(self.updates.record) :]:
            await self._tell(self.updates.of(entry), silently=silently)

    async def _tell(self, updates: Iterable[Update], *, silently: bool = False) -> None:
        """Tell all of these, whoever cancels the turn meanwhile; a client that left hears none."""
        with anyio.CancelScope(shield=True), contextlib.suppress(ConnectionError):
            for update in updates:
                if not silently:
                    await self.editor.session_update(self.updates.run_id, update)
