"""Messages of other systems in and out: round trips, the official clients' types, bad input."""

import base64
from collections.abc import Callable
from typing import Any, cast

import anyio
import msgspec
import pytest
from anthropic.types import MessageParam
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from clew import (
    Agent,
    ConfigError,
    File,
    Image,
    MemoryStore,
    Trajectory,
    fork,
    list_runs,
    read,
    replay,
    resume,
    run,
    tool,
)
from clew.conversations import answer_messages, branch, session_run, to_anthropic, to_openai
from clew.guards import Provenance
from clew.interfaces import ModelInfo, Note, Prompt, Reply
from clew.stores import RunExistsError, RunNotFoundError
from clew.testing import ScriptedModel, act, say

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(16))
PDF = b"%PDF-1.7 nothing else"
made: list[str] = []


@tool(effect="idempotent")
def send(to: str) -> str:
    """Send a letter."""
    made.append(to)
    return f"sent to {to}"


class Sees:
    """A model that keeps its prompts and answers in order."""

    info = ModelInfo("sees:1", unmetered=True, takes=frozenset({"image/", "application/pdf"}))

    def __init__(self) -> None:
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt, on_text: Any = None) -> Reply:
        del on_text
        self.prompts.append(prompt)
        return Reply(f"answer {len(self.prompts)}", model="sees:1")


def agent() -> Agent[str]:
    return Agent(Sees(), tools=[send], guards=[Provenance("off")])


def url(kind: str, data: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


texts = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=1).filter(
    lambda text: bool(text.strip())
)
openai_parts = st.one_of(
    texts.map(lambda text: {"type": "text", "text": text}),
    st.just({"type": "image_url", "image_url": {"url": url("image/png", PNG)}}),
    st.just(
        {"type": "file", "file": {"filename": "a.pdf", "file_data": url("application/pdf", PDF)}}
    ),
    texts.map(
        lambda text: {
            "type": "file",
            "file": {"filename": "a.txt", "file_data": url("text/plain", text.encode())},
        }
    ),
)
words = st.one_of(texts, st.lists(openai_parts, min_size=2, max_size=3)).map(
    lambda content: [{"role": "user", "content": content}]
)
arguments = st.dictionaries(texts, st.one_of(texts, st.integers(0, 99), st.none()), max_size=2)


