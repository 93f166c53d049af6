"""Programs whose functions are tools: what they do, what bounds them, and what is seen of them."""

from contextlib import nullcontext
from typing import Any

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    Result,
    ToolError,
    Trajectory,
    Verdict,
    cancel,
    fork,
    read,
    replay,
    resume,
    rewind,
    rule,
    run,
    tool,
)
from clew.guards import Provenance
from clew.support.resources import resources
from clew.testing import ScriptedModel, act, acts, say
from clew_code.programs import CodeLimits, Monty, code_tool, run_code
from clew_code.programs.report import NOTHING_PRINTED

SENT: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()


@tool(effect="read")
def lookup(key: str, most: int = 3) -> dict[str, Any]:
    """Look a key up.

    Args:
        key: What to look up.
        most: How much.
    """
    if key == "missing":
        raise ToolError("there is nothing under 'missing'")
    return {"key": key, "found": [1, 2, 3][:most]}


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send a text."""
    SENT.append(text)
    return f"sent {text}"


def code(*programs: str, within: CodeLimits | None = None, **parts: Any) -> Agent:
    tools = [lookup, send, run_code(within)]
    moves = [*(act("run_code", code=text) for text in programs), say("done")]
    guards = [
        *parts.pop("guards", ()),
        Provenance("off"),
    ]  # its plan would know no call of a program
    return Agent(model=ScriptedModel(moves, tools=tools), tools=tools, guards=guards, **parts)


async def played(*programs: str, **parts: Any) -> tuple[list[str], Trajectory]:
    """What the model saw of each program, and the record, which replays."""
    agent, store = code(*programs, **parts), MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    record = await read("r", store=store)
    await replay(agent, "r", store=store)
    return seen(record), record


def seen(record: Trajectory) -> list[str]:
    found = (call.observation for call in record.calls if call.action.name == "run_code")
    return [one.text for one in found if one is not None]


async def test_functions_are_tools_and_variables_stay() -> None:
    found, record = await played(
        "total = 0\nfor key in 'ab':\n    total += len(lookup(key, most=2)['found'])\nprint(total)",
        "f = lookup\n[f('c')['key'], total]",
        "x = 1",
    )
    assert found == ["4", "['c', 4]", NOTHING_PRINTED]
    args = [call.args for call in record.calls if call.action.name == "lookup"]
    assert args == [{"key": "a", "most": 2}, {"key": "b", "most": 2}, {"key": "c"}]
    assert record.spent.tool_calls == 6


async def test_what_went_wrong_has_its_line_and_what_was_done_before() -> None:
    found, _ = await played("send('a')\nprint(1)\n\n1 / 0", "def (", "lookup('missing')")
    assert found[0].startswith(
        "sent a\n1\nERROR: Traceback (most recent call last):\n  program, line 4"
    )
    assert "ZeroDivisionError: division by zero\nDone before that, and not undone" in found[0]
    assert found[0].endswith('- send({"text":"a"})')
    assert "SyntaxError" in found[1]
    assert found[2].endswith("RuntimeError: there is nothing under 'missing'")


async def test_many_effects_before_an_error_are_listed_in_part() -> None:
    found, _ = await played("for n in range(13):\n    send(str(n))\n1 / 0")
    assert found[0].count("- send(") == 10
    assert found[0].endswith("- and 3 more")


async def test_an_exception_says_why_a_call_was_not_made() -> None:
    async def no_b(call: Any, trajectory: Any) -> Verdict | None:
        if call.args.get("text") == "b":
            return Verdict("deny", "b is not sent")
        return Verdict("hint", "be brief") if call.action.name == "send" else None

    program = (
        "for text in 'abc':\n    try:\n        print(send(text))\n    except Exception as e:\n"
    )
    found, record = await played(f"{program}        print(type(e).__name__, e)", guards=[no_b])
    assert found == ["sent a\nRuntimeError denied: b is not sent\nsent c\nNote: be brief"]
    assert SENT == ["a", "c"]
    assert not record.call("1.3").changed


async def test_no_program_is_a_way_around_a_cap() -> None:
    program = "n = 0\nwhile True:\n    try:\n        send(str(n))\n    except Exception as e:\n"
    program += "        print(n, e)\n        break\n    n += 1"
    limits = Limits(calls_per_tool={"send": 1})
    assert (await played(program, limits=limits))[0][0].startswith("1 cap: send may be called 1")
    (text, *_), record = await played(program, limits=Limits(tool_calls=4))
    assert text.startswith("3 cap: all 4 tool calls of this run are used")
    assert record.stop is not None
    assert record.stop.status == "bound"


async def test_how_many_calls_a_model_may_write_says_nothing_of_those_of_a_program() -> None:
    program = "for n in range(20):\n    send(str(n))\nn"
    found, record = await played(program, limits=Limits(calls_per_step=1))
    assert found == ["19"]
    assert record.spent.tool_calls == 21


async def test_a_loop_to_no_avail_is_stopped() -> None:
    found, record = await played("while True:\n    lookup('a')")
    assert "gave the same result" in found[0]
    assert len(record.calls) < 8


async def test_mistakes_in_calls_are_exceptions_and_no_calls() -> None:
    program = """
