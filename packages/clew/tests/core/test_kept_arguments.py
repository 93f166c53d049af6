"""Arguments that are too long for any call are refused and not kept, in whatever form they came.

Entered by runs. What is called has an effect, and none is had.
"""

import hashlib
import re
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from clew import (
    Agent,
    Limits,
    MemoryStore,
    SqliteStore,
    StoreError,
    Trajectory,
    prompt_of,
    read,
    replay,
    resume,
    run,
    tool,
)
from clew.codecs.native import Native
from clew.core.actions import Action
from clew.core.call_context import CALL
from clew.core.codec import Parsed, PromptSpec
from clew.core.codes import TOO_LONG
from clew.core.contents import RawCall, Reply, Wire
from clew.core.events import Suspended
from clew.core.tools import Tool
from clew.core.values import encode
from clew.core.verdicts import Verdict
from clew.guards import Provenance
from clew.testing.models import Line, ScriptedModel, act, finish, say
from clew_testing.cut_store import CutStore

LONG: Final = "x" * 1_200_000
LITTLE: Final = 400_000
"""More bytes than a store has of such a run, whatever was refused in it."""

pytestmark = pytest.mark.parametrize("anyio_backend", ["asyncio"])

TEXT_CODECS: Final = ("json", "labelled", "paper")


@tool(effect="unsafe")
def write(text: str, to: str = "") -> str:
    """Write a text."""
    raise AssertionError("it is never called")


@tool(effect="read")
def look() -> str:
    """Look."""
    return "seen"


def forbid(call: Any, trajectory: Any) -> Verdict:
    """Refuse everything."""
    del call, trajectory
    return Verdict("deny", "never")


def writes(arguments: str, name: str = "write") -> Reply:
    return Reply(
        calls=(
            RawCall(name=name, arguments=arguments, id="c1"),
            RawCall(name="look", arguments="{}", id="c2"),
        ),
        finish="calls",
    )


def agent(*moves: Line, **parts: Any) -> Agent[Any]:
    codec = parts["codec"] if parts.get("codec") in TEXT_CODECS else "native"
    end = say("done") if codec == "native" else finish("done")
    model = ScriptedModel([*moves, end], codec, [write, look], plan=[act("write")])
    return Agent(model=model, tools=[write, look], **parts)


ARGUMENTS: Final = encode({"text": LONG}).decode()
REFUSED: Final = {
    "too long": writes(ARGUMENTS),
    "a tool that there is not": writes(ARGUMENTS, "wriet"),
    "another parameter": writes(encode({"texts": LONG}).decode()),
    "no JSON": writes(ARGUMENTS[:-1]),
    "no object": writes(encode([LONG]).decode()),
    "a key twice": writes(f'{{"to": "a", "to": "b", "text": "{LONG}"}}'),
    "many short ones": writes(encode({"to": ["x"] * 300_000}).decode()),
    "an answer": writes(encode({"answer": LONG}).decode(), "finish"),
}


async def record_of(who: Agent[Any], folder: Path) -> Trajectory:
    """The record of a run that keeps little, and is replayed to the byte."""
    store = SqliteStore(folder / "runs.sqlite")
    await run(who, "Write it", store=store, run_id="r")
    record = await read("r", store=store)
    assert (await replay(who, "r", store=store)).trajectory.entries == record.entries
    assert not (await prompt_of("r", 2, store=store)).differs
    assert await store.size() < LITTLE
    await store.close()
    return record


def reply_of(record: Trajectory) -> Reply:
    thought = record.steps[0].thought
    assert thought is not None
    return thought.reply


@pytest.mark.parametrize("guard", [Provenance("off"), Provenance("standard"), forbid])
@pytest.mark.parametrize("why", REFUSED)
async def test_a_refused_call_keeps_the_beginning_of_its_arguments(
    why: str, guard: Any, tmp_path: Path
) -> None:
    arguments = REFUSED[why].calls[0].arguments or ""
    record = await record_of(agent(REFUSED[why], guards=[guard]), tmp_path)
    raw, other = reply_of(record).calls
    assert (raw.arguments, raw.size) == (arguments[:2_000], len(arguments))
    assert raw.digest == hashlib.sha256(arguments.encode()).hexdigest()
    assert (other.arguments, other.size, other.digest) == ("{}", 0, "")
    seen, beside = (record.call(key).observation for key in ("1.1", "1.2"))
    assert seen is not None
    assert beside is not None
    assert (seen.made, beside.made) == (False, guard is not forbid)
    if why == "a tool that there is not":
        assert seen.code == "unknown_tool"
    elif why != "an answer":
        assert seen.code == "invalid_arguments"
        assert f"have {len(arguments):,} bytes, and may have 1,000,000: give less" in seen.text
        assert f"only their beginning is kept (SHA-256 {raw.digest[:16]}…)" in seen.text
    assert len(seen.text) < 1_000


@pytest.mark.parametrize("codec", TEXT_CODECS)
@pytest.mark.parametrize("name", ["write", "wriet", "finish"])
async def test_a_reply_in_text_keeps_its_beginning(name: str, codec: str, tmp_path: Path) -> None:
    said = {"answer": LONG} if name == "finish" else {"text": LONG}
    record = await record_of(agent(act(name, **said), codec=codec), tmp_path)
    reply = reply_of(record)
    assert (reply.finish, reply.ending, len(reply.text)) == ("cut", TOO_LONG, 100_000)
    thought = record.steps[0].thought
    assert thought is not None
    assert thought.fault.startswith("the reply was far too long and was cut off: write less, or in")
    (cut,) = reply.mended
    assert re.fullmatch(r"cut: it had 1,200,\d{3} bytes, SHA-256 [0-9a-f]{64}", cut)
    assert record.stop is not None
    assert (record.stop.answer, [each.action.name for each in record.calls]) == ("done", ["finish"])