@st.composite
def turns(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A question, calls with their results, and an answer, in OpenAI's form."""
    messages: list[dict[str, Any]] = list(draw(words))
    for step in range(draw(st.integers(0, 2))):
        count = draw(st.integers(1, 2))
        ids = [f"call_{draw(st.integers(0, 10**9))}_{step}_{number}" for number in range(count)]
        calls = [
            {
                "id": id_,
                "type": "function",
                "function": {
                    "name": draw(st.sampled_from(["send", "elsewhere"])),
                    "arguments": msgspec.json.encode(draw(arguments)).decode(),
                },
            }
            for id_ in ids
        ]
        text = draw(st.one_of(st.none(), texts))
        messages.append({"role": "assistant", "content": text, "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": id_, "content": draw(texts)} for id_ in ids]
    return [*messages, {"role": "assistant", "content": draw(texts)}]


conversations = st.lists(turns(), max_size=3).map(lambda many: [it for one in many for it in one])


async def begun(messages: Any, asked: Agent[str]) -> Trajectory:
    store = MemoryStore()
    result = await answer_messages(asked, messages, store=store)
    assert result.status == "answered"
    await replay(asked, result.run_id, store=store)
    return await read(result.run_id, store=store)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(conversations, words)
def test_a_conversation_comes_back_as_it_went_in(
    history: list[dict[str, Any]], last: list[dict[str, Any]]
) -> None:
    async def both() -> None:
        record = await begun([*history, *last], agent())
        written = to_openai(record)
        assert written == [*history, *last, {"role": "assistant", "content": "answer 1"}]
        TypeAdapter(list[ChatCompletionMessageParam]).validate_python(written)
        other = to_anthropic(record)
        TypeAdapter(list[MessageParam]).validate_python(other)
        again = await begun([*other, {"role": "user", "content": "And?"}], agent())
        more = [{"role": "user", "content": [{"type": "text", "text": "And?"}]}]
        answer = [{"role": "assistant", "content": [{"type": "text", "text": "answer 1"}]}]
        assert to_anthropic(again) == [*other, *more, *answer]
        assert [it["role"] for it in to_openai(again)[:-2]] == [it["role"] for it in written]

    anyio.run(both)
    assert made == []


async def test_a_model_sees_the_history_and_no_call_of_it_is_made_again() -> None:
    asked = agent()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}}  # fmt: skip  # noqa: E501 - one part
    document = {"type": "document", "title": "n", "source": {"type": "text", "media_type": "text/plain", "data": "note"}}  # fmt: skip  # noqa: E501 - one part
    messages = [
        {"role": "assistant", "content": "How can I help?"},
        {"role": "user", "content": [image, document, {"type": "text", "text": "Send it."}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "a", "name": "send", "input": {"to": "Ada"}},
            {"type": "tool_use", "id": "b", "name": "send", "input": {"to": "Bob"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [image]},
            {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": True},
            {"type": "text", "text": "Well?"},
        ]},
    ]  # fmt: skip
    record = await begun(messages, asked)
    assert isinstance(asked.parts.model, Sees)
    (prompt,) = asked.parts.model.prompts
    told = [(part.role, part.text) for part in prompt.parts]
    assert ("assistant", "How can I help?") in told
    assert told[-1] == ("user", "Well?")
    calls = record.calls
    assert [call.action.args for call in calls] == [{"to": "Ada"}, {"to": "Bob"}]
    first, second = (call.observation for call in calls)
    assert first is not None
    assert second is not None
    assert first.attachments == (Image("image/png", PNG, blob=first.attachments[0].blob),)
    assert (second.ok, second.text) == (False, "no")
    attached = record.attachments
    assert [type(it) for it in attached] == [Image, File]
    assert attached[1].text == "note"
    assert made == []
    assert record.closed_off
    assert to_openai(record)[0]["content"] == "How can I help?"


async def test_a_history_is_as_little_trusted_as_text_from_outside_unless_it_was_kept() -> None:
    messages = [
        {"role": "user", "content": "Write to Ada."},
        {"role": "assistant", "content": "Shall I?"},
        {"role": "user", "content": "Yes."},
    ]
    script = [say("of the history"), act("send", to="Ada"), say("Done.")]
    asked = Agent(ScriptedModel(script, plan=[]), tools=[send])
    outside = await answer_messages(asked, messages, store=MemoryStore())
    assert (outside.status, made) == ("held", [])
    kept = await answer_messages(asked, messages, trust="trusted", store=MemoryStore())
    assert (kept.status, made) == ("answered", ["Ada"])
    made.clear()


async def test_a_run_may_begin_with_results_and_calls_without_one_are_closed() -> None:
    call = {"id": "x", "type": "function", "function": {"name": "send", "arguments": "{not json"}}
    lost = {"id": "y", "type": "function", "function": {"name": "send", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Send it."},
        {"role": "assistant", "tool_calls": [call, lost]},
        {"role": "tool", "tool_call_id": "x", "content": "done"},
    ]
    record = await begun(messages, agent())
    results = [call.observation for call in record.calls]
    assert [it is not None and it.code for it in results] == ["", "interrupted"]
    assert record.stop is not None
    assert record.stop.answer == "answer 1"


WORDS = [{"role": "user", "content": "x"}]
FILE = {"type": "file", "file": {"file_data": url("application/pdf", PDF)}}
TWICE = [{"id": "a", "function": {"name": "send", "arguments": "{}"}}] * 2
ENDS = [{"id": "a", "function": {"name": "finish", "arguments": "{}"}}]


def a_user(*content: Any) -> list[Any]:
    return [{"role": "user", "content": list(content)}]


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ("Hello", "messages are a list"),
        ([], "end with no question"),
        (["Hello"], r"messages\[0\] is no dict"),
        ([{"role": "system", "content": "Be kind."}], r"has the role system: give instr"),
        ([{"role": "robot", "content": "x"}], "has the role 'robot'"),
        ([{"role": "assistant", "content": "x"}], "end with no question"),
        ([{"role": "tool", "tool_call_id": "a", "content": "x"}], "begin with a result"),
        ([{"role": "tool", "content": "x"}], "has no tool_call_id"),
        (a_user(7), r"content\[0\] is no part"),
        (a_user({"type": "video"}), "has the type 'video'"),
        (a_user({"type": "text"}), "has no text"),
        (a_user({"type": "image_url"}), "has no image_url"),
        (a_user({"type": "image_url", "image_url": {"url": "https://x"}}), "nothing is fetched"),
        (a_user({"type": "image", "source": {"type": "url"}}), "nothing is fetched"),
        (a_user({"type": "image_url", "image_url": {"url": "data:x;base64,?"}}), "no base64"),
        (
            a_user({"type": "image_url", "image_url": {"url": url("image/png", b"GIF89a")}}),
            "is said to be image/png, and is image/gif",
        ),
        ([*WORDS, {"role": "assistant", "content": [FILE]}], "a model writes nothing else"),
        (a_user({"type": "image", "source": {}}), "nothing is fetched"),
        ([*WORDS, {"role": "assistant", "tool_calls": TWICE}, *WORDS], "two calls 'a' at once"),
        ([*WORDS, {"role": "assistant", "tool_calls": ENDS}, *WORDS], "call finish, which is clew"),
        (
            [*WORDS, {"role": "tool", "tool_call_id": "a", "content": "x"}],
            "a result of 'a', and no such call",
        ),
        (
            [*WORDS, {"role": "assistant", "tool_calls": [7]}],
            "a call that is no function's",
        ),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_is_told_in_one_line(messages: Any, why: str) -> None:
    store = MemoryStore()
    with pytest.raises(ConfigError, match=why) as caught:
        await answer_messages(agent(), messages, store=store)
    assert "\n" not in str(caught.value)
    assert await list_runs(store=store) == []


BLOCKS: list[Any] = [
    {"type": "image_url", "image_url": {"url": url("image/gif", PNG)}},
    {"type": "image_url", "image_url": {"url": url("image/png", PNG + bytes(20_000_000))}},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,"}},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBOR?"}},
    {"type": "input_audio", "input_audio": {"format": "wav", "data": "iVBORw0KGgo="}},
    {"type": "file", "file": {"filename": "a.pdf", "file_data": url("application/pdf", PNG)}},
    {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/jpeg", "data": "iVBORw0KGgo="},
    },
    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a\ud800"}},
    {"type": "file", "file": {"filename": "a.txt", "file_data": url("text/plain", PNG)}},
    {"type": "document", "source": {"type": "base64", "media_type": "text/html", "data": "AGE="}},
]
TOLD = [
    "is said to be image/gif, and is image/png",
    "has 20,000,024 bytes, and may have 20,000,000: make it smaller",
    "has no bytes: give its data",
    "has data that are no base64",
    "is said to be audio/wav, and is image/png",
    "is said to be application/pdf, and is image/png",
    "is said to be image/jpeg, and is image/png",
    "half a character",
    "is said to be text/plain, and is image/png",
    "is said to be text/html, and has a NUL, which no text has",
]
CALLED = {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
USED = {"type": "tool_use", "id": "a", "name": "look", "input": {}}
PLACES: dict[str, Callable[[Any], list[Any]]] = {
    "the question": lambda it: [{"role": "user", "content": [{"type": "text", "text": "x"}, it]}],
    "an earlier word": lambda it: [
        *WORDS, {"role": "assistant", "content": "Hm."}, {"role": "user", "content": [it]}, *WORDS,
    ],
    "a result of OpenAI's form": lambda it: [
        *WORDS,
        {"role": "assistant", "tool_calls": [CALLED]},
        {"role": "tool", "tool_call_id": "a", "content": [it]},
    ],
    "a result of Anthropic's form": lambda it: [
        *WORDS,
        {"role": "assistant", "content": [USED]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [it]}]},
    ],
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("block", "why"), [*zip(BLOCKS, TOLD, strict=True)], ids=range(len(TOLD)))
async def test_what_is_attached_keeps_the_rule_of_questions(
    block: Any, why: str, place: str
) -> None:
    store = MemoryStore()
    with pytest.raises(ConfigError, match=why) as caught:
        await answer_messages(agent(), PLACES[place](block), store=store)
    assert "\n" not in str(caught.value)
    assert "content[" in str(caught.value)
    assert await list_runs(store=store) == []


