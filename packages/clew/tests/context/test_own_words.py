"""What a model wrote comes back to it bounded: refused arguments, faults, answers, thoughts.

Entered by runs; the prompts are those that the model was sent.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec
import pytest

from clew import Agent, Limits, read, replay, run, tool
from clew.core.contents import RawCall, Reply, Usage
from clew.core.events import Thought
from clew.core.prompts import Prompt
from clew.core.values import encode
from clew.stores.memory import MemoryStore
from clew.testing.models import Move, ScriptedModel, act, finish

Said: TypeAlias = Move | Reply | str

MILLION = 1_000_000
LITTLE = 30_000
"""What a prompt may grow by, in characters, for a reply of a million or more that was refused."""

USAGE = Usage(input=10, output=5, cost=0.0)


class Choice(msgspec.Struct):
    """A typed argument."""

    colour: Literal["red", "green"]
    note: str = ""


@tool
def look(query: str, most: int = 5) -> str:
    """Look something up."""
    return f"{query[:10]}: {most}"


@tool
def choose(choice: Choice) -> str:
    """Choose a colour."""
    return choice.colour


@tool(effect="unsafe")
def save(text: str) -> str:
    """Save a text."""
    return f"saved {len(text)}"


def raw(name: str, arguments: str, id: str = "call_1") -> Reply:  # noqa: A002 - the field's name
    return Reply(
        calls=(RawCall(name=name, arguments=arguments, id=id),), finish="calls", usage=USAGE
    )


def text(said: str, **more: Any) -> Reply:
    return Reply(text=said, usage=USAGE, **more)


def size(prompt: Prompt) -> int:
    """The characters of a prompt, with all that goes out beside texts."""
    said = ((part.text, part.call_id, part.name, part.calls, part.wire) for part in prompt)
    return sum(len(encode(each)) for each in said)


X = "x" * MILLION
WORDS = "thread and maze " * (MILLION // 16)

REFUSED: dict[str, Reply] = {
    "a text too long for arguments": raw("look", encode({"query": X + X}).decode()),
    "five million": raw("look", encode({"query": X * 5}).decode()),
    "no JSON": raw("look", '{"query": "' + X),
    "no JSON, five million": raw("look", '{"query": "' + X * 5),
    "no object": raw("look", encode([X]).decode()),
    "a wrong type": raw("look", encode({"query": "a", "most": X}).decode()),
    "an unknown argument": raw("look", encode({"query": "a", "other": X}).decode()),
    "an argument with a long name": raw("look", encode({"query": "a", X: 1}).decode()),
    "a name that is a list": raw("look", encode({"query": list(range(100_000))}).decode()),
    "deep in a field": raw("choose", encode({"choice": {"colour": X, "note": X}}).decode()),
    "many keys": raw("look", encode({f"key{n}": n for n in range(100_000)}).decode()),
    "a key twice": raw("look", '{"query": "' + X + '", "query": "b"}'),
    "an unknown tool": raw("lookup_all", encode({"query": X}).decode()),
    "a tool with a long name": raw(X, "{}"),
    "an id that is long": raw("look", encode({"query": X + X}).decode(), id=X),
    "twenty calls": Reply(
        calls=tuple(
            RawCall(name="look", arguments=encode({"q": X}).decode(), id=f"c{n}") for n in range(20)
        ),
        finish="calls",
        usage=USAGE,
    ),
    "a text that was cut": text(X, finish="length"),
    "words and a call that cannot be read": text(f'<tool_call>{{"name": "save", "text": "{X}'),
    "a thought beside refused arguments": Reply(
        WORDS,
        (RawCall(name="look", arguments='{"query": 1}', id="c"),),
        finish="calls",
        usage=USAGE,
    ),
    "an answer by finish of a wrong type": raw("finish", encode({"answer": [X]}).decode()),
}


async def told(
    line: Said, store: MemoryStore, codec: str = "native", **more: Any
) -> tuple[int, Prompt, Any]:
    """How much the prompt grew by a line of the script, the prompt, and the run's result."""
    prompts: list[Prompt] = []

    def then(reply: Said) -> Callable[[Prompt], Said]:
        def said(prompt: Prompt) -> Said:
            prompts.append(prompt)
            return reply

        return said

    tools = [look, choose, save]
    script = [then(line), then(finish("done"))]
    model = ScriptedModel(script, codec=codec, tools=tools)
    limits = Limits(steps=4, tokens=50 * MILLION)
    agent = Agent(model=model, tools=tools, codec=codec, limits=limits, **more)
    result = await run(agent, "Look", store=store, run_id="r")
    assert (await replay(agent, "r", store=store)).trajectory.entries
    return size(prompts[1]) - size(prompts[0]), prompts[1], result


