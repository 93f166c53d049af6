"""Spans and metrics of all that a worker does, with one object.

Metrics of models have the names of OpenTelemetry's conventions for generative AI. Figures of queues
and of the process are those of `clew.operations`, read when they are collected.
"""

import logging
import os
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import Final, Literal, Protocol

from clew.core.entries import Entry
from clew.core.events import Changed, Started, Thought
from clew.core.journal import wall_clock
from clew.core.listeners import Listener
from clew.core.specs import AgentSpec
from clew.core.trajectory import Trajectory
from clew.otel import Spans, model_attributes
from clew.support.extras import missing_extra

try:
    from opentelemetry import metrics
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "otel") from missing
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.trace import Tracer

__all__ = ["Telemetry", "exporting"]

TOKENS: Final = [4.0**power for power in range(14)]
"""The bounds of the convention's buckets, in tokens."""

SECONDS: Final = [0.01 * 2**power for power in range(14)]
"""The bounds of the convention's buckets, in seconds."""


class Quantity(Protocol):
    """A figure of `clew.operations`."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def kind(self) -> Literal["gauge", "counter"]:
        """Whether it only grows."""
        ...

    @property
    def about(self) -> str:
        """What it counts."""
        ...

    @property
    def unit(self) -> str:
        """Its unit."""
        ...

    @property
    def values(self) -> Mapping[tuple[tuple[str, str], ...], float]:
        """Its values, by labels."""
        ...


class Telemetry:
    """Give it to `WorkerConfig(listen=…)`: spans of each run, and metrics of each reply.

    As `Operations(telemetry=…)` it has the figures of `/metrics` too. Spans hold texts only with
    `content`. The program's own set-up of OpenTelemetry decides where both go.
    """

    def __init__(
        self, meter: Meter | None = None, tracer: Tracer | None = None, *, content: bool = False
    ) -> None:
        self._meter = metrics.get_meter("clew") if meter is None else meter
        self._tracer = tracer
        self._content = content
        self._tokens = self._meter.create_histogram(
            "gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=TOKENS,
        )  # fmt: skip
        self._duration = self._meter.create_histogram(
            "gen_ai.client.operation.duration", "s", "GenAI operation duration.",
            explicit_bucket_boundaries_advisory=SECONDS,
        )  # fmt: skip
        self._observed: set[str] = set()

    def __call__(self, record: Trajectory) -> Listener:
        """A listener for a run, whose record is this so far."""
        spans = Spans(
            record.run_id, before=record.entries, tracer=self._tracer, content=self._content
        )
        now = wall_clock()
        return _Run(self, spans.begin(now), record.spec or record.started.spec, now)

    def observe(self, read: Callable[[], Iterable[Quantity]]) -> None:
        """Read these figures whenever metrics are collected; those of a name once."""
        for figure in read():
            if figure.name in self._observed:
                continue
            self._observed.add(figure.name)
            name = figure.name
            make = (
                self._meter.create_observable_counter
                if figure.kind == "counter"
                else self._meter.create_observable_gauge
            )
            make(name, [_reader(name, read)], figure.unit, figure.about)

    def replied(self, thought: Thought, spec: AgentSpec, seconds: float) -> None:
        """Count a reply."""
        about = {"gen_ai.operation.name": "chat", **model_attributes(spec)}
        if thought.reply.model:
            about["gen_ai.response.model"] = thought.reply.model
        usage = thought.reply.usage
        for kind, tokens in (("input", usage.input), ("output", usage.output)):
            self._tokens.record(tokens, {**about, "gen_ai.token.type": kind})
        self._duration.record(seconds, about)


def _reader(
    name: str, read: Callable[[], Iterable[Quantity]]
) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def values(options: CallbackOptions) -> Iterable[Observation]:
        del options
        for figure in read():
            if figure.name == name:
                for labels, value in figure.values.items():
                    yield Observation(value, dict(labels))

    return values


class _Run:
    """The listener of one run, from when it was taken up."""

    def __init__(self, telemetry: Telemetry, spans: Spans, spec: AgentSpec, since: int) -> None:
        self._telemetry = telemetry
        self._spans = spans
        self._spec = spec
        self._since = since

    def token(self, text: str) -> None:
        """Pieces of a reply are counted with the reply."""

    def entry(self, entry: Entry) -> None:
        """Take an entry."""
        self._spans.entry(entry)
        match entry.event:
            case Started(spec=spec) | Changed(spec=spec):
                self._spec = spec
            case Thought() as thought:
                took = max(0, entry.at - self._since) / 1000
                self._telemetry.replied(thought, self._spec, took)
            case _:
                pass
        self._since = entry.at


@contextmanager
def exporting(*, content: bool = False) -> Generator[Telemetry]:
    """Send spans and metrics over OTLP/HTTP, as OpenTelemetry's own variables say, until the end.

    `OTEL_EXPORTER_OTLP_ENDPOINT` names the collector, `OTEL_METRIC_EXPORT_INTERVAL` the pace.
    """
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "clew"}
    resource = Resource.create(named)
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    meters = MeterProvider([reader], resource, shutdown_on_exit=False)
    logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
    try:
        yield Telemetry(meters.get_meter("clew"), tracers.get_tracer("clew"), content=content)
    finally:
        tracers.shutdown()
        meters.shutdown()
