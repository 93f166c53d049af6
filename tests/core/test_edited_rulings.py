"""A person gives a held call other arguments: what these would repeat is asked about too."""

from typing import Annotated, Any, Literal

import msgspec
import pytest

from clew import (
    Agent,
    Call,
    ConfigError,
    MemoryStore,
    Trajectory,
    Verdict,
    fork,
    pending_approvals,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.testing import ScriptedModel, act, acts, say

DONE = [act("post", to="a"), act("post", to="b", note="")]


async def ruled(edited: dict[str, Any], *, tries: int = 2) -> tuple[list[str], list[str]]:
    """What was sent when a person edits a fork's repetition, and why it waited each time.

    What waits after that is allowed as it stands.
    """
    sent: list[str] = []

    @tool(effect="unsafe")
    def post(to: str, note: str = "") -> str:
        """Send a letter."""
        sent.append(to + note)
        return "sent"

    model = ScriptedModel([acts(*DONE), say("done")])
    store = MemoryStore()
    await run(Agent(model=model, tools=[post]), "?", store=store, run_id="first")
    again = Agent(model=ScriptedModel([act("post", to="a"), say("done")]), tools=[post])
    result = await fork(again, "first", at=0, store=store, new_id="second")
    sent.clear()
    asked = list[str]()
    for number in range(tries):
        waiting = await pending_approvals(store=store)
        asked += [each.why for each in waiting]
        if not waiting:
            break
        args = edited if number == 0 else None
        await rule("second", waiting[0].call, allow=True, args=args, store=store)
        result = await resume(again, "second", store=store)
    assert result.status == "answered"
    await replay(again, "second", store=store)
    return sent, asked


@pytest.mark.parametrize("edited", [{"to": "b"}, {"to": "b", "note": ""}, {"note": "", "to": "b"}])
async def test_an_edit_into_another_effect_that_was_had_waits_again(edited: dict[str, Any]) -> None:
    sent, asked = await ruled(edited)
    assert sent == ["b"]
    assert ["first:1.1" in asked[0], "first:1.2" in asked[1]] == [True, True]


@pytest.mark.parametrize(
    "edited", [{"to": "a"}, {"to": "a", "note": ""}, {"to": "c"}, {"to": "a", "note": "!"}]
)
async def test_an_edit_of_the_same_effect_or_a_new_one_is_made_at_once(
    edited: dict[str, Any],
) -> None:
    sent, asked = await ruled(edited)
    assert (sent, len(asked)) == ([edited["to"] + edited.get("note", "")], 1)


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"to": 1},
        {"to": None},
        {"to": ["a"]},
        {"too": "a"},
        {"to": "a", "more": 1},
        {"to": "a", "count": "two"},
        {"to": "a", "count": 1.5},
        {"to": "a", "count": 0},
        {"to": "a", "kind": "letters"},
        {"to": "", "kind": "letter"},
    ],
)
async def test_arguments_that_the_tool_cannot_take_use_up_no_ruling(args: dict[str, Any]) -> None:
    sent: list[str] = []

    @tool(effect="unsafe")
    def post(
        to: Annotated[str, msgspec.Meta(min_length=1)],
        count: Annotated[int, msgspec.Meta(ge=1)] = 1,
        kind: Literal["letter", "parcel"] = "letter",
    ) -> str:
        """Send something."""
        sent.append(f"{count} {kind} to {to}")
        return "sent"

    store = MemoryStore()
    agent = Agent(
        model=ScriptedModel([act("post", to="a"), say("done")]), tools=[post], guards=[hold]
    )
    await run(agent, "?", store=store, run_id="r")
    with pytest.raises(ConfigError, match="do not fit post, and nothing was ruled: "):
        await rule("r", "1.1", allow=True, args=args, store=store)
    await rule("r", "1.1", allow=True, args={"to": "b", "kind": "parcel"}, store=store)
    result = await resume(agent, "r", store=store)
    assert (result.status, sent) == ("answered", ["1 parcel to b"])


def hold(call: Call, so_far: Trajectory) -> Verdict | None:
    """Ask a person about each call."""
    return Verdict("hold", "May it be sent?")
