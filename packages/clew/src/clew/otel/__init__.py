"""Spans for OpenTelemetry from a run's entries, by its conventions for generative AI.

`Spans` is a listener for a running run; `export` does the same for an existing record. Times are
those of the record. Needs the extra `otel`; the program's own set-up of OpenTelemetry decides where
spans go.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from clew.support.extras import missing_extra

try:
    from opentelemetry import trace
except ModuleNotFoundError as missing:
    raise missing_extra(missing, "otel") from missing
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer
from opentelemetry.util.types import AttributeValue

from clew.core.actions import Action
from clew.core.codes import FINISH
from clew.core.contents import Observation, Usage
from clew.core.entries import Entry
from clew.core.events import (
    AnyEvent,
    Attempt,
    Changed,
    Forked,
    Gathered,
    Judged,
    Note,
    Ruling,
    Settled,
    Started,
    Stop,
    Suspended,
    Thought,
    Woken,
)
from clew.core.specs import AgentSpec
from clew.core.trajectory import Trajectory
from clew.core.values import Json, encode
from clew.models.prices import unprefixed

__all__ = ["Spans", "export"]

PROVIDERS: Final = {
    "azure": "azure.ai.openai",
    "gemini": "gcp.gemini",
    "google": "gcp.gemini",
    "mistral": "mistral_ai",
}
"""What the conventions call a provider, where that is not our own name of it."""

FINISHES: Final = {"calls": "tool_call", "filter": "content_filter"}

PARAMS: Final = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_tokens": "max_tokens",
    "frequency_penalty": "frequency_penalty",
    "presence_penalty": "presence_penalty",
    "seed": "seed",
    "stop": "stop_sequences",
}
"""Sampling parameters, by their names after `gen_ai.request`."""

Attributes = dict[str, AttributeValue]


class Spans:
    """A listener that makes a span of each invocation, and in it one of each reply and each call.

    An invocation goes on until the run stops; one that did not stop ends with the `with` block:

        with Spans(run_id) as spans:
            await run(agent, goal, run_id=run_id, listener=spans)

    `before` are the entries of a run that is resumed, so that its model, steps and calls are known.
    Texts, arguments and results are left out, unless `content`: they may hold what nobody should
    see. One instance is for one run.
    """

    def __init__(
        self,
        run_id: str = "",
        *,
        before: Iterable[Entry] = (),
        tracer: Tracer | None = None,
        content: bool = False,
    ) -> None:
        self.ended = 0
        """The number of spans."""
        self._run_id = run_id
        self._tracer = trace.get_tracer("clew") if tracer is None else tracer
        self._content = content
        self._spec: AgentSpec | None = None
        self._goal = ""
        self._steps = 0
        self._asked: list[dict[str, Any]] = []
        """What came since the last thought."""
        self._answered: list[dict[str, Any]] = []
        """What the last thought answered."""
        self._actions: dict[str, Action] = {}
        self._revised: dict[str, dict[str, Json]] = {}
        """The arguments by which a guard or a person last replaced the model's."""
        self._begun: dict[str, int] = {}
        self._attempts: dict[str, int] = {}
        self._agent: Span | None = None
        self._usage = Usage()
        self._since: int | None = None
        """Since when the next thing is under way, in Unix milliseconds; None where nobody knows."""
        self._epoch = 0
        self._action_count = 0
        """The number of the last call of the step."""
        self._again = 0
        """How many of the next entries came with a fork, and are no work of its own."""
        for entry in before:
            self._hear(entry.event)
            self._learn(entry)

    def __enter__(self) -> Self:
        return self.begin(time.time_ns() // 1_000_000)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close(time.time_ns() // 1_000_000, type(error).__qualname__ if error else "")

    def begin(self, at: int) -> Self:
        """Say when what is recorded next began, in Unix milliseconds; the `with` block does."""
        self._since, self._epoch = at, 0
        return self

    def token(self, text: str) -> None:
        """Ignore the pieces of a reply."""

    def entry(self, entry: Entry) -> None:
        """Take the next recorded entry."""
        self._hear(entry.event)
        self._learn(entry)
        if self._agent is None:
            self._agent = self._begin(entry.at if self._since is None else self._since)
        again, self._again = self._again > 0, max(self._again - 1, 0)
        match entry.event:
            case _ if again:
                pass
            case Forked():
                self._again = entry.event.again
            case Thought():
                self._thought(entry.event, entry.at)
            case Observation():
                self._observation(entry.event, entry.at)
            case Stop():
                self._stop(entry.event, entry.at)
            case _:
                pass
        self._since = None if isinstance(entry.event, Stop) else entry.at

    def close(self, at: int, error: str = "") -> None:
        """End an invocation that did not stop, at a time in Unix milliseconds."""
        if self._agent is not None:
            self._agent.set_attribute("clew.status", "open")
            self._end_agent(at, error)

    def _hear(self, event: AnyEvent) -> None:
        """Keep what the next thought answers."""
        match event:
            case Started():
                self._asked.append(_message("user", event.goal))
            case Note():
                self._asked.append(_message("user", event.text))
            case Observation():
                answer = {"type": "tool_call_response", "id": event.call, "response": event.text}
                self._asked.append({"role": "tool", "parts": [answer]})
            case Thought():
                self._answered, self._asked = self._asked, []
                if event.fault:  # which the next thought is told
                    self._asked.append(_message("user", event.fault))
            case _:
                pass

    def _learn(self, entry: Entry) -> None:
        """Keep what later entries refer to."""
        event = entry.event
        if entry.epoch != self._epoch and self._epoch:
            self._since = None
        self._epoch = entry.epoch
        match event:
            case Started():
                self._spec, self._goal = event.spec, event.goal
            case Changed():
                self._spec = event.spec
            case Forked():
                self._spec, self._steps = event.spec, event.step
            case Thought():
                self._steps += 1
                self._action_count = 0
                self._number(event.actions, entry.at)
            case Suspended():
                self._number(event.actions, entry.at)
            case Gathered():
                self._number([self._actions[key] for key in event.calls], entry.at)
            case Attempt():
                if event.number == 1 and event.call not in self._attempts:
                    self._begun[event.call] = entry.at
                self._attempts[event.call] = event.number
            case Settled() | Woken():
                self._begun[event.call] = entry.at
            case Judged() | Ruling():
                self._begun[event.call] = entry.at
                self._revise(event)
            case _:
                pass

    def _number(self, actions: Sequence[Action], at: int) -> None:
        """Keep the next calls of the step, by their keys."""
        for action in actions:
            self._action_count += 1
            key = f"{self._steps}.{self._action_count}"
            self._actions[key], self._begun[key] = action, at

    def _revise(self, event: Judged | Ruling) -> None:
        """Keep the arguments that replace the model's."""
        args = event.args if isinstance(event, Ruling) else event.verdict.args
        if args is not None:
            self._revised[event.call] = args

    def _begin(self, at: int) -> Span:
        self._usage = Usage()
        attributes = self._common("invoke_agent")
        if self._spec is not None:
            attributes["gen_ai.agent.id"] = self._spec.fingerprint
            if self._content:
                prompt = {"type": "text", "content": self._spec.prompt}
                attributes["gen_ai.system_instructions"] = _json([prompt])
        if self._content and self._goal:
            attributes["gen_ai.input.messages"] = _json([_message("user", self._goal)])
        return self._span("invoke_agent", SpanKind.INTERNAL, at, attributes)

    def _thought(self, thought: Thought, at: int) -> None:
        reply = thought.reply
        self._usage += reply.usage
        attributes = self._common("chat")
        attributes |= _requested(self._spec.params if self._spec is not None else {})
        attributes |= _used(reply.usage)
        attributes["gen_ai.response.finish_reasons"] = [FINISHES.get(reply.finish, reply.finish)]
        if reply.model:
            attributes["gen_ai.response.model"] = reply.model
        attributes["clew.step"] = self._steps
        attributes["clew.fault"] = bool(thought.fault)
        if self._content:
            attributes["gen_ai.input.messages"] = _json(self._answered)
            attributes["gen_ai.output.messages"] = _json([_assistant_message(thought)])
        since = at if self._since is None else self._since
        model = "" if self._spec is None else model_attributes(self._spec)["gen_ai.request.model"]
        name = f"chat {model}".strip()
        self._end(self._span(name, SpanKind.CLIENT, since, attributes), at)

    def _observation(self, observation: Observation, at: int) -> None:
        key = observation.call
        action = self._actions.get(key)
        tool = action.name if action is not None else ""
        if tool == FINISH and observation.ok:
            return
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.call.id": f"{self._run_id}:{key}" if self._run_id else key,
            "gen_ai.tool.type": "function",
            "clew.effect": observation.effect,
            "clew.outcome": observation.outcome,
            "clew.made": observation.made,
        }
        if tool:
            attributes["gen_ai.tool.name"] = tool
        if key in self._attempts:
            attributes["clew.attempts"] = self._attempts[key]
        if self._content:
            if action is not None:
                args = self._revised.get(key, action.args)
                attributes["gen_ai.tool.call.arguments"] = _json(args)
            attributes["gen_ai.tool.call.result"] = observation.text
        begun = self._begun.get(key, at) if observation.made else at
        name = f"execute_tool {tool}".strip()
        span = self._span(name, SpanKind.INTERNAL, begun, attributes)
        is_error = not observation.ok and observation.code != "waits"  # it was only put off
        self._end(span, at, observation.code or "tool_error" if is_error else "")

    def _stop(self, stop: Stop, at: int) -> None:
        if self._agent is not None:
            self._agent.set_attribute("clew.status", stop.status)
            if stop.outcome:
                self._agent.set_attribute("clew.answer.outcome", stop.outcome)
            if stop.unknown:
                self._agent.set_attribute("clew.unknown", [call.id for call in stop.unknown])
            if self._content and stop.answer is not None:
                answer = stop.answer if isinstance(stop.answer, str) else _json(stop.answer)
                message = _message("assistant", answer)
                self._agent.set_attribute("gen_ai.output.messages", _json([message]))
            self._end_agent(at, stop.status if stop.status in {"failed", "refused"} else "")

    def _end_agent(self, at: int, error: str) -> None:
        agent, self._agent = self._agent, None
        if agent is not None:
            agent.set_attributes({**_used(self._usage), "clew.steps": self._steps})
            self._end(agent, at, error)

    def _common(self, operation: str) -> Attributes:
        attributes: Attributes = {"gen_ai.operation.name": operation}
        if self._run_id:
            attributes["gen_ai.conversation.id"] = self._run_id
        if self._spec is not None:
            attributes |= model_attributes(self._spec)
        return attributes

    def _span(self, name: str, kind: SpanKind, at: int, attributes: Attributes) -> Span:
        inside = None if self._agent is None else trace.set_span_in_context(self._agent)
        return self._tracer.start_span(
            name, inside, kind=kind, attributes=attributes, start_time=at * 1_000_000
        )

    def _end(self, span: Span, at: int, error: str = "") -> None:
        if error:
            span.set_attribute("error.type", error)
            span.set_status(StatusCode.ERROR, error)
        span.end(end_time=at * 1_000_000)
        self.ended += 1


