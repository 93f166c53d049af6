"""A run with the runs below it: those that its calls began, and so on."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec

from clew import Trajectory, read
from clew.agent.approvals import root_of
from clew.interfaces import Attempt, Store
from clew.stores import RunNotFoundError
from clew_serve.api.access_to_runs import record_of
from clew_serve.api.runs import title_of
from clew_serve.endpoints import Inquiry

MAX_RUNS: Final = 200
"""So many runs a tree has; the others are counted."""

MAX_DEPTH: Final = 20

TreeStatus: TypeAlias = Literal[
    "answered", "declined", "bound", "held", "refused", "failed", "interrupted", "open", "missing"
]


class TreeRun(msgspec.Struct):
    """A run in a tree: which call began it, how it stands, what it took, and the runs below it.

    `model` is `strategy:NAME` where the run is that of a strategy. `forked_from` is the run whose
    first `forked_after` steps it shares. A status of `missing` is that of a run that is not in the
    store. `left_out` counts the runs below it that are not in the tree.
    """

    run_id: str
    title: str = ""
    status: TreeStatus = "missing"
    call: str = ""
    tool: str = ""
    model: str = ""
    steps: int = 0
    tokens: int = 0
    cost: float = 0.0
    forked_from: str = ""
    forked_after: int = 0
    runs: list["TreeRun"] = []
    left_out: int = 0


async def get(inquiry: Inquiry) -> TreeRun:
    """The tree that a run is in, from the run that everything in it serves."""
    record = await record_of(inquiry)
    store, owner = inquiry.service.store, inquiry.user.owner
    growing = _Tree(store, owner)
    try:
        root = await read(await root_of(store, record), store=store, owner=owner)
    except RunNotFoundError:  # it was removed, or is another's
        root = record
    return await growing.node(root)


@dataclass
class _Tree:
    """Runs as they are read, each once."""

    store: Store
    owner: str | None
    left: int = MAX_RUNS

    async def node(
        self, record: Trajectory, call: str = "", tool: str = "", depth: int = 0
    ) -> TreeRun:
        self.left -= 1
        node = tree_run(record, call, tool)
        for key, name, run_id in _children(record):
            if self.left <= 0 or depth >= MAX_DEPTH:
                node.left_out += 1
                continue
            try:
                child = await read(run_id, store=self.store, owner=self.owner)
            except RunNotFoundError:
                node.runs.append(TreeRun(run_id, call=key, tool=name))
            else:
                node.runs.append(await self.node(child, key, name, depth + 1))
        return node


def tree_run(record: Trajectory, call: str = "", tool: str = "") -> TreeRun:
    """A run as a tree has it, without those below it."""
    spec = record.spec or record.started.spec
    fork = record.forks[-1] if record.forks else None
    return TreeRun(
        run_id=record.run_id,
        title=title_of(record),
        status=record.stop.status if record.stop is not None else "open",
        call=call,
        tool=tool,
        model=spec.model,
        steps=len(record.steps),
        tokens=record.total.tokens,
        cost=record.total.cost,
        forked_from="" if fork is None else fork.parent,
        forked_after=0 if fork is None else fork.step,
    )


def _children(record: Trajectory) -> list[tuple[str, str, str]]:
    """The call, the tool and the id of each run that a call of this one began."""
    begun: dict[str, tuple[str, str, str]] = {}
    for entry in record.entries:
        event = entry.event
        if isinstance(event, Attempt) and event.child and event.child != record.run_id:
            begun.setdefault(event.child, (event.call, event.tool, event.child))
    return [*begun.values()]
