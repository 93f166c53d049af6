"""A reply that is too long is cut off, from every provider and from a model of one's own.

Entered by runs; the servers are local ones, on sockets.
"""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import pytest

from clew import Agent, Limits, ModelError, Trajectory, read, run, tool
from clew.core.codes import TOO_LONG
from clew.core.contents import RawCall, Reply, Usage
from clew.core.tools import Retry
from clew.core.values import encode
from clew.models.openai.chat import openai_chat
from clew.models.reply_size import KEPT, REPLY_BYTES
from clew.stores.memory import MemoryStore
from clew.testing.models import ScriptedModel
from clew_testing.servers.http_server import Say
from tests.models.long_talk import PROVIDERS, Provider, Watching

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])

LONG: Final = "x" * (REPLY_BYTES + 1_000)
LIMITS: Final = Limits(steps=4, tokens=100_000_000)

SAYINGS: Final = {
    "text": Say(LONG),
    "arguments": Say("", [("look", encode({"query": LONG}).decode())]),
}


@tool(effect="unsafe")
def look(query: str) -> str:
    """Look something up."""
    raise AssertionError("a call of a reply that was cut off is never made")


def agent(model: Any) -> Agent:
    return Agent(model=model, tools=[look], limits=LIMITS)


def cut(record: Trajectory) -> Reply:
    """The first reply, which was cut off; it led to a fault, and little of it is kept."""
    thought = record.steps[0].thought
    assert thought is not None
    assert "too long" in thought.fault
    assert not thought.actions
    assert (thought.reply.finish, thought.reply.ending) == ("cut", TOO_LONG)
    assert len(encode(thought.reply)) <= 11 * KEPT
    return thought.reply


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "streamed"), [("text", True), ("text", False), ("arguments", False)]
)
@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
async def test_it_is_cut_at_every_provider(provider: Provider, said: str, streamed: bool) -> None:
    store = MemoryStore()
    async with provider.open([SAYINGS[said], Say("Here.")]) as line:
        done = await run(
            agent(line.model),
            "Where?",
            store=store,
            run_id="r",
            listener=Watching() if streamed else None,
        )
        assert len(line.server.requests) == 2, "the reply is not asked for again"
        assert len(encode(line.server.requests[1].body)) < KEPT
    assert (done.status, done.answer) == ("answered", "Here.")
    cut(await read("r", store=store))


