"""Spans over the real SDK and its exporter, as a collector gets them."""

import dataclasses
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.semconv._incubating.attributes import error_attributes, gen_ai_attributes
from opentelemetry.trace import SpanKind, Tracer

from clew import (
    Agent,
    Limits,
    MemoryStore,
    ModelError,
    ModelSettings,
    Retry,
    Trajectory,
    fork,
    read,
    resume,
    rule,
    run,
    tool,
)
from clew import otel as package
from clew.core.contents import RawCall, Reply
from clew.core.models import ModelInfo
from clew.core.trajectory import Call
from clew.core.verdicts import Verdict
from clew.models.batches import Batched
from clew.otel import Spans, export
from clew.otel.send import send
from clew.support.errors import ClewError
from clew.testing.models import ScriptedModel, act, acts, finish, say
from clew_testing.servers import OpenAIBatchServer, Say
from tests.core.relay import RELAY
from tests.otel.collector import Collector, Got, collector

CONVENTIONS = {
    value
    for module in (gen_ai_attributes, error_attributes)
    for name, value in vars(module).items()
    if name.isupper()
}
SECRET = "what only the two of us know"


@tool(effect="read")
async def look(where: str) -> str:
    """Look somewhere."""
    return f"{SECRET} is {where}"


@tool(effect="idempotent", retry=Retry(times=1, delay=0.0))
async def put(what: str) -> str:
    """Put something down."""
    raise ZeroDivisionError(SECRET)


def agent(**more: Any) -> Agent:
    model = ScriptedModel([
        acts(act("look", where="here"), act("look", where="there"), act("put", what=SECRET)),
        act("look", wher="nowhere"),
        finish(SECRET, outcome="not_done"),
        say("And that."),
    ])  # fmt: skip
    return Agent(model=model, tools=[look, put], **more)


@contextmanager
def collected() -> Iterator[tuple[Collector, Tracer]]:
    """A collector, and a tracer whose spans are there once the block is left."""
    with collector() as found:
        provider = TracerProvider(resource=Resource.create({"service.name": "mine"}))
        exporter = OTLPSpanExporter(endpoint=f"{found.url}/v1/traces")
        provider.add_span_processor(BatchSpanProcessor(exporter))
        try:
            yield found, provider.get_tracer("test")
            assert provider.force_flush()
        finally:
            provider.shutdown()


async def test_a_run_is_seen_by_a_collector_as_it_happens() -> None:
    store = MemoryStore()
    with collector() as found:
        provider = TracerProvider(resource=Resource.create({"service.name": "mine"}))
        exporter = OTLPSpanExporter(endpoint=f"{found.url}/v1/traces")
        provider.add_span_processor(BatchSpanProcessor(exporter))
        tracer = provider.get_tracer("test")
        with tracer.start_as_current_span("mine"), Spans("run-1", tracer=tracer) as spans:
            await run(agent(), "Where?", store=store, run_id="run-1", listener=spans)
        provider.shutdown()
    (mine,) = found.named("mine")
    (invoked,) = found.named("invoke_agent")
    assert (invoked.trace, invoked.parent, invoked.kind) == (mine.trace, mine.id, 1)
    chats, calls = found.named("chat test"), found.named("execute_tool look")
    calls.sort(key=lambda call: call.attributes["gen_ai.tool.call.id"])
    assert {span.parent for span in (*chats, *calls)} == {invoked.id}
    assert found.services == {"mine"}
    assert spans.ended == len(found.spans) - 1 == 8

    assert invoked.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert invoked.attributes["gen_ai.conversation.id"] == "run-1"
    assert invoked.attributes["clew.status"] == "answered"
    assert invoked.attributes["clew.answer.outcome"] == "not_done"
    assert invoked.attributes["clew.steps"] == 3
    told = [span.attributes["gen_ai.usage.input_tokens"] for span in chats]
    assert invoked.attributes["gen_ai.usage.input_tokens"] == sum(told) > 0
    for chat in chats:
        assert chat.kind == 3
        assert chat.attributes["gen_ai.operation.name"] == "chat"
        assert chat.attributes["gen_ai.provider.name"] == "scripted"
        assert chat.attributes["gen_ai.request.model"] == "test"
        assert chat.attributes["gen_ai.response.finish_reasons"] == ["tool_call"]
    assert [call.attributes["gen_ai.tool.call.id"] for call in calls] == [
        "run-1:1.1",
        "run-1:1.2",
        "run-1:2.1",
    ]
    assert [call.error for call in calls] == ["", "", "invalid_arguments"]
    (failed,) = found.named("execute_tool put")
    assert failed.attributes["error.type"] == failed.error == "crashed"
    assert failed.attributes["clew.attempts"] == 2
    assert failed.attributes["clew.outcome"] == "unknown"
    assert SECRET not in repr(found.spans)


