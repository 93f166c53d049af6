"""The Temporal server, as a worker sees it: where it is, and the workflows of runs on it."""

import asyncio
import functools
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, WorkflowFailureError
from temporalio.common import (
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDConflictPolicy,
)
from temporalio.envconfig import ClientConfig
from temporalio.runtime import LogForwardingConfig, LoggingConfig, Runtime, TelemetryConfig
from temporalio.service import RPCError

from clew import ConfigError, StoreError, Trajectory
from clew.support.error_text import message_of
from clew_cluster.temporal.messages import DUE, WORKFLOW, Due, Order
from clew_cluster.temporal.run_workflow import STATUS

ADDRESS: Final = "localhost:7233"
_STARTS: Final = 5.0
"""Seconds in which a server that is not there may come."""
_AGAIN: Final = 0.25
PATIENCE: Final = 10.0
"""Seconds to wait for a server at the start."""

_AGENT: Final = SearchAttributeKey.for_keyword("ClewAgent")
_LABELS: Final = SearchAttributeKey.for_keyword_list("ClewLabels")
_LOG: Final = logging.getLogger("temporalio")
_LOG.addHandler(logging.NullHandler())  # or Temporal would write to the terminal by itself


@functools.cache
def _runtime() -> Runtime:
    """Temporal's threads in this process: they log as Python does."""
    logs = LoggingConfig("WARN", forwarding=LogForwardingConfig(_LOG))
    return Runtime(telemetry=TelemetryConfig(logging=logs), disable_environment_info=True)


async def _connect(options: dict[str, Any]) -> Client:
    """A client, also of a server that is being started beside its workers, or once more."""
    until = asyncio.get_running_loop().time() + _STARTS
    while True:
        try:
            return await Client.connect(**options)
        except RuntimeError:
            if asyncio.get_running_loop().time() > until:
                raise
        await asyncio.sleep(_AGAIN)


async def connected(address: str | None, namespace: str | None, name: str) -> Client:
    """A client of the server, as worker `name`; what is None comes from Temporal's environment.

    Raises `ConfigError` where there is no such server or namespace, or none lets it in.
    """
    try:
        options: dict[str, Any] = {**ClientConfig.load_client_connect_config()}
    except (RuntimeError, ValueError, OSError) as error:
        raise ConfigError(f"Temporal's configuration: {message_of(error)}") from error
    options |= {"target_host": address or options.get("target_host") or ADDRESS}
    options |= {"namespace": namespace} if namespace else {}
    where = options["target_host"]
    try:
        async with asyncio.timeout(PATIENCE):
            client = await _connect({**options, "identity": name, "runtime": _runtime()})
            wanted = DescribeNamespaceRequest(namespace=client.namespace)
            await client.workflow_service.describe_namespace(wanted)
    except (RuntimeError, TimeoutError) as error:
        why = message_of(error) or f"no answer in {PATIENCE:.0f} s"
        message = (
            f"there is no Temporal at {where} ({why[:200]}): start one, as with temporal server "
            "start-dev, or set TEMPORAL_ADDRESS"
        )
        raise ConfigError(message) from error
    except RPCError as error:
        message = (
            f"Temporal at {where} refuses the namespace {options.get('namespace', 'default')!r}"
        )
        raise ConfigError(f"{message}: {error.message}") from error
    return client


@dataclass(frozen=True, slots=True)
class Workflows:
    """The workflows of the runs of one queue, begun and told of; their ids are the runs'.

    `labels` are the names of those labels of a run that Temporal may show.
    """

    client: Client
    queue: str
    labels: Iterable[str]
    attributes: bool

    async def begin(self, record: Trajectory, queue: str) -> None:
        """Begin the workflow of a run, unless it has one; workers of the task queue have its agent.

        Raises `StoreError` where Temporal does not answer.
        """
        await self._start(record, queue)

    async def tell(self, record: Trajectory, due: Due) -> None:
        """Tell the workflow of a run that it is due; it is begun where there is none.

        Raises `StoreError` where Temporal does not answer.
        """
        await self._start(record, due.queue, start_signal=DUE, start_signal_args=[due])

    async def _start(self, record: Trajectory, queue: str, **more: Any) -> None:
        memo = self._memo(record)
        async with answering():
            await self.client.start_workflow(
                WORKFLOW, Order(record.run_id, queue, self.attributes), id=record.run_id,
                task_queue=self.queue, id_conflict_policy=WorkflowIDConflictPolicy.USE_EXISTING,
                memo=memo, search_attributes=self._search_attributes(memo), **more,
            )  # fmt: skip

    async def ended(self, run_id: str) -> None:
        """Wait until the workflow of a run has ended, or is not to be seen."""
        with suppress(RPCError, WorkflowFailureError):
            await self.client.get_workflow_handle(run_id).result()

    def _memo(self, record: Trajectory) -> Mapping[str, Any]:
        started = record.started
        labels = {name: started.labels[name] for name in self.labels if name in started.labels}
        agent = f"{started.spec.model} ({started.spec.fingerprint[:8]})"
        return {"agent": agent, "status": "waiting", **({"labels": labels} if labels else {})}

    def _search_attributes(self, memo: Mapping[str, Any]) -> TypedSearchAttributes:
        if not self.attributes:
            return TypedSearchAttributes.empty
        labels = [f"{name}={value}" for name, value in memo.get("labels", {}).items()]
        pairs: list[SearchAttributePair[Any]] = [
            SearchAttributePair(_AGENT, memo["agent"]), SearchAttributePair(STATUS, memo["status"]),
            SearchAttributePair(_LABELS, labels),
        ]  # fmt: skip
        return TypedSearchAttributes(pairs)


async def shows_attributes(client: Client) -> bool:
    """Whether the namespace has clew's search attributes; False too where that is not told."""
    try:
        has = await client.operator_service.list_search_attributes(
            ListSearchAttributesRequest(namespace=client.namespace)
        )
    except RPCError:
        return False
    return {key.name for key in (_AGENT, STATUS, _LABELS)} <= set(has.custom_attributes)


@asynccontextmanager
async def answering() -> AsyncGenerator[None]:
    """Translate what Temporal's client raises into `StoreError`."""
    try:
        yield
    except RPCError as error:
        raise StoreError(f"Temporal does not do what it is asked: {error.message}") from error
