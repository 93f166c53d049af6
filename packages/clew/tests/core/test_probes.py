"""What real models and comparable systems get wrong, and what a user would want instead.

One row for each probe that was measured on comparable systems and each pattern seen in recordings
or reported in public: a script, and what must come of it.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from clew import Agent, Limits, Result, ToolError, tool
from clew.agent.read_result import result
from clew.agent.runner import start
from clew.core.contents import RawCall, Reply
from clew.core.loop import run
from clew.core.trajectory import Trajectory
from clew.stores.memory import MemoryStore
from clew.testing.models import ScriptedModel, act, acts, finish, say
from tests.patience import PATIENCE

pytestmark = pytest.mark.both_loops


class World:
    """Tools that remember what was really called."""

    def __init__(self) -> None:
        self.made: list[tuple[str, Any]] = []
        self.may_end = threading.Event()

        @tool(effect="read")
        async def search(query: str) -> str:
            """Search.

            Args:
                query: What to search.
            """
            self.made.append(("search", query))
            if query == "raise":
                message = "the index is gone"
                raise RuntimeError(message)
            if query == "nothing":
                message = "nothing found: use other words"
                raise ToolError(message)
            return f"found {query}"

        @tool(effect="read")
        async def count(n: int) -> int:
            """Count.

            Args:
                n: How far.
            """
            self.made.append(("count", n))
            return n

        @tool(effect="read")
        async def ping() -> str:
            """Ping, without arguments."""
            self.made.append(("ping", None))
            return "pong"

        @tool(effect="unsafe", timeout=0.05)
        def slow(text: str) -> str:
            """Do something slowly.

            Args:
                text: What.
            """
            self.may_end.wait(PATIENCE)
            self.made.append(("slow", text))
            return "done"

        self.tools = [search, count, ping, slow]


@dataclass(frozen=True)
class Probe:
    """A script and what must come of it."""

    name: str
    script: list[Any]
    made: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    answer: object = "ok"
    status: str = "answered"
    codec: str = "native"
    limits: Limits = field(default_factory=Limits)
    told: str = ""
    """What the model must have been told in some observation or note."""


def lines(*each: str) -> str:
    return "\n".join(each)


OK = "Thought: done\nFinal Answer: ok"
SAID = '{"thought": "So it is.", "action": "finish", "args": {"answer": "ok"}}'
DONE = "Thought 2: done\nAction 2: Finish[ok]"
CALL = RawCall(name="search", arguments='{"query": "a"}', id="c1")

PROBES = [
    # what comparable systems were probed with
    Probe(
        "a tool raises: the model is told why and the run goes on",
        [act("search", query="raise"), say("ok")],
        made=[("search", "raise")],
        told="the index is gone",
    ),
    Probe(
        "a tool refuses with a reason",
        [act("search", query="nothing"), say("ok")],
        made=[("search", "nothing")],
        told="use other words",
    ),
    Probe(
        "an undeclared argument is refused, not dropped",
        [act("search", query="a", limit=5), say("ok")],
        told="limit",
    ),
    Probe(
        'the string "5" for an int is refused, not coerced',
        [act("count", n="5"), act("count", n=5), say("ok")],
        made=[("count", 5)],
        told="integer",
    ),
    Probe(
        "malformed JSON arguments are refused and nothing is called",
        [
            Reply(
                calls=(RawCall(name="search", arguments='{"query": "a"', id="c1"),), finish="calls"
            ),
            say("ok"),
        ],
        told="not JSON",
    ),
    Probe(
        "an unknown tool is answered with the nearest name",
        [act("serach", query="a"), act("search", query="a"), say("ok")],
        made=[("search", "a")],
        told="unknown_tool(serach): did you mean search?",
    ),
    Probe(
        "a tool that nobody could have meant is answered with the names of all",
        [act("zzzz", query="a"), act("search", query="a"), say("ok")],
        made=[("search", "a")],
        told="unknown_tool(zzzz): there are: search, count, ping, slow, finish",
    ),
    Probe(
        "two calls at once, one raises: the other's result counts",
        [acts(act("search", query="raise"), act("search", query="b")), say("ok")],
        made=[("search", "raise"), ("search", "b")],
        told="found b",
    ),
    Probe(
        "the same call for ever is refused and the run lands with an answer",
        [*[act("search", query="a")] * 6, say("ok")],
        made=[("search", "a")] * 4,
        status="bound",
        told="repeated_same_tool_call_too_many_times",
    ),
    Probe(
        "an answer on the last allowed step counts",
        [act("search", query="a"), say("ok")],
        made=[("search", "a")],
        limits=Limits(steps=2),
    ),
    Probe(
        "a sync tool over its timeout is unknown, not failed",
        [act("slow", text="x"), say("ok")],
        told="may or may not have happened",
    ),
    # native calls, as recorded
    Probe(
        "no thought beside a call",
        [act("search", query="a"), finish("ok")],
        made=[("search", "a")],
    ),
    Probe(
        "text and a call in one reply",
        [Reply(text="I will look.", calls=(CALL,), finish="calls"), say("ok")],
        made=[("search", "a")],
    ),
    Probe(
        "a call without the arguments key",
        [Reply(calls=(RawCall(name="ping", arguments=None, id="c1"),), finish="calls"), say("ok")],
        made=[("ping", None)],
    ),
    Probe(
        "a call without the arguments it needs",
        [
            Reply(calls=(RawCall(name="search", arguments=None, id="c1"),), finish="calls"),
            say("ok"),
        ],
        told="query",
    ),
    Probe(
        "neither text nor a call",
        [Reply(), say("ok")],
        told="empty",
    ),
    Probe(
        "twelve calls in one reply",
        [acts(*[act("count", n=n) for n in range(12)]), say("ok")],
        made=[("count", n) for n in range(12)],
    ),
    Probe(
        "the same call natively and as text runs once",
        [
            Reply(
                text='<tool_call>\n{"name": "search", "arguments": {"query": "a"}}\n</tool_call>',
                calls=(CALL,),
                finish="calls",
            ),
            say("ok"),
        ],
        made=[("search", "a")],
    ),
    Probe(
        "a call written as text only is read as the call it is",
        [
            'Let me see.\n<tool_call>{"name": "search", "arguments": {"query": "a"}}</tool_call>',
            say("ok"),
        ],
        made=[("search", "a")],
    ),
    Probe(
        "a call as text to a tool that is not there is a fault",
        ['<tool_call>{"name": "rm", "arguments": {}}</tool_call>', say("ok")],
        told="rm is no tool",
    ),
    Probe(
        "arguments cut by the length limit are never executed",
        [Reply(calls=(CALL,), finish="length"), say("ok")],
        told="length limit",
    ),
    Probe(
        "the same provider id for two calls of one reply",
        [
            Reply(calls=(CALL, RawCall(name="ping", arguments="{}", id="c1")), finish="calls"),
            say("ok"),
        ],
        made=[("search", "a"), ("ping", None)],
    ),
    Probe("a refusal is a fault", [Reply(text="No.", finish="refusal"), say("ok")], told="refused"),
    Probe(
        "a filtered reply is a fault", [Reply(text="N", finish="filter"), say("ok")], told="filter"
    ),
    # text formats, as recorded and as reported
    Probe(
        "the whole reply in a code fence",
        ['```\nThought: look\nAction: search\nAction Input: {"query": "a"}\n```', OK],
        made=[("search", "a")],
        codec="labelled",
    ),
    Probe(
        "prose before the action",
        ['Sure, I can help.\nAction: search\nAction Input: {"query": "a"}', OK],
        made=[("search", "a")],
        codec="labelled",
    ),
    Probe(
        "FINISH [..] for Finish[..]",
        ["Thought 1: known\nAction 1: FINISH [ok]"],
        codec="paper",
    ),
    Probe(
        "two actions in one reply: the first counts",
        ["Thought 1: both\nAction 1: search[a]\nAction 2: search[b]", DONE],
        made=[("search", "a")],
        codec="paper",
    ),
    Probe(
        "several thought and action pairs with invented observations",
        [
            lines(
                "Thought 1: look",
                "Action 1: search[a]",
                "Observation 1: it is b",
                "Thought 2: so",
                "Action 2: Finish[b]",
            ),
            DONE,
        ],
        made=[("search", "a")],
        codec="paper",
    ),
    Probe(
        "a line break after the argument",
        ["Thought 1: look\nAction 1: search[a]\n\n", DONE],
        made=[("search", "a")],
        codec="paper",
    ),
    Probe(
        "a thought over several lines",
        ["Thought 1: look\nfirst here\nthen there\nAction 1: search[a]", DONE],
        made=[("search", "a")],
        codec="paper",
    ),
    Probe(
        "a thought cut by the length limit",
        [Reply(text="Thought 1: look\nAction 1: search[a and then", finish="length"), DONE],
        told="length limit",
        codec="paper",
    ),
    Probe(
        "Action: None",
        ["Thought: nothing\nAction: None", OK],
        codec="labelled",
        told="nothing of the form",
    ),
    Probe(
        "an action and a final answer in one reply: what was not observed cannot be answered",
        ['Thought: x\nAction: search\nAction Input: {"query": "a"}\nFinal Answer: b', OK],
        made=[("search", "a")],
        codec="labelled",
    ),
    Probe(
        "an answer without any label is asked for again",
        ["It is b.", OK],
        codec="labelled",
        told="Final Answer",
    ),
    Probe(
        "single quotes, a comment and a trailing comma in the input",
        ["Thought: x\nAction: search\nAction Input: {'query': 'a',} # look", OK],
        made=[("search", "a")],
        codec="labelled",
    ),
    Probe(
        "nested braces in the input",
        ['Thought: x\nAction: search\nAction Input: {"query": "{a: {b}}"}', OK],
        made=[("search", "{a: {b}}")],
        codec="labelled",
    ),
    Probe(
        "the call written as name({...})",
        ['Thought: x\nAction: search({"query": "a"})', OK],
        made=[("search", "a")],
        codec="labelled",
    ),
    Probe(
        "JSON quoted in a thought is no call",
        ['Thought: I could use {"name": "search", "arguments": {"query": "a"}}\nFinal Answer: ok'],
        codec="labelled",
    ),
    Probe(
        "an input cut by the length limit is never executed",
        [Reply(text='Action: search\nAction Input: {"query": "a', finish="length"), OK],
        codec="labelled",
        told="length limit",
    ),
    # one JSON object a reply
    Probe(
        "an object in a code fence, with prose around it",
        [
            lines(
                "Sure!",
                "```json",
                "{'thought': 'x', 'action': 'search', 'args': {'query': 'a',}} // look",
                "```",
                "I hope this helps.",
            ),
            SAID,
        ],
        made=[("search", "a")],
        codec="json",
    ),
    Probe(
        "JSON quoted in the thought of an object is no call",
        [
            '{"thought": "{\\"action\\": \\"now\\"}", "action": "search", "args": {"query": "a"}}',
            SAID,
        ],
        made=[("search", "a")],
        codec="json",
    ),
    Probe(
        "several objects: the first counts",
        [
            lines(
                '{"action": "search", "args": {"query": "a"}}',
                "Observation: it is b",
                '{"action": "search", "args": {"query": "b"}}',
            ),
            SAID,
        ],
        made=[("search", "a")],
        codec="json",
    ),
    Probe(
        "an object without an action",
        ['{"thought": "x", "action": "None"}', SAID],
        told="names no action",
        codec="json",
    ),
    Probe(
        "an object cut by the length limit is never executed",
        [Reply(text='{"action": "search", "args": {"query": "a', finish="length"), SAID],
        told="length limit",
        codec="json",
    ),
    Probe(
        "an object cut by a server that does not say so is never executed",
        ['{"action": "search", "args": {"query": "a"}', SAID],
        told="ends before it is closed",
        codec="json",
    ),
]


def told(trajectory: Trajectory) -> str:
    """All that the model was told."""
    faults = [step.thought.fault for step in trajectory if step.thought is not None]
    seen = [call.observation.text for call in trajectory.calls if call.observation is not None]
    return "\n".join([*faults, *seen])


async def play(probe: Probe, world: World, options: Callable[[], dict[str, Any]] = dict) -> Result:
    model = ScriptedModel(probe.script, codec=probe.codec, tools=world.tools)
    agent = Agent(
        model=model, tools=world.tools, codec=probe.codec, limits=probe.limits, **options()
    )
    journal = await start(agent, "What is it?", MemoryStore())
    trajectory = await run(agent.engine, journal)
    assert probe.told in told(trajectory)
    return result(agent, trajectory)


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
async def test_a_probe_ends_as_a_user_would_want(probe: Probe) -> None:
    world = World()
    found = await play(probe, world)
    assert (found.status, found.answer) == (probe.status, probe.answer)
    assert sorted(world.made, key=repr) == sorted(probe.made, key=repr)
    world.may_end.set()
