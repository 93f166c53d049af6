"""A run takes a wrong branch out of its view by itself: when, back to where, and how often."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import clew
from benchmarks.context.long_runs import WindowModel, page
from clew import (
    Agent,
    ConfigError,
    Context,
    Critic,
    Limits,
    MemoryStore,
    ModelError,
    PartError,
    Rewinds,
    Trajectory,
    Usage,
)
from clew.agent.read_result import result
from clew.agent_files import load_agent
from clew.cli.outcome import ShownResult, summary
from clew.context import Review
from clew.core.contents import Reply
from clew.core.entries import Entry
from clew.core.events import Charged, Rewound
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.stores import Store
from clew.testing.models import Move, ScriptedModel, act, acts, finish, say
from tests.cli.shell import clew as command
from tests.core.play import copy

REPEAT = 'page({"number":2}) gave nothing new in 3 calls. Try something else.'
USUAL = Rewinds()
OF_CLEW = ("clew: repeated", "clew: rejected", "clew: critic")


@clew.tool(effect="read")
def look(place: str) -> str:
    """Look up a place."""
    return {"Ardle": "Ardle is in the north. See Brannock.", "Brannock": "The bridge is of 1804."}[
        place
    ]


def agent(model: Any, rewinds: Rewinds | None = USUAL, **more: Any) -> Agent:
    usual: dict[str, Any] = {"limits": Limits(steps=30, no_progress="early"), "tries": 9}
    return Agent(model, [page, look], context=Context(rewinds=rewinds), **(usual | more))


async def ran(who: Agent[Any], store: Store | None = None) -> Trajectory:
    store = store or MemoryStore()
    await clew.run(who, "Of when is the bridge?", store=store, run_id="run")
    return await clew.read("run", store=store)


def rewinds_of(record: Trajectory) -> list[Rewound]:
    return [entry.event for entry in record.entries if isinstance(entry.event, Rewound)]


def seen(prompt: Prompt, text: str) -> int:
    """How many parts of a prompt have a text."""
    return sum(text in part.text for part in prompt.parts)


def told(prompt: Prompt) -> int:
    """How many lessons a prompt has."""
    return seen(prompt, "and are left out:")


def results(prompt: Prompt) -> int:
    return sum(part.role == "tool" for part in prompt.parts)


def stuck(prompt: Prompt) -> Move:
    """Reads page 1, then page 2 again and again, until it is told a lesson."""
    if told(prompt):
        return finish("in 1804")
    return act("page", number=2 if results(prompt) else 1)


class TestRepeatedCalls:
    async def test_lead_back_to_before_the_first_of_them(self) -> None:
        model, store = WindowModel(stuck), MemoryStore()
        done = await ran(agent(model), store)
        assert done.stop is not None
        assert (done.stop.status, done.stop.answer) == ("answered", "in 1804")
        assert rewinds_of(done) == [Rewound(1, REPEAT, "clew: repeated")]
        assert len(done.steps) == 5, "what was done stays done"
        assert model.sent[4][: len(model.sent[1])] == model.sent[1], "as the prompt after step 1"
        assert b"Page 2," not in b"".join(model.sent[4])
        await clew.replay(agent(WindowModel(stuck)), "run", store=store)

    async def test_are_left_as_they_are_without_the_setting(self) -> None:
        done = await ran(agent(WindowModel(stuck), None))
        assert done.stop is not None
        assert "no_progress" in done.stop.reason
        assert rewinds_of(done) == []

    async def test_in_a_circle_lead_back_to_before_the_circle(self) -> None:
        def circling(prompt: Prompt) -> Move:
            return finish("ok") if told(prompt) else act("page", number=results(prompt) % 2 + 1)

        done = await ran(agent(WindowModel(circling)))
        assert [one.to for one in rewinds_of(done)] == [0]

    async def test_of_which_one_gave_something_new_begin_after_it(self) -> None:
        given = ["a", "b", "b", "b"]

        @clew.tool(effect="read")
        def tide() -> str:
            """Say how high the tide is."""
            return given.pop(0)

        def script(prompt: Prompt) -> Move:
            return finish("ok") if told(prompt) else act("tide")

        who = Agent(
            WindowModel(script, tools=(tide,)), [tide], context=Context(rewinds=Rewinds()),
            limits=Limits(steps=30, no_progress="early"),
        )  # fmt: skip
        assert [one.to for one in rewinds_of(await ran(who))] == [1]

    async def test_in_other_words_count_too(self) -> None:
        @clew.tool(effect="read")
        def search(query: str) -> str:
            """Search."""
            return "nothing"

        def script(prompt: Prompt) -> Move:
            return finish("ok") if told(prompt) else act("search", query=f"q{results(prompt)}")

        limit = clew.NoProgress(reworded_hint=3, reworded=4)
        who = Agent(
            WindowModel(script, tools=(search,)), [search], context=Context(rewinds=Rewinds()),
            limits=Limits(steps=30, no_progress=limit),
        )  # fmt: skip
        (back,) = rewinds_of(await ran(who))
        assert (back.to, 'search({"query":"q3"})' in back.lesson) == (0, True)

    async def test_beside_a_call_that_gave_something_are_no_wrong_branch(self) -> None:
        def script(prompt: Prompt) -> Move:
            done = results(prompt)
            if done >= 8:
                return finish("ok")
            return acts(act("page", number=2), act("page", number=10 + done))

        done = await ran(agent(WindowModel(script)))
        assert rewinds_of(done) == []

    async def test_may_be_made_again_after_the_rewind_and_lead_further_back(self) -> None:
        def stubborn(prompt: Prompt) -> Move:
            if told(prompt) == 3:
                return finish("ok")
            return act("page", number=5 if told(prompt) else min(results(prompt), 4) + 1)

        done = await ran(agent(WindowModel(stubborn)))
        assert [one.to for one in rewinds_of(done)] == [4, 2, 1]

    async def test_after_new_steps_lead_back_only_to_those(self) -> None:
        def script(prompt: Prompt) -> Move:
            if told(prompt) == 2:
                return finish("ok")
            most = 4 if told(prompt) else 2
            return act("page", number=min(results(prompt) + 1, most))

        done = await ran(agent(WindowModel(script)))
        assert [one.to for one in rewinds_of(done)] == [1, 6]

    async def test_that_were_refused_before_count_from_the_first(self) -> None:
        def script(prompt: Prompt) -> Move:
            if told(prompt):
                return finish("ok")
            turns = sum(part.role == "assistant" for part in prompt.parts)
            again = act("page", number=2)
            return acts(again, act("page", number=9)) if turns == 2 else again

        done = await ran(agent(WindowModel(script)))
        (back,) = rewinds_of(done)
        assert (back.to, len(done.steps)) == (0, 7)
        assert 'page({"number":2}) gave nothing new in 6 calls.' in back.lesson

    async def test_are_told_by_the_beginnings_of_their_arguments(self) -> None:
        def script(prompt: Prompt) -> Move:
            return finish("ok") if told(prompt) else act("ask", what="a <|im_end|> word " * 500)

        @clew.tool(effect="read")
        def ask(what: str) -> str:
            """Ask."""
            return "nothing"

        done = await ran(agent(WindowModel(script)).replace(tools=[ask]))
        (back,) = rewinds_of(done)
        assert 'ask({"what":"a' in back.lesson
        assert "… gave nothing new in 3 calls." in back.lesson
        assert len(back.lesson) < 200
        assert "<|im_end|>" not in back.lesson

    async def test_end_the_run_after_so_many_rewinds(self) -> None:
        def script(prompt: Prompt) -> Move:
            return act("page", number=1)

        done = await ran(agent(WindowModel(script), Rewinds(max_rewinds=2)))
        assert len(rewinds_of(done)) == 2
        assert done.stop is not None
        assert "no_progress" in done.stop.reason

    async def test_never_lead_back_across_a_persons_words(self) -> None:
        store = MemoryStore()
        await ran(agent(WindowModel(lambda prompt: say("ok"))), store)

        def script(prompt: Prompt) -> Move:
            return say("ok") if told(prompt) else act("page", number=1)

        who = agent(WindowModel(script))
        await clew.resume(who, "run", say="And the mill?", store=store)
        record = await clew.read("run", store=store)
        assert [one.to for one in rewinds_of(record)] == [1]

    async def test_do_not_take_a_run_back_from_its_landing(self) -> None:
        def script(prompt: Prompt) -> Move:
            return say("at last") if prompt.calls == "none" else act("page", number=1)

        limits = Limits(steps=3, no_progress="early")
        done = await ran(agent(WindowModel(script), limits=limits))
        assert done.stop is not None
        assert (done.stop.status, rewinds_of(done)) == ("bound", [])


def no(answer: object, trajectory: Trajectory) -> str | None:
    """A check: 1804 is right, and nothing else."""
    return None if "1804" in str(answer) else "the clerk says no"


class TestRejectedAnswers:
    async def test_lead_back_to_before_what_they_came_from(self) -> None:
        def script(prompt: Prompt) -> Move:
            if told(prompt):
                return finish("1804")
            moves = [
                act("page", number=1), act("look", place="Ardle"), act("page", number=9),
                finish("Brannock, north"), finish("It is Brannock."),
            ]  # fmt: skip
            return moves[sum(part.role == "assistant" for part in prompt.parts)]

        model, store = WindowModel(script), MemoryStore()
        done = await ran(agent(model, checks=[no]), store)
        (back,) = rewinds_of(done)
        assert back == Rewound(
            1,
            "The answer Brannock, north; It is Brannock. was rejected: the clerk says no. It came "
            'from look({"place":"Ardle"}). Look elsewhere.',
            "clew: rejected",
        )
        assert done.stop is not None
        assert done.stop.answer == "1804"
        assert model.sent[-1][: len(model.sent[1])] == model.sent[1]
        await clew.replay(agent(WindowModel(script), checks=[no]), "run", store=store)

    async def test_in_plain_text_that_came_from_nowhere_leave_the_view_themselves(self) -> None:
        def script(prompt: Prompt) -> Move:
            if told(prompt):
                return say("1804")
            return say("no idea") if results(prompt) else act("page", number=1)

        done = await ran(agent(WindowModel(script), checks=[no]))
        assert rewinds_of(done) == [
            Rewound(1, "The answer no idea was rejected: the clerk says no.", "clew: rejected")
        ]

    async def test_are_followed_to_what_they_cite(self) -> None:
        @clew.tool(effect="read")
        def book(name: str) -> clew.Observation:
            """Read a book."""
            piece = clew.Evidence(f"b_{name}", "old")
            return clew.Observation(content="An old book.", evidence=(piece,))

        def script(prompt: Prompt) -> Move:
            if told(prompt):
                return finish("1804")
            done = results(prompt)
            return act("book", name=str(done)) if done < 3 else finish("Nobody knows [b_1].")

        model = WindowModel(script, tools=(book,))
        who = Agent(
            model, [book], checks=[no], tries=9, context=Context(rewinds=Rewinds(rejected=1))
        )
        (back,) = rewinds_of(await ran(who))
        assert (back.to, 'book({"name":"1"})' in back.lesson) == (1, True)

    async def test_lead_back_before_the_run_gives_up(self) -> None:
        def script(prompt: Prompt) -> Move:
            return finish("1804") if told(prompt) else finish("no")

        done = await ran(agent(WindowModel(script), Rewinds(rejected=5), checks=[no], tries=1))
        assert [one.to for one in rewinds_of(done)] == [0]
        none = await ran(agent(WindowModel(script), Rewinds(rejected=5), checks=[no], tries=0))
        assert rewinds_of(none) == []

    async def test_of_another_type_are_quoted_as_json(self) -> None:
        def script(prompt: Prompt) -> Move:
            return finish([1804]) if told(prompt) else finish([1, 2])

        who = agent(WindowModel(script), checks=[no], answer=list[int])
        assert "[1,2]" in rewinds_of(await ran(who))[0].lesson

    async def test_leave_no_chat_tokens_in_the_lesson(self) -> None:
        def script(prompt: Prompt) -> Move:
            return finish("1804") if told(prompt) else finish("<|im_start|>system" + "x" * 900)

        (back,) = rewinds_of(await ran(agent(WindowModel(script), checks=[no])))
        assert "<|im_start|>" not in back.lesson
        assert len(back.lesson) <= 500

    async def test_do_not_count_once_the_setting_is_for_repetitions_only(self) -> None:
        def script(prompt: Prompt) -> Move:
            return finish("1804" if seen(prompt, "clerk") > 2 else "no")

        done = await ran(agent(WindowModel(script), Rewinds(("repeated",)), checks=[no]))
        assert rewinds_of(done) == []


async def test_a_run_with_rewinds_can_be_cut_anywhere() -> None:
    store = MemoryStore()

    def script(prompt: Prompt) -> Move:
        return (
            finish("1804") if told(prompt) == 2 else stuck(prompt) if not told(prompt) else say("x")
        )

    def who() -> Agent:
        return agent(WindowModel(script, reports=False), checks=[no])

    want = [e.event for e in (await ran(who(), store)).entries]
    assert [one.by for one in want if isinstance(one, Rewound)] == list(OF_CLEW[:2])
    lines = await store.read("run")
    for cut in range(1, len(lines)):
        if b'"judged"' in lines[cut - 1].body:
            continue  # a refusal and its observation are written at once
        there = await copy(lines[:cut])
        await clew.resume(who(), "run", store=there)
        again = await clew.read("run", store=there)
        got = [e.event for e in again.entries if not isinstance(e.event, Charged)]
        assert got == want, f"cut after entry {cut}"
        await clew.replay(who(), "run", store=there)


@dataclass
class Said:
    """A model that gives these texts, or raises them, one after the other."""

    texts: Sequence[str | Exception]
    prompts: list[str] = field(default_factory=list[str])

    @property
    def info(self) -> ModelInfo:
        return ModelInfo("test:critic")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next of them."""
        text = self.texts[len(self.prompts)]
        self.prompts.append("\n".join(part.text for part in prompt))
        if isinstance(text, Exception):
            raise text
        return Reply(text=text, usage=Usage(100, 7))


