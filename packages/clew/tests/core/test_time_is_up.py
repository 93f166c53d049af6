"""One deadline: the time of a run goes down to every request, wait and retry of its model.

No test here says how long anything took: without the deadline each would wait for minutes.
"""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import anyio
import pytest

from clew import (
    Agent,
    Compaction,
    Context,
    Limits,
    MemoryStore,
    ModelError,
    ModelSettings,
    Result,
    Retry,
    delegate,
    read,
    replay,
    resume,
    run,
    tool,
)
from clew.core.contents import Reply, Usage
from clew.core.events import Charged, Landing, Stop
from clew.core.models import Model, ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.models.anthropic.messages import anthropic_messages
from clew.models.gemini.model import google_gemini
from clew.models.openai.chat import openai_chat
from clew.models.openai.responses import openai_responses
from clew.testing import ScriptedModel, act, say

pytestmark = pytest.mark.both_loops

SHORT: Final = Limits(seconds=0.2, grace=0.2)
HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nConnection: close\r\n\r\n"
JSON, SSE = HEAD % b"application/json", HEAD % b"text/event-stream"
THINKING: Final = (
    b'data: {"id":"x","object":"chat.completion.chunk",'
    b'"choices":[{"index":0,"delta":{"reasoning_content":"hm "}}]}\n\n'
)

Drip = Callable[[], Iterator[bytes]]


def once(*pieces: bytes) -> Drip:
    """Send this, and close."""
    return lambda: iter(pieces)


def forever(*first: bytes, then: bytes) -> Drip:
    """Send this, and then the same piece again and again, for as long as anybody reads."""

    def drip() -> Iterator[bytes]:
        yield from first
        while True:
            yield then

    return drip


def status(code: int, *headers: bytes) -> bytes:
    """A short refusal."""
    lines = b"".join(line + b"\r\n" for line in headers)
    return b"HTTP/1.1 %d X\r\nContent-Length: 2\r\n%s\r\n{}" % (code, lines)


WAYS: Final[dict[str, Drip]] = {
    "never answers": forever(then=b""),
    "drips its head": forever(b"HTTP/1.1 200 OK\r\n", then=b"X-A: b\r\n"),
    "sends a head only": forever(JSON, then=b""),
    "drips a body": forever(JSON, then=b" "),
    "drips a stream": forever(SSE, then=b":"),
    "comments": forever(SSE, then=b": wait\n\n"),
    "thinks": forever(SSE, then=THINKING),
    "sends empty events": forever(SSE, then=b"data: {}\n\n"),
    "asks to wait (429)": once(status(429, b"Retry-After: 60")),
    "asks to wait in ms": once(status(429, b"retry-after-ms: 60000")),
    "is overloaded (503)": once(status(503, b"Retry-After: 60")),
    "fails (500)": once(status(500)),
    "is busy (529)": once(status(529, b"Retry-After: 30")),
    "hangs up": once(),
    "hangs up in mid-head": once(b"HTTP/1.1 200"),
}


