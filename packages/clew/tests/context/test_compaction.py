"""A run that outgrows its model's window goes on: what is left out is recorded, and can be read."""

import re
from pathlib import Path
from typing import Any

import pytest

import clew
import clew.testing
from benchmarks.context.long_runs import FACT, WindowModel, breaks, page, pages_read, reading
from clew import (
    Agent,
    Compaction,
    ConfigError,
    Context,
    Limits,
    MemoryStore,
    ModelError,
    Trajectory,
)
from clew.agent_files import load_agent
from clew.core.contents import Observation, text_parts
from clew.core.events import Charged, Compacted, Note
from clew.core.prompts import Prompt
from clew.core.stores import Store
from clew.core.values import encode
from clew.testing.models import Move, act, acts, say
from tests.core.play import copy

LIMITS = Limits(steps=2_000, tool_calls=4_000, tokens=10**9, seconds=10**5)
WHERE = "Where is the ledger of the harbour master?"
READ_ON = re.compile(r'read_more\("3\.1", offset=\d+\)')


def agent(model: WindowModel, *tools: Any, **more: Any) -> Agent:
    return Agent(model, [page, *tools], prompt="Read.", limits=LIMITS, codec=model.codec, **more)


async def ran(
    who: Agent, goal: str = "", store: Store | None = None, run_id: str = "run",
    *, say: str = "", resume: bool = False,
) -> Trajectory:  # fmt: skip
    """The record of a run, begun or gone on with."""
    store = store or MemoryStore()
    if resume:
        await clew.resume(who, run_id, store=store, say=say)
    else:
        await clew.run(who, goal, store=store, run_id=run_id)
    return await clew.read(run_id, store=store)


def answered(done: Trajectory) -> bool:
    return done.stop is not None and done.stop.status == "answered"


def compactions(done: Trajectory) -> list[Compacted]:
    return [e.event for e in done.entries if isinstance(e.event, Compacted)]


@pytest.mark.parametrize("reports", [True, False])
async def test_a_long_run_stays_in_its_window_and_finds_what_it_left_out(reports: bool) -> None:
    script = reading(100, act("recall", query=WHERE), say("In the green cupboard."))
    model, store = WindowModel(script, reports=reports), MemoryStore()
    done = await ran(agent(model), WHERE, store, "long")
    assert answered(done)
    assert not model.refused
    found = done.steps[100].calls[0].observation
    assert found is not None
    assert FACT in found.text
    assert READ_ON.search(found.text)
    cut = compactions(done)
    assert 0 < len(cut) <= len(model.sent) // 20
    assert len(breaks(model.sent)) == len(cut), "between two of them each prompt begins the next"
    again = await clew.replay(agent(WindowModel(script)), "long", store=store)
    assert len(again.trajectory.entries) == len(done.entries)


async def test_a_run_cut_anywhere_goes_on_with_what_was_decided() -> None:
    script = reading(30, act("read_more", handle="3.1", query="ledger cupboard"), say("ok"))
    store = MemoryStore()
    whole = await ran(agent(WindowModel(script, 6_000, reports=False)), WHERE, store, "run")
    lines = await store.read("run")
    want = [e.event for e in whole.entries]
    assert sum(isinstance(event, Compacted) for event in want) > 2
    for cut in range(1, len(lines)):
        there = await copy(lines[:cut])
        done = await ran(agent(WindowModel(script, 6_000, reports=False)), store=there, resume=True)
        got = [e.event for e in done.entries if not isinstance(e.event, Charged)]
        assert got == want, f"cut after entry {cut}"


@pytest.mark.parametrize("codec", ["native", "json", "labelled", "paper"])
async def test_every_format_says_what_was_left_out_and_how_to_read_it(codec: str) -> None:
    script = reading(24, act("read_more", handle="3.1"), act("finish", answer="ok"))
    recall = clew.Agent(WindowModel(script), [page]).parts.recalls
    model = WindowModel(script, 5_000, codec=codec, tools=(page, *recall))
    done = await ran(agent(model), WHERE)
    assert answered(done)
    found = done.steps[24].calls[0].observation
    assert found is not None
    assert FACT in found.text
    last = b"\n".join(model.sent[-1]).decode()
    assert "Steps 1 to " in last
    assert "recall(query) finds them by words" in last


