"""What may have happened stays known, whatever a person let be made after it."""

from typing import Any

import pytest

from clew import (
    Agent,
    Call,
    Limits,
    MemoryStore,
    Tool,
    ToolError,
    Trajectory,
    Verdict,
    fork,
    pending_approvals,
    read,
    replay,
    resume,
    rewind,
    rule,
    run,
)
from clew.core.contents import RawCall, Reply
from clew.interfaces import CALL, Prompt
from clew.testing import ScriptedModel, act, say

ENDS = ["done", "did nothing", "unknown", "denied"]
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


SEND = Reply(
    calls=(RawCall(name="send", arguments='{"text": "X"}', id="an id of its own"),), finish="calls"
)


class Post:
    """Its first letter is sent and breaks off; the second ends as it is told."""

    def __init__(self, second: str) -> None:
        self.sent: list[str] = []
        self.second = second
        self.begun = 0

    async def __call__(self, args: dict[str, Any], key: str) -> str:
        self.begun += 1
        if self.begun == 2 and self.second == "did nothing":
            raise ToolError("busy")
        self.sent.append(args["text"])
        if self.begun == 1 or (self.begun == 2 and self.second == "unknown"):
            raise OSError("the line broke off")
        return "sent"

    async def refuse(self, call: Call, trajectory: Trajectory) -> Verdict | None:
        """A guard: nothing is sent a second time, where that is how it is to end."""
        late = self.begun == 1 and self.second == "denied"
        return Verdict("deny", "not on Sundays") if late else None

    def agent(self, *texts: str) -> Agent:
        moves = [act("send", text=text) for text in texts]
        send = Tool("send", "Send a letter.", TEXT, self, effect="unsafe")
        model = ScriptedModel([*moves, say("done")])
        return Agent(model, [send], guards=[self.refuse], limits=Limits(unknown="hold"))


async def gone_on(post: Post, store: MemoryStore, edit: str) -> None:
    """A run whose call is in doubt, and made again as a person said."""
    agent = post.agent("X")
    held = await run(agent, "Write.", store=store, run_id="r")
    assert held.status == "held"
    args = {"text": edit} if edit else None
    await rule("r:1.1", allow=True, args=args, store=store)
    ended = await resume(agent, "r", store=store)
    if ended.status == "held":
        await rule("r:1.1", allow=False, store=store)
        ended = await resume(agent, "r", store=store)
    assert ended.status == "answered"
    await replay(agent, "r", store=store)
    post.begun = len(ENDS)  # from here on it just sends


@pytest.mark.parametrize("edit", ["", "Y"])
@pytest.mark.parametrize("second", ENDS)
async def test_a_fork_waits_before_it_repeats_what_may_have_happened(
    second: str, edit: str
) -> None:
    post, store = Post(second), MemoryStore()
    await gone_on(post, store, edit)
    before = [*post.sent]
    for text in {"X", *post.sent}:
        again = await fork(post.agent(text), "r", at=0, store=store)
        assert again.status == "held", (text, post.sent)
    assert post.sent == before
    why = [each.why for each in await pending_approvals(store=store)]
    assert all("done already, by r:1.1" in each for each in why)


@pytest.mark.parametrize("edit", ["", "Y"])
@pytest.mark.parametrize("second", ENDS)
async def test_a_rewound_run_waits_too(second: str, edit: str) -> None:
    post, store = Post(second), MemoryStore()
    await gone_on(post, store, edit)
    before = [*post.sent]
    await rewind("r", to=0, lesson="Begin anew.", store=store)
    agent = Agent(ScriptedModel([SEND] * 9), post.agent().tools)
    again = await resume(agent, "r", say="Go on.", accept_change=True, store=store)
    assert (again.status, post.sent) == ("held", before)


@pytest.mark.parametrize("second", ["done", "did nothing"])
async def test_the_model_is_told_what_may_have_happened_before(second: str) -> None:
    post, store = Post(second), MemoryStore()
    await gone_on(post, store, "Y")
    (call,) = (await read("r", store=store)).steps[0].calls
    assert call.remarks[0] == 'send({"text":"X"}) was begun before, and may have happened'