def bare(spans: list[Got]) -> list[Got]:
    """Spans without what differs from trace to trace, in one order."""
    plain = [dataclasses.replace(span, trace=b"", id=b"", parent=b"") for span in spans]
    return sorted(plain, key=lambda span: (span.begin, span.end, repr(span)))


async def test_a_record_gives_the_same_spans_afterwards() -> None:
    store = MemoryStore()
    with collected() as (live, tracer):
        spans = Spans("run-1", tracer=tracer)
        await run(agent(), "Where?", store=store, run_id="run-1", listener=spans)
    with collected() as (later, tracer):
        assert export(await read("run-1", store=store), tracer=tracer) == 8
    assert bare(live.spans) == bare(later.spans)
    kinds = {span.name.split()[0]: span.kind - 1 for span in later.spans}
    assert kinds == {
        "invoke_agent": SpanKind.INTERNAL.value,
        "chat": SpanKind.CLIENT.value,
        "execute_tool": SpanKind.INTERNAL.value,
    }


async def test_times_are_those_of_the_record() -> None:
    store = MemoryStore()
    await run(agent(), "Where?", store=store, run_id="run-1")
    record = await read("run-1", store=store)
    at = {id(entry.event): entry.at for entry in record.entries}
    with collected() as (found, tracer):
        export(record, tracer=tracer)
    (invoked,) = found.named("invoke_agent")
    assert (invoked.begin, invoked.end) == (record.entries[0].at, record.entries[-1].at)
    thoughts = [at[id(step.thought)] for step in record.steps]
    assert [span.end for span in found.named("chat test")] == thoughts
    before = [record.entries[entry.seq - 2].at for entry in record.entries
              if any(entry.event is step.thought for step in record.steps)]  # fmt: skip
    assert [span.begin for span in found.named("chat test")] == before
    (put_down,) = found.named("execute_tool put")
    call = record.call("1.3")
    assert (put_down.begin, put_down.end) == (at[id(call.attempts[0])], at[id(call.observation)])


async def test_content_is_told_when_it_is_asked_for() -> None:
    store = MemoryStore()
    given = agent(prompt="Be brief.")
    run_id = (await run(given, "Where?", store=store)).run_id
    with collected() as (found, tracer):
        export(await read(run_id, store=store), tracer=tracer, content=True)
    (invoked,) = found.named("invoke_agent")
    texts = {name: json.loads(invoked.attributes[f"gen_ai.{name}"]) for name in (
        "input.messages", "output.messages", "system_instructions",
    )}  # fmt: skip
    assert texts["input.messages"][0]["parts"] == [{"type": "text", "content": "Where?"}]
    assert texts["output.messages"][0]["parts"] == [{"type": "text", "content": SECRET}]
    assert "Be brief." in texts["system_instructions"][0]["content"]
    (first, *_) = found.named("chat test")
    (message,) = json.loads(first.attributes["gen_ai.output.messages"])
    assert (message["role"], message["finish_reason"]) == ("assistant", "tool_call")
    assert [part["type"] for part in message["parts"]] == ["text", *["tool_call"] * 3]
    (call, *_) = sorted(found.named("execute_tool look"), key=lambda span: repr(span.attributes))
    assert json.loads(call.attributes["gen_ai.tool.call.arguments"]) == {"where": "here"}
    assert call.attributes["gen_ai.tool.call.result"] == f"{SECRET} is here"


def elsewhere(call: Call, trajectory: Trajectory) -> Verdict:
    """A guard that sends a call elsewhere."""
    return Verdict("amend", "it is there", args={"where": "there"})


def asked(call: Call, trajectory: Trajectory) -> Verdict:
    """A guard that asks a person."""
    return Verdict("hold", "may it look?")