def export(record: Trajectory, *, tracer: Tracer | None = None, content: bool = False) -> int:
    """Make the spans of a record, one trace for each invocation; returns their number.

    For a fork, only those of its own entries.
    """
    forked = [entry.seq for entry in record.entries if isinstance(entry.event, Forked)]
    own = forked[-1] - 1 if forked else 0
    spans = Spans(record.run_id, before=record.entries[:own], tracer=tracer, content=content)
    for entry in record.entries[own:]:
        spans.entry(entry)
    spans.close(record.entries[-1].at)
    return spans.ended


def model_attributes(spec: AgentSpec) -> dict[str, str]:
    """The provider, and the model's name there, as the conventions call them."""
    provider, model = unprefixed(spec.model)
    asked = model or provider
    for form in ("-responses", "-completions"):
        provider = provider.removesuffix(form)
    return {
        "gen_ai.provider.name": PROVIDERS.get(provider, provider),
        "gen_ai.request.model": asked,
    }


def _requested(params: Mapping[str, Any]) -> Attributes:
    attributes: Attributes = {}
    for name, value in params.items():
        if name in PARAMS and isinstance(value, (int, float, str, list)):
            attributes[f"gen_ai.request.{PARAMS[name]}"] = value
    return attributes


def _used(usage: Usage) -> Attributes:
    """Tokens, and the cost where it is known."""
    attributes: Attributes = {
        "gen_ai.usage.input_tokens": usage.input,
        "gen_ai.usage.output_tokens": usage.output,
    }
    if usage.cached:
        attributes["gen_ai.usage.cache_read.input_tokens"] = usage.cached
    if usage.reasoning:
        attributes["gen_ai.usage.reasoning.output_tokens"] = usage.reasoning
    if usage.cost is not None:
        attributes["clew.cost_usd"] = usage.cost
    return attributes


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _assistant_message(thought: Thought) -> dict[str, Any]:
    message = _message("assistant", thought.text if thought.answer is None else thought.answer)
    message["parts"] += [
        {"type": "tool_call", "name": action.name, "arguments": action.args}
        for action in thought.actions
    ]
    finish = thought.reply.finish
    return {**message, "finish_reason": FINISHES.get(finish, finish)}


def _json(value: object) -> str:
    return encode(value).decode()
