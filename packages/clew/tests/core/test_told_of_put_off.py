"""What is told of calls that were put off: what waits, and what came of it."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, Image, Limits, MemoryStore, Observation, resume, rewind, rule, run
from clew import tool as tool_of
from clew.core.contents import RawCall, Reply, Usage
from clew.guards import Provenance
from clew.interfaces import Prompt
from clew.testing import Move, ScriptedModel, act, finish, say
from tests.core.scenarios import Ledger, effect_tools, lookup, put_off_sends

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))

pytestmark = pytest.mark.both_loops


class Office:
    """An agent that sends letters with a person's word, and what it was shown."""

    def __init__(self, folder: Path, script: Sequence[Move | Reply], **options: Any) -> None:
        self.ledger, self.store = Ledger(folder / "effects"), MemoryStore()
        self.prompts: list[Prompt] = []
        tools = [lookup, *effect_tools(self.ledger), *options.pop("tools", [])]
        lines = [partial(self._say, line) for line in script]
        codec = options.get("codec", "native")
        model = ScriptedModel(lines, codec=codec, tools=tools, plan=[])
        guards: list[Any] = [put_off_sends, Provenance("off")]
        self.agent = Agent(model=model, tools=tools, guards=guards, **options)

    def _say(self, move: Move | Reply, prompt: Prompt) -> Move | Reply:
        self.prompts.append(prompt)
        return move

    @property
    def told(self) -> str:
        """The text of the last prompt."""
        return "\n".join(part.text for part in self.prompts[-1])


async def test_what_goes_ahead_with_a_ruling_is_listed_with_the_call_it_waits_for(
    tmp_path: Path,
) -> None:
    script = [
        act("send", text="one"), act("put", text="two"), act("send", text="three"),
        act("put", text="four"), act("put", text="five"), say("sent"), say("Done."),
    ]  # fmt: skip
    office = Office(tmp_path, script)
    held = await run(office.agent, "Write letters", store=office.store, run_id="r")
    listed = {
        each.args["text"]: [(call.name, call.args["text"]) for call in each.behind]
        for each in held.pending_approvals
    }
    assert listed == {"one": [("put", "two")], "three": [("put", "four"), ("put", "five")]}
    for each in held.pending_approvals:
        await rule(f"r:{each.call}", allow=False, store=office.store)
    assert (await resume(office.agent, "r", store=office.store)).answer == "Done."
    assert [line.split()[2] for line in office.ledger.lines()] == ["two", "four", "five"]


@pytest.mark.parametrize("tokens", [100, 50_000])
async def test_a_bound_at_which_nobody_is_asked_says_so(tmp_path: Path, tokens: int) -> None:
    calls = (RawCall(name="lookup", arguments='{"key": "a"}'),)
    look = Reply(calls=calls, finish="calls", usage=Usage(input=tokens))
    script: list[Move | Reply] = [act("send", text="one"), look, say("sent"), say("sent")]
    office = Office(tmp_path, script, limits=Limits(tokens=10_000))
    result = await run(office.agent, "Write letters", store=office.store, run_id="r")
    told = "put off and not made, as nobody could be asked any more: 1.1 send"
    assert (told in result.reason) == (result.status == "bound") == (tokens > 100)
    if result.status == "bound":
        more = office.agent.replace(limits=Limits(tokens=100_000))
        held = await resume(more, "r", store=office.store, accept_change=True)
        assert [each.tool for each in held.pending_approvals] == ["send"]


@pytest.mark.parametrize("codec", ["native", "labelled", "json"])
async def test_after_a_rewind_a_call_that_was_made_does_not_wait(
    tmp_path: Path, codec: str
) -> None:
    script = [act("send", text="one"), finish("sent"), finish("It is sent."), finish("Again.")]
    office = Office(tmp_path, script, codec=codec)
    held = await run(office.agent, "Write letters", store=office.store, run_id="r")
    await rule(f"r:{held.pending_approvals[0].call}", allow=True, store=office.store)
    assert (await resume(office.agent, "r", store=office.store)).answer == "It is sent."
    await rewind("r", to=1, lesson="say it otherwise", store=office.store)
    await resume(office.agent, "r", store=office.store)
    assert "It is not made yet" not in office.told
    assert "sent one" in office.told
    assert len(office.ledger.lines()) == 1


async def test_after_a_rewind_a_refused_call_is_told_as_refused(tmp_path: Path) -> None:
    script = [act("send", text="one"), finish("sent"), finish("Not sent."), finish("Again.")]
    office = Office(tmp_path, script)
    held = await run(office.agent, "Write letters", store=office.store, run_id="r")
    call = held.pending_approvals[0].call
    await rule(f"r:{call}", allow=False, why="not today", store=office.store)
    await resume(office.agent, "r", store=office.store)
    await rewind("r", to=1, lesson="say it otherwise", store=office.store)
    await resume(office.agent, "r", store=office.store)
    assert "It is not made yet" not in office.told
    assert "not today" in office.told


async def test_no_person_is_said_to_rule_where_calls_are_taken_up(tmp_path: Path) -> None:
    script = [act("send", text="one"), finish("sent"), finish("It is sent.")]
    office = Office(tmp_path, script)
    held = await run(office.agent, "Write letters", store=office.store, run_id="r")
    await rule(f"r:{held.pending_approvals[0].call}", allow=True, store=office.store)
    await resume(office.agent, "r", store=office.store)
    assert "a person rules" not in office.told
    assert "calls that were put off come first" in office.told


@tool_of(effect="unsafe")
async def send_photo(to: str) -> Observation:
    """Take a photo and send it.

    Args:
        to: To whom.
    """
    return Observation(content=f"sent to {to}", attachments=(Image("image/png", PNG, "the photo"),))


@pytest.mark.parametrize("codec", ["native", "labelled"])
async def test_pictures_of_what_was_put_off_are_shown(tmp_path: Path, codec: str) -> None:
    script = [act("send", text="one"), act("send_photo", to="Ada"), finish("sent"), finish("Seen.")]
    office = Office(tmp_path, script, codec=codec, tools=[send_photo])
    held = await run(office.agent, "Write letters", store=office.store, run_id="r")
    await rule(f"r:{held.pending_approvals[0].call}", allow=True, store=office.store)
    await resume(office.agent, "r", store=office.store)
    assert [image.text for part in office.prompts[-1] for image in part.attachments] == [
        "the photo"
    ]