@pytest.mark.parametrize("guard", [elsewhere, asked])
@pytest.mark.parametrize("way", ["afterwards", "live"])
async def test_a_call_is_told_with_the_arguments_it_was_made_with(guard: Any, way: str) -> None:
    script, store = [act("look", where="here"), say("done")], MemoryStore()
    given = Agent(model=ScriptedModel(script), tools=[look], guards=[guard])
    with collected() as (found, tracer), Spans("r", tracer=tracer, content=True) as spans:
        told = await run(given, "Where?", store=store, run_id="r", listener=spans)
        if told.status == "held":
            await rule("r:1.1", allow=True, args={"where": "there"}, store=store)
            await resume(given, "r", store=store, listener=spans)
        if way == "afterwards":
            export(await read("r", store=store), tracer=tracer, content=True)
    made = found.named("execute_tool look")
    assert len(made) == (2 if way == "afterwards" else 1)
    for span in made:
        assert json.loads(span.attributes["gen_ai.tool.call.arguments"]) == {"where": "there"}
        assert span.attributes["gen_ai.tool.call.result"] == f"{SECRET} is there"
    said = json.loads(found.named("chat test")[0].attributes["gen_ai.output.messages"])
    assert "here" in str(said), "what the model wrote stays"


GOALS = [
    *(
        "Where?",
        "And here?",
        "ä \u2603",
        "x" * 3_000,
        "two\nlines",
        'say "so" \\ or not',
        "\U0001f642",
    ),
    *('{"role": "user"}', "<b>here</b>", "0", "null", "a\tb", "e\u0301"),
]


@pytest.mark.parametrize("goal", GOALS)
async def test_each_thought_has_what_it_answers_and_what_it_said(goal: str) -> None:
    @tool(effect="read")
    def look(where: str) -> str:
        """Look."""
        return f"seen {where}"

    call = RawCall(name="look", arguments='{"where": "here"}', id="a")
    script: list[Any] = [Reply("I look.", (call,), "calls"), say(f"It is {goal}")]
    given, store = Agent(model=ScriptedModel(script), tools=[look]), MemoryStore()
    run_id = (await run(given, goal, store=store)).run_id
    with collected() as (found, tracer):
        export(await read(run_id, store=store), tracer=tracer, content=True)
    spans = [span for span in found.spans if span.attributes["gen_ai.operation.name"] == "chat"]
    first, last = [
        [json.loads(span.attributes[f"gen_ai.{way}.messages"]) for way in ("input", "output")]
        for span in spans
    ]
    assert first[0] == [{"role": "user", "parts": [{"type": "text", "content": goal}]}]
    answer = {"type": "tool_call_response", "id": "1.1", "response": "seen here"}
    assert last[0] == [{"role": "tool", "parts": [answer]}]
    assert last[1][0]["parts"] == [{"type": "text", "content": f"It is {goal}"}]


async def test_every_attribute_is_of_the_conventions_or_ours() -> None:
    store = MemoryStore()
    run_id = (await run(agent(), "Where?", store=store)).run_id
    with collected() as (found, tracer):
        export(await read(run_id, store=store), tracer=tracer, content=True)
    used = {name for span in found.spans for name in span.attributes}
    assert {name for name in used if not name.startswith("clew.")} <= CONVENTIONS
    source = Path(str(package.__file__)).read_text("utf-8")
    written = set(re.findall(r'"(gen_ai\.[a-z._]+)"', source))
    written |= {f"gen_ai.request.{name}" for name in package.PARAMS.values()}
    assert written <= CONVENTIONS
    known = {one.value for one in gen_ai_attributes.GenAiProviderNameValues}
    assert set(package.PROVIDERS.values()) <= known


async def test_each_invocation_is_a_trace_and_a_follow_up_another() -> None:
    store = MemoryStore()
    given = agent()
    run_id = (await run(given, "Where?", store=store)).run_id
    before = (await read(run_id, store=store)).entries
    with collected() as (live, tracer), Spans(run_id, before=before, tracer=tracer) as spans:
        await resume(given, run_id, say="And?", store=store, listener=spans)
    (invoked,), (chat,) = live.named("invoke_agent"), live.named("chat test")
    assert chat.attributes["clew.step"] == 4
    assert invoked.begin <= chat.begin
    with collected() as (found, tracer):
        export(await read(run_id, store=store), tracer=tracer)
    both = found.named("invoke_agent")
    assert len({span.trace for span in both}) == 2
    assert [span.attributes["clew.status"] for span in both] == ["answered", "answered"]


