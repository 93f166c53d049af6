"""What is said of a call, an answer or words before anything happens: who is asked, in order."""

from typing import Any

import pytest

from clew import Agent, Limits, PartError, Verdict
from clew.core.actions import Action
from clew.core.codes import FINISH
from clew.core.contents import Observation, RawCall, Reply, Usage, text_parts
from clew.core.events import (
    Attempt,
    Cancel,
    Compacted,
    Judged,
    Landing,
    Note,
    Rewound,
    Ruling,
    Stop,
    Thought,
)
from clew.core.inbox import admitted, encode_message, words_in
from clew.core.moves import next_move
from clew.core.pending import pending_here
from clew.core.policy import comes_before, judge_answer, judge_call, judge_words
from clew.core.prompts import Part
from clew.core.tools import Tool
from clew.core.trajectory import Trajectory
from clew.core.values import encode
from clew.guards import Provenance
from clew.stores.memory import MemoryStore
from clew.support.errors import ConfigError
from clew.support.prompt_parts import Parts, joined
from clew.testing.models import ScriptedModel
from tests.core.records import look, more, record, thought

READ: dict[str, Any] = {"effect": "read"}
NUMBER: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}}


async def called(args: Any, key: str) -> str:
    return ""


def tool(name: str = "look", **fields: Any) -> Tool:
    return Tool(name, "Look.", NUMBER, call=called, **(READ | fields))


def agent(*guards: Any, **fields: Any) -> Agent:
    off = Provenance("off")
    model, tools = ScriptedModel([]), fields.pop("tools", [tool()])
    return Agent(model, tools, guards=[*guards, off], **fields)


async def said(who: Agent, run: Trajectory, key: str = "1.1") -> list[Any]:
    return await judge_call(who.engine, run, run.call(key))


def asked(*args: Any, **fields: Any) -> Trajectory:
    return record(thought(look(x=1)), *args, **fields)


def gives(verdict: Verdict | None, name: str, heard: list[Any] | None = None) -> Any:
    def guard(call: Any, trajectory: Trajectory) -> Verdict | None:
        if heard is not None:
            heard.append((name, dict(call.args)))
        return verdict

    guard.__qualname__ = guard.__name__ = name
    return guard


def names(events: list[Any]) -> list[tuple[str, str]]:
    return [(one.verdict.kind, one.verdict.reason) for one in events if isinstance(one, Judged)]