async def test_words_are_edited_and_continued_in_branches() -> None:
    store = MemoryStore()
    for text in ("one", "two", "three"):
        first = await run(agent(), text, session="s", owner="ada", store=store)
    run_id = first.run_id

    async def told(of: str) -> list[str]:
        record = await read(of, store=store, owner="ada")
        notes = [it.event.text for it in record.entries if isinstance(it.event, Note)]
        return [record.goal, *notes]

    second = await branch(agent(), run_id, 2, "zwei", store=store, owner="ada", session="other")
    assert second.run_id == session_run("other", "ada")
    assert await told(second.run_id) == ["one", "zwei"]
    anew = await branch(agent(), run_id, 1, "eins", store=store, owner="ada")
    same = await branch(agent(), run_id, 3, store=store, owner="ada")
    behind = await branch(agent(), run_id, 4, "four", store=store, owner="ada")
    assert [await told(it.run_id) for it in (anew, same, behind)] == [
        ["eins"], ["one", "two", "three"], ["one", "two", "three", "four"],
    ]  # fmt: skip
    assert await told(run_id) == ["one", "two", "three"]
    listed = {it.run_id: (it.title, it.branch_of) for it in await list_runs(store=store)}
    assert [listed[it.run_id] for it in (first, second, anew, same, behind)] == [
        ("one", ""), ("one", run_id), ("eins", ""), ("one", run_id), ("one", run_id),
    ]  # fmt: skip
    again = await branch(agent(), behind.run_id, 2, "due", store=store, owner="ada")
    assert await told(again.run_id) == ["one", "due"]
    more = await resume(agent(), second.run_id, say="drei", store=store, owner="ada")
    assert await told(more.run_id) == ["one", "zwei", "drei"]
    with pytest.raises(ConfigError, match="has 3 messages"):
        await branch(agent(), run_id, 5, "x", store=store, owner="ada")
    with pytest.raises(ConfigError, match="has 3 messages"):
        await branch(agent(), run_id, 4, store=store, owner="ada")
    with pytest.raises(RunNotFoundError):
        await branch(agent(), run_id, 2, "x", store=store, owner="eve")
    with pytest.raises(ConfigError, match="not both"):
        await branch(agent(), run_id, 2, "x", store=store, session="a", new_id="b")
    for number in (0, -1, True, 2.0, "2"):
        with pytest.raises(ConfigError, match=r"^there is no message .*: give 1"):
            await branch(agent(), run_id, cast("Any", number), "x", store=store, owner="ada")