async def test_who_knows_nothing_of_the_run_before_tells_what_there_is() -> None:
    store = MemoryStore()
    given = agent(limits=Limits(steps=1, landing=False))
    run_id = (await run(given, "Where?", store=store)).run_id
    record = await read(run_id, store=store)
    with collected() as (found, tracer):
        spans = Spans(tracer=tracer)
        for entry in record.entries[2:]:
            spans.entry(entry)
    names = [span.name for span in found.spans]
    assert names == ["execute_tool", "execute_tool", "execute_tool", "invoke_agent"]
    assert found.spans[-1].attributes["clew.status"] == "bound"
    assert "gen_ai.request.model" not in found.spans[-1].attributes


async def test_an_open_run_ends_where_its_record_does() -> None:
    class Broken:
        info = ModelInfo("openai:gpt", {"temperature": 0.5, "stop": "x", "odd": {}})

        async def complete(self, prompt: object, on_text: object = None) -> Any:
            raise ModelError("no")

    store = MemoryStore()
    with collected() as (live, tracer), pytest.raises(ModelError):
        with Spans("r", tracer=tracer) as spans:
            await run(Agent(model=Broken()), "Where?", store=store, run_id="r", listener=spans)
    (invoked,) = live.spans
    assert (invoked.attributes["clew.status"], invoked.error) == ("open", "ModelError")
    with collected() as (later, tracer):
        export(await read("r", store=store), tracer=tracer)
    (invoked,) = later.spans
    assert (invoked.attributes["clew.status"], invoked.error) == ("open", "")


async def test_what_a_model_was_told_and_took_is_there() -> None:
    store = MemoryStore()
    model = ScriptedModel(
        [say("Ok.")], settings=ModelSettings(stop=("x",), temperature=0.5, extra={"odd": {}})
    )
    run_id = (await run(Agent(model=model), "Where?", store=store)).run_id
    with collected() as (found, tracer):
        export(await read(run_id, store=store), tracer=tracer)
    (chat,) = found.named("chat test")
    assert chat.attributes["gen_ai.request.stop_sequences"] == ["x"]
    assert chat.attributes["gen_ai.request.temperature"] == 0.5


async def test_a_model_asked_in_batches_has_its_own_name(tmp_path: Path) -> None:
    store = MemoryStore()
    options: dict[str, Any] = {"api_key": "key", "ledger": tmp_path / "batches.sqlite"}
    with OpenAIBatchServer(lambda _: Say("Here.")) as server:
        model = Batched(
            "openai:gpt-4.1-mini", base_url=server.base_url, gather=0.0, poll=0.0, **options
        )
        run_id = (await run(Agent(model=model), "Where?", store=store)).run_id
        await model.close()
    with collected() as (found, tracer):
        export(await read(run_id, store=store), tracer=tracer)
    (chat,) = found.named("chat gpt-4.1-mini")
    assert chat.attributes["gen_ai.provider.name"] == "openai"
    assert chat.attributes["gen_ai.request.model"] == "gpt-4.1-mini"


async def test_the_extra_sends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    run_id = (await run(agent(), "Where?", store=store)).run_id
    record = await read(run_id, store=store)
    with collector() as found:
        assert send(record, endpoint=f"{found.url}/v1/traces") == len(found.spans) == 8
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        monkeypatch.setenv("OTEL_SERVICE_NAME", "theirs")
        assert send(record) == 8
        assert found.services == {"clew", "theirs"}
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.1")
    with pytest.raises(ClewError, match=r"no collector took the spans at http://127.*listens"):
        send(record)


async def test_of_a_fork_only_what_is_its_own_is_told() -> None:
    store = MemoryStore()
    run_id = (await run(agent(), "Where?", store=store)).run_id
    forked = await fork(agent(), run_id, at=2, store=store)
    with collected() as (found, tracer):
        assert export(await read(forked.run_id, store=store), tracer=tracer) == 2
    (invoked,), (chat,) = found.named("invoke_agent"), found.named("chat test")
    assert invoked.attributes["gen_ai.conversation.id"] == forked.run_id
    assert chat.attributes["clew.step"] == 3
    assert chat.attributes["gen_ai.request.model"] == "test"