class TestGuards:
    async def test_are_asked_in_order_with_what_was_amended(self) -> None:
        heard: list[Any] = []
        who = agent(
            gives(Verdict("hint", "one"), "a", heard),
            gives(Verdict("amend", "two", args={"x": 2}), "b", heard),
            gives(None, "c", heard),
            gives(Verdict("hint", "three"), "d", heard),
        )
        events = await said(who, asked())
        assert heard == [("a", {"x": 1}), ("b", {"x": 1}), ("c", {"x": 2}), ("d", {"x": 2})]
        assert names(events) == [("hint", "one"), ("amend", "two"), ("hint", "three")]

    async def test_that_deny_end_it_with_their_code(self) -> None:
        heard: list[Any] = []
        who = agent(
            gives(Verdict("hold", "wait"), "a"),
            gives(Verdict("hint", "one"), "b"),
            gives(Verdict("deny", "no", code="cap"), "c"),
            gives(None, "d", heard),
        )
        events = await said(who, asked())
        assert names(events) == [("hint", "one"), ("deny", "no")]
        assert events[-1].text == "ERROR: cap: no"
        assert events[-1].trust == "trusted"
        assert heard == []

    async def test_that_hold_do_not_keep_others_from_being_asked(self) -> None:
        heard: list[Any] = []
        who = agent(
            gives(Verdict("hold", "first"), "a"),
            gives(Verdict("hold", "second"), "b"),
            gives(Verdict("amend", "changed", args={"x": 5}), "c", heard),
        )
        *before, held = await said(who, asked())
        assert names([held]) == [("hold", "first")]
        assert held.verdict.args == {"x": 5}, "as it would be made"
        assert names(before) == [("amend", "changed")]
        own = agent(gives(Verdict("hold", "mine", args={"x": 9}), "a"))
        (held,) = await said(own, asked())
        assert held.verdict.args == {"x": 9}

    async def test_that_amend_wrongly_are_refused(self) -> None:
        heard: list[Any] = []
        who = agent(
            gives(Verdict("hint", "one"), "a"),
            gives(Verdict("amend", "bad", args={"x": "no"}), "b"),
            gives(None, "c", heard),
        )
        hint, refused = await said(who, asked())
        assert names([hint]) == [("hint", "one")]
        assert refused.code == "invalid_arguments"
        assert heard == []
        with pytest.raises(PartError, match="amends a call without saying how: give args"):
            await said(agent(gives(Verdict("amend", "x"), "a")), asked())
        with pytest.raises(PartError, match=r"the guard .*a gave a verdict that is none"):
            await said(agent(gives(Verdict("hint", 7), "a")), asked())  # type: ignore[arg-type]  # as a part may say

    def test_of_no_kind_there_is_are_refused_where_they_are_made(self) -> None:
        with pytest.raises(
            ValueError, match="there is no verdict 'nod': give hint, amend, deny or"
        ):
            Verdict("nod", "x")  # type: ignore[arg-type]  # as a part may say

    async def test_that_gave_a_hint_do_not_give_it_again(self) -> None:
        who = agent(gives(Verdict("hint", "one"), "a"), gives(Verdict("hint", "two"), "b"))
        run = asked()
        (first, _) = await said(who, run)
        assert names(await said(who, more(run, first))) == [("hint", "two")]

    async def test_of_a_call_that_a_person_allowed_are_asked_but_for_the_one_that_held_it(
        self,
    ) -> None:
        heard: list[Any] = []
        hold = Verdict("hold", "may it?")
        who = agent(gives(hold, "a", heard), gives(hold, "b", heard), gives(None, "c", heard))
        run = asked()
        (held,) = await said(who, run)
        heard.clear()
        more(run, held, Ruling("1.1", allow=True))
        assert await said(who, run) == []
        assert [name for name, _ in heard] == ["b", "c"]
        heard.clear()
        other = more(asked(), held, Ruling("1.1", allow=True, args={"x": 3}))
        assert [*held.verdict.also.values()] == ["may it?"]
        assert await said(who, other) == [], "a person knew both reasons"
        assert heard == [("a", {"x": 3}), ("b", {"x": 3}), ("c", {"x": 3})]

    async def test_of_a_tool_judge_its_calls_only(self) -> None:
        heard: list[Any] = []
        tools = [tool(guard=gives(None, "own", heard)), tool("other")]
        who = agent(gives(None, "all", heard), tools=tools)
        run = record(thought(look(x=1), Action("other", {"x": 2})))
        await said(who, run)
        await said(who, run, "1.2")
        assert [name for name, _ in heard] == ["all", "own", "all"]