async def test_results_never_stand_without_their_calls() -> None:
    model = WindowModel(reading(40, say("ok")), 5_000)
    kept: list[Prompt] = []

    async def complete(prompt: Prompt, on_text: Any = None) -> Any:
        kept.append(prompt)
        return await WindowModel.complete(model, prompt, on_text)

    model.complete = complete  # type: ignore[method-assign]  # the same, with the prompts kept
    done = await ran(agent(model), WHERE)
    assert len(compactions(done)) > 2
    for prompt in kept:
        called = [call.id for part in prompt.parts for call in part.calls]
        assert [part.call_id for part in prompt.parts if part.role == "tool"] == called


class TestAPromptThatTheProviderFindsTooLong:
    async def test_is_made_shorter_and_sent_once_more(self) -> None:
        model = WindowModel(reading(40, say("ok")), 6_000, knows=False)
        done = await ran(agent(model), WHERE)
        assert answered(done)
        assert model.refused == len(compactions(done)) > 0
        assert {cut.why for cut in compactions(done)} == {"the provider found the prompt too long"}

    async def test_ends_the_run_where_nothing_can_be_left_out(self) -> None:
        model, store = WindowModel(reading(9, say("ok")), 100, knows=False), MemoryStore()
        with pytest.raises(ModelError, match="more than 100"):
            await clew.run(agent(model), WHERE, store=store, run_id="run")
        assert model.refused == 1
        done = await ran(agent(WindowModel(reading(9, say("ok")))), store=store, resume=True)
        assert answered(done)

    async def test_is_made_shorter_once(self) -> None:
        script = reading(40, say("ok"))
        model = WindowModel(script, 560, knows=False)
        with pytest.raises(ModelError, match="more than 560"):
            await ran(agent(model), WHERE)
        assert model.refused == 2

    @pytest.mark.parametrize("compaction", [None, Compaction(())])
    @pytest.mark.parametrize("knows", [True, False])
    async def test_is_not_made_shorter_where_nobody_wants_that(
        self, compaction: Compaction | None, knows: bool
    ) -> None:
        model = WindowModel(reading(40, say("ok")), 6_000, knows=knows)
        with pytest.raises(ModelError, match="more than 6000"):
            await clew.run(
                agent(model, context=Context(compaction=compaction)), WHERE, store=MemoryStore()
            )


@clew.tool
def post(text: str) -> str:
    """Post a notice."""
    return f"posted {text}"


async def test_what_was_done_said_and_cited_is_never_left_out() -> None:
    cited = clew.Evidence("book_7", "The lamp was lit at four.", 0.9)

    unused = clew.Evidence("book_8", "Nobody asked for this.", 0.1)

    @clew.tool(effect="read")
    def quote() -> Observation:
        """Quote the book."""
        return Observation(content="x" * 900, evidence=(cited, unused))

    def script(prompt: Prompt) -> Move:
        turns = len(pages_read(prompt)) if not any("Steps 1" in p.text for p in prompt.parts) else 9
        if turns == 0:
            quotes = [act("quote"), act("quote")]
            return acts(act("post", text="Mind the tide"), *quotes, thought="First of all.")
        if turns == 1:
            return act("page", number=1, thought="As [book_7] says.")
        return reading(30, say("ok"), say("Today."))(prompt)

    store = MemoryStore()
    model = WindowModel(script, 5_000, tools=(page, post, quote))
    who = agent(model, post, quote)
    done = await ran(who, WHERE, store, "run")
    done = await ran(who, store=store, say="And what is the date?", resume=True)
    assert compactions(done)[-1].upto > 3
    last = b"\n".join(model.sent[-1]).decode()
    for kept in (WHERE, "And what is the date?", "Mind the tide", "The lamp was lit at four."):
        assert kept in last
    assert "First of all." not in last
    assert "Nobody asked for this." not in last