OWN: Final = {
    "text": Reply(LONG),
    "reasoning": Reply("Yes.", reasoning=LONG),
    "text and reasoning": Reply(LONG[: REPLY_BYTES * 2 // 3], reasoning=LONG[: REPLY_BYTES // 2]),
    "arguments": Reply(
        calls=(RawCall(name="look", arguments=encode({"query": LONG}).decode(), id="c"),)
    ),
    "calls": Reply(
        calls=tuple(
            RawCall(
                name="look",
                arguments=encode({"query": LONG[: REPLY_BYTES // 4]}).decode(),
                id=f"call_{n}",
            )
            for n in range(5)
        ),
        finish="calls",
    ),
    "no JSON": Reply(calls=(RawCall(name="look", arguments=LONG, id="c"),), finish="calls"),
    "a name": Reply(calls=(RawCall(name=LONG, arguments="{}", id="c"),), finish="calls"),
    "an id": Reply(
        calls=(RawCall(name="look", arguments='{"query": "x"}', id=LONG),), finish="calls"
    ),
    "a text that it calls cut": Reply(LONG, finish="length"),
    "many calls": Reply(
        calls=tuple(
            RawCall(name="look", arguments='{"query": "x"}', id=f"c{n}") for n in range(1_000_000)
        ),
        finish="calls",
    ),
}


@pytest.mark.parametrize("codec", ["native", "labelled"])
@pytest.mark.parametrize("said", OWN)
async def test_it_is_cut_of_a_model_of_ones_own(said: str, codec: str) -> None:
    store = MemoryStore()
    usage = Usage(input=10, output=5, cost=0.0)
    reply = Reply(
        OWN[said].text, OWN[said].calls, OWN[said].finish, usage, reasoning=OWN[said].reasoning
    )
    written = "Here." if codec == "native" else "Thought: I know.\nFinal Answer: Here."
    model = ScriptedModel([reply, written], codec=codec, tools=[look])
    who = Agent(model=model, tools=[look], codec=codec, limits=LIMITS)
    done = await run(who, "Where?", store=store, run_id="r")
    assert (done.status, done.answer) == ("answered", "Here.")
    assert cut(await read("r", store=store)).usage == usage


@pytest.mark.slow
async def test_a_long_reply_within_the_limit_counts() -> None:
    long = LONG[: REPLY_BYTES - 1].strip()
    store = MemoryStore()
    model = ScriptedModel([Reply(long, usage=Usage(input=10, output=5, cost=0.0))])
    done = await run(agent(model), "Where?", store=store)
    assert done.answer == long


# ------------------------------------------------------------------------- servers without an end

PLAIN: Final = encode(
    {"choices": [{"message": {"role": "assistant", "content": "Here."}, "finish_reason": "stop"}]}
)
PIECE: Final = "b" * 200_000


def _event(delta: dict[str, Any]) -> bytes:
    return b"data: " + encode({"choices": [{"index": 0, "delta": delta}]}) + b"\n\n"


def _args(piece: str) -> dict[str, Any]:
    function = {"name": "look", "arguments": piece}
    return {"tool_calls": [{"index": 0, "id": "c", "function": function}]}


ENDLESS: Final = {
    "text": ("text/event-stream", b"", _event({"content": PIECE})),
    "arguments": ("text/event-stream", b"", _event(_args(PIECE))),
    "reasoning": ("text/event-stream", b"", _event({"reasoning_content": PIECE})),
    "small pieces": ("text/event-stream", b"", _event({"content": "word " * 50}) * 500),
    "one line": ("text/event-stream", b"data: ", PIECE.encode()),
    "JSON": ("application/json", b'{"choices": [{"message": {"content": "', PIECE.encode()),
    "a page": ("text/html", b"<html>", PIECE.encode()),
}


class Endless(ThreadingHTTPServer):
    """Its first reply goes on until the client hangs up, which sets `left`; then it answers."""

    def __init__(self, kind: str, first: bytes, piece: bytes, status: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = (kind, first, piece, status)
        self.left = threading.Event()
        self.asked = 0


class _Handler(BaseHTTPRequestHandler):
    server: Any

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.asked += 1
        if self.server.asked > 1:
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(PLAIN)))
            self.end_headers()
            self.wfile.write(PLAIN)
            return
        kind, first, piece, status = self.server.reply
        self.send_response(status)
        self.send_header("content-type", kind)
        self.end_headers()
        try:
            self.wfile.write(first)
            while True:
                self.wfile.write(piece)
        except OSError:
            self.server.left.set()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
        """Nothing is printed."""


@pytest.fixture
def endless(request: pytest.FixtureRequest) -> Iterator[Endless]:
    kind, first, piece, *status = request.param
    server = Endless(kind, first, piece, status[0] if status else 200)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def _model(server: Endless) -> Any:
    base = f"http://127.0.0.1:{server.server_address[1]}/v1"
    return openai_chat("m", base_url=base, api_key="k", provider="vllm", retries=Retry(times=0))


@pytest.mark.parametrize("endless", ENDLESS.values(), ids=list(ENDLESS), indirect=True)
async def test_an_endless_reply_is_hung_up_on(endless: Endless) -> None:
    store = MemoryStore()
    model = _model(endless)
    done = await run(agent(model), "Where?", store=store, run_id="r", listener=Watching())
    assert (done.status, done.answer) == ("answered", "Here.")
    assert endless.left.wait(30)
    cut(await read("r", store=store))
    await model.close()


@pytest.mark.parametrize(
    "endless", [("application/json", b"", PIECE.encode(), 400)], ids=["400"], indirect=True
)
async def test_an_endless_refusal_is_hung_up_on(endless: Endless) -> None:
    model = _model(endless)
    with pytest.raises(ModelError, match="refused the request"):
        await run(agent(model), "Where?", store=MemoryStore())
    assert endless.left.wait(30)
    await model.close()
