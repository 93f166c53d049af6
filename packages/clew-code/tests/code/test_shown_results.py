"""What a model sees of the calls of its program: each bare one, and all where the program fails."""

from typing import Any

import pytest

from clew import Agent, MemoryStore, ToolError, read, replay, run, tool
from clew.guards import Provenance
from clew.testing import ScriptedModel, act, say
from clew_code.programs import run_code


@tool(effect="read")
def look(word: str) -> str:
    """Look a word up."""
    if word == "missing":
        raise ToolError("there is no such word")
    return f"about {word}"


@tool(effect="read")
def rows() -> list[dict[str, int]]:
    """Give rows."""
    return [{"n": 1}, {"n": 2}]


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send a text."""
    return f"sent {text}"


async def shown(code: str) -> str:
    """What the model sees of a program."""
    agent = Agent(
        ScriptedModel([act("run_code", code=code), say("ok")]),
        [look, rows, send, run_code()],
        guards=[Provenance("off")],
    )
    store = MemoryStore()
    await run(agent, "Q?", store=store, run_id="run")
    await replay(agent, "run", store=store)
    (call,) = (await read("run", store=store)).steps[0].calls
    assert call.observation is not None
    return call.observation.text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("look('a')\nlook('b')", "about a\n'about b'"),
        ("look('a')\nlook('b')\nlook('c')", "about a\nabout b\n'about c'"),
        ("look('a'); look('b')", "about a\n'about b'"),
        ("rows()\nprint('x')", "[{'n': 1}, {'n': 2}]\nx"),
        ("look(\n    word='ä'\n)  # first\nprint('ü')", "about ä\nü"),
        ("look('a')\nx = look('b')", "about a"),
        ("x = look('a')\nlook('b')\nprint(x)", "about b\nabout a"),
        ("send('x')\nlook('a')", "sent x\n'about a'"),
        ("len(look('a'))\nprint('x')", "x"),
        ("for w in ['a']:\n    look(w)\nprint('x')", "x"),
        ("def f():\n    look('a')\nf()\nprint('x')", "x"),
        ("def look(w):\n    return 1\nlook('a')\nprint('x')", "x"),
        ("print = look\nlook('a')\n1", "1"),
        ("(look('a'))\nlook(look('b'))\n2", "about a\nabout about b\n2"),
    ],
)
async def test_a_bare_call_shows_what_it_gives(code: str, text: str) -> None:
    assert await shown(code) == text


FAILS = [
    "1 / 0", "undefined", "x[0]", "look('missing')", "raise ValueError('no')", "look(1, 2, 3)",
]  # fmt: skip


@pytest.mark.parametrize("failure", FAILS)
async def test_what_calls_gave_is_told_where_the_program_fails(failure: str) -> None:
    text = await shown(f"x = ''\na = look('a')\nn = rows()\nsend('hi')\n{failure}\nprint(a)")
    assert "ERROR: " in text
    assert "What its calls gave before that:" in text
    assert '- look({"word":"a"}): about a' in text
    assert '- rows({}): [{"n":1},{"n":2}]' in text
    assert '- send({"text":"hi"})' in text.partition("What its calls gave")[0]
    assert "sent hi" in text, "it is printed as a bare call"


async def test_a_long_result_is_told_in_part_and_many_are_counted_from_the_end() -> None:
    code = "for n in range(12):\n    look(f'{n} ' * 400)\n1 / 0"
    lines: Any = (await shown(code)).partition("What its calls gave before that:\n")[2].splitlines()
    assert len(lines) == 10
    assert all(line.endswith("…") and len(line) < 800 for line in lines)
    assert lines[-1].count("11 ") > 10


@pytest.mark.parametrize("code", ["look('a'", "look('a')\n\x00", "", "   "])
async def test_what_is_no_program_is_told_as_before(code: str) -> None:
    assert "What its calls gave" not in await shown(code or " ")