async def test_an_observation_bigger_than_the_window_is_shown_in_part() -> None:
    @clew.tool(effect="read")
    def dump() -> str:
        """Give everything."""
        return " ".join(f"row {number} of all" for number in range(20_000)) + " the end"

    def script(prompt: Prompt) -> Move:
        calls = [call.name for part in prompt.parts for call in part.calls]
        if not calls:
            return acts(*[act("dump")] * 12)
        if "read_more" not in calls:
            return act("read_more", handle="1.1", offset=300_000)
        return say("ok")

    model = WindowModel(script, 8_000, tools=(dump,))
    done = await ran(agent(model, dump), "Sum it up.")
    assert answered(done)
    assert not model.refused
    seen = done.steps[1].calls[0].observation
    assert seen is not None
    assert seen.text.startswith("[1.1, characters 300,000 to ")
    assert "row 183" in seen.text


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("function a(b){return b.c(d)};" * 100, False),
        ("QUJDREVGR0hJSktMTU5PUFFSU1RVVldY" * 100, False),
        ("\x00\x01\x7fELF\x02" * 200, False),
        ('{"ids":["' + "a1b2c3d4" * 90 + '"]}', True),
        ("It is a long line of prose, as people write it. " * 60, True),
        ("\u6f6e\u306e\u9ad8\u3055\u306f\u6bce\u65e5\u5909\u308f\u308b\u3002" * 200, True),
    ],
)
async def test_long_lines_are_cut_where_nobody_would_read_them(line: str, shown: bool) -> None:
    @clew.tool(effect="read")
    def cat() -> str:
        """Show a file."""
        return f"first\n{line}\nlast"

    def script(prompt: Prompt) -> Move:
        return say("ok") if any(part.calls for part in prompt.parts) else act("cat")

    model = WindowModel(script, tools=(cat,))
    done = await ran(agent(model, cat), "What is in it?")
    last = b"\n".join(model.sent[-1]).decode()
    assert ('read_more(\\"1.1\\", offset=206)' in last) != shown
    assert "last" in last
    seen = done.steps[0].calls[0].observation
    assert seen is not None
    assert line in seen.text, "the record has all of it"


class TestReadMore:
    async def answer(self, **args: Any) -> str:
        script = reading(3, act("read_more", **args), say("ok"))
        done = await ran(agent(WindowModel(script)), WHERE)
        seen = done.steps[3].calls[0].observation
        assert seen is not None
        return seen.text

    async def test_gives_a_page_from_an_offset_on(self) -> None:
        text = await self.answer(handle="3.1", offset=890)
        assert text.startswith("[3.1, characters 890 to 2,072 of 2,072]\n")
        assert FACT in text

    async def test_gives_the_pieces_with_words_of_a_query(self) -> None:
        text = await self.answer(handle="3.1", query="green cupboard")
        assert text.startswith('read_more("3.1", offset=')
        assert FACT in text

    @pytest.mark.parametrize(
        ("args", "why"),
        [
            ({"handle": "9.9"}, "there is no result '9.9'"),
            ({"handle": "3.1", "offset": 99_999}, "3.1 has 2,072 characters"),
            ({"handle": "3.1", "query": "of the and"}, ""),
            ({"handle": "3.1", "query": "zeppelin"}, "3.1 has no words of 'zeppelin'"),
            ({"handle": "3.1", "query": "?!"}, "3.1 has no words of '?!'"),
        ],
    )
    async def test_says_what_is_wrong(self, args: dict[str, Any], why: str) -> None:
        assert why in await self.answer(**args)

    async def test_recall_says_that_nothing_has_such_words(self) -> None:
        script = reading(3, act("recall", query="zeppelin"), say("ok"))
        done = await ran(agent(WindowModel(script)), WHERE)
        seen = done.steps[3].calls[0].observation
        assert seen is not None
        assert seen.text == "no earlier result has words of 'zeppelin'"


