"""What every model must do, as checks to run over one's own.

A check takes a `ModelFactory`, which opens models that answer a script: what is to be said, in no
provider's words (`Say`, `Fail` and `Delay` of `model_script`). A provider plugs in with a local
server that says it in the provider's own form, the official client, and an adapter; with pytest:

```python
@asynccontextmanager
async def opened(script: Script) -> AsyncGenerator[Model]:
    with MyServer(script) as server:
        model = MyModel("scripted", base_url=server.base_url)
        yield model
        await model.close()


@pytest.mark.anyio
@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
async def test_my_model(check: Check) -> None:
    await check(Maker(opened))
```

`CONTRACT` is for models that call tools. Leave out what cannot be had: `BASICS` hold for whatever
completes a prompt, even without a script; `SAYS` for a model that writes text and no calls; `CALLS`
are about tools; `THINKS` is for models that think apart from what they say, `LOOPS` for those that
work on one event loop after the other.
"""

import json
from contextlib import suppress
from functools import partial
from typing import Final

import anyio
import anyio.to_thread
import msgspec

from clew import Agent, ConfigError, Image, ModelError, ModelSettings, Usage
from clew.concurrency.tasks import one_error
from clew.core.events import Fingerprints
from clew.interfaces import Part, Thought, Wire, decode, encode
from clew_testing.expect import expect, require
from clew_testing.model_failures import in_one_line
from clew_testing.model_samples import (
    ASSISTANT_TURN,
    MORE,
    PATIENCE,
    PIXEL,
    TOOLS,
    WORDS,
    Check,
    ModelFactory,
    Script,
    alike,
    ask,
    collect_text,
    stepped,
)
from clew_testing.model_script import Delay, Fail, Say

__all__ = [
    "BASICS",
    "CALLS",
    "CONTRACT",
    "LOOPS",
    "SAYS",
    "THINKS",
    "Check",
    "ModelFactory",
    "Script",
    "check_model",
]


async def check_model(maker: ModelFactory) -> None:
    """Run the whole contract of a model that calls tools."""
    for check in CONTRACT:
        await check(maker)


# ------------------------------------------------------------------------------------ basics


async def it_says_what_it_is(maker: ModelFactory) -> None:
    """The record names it, its parameters, and whether its replies say what they cost."""
    async with maker.open([Say(WORDS)]) as model:
        require(
            model.info.name and model.info.name.isprintable(), f"its name is {model.info.name!r}"
        )
        params = dict(model.info.params)
        expect(msgspec.json.decode(encode(params)), params, "its parameters, read from JSON")
        expect(model.info.priced in {True, False}, True, "priced is a bool")


async def settings_are_kept_or_refused(maker: ModelFactory) -> None:
    """What an agent says of its model stands in the record; what the model has none of is refused
    by its name when the agent is made, and what it had stays as it was.
    """
    async with maker.open([]) as model:
        before = dict(model.info.params)
        with suppress(ConfigError):
            _ = Agent(model).engine  # what needs another format than the usual one has no say here
            warm = ModelSettings(temperature=0.5)
            try:
                params = Agent(model, settings=warm).spec.params
            except ConfigError as error:
                require("temperature" in str(error), f"it is refused without its name: {error}")
            else:
                expect(params.get("temperature"), 0.5, "the temperature on record")
        expect(dict(model.info.params), before, "the parameters of the model itself")


async def a_reply_can_be_recorded(maker: ModelFactory) -> None:
    """Whatever comes back is read from the record as it was, its wire items too; a model that is
    priced says what each reply cost.
    """
    async with maker.open([Say(WORDS)]) as model:
        reply = await model.complete(ask())
        thought = Thought(reply, Fingerprints("", "", "", ""))
        expect(decode(encode(thought)), thought, "the thought, as a record gives it back")
        require(reply.model, "a reply must name the model that gave it")
        known = reply.usage.cost is not None
        priced = model.info.priced
        expect(known, priced, f"a price is given by a model whose priced is {priced}")
        if reply.wire is not None:
            require(reply.wire.provider and reply.wire.model, "wire items must name their model")


async def a_stream_says_the_same(maker: ModelFactory) -> None:
    """Streamed, the reply is the same, and its text is what `on_text` was given, piece by piece."""
    async with maker.open([Say(WORDS), Say(WORDS)]) as model:
        pieces: list[str] = []
        plain = await model.complete(ask())
        streamed = await model.complete(ask(), collect_text(pieces))
        expect("".join(pieces), streamed.text, "the pieces of the stream together")
        expect(alike(streamed), alike(plain), "the reply that was streamed")