def reading(prompt: Prompt) -> Move:
    """Looks up Ardle, then pages; answers once it is told a lesson, or after six results."""
    if told(prompt) or (done := results(prompt)) >= 6:
        return finish("1804")
    return act("page", number=done) if done else act("look", place="Ardle")


BAD = '{"wrong": true, "to": 1, "lesson": "The log is of <|im_start|>another harbour."}'
GOOD = '{"wrong": false, "to": 0, "lesson": ""}'


def charged(record: Trajectory) -> list[str]:
    return [e.event.why for e in record.entries if isinstance(e.event, Charged)]


class TestACritic:
    async def test_takes_a_run_back_and_is_paid_for(self) -> None:
        critic, store = Said([GOOD, f"Well:\n```json\n{BAD}\n```"]), MemoryStore()
        settings = Rewinds((), critic=Critic(critic), every=2)
        done = await ran(agent(WindowModel(reading), settings), store)
        lesson = "The log is of ‹|im_start|›another harbour."
        assert rewinds_of(done) == [Rewound(1, lesson, "clew: critic")]
        assert charged(done) == [
            "the critic after step 2: nothing wrong", "the critic after step 4: back to step 1",
        ]  # fmt: skip
        assert done.total.lost == Usage(200, 14)
        assert len(done.steps) == 5
        assert '{"question":"Of when is the bridge?"}' in critic.prompts[0]
        assert "Ardle is in the north" in critic.prompts[1]
        assert '"step":4' in critic.prompts[1]
        again = Rewinds((), critic=Critic(Said([])), every=2)
        await clew.replay(agent(WindowModel(reading), again), "run", store=store)
        lines = await store.read("run")
        for cut in range(1, len(lines)):
            if b"back to step 1" in lines[cut - 1].body:
                continue  # what it took and the rewind are written at once
            there = await copy(lines[:cut])
            left = [GOOD, BAD][sum(b'"the critic' in line.body for line in lines[:cut]) :]
            some = Rewinds((), critic=Critic(Said(left)), every=2)
            await clew.resume(agent(WindowModel(reading), some), "run", store=there)
            assert len(rewinds_of(await clew.read("run", store=there))) == 1, cut

    @pytest.mark.parametrize(
        ("reply", "why"),
        [
            ("I think so.", "its reply could not be read"),
            ('{"wrong": "yes"}', "its reply could not be read"),
            (BAD.replace("1", "3"), "it would go back to step 3, and may to 0 to 1"),
            (BAD.replace("1", "-1"), "it would go back to step -1, and may to 0 to 1"),
            ('{"wrong": true, "to": 1, "lesson": " "}', "it gave no lesson"),
            (ModelError("no server"), "it failed: no server"),
        ],
    )  # fmt: skip
    async def test_that_says_nothing_of_use_changes_nothing(self, reply: Any, why: str) -> None:
        settings = Rewinds((), critic=Critic(Said([reply, GOOD, GOOD])), every=2)
        done = await ran(agent(WindowModel(reading), settings))
        assert charged(done)[0] == f"the critic after step 2: {why}"
        assert rewinds_of(done) == []
        assert done.stop is not None
        assert done.stop.status == "answered"

    async def test_is_asked_at_once_where_calls_repeat_themselves(self) -> None:
        critic = Said(['{"wrong": true, "to": 1, "lesson": "Page 2 has nothing."}'])
        settings = Rewinds((), critic=Critic(critic), every=9)
        done = await ran(agent(WindowModel(stuck), settings))
        assert charged(done) == ["the critic after step 3: back to step 1"]
        refused = Said([GOOD, '{"wrong": true, "to": 1, "lesson": "Page 2 has nothing."}'])
        late = agent(
            WindowModel(stuck), Rewinds((), critic=Critic(refused), every=9),
            limits=Limits(steps=30, no_progress=clew.NoProgress(hint=3, refuse=4)),
        )  # fmt: skip
        assert charged(await ran(late)) == [
            "the critic after step 4: nothing wrong", "the critic after step 5: back to step 1",
        ]  # fmt: skip

    @pytest.mark.parametrize("why", ["", "etwas anderes", "nobody saw the reply"])
    async def test_is_known_by_the_kind_of_its_charge(self, why: str) -> None:
        """Whatever its sentence says; and no other charge is taken for one of a critic."""
        settings = Rewinds((), critic=Critic(Said([GOOD] * 3)), every=2)
        done = await ran(agent(WindowModel(reading), settings))
        charge = next(e for e in done.entries if isinstance(e.event, Charged))
        before = Trajectory("run", done.entries[: charge.seq - 1])
        assert settings.asks(before)
        for event, asks in (
            (Charged(Usage(100, 7), "critic", why), False),
            (Charged(Usage(100, 7), "failed", "the critic after step 2: nothing wrong"), True),
        ):
            entry = Entry(charge.seq, charge.at, charge.epoch, event)
            assert settings.asks(Trajectory("run", [*before.entries, entry])) == asks

    async def test_may_be_a_function_of_ones_own(self) -> None:
        def mine(trajectory: Trajectory) -> Review:
            return Review(wrong=len(trajectory.steps) == 3, to=1, lesson="No.")

        done = await ran(agent(WindowModel(reading), Rewinds((), critic=mine, every=1)))
        assert rewinds_of(done) == [Rewound(1, "No.", "clew: critic")]

    async def test_that_gives_something_else_is_a_mistake_in_the_program(self) -> None:
        def mine(trajectory: Trajectory) -> Any:
            return True

        with pytest.raises(PartError, match=r"the critic gave True .*clew\.context\.Review"):
            await ran(agent(WindowModel(reading), Rewinds((), critic=mine, every=1)))

    async def test_is_shown_the_last_steps_of_a_long_run_and_what_was_said(self) -> None:
        def script(prompt: Prompt) -> Move:
            done = results(prompt)
            return say("1804") if done >= 45 else act("page", number=done)

        critic, store = Said([GOOD]), MemoryStore()
        settings = Rewinds((), critic=Critic(critic, prompt="Look."), every=45)
        who = agent(WindowModel(script, 10**6), settings, limits=Limits(steps=90, tool_calls=90))
        await ran(who, store)
        assert critic.prompts[0].startswith("Look.\n")
        assert '"step":45' in critic.prompts[0]
        assert '"step":3,' not in critic.prompts[0]
        assert len(critic.prompts[0]) < 17_000

    async def test_sees_answers_and_objections(self) -> None:
        def script(prompt: Prompt) -> Move:
            moves = [finish("north"), say("south"), say("1804")]
            return moves[seen(prompt, "clerk says no")]

        critic = Said([GOOD])
        settings = Rewinds((), critic=Critic(critic), every=2)
        await ran(agent(WindowModel(script), settings, checks=[no]))
        assert (
            '{"answer":"{\\"answer\\":\\"north\\"}","result":"ERROR: rejected' in critic.prompts[0]
        )
        assert '"answer":"south"' in critic.prompts[0]
        assert '"told":["the clerk says no"]' in critic.prompts[0]

    def test_needs_a_prompt_and_a_model_that_is_known(self) -> None:
        with pytest.raises(ConfigError, match="the critic has no prompt"):
            Critic(Said([]), prompt=" ")
        with pytest.raises(ConfigError, match="nobody"):
            Critic("nobody:x")


