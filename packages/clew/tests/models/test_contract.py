"""The contract that ships for other people's models, run over our own, and over broken ones."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest
import trio
from trio.testing import MockClock

from clew.core.contents import RawCall, Reply, Usage
from clew.core.models import Model, OnText
from clew.core.prompts import Prompt
from clew.core.tools import Retry
from clew.models.anthropic.messages import anthropic_messages
from clew.models.anthropic.prompt import NAMES as MESSAGES
from clew.models.gemini.model import google_gemini
from clew.models.gemini.prompt import NAMES as GEMINI
from clew.models.http.endpoint import Endpoint
from clew.models.offline import OfflineModel
from clew.models.openai.chat import openai_chat
from clew.models.openai.chat_prompt import NAMES as CHAT
from clew.models.openai.completions import openai_completions
from clew.models.openai.responses import openai_responses
from clew.support.errors import ModelError
from clew.testing.models import ScriptedModel, position
from clew_testing.model_contract import (
    BASICS,
    CONTRACT,
    LOOPS,
    SAYS,
    THINKS,
    Check,
    ModelFactory,
    Script,
    check_model,
)
from clew_testing.servers.anthropic_server import AnthropicServer
from clew_testing.servers.gemini_server import GeminiServer
from clew_testing.servers.http_server import Delay, Fail, HttpServer, Say
from clew_testing.servers.openai_server import OpenAIServer

KEY = "sk-test-0123456789"


def over(
    serve: Callable[..., HttpServer], connect: Callable[..., Endpoint]
) -> Callable[[Script], AbstractAsyncContextManager[Model]]:
    """An adapter over its official client and a local server."""

    @asynccontextmanager
    async def opened(script: Script) -> AsyncGenerator[Model]:
        with serve(script, key=KEY) as server:
            once = Retry(times=0)
            model = connect("scripted", base_url=server.base_url, api_key=KEY, retries=once)
            yield model
            await model.close()

    return opened


def reply(say: Say) -> Reply:
    """What is said, as a scripted model gives it back."""
    calls = [
        RawCall(name=name, arguments=args, id=f"call_{n}")
        for n, (name, args) in enumerate(say.calls)
    ]
    usage = say.usage if isinstance(say.usage, Usage) else Usage(5, 5, estimated=say.usage == {})
    finish: Any = say.finish or ("calls" if calls else "stop")
    usage = msgspec.structs.replace(usage, cost=0.0)
    return Reply(say.text or "", tuple(calls), finish, usage, "scripted", None, say.reasoning)


def line(turn: Say | Fail | Delay) -> Any:
    if isinstance(turn, Fail):

        def fail(prompt: Prompt) -> Reply:
            raise ModelError(f"scripted:test: {turn.message}")

        return fail
    return reply(turn) if isinstance(turn, Say) else "never"


@dataclass(frozen=True)
class Stalling(ScriptedModel):
    """A scripted model that can also stop in the middle of a reply."""

    turns: Script = ()

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        turn = self.turns[min(position(prompt), len(self.turns) - 1)]
        if isinstance(turn, Delay) and isinstance(turn.of, Say) and on_text is not None:
            on_text((turn.of.text or "")[: turn.at])
            await anyio.sleep_forever()
        return await super().complete(prompt, on_text)


@asynccontextmanager
async def scripted(script: Script) -> AsyncGenerator[Model]:
    yield Stalling([line(turn) for turn in script], turns=script)


@asynccontextmanager
async def offline(script: Script) -> AsyncGenerator[Model]:
    """Rules that say what they say, whatever the script."""
    yield OfflineModel()


EVERYTHING = (*CONTRACT, *THINKS, *LOOPS)
BOTH = ("asyncio", "trio")
MAKERS: dict[str, tuple[ModelFactory, tuple[Check, ...], tuple[str, ...]]] = {
    "openai chat": (ModelFactory(over(OpenAIServer, openai_chat), CHAT.legal), EVERYTHING, BOTH),
    "openai responses": (
        ModelFactory(over(OpenAIServer, openai_responses), CHAT.legal),
        EVERYTHING,
        BOTH,
    ),
    "anthropic": (
        ModelFactory(over(AnthropicServer, anthropic_messages), MESSAGES.legal),
        EVERYTHING,
        BOTH,
    ),
    "gemini": (ModelFactory(over(GeminiServer, google_gemini), GEMINI.legal), EVERYTHING, BOTH),
    "openai completions": (
        ModelFactory(over(OpenAIServer, openai_completions)),
        (*BASICS, *SAYS, *LOOPS),
        BOTH,
    ),
    "scripted": (ModelFactory(scripted), EVERYTHING, BOTH),
    "offline": (ModelFactory(offline), (*BASICS, *LOOPS), BOTH),
}
CASES = [
    pytest.param(maker, check, backend, id=f"{name}-{check.__name__}-{backend}")
    for name, (maker, checks, backends) in MAKERS.items()
    for check in checks
    for backend in backends
]


@pytest.mark.parametrize(("maker", "check", "anyio_backend"), CASES)
async def test_model(maker: ModelFactory, check: Check, anyio_backend: str) -> None:
    await check(maker)


async def test_the_whole_contract_in_one_call() -> None:
    await check_model(ModelFactory(scripted))


@dataclass(frozen=True)
class Bent(Stalling):
    """A scripted model that does one thing wrong."""

    bend: Callable[[Reply, Prompt], Reply] = lambda reply, prompt: reply
    loops: list[object] = field(default_factory=list[object])

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        reply = await super().complete(prompt, self.listen(on_text))
        self.loops.append(anyio.lowlevel.current_token())
        return self.bend(reply, prompt)

    def listen(self, on_text: OnText | None) -> OnText | None:
        return on_text


@dataclass(frozen=True)
class Stuttering(Bent):
    def listen(self, on_text: OnText | None) -> OnText | None:
        return None if on_text is None else lambda text: on_text(text) or on_text(text)


@dataclass(frozen=True)
class Deaf(Bent):
    def listen(self, on_text: OnText | None) -> OnText | None:
        return None if on_text is None else lambda text: on_text(text) and False


@dataclass(frozen=True)
class Selfish(Bent):
    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if self.loops and self.loops[0] != anyio.lowlevel.current_token():
            raise ModelError("scripted:test: it is bound to its first event loop")
        return await super().complete(prompt, on_text)


@dataclass(frozen=True)
class Crude(Bent):
    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        try:
            return await super().complete(prompt, on_text)
        except ModelError as error:
            raise ModelError(f"failed:\n{error}") from error


@dataclass(frozen=True)
class Lost(Bent):
    """Gives every prompt the reply to the longest one so far."""

    seen: list[Reply] = field(default_factory=list[Reply])

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        self.seen.append(await super().complete(prompt, on_text))
        await anyio.lowlevel.checkpoint()
        return self.seen[-1]


def but(**changes: Any) -> Callable[[Reply, Prompt], Reply]:
    return lambda reply, prompt: msgspec.structs.replace(reply, **changes)


def scribble(reply: Reply, prompt: Prompt) -> Reply:
    object.__setattr__(prompt.parts[0], "text", "read")  # by force: it is frozen
    return reply


def strip(reply: Reply, prompt: Prompt) -> Reply:
    return msgspec.structs.replace(reply, text=reply.text.strip())


def prefer(reply: Reply, prompt: Prompt) -> Reply:
    return (
        msgspec.structs.replace(reply, text="As JSON:" + reply.text)
        if prompt.reply_schema
        else reply
    )


def insist(reply: Reply, prompt: Prompt) -> Reply:
    more = {"calls": (RawCall(name="look", arguments="{}"),)} if prompt.calls == "none" else {}
    return msgspec.structs.replace(reply, **more)


def reverse(reply: Reply, prompt: Prompt) -> Reply:
    return msgspec.structs.replace(reply, calls=reply.calls[::-1])


def alias(reply: Reply, prompt: Prompt) -> Reply:
    calls = [
        RawCall(name=call.name.replace(".", "_"), arguments=call.arguments) for call in reply.calls
    ]
    return msgspec.structs.replace(reply, calls=tuple(calls))


def read_wire(reply: Reply, prompt: Prompt) -> Reply:
    wired = [part for part in prompt.parts if part.wire is not None]
    return msgspec.structs.replace(reply, text=str(wired)) if wired else reply


def grumble(reply: Reply, prompt: Prompt) -> Reply:
    if len(prompt.parts) > 4:
        raise ModelError("scripted:test: two results for one call")
    return reply


@pytest.mark.parametrize(
    ("check", "kind", "bent"),
    [
        ("it_says_what_it_is", Bent, {"name": "a\nb"}),
        ("a_reply_can_be_recorded", Bent, {"priced": False}),
        ("a_reply_can_be_recorded", Bent, {"bend": but(model="")}),
        ("a_stream_says_the_same", Stuttering, {}),
        ("enough_is_enough", Deaf, {}),
        ("a_prompt_is_left_as_it_was", Bent, {"bend": scribble}),
        ("text_comes_as_it_was_written", Bent, {"bend": strip}),
        ("how_a_reply_ended_is_told", Bent, {"bend": but(finish="stop")}),
        ("usage_is_reported_or_estimated", Bent, {"bend": but(usage=Usage(1, 1, cost=0.0))}),
        ("a_format_of_text_can_be_asked_for", Bent, {"bend": prefer}),
        ("several_at_once_are_kept_apart", Lost, {}),
        ("a_refusal_is_a_model_error", Crude, {}),
        ("calls_come_as_they_were_made", Bent, {"bend": reverse}),
        ("any_name_of_a_tool_will_do", Bent, {"bend": alias}),
        ("a_long_conversation_is_taken", Bent, {"bend": grumble}),
        ("another_models_items_are_left_out", Bent, {"bend": read_wire}),
        ("in_a_landing_calls_are_forbidden", Bent, {"bend": insist}),
        ("thinking_is_kept_apart", Bent, {"bend": but(reasoning="")}),
        ("another_event_loop_will_do", Selfish, {}),
    ],
)
async def test_a_model_that_breaks_the_contract_is_found(
    check: str, kind: type[Bent], bent: dict[str, Any]
) -> None:
    @asynccontextmanager
    async def opened(script: Script) -> AsyncGenerator[Model]:
        yield kind([line(turn) for turn in script], turns=script, **bent)

    (broken,) = [each for each in EVERYTHING if each.__name__ == check]
    with pytest.raises(AssertionError, match=rf"\A{check}: .+\Z"):  # one line
        await broken(ModelFactory(opened))


@dataclass(frozen=True)
class Whole(ScriptedModel):
    """A model that gives its replies whole, and never the one that is to be cancelled."""

    turns: Script = ()
    heard: bool = False

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        if self.heard and on_text is not None:
            on_text("I ")
        await anyio.sleep_forever()
        raise AssertionError("it was not cancelled")


@dataclass(frozen=True)
class Failing(Whole):
    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        raise ModelError("failing:test: no\nreply")


@pytest.mark.parametrize(
    ("kind", "heard", "words"),
    [
        (Whole, False, "no text reached on_text within 30 s: the model must pass text on as it"),
        (Whole, True, "after it was cancelled, no next reply came within 30 s"),
        (Failing, False, "ModelError was raised: failing:test: no reply"),
    ],
)
def test_what_cannot_be_cancelled_is_told_in_one_line(
    kind: type[Whole], heard: bool, words: str
) -> None:
    @asynccontextmanager
    async def opened(script: Script) -> AsyncGenerator[Model]:
        yield kind([], turns=script, heard=heard)

    (check,) = [each for each in SAYS if each.__name__ == "it_can_be_cancelled"]
    with pytest.raises(AssertionError, match=rf"\Ait_can_be_cancelled: {words}.*\Z"):
        trio.run(check, ModelFactory(opened), clock=MockClock(autojump_threshold=0))


async def test_a_refusal_that_is_none_is_found() -> None:
    @asynccontextmanager
    async def opened(script: Script) -> AsyncGenerator[Model]:
        yield ScriptedModel(["Of course."])

    (check,) = [each for each in SAYS if each.__name__ == "a_refusal_is_a_model_error"]
    with pytest.raises(AssertionError, match="nothing raised"):
        await check(ModelFactory(opened))