class TestACall:
    async def test_that_a_person_refused_is_not_made(self) -> None:
        hold = Judged("1.1", Verdict("hold", "?"), "a")
        for why, told in (("", "a person said no"), ("too dear", "too dear")):
            (one,) = await said(agent(), asked(hold, Ruling("1.1", allow=False, why=why)))
            assert one.text == f"ERROR: denied: {told}. Do not try it in another way."
            assert one.trust == "trusted"

    async def test_of_a_tool_that_is_not_there_is_told_which_are(self) -> None:
        run = record(thought(Action("loook", {"x": 1})))
        (one,) = await said(agent(), run)
        assert (one.code, one.ok, one.outcome) == ("unknown_tool", False, "not_done")
        assert "look" in one.text

    async def test_that_could_not_be_read_is_taught(self) -> None:
        for fault, told in (("no JSON", "no JSON. The right form: "), ("why?", "why? The right ")):
            (one,) = await said(agent(), record(thought(Action("look", {}, fault=fault))))
            assert one.text.startswith(f"ERROR: invalid_arguments: {told}")
        (one,) = await said(agent(), record(thought(look(x="a"))))
        assert one.code == "invalid_arguments"
        assert "The right form" in one.text

    @pytest.mark.parametrize("chars", [50, 51])
    async def test_has_no_more_bytes_than_it_may(self, chars: int) -> None:
        size = len(encode({"x": ""}))
        given = Tool("look", "Look.", {"type": "object"}, effect="read", call=called)
        who = agent(tools=[given], limits=Limits(argument_bytes=50))
        events = await said(who, record(thought(look(x="y" * (chars - size)))))
        told = "the arguments have 51 bytes, and may have 50: give less, or in parts"
        assert [one.text for one in events] == (
            [] if chars == 50 else [f"ERROR: invalid_arguments: {told}"]
        )

    async def test_is_mended_by_its_tool_once(self) -> None:
        def repair(args: dict[str, Any]) -> tuple[dict[str, Any], str] | None:
            return ({"x": int(args["x"])}, "a number") if isinstance(args["x"], str) else None

        heard: list[Any] = []
        who = agent(gives(None, "a", heard), tools=[tool(repair=repair)])
        (mended,) = await said(who, record(thought(look(x="7"))))
        assert mended == Judged("1.1", Verdict("amend", "a number", args={"x": 7}), "look.repair")
        assert heard == [("a", {"x": 7})]
        assert await said(who, asked()) == []
        ruled = more(record(thought(look(x="7"))), Ruling("1.1", allow=True))
        (refused,) = await said(who, ruled)
        assert refused.code == "invalid_arguments", "a person's arguments stay as they are"

    @pytest.mark.parametrize("bad", [7, ("a", "b"), ({}, 7), ({},)])
    async def test_that_is_mended_wrongly_names_the_tool(self, bad: Any) -> None:
        who = agent(tools=[tool(repair=lambda args: bad)])
        with pytest.raises(PartError, match="the repair of the tool look"):
            await said(who, asked())

    async def test_is_not_begun_once_the_budget_is_spent(self) -> None:
        who = agent(limits=Limits(tokens=100))
        usage = Reply(usage=Usage(101))
        (one,) = await said(who, record(thought(look(x=1), reply=usage)))
        assert one.code == "cap"
        assert one.text.startswith(
            "ERROR: cap: nothing more is begun, for the budget is spent (tok"
        )
        finish = record(thought(Action(FINISH, {"answer": "x"}), reply=usage))
        assert await said(who, finish) == []


class TestTheSameCall:
    def run(self, *ids: str, x: tuple[int, ...] = (1, 1), together: bool = True) -> Trajectory:
        raw = tuple(RawCall(name="look", arguments="{}", id=id_) for id_ in ids)
        actions = tuple(look(x=one) for one in x)
        if together:
            return record(thought(*actions, reply=Reply(calls=raw)))
        rows: list[Any] = []
        for step, (one, action) in enumerate(zip(raw, actions, strict=True), 1):
            rows += [thought(action, reply=Reply(calls=(one,)))]
            if step < len(raw):
                rows += [Attempt(f"{step}.1", "look", "h", 1.0)]
                rows += [Observation(f"{step}.1", "seen", effect="unsafe")]
        return record(*rows)

    async def test_in_one_reply_is_made_once(self) -> None:
        (one,) = await said(agent(), self.run("abcdef", "abcdef"), "1.2")
        assert (one.code, one.ok, one.outcome) == ("same_call", True, "not_done")
        assert one.text == (
            "the provider sent this call again (the id 'abcdef' is that of 1.1): it is one call, "
            "and its result counts for both"
        )
        run = more(self.run("abcdef", "abcdef"), Observation("1.1", "seen", ok=False))
        (one,) = await said(agent(), run, "1.2")
        assert one.text.endswith("): nothing was done for it. Its result was: seen")
        assert (one.ok, one.trust) == (False, "untrusted")

    async def test_has_the_same_id_and_the_same_arguments(self) -> None:
        assert await said(agent(), self.run("abcdef", "abcdeg"), "1.2") == []
        assert await said(agent(), self.run("abcdef", "abcdef", x=(1, 2)), "1.2") == []
        assert await said(agent(), self.run("", ""), "1.2") == []
        assert await said(agent(), self.run("abcdef", "abcdef"), "1.1") == []

    async def test_in_a_later_reply_counts_for_an_effect_only(self) -> None:
        unsafe = agent(tools=[tool(effect="unsafe")])
        run = self.run("abcdefgh", "abcdefgh", together=False)
        (one,) = await said(unsafe, run, "2.1")
        assert one.text.endswith(
            "nothing was done for it; to have it made once more, ask again. Its result was: seen"
        )
        assert await said(agent(), run, "2.1") == []
        for counter in ("call_0", "0", "c0", "look", "functions.look:0", "call_0_1"):
            other = self.run(counter, counter, together=False)
            assert await said(unsafe, other, "2.1") == [], counter
        other = self.run("call_1", "call_1", together=False)
        assert len(await said(unsafe, other, "2.1")) == 1, "not its number"

    async def test_that_was_asked_for_once_more_is_another(self) -> None:
        unsafe = agent(tools=[tool(effect="unsafe")])
        run = self.run("abcdefgh", "abcdefgh", together=False)
        (same,) = await said(unsafe, run, "2.1")
        reply = Reply(calls=(RawCall(name="look", arguments="{}", id="abcdefgh"),))
        more(run, same, thought(look(x=1), reply=reply))
        assert await said(unsafe, run, "3.1") == []

    async def test_that_did_not_happen_decides_nothing(self) -> None:
        unsafe = agent(tools=[tool(effect="unsafe")])
        reply = Reply(calls=(RawCall(name="look", arguments="{}", id="abcdefgh"),))
        undone = Observation("1.1", "x", ok=False, effect="unsafe", outcome="not_done")
        run = record(thought(look(x=1), reply=reply), undone, thought(look(x=1), reply=reply))
        assert await said(unsafe, run, "2.1") == []