async def test_a_session_that_exists_is_told_by_its_name() -> None:
    store = MemoryStore()
    first = await run(agent(), "one", session="s", owner="ada", store=store)
    await run(agent(), "x", run_id="new", store=store, owner="ada")
    told = r"^the session 's' exists: name another"
    for number in (1, 2):
        with pytest.raises(RunExistsError, match=told):
            await branch(agent(), first.run_id, number, "x", store=store, session="s", owner="ada")
        with pytest.raises(RunExistsError, match="there is a run 'new' already"):
            await branch(agent(), first.run_id, number, "x", store=store, new_id="new")
    messages = [{"role": "user", "content": "x"}]
    with pytest.raises(RunExistsError, match=told):
        await answer_messages(agent(), messages, store=store, session="s", owner="ada")
    with pytest.raises(RunExistsError, match="there is a run 'new' already"):
        await answer_messages(agent(), messages, store=store, run_id="new")


async def test_typed_answers_and_open_calls_are_written_too() -> None:
    store = MemoryStore()
    asked = Agent(
        ScriptedModel([act("send", to="Ada"), say("[1,2]")]), tools=[send], answer=list[int]
    )
    asked = asked.replace(guards=[Provenance("off")])
    result = await run(asked, "Count.", store=store)
    record = await read(result.run_id, store=store)
    assert to_openai(record)[-1] == {"role": "assistant", "content": "[1,2]"}
    assert to_openai(record)[2]["content"] == "sent to Ada"
    made.clear()
    forked = await fork(asked, result.run_id, at=1, store=store)
    assert to_openai(await read(forked.run_id, store=store)) == to_openai(record)
