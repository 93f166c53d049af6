"""Thinking in tags is told apart from what was said, wherever the stream is cut."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.core.prompts import Part, Prompt
from clew.models.openai.chat import openai_chat
from clew.models.think_tags import ThinkTagFilter
from clew_testing.servers.openai_server import OpenAIServer, Say

CASES = [
    ("It is 4.", "It is 4.", ""),
    ("<think>2 and 2</think>\n\nIt is 4.", "It is 4.", "2 and 2"),
    ("\n<think>\nAction: none\n</think>It is 4.", "It is 4.", "Action: none"),
    ("<think></think>It is <think>4</think>.", "It is <think>4</think>.", ""),
    ("<thinking is hard", "<thinking is hard", ""),
    ("<thi", "<thi", ""),
    ("<think>cut off", "", "cut off"),
    ("", "", ""),
]


def read(*pieces: str) -> tuple[str, str]:
    aloud = ThinkTagFilter()
    said = "".join([*map(aloud.take, pieces), aloud.rest()])
    return said, aloud.thought


@pytest.mark.parametrize(("text", "said", "thought"), CASES)
def test_what_was_said_and_what_was_thought(text: str, said: str, thought: str) -> None:
    assert read(text) == (said, thought)
    assert read(*text) == (said, thought)


@given(
    text=st.text(alphabet="<think>/ a\n", max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=5),
)
def test_it_does_not_matter_where_the_stream_is_cut(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pieces = [text[a:b] for a, b in pairwise(places)]
    assert read(*pieces) == read(text)


class Looked(str):
    """A text that counts how much of it is taken in again."""

    __slots__ = ()
    taken = 0

    def __radd__(self, before: str) -> str:
        Looked.taken += len(before)
        return before + str(self)


def test_long_thinking_is_not_taken_in_again_with_every_piece() -> None:
    Looked.taken = 0
    pieces = ["<think>", *[Looked("word ")] * 1000, "</think>It is 4."]
    assert read(*pieces) == ("It is 4.", ("word " * 1000).strip())
    assert Looked.taken < 20_000


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_reply_keeps_the_thinking_beside_its_text(*, streamed: bool) -> None:
    shown: list[str] = []

    def show(piece: str) -> bool:
        shown.append(piece)
        return False

    with OpenAIServer([Say("<think>2 and 2</think>It is 4.")], key="k") as server:
        model = openai_chat("scripted", base_url=server.base_url, api_key="k")
        prompt = Prompt((Part("user", "2 + 2?"),), ())
        reply = await model.complete(prompt, show if streamed else None)
        await model.close()
    assert (reply.text, reply.reasoning) == ("It is 4.", "2 and 2")
    assert "".join(shown) == ("It is 4." if streamed else "")
