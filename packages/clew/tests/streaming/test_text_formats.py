"""Values in text formats as they arrive: whatever the pieces, they grow into what was read."""

import itertools
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew import Agent, Entry, Partial, Retrying, Token, Withdrawn, tool
from clew.agent.streaming.items import LiveItem
from clew.agent.streaming.replies import ReplyReader
from clew.interfaces import Reply
from clew.testing import act, finish
from clew_testing.model_script import Cut
from clew_testing.servers.openai_server import Say
from tests.models.support import few, over
from tests.streaming.pieces import (
    InPieces,
    check_growing,
    cut_at,
    extends,
    partial_calls,
    partials,
    thought_of,
    told_of,
    words,
)

FORMATS: Final = ("native", "json", "paper", "labelled", "labelled:final", "labelled:conclusion")
CUTS: Final = st.lists(st.floats(0, 1), max_size=40)
EACH: Final = [number / 400 for number in range(400)]
TEXT: Final = st.text(max_size=30) | st.sampled_from(
    [
        "none",
        "No",
        "**",
        "```",
        "a]b[",
        "}",
        'say "x"',
        "Observation: 3",
        "é\u0301😀",
        "1",
        "a\r\nb",
    ]
)


@dataclass
class Town:
    name: str
    people: int
    parts: list[str]
    mayor: dict[str, str]


@tool(effect="read")
def look_up(word: str) -> str:
    """Look a word up.

    Args:
        word: Which.
    """
    return word


@tool(effect="read")
def measure(start: str, end: str, *, metres: bool = False) -> str:
    """Measure a way.

    Args:
        start: From where.
        end: To where.
        metres: In metres.
    """
    return start + end + str(metres)


TOOLS: Final[list[Any]] = [look_up, measure]
TOWNS: Final[st.SearchStrategy[dict[str, Any]]] = st.builds(
    dict, name=TEXT, people=st.integers(-99, 10**9), parts=st.lists(TEXT, max_size=3),
    mayor=st.dictionaries(TEXT, TEXT, max_size=2),
)  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25)
@given(TOWNS, CUTS)
@example({"name": "V😀", "people": 3, "parts": ["a", "}"], "mayor": {"x": "y"}}, EACH)
def test_a_typed_answer_grows(name: str, town: dict[str, Any], cuts: list[float]) -> None:
    model = InPieces([finish(town, thought="So.")], codec=name, answer=Town, cuts=cuts)
    items = anyio.run(told_of, Agent(model, codec=name, answer=Town))
    told = partials(items)
    check_growing(told, town)
    assert told[-1].value == Town(**town)
    assert words(items, "answer.name") == town["name"]


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25)
@given(TEXT, st.booleans(), CUTS)
@example("the long way", False, EACH)
@example("none", False, EACH)
def test_arguments_grow(name: str, text: str, several: bool, cuts: list[float]) -> None:
    call = act("measure", start=text, end="x" + text) if several else act("look_up", word=text)
    model = InPieces([call, finish("ok")], codec=name, tools=TOOLS, cuts=cuts)
    items = anyio.run(told_of, Agent(model, tools=TOOLS, codec=name))
    (action,) = thought_of(items).actions
    check_growing(partial_calls(items, action.name), action.args)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25)
@given(TEXT.filter(str.strip), CUTS)
@example("It is [so], **bold**, and\n\n```python\nx = 1\n```\n- *end*", EACH)
def test_words_of_an_answer_are_all_of_it(name: str, text: str, cuts: list[float]) -> None:
    model = InPieces([finish(text, thought="Easy.")], codec=name, cuts=cuts)
    items = anyio.run(told_of, Agent(model, codec=name))
    thought = thought_of(items)
    if thought.actions:
        assert words(items) == thought.actions[0].args["answer"]
    assert partials(items) == []


def fields_of(items: list[Any]) -> list[tuple[str, str]]:
    """The texts of tokens by their field, those of one field that follow each other as one."""
    tokens = [item for item in items if isinstance(item, Token)]
    groups = itertools.groupby(tokens, lambda each: each.field)
    return [(field, "".join(each.text for each in group)) for field, group in groups]


def plain(text: str) -> str:
    return re.sub(r"[\s*`\]]", "", text)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25)
@given(TEXT.filter(str.strip), CUTS)
@example("Pancakes with syrup", [])
@example("Pancakes with syrup", [0.2, 0.9])
@example("None of them: it is nothing.", EACH)
def test_each_character_is_told_once_and_in_order(name: str, text: str, cuts: list[float]) -> None:
    model = InPieces([finish(text, thought="I have it.")], codec=name, cuts=cuts)
    items = anyio.run(told_of, Agent(model, codec=name))
    thought = thought_of(items)
    if not thought.actions or any(isinstance(item, Withdrawn) for item in items):
        return  # it was read as something else
    answer = thought.actions[0].args["answer"]
    *before, last = fields_of(items)
    assert last == ("answer", answer)
    if name == "json":
        assert before == [("thought", "I have it.")]
    elif name != "native":
        [(field, raw)] = before
        assert field == ""
        whole = plain(thought.reply.text)
        assert plain(raw + answer) == whole or not whole.endswith(plain(answer))  # it is JSON
        assert whole.startswith(plain(raw))


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=10)
@given(TOWNS, CUTS)
@example({"name": "Wien", "people": 2, "parts": ["Hof"], "mayor": {}}, [])
def test_no_raw_text_has_any_of_a_typed_answer(
    name: str, town: dict[str, Any], cuts: list[float]
) -> None:
    model = InPieces([finish(town, thought="So.")], codec=name, answer=Town, cuts=cuts)
    items = anyio.run(told_of, Agent(model, codec=name, answer=Town))
    raw = "".join(text for field, text in fields_of(items) if field in {"", "thought"})
    assert "{" not in raw
    fields = [field for field, _ in fields_of(items)]
    assert fields == sorted(fields, key=lambda each: each.startswith("answer"))