class Point:
    def __init__(self):
        self.x = 1
for wrong in [
    lambda: lookup('a', 1, 2),
    lambda: lookup('a', key='b'),
    lambda: lookup(key=float('nan')),
    lambda: lookup('a' * 1_000_001),
    lambda: nothing('a'),
]:
    try:
        wrong()
    except Exception as e:
        print(type(e).__name__, e)
send(text=[Point(), (1, 2)])
"""
    (text,), record = await played(program)
    lines = text.splitlines()
    assert lines[0] == "TypeError lookup() got 3 arguments without a name; it has: key, most"
    assert lines[1] == "TypeError lookup() got key twice"
    assert lines[2].startswith("TypeError lookup() got as its argument key what JSON cannot")
    assert lines[3] == "TypeError lookup() got over 1,000,000 characters or values"
    assert lines[4] == "NameError name 'nothing' is not defined; the functions are lookup, send"
    assert record.call("1.2").args == {"text": [{"x": 1}, [1, 2]]}
    assert "invalid_arguments" in lines[-1]


async def test_mistakes_again_and_again_end_the_program() -> None:
    program = (
        "while True:\n    try:\n        lookup('a', 'b', 'c')\n    except TypeError:\n        pass"
    )
    (text,), _ = await played(program)
    assert "calls functions wrongly, again and again" in text


async def test_what_has_no_end_is_ended_and_leaves_the_variables_of_before() -> None:
    found, _ = await played(
        "x = 1", "x = 2\nwhile True: pass", "x", "x = 3\ny = 'a' * 10**10", "x",
        within=CodeLimits(stretch=0.2, seconds=1.0),
    )  # fmt: skip
    assert found[0] == NOTHING_PRINTED
    assert "time limit exceeded" in found[1]
    assert "Its variables are gone" in found[1]
    assert found[2] == "1"
    assert "MemoryError" in found[3]
    assert found[4] == "1"


async def test_a_first_program_that_has_no_end_leaves_nothing() -> None:
    found, _ = await played("x = 2\nwhile True: pass", "x", within=CodeLimits(stretch=0.2))
    assert "NameError" in found[1]


async def test_a_program_calls_tools_so_often_and_no_more() -> None:
    found, _ = await played("for n in 'abc':\n    lookup(n)", within=CodeLimits(calls=2))
    assert "the program called tools 2 times, and may not call them more often" in found[0]


async def test_long_results_and_prints_are_cut() -> None:
    found, _ = await played("print('a' * 100)", "'b' * 100", within=CodeLimits(output=10))
    assert found[0] == f"{'a' * 10}\n[… more was printed, and is not kept]"
    assert found[1] == f"'{'b' * 8}…"


async def test_a_program_ends_with_the_time_of_its_run() -> None:
    import anyio  # noqa: PLC0415 - only here

    @tool(effect="read")
    async def wait() -> str:
        """Wait."""
        await anyio.sleep(0.2)
        return "waited"

    tools = [wait, run_code()]
    moves = [act("run_code", code="wait()\nwait()"), say("done")]
    agent = Agent(
        model=ScriptedModel(moves),
        tools=tools,
        limits=Limits(seconds=0.1),
        guards=[Provenance("off")],
    )
    store = MemoryStore()
    await run(agent, "?", store=store, run_id="r")
    record = await read("r", store=store)
    assert "the time of this run is over" in seen(record)[0]
    assert len(record.steps[0].asked) == 1


async def test_two_programs_of_a_step_do_not_share_variables() -> None:
    tools = [lookup, run_code()]
    moves = [acts(act("run_code", code="x = 1"), act("run_code", code="x")), say("done")]
    agent, store = (
        Agent(model=ScriptedModel(moves), tools=tools, guards=[Provenance("off")]),
        MemoryStore(),
    )
    await run(agent, "?", store=store, run_id="r")
    found = seen(await read("r", store=store))
    assert found[1] == "ERROR: tool_error: 1.1 is a program too: run one program in a step"


async def ask_first(call: Any, trajectory: Any) -> Verdict | None:
    return Verdict("hold", "ask first") if call.action.name == "send" else None


async def test_a_call_is_held_and_the_program_goes_on_after_the_ruling() -> None:
    program = "a = lookup('a')['found']\nprint(send('b'))\ntry:\n    send('c')\n"
    program += "except RuntimeError as e:\n    print(e)\nlen(a)"
    store, parts = MemoryStore(), dict[str, Any](guards=[ask_first])
    held = await run(code(program, **parts), "?", store=store, run_id="r")
    assert held.status == "held"
    await rule("r:1.3", allow=True, args={"text": "better"}, store=store)
    assert (await resume(code(program, **parts), "r", store=store)).status == "held"
    await rule("r:1.4", allow=False, why="enough", store=store)
    assert (await resume(code(program, **parts), "r", store=store)).answer == "done"
    assert SENT == ["better"]
    (text,) = seen(await read("r", store=store))
    assert text.startswith("sent better\ndenied: enough.")
    assert "\n3\nNote: the arguments were changed" in text
    await replay(code(program, **parts), "r", store=store)


async def test_an_effect_is_told_with_the_arguments_that_a_person_or_a_guard_gave_it() -> None:
    async def changed(call: Any, trajectory: Any) -> Verdict | None:
        if call.action.name == "lookup":
            return Verdict("amend", "a smaller one", args={"key": "b"})
        return Verdict("hold", "look at it first") if call.action.name == "send" else None

    program, store = "lookup('a')\nsend('first')\n1 / 0", MemoryStore()
    await run(code(program, guards=[changed]), "?", store=store, run_id="r")
    await rule("r:1.3", allow=True, args={"text": "better"}, store=store)
    await resume(code(program, guards=[changed]), "r", store=store)
    assert SENT == ["better"]
    (text,) = seen(await read("r", store=store))
    assert '- send({"text":"better"})' in text
    assert '- lookup({"key":"b"}): ' in text
    assert "first" not in text.replace("send('first')", "")


async def test_a_cancelled_program_is_not_gone_on_with() -> None:
    programs = ["x = 1", "x = 2\nsend('a')", "x"]
    for owner in (resources, nullcontext):  # with the session open all the time, and without
        store = MemoryStore()
        agent = code(*programs, guards=[ask_first])
        async with owner():
            assert (await run(agent, "?", store=store, run_id="r")).status == "held"
            await cancel("r", store=store)
            assert (await resume(agent, "r", store=store)).status == "interrupted"
            found: Result[str] = await resume(agent, "r", say="go on", store=store)
        assert found.answer == "done"
        assert seen(await read("r", store=store))[2] == "1"


async def test_a_fork_goes_on_with_the_variables_of_its_record() -> None:
    store = MemoryStore()
    agent = code("x = lookup('a')['found']", "x.append(9)", "x")
    await run(agent, "?", store=store, run_id="r")
    forked = await fork(agent, "r", at=2, store=store)
    record = await read(forked.run_id, store=store)
    assert seen(record)[2] == "[1, 2, 3, 9]"
    forked = await fork(agent, "r", at=1, store=store)
    assert seen(await read(forked.run_id, store=store))[2] == "[1, 2, 3, 9]"


async def test_a_rewind_takes_variables_back_with_the_branch() -> None:
    store = MemoryStore()
    agent = code("x = 1", "x += 1\nx")
    held = Limits(steps=2, landing=False)
    await run(agent.replace(limits=held), "?", store=store, run_id="r")
    await rewind("r", to=1, lesson="that was wrong", store=store)
    await resume(agent, "r", store=store, accept_change=True)
    assert seen(await read("r", store=store))[1:] == ["2", "2"]


async def test_a_program_outside_of_a_run_is_refused() -> None:
    with pytest.raises(ToolError, match="make the call in one"):
        await run_code().call({"code": "1"}, "r:1.1")
    assert code_tool(Monty()).name == "run_code"
