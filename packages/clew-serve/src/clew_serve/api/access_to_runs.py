"""The run of a request: one that the user may see, or none at all."""

from clew import ConfigError, Trajectory, read
from clew.agent.approvals import root_of
from clew.interfaces import RunInfo
from clew.stores.listing import runs_with
from clew.stores.refusals import unknown_run
from clew.workers import queue_of
from clew_serve.agents import ServedAgent, agent_of
from clew_serve.endpoints import Inquiry
from clew_serve.errors import RefusedError
from clew_serve.service import Service


async def record_of(inquiry: Inquiry, run_id: str = "") -> Trajectory:
    """The record of the run in the path, or of this id.

    Raises `RunNotFoundError` for another's, as for one that there is not.
    """
    run_id = run_id or inquiry.path["run"]
    return await read(run_id, store=inquiry.service.store, owner=inquiry.owner_for(run_id))


async def info_of(inquiry: Inquiry) -> RunInfo:
    """The run in the path as listings have it, which needs no look at all of its record.

    Raises `RunNotFoundError` as `record_of` does.
    """
    run_id, store = inquiry.path["run"], inquiry.service.store
    infos = await runs_with(store, 1, owner=inquiry.owner_for(run_id) or "", run_id=run_id)
    if not infos:
        raise unknown_run(run_id)
    return infos[0]


def agent_for(service: Service, record: Trajectory) -> ServedAgent:
    """The agent that goes on with a run. Raises `RefusedError` where it is not served."""
    if (served := served_for(service, record)) is None:
        raise RefusedError(
            409, "agent_not_served", f"the agent of run {record.run_id} is not served here",
            "name it when the server is started, or go on where it is",
        )  # fmt: skip
    return served


def served_for(service: Service, record: Trajectory) -> ServedAgent | None:
    """The agent that goes on with a run, or None where it is not served here."""
    return agent_of(record, service.agents, accept_change=service.config.accept_change)


def agent_named(service: Service, name: str) -> ServedAgent:
    """The agent of a name. Raises `RefusedError`."""
    if (served := service.agents.get(name)) is None:
        names = ", ".join(service.agents) or "none"
        message = f"there is no agent {name[:64]!r}"
        raise RefusedError(422, "no_such_agent", message, f"there is: {names}")
    return served


def check_works(service: Service, record: Trajectory) -> None:
    """Raise `RefusedError` where a run is in no queue, and nobody here could go on with it."""
    if not queue_of(record) and not service.work.works:
        why = f"this server executes none: {service.config.why_idle}"
        message = f"run {record.run_id} is in no queue, and {why}"
        raise RefusedError(
            409, "no_work_here", message,
            "go on with it where it was begun, or at a server that executes runs",
        )  # fmt: skip


async def go_on(service: Service, record: Trajectory) -> None:
    """See that a run, or the one that it serves, is gone on with: what it waited for was decided.

    A worker takes up what is in a queue. Others are gone on with here if their agent is served;
    else what was decided waits in the run's inbox for whoever resumes it.
    """
    if (root := await root_of(service.store, record)) != record.run_id:
        record = await read(root, store=service.store)
    served = served_for(service, record)
    if queue_of(record) or served is None or not service.work.works:
        return
    try:
        await service.work.go_on(served, record.run_id)
    except ConfigError as error:  # another process has it, which takes the word up
        service.work.failures[record.run_id] = str(error)