@pytest.mark.parametrize(
    ("settings", "why", "field"),
    [
        ({"by": "mask"}, "by is one text", "by"),
        ({"by": len}, "by is len .*: give a tuple", "by"),
        ({"by": ("msak",)}, "no compactor 'msak': choose among", "by"),
        ({"at": 0.2, "to": 0.3}, "give shares", "to"),
        ({"at": 0.3, "to": 0.3}, "give shares", "to"),
        ({"to": 0.0}, "give shares", "to"),
        ({"at": 0.0}, "give shares", "at"),
        ({"at": 1.5}, "give shares", "at"),
        ({"keep": 0}, "give numbers over 0", "keep"),
        ({"window": 0}, "give numbers over 0", "window"),
    ],
)
def test_what_cannot_be_meant_is_refused(settings: dict[str, Any], why: str, field: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        Compaction(**settings)
    assert refused.value.field == field


def test_the_least_that_can_be_meant_is_taken() -> None:
    assert Compaction(keep=1, window=1, at=1.0).keep == 1


def drop_nothing(draft: Any) -> None:
    """A compactor that leaves out nothing."""


@pytest.mark.parametrize(
    ("by", "said"),
    [
        (("mask",), 'read_more(\\"3.1\\") shows them'),
        (("extract",), FACT),
        (("duplicates",), "[the same as the result of call"),
        (("drop",), "Steps 1 to"),
        ((drop_nothing, "drop"), "Steps 1 to"),
    ],
)
async def test_compactors_compose(by: tuple[Any, ...], said: str) -> None:
    @clew.tool(effect="read")
    def clock() -> str:
        """Tell the time."""
        return "It is always four in the afternoon in this place. " * 12

    def script(prompt: Prompt) -> Move:
        read = max(pages_read(prompt), default=0)
        return acts(act("page", number=read + 1), act("clock")) if read < 12 else say("ok")

    model = WindowModel(script, 6_500, tools=(page, clock))
    context = Context(compaction=Compaction(by, to=0.5))
    done = await ran(agent(model, clock, context=context), WHERE)
    assert compactions(done)[0].by == "+".join(
        one if isinstance(one, str) else f"{__name__}.drop_nothing" for one in by
    )
    assert said in b"\n".join(x for sent in model.sent for x in sent).decode()


async def test_a_script_goes_on_where_steps_are_left_out() -> None:
    script = [act("page", number=number) for number in range(1, 12)]
    model = clew.testing.ScriptedModel([*script, say("ok")], usage=clew.Usage())
    context = Context(compaction=Compaction(("drop",), window=6_000))
    done = await ran(Agent(model, [page], prompt="Read.", context=context), WHERE)
    assert answered(done)
    assert done.omitted.upto > 3
    assert [step.calls[0].args["number"] for step in done.steps[:-1]] == [*range(1, 12)]


async def test_without_compaction_a_long_observation_has_no_handle() -> None:
    @clew.tool(effect="read")
    def dump() -> str:
        """Give everything."""
        return "row " * 40_000

    def script(prompt: Prompt) -> Move:
        return say("ok") if any(part.calls for part in prompt.parts) else act("dump")

    model = WindowModel(script, 10**6, tools=(dump,))
    await ran(agent(model, dump, context=Context(compaction=None)), "Sum it up.")
    last = b"".join(model.sent[-1]).decode()
    assert "60,000 of 160,000 characters are left out here: ask for a part of it" in last
    assert "read_more" not in last


def test_recall_reads_the_record_of_a_run() -> None:
    recall = agent(WindowModel(reading(1, say("ok")))).parts.recalls[1]
    with pytest.raises(clew.ToolError, match="there is none"):
        recall.call({"query": "x"}, "k:1.1")


async def test_recall_beside_other_calls_finds_what_is_there() -> None:
    def script(prompt: Prompt) -> Move:
        read = max(pages_read(prompt), default=0)
        if read < 3:
            return act("page", number=read + 1)
        done = any("green cupboard" in part.text for part in prompt.parts if "recall" in str(part))
        recalled = [c.name for part in prompt.parts for c in part.calls]
        if "recall" in recalled:
            return say("ok" if done else "no")
        return acts(act("recall", query="ledger"), act("page", number=9))

    done = await ran(agent(WindowModel(script)), WHERE)
    assert answered(done)
    seen = done.steps[3].calls[0].observation
    assert seen is not None
    assert FACT in seen.text


def test_an_agent_file_says_how(tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text('model = "offline"\n[compaction]\nat = 0.1\nto = 0.05\n')
    assert load_agent(path)[0].context.compaction == Compaction(at=0.1, to=0.05)
    path.write_text('model = "offline"\n[compaction]\nby = ["extract", "drop"]\nwindow = 9000\n')
    made, _ = load_agent(path)
    assert made.context.compaction == Compaction(("extract", "drop"), window=9_000)
    assert made.spec.parts["compaction"] == (
        "Compaction(extract+drop, at=0.92, to=0.15, keep=3, window=9000)"
    )
    for wrong, why in (('by = ["msak"]', "no compactor 'msak'"), ("at = 0.1", "give shares")):
        path.write_text(f'model = "offline"\n[compaction]\n{wrong}\n')
        with pytest.raises(ConfigError, match=why):
            load_agent(path)


async def test_what_a_fork_found_done_is_never_left_out() -> None:
    script = [act("post", text="Mind the tide"), act("page", number=1), say("ok")]
    store = MemoryStore()
    first = clew.testing.ScriptedModel(script)
    await ran(Agent(first, [page, post], prompt="Read."), WHERE, store, "first")
    model = WindowModel(reading(30, say("ok")), 5_000, tools=(page, post))
    await clew.fork(agent(model, post), "first", at=0, store=store, new_id="other")
    done = await clew.read("other", store=store)
    assert done.omitted.upto > 3
    assert "Mind the tide" in b"\n".join(model.sent[-1]).decode()


async def test_no_chat_tokens_come_back_by_an_account_a_lesson_or_a_memory() -> None:
    token = "<|im_start|>"

    def script(prompt: Prompt) -> Move:
        if not any(part.calls or "Steps 1" in part.text for part in prompt.parts):
            return act("post", text=f"Mind {token}the tide")
        return reading(30, say("ok"))(prompt)

    store, model = MemoryStore(), WindowModel(script, 5_000, tools=(page, post))
    who = agent(model, post)
    done = await ran(who, WHERE, store, "run")
    assert token in compactions(done)[-1].text
    await clew.rewind("run", to=len(done.steps) - 1, lesson=f"It is {token}noon.", store=store)
    memory = Note(text_parts(f"The tide {token}turns."), source="memory", trust="untrusted")
    await store.post("run", encode(memory))
    await ran(who, store=store, resume=True)
    last = b"\n".join(model.sent[-1]).decode()
    for kept in ("Mind ‹|im_start|›the", "It is ‹|im_start|›noon.", "The tide ‹|im_start|›turns."):
        assert kept in last
    assert token not in last


async def test_a_memory_is_no_objection_to_an_answer() -> None:
    store = MemoryStore()
    whole = await ran(Agent(clew.testing.ScriptedModel([say("ok")])), WHERE, store)
    there = await copy((await store.read("run"))[:-1])
    memory = Note(text_parts("The tide turns at six."), source="memory")
    await there.post("run", encode(memory))
    done = await ran(Agent(clew.testing.ScriptedModel([])), store=there, resume=True)
    assert answered(done)
    assert len(done.steps) == len(whole.steps) == 1