@pytest.mark.parametrize("edit", ["", "Y"])
@pytest.mark.parametrize("second", ENDS)
async def test_after_a_rewind_the_model_is_told_of_each_that_may_have_happened(
    second: str, edit: str
) -> None:
    post, store = Post(second), MemoryStore()
    await gone_on(post, store, edit)
    await rewind("r", to=0, lesson="Begin anew.", store=store)
    told: list[str] = []

    def ends(prompt: Prompt) -> Any:
        told.extend("\n".join(part.text for part in prompt).splitlines())
        return say("done")

    agent = Agent(ScriptedModel([ends] * 9), post.agent().tools)
    await resume(agent, "r", say="Go on.", accept_change=True, store=store)
    (line,) = [one for one in told if one.startswith("- send(")]
    assert all(f'"text":"{text}"' in line for text in {"X", *post.sent}), line
    assert ("may or may not have happened" in line) == (second != "done"), line


ARGS: list[tuple[dict[str, Any], dict[str, Any], bool]] = [
    ({"text": "X"}, {"text": "Y"}, False),
    ({"text": "X"}, {"text": "X", "copies": 2}, False),
    ({"text": "X", "copies": 2}, {"text": "X"}, False),
    ({"text": "X"}, {"text": "x"}, False),
    ({"text": "X"}, {"text": "X "}, False),
    ({"text": "X", "sizes": [1, 2]}, {"text": "X", "sizes": [2, 1]}, False),
    ({"text": "X", "sizes": [1]}, {"text": "X", "sizes": [1, 1]}, False),
    ({"text": "X", "at": {"a": 1}}, {"text": "X", "at": {"a": 2}}, False),
    ({"text": "X", "at": {"a": 1}}, {"text": "X", "at": {"a": True}}, False),
    ({"text": "X", "at": {}}, {"text": "X", "at": {"a": None}}, False),
    ({"text": "X"}, {"text": "X"}, True),
    ({"text": "X"}, {"copies": 1, "text": "X"}, True),
    ({"text": "X", "copies": 2}, {"text": "X", "copies": 2.0}, True),
    ({"text": "X", "at": {"a": 1, "b": 2}}, {"text": "X", "at": {"b": 2, "a": 1}}, True),
]
"""What a job was begun with, what a person lets be made instead, and whether it is the same."""
SHEET = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "copies": {"type": "integer", "default": 1},
        "sizes": {"type": "array", "items": {"type": "integer"}},
        "at": {"type": "object"},
    },
    "required": ["text"],
}


@pytest.mark.parametrize(("first", "then", "same"), ARGS, ids=range(len(ARGS)))
async def test_other_arguments_ask_for_no_task_of_the_old_ones(
    first: dict[str, Any], then: dict[str, Any], same: bool
) -> None:
    asked: list[tuple[str, str]] = []

    async def press(args: dict[str, Any], key: str) -> str:
        here = CALL.get()
        assert here is not None
        asked.append((args["text"], here.task))
        if not here.task:
            await here.begun("a job")
        if len(asked) == 1:
            raise OSError("the line broke off")
        return "printed"

    tool = Tool("press", "Print.", SHEET, press, effect="unsafe")
    model = ScriptedModel([act("press", **first), say("done")])
    agent = Agent(model, [tool], limits=Limits(unknown="hold"))
    store = MemoryStore()
    await run(agent, "Print.", store=store, run_id="r")
    await rule("r:1.1", allow=True, args=then, store=store)
    await resume(agent, "r", store=store)
    assert asked == [(first["text"], ""), (then["text"], "a job" if same else "")]
    await replay(agent, "r", store=store)


@pytest.mark.parametrize(("again", "was"), [("X", "may have been done"), ("Y", "was done")])
async def test_what_may_have_happened_is_not_told_as_done(again: str, was: str) -> None:
    post, store = Post("done"), MemoryStore()
    await run(post.agent("X"), "?", store=store, run_id="r")
    await rule("r:1.1", allow=True, args={"text": "Y"}, store=store)
    assert (await resume(post.agent("X"), "r", store=store)).status == "answered"
    await fork(post.agent(again), "r", at=0, store=store)
    (waiting,) = await pending_approvals(store=store)
    assert waiting.why == f"this {was} already, by r:1.1: allow it if it is to happen twice"