class TestAnAnswer:
    def test_waits_for_what_comes_before_it(self) -> None:
        finish = Action(FINISH, {"answer": "x"})
        run = record(thought(look(), Action("ask"), finish))
        assert comes_before(run.step) is None
        more(run, Observation("1.1", "x", ok=False), Observation("1.2", "x", ok=False))
        assert comes_before(run.step) == (
            "sibling_failed", "look, ask failed in this step: look at that, then finish",
        )  # fmt: skip
        more(run, Note(text_parts("stop")))
        assert comes_before(run.step) == (
            "interrupted", "a person spoke meanwhile: heed that, then finish",
        )  # fmt: skip
        alone = record(thought(finish), Observation("1.1", "x", ok=False))
        assert comes_before(alone.step) is None

    async def test_is_checked_in_order(self) -> None:
        heard: list[Any] = []

        def check(answer: Any, trajectory: Trajectory) -> str | None:
            heard.append(answer)
            return None if answer != "bad" else "it is bad"

        def second(answer: Any, trajectory: Trajectory) -> str | None:
            heard.append(f"2 {answer}")
            return None

        who = agent(checks=[check, second])
        assert await judge_answer(who.engine, record(), "good") is None
        assert await judge_answer(who.engine, record(), "bad") == "it is bad"
        assert heard == ["good", "2 good", "bad"]
        typed = agent(answer=int)
        assert await judge_answer(typed.engine, record(), 7) is None
        assert await judge_answer(typed.engine, record(), "x") is not None


class TestWords:
    async def test_are_shown_to_each_screen_in_order(self) -> None:
        heard: list[str] = []

        def screen(name: str, verdict: Verdict | None) -> Any:
            def ask(text: str) -> Verdict | None:
                heard.append(f"{name} {text}")
                return verdict

            ask.__qualname__ = ask.__name__ = name
            return ask

        hint, deny = Verdict("hint", "odd"), Verdict("deny", "rude")
        hold, second = Verdict("hold", "hm"), Verdict("hold", "hm too")
        who = agent(screens=[screen("a", hint), screen("b", None), screen("c", deny)])
        run = record(Note(text_parts("More")), goal="First")
        events: list[Any] = await judge_words(who.engine, run)
        assert heard == ["a First\n\nMore", "b First\n\nMore", "c First\n\nMore"]
        assert events == [
            Judged("0.0", hint, events[0].by), Judged("0.0", deny, events[1].by),
            Stop("refused", "rude"),
        ]  # fmt: skip
        holds = agent(screens=[screen("a", hold), screen("b", second), screen("c", hint)])
        events = [*await judge_words(holds.engine, record())]
        assert [type(one).__name__ for one in events] == ["Judged", "Judged", "Stop"]
        assert names(events) == [("hint", "odd"), ("hold", "hm")]
        assert events[2] == Stop("held", "waiting for a ruling on 0.0")
        waiting = record(*events)
        waiting.stop = None
        assert await judge_words(holds.engine, waiting) == [events[2]]
        for why, told in (("", "a person said no"), ("never", "never")):
            ruled = record(events[1], Ruling("0.0", allow=False, why=why))
            assert await judge_words(holds.engine, ruled) == [Stop("refused", told)]
        changes = agent(screens=[screen("a", Verdict("amend", "x", args={}))])
        with pytest.raises(PartError, match="would change a person's words"):
            await judge_words(changes.engine, record())


