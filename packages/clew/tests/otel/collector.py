"""A collector on 127.0.0.1 that takes spans and metrics over OTLP/HTTP and keeps them, decoded."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue


@dataclass(frozen=True)
class Got:
    """A span as it came over the wire; times in Unix milliseconds."""

    name: str
    kind: int
    trace: bytes
    id: bytes
    parent: bytes
    begin: int
    end: int
    error: str
    attributes: dict[str, Any]


@dataclass
class Collector:
    """What came, and at which address it is taken."""

    url: str
    spans: list[Got] = field(default_factory=list[Got])
    services: set[str] = field(default_factory=set[str])
    metrics: set[str] = field(default_factory=set[str])
    """The names of those that came."""

    def named(self, name: str) -> list[Got]:
        return [span for span in self.spans if span.name == name]


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    found = getattr(value, kind or "string_value")
    return [_value(one) for one in found.values] if kind == "array_value" else found


@contextmanager
def collector() -> Iterator[Collector]:
    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            assert self.headers["content-type"] == "application/x-protobuf"
            if self.path == "/v1/metrics":
                take_metrics(ExportMetricsServiceRequest.FromString(body))
                answer = ExportMetricsServiceResponse().SerializeToString()
            else:
                assert self.path == "/v1/traces"
                take(ExportTraceServiceRequest.FromString(body))
                answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Print nothing."""

    def take_metrics(request: ExportMetricsServiceRequest) -> None:
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                found.metrics.update(metric.name for metric in scope.metrics)

    def take(request: ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            known = {one.key: _value(one.value) for one in resource.resource.attributes}
            found.services.add(known["service.name"])
            for scope in resource.scope_spans:
                for span in scope.spans:
                    attributes = {one.key: _value(one.value) for one in span.attributes}
                    begin, end = span.start_time_unix_nano, span.end_time_unix_nano
                    got = Got(
                        name=span.name,
                        kind=span.kind,
                        trace=span.trace_id,
                        id=span.span_id,
                        parent=span.parent_span_id,
                        begin=begin // 1_000_000,
                        end=end // 1_000_000,
                        error=span.status.message,
                        attributes=attributes,
                    )
                    found.spans.append(got)

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        found = Collector(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