async def test_what_was_given_with_a_fork_is_no_work_of_its_own() -> None:
    store = MemoryStore()
    run_id = (await run(agent(), "What?", store=store)).run_id
    with collected() as (found, tracer), Spans("forked", tracer=tracer) as spans:
        given = {"1.1": "somewhere else"}
        await fork(
            agent(), run_id, at=1, observations=given, store=store, new_id="forked", listener=spans
        )
    assert sorted(span.name for span in found.spans) == [
        "chat test", "chat test", "execute_tool look", "invoke_agent",
    ]  # fmt: skip
    assert [span.attributes["clew.step"] for span in found.named("chat test")] == [2, 3]
    with collected() as (found, tracer):
        assert export(await read("forked", store=store), tracer=tracer) == 4


async def test_calls_that_a_call_asked_for_have_spans_with_their_tools() -> None:
    asked = [{"tool": "look", "args": {"where": "here"}}] * 2
    model = ScriptedModel([act("relay", calls=asked), say("done")])
    with collected() as (found, tracer):
        with Spans("run-1", tracer=tracer) as spans:
            one = Agent(model=model, tools=[look, RELAY])
            await run(one, "?", store=MemoryStore(), run_id="run-1", listener=spans)
    ids = [span.attributes["gen_ai.tool.call.id"] for span in found.named("execute_tool look")]
    assert sorted(ids) == ["run-1:1.2", "run-1:1.3"]
    assert len(found.named("execute_tool relay")) == 1


CALL = RawCall(name="look", arguments='{"where": "here"}', id="a")
WAYS: dict[str, tuple[list[Any], list[str]]] = {
    "at once": ([say("A.")], ["user"]),
    "by finish": ([finish("A.")], ["user"]),
    "after one call": ([act("look", where="a"), say("A.")], ["user", "tool"]),
    "after two": ([act("look", where="a"), act("look", where="b"), finish("A.")],
                  ["user", "tool", "tool"]),
    "after two in one reply": ([acts(act("look", where="a"), act("look", where="b")), say("A.")],
                               ["user", "tool"]),
    "after words and a call": ([Reply("I look.", (CALL,), "calls"), say("A.")], ["user", "tool"]),
    "after a refused call": ([act("look", wher="a"), say("A.")], ["user", "tool"]),
    "after a call of no tool": ([act("loop", where="a"), say("A.")], ["user", "tool"]),
    "after a crash": ([act("put", what="a"), finish("A.")], ["user", "tool"]),
    "after an empty reply": ([Reply("", (), "stop"), say("A.")], ["user", "user"]),
}  # fmt: skip


@pytest.mark.parametrize(("script", "roles"), WAYS.values(), ids=WAYS)
async def test_the_last_thought_has_the_answer_and_each_its_input(
    script: list[Any], roles: list[str]
) -> None:
    given, store = Agent(model=ScriptedModel(script), tools=[look, put]), MemoryStore()
    result = await run(given, "Where?", store=store)
    with collected() as (found, tracer):
        export(await read(result.run_id, store=store), tracer=tracer, content=True)
    chats = sorted(found.named("chat test"), key=lambda span: span.attributes["clew.step"])
    sent = [json.loads(span.attributes["gen_ai.input.messages"]) for span in chats]
    assert [messages[0]["role"] for messages in sent] == roles
    said = json.loads(chats[-1].attributes["gen_ai.output.messages"])
    assert result.answer == "A."
    assert "A." in str(said[0]["parts"])


async def test_a_call_that_was_put_off_is_no_error() -> None:
    async def hold(call: Call, _trajectory: Trajectory) -> Verdict | None:
        return Verdict("hold", "look", gather=True) if call.action.name == "look" else None

    model = ScriptedModel([act("look", where="here"), say("later"), say("Done.")])
    careful = Agent(model=model, tools=[look], guards=[hold])
    store = MemoryStore()
    with collected() as (found, tracer), Spans("run-1", tracer=tracer) as spans:
        held = await run(careful, "Where?", store=store, run_id="run-1", listener=spans)
        await rule(f"run-1:{held.pending_approvals[0].call}", allow=True, store=store)
        await resume(careful, "run-1", store=store, listener=spans)
    assert [span.error for span in found.named("execute_tool look")] == ["", ""]
    assert [span.attributes["clew.made"] for span in found.named("execute_tool look")] == [
        False, True,
    ]  # fmt: skip