def rejected(text: str) -> list[Any]:
    return [thought(answer=text), Note(text_parts("no"), source="check")]


class TestTheNextMove:
    @pytest.mark.parametrize(
        ("events", "kind"),
        [
            ((), "think"),
            ((Stop("answered"), Cancel("x")), "done"),
            ((thought(look(x=1)), Cancel("enough")), "interrupt"),
            ((thought(look(x=1)),), "act"),
            ((thought(look(x=1)), Observation("1.1")), "think"),
            ((thought(answer="x"),), "conclude"),
            ((thought(Action(FINISH, {"answer": "x"})),), "conclude"),
            ((Landing("steps"), thought()), "give_up"),
            ((Landing("steps"),), "think"),
            ((thought(), thought()), "land"),
            ((*rejected("a"), *rejected("b")), "give_up"),
            (rejected("a"), "think"),
        ],
    )
    def test_follows_from_the_record(self, events: Any, kind: str) -> None:
        who = agent(limits=Limits(steps=2), tries=1)
        move = next_move(who.engine, record(*events))
        assert move.kind == kind
        assert move.why == ("enough" if kind == "interrupt" else "")
        assert (move.tripped is not None) == (kind == "land")

    def test_is_a_screen_once(self) -> None:
        who = agent(screens=[lambda text: None])
        assert next_move(who.engine, record()).kind == "screen"
        assert next_move(who.engine, record(), screened=True).kind == "think"
        assert next_move(who.engine, record(thought())).kind == "think"
        hold = Judged("0.0", Verdict("hold", "?"), "s")
        for events, kind in (
            ((hold,), "screen"),
            ((hold, Ruling("0.0", allow=False)), "screen"),
            ((hold, Ruling("0.0", allow=True)), "think"),
        ):
            assert next_move(who.engine, record(*events)).kind == kind

    def test_ends_by_a_bound_of_ones_own(self) -> None:
        for said, tripped in (
            ("mine: why: so", ("own", "mine", "why: so")),
            ("mine", ("own", "mine", "")),
        ):
            who = agent(bounds=[lambda trajectory, said=said: said])
            move = next_move(who.engine, record())
            assert (move.kind, move.tripped) == ("land", tripped)
        broken = agent(bounds=[lambda trajectory: 1 / 0])
        with pytest.raises(PartError, match="the bound"):
            next_move(broken.engine, record())
        assert next_move(agent(bounds=[lambda trajectory: None]).engine, record()).kind == "think"


HOLD = Judged("1.1", Verdict("hold", "may it?", asks={"type": "string"}), "g")


def note(run: Trajectory, event: Any) -> str:
    got = admitted(run, event if isinstance(event, bytes) else encode(event))
    assert isinstance(got, Note)
    assert got.source == "late"
    return got.text