@pytest.mark.parametrize("name", ["paper", "labelled"])
@settings(max_examples=10)
@given(CUTS)
@example(EACH)
@example([])
def test_what_only_looked_like_an_answer_is_told_raw(name: str, cuts: list[float]) -> None:
    """Its words are nowhere else: the reply could not be read."""
    text = {
        "paper": 'Thought 1: So.\nAction 1: finish[{"name": 3',
        "labelled": "Thought: So.\nFinal Answer: It is Wien.",
    }[name]
    script: list[Any] = [text, finish({"name": "W", "people": 1, "parts": [], "mayor": {}})]
    model = InPieces(script, codec=name, answer=Town, cuts=cuts)
    items = anyio.run(told_of, Agent(model, codec=name, answer=Town))
    second = next(n for n, it in enumerate(items) if isinstance(it, Entry) and it.seq > 1)
    first = fields_of(items[:second])
    if name == "labelled":
        assert [field for field, _ in first] == [""]
    assert plain("".join(text for field, text in first if field == "")).startswith("Thought")


@pytest.mark.parametrize("name", ["json", "paper", "labelled"])
@settings(max_examples=25)
@given(TOWNS, CUTS, st.floats(0, 1))
def test_a_value_that_never_closes_is_told_to_be_cut(
    name: str, town: dict[str, Any], cuts: list[float], end: float
) -> None:
    """Of a reply that ends anywhere at the limit of its length; the next one begins anew."""
    writer = InPieces([], codec=name, answer=Town)
    whole = writer.written(finish(town, thought="So."), 1)
    cut = Reply(text=whole.text[: int(end * len(whole.text))], finish="length")
    model = InPieces([cut, finish(town)], codec=name, answer=Town, cuts=cuts)
    items = anyio.run(told_of, Agent(model, codec=name, answer=Town))
    told = partials(items)
    states = [each.state for each in told]
    first = told[: states.index("cut") + 1] if "cut" in states else []
    for before, value in itertools.pairwise(first):
        assert extends(value.json, before.json)
    check_growing(told[len(first) :], town)


@pytest.mark.parametrize("codec", ["labelled", "native"])
async def test_an_attempt_that_breaks_off_is_cut_and_the_next_is_told_whole(codec: str) -> None:
    """Its words were shown already; what is read in it is what counts."""
    town: dict[str, Any] = {"name": "Wien", "people": 2, "parts": ["x" * 400], "mayor": {}}
    text = json.dumps(town)
    reply = Say(calls=(("finish", json.dumps({"answer": town})),))
    if codec == "labelled":
        reply = Say(f"Thought: So.\nFinal Answer: {text}")
    async with over([Cut(reply, 2_500), reply], piece=40, retries=few(2)) as (model, _, _):
        items = await told_of(Agent(model, answer=Town, codec=codec))
    told = partials(items)
    cut = next(at for at, each in enumerate(told) if each.state == "cut")
    assert cut > 0
    assert extends(town, told[cut].json)
    again = next(at for at, item in enumerate(items) if isinstance(item, Retrying))
    at = [number for number, item in enumerate(items) if isinstance(item, Partial)]
    assert at[cut] < again < at[cut + 1]
    check_growing(told[cut + 1 :], town)
    assert told[-1].value == Town(**town)


def feed_all(reader: ReplyReader, pieces: list[str], hear: Callable[[str], bool]) -> None:
    """Let it take a whole reply."""
    for piece in pieces:
        reader.take(piece, hear)


def calls_made(feed: Callable[[], object]) -> int:
    """How many functions are called, those of C too."""
    count = 0

    def see(_: object, event: str, __: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(see)
    try:
        feed()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("answer", [str, Town])
def test_the_work_grows_with_the_length_of_the_text(name: str, answer: Any) -> None:
    """Also where all of it is one line, and comes a few characters at a time."""
    counts, shown = list[int](), list[int]()
    for size in (2_000, 4_000):
        words_of_it = "word " * size
        value: Any = words_of_it + "." if answer is str else {
            "name": words_of_it, "people": 1, "parts": [], "mayor": {},
        }  # fmt: skip
        agent = Agent(InPieces([], codec=name, answer=answer), codec=name, answer=answer)
        reply = InPieces([], codec=name, answer=answer).written(finish(value), 1)
        items = list[LiveItem]()
        reader = ReplyReader(agent, items.append)
        pieces = cut_at(reply.text, [number / size for number in range(size)])
        hear = agent.engine.codec.stream_filter(reader.show_raw)
        feed = partial(feed_all, reader, pieces, hear)

        counts.append(calls_made(feed))
        shown.append(sum(isinstance(item, Partial) for item in items))
    assert counts[1] < 2.2 * counts[0], counts
    assert shown[1] <= shown[0] + 20, shown  # each is as long as what came: they must be few
