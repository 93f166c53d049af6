"""Of many tools those are shown that fit; what was shown stays so, and the record says it all."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import anyio
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as some

from clew import (
    Agent,
    ConfigError,
    Context,
    Limits,
    MemoryStore,
    PartError,
    Verdict,
    fork,
    prompt_of,
    read,
    replay,
    resume,
    run,
)
from clew.codecs.react_text import Paper
from clew.context import PROMPT
from clew.context.view import plain
from clew.core.contents import Observation, Reply, text_parts
from clew.core.entries import Entry
from clew.core.events import Fingerprints, Started, Thought
from clew.core.models import ModelInfo
from clew.core.prompts import Prompt
from clew.core.spec_changes import changes
from clew.core.tools import ToolSpec
from clew.core.trajectory import Trajectory
from clew.testing.models import ScriptedModel, act, finish, say
from clew.tools.retrieval import Retrieval
from tests.core.catalogue import catalogue
from tests.core.play import copy
from tests.core.scenarios import lookup, open_page
from tests.core.watched import CODECS, told, watched

pytestmark = pytest.mark.anyio

TOOLS = catalogue(120)
SCRIPT = (
    act("book_bicycle", thought="First the bicycle. Then I count a ferry.", bicycle="red"),
    act("count_ferry", thought="Last, the lighthouse.", ferry="old"),
    act("lookup", thought="Is it lit?", key="light"),
    finish("Done.", thought="It is."),
)


@dataclass
class Moody:
    """A finder that never says the same twice, as if it were on another machine each time."""

    always: Sequence[str] = ("lookup",)
    asked: list[int] = field(default_factory=list[int])

    def __repr__(self) -> str:
        return "moody"

    async def find(self, tools: Sequence[ToolSpec], trajectory: Trajectory) -> Sequence[str]:
        await anyio.lowlevel.checkpoint()
        start = 7 * len(self.asked)
        self.asked.append(len(trajectory.steps))
        return [tool.name for tool in tools[start : start + 3]]


@dataclass
class Broken:
    """A finder that nobody may ask."""

    always: Sequence[str] = ("lookup",)

    def __repr__(self) -> str:
        return "moody"

    async def find(self, tools: Sequence[ToolSpec], trajectory: Trajectory) -> Sequence[str]:
        raise AssertionError("the index was asked")


def agent(codec: str = "native", **more: Any) -> Any:
    tools = more.pop("tools", (lookup, *TOOLS))
    model = watched(*more.pop("script", SCRIPT), codec=codec, tools=tools)
    given = {
        "context": Context(retrieval=Retrieval(k=4, always=("lookup",), embed="words")),
        **more,
    }
    return Agent(
        model=model, tools=tools, codec=codec, prompt=PROMPT.replace(variants=()), **given
    ), model


def thoughts(record: Trajectory) -> list[Thought]:
    return [step.thought for step in record if step.thought is not None]


@pytest.mark.parametrize("codec", CODECS)
async def test_what_is_shown_only_grows_and_the_prompt_with_it(codec: str) -> None:
    who, model = agent(codec)
    store = MemoryStore()
    done = await run(who, "Book me a bicycle.", store=store)
    assert (done.status, done.answer) == ("answered", "Done.")
    record = await read(done.run_id, store=store)
    shown = [thought.visible_tools for thought in thoughts(record)]
    assert "book_bicycle" in shown[0]
    assert "count_ferry" in shown[1]
    assert any("lighthouse" in name for name in shown[2])
    flat = [name for names in shown for name in names]
    assert record.visible_tools == flat
    assert len(flat) == len(set(flat)) < 20
    for before, after in pairwise(model.sent):
        assert [plain(part) for part in after.head] == [plain(part) for part in before.head]
        parts = [plain(part) for part in before.parts]
        assert [plain(part) for part in after.parts][: len(parts)] == parts
        declared = [tool.name for tool in before.tools]
        assert [tool.name for tool in after.tools][: len(declared)] == declared
    if codec == "native":
        assert [tool.name for tool in model.sent[-1].tools] == ["lookup", "finish", *flat]
    else:
        for prompt, names in zip(model.sent, shown, strict=True):
            new = prompt.parts[-1].text if names else ""
            assert all(f"- {name}" in new for name in names)
            heads = "\n".join(part.text for part in prompt.head)
            assert "lookup" in heads
            assert not any(name in heads for name in flat)


@pytest.mark.parametrize("codec", CODECS)
async def test_cut_anywhere_it_asks_the_same_and_no_index_is_asked_for_what_was_shown(
    codec: str, anyio_backend: str
) -> None:
    who, model = agent(codec)
    store = MemoryStore()
    await run(who, "Book me a bicycle.", store=store, run_id="run")
    lines, record = await store.read("run"), await read("run", store=store)
    blobs = {record.started.spec.prompt_blob: b""}
    blobs = {digest: await store.blob(digest) for digest in blobs}
    asked = [told(prompt) for prompt in model.sent]
    for cut in range(1, len(lines)):
        model.sent.clear()
        begun = await copy(lines[:cut], blobs)
        before = len((await read("run", store=begun)).steps)
        await resume(who, "run", store=begun)
        assert [told(prompt) for prompt in model.sent] == asked[before:]
        assert thoughts(await read("run", store=begun)) == thoughts(record)
    for number, prompt in enumerate(asked, start=1):
        again = await prompt_of("run", number, store=store)
        assert (told(again.prompt), again.differs) == (prompt, ())


@pytest.mark.parametrize("codec", CODECS)
async def test_a_replay_and_a_fork_take_what_was_shown_from_the_record(codec: str) -> None:
    who, model = agent(codec, context=Context(retrieval=Moody()))
    store = MemoryStore()
    await run(who, "Book me a bicycle.", store=store, run_id="run")
    record = await read("run", store=store)
    asked = [told(prompt) for prompt in model.sent]
    again = await replay(who.replace(context=Context(retrieval=Broken())), "run", store=store)
    assert again.trajectory.visible_tools == record.visible_tools
    assert len(record.visible_tools) == 12
    for at in range(len(record.steps)):
        model.sent.clear()
        await fork(who, "run", at=at, store=store, new_id=f"fork-{at}")
        fresh = await read(f"fork-{at}", store=store)
        kept = [thought.visible_tools for thought in thoughts(record)[:at]]
        assert [thought.visible_tools for thought in thoughts(fresh)[:at]] == kept
        for number in range(1, len(fresh.steps) + 1):
            prompt = await prompt_of(f"fork-{at}", number, store=store)
            sent = asked[number - 1] if number <= at else told(model.sent[number - 1 - at])
            assert (told(prompt.prompt), prompt.differs) == (sent, ())
        await replay(who.replace(context=Context(retrieval=Broken())), f"fork-{at}", store=store)


@given(
    texts=some.lists(
        some.lists(some.sampled_from([t.name.replace("_", " ") for t in TOOLS]), max_size=3),
        max_size=7,
    ),
    k=some.integers(1, 6),
    most=some.integers(1, 12),
)
def test_never_more_than_k_at_a_time_nor_most_in_all(
    texts: list[list[str]], k: int, most: int
) -> None:
    find = Retrieval(k=k, always=("lookup",), max_tools=most, embed="words")

    async def grow() -> None:
        trajectory = Trajectory("run")
        who = Agent(model=ScriptedModel([]), tools=[lookup], context=Context(retrieval=find))
        events: list[Any] = [Started(text_parts("What now?"), who.spec)]
        for words in texts:
            trajectory = _folded(events)
            shown = tuple(await find.find(TOOLS, trajectory))
            assert len(shown) <= k
            assert not {*shown} & {*trajectory.visible_tools}
            thought = Thought(
                Reply(), Fingerprints("", "", "", ""), text=", ".join(words), visible_tools=shown
            )
            events.append(thought)
        assert len(_folded(events).visible_tools) <= max(0, most - 1)

    anyio.run(grow)


def _folded(events: Sequence[Any]) -> Trajectory:
    from_nothing = Trajectory("run")
    for number, event in enumerate(events, start=1):
        from_nothing.add(Entry(number, 0, 1, event))
    return from_nothing


async def test_what_is_not_shown_can_be_called_and_is_judged_like_any_other() -> None:
    async def no_yachts(call: Any, trajectory: Trajectory) -> Verdict | None:
        return Verdict("deny", "no yachts") if "yacht" in call.action.name else None

    yacht, canoe, tractor = (
        next(tool for tool in TOOLS if tool.name.endswith(noun))
        for noun in ("_yacht", "_canoe", "_tractor")
    )
    script = (
        act(yacht.name, yacht="a"),
        act(canoe.name, canoe="b"),
        act(tractor.name, tractor=3),
        finish("So."),
    )
    for codec in CODECS:
        who, _ = agent(codec, script=script, guards=[no_yachts])
        store = MemoryStore()
        done = await run(who, "Book me a bicycle.", store=store)
        record = await read(done.run_id, store=store)
        assert not {yacht.name, canoe.name, tractor.name} & {*record.visible_tools}
        seen = [call.observation for call in record.calls if call.observation is not None]
        assert [one.code for one in seen] == ["denied", "", "invalid_arguments", ""]
        assert f"{canoe.name.split('_')[0]}: canoe b" in seen[1].text


async def test_a_tool_that_does_not_exist_is_looked_for() -> None:
    script = (act("decorate_the_sculpture", name="x"), finish("So."))
    who, _ = agent(script=script)
    store = MemoryStore()
    done = await run(who, "Book me a bicycle.", store=store)
    record = await read(done.run_id, store=store)
    (wrong, _) = record.calls
    assert isinstance(wrong.observation, Observation)
    assert wrong.observation.code == "unknown_tool"
    assert "finish" in wrong.observation.text or "_sculpture" in wrong.observation.text
    assert any("sculpture" in name for name in thoughts(record)[1].visible_tools)


async def test_a_further_word_of_the_person_is_looked_for_too() -> None:
    who, _ = agent(script=(say("Yes."), say("Yes again.")))
    store = MemoryStore()
    done = await run(who, "Book me a bicycle.", store=store)
    await resume(who, done.run_id, say="And what of the zeppelin?", store=store)
    first, then = thoughts(await read(done.run_id, store=store))
    assert not any("zeppelin" in name for name in first.visible_tools)
    assert any("zeppelin" in name for name in then.visible_tools)


@pytest.mark.parametrize("codec", CODECS)
async def test_in_a_landing_the_same_tools_stay_declared_and_no_more_come(codec: str) -> None:
    script = (
        act("book_bicycle", thought="On to the volcano.", bicycle="red"),
        say("Enough.") if codec == "native" else finish("Enough."),
    )
    who, model = agent(codec, script=script, limits=Limits(steps=1))
    store = MemoryStore()
    done = await run(who, "Book me a bicycle.", store=store)
    assert (done.status, done.answer) == ("bound", "Enough.")
    assert thoughts(await read(done.run_id, store=store))[1].visible_tools == ()
    assert model.sent[1].tools == model.sent[0].tools


async def test_replies_may_be_held_to_what_is_shown() -> None:
    """The schema of a reply has a branch for each tool that was shown, and only for those."""
    who, model = agent("json")
    store = MemoryStore()
    done = await run(who, "Book me a bicycle.", store=store)
    shown: list[str] = []
    for prompt, thought in zip(
        model.sent, thoughts(await read(done.run_id, store=store)), strict=True
    ):
        shown += thought.visible_tools
        branches = prompt.reply_schema["anyOf"]
        names = [branch["properties"]["action"]["enum"][0] for branch in branches]
        assert names == ["lookup", *shown, "finish"]


async def test_without_a_retrieval_the_record_is_what_it_was() -> None:
    store = MemoryStore()
    who = Agent(model=ScriptedModel([act("lookup", key="a"), say("ok")]), tools=[lookup])
    done = await run(who, "?", store=store)
    bodies = [line.body for line in await store.read(done.run_id)]
    assert not any(b'"shown"' in body or b"retrieval" in body for body in bodies)
    prompt_spec = await store.blob((await read(done.run_id, store=store)).started.spec.prompt_blob)
    assert [one["name"] for one in msgspec.json.decode(prompt_spec or b"")["more"]] == [
        "read_more",
        "recall",
    ]


def test_how_tools_are_found_is_part_of_the_agent() -> None:
    who, _ = agent()
    other = who.replace(
        context=Context(retrieval=Retrieval(k=5, always=("lookup",), embed="words"))
    )
    assert changes(who.spec, other.spec) == ("parts.retrieval",)
    few = who.replace(tools=(lookup, *TOOLS[:-1]))
    assert changes(who.spec, few.spec) == (f"tools.{TOOLS[-1].name}",)
    same = who.replace(context=Context(retrieval=Retrieval(k=4, always=["lookup"], embed="words")))
    assert same.spec.fingerprint == who.spec.fingerprint


async def test_an_agent_without_the_tools_goes_on_with_the_record() -> None:
    """What was shown and is gone is no longer spoken of."""
    who, _ = agent("paper")
    store = MemoryStore()
    await run(who, "Book me a bicycle.", store=store, run_id="run")
    few, model = agent("paper", tools=(lookup, *TOOLS[-3:]), script=(*SCRIPT, finish("Still.")))
    done = await resume(few, "run", say="And now?", store=store, accept_change=True)
    assert done.answer == "Still."
    text = "\n".join(part.text for part in model.sent[-1])
    assert "- book_bicycle" not in text
    assert "Action 1: book_bicycle" in text


async def test_all_that_is_always_shown_counts_and_only_that() -> None:
    with pytest.raises(ConfigError, match=r"41 tools are shown and 40 are the most: .*retrieval"):
        Agent(model=ScriptedModel([]), tools=TOOLS[:41])
    names = [tool.name for tool in TOOLS]
    with pytest.raises(ConfigError, match="41 tools are shown"):
        Agent(
            model=ScriptedModel([]),
            tools=TOOLS,
            context=Context(retrieval=Retrieval(always=names[:41], embed="words")),
        )
    all_of_them = Agent(
        model=ScriptedModel([]), tools=TOOLS, context=Context(retrieval=Retrieval(embed="words"))
    )
    assert all_of_them.warnings == ()


def test_what_cannot_be_is_said_when_the_agent_is_made() -> None:
    with pytest.raises(ConfigError, match="there is no tool 'lokup' to be always shown"):
        agent(context=Context(retrieval=Retrieval(always=["lokup"], embed="words")))
    with pytest.raises(ConfigError, match="there is no tool 'open_page' to be always shown"):
        agent(
            context=Context(retrieval=Retrieval(always=["open_page"], embed="words")),
            tools=[open_page],
        )
    silent: Any = _Silent()
    with pytest.raises(ConfigError, match="paper/2 cannot describe tools in the midst of a run"):
        Agent(
            model=ScriptedModel([]),
            tools=TOOLS,
            codec=silent,
            context=Context(retrieval=Retrieval(embed="words")),
        )


class _Silent:
    """A text format of before there was retrieval."""

    def __getattr__(self, name: str) -> Any:
        if name == "describe":
            raise AttributeError(name)
        return getattr(Paper(), name)


async def test_a_finder_that_makes_up_names_is_told() -> None:
    @dataclass
    class Dreamer(Moody):
        async def find(self, tools: Sequence[ToolSpec], trajectory: Trajectory) -> Sequence[str]:
            return ["dream"]

    who, _ = agent(context=Context(retrieval=Dreamer()))
    with pytest.raises(
        PartError, match=r"gave 'dream' .*: it must give names of tools that it was given"
    ):
        await run(who, "?", store=MemoryStore())


async def test_a_model_that_cannot_take_a_tool_says_so_before_it_is_shown() -> None:
    class Picky(ScriptedModel):
        @property
        def info(self) -> ModelInfo:
            return replace(super().info, validate=self.validate)

        def validate(self, prompt: Prompt) -> None:
            if any(tool.name == TOOLS[-1].name for tool in prompt.tools):
                raise ConfigError("that one I cannot take")

    with pytest.raises(ConfigError, match="that one I cannot take"):
        Agent(model=Picky([]), tools=TOOLS, context=Context(retrieval=Retrieval(embed="words")))


async def test_nearly_two_thousand_tools() -> None:
    tools = (lookup, *catalogue(1960))
    who, model = agent("paper", tools=tools)
    store = MemoryStore()
    done = await run(who, "Book me a bicycle.", store=store)
    assert done.answer == "Done."
    record = await read(done.run_id, store=store)
    first, second, *_ = thoughts(record)
    assert "book_bicycle" in first.visible_tools
    assert "count_ferry" in second.visible_tools
    assert max(len(part.text) for prompt in model.sent for part in prompt) < 4_000
    again = await prompt_of(done.run_id, store=store)
    assert (told(again.prompt), again.differs) == (told(model.sent[-1]), ())
