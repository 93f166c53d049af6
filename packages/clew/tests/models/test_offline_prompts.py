"""The offline rules over prompts of every kind: text formats, streams, and whatever tools say."""

import asyncio
from collections.abc import Sequence
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.core.codes import FINISH
from clew.core.contents import RawCall, Reply, Usage
from clew.core.prompts import Part, Prompt
from clew.core.tools import Tool
from clew.core.values import Json, encode
from clew.models.offline import NEEDS, NO_OBJECT, SIGNED, OfflineModel
from clew.toolbox.calc import calc
from clew.tools.finish import finish_tool


def prompt(
    question: str,
    parts: Sequence[Part] = (),
    calls: Literal["auto", "none", "required"] = "auto",
    tools: Sequence[Tool] = (),
) -> Prompt:
    return Prompt((Part("system", ""), Part("user", question)), parts, (), tuple(tools), calls)


TEXT = {"type": "string"}


async def test_a_text_format_is_told_that_calls_must_be_native() -> None:
    reply = await OfflineModel().complete(prompt("Who wrote Dracula?"))
    assert reply == Reply(
        NEEDS, finish="declined", usage=Usage(cost=0.0), model="offline", note=SIGNED
    )


async def test_the_text_is_streamed_in_one_piece() -> None:
    shown: list[str] = []

    def show(text: str) -> bool:
        shown.append(text)
        return False

    tools = (calc(), finish_tool(TEXT))
    reply = await OfflineModel().complete(prompt("1 + 1", tools=tools), show)
    assert shown == [reply.text]
    assert reply.calls == (
        RawCall(name="calc", arguments='{"expression":"1 + 1"}', id="offline_1"),
    )
    assert reply.finish == "calls"


async def test_words_of_the_loop_are_no_questions() -> None:
    said = ("ERROR: the answer was not accepted: too short", "NOTE: late", "The limit on steps is")
    parts = [Part("user", text) for text in said]
    reply = await OfflineModel().complete(prompt("1 + 1", parts, tools=(calc(),)))
    assert reply.calls[0].arguments == '{"expression":"1 + 1"}'


@pytest.mark.parametrize(
    ("schema", "said"), [({"type": "boolean"}, "1 + 1 = 2"), ({"type": "array"}, NO_OBJECT)]
)
async def test_an_answer_of_another_shape_is_given_as_text(
    schema: dict[str, Json], said: str
) -> None:
    tools = (calc(), finish_tool(schema))
    parts = [
        Part("assistant", "", (RawCall(name="calc", arguments='{"expression":"1 + 1"}', id="a"),)),
        Part("tool", '{"result":"2"}\nHINT: well done', call_id="a", name="calc"),
    ]
    reply = await OfflineModel().complete(prompt("1 + 1", parts, tools=tools))
    assert not reply.calls
    assert reply.text.startswith(said)


RESULTS = st.fixed_dictionaries(
    {"doc_id": st.text(max_size=5), "title": st.text(max_size=20), "snippet": st.text()}
)
SEEN = st.one_of(
    st.text(),
    st.builds(lambda found: encode({"results": found}).decode(), st.lists(RESULTS, max_size=3)),
    st.sampled_from(["{", "[]", '{"results":3}', '{"results":[3]}', '{"result":"#1"}', "[" * 3000]),
)
PIECES = """who when where the author of #1 Frankenstein #2 minus - + 3 % born he died how old was
    longer, or between and Dracula's capital what is " ( ) sqrt x"""
WORDS = st.lists(st.sampled_from(PIECES.split()), max_size=12).map(" ".join)


@given(
    asked=st.lists(st.one_of(st.text(), WORDS), max_size=3),
    seen=st.lists(SEEN, max_size=8),
    calls=st.sampled_from(["auto", "none", "required"]),
    names=st.sets(st.sampled_from(["docs", "docs_read", "calc", "planner"])),
)
@example(asked=[""], seen=[], calls="auto", names={"docs", "calc"})
@example(asked=[], seen=['{"results": [{"snippet": "|--|"}]}'], calls="auto", names={"docs"})
def test_any_prompt_gives_a_reply_and_the_same_again(
    asked: list[str],
    seen: list[str],
    calls: Literal["auto", "none", "required"],
    names: set[str],
) -> None:
    """Whatever the tools gave, each call is asked for once and the rules come to an end."""
    tools = [Tool(name, name, {}, calc().call) for name in sorted(names)]
    parts = [Part("user", question) for question in asked]
    made: list[RawCall] = []
    while True:
        given_ = prompt("Who wrote Dracula?", parts, calls, (*tools, finish_tool(TEXT)))
        reply = asyncio.run(OfflineModel().complete(given_))
        assert reply == asyncio.run(OfflineModel().complete(given_))
        if not reply.calls or reply.calls[0].name == FINISH:
            break
        (call,) = reply.calls
        assert calls != "none"
        assert (call.name, call.arguments) not in [(one.name, one.arguments) for one in made]
        result = seen[len(made)] if len(made) < len(seen) else "ERROR: no more"
        parts += [Part("assistant", reply.text, (call,)), Part("tool", result, call_id=call.id)]
        made.append(call)
    assert reply.text
    assert len(made) < 60