@pytest.mark.parametrize("name", REFUSED)
async def test_what_was_refused_comes_back_in_part(name: str) -> None:
    store = MemoryStore()
    grown, prompt, result = await told(REFUSED[name], store)
    assert grown <= LITTLE
    assert result.answer == "done", "the run goes on"
    assert prompt.parts, "it is told of its reply"


FORMATS = {
    "labelled": 'Action: look\nAction Input: {"query": 1, "x": "%s"}',
    "json": '{"thought": "", "action": "look", "arguments": {"query": 1, "x": "%s"}}',
    "code": "```python\nlook(%s)\n```",
    "paper": "Action 1: lookup[%s]",
}


@pytest.mark.slow
@pytest.mark.share(2)
@pytest.mark.parametrize("codec", FORMATS)
async def test_in_every_format(codec: str) -> None:
    for written in (FORMATS[codec] % WORDS, FORMATS[codec] % (WORDS * 3)):
        grown, _, result = await told(written, MemoryStore(), codec=codec)
        assert grown <= LITTLE
        assert result.answer == "done"


async def test_the_record_keeps_all_that_might_be_called_once() -> None:
    store, note = MemoryStore(), "x" * (MILLION - 1_000)
    await told(act("choose", choice={"colour": "blue", "note": note}), store)
    (first, *_) = (await read("r", store=store)).steps
    assert isinstance(first.thought, Thought)
    assert first.calls[0].action.args == {"choice": {"colour": "blue", "note": note}}
    lines = sum(len(line.body) for line in await store.read("r"))
    assert lines < MILLION / 10, "the text lies in a blob"


async def test_what_is_shown_says_what_is_left_out() -> None:
    refused = raw("look", encode({"query": "x" * 900_000, "other": 1}).decode())
    _, prompt, _ = await told(refused, MemoryStore())
    (call,) = prompt.parts[0].calls
    assert call.arguments is not None
    assert "characters are left out here" in msgspec.json.decode(call.arguments)["query"]
    _, prompt, _ = await told(REFUSED["five million"], MemoryStore())
    assert "bytes, and may have 1,000,000: give less" in prompt.parts[1].text
    assert "only their beginning is kept" in prompt.parts[1].text


async def test_what_counted_is_shown_whole_up_to_a_size() -> None:
    for length, whole in ((90_000, True), (900_000, False)):
        _, prompt, _ = await told(act("save", text="y" * length), MemoryStore())
        (call,) = prompt.parts[0].calls
        assert call.arguments is not None
        shown = msgspec.json.decode(call.arguments)["text"]
        assert ("y" * length in shown, "left out here" in shown) == (whole, not whole)


async def test_of_many_long_texts_in_lists_and_objects_each_is_shown_in_part() -> None:
    long = [{"note": "n" * 20_000}, ["m" * 20_000] * 20]
    refused = raw("look", encode({"query": 1, "more": long}).decode())
    grown, prompt, _ = await told(refused, MemoryStore())
    (call,) = prompt.parts[0].calls
    assert call.arguments is not None
    noted, listed = msgspec.json.decode(call.arguments)["more"]
    shown = [noted["note"], *listed]
    assert [text[0] for text in shown] == ["n", *"m" * 20]
    assert all("left out here" in text for text in shown)
    assert grown <= LITTLE


async def test_short_refused_arguments_come_back_as_they_were() -> None:
    written = '{"query":   1, "note": "' + "z" * 3000 + '"}'
    _, prompt, _ = await told(raw("look", written), MemoryStore())
    assert prompt.parts[0].calls[0].arguments == written


@pytest.mark.slow
async def test_a_rejected_answer_is_bounded() -> None:
    def short(answer: str, _: object) -> str | None:
        return None if len(answer) < 100 else f"too long: {answer}"

    grown, _, result = await told(text(WORDS), MemoryStore(), checks=[short])
    assert grown <= 120_000
    assert result.answer == "done"