async def enough_is_enough(maker: ModelFactory) -> None:
    """After `on_text` said that nothing more is wanted, nothing comes, and the reply is complete
    as it is.
    """
    async with maker.open([Say(WORDS)]) as model:
        pieces: list[str] = []
        reply = await model.complete(ask(), collect_text(pieces, enough=" "))
        at = next((n for n in range(len(pieces)) if " " in "".join(pieces[: n + 1])), len(pieces))
        expect(len(pieces[at + 1 :]), 0, "pieces that came after it was enough")
        expect(reply.text, "".join(pieces), "the text of the reply")
        if reply.finish != "declined":  # a model may decline whatever it is asked here
            expect(reply.finish, "stop", "how the reply ended")


async def a_prompt_is_left_as_it_was(maker: ModelFactory) -> None:
    """Parts are shared by all prompts of a run: a model may remember what it made of them only."""
    async with maker.open([Say(WORDS), Say(WORDS)]) as model:
        prompt = ask(
            Part("user", "Tell me more.", attachments=(Image("image/png", PIXEL, "a dot"),))
        )
        before = repr(prompt)
        first, second = await model.complete(prompt), await model.complete(prompt)
        expect(repr(prompt), before, "the prompt, after it was completed")
        expect(second.text, first.text, "what is said to the same prompt")


# ------------------------------------------------------------------------------ what is said


async def text_comes_as_it_was_written(maker: ModelFactory) -> None:
    """Line breaks, accents and pictures in the text are kept; it ended by itself."""
    for text in (WORDS, " spaced \n", "{}", "Action 1: look[x]"):
        async with maker.open([Say(text), Say(text)]) as model:
            for on_text in (None, collect_text([])):
                reply = await model.complete(ask(), on_text)
                expect((reply.text, reply.calls, reply.finish), (text, (), "stop"), "the reply")


async def how_a_reply_ended_is_told(maker: ModelFactory) -> None:
    """A reply that a limit or a filter cut says so: nothing in it may be acted on."""
    for finish in ("length", "filter"):
        async with maker.open([Say("Ariad", finish=finish)] * 2) as model:
            for on_text in (None, collect_text([])):
                reply = await model.complete(ask(), on_text)
                expect((reply.text, reply.finish), ("Ariad", finish), "the reply")


async def usage_is_reported_or_estimated(maker: ModelFactory) -> None:
    """Tokens are counted as the provider says; where it does not, they are marked as estimated."""
    async with maker.open([Say(WORDS, usage=Usage(input=2000, output=50))] * 2) as model:
        for on_text in (None, collect_text([])):
            usage = (await model.complete(ask(), on_text)).usage
            expect((usage.input, usage.output), (2000, 50), "input and output tokens")
            expect(usage.estimated, False, "usage that the provider gave is estimated")
    async with maker.open([Say(WORDS, usage={})] * 2) as model:
        for on_text in (None, collect_text([])):
            usage = (await model.complete(ask(), on_text)).usage
            require(usage.estimated and usage.tokens > 0, f"usage must be estimated, not {usage}")


async def a_format_of_text_can_be_asked_for(maker: ModelFactory) -> None:
    """Stop sequences and a schema for the reply are taken, or left out: a provider's refusal of
    them is not the person's affair.
    """
    schema = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
    async with maker.open([Say('{"x": 1}')] * 2) as model:
        for on_text in (None, collect_text([])):
            closed = schema | {"additionalProperties": False}
            prompt = ask(stop=("\nObservation:",), reply_schema=closed)
            expect((await model.complete(prompt, on_text)).text, '{"x": 1}', "the reply")


async def several_at_once_are_kept_apart(maker: ModelFactory) -> None:
    """One model serves many runs: eight completions at once get a reply each."""
    replies = [Say(f"{n} {WORDS}") for n in range(8)]
    got: list[str] = []
    async with maker.open(replies) as model:

        async def one(number: int) -> None:
            prompt = ask(*[part for _ in range(number) for part in (ASSISTANT_TURN, MORE)])
            pieces: list[str] = []
            reply = await model.complete(prompt, collect_text(pieces) if number % 2 else None)
            expect("".join(pieces), reply.text if number % 2 else "", "the pieces of one stream")
            got.append(reply.text)

        with one_error():
            async with anyio.create_task_group() as group:
                for number in range(8):
                    group.start_soon(one, number)
    expect(sorted(got), [say.text for say in replies], "what was said to eight prompts at once")


