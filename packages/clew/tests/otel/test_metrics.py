"""Metrics over the real SDK: those of models, of queues and of the process."""

import os
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics

from clew import MemoryStore, submit
from clew.operations import Operations, Tally, exposition, operate
from clew.otel.telemetry import Telemetry, exporting
from clew.workers import WorkerConfig, WorkerEvent
from tests.operations.test_held_notices import writer
from tests.otel.collector import collector


def points(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data = reader.get_metrics_data()
    assert data is not None
    return {
        metric.name: list(metric.data.data_points)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


async def worked(telemetry: Telemetry) -> None:
    store = MemoryStore()
    await submit(writer(), "Write to Ada.", store=store)
    await submit(writer(), "Write to Bob.", store=store, queue="other")
    config = WorkerConfig(store=store, agents=[writer()], until_idle=True)
    await operate(config, Operations(telemetry=telemetry))


async def test_one_object_has_metrics_of_models_queues_and_the_process() -> None:
    reader = InMemoryMetricReader()
    meters = MeterProvider([reader], shutdown_on_exit=False)
    await worked(Telemetry(meters.get_meter("clew")))
    metrics = points(reader)
    tokens = metrics[gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE]
    assert {point.attributes["gen_ai.token.type"] for point in tokens} == {"input", "output"}
    for point in tokens:
        assert isinstance(point, HistogramDataPoint)
        assert point.attributes
        assert point.count == 1
        assert point.sum > 0
        assert point.attributes["gen_ai.operation.name"] == "chat"
        assert point.attributes["gen_ai.provider.name"]
        assert point.attributes["gen_ai.request.model"]
    [duration] = metrics[gen_ai_metrics.GEN_AI_CLIENT_OPERATION_DURATION]
    assert duration.count == 1
    [steps] = metrics["clew.steps"]
    assert steps.value == 1
    [stops] = metrics["clew.stops"]
    assert (stops.value, dict(stops.attributes)) == (1, {"status": "held"})
    meters.shutdown()


async def test_what_prometheus_reads_is_what_opentelemetry_reads() -> None:
    tally, reader = Tally(), InMemoryMetricReader()
    meters = MeterProvider([reader], shutdown_on_exit=False)
    telemetry = Telemetry(meters.get_meter("clew"))
    telemetry.observe(tally.figures)
    telemetry.observe(tally.figures)  # a second worker of the process changes nothing
    for what in ("serving", "taken", "lost"):
        tally.on_event(WorkerEvent(what, "run"))
    assert [point.value for point in points(reader)["clew.leases.lost"]] == [1]
    assert "\nclew_leases_lost_total 1\n" in exposition(tally.figures())
    meters.shutdown()


async def test_spans_and_metrics_are_sent_to_a_collector(monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        assert "OTEL_SERVICE_NAME" not in os.environ
        with exporting() as telemetry:
            await worked(telemetry)
    assert found.services == {"clew"}
    assert found.named("invoke_agent")
    assert {"clew.steps", "clew.cost", gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE} <= found.metrics
