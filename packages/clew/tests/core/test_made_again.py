"""A call that a person lets be made again is no further one for what bounds the calls."""

import datetime as dt
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    Verdict,
    pending_approvals,
    read,
    replay,
    resume,
    rule,
    run,
    tool,
)
from clew.testing import ScriptedModel, act, say

DAY = "2026-01-01"
CAPS = [Limits(unknown="hold", tool_calls=1), Limits(unknown="hold", calls_per_tool={"book": 1})]


@dataclass
class Diary:
    """What was booked, by a tool whose first call waits for a person in one of three ways."""

    way: str
    booked: list[dt.date] = field(default_factory=list)
    made: int = 0

    @property
    def tool(self) -> Any:
        """The tool."""

        @tool(effect="unsafe")
        def book(day: dt.date) -> str:
            """Book a day."""
            self.made += 1
            if self.way == "lost" and self.made == 1:
                raise OSError("no receipt")
            self.booked.append(day)
            return "booked"

        async def asking(args: dict[str, Any], key: str) -> Any:
            self.made += 1
            if self.made == 1:
                return Verdict("hold", "for how many?", asks={"type": "integer"})
            return await book.call(args, key)

        return replace(book, call=asking) if self.way == "asks" else book

    async def first(self, *_: Any) -> Verdict | None:
        """A guard, which asks before the call where that is the way."""
        return Verdict("hold", "may it be?") if self.way == "refused" else None


def plain(diary: Diary, limits: Limits) -> Agent:
    script = [act("book", day=DAY), act("book", day="2026-02-02"), say("done")]
    return Agent(ScriptedModel(script), [diary.tool], guards=[diary.first], limits=limits)


@pytest.mark.parametrize("limits", CAPS, ids=["tool_calls", "calls_per_tool"])
@pytest.mark.parametrize("way", ["lost", "asks", "refused"])
async def test_a_call_may_be_made_again_under_a_cap_that_it_has_used_up(
    way: str, limits: Limits
) -> None:
    diary, store = Diary(way), MemoryStore()
    agent = plain(diary, limits)
    result = await run(agent, "?", store=store, run_id="r")
    bad = [{"day": "soon"}, {"day": DAY}] if way == "refused" else [None]
    for args in bad:
        assert (result.status, diary.booked) == ("held", [])
        (waiting,) = await pending_approvals(store=store)
        answer = 2 if way == "asks" else None
        await rule(waiting.id, allow=True, args=args, answer=answer, store=store)
        result = await resume(agent, "r", store=store)
    assert diary.booked == [dt.date(2026, 1, 1)]
    if "book" in limits.calls_per_tool:  # the next one is over the cap
        seen = (await read("r", store=store)).call("2.1").observation
        assert seen is not None
        assert seen.code == "cap"
    await replay(agent, "r", store=store)
