"""Send the spans of a record to a collector, over OTLP/HTTP, without further set-up."""

import logging
import os

from clew.core.trajectory import Trajectory
from clew.models.resolve import host_and_port
from clew.otel import export
from clew.support.addresses import hidden
from clew.support.errors import ClewError, ConfigError
from clew.support.extras import missing_extra

try:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "otel") from missing

__all__ = ["send"]

NAMED = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def send(record: Trajectory, *, endpoint: str = "", content: bool = False) -> int:
    """Send the spans; returns their number.

    `endpoint` is the whole address. Without it, and for headers and time-outs, OpenTelemetry's own
    variables apply (`OTEL_EXPORTER_OTLP_…`). Raises `ConfigError` for an invalid address, and
    `ClewError` if nobody accepted the spans.
    """
    if endpoint and host_and_port(endpoint) is None:
        message = f"{hidden(endpoint)!r} is no address: give one as http://host:4318/v1/traces"
        raise ConfigError(message)
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())  # it is said below
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "clew"}
    provider = TracerProvider(ALWAYS_ON, Resource.create(named), shutdown_on_exit=False)
    kept = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    number = export(record, tracer=provider.get_tracer("clew"), content=content)
    exporter = OTLPSpanExporter(endpoint=endpoint or None)
    try:
        taken = exporter.export(kept.get_finished_spans())
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]  # it says nothing of what it returns
    if taken is not SpanExportResult.SUCCESS:
        where = endpoint or next(filter(None, map(os.environ.get, NAMED)), "localhost:4318")
        raise ClewError(
            f"no collector took the spans at {where}: see that one listens there, or name another "
            f"({NAMED[1]}, or --endpoint with its path)"
        )
    return number
