"""Which runs of others a reviewer sees: those of which the inbox lists something to decide."""

from clew import ConfigError, StoreError, Trajectory, read
from clew.agent.approvals import approval_id, decided_by, root_of, waiting_in
from clew.interfaces import RunInfo, Store, UnknownCall
from clew.stores.listing import runs_with, status_of, summary
from clew_serve.endpoints import Inquiry


async def reviewed_run(inquiry: Inquiry) -> str:
    """The run of the path, if it is another's and waits for a decision; else "".

    That of a call on which the user decided is one too, so that it is safe to say it again.
    """
    store, named = inquiry.service.store, inquiry.path.get("call", "")
    try:
        run_id = approval_id(named).run_id if named else inquiry.path["run"]
        record = await read(run_id, store=store)
        if record.started.owner == inquiry.user.owner:
            return ""
        if await _waits(store, record) or await _has_decided(inquiry, record):
            return run_id
    except (ConfigError, StoreError):  # the handler says it as it does to everybody
        pass
    return ""


def unknown_of(info: RunInfo) -> tuple[UnknownCall, ...]:
    """The calls of unknown outcome that a stopped run lists, with those below it.

    A run is told what is settled below it, and a sub-run is not: that lists none.
    """
    run = summary(info)
    if run is None or run.stop is None:
        return ()
    serves_a_call = run.started.parent and run.started.grant and not info.base
    return () if serves_a_call else tuple(run.stop.unknown)


async def _waits(store: Store, record: Trajectory) -> bool:
    """Whether the inbox lists anything to decide of a run."""
    run_id, root = record.run_id, await root_of(store, record)
    for info in await runs_with(store, 1, run_id=run_id):
        if status_of(info.last.body) in {"open", "held"} and await waiting_in(store, run_id):
            return True
    return any(
        run_id == root or each.id.rpartition(":")[0] == run_id
        for info in await runs_with(store, 1, run_id=root)
        for each in unknown_of(info)
    )


async def _has_decided(inquiry: Inquiry, record: Trajectory) -> bool:
    """Whether the first word on the call of the path is the user's."""
    if not (named := inquiry.path.get("call", "")):
        return False
    by = await decided_by(inquiry.service.store, record, approval_id(named).key)
    return by == inquiry.user.by
