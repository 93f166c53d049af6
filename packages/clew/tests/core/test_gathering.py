"""Calls that are put off until the run would end, so that a person is asked about them at once."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from clew import (
    Agent,
    Call,
    Limits,
    MemoryStore,
    Observation,
    Result,
    Trajectory,
    Verdict,
    cancel,
    delegate,
    fork,
    read,
    replay,
    resume,
    rule,
    run,
)
from clew.cli.render import render_event
from clew.core.contents import RawCall, Reply
from clew.core.values import encode
from clew.guards import Provenance
from clew.interfaces import Prompt
from clew.testing import Move, ScriptedModel, act, acts, finish, say
from tests.core.relay import RELAY
from tests.core.scenarios import Ledger, effect_tools, lookup, put_off_sends, relayed

pytestmark = pytest.mark.both_loops


class Desk:
    """An agent that may send and put, and a person who rules on what is asked."""

    def __init__(self, folder: Path, script: Sequence[Move], **options: Any) -> None:
        self.ledger, self.store = Ledger(folder / "effects"), MemoryStore()
        self.prompts: list[str] = []
        tools = [lookup, RELAY, *effect_tools(self.ledger)]
        lines = [partial(self._say, line) for line in script]
        codec = options.get("codec", "native")
        model = ScriptedModel(lines, codec=codec, tools=tools, plan=script)
        guards: list[Any] = [*options.pop("guards", [put_off_sends]), Provenance("off")]
        self.agent = Agent(model=model, tools=tools, guards=guards, **options)

    def _say(self, move: Move, prompt: Prompt) -> Move:
        self.prompts.append("\n".join(part.text for part in prompt))
        return move

    async def run(self) -> Result:
        """Ask the agent for letters."""
        return await run(self.agent, "Write letters", store=self.store, run_id="r")

    async def rule(self, **rulings: bool) -> Result:
        """Allow or refuse calls, by their keys as `c4_1`, and go on."""
        for key, allow in rulings.items():
            call = key[1:].replace("_", ".")
            await rule(f"r:{call}", allow=allow, store=self.store)
        return await resume(self.agent, "r", store=self.store)

    @property
    def done(self) -> list[str]:
        """What happened, without the keys."""
        return [" ".join(line.split()[::2]) for line in self.ledger.lines()]

    async def record(self) -> Trajectory:
        """What is on record."""
        return await read("r", store=self.store)


async def test_a_person_is_asked_once_and_effects_keep_their_order(tmp_path: Path) -> None:
    """What the model asks for behind a call that was put off is not done before it."""
    script = [
        act("send", text="one"), act("put", text="two"), act("send", text="three"), say("sent"),
        say("All is sent."),
    ]  # fmt: skip
    desk = Desk(tmp_path, script)
    held = await desk.run()
    assert [each.call for each in held.pending_approvals] == ["4.1", "4.3"]
    assert desk.done == []
    result = await desk.rule(c4_1=True, c4_3=True)
    assert result.answer == "All is sent."
    assert desk.done == ["send one", "put two", "send three"]


async def test_what_is_refused_holds_up_nothing_else(tmp_path: Path) -> None:
    """The others are done, in their order, and the model is told of each."""
    script = [act("send", text="one"), act("put", text="two"), finish("sent"), say("Only two.")]
    desk = Desk(tmp_path, script)
    await desk.run()
    assert (await desk.rule(c3_2=False)).answer == "Only two."
    assert desk.done == ["put two"]
    told = desk.prompts[-1]
    assert "What came of the calls that were put off" in told
    assert "stored two" in told


async def test_each_call_is_made_only_as_it_was_ruled_on(tmp_path: Path) -> None:
    """Every mixture of yes and no, of three calls with an effect behind them."""
    for number in range(8):
        folder = tmp_path / str(number)
        folder.mkdir()
        calls = [act("send", text=text) for text in ("one", "two", "three")]
        script = [*calls, act("put", text="four"), say("sent"), say("Done.")]
        desk = Desk(folder, script)
        held = await desk.run()
        allowed = [bool(number >> bit & 1) for bit in range(3)]
        keys = [f"c{each.call.replace('.', '_')}" for each in held.pending_approvals]
        result = await desk.rule(**dict(zip(keys, allowed, strict=True)))
        assert result.answer == "Done."
        texts = ("one", "two", "three")
        sent = [f"send {it}" for it, allow in zip(texts, allowed, strict=True) if allow]
        assert desk.done == [*sent, "put four"]


@pytest.mark.parametrize("codec", ["native", "labelled", "json"])
async def test_the_model_is_told_what_waits_and_what_came_of_it(tmp_path: Path, codec: str) -> None:
    """In every format: at once that the call is not made yet, in the end its result."""
    script = [act("send", text="one"), finish("sent"), finish("It is sent.")]
    desk = Desk(tmp_path, script, codec=codec)
    await desk.run()
    assert "It is not made yet" in desk.prompts[1]
    assert (await desk.rule(c2_2=True)).answer == "It is sent."
    assert "sent one" in desk.prompts[2]


async def test_the_same_call_is_asked_about_once(tmp_path: Path) -> None:
    """A model that insists on it does not have it twice."""
    script = [act("send", text="one"), act("send", text="one"), say("sent"), say("Once.")]
    desk = Desk(tmp_path, script)
    held = await desk.run()
    assert [each.call for each in held.pending_approvals] == ["3.1"]
    await desk.rule(c3_1=True)
    assert desk.done == ["send one"]


async def test_beside_a_call_that_has_to_wait_it_waits_too(tmp_path: Path) -> None:
    """A person who is asked now is asked about all that is open."""

    async def hold_puts(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("hold", "not now") if call.action.name == "put" else None

    script = [acts(act("send", text="one"), act("put", text="two")), say("Both.")]
    desk = Desk(tmp_path, script, guards=[put_off_sends, hold_puts])
    held = await desk.run()
    assert [each.call for each in held.pending_approvals] == ["1.1", "1.2"]
    assert (await desk.rule(c1_1=True, c1_2=True)).answer == "Both."


async def test_a_call_of_a_program_waits_where_it_is(tmp_path: Path) -> None:
    """A program cannot go on without its result."""
    desk = Desk(tmp_path, [relayed(("send", "one"), ("lookup", "a")), say("sent")])
    held = await desk.run()
    assert [each.call for each in held.pending_approvals] == ["1.2"]
    assert (await desk.rule(c1_2=True)).answer == "sent"
    assert desk.done == ["send one"]


async def test_an_effect_that_needs_no_ruling_goes_ahead_of_a_read_that_waits(
    tmp_path: Path,
) -> None:
    """Only effects keep an order among themselves."""

    async def hold_lookups(call: Call, trajectory: Trajectory) -> Verdict | None:
        return Verdict("hold", "", gather=True) if call.action.name == "lookup" else None

    script = [act("lookup", key="a"), act("put", text="two"), say("so"), say("a and two")]
    desk = Desk(tmp_path, script, guards=[hold_lookups])
    held = await desk.run()
    assert desk.done == ["put two"]
    assert [each.call for each in held.pending_approvals] == ["3.1"]
    assert (await desk.rule(c3_1=True)).answer == "a and two"


async def test_where_no_step_is_left_it_is_asked_about_before_the_last_thought(
    tmp_path: Path,
) -> None:
    """A bound that lets no call be made any more leaves it unmade."""
    script = [act("send", text="one"), act("send", text="two"), say("sent")]
    desk = Desk(tmp_path, script, limits=Limits(steps=2))
    held = await desk.run()
    assert [each.call for each in held.pending_approvals] == ["2.2", "2.3"]
    result = await desk.rule(c2_2=True, c2_3=False)
    assert (result.status, result.answer) == ("bound", "sent")
    assert desk.done == ["send one"]


async def test_caps_count_what_is_made_and_not_what_was_put_off(tmp_path: Path) -> None:
    """Of two that a person allows, a cap on one lets one be made."""
    script = [act("send", text="one"), act("send", text="two"), say("sent"), say("One.")]
    desk = Desk(tmp_path, script, limits=Limits(calls_per_tool={"send": 1}))
    held = await desk.run()
    keys = {f"c{each.call.replace('.', '_')}": True for each in held.pending_approvals}
    assert (await desk.rule(**keys)).answer == "One."
    assert desk.done == ["send one"]


async def test_many_in_a_row_do_not_end_the_run(tmp_path: Path) -> None:
    """They are not refused, so the model is not stuck."""
    script = [*(act("send", text=str(n)) for n in range(15)), say("sent"), say("None.")]
    desk = Desk(tmp_path, script)
    held = await desk.run()
    assert held.status == "held"
    assert len(held.pending_approvals) == 15


async def test_a_run_that_is_cancelled_makes_none_of_them(tmp_path: Path) -> None:
    """They are closed as not done."""
    desk = Desk(tmp_path, [act("send", text="one"), say("sent")])
    await desk.run()
    await cancel("r", store=desk.store)
    result = await resume(desk.agent, "r", store=desk.store)
    assert result.status == "interrupted"
    assert desk.done == []


async def test_a_message_instead_of_a_ruling_leaves_the_question_open(tmp_path: Path) -> None:
    """The person may speak; what waits is still asked about."""
    script = [act("send", text="one"), say("sent"), say("Still waiting."), say("Now it is.")]
    desk = Desk(tmp_path, script)
    await desk.run()
    result = await resume(desk.agent, "r", say="And?", store=desk.store)
    assert [each.call for each in result.pending_approvals] == ["2.1"]
    await rule("r:2.1", allow=True, store=desk.store)
    assert (await resume(desk.agent, "r", store=desk.store)).status == "answered"
    assert desk.done == ["send one"]


async def test_a_fork_asks_anew_or_takes_what_came_of_it(tmp_path: Path) -> None:
    """From before the question it is put off again; behind it, the result stands."""
    script = [act("send", text="one"), act("lookup", key="a"), say("sent"), say("It is sent.")]
    desk = Desk(tmp_path, script)
    await desk.run()
    await desk.rule(c3_1=True)
    early = await fork(desk.agent, "r", at=2, store=desk.store)
    assert [each.call for each in early.pending_approvals] == ["3.1"]
    changed = {"3.1": Observation(content="returned to sender", ok=False)}
    late = await fork(desk.agent, "r", at=3, observations=changed, store=desk.store)
    assert late.answer == "It is sent."
    assert "returned to sender" in desk.prompts[-1]
    assert desk.done == ["send one"]


async def test_a_sub_agent_asks_before_it_answers(tmp_path: Path) -> None:
    """The run above waits with it, and goes on with its answer."""
    desk = Desk(tmp_path, [act("send", text="one"), say("sent"), say("It is sent.")])
    inner = delegate(desk.agent, name="clerk", description="Writes letters.")
    outer = Agent(model=ScriptedModel([act("clerk", task="Write"), say("Done.")]), tools=[inner])
    held = await run(outer, "Write letters", store=desk.store, run_id="o")
    (asked,) = held.pending_approvals
    assert (asked.call, asked.root) == ("2.1", "o")
    await rule(asked.id, allow=True, store=desk.store)
    assert (await resume(outer, "o", store=desk.store)).answer == "Done."
    assert desk.done == ["send one"]


async def test_it_is_replayed_and_shown(tmp_path: Path) -> None:
    """Without a call; and a person reads which calls were put off."""
    desk = Desk(tmp_path, [act("send", text="one"), finish("sent"), say("It is sent.")])
    await desk.run()
    await desk.rule(c2_2=True)
    again = await replay(desk.agent.replace(model=ScriptedModel([])), "r", store=desk.store)
    assert not again.passed_over
    record = await desk.record()
    shown = [block.text for e in record.entries for block in render_event(e.event, 2)]
    assert "a person is asked about 1.1" in shown
    assert desk.done == ["send one"]


async def test_a_hold_stays_one_whatever_the_guard_says_later(tmp_path: Path) -> None:
    """A guard that looks at the step, or at how far the run is, sees another one in the end."""

    async def hold_two(call: Call, trajectory: Trajectory) -> Verdict | None:
        both = len(trajectory.step.calls) > 1
        return Verdict("hold", "two at once", gather=True) if both else None

    script = [acts(act("send", text="one"), act("send", text="two")), say("sent"), say("Sent.")]
    desk = Desk(tmp_path, script, guards=[hold_two])
    held = await desk.run()
    assert len(held.pending_approvals) == 2
    assert desk.done == []


async def test_what_was_approved_is_what_is_made(tmp_path: Path) -> None:
    """Guards that change arguments do so before a person looks, and once."""

    async def louder(call: Call, trajectory: Trajectory) -> Verdict | None:
        text = str(call.args.get("text", ""))
        return Verdict("amend", "louder", args={"text": f"{text}!"}) if text else None

    script = [act("send", text="one"), act("put", text="two"), say("sent"), say("Sent.")]
    desk = Desk(tmp_path, script, guards=[louder, put_off_sends])
    held = await desk.run()
    assert [each.args for each in held.pending_approvals] == [{"text": "one!"}]
    await desk.rule(c3_1=True)
    assert desk.done == ["send one!", "put two!"]


async def test_a_secret_is_not_sent_blotted_out(tmp_path: Path, monkeypatch: Any) -> None:
    """The record does not keep it, so a call with it cannot be approved."""
    monkeypatch.setenv("MY_API_KEY", "supersecretvalue123")
    script = [act("send", text="key supersecretvalue123"), say("sent"), say("Not sent.")]
    desk = Desk(tmp_path, script)
    held = await desk.run()
    await desk.rule(**{f"c{held.pending_approvals[0].call.replace('.', '_')}": True})
    assert desk.done == []


async def test_equal_effects_behind_a_call_that_was_put_off_are_all_done(tmp_path: Path) -> None:
    """Set, change, set back: only what a person is asked about is one call."""
    texts = [act("put", text=text) for text in "aba"]
    script = [act("send", text="one"), *texts, say("sent"), say("Sent.")]
    desk = Desk(tmp_path, script)
    (asked,) = (await desk.run()).pending_approvals
    await desk.rule(**{f"c{asked.call.replace('.', '_')}": True})
    assert desk.done == ["send one", "put a", "put b", "put a"]


async def test_an_id_that_comes_again_is_the_same_call(tmp_path: Path) -> None:
    """As without the waiting: the server sends a call twice, and it is made once."""

    def call(name: str, text: str, id_: str) -> Reply:
        raw = RawCall(name=name, arguments=encode({"text": text}).decode(), id=id_)
        return Reply(calls=(raw,), finish="calls")

    put = call("put", "two", "fe90cc71aa")
    script: list[Any] = [call("send", "one", "a01bb45c99"), put, say("sent"), put, say("Sent.")]
    ledger, store = Ledger(tmp_path / "effects"), MemoryStore()
    agent = Agent(ScriptedModel(script), effect_tools(ledger), guards=[put_off_sends])
    held = await run(agent, "Write letters", store=store, run_id="r")
    await rule(f"r:{held.pending_approvals[0].call}", allow=True, store=store)
    assert (await resume(agent, "r", store=store)).answer == "Sent."
    assert len(ledger.lines()) == 2


@pytest.mark.parametrize("times", [1, 2])
async def test_what_was_put_off_in_the_last_step_is_made_once(tmp_path: Path, times: int) -> None:
    """Its turn comes in the step of its reply, and it is none that the provider sent again."""
    raw = RawCall(name="send", arguments=encode({"text": "one"}).decode(), id="a01bb45c99")
    model = ScriptedModel([Reply(calls=(raw,) * times, finish="calls")])
    ledger, store = Ledger(tmp_path / "effects"), MemoryStore()
    limits = Limits(steps=1, landing=False)
    agent = Agent(model, effect_tools(ledger), guards=[put_off_sends], limits=limits)
    held = await run(agent, "Write letters", store=store, run_id="r")
    for each in held.pending_approvals:
        await rule(f"r:{each.call}", allow=True, store=store)
    assert (await resume(agent, "r", store=store)).status == "bound"
    assert len(ledger.lines()) == 1


async def test_sub_agents_and_programs_that_act_wait_too(tmp_path: Path) -> None:
    """Their effects come behind the one that was put off."""
    below = Desk(tmp_path, [act("put", text="two"), say("put")], guards=[])
    clerk = delegate(below.agent, name="clerk", description="Puts.")
    script = [act("send", text="one"), act("clerk", task="Put two"), say("sent"), say("Sent.")]
    tools: list[Any] = [clerk, *effect_tools(below.ledger)]
    guards: list[Any] = [put_off_sends, Provenance("off")]
    agent = Agent(ScriptedModel(script), tools=tools, guards=guards)
    held = await run(agent, "Write", store=below.store, run_id="r")
    assert held.reason == "waiting for a ruling on 3.1"
    await rule("r:3.1", allow=True, store=below.store)
    assert (await resume(agent, "r", store=below.store)).answer == "Sent."
    assert below.done == ["send one", "put two"]


async def test_a_cancelled_call_is_not_asked_about_later(tmp_path: Path) -> None:
    """A person interrupts the run before it would end: nothing of it waits any more."""
    script = [act("send", text="one"), act("lookup", key="a"), say("Lima.")]
    desk = Desk(tmp_path, script)

    async def stop(call: Call, trajectory: Trajectory) -> Verdict | None:
        if call.action.name == "lookup":
            await cancel("r", store=desk.store)
        return None

    agent = desk.agent.replace(guards=[put_off_sends, stop, Provenance("off")])
    assert (await run(agent, "Write", store=desk.store, run_id="r")).status == "interrupted"
    result = await resume(agent, "r", say="Capital of Peru?", store=desk.store)
    assert (result.status, result.answer) == ("answered", "Lima.")