class TestTheInbox:
    def test_admits_what_holds(self) -> None:
        run = asked(HOLD)
        for event in (
            Ruling("1.1", allow=True),
            Ruling("1.1", allow=True, hash=run.calls[0].question),
            Note(text_parts("hm")),
            Cancel("x"),
        ):
            assert admitted(run, encode(event)) == event

    def test_sets_aside_what_does_not(self) -> None:
        unread = "a message in the inbox could not be read and was set aside"
        assert note(asked(), b"{") == note(asked(), b"[" * 100_000) == unread
        assert (
            note(asked(), Stop("held"))
            == "a message in the inbox was no ruling, note, rewind or cancel"
        )
        aside = "a ruling on 1.1 was set aside: "
        assert note(asked(), Ruling("1.1", allow=True)) == f"{aside}it is not held"
        other = Ruling("1.1", allow=True, hash="h")
        assert note(asked(HOLD), other) == f"{aside}its arguments are others now"
        begun = asked(Attempt("1.1", "look", "h", 1.0), HOLD)
        assert note(begun, other) == f"{aside}it was begun since"

    def test_takes_what_is_said_to_a_sub_run(self) -> None:
        run = asked(Attempt("1.1", "look", "h", 1.0, child="run-1.1"))
        assert admitted(run, encode(Ruling("1.1", allow=True))) == Ruling("1.1", allow=True)
        aside = "a ruling on 1.1 was set aside: "
        changed = Ruling("1.1", allow=True, args={"x": 2})
        assert note(run, changed) == f"{aside}it was begun already, with its arguments"
        more(run, Ruling("1.1", allow=False))
        ended = "it was refused, and its sub-run is being ended"
        assert note(run, Ruling("1.1", allow=True)) == f"{aside}{ended}"

    def test_takes_a_rewind_back_to_a_step_and_adds_what_was_done(self) -> None:
        posted = Observation("2.1", "x", effect="unsafe")
        run = asked(Observation("1.1", "a"), thought(look(x=2)), posted, thought(answer="x"))
        for to, taken in ((-1, False), (0, True), (2, True), (3, False)):
            back = admitted(run, encode(Rewound(to, "no")))
            assert isinstance(back, Rewound) == taken
        for to, done in ((1, ["run:2.1"]), (2, [])):
            back = admitted(run, encode(Rewound(to, "no")))
            assert isinstance(back, Rewound)
            assert [one.key for one in back.done] == done
        told = admitted(run, encode(back := admitted(run, encode(Rewound(1, "no")))))
        assert told == back, "each once"
        aside = "a rewind was set aside: calls are open, or no step follows"
        assert note(more(run, thought(look(x=3))), Rewound(0, "no")) == aside

    async def test_passes_over_what_is_no_message(self) -> None:
        store = MemoryStore()
        await store.create("run")
        for body in (b"{", encode(Cancel("x")), b"[" * 100_000):
            await store.post("run", body)
        assert await words_in(store, "run") == [Cancel("x")]
        assert encode_message(Cancel("x")) == encode(Cancel("x"))
        with pytest.raises(ConfigError, match="Cancel cannot be kept: "):
            encode_message(Cancel(7))  # type: ignore[arg-type]  # as a program may say


def test_what_waits_is_told_with_what_it_wants() -> None:
    run = asked(HOLD)
    (one,) = pending_here(run)
    assert (one.run_id, one.call, one.tool, one.args) == ("run", "1.1", "look", {"x": 1})
    assert (one.why, one.at, one.seen) == ("may it?", 3_000, run.calls[0].question)
    assert (one.root, one.asks) == ("run", {"type": "string"})
    assert next(pending_here(run, "top")).root == "top"
    unknown = Judged("1.1", Verdict("hold", "Who knows?", code="unknown"), "in doubt")
    begun = asked(Attempt("1.1", "look", "h", 1.0), unknown)
    again = "To allow it is to make it again: look first whether it happened."
    assert next(pending_here(begun)).why == f"Who knows? {again}"
    assert next(pending_here(asked(unknown))).why == "Who knows?"


class TestPartsOfAPrompt:
    def test_grow_at_their_end_and_are_copied_elsewhere(self) -> None:
        a, b, c = (Part("user", text) for text in "abc")
        first = Parts((a,))
        second, other = first.grown((b,)), first.grown((c,))
        assert ([*first], [*second], [*other]) == ([a], [a, b], [a, c])
        assert [len(one) for one in (first, second, other, Parts())] == [1, 2, 2, 0]
        assert (first[0], first[-1], second[-1], second[:1], second[1:]) == (a, a, b, [a], [b])
        with pytest.raises(IndexError):
            _ = first[1]

    def test_are_written_once_each(self) -> None:
        seen: list[str] = []

        def written(part: Part) -> bytes:
            seen.append(part.text)
            return part.text.encode()

        a, b, c = (Part("user", text) for text in "abc")
        one = Parts((a, b))
        two = one.grown((c,))
        assert one.joined("k", written) == b"a,b"
        assert two.joined("k", written) == b"a,b,c"
        assert two.joined("k", written) == b"a,b,c"
        assert seen == ["a", "b", "c"]
        assert joined(one, "k", written) == b"a,b", "an earlier prompt, made again"
        assert two.joined("other", written) == b"a,b,c"
        assert joined((a, c), "k", written) == b"a,c"
        assert Parts().joined("k", written) == b""


def test_a_compaction_that_was_just_made_is_no_thought() -> None:
    run = record(thought(), Compacted("mask", "w", 1))
    assert isinstance(run.step.thought, Thought)
    assert next_move(agent().engine, run).kind == "think"