async def it_can_be_cancelled(maker: ModelFactory) -> None:
    """A completion that is cancelled ends at once, and the next one is as any other."""
    begun = anyio.Event()

    def on_text(piece: str) -> bool:
        begun.set()
        return False

    async with maker.open([Delay(of=Say(WORDS * 400), at=8_000), Say("Again.")]) as model:
        with anyio.move_on_after(PATIENCE), one_error():
            async with anyio.create_task_group() as group:
                group.start_soon(model.complete, ask(), on_text)
                await begun.wait()
                group.cancel_scope.cancel()
        missing = f"no text reached on_text within {PATIENCE:.0f} s"
        require(begun.is_set(), f"{missing}: the model must pass text on as it arrives")
        with anyio.move_on_after(PATIENCE) as waiting:
            after = await model.complete(ask(ASSISTANT_TURN, MORE))
            expect(after.text, "Again.", "the next reply")
        late = f"after it was cancelled, no next reply came within {PATIENCE:.0f} s"
        require(not waiting.cancelled_caught, late)


async def a_refusal_is_a_model_error(maker: ModelFactory) -> None:
    """What the provider will not do is said in one line that names the model and its reason."""
    for on_text in (None, collect_text([])):
        async with maker.open([Fail(400, "we do not serve sphinxes")]) as model:
            try:
                await model.complete(ask(), on_text)
            except ModelError as error:
                told = str(error)
                require("we do not serve sphinxes" in told, f"the reason is missing: {told}")
                require(
                    model.info.name in told and "\n" not in told, f"one line, with the name: {told}"
                )
            else:
                raise AssertionError("ModelError expected, nothing raised")


# ------------------------------------------------------------------------------------- calls


async def calls_come_as_they_were_made(maker: ModelFactory) -> None:
    """Several calls in one reply, with text or without, keep their order, names and arguments."""
    made = [(TOOLS[0], {"query": "x"}), (TOOLS[0], {"query": "x"}), (TOOLS[1], {"query": "é\n🧶"})]
    calls = [(maker.alias(each.name), json.dumps(args)) for each, args in made]
    for text in ("I look.", ""):
        async with maker.open([Say(text, calls=calls)] * 2) as model:
            for on_text in (None, collect_text([])):
                reply = await model.complete(ask(tools=TOOLS), on_text)
                read = [(call.name, json.loads(call.arguments or "")) for call in reply.calls]
                expect(read, [(each.name, args) for each, args in made], "the calls of the reply")
                expect((reply.text, reply.finish), (text, "calls"), "its text and how it ended")


async def any_name_of_a_tool_will_do(maker: ModelFactory) -> None:
    """A name that the provider refuses is changed on the way there and back; the record, and all
    that goes back to the provider, have it as the person wrote it.
    """
    for each in TOOLS:
        calls = [(maker.alias(each.name), '{"query": "x"}')]
        async with maker.open([Say("", calls=calls), Say("Done.")]) as model:
            reply = await model.complete(ask(tools=TOOLS))
            expect([call.name for call in reply.calls], [each.name], "the tool that was called")
            after = await model.complete(ask(*stepped(1, reply), tools=TOOLS))
            expect(after.text, "Done.", "the next reply")


async def a_long_conversation_is_taken(maker: ModelFactory) -> None:
    """Parallel calls, ids that come again, an unreadable reply, a reply without text, words of a
    person: what a provider's server would refuse is not sent; and it is the same when streamed.
    """
    look, zoo = maker.alias(TOOLS[0].name), maker.alias(TOOLS[1].name)
    script = [
        Say("I look.", calls=[(look, '{"query": "a"}'), (zoo, '{"query": "b"}')]),
        Say("", calls=[(look, '{"query": "c"}')]),
        Say("Well …", finish="length"),
        Say("Now I know.", calls=[(look, '{"query": "d"}')]),
        Say("A ball of thread."),
        Say("As I said."),
    ]
    for stream in (False, True):
        parts: list[Part] = []
        async with maker.open(script) as model:
            for number, say in enumerate(script, start=1):
                prompt = ask(*parts, tools=TOOLS)
                reply = await model.complete(prompt, collect_text([]) if stream else None)
                expect((reply.text, len(reply.calls)), (say.text, len(say.calls)), "the reply")
                parts += stepped(number, reply)
                parts += [MORE] if not reply.calls else []


