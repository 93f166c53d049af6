"""A block is run whole or not at all where one of its functions has an effect."""

import pytest

from clew.interfaces import Action, Reply
from clew_code.codec import Code
from tests.codecs.samples import TEXT, prompt_spec
from tests.codecs.samples import tool as declared
from tests.codecs.test_whole_calls import ASKED, CANCEL, SEARCH

RUN_CODE = declared("run_code", "code", effect="pure", code=TEXT)
CODE = Code()


@pytest.mark.parametrize("language", ["text", "TXT", "plain", "markdown", "md", "answer"])
def test_a_block_marked_as_text_makes_no_effect(language: str) -> None:
    for asked in (ASKED, prompt_spec(tools=(CANCEL, SEARCH, RUN_CODE))):
        read = CODE.parse(asked, Reply(f"```{language}\ncancel('a')\n```"))
        assert (read.actions, read.answer) == ((), None)
        assert f"marked as {language}, and cancel changes things" in read.fault
        looked = CODE.parse(asked, Reply(f"```{language}\nsearch('a')\n```"))
        assert looked.actions == (Action("search", {"query": "a"}),)


@pytest.mark.parametrize(
    "text",
    [
        "```python\ncancel(reservation_id='a')\n",
        "```python\nx = 1\ncancel(x)\n``",
        "<execute>\ncancel('a')\n</exec",
        "Code: cancel('a')",
    ],
)
def test_a_program_with_an_effect_must_be_closed(text: str) -> None:
    tools = (CANCEL, RUN_CODE)
    assert CODE.parse(prompt_spec(tools=tools), Reply(text)).actions == ()


def test_a_program_without_an_effect_need_not_be_closed() -> None:
    tools = (CANCEL, SEARCH, RUN_CODE)
    for text in (
        "```python\nprint(search('a'))\n",
        "<code>print(search('a'))",
        "Code: search('a')",
    ):
        assert CODE.parse(prompt_spec(tools=tools), Reply(text)).actions


def test_a_program_in_thinking_that_is_cut_is_not_run() -> None:
    tools = (
        declared("sh", "cmd", effect="unsafe", cmd=TEXT),
        RUN_CODE,
    )
    program = "I could do\n```python\nx = 1\nsh(x)\n```\nbut"
    found = CODE.parse(prompt_spec(tools=tools), Reply(program, finish="length"))
    assert "length limit" in found.fault


@pytest.mark.parametrize("answer", ["ends with </think> here", "<thinking>a</thinking> b"])
def test_an_answer_that_quotes_a_tag_stays(answer: str) -> None:
    parsed = CODE.parse(ASKED, Reply(f"Answer: {answer}"))
    assert parsed.actions == (Action("finish", {"answer": answer}),)