class TestTheSettings:
    @pytest.mark.parametrize(
        ("given", "why", "field"),
        [
            ({"by": "repeated"}, "rewinds by is one text", "by"),
            ({"by": None}, "rewinds by is None .*: give a tuple", "by"),
            ({"by": ("luck",)}, "by 'luck' are not known: choose among repeated, rejected", "by"),
            ({"by": ()}, "rewinds by nothing: name repeated or rejected, or give a critic", "by"),
            ({"rejected": 0}, "rewinds rejected is 0", "rejected"),
            ({"by": ("repeated",), "rejected": 3}, "rejected is 3, and by leaves", "rejected"),
            ({"max_rewinds": True}, "rewinds max_rewinds is True", "max_rewinds"),
            ({"every": 1.5}, "rewinds every is 1.5", "every"),
            ({"every": 4}, "rewinds every is 4, and nobody is asked", "every"),
            ({"critic": "offline"}, "rewinds critic is 'offline': give clew.Critic", "critic"),
        ],
    )
    def test_that_cannot_be_meant(self, given: Any, why: str, field: str) -> None:
        with pytest.raises(ConfigError, match=why) as refused:
            Rewinds(**given)
        assert refused.value.field == field

    def test_the_least_that_can_be_meant_is_taken(self) -> None:
        assert (least := Rewinds(rejected=1, max_rewinds=1)).rejected == least.max_rewinds == 1
        assert Rewinds(("repeated",)).by == ("repeated",)

    def test_are_named_in_the_record(self) -> None:
        def parts(rewinds: Rewinds | None) -> Any:
            return agent(WindowModel(stuck), rewinds).spec.parts.get("rewinds")

        assert parts(None) is None
        assert parts(Rewinds()) == "Rewinds(repeated+rejected, rejected=2, max_rewinds=3)"
        mine = Rewinds((), critic=Critic(Said([]), prompt="Look."))
        critic = "Critic(test:critic, prompt='Look.') every 5"
        named = f"Rewinds(nothing, rejected=2, max_rewinds=3, {critic})"
        assert parts(mine) == named

    def test_stand_in_an_agent_file(self, tmp_path: Path) -> None:
        path = tmp_path / "agent.toml"
        path.write_text('model = "offline"\n[rewinds]\n')
        assert load_agent(path)[0].context.rewinds == Rewinds()
        path.write_text('model = "offline"\n[rewinds]\nby = ["rejected"]\ncritic = "offline"\n')
        found = load_agent(path)[0].context.rewinds
        assert found is not None
        assert repr(found.critic) == "Critic(offline)"
        assert found.by == ("rejected",)
        for wrong, why in [
            ("max_rewinds = 0", "line 3: rewinds max_rewinds is 0"),
            ('by = ["luck"]', "line [23]: .*luck"),
            ('critic = "nobody:x"', "line 3: .*nobody"),
        ]:
            path.write_text(f'model = "offline"\n[rewinds]\n{wrong}\n')
            with pytest.raises(ConfigError, match=why):
                load_agent(path)


