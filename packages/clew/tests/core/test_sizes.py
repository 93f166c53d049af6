"""What is too long: arguments, what a tool returns, and what a model is shown of it."""

from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    Limits,
    SqliteStore,
    ToolError,
    Trajectory,
    prompt_of,
    read,
    replay,
    run,
    tool,
)
from clew.core.codec import VISIBLE_CHARS
from clew.core.contents import Evidence, Image, Observation
from clew.stores.memory import MemoryStore
from clew.support.errors import ConfigError
from clew.testing.models import ScriptedModel, act, finish, say

CALLED: list[str] = []
PNG = b"\x89PNG\r\n\x1a\n"


@tool(effect="unsafe")
def write(text: str) -> str:
    """Write a text."""
    CALLED.append(text)
    return "written"


@tool(effect="read")
def look(times: int) -> Any:
    """Look at something long."""
    return "the ball of thread\n" * times


def long_results() -> list[tuple[object, str]]:
    piece = Evidence("a", "x" * 6_000)
    return [
        ("\n" * 40_000, "\n" * 100),
        ({"rows": ["a row"] * 9_000}, '{"rows":["a row",'),
        (Observation(content="short", evidence=(piece,) * 9), "short"),
        (Image("image/png", PNG * 10_000, text="a map"), "a map"),
    ]


async def test_a_call_with_too_much_to_say_is_refused_before_it_is_made() -> None:
    CALLED.clear()
    script = [act("write", text="x" * 1_000_000), act("write", text="x" * 9_000), finish("done")]
    store = MemoryStore()
    result = await run(Agent(model=ScriptedModel(script), tools=[write]), "Write", store=store)
    assert (result.status, [len(text) for text in CALLED]) == ("answered", [9_000])
    record = await read(result.run_id, store=store)
    seen = record.call("1.1").observation
    assert seen is not None
    assert (seen.code, seen.made, "\n" in seen.text) == ("invalid_arguments", False, False)
    assert "the arguments have 1,000,011 bytes, and may have 1,000,000: give less" in seen.text


async def test_what_a_tool_returns_is_kept_up_to_a_size_and_ends_no_run(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.sqlite")
    agent = Agent(model=ScriptedModel([act("look", times=2_700_000), finish("long")]), tools=[look])
    result = await run(agent, "Look", store=store, run_id="run")
    assert (result.status, result.answer) == ("answered", "long")
    seen = (await read("run", store=store)).call("1.1").observation
    assert seen is not None
    assert (seen.ok, seen.code, seen.outcome) == (False, "bad_output", "done")
    said, rest = seen.text.split("\n", 1)
    assert said == (
        "ERROR: bad_output: look returned 54,000,002 bytes, and 10,000,000 may be kept: only the "
        "beginning is here, so ask for less"
    )
    assert rest.startswith("the ball of thread\nthe ball")
    assert 9_000_000 < await store.size() < 12_000_000
    prompt = await prompt_of("run", 2, store=store)
    assert not prompt.differs, "it can be made again"
    replayed = await replay(agent, "run", store=store)
    assert replayed.trajectory.entries == (await read("run", store=store)).entries
    await store.close()


@pytest.mark.parametrize(("value", "head"), long_results())
async def test_whatever_is_too_long_is_cut_to_what_a_replay_finds_again(
    value: object, head: str
) -> None:
    @tool(effect="read")
    def see() -> Any:
        """See it."""
        return value

    store = MemoryStore()
    script = ScriptedModel([act("see"), finish("done")])
    agent = Agent(model=script, tools=[see], limits=Limits(observation_bytes=30_000))
    await run(agent, "See", store=store, run_id="run")
    record = await read("run", store=store)
    seen = record.call("1.1").observation
    assert seen is not None
    assert (seen.code, seen.attachments, seen.evidence) == ("bad_output", (), ())
    assert seen.text.split("\n", 1)[1].startswith(head)
    assert len(seen.text) < 30_000
    assert (await replay(agent, "run", store=store)).trajectory.entries == record.entries
    less = agent.replace(limits=Limits())
    assert (less.spec.parts.keys() ^ agent.spec.parts.keys()) == {"observation_bytes"}


async def test_a_model_is_shown_the_beginning_and_the_end_and_the_record_has_all() -> None:
    store = MemoryStore()
    agent = Agent(model=ScriptedModel([act("look", times=60_000), finish("long")]), tools=[look])
    await run(agent, "Look", store=store, run_id="run")
    record = await read("run", store=store)
    seen = record.call("1.1").observation
    assert seen is not None
    assert len(seen.text) == 19 * 60_000
    sent = await prompt_of("run", 2, store=store)
    (shown,) = [part.text for part in sent.prompt if part.role == "tool"]
    assert shown.startswith("the ball of thread\n")
    assert shown.endswith("the ball of thread\n")
    assert (
        "[… 1,040,000 of 1,140,000 characters are left out here: "
        'read_more("1.1", offset=80000) …]' in shown
    )
    assert len(shown) < VISIBLE_CHARS + 200
    assert not sent.differs


async def test_an_error_of_any_length_is_told_in_a_few_words() -> None:
    @tool(effect="read")
    def fail() -> str:
        """Fail at length."""
        raise ToolError("no " * 100_000)

    agent = Agent(model=ScriptedModel([act("fail"), finish("a")]), tools=[fail])
    store = MemoryStore()
    record = await read((await run(agent, "Try", store=store)).run_id, store=store)
    seen = record.call("1.1").observation
    assert seen is not None
    assert len(seen.text) < 9_000


def test_sizes_are_limits_like_others() -> None:
    with pytest.raises(ConfigError, match="limit argument_bytes is 0: give a finite number over 0"):
        Limits(argument_bytes=0)


async def test_the_text_of_an_observation_is_made_once_whoever_reads_it() -> None:
    texts: list[str] = []

    @tool(effect="read")
    def table() -> Any:
        """Read a table."""
        return {"rows": [[1, 2], [3, 4]]}

    def remember(answer: Any, trajectory: Trajectory) -> None:
        del answer
        texts.extend(call.observation.text for call in trajectory.calls[:1] if call.observation)

    model = ScriptedModel([act("table"), say("it")])
    agent = Agent(model=model, tools=[table], checks=[remember, remember])
    store = MemoryStore()
    await run(agent, "What?", store=store, run_id="r")
    first, second = texts
    assert first == '{"rows":[[1,2],[3,4]]}'
    assert first is second
    (line,) = [line for line in await store.read("r") if b'"event":"observation"' in line.body]
    assert b"_json" not in line.body


@pytest.mark.parametrize(
    ("given", "whole"),
    [
        ("x" * 4_998, True),  # and two quotes
        ("x" * 4_999, False),
        (
            Observation(
                content="", attachments=(Image("image/png", PNG + b"x" * 1_992, "y" * 2_998),)
            ),
            True,
        ),
        (
            Observation(
                content="", attachments=(Image("image/png", PNG + b"x" * 1_992, "y" * 2_999),)
            ),
            False,
        ),
    ],
)
async def test_all_that_would_be_kept_counts_to_the_byte(given: Any, *, whole: bool) -> None:
    @tool(effect="read")
    def show() -> Any:
        """Show it."""
        return given

    limits, store = Limits(observation_bytes=5_000), MemoryStore()
    agent = Agent(model=ScriptedModel([act("show"), say("ok")]), tools=[show], limits=limits)
    await run(agent, "Show!", store=store, run_id="run")
    seen = (await read("run", store=store)).call("1.1").observation
    assert seen is not None
    assert (seen.ok, seen.code) == ((True, "") if whole else (False, "bad_output"))
