"""One prompt: the run goes on, what happens is told, and a person is asked, until it stops."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Protocol

import anyio
from acp import schema

from clew import Entry, OpenRun, PendingApproval, Question, Result, Stream, cancel, rule
from clew.interfaces import Store
from clew_acp.permissions import ALLOW, held_call, is_permission, options, waits_for
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
            result = await self._go_on(opened, say, request if say else "")
            while result.status == "held" and await self._rule(result.pending_approvals):
                result = await self._go_on(opened)
        if result is None or (self.cancelled and result.status == "held"):
            result = await self._end(opened)
        for approval in result.pending_approvals:
            await self._tell(message(waits_for(approval, self.store_location)))
        return result

    async def _go_on(
        self, opened: OpenRun[Any], say: Question = "", request: str = ""
    ) -> Result[Any]:
        async with self._telling(opened):
            return await opened.go_on(say, request=request)

    async def _end(self, opened: OpenRun[Any]) -> Result[Any]:
        """Close what is pending, and stop: later words go on from there."""
        await cancel(opened.run_id, why=_WHY, store=self.store)
        return await self._go_on(opened)

    async def _rule(self, approvals: tuple[PendingApproval, ...]) -> bool:
        """Ask a person about each call that was not asked about before; whether any was ruled."""
        new = [each for each in approvals if is_permission(each) and each.id not in self._asked]
        for each in new:
            self._asked.add(each.id)
            chosen = await self.editor.request_permission(
                self.updates.run_id, held_call(each, self.folder), options(each)
            )
            outcome = chosen.outcome
            if not isinstance(outcome, schema.AllowedOutcome):
                self.cancel()
                await anyio.lowlevel.checkpoint()  # ends the scope
            else:
                allow = outcome.option_id == ALLOW
                await rule(each.id, allow=allow, by=self.by, store=self.store)
        return bool(new)

    @asynccontextmanager
    async def _telling(self, opened: OpenRun[Any]) -> AsyncGenerator[None]:
        """Tell what happens meanwhile, and then what is not told yet."""
        errors: list[Exception] = []
        self._last = 0
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
            for update in self.updates.of(item):
                await self._tell(update)
            if isinstance(item, Entry) and item.seq == self._last:
                scope.cancel()

    async def _tell_rest(self, opened: OpenRun[Any], *, silently: bool = False) -> None:
        """Tell what the record has, and the client was not told."""
        for entry in opened.record.entries[len(self.updates.record) :]:
            for update in self.updates.of(entry):
                if not silently:
                    await self._tell(update)

    async def _tell(self, update: Update) -> None:
        await self.editor.session_update(self.updates.run_id, update)