@contextmanager
def server(drip: Drip) -> Iterator[str]:
    """A server of this machine that does the same to every request; its address."""
    over = threading.Event()

    def serve_one(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.recv(65_536)
            for piece in drip():
                if over.wait(0.01):
                    return
                if piece:
                    client.sendall(piece)

    def serve() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                threading.Thread(target=serve_one, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            over.set()
            listening.shutdown(socket.SHUT_RDWR)


class Token:
    """A listener, so that replies are streamed."""

    def token(self, text: str) -> None:
        del text

    def entry(self, entry: Any) -> None:
        del entry


async def asked(model: Model, *, stream: bool, **limits: Any) -> tuple[Result, MemoryStore]:
    """What a run comes to with so little time."""
    store = MemoryStore()
    agent = Agent(model, limits=Limits(seconds=0.2, grace=0.2, **limits), fallback="nothing")
    listener = Token() if stream else None
    with anyio.fail_after(60):
        return await run(agent, "What?", store=store, run_id="r", listener=listener), store


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("way", WAYS)
async def test_a_server_that_does_not_answer_ends_no_later_than_the_run(
    way: str, stream: bool
) -> None:
    with server(WAYS[way]) as address:
        model = openai_chat("m", base_url=f"{address}/v1", api_key="k")
        result, store = await asked(model, stream=stream)
        await model.close()
    assert (result.status, result.answer) == ("bound", "nothing")
    assert result.reason.startswith("seconds: ")
    record = await read("r", store=store)
    kinds = [type(e.event) for e in record.entries[1:]]
    assert kinds == [Charged, Landing, Charged, Stop]
    assert result.lost.tokens > 0  # what was asked in vain may have cost
    await replay(Agent(model, limits=SHORT, fallback="nothing"), "r", store=store)


@pytest.mark.parametrize("make", [openai_responses, anthropic_messages, google_gemini])
@pytest.mark.parametrize("way", ["never answers", "comments", "asks to wait (429)"])
async def test_so_it_is_with_every_provider(make: Any, way: str) -> None:
    with server(WAYS[way]) as address:
        model = make("m", base_url=address, api_key="k")
        result, _ = await asked(model, stream=True)
        await model.close()
    assert (result.status, result.answer) == ("bound", "nothing")


# ----------------------------------------------------------------------------- models of one's own


class Slow:
    """A model that leaves the first `after` questions unanswered, and then says `text`."""

    info = ModelInfo("slow")

    def __init__(self, after: int, text: str = "late") -> None:
        self.after, self.text, self.asked = after, text, 0

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Sleep, or answer."""
        self.asked += 1
        if self.asked <= self.after:
            await anyio.sleep_forever()
        return Reply(self.text, model="slow", usage=Usage(10, 5))


async def test_a_landing_gets_its_answer_where_it_can_be_paid() -> None:
    result, store = await asked(Slow(1, "what is known"), stream=False)
    assert (result.status, result.answer) == ("bound", "what is known")
    assert result.reason.startswith("seconds")
    kinds = [type(e.event).__name__ for e in (await read("r", store=store)).entries]
    assert kinds == ["Started", "Charged", "Landing", "Thought", "Stop"]
    await replay(Agent(Slow(0), limits=SHORT, fallback="nothing"), "r", store=store)


async def test_without_a_landing_the_fallback_stands_in() -> None:
    result, _ = await asked(Slow(9), stream=False, landing=False)
    assert (result.status, result.answer) == ("bound", "nothing")


async def test_a_person_who_speaks_gives_it_new_time() -> None:
    model = Slow(2, "now")
    _, store = await asked(model, stream=False)
    agent = Agent(model, limits=SHORT, fallback="nothing")
    assert (await resume(agent, "r", say="Again.", store=store)).status == "answered"


async def test_more_time_lets_it_go_on() -> None:
    model = Slow(2, "now")
    _, store = await asked(model, stream=False)
    agent = Agent(model, limits=Limits(seconds=60), fallback="nothing")
    result = await resume(agent, "r", store=store, accept_change=True)
    assert (result.status, result.answer) == ("answered", "now")


class Deaf(Slow):
    """A model that is late, and hears of no cancellation."""

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Answer after the run's time, whoever cancels it."""
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.3)
        return Reply(self.text, model="slow", usage=Usage(10, 5))


async def test_a_reply_that_was_late_is_not_simply_an_answer() -> None:
    store = MemoryStore()
    agent = Agent(Deaf(0), limits=Limits(seconds=0.2, grace=20))
    result = await run(agent, "What?", store=store, run_id="r")
    assert (result.status, result.answer, result.reason) == ("bound", "late", "seconds")
    await replay(agent, "r", store=store)


async def test_what_is_found_in_time_is_an_answer() -> None:
    result = await run(Agent(Slow(0), limits=Limits(seconds=60)), "What?", store=MemoryStore())
    assert (result.status, result.reason) == ("answered", "")


async def test_a_second_thought_has_what_is_left() -> None:
    @tool(effect="read")
    def look() -> str:
        """Look."""
        return "seen"

    class Then(ScriptedModel):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            if self.thought:
                await anyio.sleep_forever()
            self.thought = True
            return await super().complete(prompt, on_text)

        thought = False

    model = Then([act("look"), say("never")])
    store = MemoryStore()
    agent = Agent(model, tools=[look], limits=SHORT, fallback="nothing")
    result = await run(agent, "What?", store=store, run_id="r")
    assert (result.status, result.answer, result.steps) == ("bound", "nothing", 1)
    await replay(agent, "r", store=store)


async def test_a_sub_agent_has_no_more_time_than_its_parent_gives() -> None:
    below = Agent(Slow(9), fallback="nothing below")
    agent = Agent(
        ScriptedModel([act("helper", task="Help."), say("alone")]),
        tools=[delegate(below, name="helper", description="Helps.")],
        limits=Limits(seconds=0.5, grace=0.2),
    )
    with anyio.fail_after(60):
        result = await run(agent, "What?", store=MemoryStore())
    assert result.status in {"bound", "answered"}


async def test_a_summary_is_held_to_it_too() -> None:
    @tool(effect="read")
    def look(page: int) -> str:
        """Look.

        Args:
            page: Which.
        """
        return f"{page} " * 4_000

    class Summing(ScriptedModel):
        async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
            if prompt.tail and "left out" in prompt.tail[-1].text:
                await anyio.sleep_forever()
            return await super().complete(prompt, on_text)

    model = Summing([act("look", page=n) for n in range(12)], usage=Usage())
    compaction = Compaction(by=("summary",), window=12_000, keep=1)
    agent = Agent(
        model, tools=[look], limits=Limits(seconds=2, steps=40, tool_calls=40, grace=0.2),
        fallback="nothing", context=Context(compaction=compaction),
    )  # fmt: skip
    with anyio.fail_after(60):
        result = await run(agent, "What?", store=MemoryStore())
    assert (result.status, result.answer) == ("bound", "nothing")
    assert result.reason.startswith("seconds")


# ------------------------------------------------------------------------- the model's own timeout


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("way", ["drips its head", "drips a body", "drips a stream", "comments"])
async def test_what_drips_is_held_to_the_timeout_of_a_model(way: str, stream: bool) -> None:
    with server(WAYS[way]) as address:
        model = openai_chat(
            "m",
            base_url=f"{address}/v1",
            api_key="k",
            settings=ModelSettings(timeout=0.2),
            retries=Retry(times=1, delay=0),
        )
        agent = Agent(model)
        with (
            anyio.fail_after(60),
            pytest.raises(ModelError, match=r"did not answer within|broke off"),
        ):
            await run(agent, "What?", store=MemoryStore(), listener=Token() if stream else None)
        await model.close()