async def another_models_items_are_left_out(maker: ModelFactory) -> None:
    """Wire items of another model are not sent: text and calls of its steps are."""
    async with maker.open([Say(WORDS)] * 2) as model:
        foreign = Wire("elsewhere", "another", [{"type": "reasoning", "encrypted": "?"}])
        for on_text in (None, collect_text([])):
            prompt = ask(Part("assistant", "Hm.", wire=foreign), MORE, tools=TOOLS)
            expect((await model.complete(prompt, on_text)).text, WORDS, "the reply")


async def in_a_landing_calls_are_forbidden(maker: ModelFactory) -> None:
    """With `calls` "none" the same tools stay declared, after steps that called them, and only
    text comes; with "required" a call.
    """
    call = Say("", calls=[(maker.alias(TOOLS[0].name), '{"query": "x"}')])
    async with maker.open([call, Say("The best I have.")]) as model:
        first = await model.complete(ask(tools=TOOLS, calls="required"))
        expect(len(first.calls), 1, "the calls of the reply that had to call")
        last = await model.complete(ask(*stepped(1, first), tools=TOOLS, calls="none"))
        expect((last.text, last.calls), ("The best I have.", ()), "the last reply")


# ---------------------------------------------------------------------------------- thinking


async def thinking_is_kept_apart(maker: ModelFactory) -> None:
    """Thinking is no part of the text nor of its stream. It is kept (as text for people, as wire
    items, or both), and the provider takes the next prompt with it.
    """
    calls = [(maker.alias(TOOLS[0].name), '{"query": "x"}')]
    script = [Say("I look.", calls=calls, reasoning="Six by seven."), Say("So it is.")]
    for stream in (False, True):
        pieces: list[str] = []
        async with maker.open(script) as model:
            reply = await model.complete(ask(tools=TOOLS), collect_text(pieces) if stream else None)
            expect((reply.text, "".join(pieces)), ("I look.", "I look." * stream), "the text")
            require(reply.reasoning or reply.wire is not None, "the thinking was lost")
            after = await model.complete(ask(*stepped(1, reply), tools=TOOLS))
            expect(after.text, "So it is.", "the next reply")


async def another_event_loop_will_do(maker: ModelFactory) -> None:
    """The sync twins of the API begin an event loop each: the same model works on both."""
    async with maker.open([Say(WORDS)] * 2) as model:

        async def once() -> str:
            reply = await model.complete(ask())
            if (close := getattr(model, "close", None)) is not None:
                await close()
            return reply.text

        first = await anyio.to_thread.run_sync(partial(anyio.run, once))
        second = await anyio.to_thread.run_sync(partial(anyio.run, once))
        expect(second, first, "the reply, on another event loop")


BASICS: Final[tuple[Check, ...]] = in_one_line(
    it_says_what_it_is,
    settings_are_kept_or_refused,
    a_reply_can_be_recorded,
    a_stream_says_the_same,
    enough_is_enough,
    a_prompt_is_left_as_it_was,
)
SAYS: Final[tuple[Check, ...]] = in_one_line(
    text_comes_as_it_was_written,
    how_a_reply_ended_is_told,
    usage_is_reported_or_estimated,
    a_format_of_text_can_be_asked_for,
    several_at_once_are_kept_apart,
    it_can_be_cancelled,
    a_refusal_is_a_model_error,
)
CALLS: Final[tuple[Check, ...]] = in_one_line(
    calls_come_as_they_were_made,
    any_name_of_a_tool_will_do,
    a_long_conversation_is_taken,
    another_models_items_are_left_out,
    in_a_landing_calls_are_forbidden,
)
THINKS: Final[tuple[Check, ...]] = in_one_line(thinking_is_kept_apart)
LOOPS: Final[tuple[Check, ...]] = in_one_line(another_event_loop_will_do)
CONTRACT: Final[tuple[Check, ...]] = (*BASICS, *SAYS, *CALLS)
"""Every check for a model that calls tools, in an order that meets simple faults first."""