@pytest.mark.parametrize("text", [f'{{"action": "write", "args": {{"text": "{LONG}', LONG])
async def test_so_does_one_that_cannot_be_read(text: str, tmp_path: Path) -> None:
    record = await record_of(agent(Reply(text), codec="json"), tmp_path)
    assert len(reply_of(record).text) == 100_000


async def test_a_call_that_stands_in_the_text_too_is_kept_in_neither(tmp_path: Path) -> None:
    text = f'<tool_call>{{"name": "write", "arguments": {ARGUMENTS}}}</tool_call>'
    said = Reply(text, (RawCall(name="write", arguments=ARGUMENTS, id="c1"),), "calls")
    assert reply_of(await record_of(agent(said), tmp_path)).ending == TOO_LONG


class Whole(Native):
    """A format that wants whole arguments."""

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Parsed:
        """As its base."""
        if any((call.arguments or "")[-1:] != "}" for call in reply.calls):
            return Parsed(fault="not whole")
        return super().parse(prompt_spec, reply)


async def test_a_format_of_ones_own_that_reads_no_call_in_the_beginning(tmp_path: Path) -> None:
    record = await record_of(agent(REFUSED["too long"], codec=Whole()), tmp_path)
    thought = record.steps[0].thought
    assert thought is not None
    assert "have 1,200,011 bytes, and may have 1,000,000: give less" in thought.fault
    assert (thought.actions, len(thought.reply.calls[0].arguments or "")) == ((), 2_000)


@pytest.mark.parametrize(("size", "kept"), [(10, True), (1_200_000, False)])
async def test_what_goes_back_to_the_provider_is_kept_if_it_is_not_long_itself(
    size: int, *, kept: bool, tmp_path: Path
) -> None:
    wire = Wire("test", "scripted:test", ["x" * size])
    said = msgspec.structs.replace(REFUSED["too long"], wire=wire)
    reply = reply_of(await record_of(agent(said), tmp_path))
    assert (reply.wire == wire) == kept


async def test_a_program_keeps_no_more_of_a_call_that_it_asked_for_in_vain(tmp_path: Path) -> None:
    async def relay(args: dict[str, Any], key: str) -> Any:
        made = CALL.get()
        assert made is not None
        own = made.record.call(key.rpartition(":")[2])
        if own.suspended is None:
            return Suspended(actions=(Action("write", {"text": LONG}), Action("look")))
        return [each.observation.text for each in own.asked if each.observation]

    relays = Tool("relay", "Relay.", {"type": "object"}, relay, effect="pure")
    model = ScriptedModel([act("relay"), say("done")], plan=[act("write")])
    record = await record_of(Agent(model=model, tools=[relays, write, look]), tmp_path)
    first, second = record.call("1.1").asked
    assert first.observation is not None
    assert first.observation.code == "invalid_arguments"
    assert "have 1,200,011 bytes, and may have 1,000,000" in first.observation.text
    assert first.args == {}
    assert second.observation is not None
    assert second.observation.text == "seen"


@pytest.mark.parametrize("size", [900_000, 16_000])
async def test_what_may_be_called_is_kept_whole_whoever_refuses_it(size: int) -> None:
    text, store = "x" * size, MemoryStore()
    who = agent(act("write", text=text), guards=[forbid])
    await run(who, "Write it", store=store, run_id="r")
    assert (await read("r", store=store)).call("1.1").args == {"text": text}


async def test_what_fits_a_line_of_the_record_is_kept_however_little_a_call_may_have() -> None:
    text, store = "x" * 16_000, MemoryStore()
    who = agent(act("write", text=text), limits=Limits(argument_bytes=100))
    await run(who, "Write it", store=store, run_id="r")
    record = await read("r", store=store)
    assert record.call("1.1").args == {"text": text}
    seen = record.call("1.1").observation
    assert seen is not None
    assert "the arguments have 16,011 bytes, and may have 100: give less" in seen.text


@pytest.mark.parametrize("codec", ["native", "json"])
async def test_a_secret_that_is_cut_through_is_blotted_out_before(
    codec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", secret := "Tr0ub4dor-and-a-long-tail-of-it")
    ahead = 2_000 if codec == "native" else 100_000
    text = "x" * (ahead - 40) + secret + LONG
    for shift in range(0, 30, 7):
        folder = tmp_path / str(shift)
        folder.mkdir()
        record = await record_of(agent(act("write", text=text[shift:]), codec=codec), folder)
        assert secret[:6] not in "".join(encode(each.event).decode() for each in record.entries)


@pytest.mark.parametrize("codec", ["native", "json"])
async def test_a_crash_at_any_write_leaves_the_same(codec: str) -> None:
    who = agent(REFUSED["too long"] if codec == "native" else act("write", text=LONG), codec=codec)
    whole = CutStore()
    await run(who, "Write it", store=whole, run_id="r")
    wanted = [step.thought for step in (await read("r", store=whole)).steps]
    for left in range(1, whole.written):
        store = CutStore(left)
        with pytest.raises(StoreError, match="the power was cut"):
            await run(who, "Write it", store=store, run_id="r")
        store.left = 1 << 30
        if not await store.inner.read("r"):
            continue
        await resume(who, "r", store=store)
        record = await read("r", store=store)
        assert [step.thought for step in record.steps] == wanted
        assert (await replay(who, "r", store=store)).trajectory.entries == record.entries