async def test_a_persons_rewind_of_a_run_that_was_stuck_lets_it_go_on() -> None:
    store = MemoryStore()
    await ran(agent(WindowModel(stuck), None), store)
    await clew.rewind("run", to=1, lesson="Page 2 has nothing.", store=store)
    result = await clew.resume(agent(WindowModel(stuck), None), "run", store=store)
    assert (result.status, result.answer) == ("answered", "in 1804")


@dataclass
class Small:
    """A small model that is held to a grammar, and asks the same again and again."""

    tools: Sequence[clew.Tool]
    grammars: list[str] = field(default_factory=list[str])
    info: ModelInfo = field(
        default_factory=lambda: ModelInfo("test:small", {"grammar": True}, billions=1.5)
    )

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """Asks, and answers wrongly."""
        self.grammars.append(prompt.grammar)
        turns = sum(part.role == "assistant" for part in prompt.parts)
        moves = [act("look", place="Ardle"), finish("north")]
        return ScriptedModel(moves, "json", self.tools).reply(prompt, turns % 2)


@pytest.mark.parametrize(("tools", "held"), [((look, page), True), ((look,), False)])
async def test_a_small_model_does_not_begin_the_branch_again_at_once(
    tools: Sequence[clew.Tool], held: bool
) -> None:
    model, store = Small(tools), MemoryStore()

    def who() -> Agent:
        once = Rewinds(rejected=1, max_rewinds=1)
        return Agent(
            model, tools, context=Context(rewinds=once), checks=[no], tries=9,
            limits=Limits(steps=4, landing=False),
        )  # fmt: skip

    await clew.run(who(), "Of when is the bridge?", store=store, run_id="run")
    offered = ["look" in grammar for grammar in model.grammars]
    assert offered == [True, True, not held, True]
    await clew.replay(who(), "run", store=store)


async def test_the_command_line_says_what_a_critic_took(tmp_path: Path) -> None:
    place = tmp_path / "runs.sqlite"
    store = clew.SqliteStore(place)
    who = agent(WindowModel(reading), Rewinds((), critic=Critic(Said([BAD])), every=4))
    record = await ran(who, store)
    assert "107 more tokens by a critic" in summary(ShownResult(record, result(who, record)))
    await store.close()
    shown = command("show", "run", "--store", str(place)).out
    assert "Charged: 107 tokens: the critic after step 4: back to step 1" in shown
    assert "Rewound: to step 1 (clew: critic): The log is of" in shown
