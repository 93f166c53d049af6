"""What a fold makes of each event, from hand-written records: what adds up, and what is undone."""

from collections import Counter
from typing import Any

import pytest

from clew.core.actions import Action, Done
from clew.core.contents import (
    Evidence,
    Grant,
    Observation,
    RawCall,
    Reply,
    Spending,
    Usage,
    text_parts,
)
from clew.core.entries import Entry
from clew.core.events import (
    Attempt,
    Cancel,
    Changed,
    Charged,
    Compacted,
    Forked,
    Judged,
    Landing,
    Note,
    Rewound,
    Ruling,
    Stop,
    Suspended,
    Thought,
)
from clew.core.specs import AgentSpec
from clew.core.steps import Call, Omitted, Totals, args_hash, charge, sum_of
from clew.core.trajectory import WITHHELD, Trajectory
from clew.core.verdicts import Verdict
from clew.support.errors import StoreError
from tests.core.records import SPEC, look, more, record, thought

OTHER = AgentSpec("g", "n", "c", "p")
FINISH = Action("finish", {"answer": "x"})
DONE = Done("other:1.1", "post", "h", "post()")
GRANT = Grant(5, 6, 700, 80.0, 0.5)


def attempt(key: str = "1.1", number: int = 1, **fields: Any) -> Attempt:
    return Attempt(key, "post", "h", 2.0, number, **fields)


def said(text: str = "Go on.", **fields: Any) -> Note:
    return Note(text_parts(text), **fields)


def seen(key: str = "1.1", text: str = "x", **fields: Any) -> Observation:
    return Observation(key, text, **fields)


def using(*usage: Any, **fields: Any) -> Thought:
    return thought(look(), reply=Reply(usage=Usage(*usage)), **fields)


class TestTotals:
    def test_add_up_over_thoughts_calls_charges_and_compactions(self) -> None:
        run = record(
            using(10, 1), attempt("1.1"), seen("1.1"),
            using(20, 2), attempt("2.1"), seen("2.1"), attempt("2.1", 2),
            Charged(Usage(5, 5)), Charged(Usage(7)),
            Compacted("s", "w", 1, usage=Usage(100)), Compacted("s", "w", 1, usage=Usage(200)),
            thought(Action("ask")), seen("3.1"),
        )  # fmt: skip
        for totals in (run.total, run.spent):
            assert totals.steps == 3
            assert totals.calls == Counter(look=2, ask=1)
            assert (totals.usage.input, totals.usage.output) == (330, 3)
            assert (totals.lost.input, totals.lost.output) == (12, 5)
            assert totals.tokens == 333 + 17
            assert (totals.active_ms, totals.seconds) == (13_000, 13.0)
        assert run.usage == run.total.usage

    def test_of_sub_runs_add_up(self) -> None:
        took = Spending(2, 3, Usage(10, cost=0.5), made={"post": 1, "*": 2})
        more_of_it = Spending(1, 1, Usage(5, cost=0.25), made={"post": 4})
        run = record(
            thought(look(), look()), attempt("1.1", grant=GRANT), seen("1.1", spent=took),
            attempt("1.2", grant=GRANT), seen("1.2", spent=more_of_it),
        )  # fmt: skip
        for totals in (run.total, run.spent):
            assert (totals.steps, totals.below, totals.tool_calls) == (4, 4, 6)
            assert totals.capped == Counter({"post": 5, "*": 2})
            assert (totals.usage.input, totals.cost) == (15, 0.75)
        assert run.total.spending == Spending(4, 6, Usage(15, cost=0.75))

    def test_begin_anew_where_a_person_speaks_and_the_whole_stays(self) -> None:
        run = record(using(10), attempt(), seen(), Charged(Usage(1)), said(), using(20))
        assert (run.total.steps, run.spent.steps) == (2, 1)
        assert (run.total.tokens, run.spent.tokens) == (31, 20)
        assert (run.total.calls, run.spent.calls) == (Counter(look=1), Counter())
        assert (run.total.active_ms, run.spent.active_ms) == (6_000, 1_000)

    @pytest.mark.parametrize("source", ["late", "memory", "check"])
    def test_do_not_begin_anew_for_anybody_else(self, source: Any) -> None:
        assert record(using(10), said(source=source)).spent.steps == 1

    def test_do_not_count_a_landing_a_refusal_or_finish(self) -> None:
        run = record(
            thought(look(), FINISH), seen("1.1", code="denied", ok=False), seen("1.2"),
            Landing("steps"), thought(),
        )  # fmt: skip
        assert (run.total.steps, run.total.tool_calls) == (1, 0)

    def test_count_a_call_once_however_often_it_is_tried(self) -> None:
        assert record(thought(look()), attempt(), attempt(number=2), seen()).total.tool_calls == 1
        assert record(thought(look()), seen(ok=False, code="timeout")).total.tool_calls == 1

    def test_count_time_at_work_only(self) -> None:
        run = more(record(), thought(), at=500)
        assert run.total.active_ms == 500
        assert more(run, thought(), at=9_000, epoch=2).total.active_ms == 500, "another worker"
        assert more(run, thought(), at=0, epoch=2).total.active_ms == 500
        assert more(run, Stop("held"), at=250, epoch=2).total.active_ms == 750
        assert more(run, said(), at=9_000, epoch=2).total.active_ms == 750, "after a stop"
        assert more(run, Forked("run", 1, SPEC), at=9_000, epoch=2).total.active_ms == 750
        assert more(run, thought(), at=-100, epoch=2).total.active_ms == 750, "a clock set back"

    def test_sum_of_grants_has_no_seconds(self) -> None:
        one, two = (
            Grant(1, 2, 3, 4.0, 0.5, 6, {"a": 1}),
            Grant(10, 20, 30, 40.0, None, 1, {"a": 2, "b": 1}),
        )
        assert sum_of((one, two)) == Grant(11, 22, 33, 0.0, 0.5, 0, {"a": 3, "b": 1})  # fmt: skip
        assert sum_of((one, one)).cost == 1.0

    def test_have_what_calls_took_whether_anybody_saw_it_or_not(self) -> None:
        totals = Totals()
        charge(Usage(1, 2, cost=0.25), totals)
        charge(Usage(3, 4, cost=0.5), totals, lost=True)
        charge(Usage(10), totals)
        charge(Usage(20), totals, lost=True)
        assert (totals.tokens, totals.cost) == (40, 0.75)
        assert (totals.usage, totals.lost) == (
            Usage(11, 2, min_cost=0.25), Usage(23, 4, min_cost=0.5),
        )  # fmt: skip


class TestSubRuns:
    def test_reserve_what_they_were_granted_until_they_end(self) -> None:
        run = record(thought(look(), look()), attempt("1.1", grant=GRANT, child="c"))
        assert run.reserved == sum_of((GRANT,))
        more(run, attempt("1.2", grant=GRANT))
        assert run.reserved == sum_of((GRANT, GRANT))
        more(run, seen("1.1"))
        assert run.reserved == sum_of((GRANT,))
        assert (run.calls[0].grant, run.calls[1].grant) == (None, GRANT)
        assert more(run, thought()).reserved == sum_of(())

    def test_are_known_by_their_calls(self) -> None:
        run = record(thought(look()), attempt(child="run-1.1"))
        (call,) = run.calls
        assert (call.child, call.in_doubt, call.changed) == ("run-1.1", False, True)
        assert record(thought(look())).calls[0].child == ""


class TestAnAttempt:
    def test_replaces_one_of_the_same_number(self) -> None:
        run = record(thought(look()), attempt(), attempt(task="t"), attempt(number=2))
        (call,) = run.calls
        assert call.attempts == call.begun == (attempt(task="t"), attempt(number=2))

    def test_has_a_deadline_from_its_time_on(self) -> None:
        assert record(thought(look()), attempt()).calls[0].deadline == 3_000 + 2_000
        far = record(thought(look()), Attempt("1.1", "post", "h", 1e300))
        assert far.calls[0].deadline == 3_000 + 10**15

    def test_that_a_person_allowed_again_is_no_more_once_it_is_made(self) -> None:
        run = record(thought(look()), attempt(), Ruling("1.1", allow=True))
        assert run.calls[0].again
        assert not more(run, attempt(number=2)).calls[0].again
        assert not record(thought(look()), Ruling("1.1", allow=False)).calls[0].again

    @pytest.mark.parametrize(
        ("by", "code", "begun"),
        [
            ("look.call", "invalid_arguments", 0),
            ("other", "invalid_arguments", 1),
            ("look.call", "denied", 1),
        ],
    )
    def test_that_the_tool_refused_did_nothing(self, by: str, code: Any, begun: int) -> None:
        verdict = Verdict("hold", "no", code=code)
        run = record(thought(look()), attempt(), Judged("1.1", verdict, by))
        (call,) = run.calls
        assert (len(call.begun), len(call.attempts), call.doubts) == (begun, 1, ())

    def test_of_which_nobody_knows_is_in_doubt_with_its_arguments(self) -> None:
        unknown = Judged("1.1", Verdict("hold", "?", code="unknown"), "in doubt")
        run = record(thought(look(x=1)), attempt(), unknown)
        assert run.calls[0].doubts == (({"x": 1}, attempt()),)
        more(run, Ruling("1.1", allow=True, args={"x": 2}), attempt(number=2), unknown)
        (call,) = run.calls
        assert [args for args, _ in call.doubts] == [{"x": 1}, {"x": 2}]
        assert call.remarks == [
            'look({"x":1}) was begun before, and may have happened',
            'the arguments were changed to {"x":2} by a person',
        ]
        assert more(run, seen()).calls[0].changed
        assert record(thought(look()), unknown).calls[0].doubts == ()


class TestACall:
    def test_is_called_by_its_arguments_whatever_their_order(self) -> None:
        assert args_hash("a", {"x": 1, "y": 2}) == args_hash("a", {"y": 2, "x": 1})
        different = [args_hash("a", {"x": one}) for one in (1, True, 1.0, "1")]
        assert len({*different, args_hash("b", {"x": 1})}) == 5

    def test_with_other_arguments_says_so(self) -> None:
        run = record(
            thought(look(x=1)), Judged("1.1", Verdict("amend", "two\nlines", args={"x": 2}))
        )
        (call,) = run.calls
        assert (call.args, call.hash) == ({"x": 2}, args_hash("look", {"x": 2}))
        assert call.remarks == ['the arguments were changed to {"x":2}: two lines']
        more(run, Ruling("1.1", allow=True, args={"x": 1}))
        assert (call.args, call.remarks) == ({"x": 1}, []), "the model's own again"
        same = record(thought(look(x=1)), Ruling("1.1", allow=True, args={"x": 1})).calls[0]
        assert same.revised is None
        other_type = record(thought(look(x=1)), Ruling("1.1", allow=True, args={"x": True})).calls[
            0
        ]
        assert other_type.args == {"x": True}
        assert other_type.remarks != []

    def test_of_which_a_secret_was_blotted_out_is_marked(self) -> None:
        call = Call("1.1", Action("look", {"x": "[redacted]"}, redacted=True))
        assert call.redacted
        call.revise({"x": "[redacted]"})
        assert (call.redacted, call.revised) == (False, {"x": "[redacted]"})
        call.revise({"x": "[redacted]"}, redacted=True)
        assert call.redacted

    def test_has_hints_in_order(self) -> None:
        hints = [Judged("1.1", Verdict("hint", why)) for why in ("one", "two")]
        run = record(thought(look()), *hints)
        assert run.calls[0].hints == tuple(hints)
        assert run.calls[0].remarks == ["one", "two"]
        assert run.calls[0].verdict is None
        assert run.screen_notes == []

    def test_that_is_held_waits_until_it_is_ruled_on(self) -> None:
        hold = Judged("1.1", Verdict("hold", "may it?"))
        run = record(thought(look(), look()), hold)
        assert run.held == [run.calls[0]]
        assert record(thought(look()), Judged("1.1", Verdict("amend", "x", args={}))).held == []
        assert more(run, Ruling("1.1", allow=True)).held == []
        assert more(run, hold).held == [run.calls[0]], "held again"
        assert more(run, seen()).held == []

    def test_is_another_question_once_it_was_tried_or_shows_something_else(self) -> None:
        run = record(thought(look()))
        (call,) = run.calls
        bare = call.hash
        assert call.question == bare
        more(run, Judged("1.1", Verdict("hold", "?", shows="d1")))
        assert (call.question, call.held_by_tool) == (f"{bare}@d1", True)
        more(run, attempt())
        assert (call.question, call.held_by_tool) == (f"{bare}+1@d1", False)
        more(run, attempt(number=2))
        assert call.question == f"{bare}+2@d1"
        child = record(thought(look()), attempt(child="c")).calls[0]
        assert child.question == bare, "a sub-run is not tried again"

    @pytest.mark.parametrize(
        ("fields", "changed"),
        [
            ({"effect": "unsafe"}, True),
            ({"effect": "idempotent"}, True),
            ({"effect": "read"}, False),
            ({"effect": "unsafe", "outcome": "unknown"}, True),
            ({"effect": "unsafe", "outcome": "not_done"}, False),
        ],
    )
    def test_changes_the_world_if_it_had_an_effect(self, fields: Any, changed: bool) -> None:
        run = record(thought(look(), look()), seen(**fields))
        assert run.effects == ([run.calls[0]] if changed else [])
        begun = record(thought(look()), attempt())
        assert begun.effects == begun.calls
        assert begun.calls[0].in_doubt
        assert not more(begun, seen()).calls[0].in_doubt

    def test_has_a_step_and_a_position(self) -> None:
        call = Call("12.3", look())
        assert (call.step, call.position, call.own_name) == (12, 3, "look.call")

    def test_that_is_not_there_is_told(self) -> None:
        with pytest.raises(StoreError, match=r"run run has no call '1\.1'; its calls: none"):
            record().call("1.1")
        with pytest.raises(StoreError, match=r"no call '2\.1'; its calls: 1\.1, 1\.2"):
            record(thought(look(), look())).call("2.1")


class TestSuspended:
    def test_a_call_asks_for_others_of_its_step(self) -> None:
        run = record(thought(look(x=1), look(x=2)), Suspended("1.1", (look(x=3), look(x=4))))
        step = run.step
        assert [call.key for call in step.all_calls] == ["1.1", "1.2", "1.3", "1.4"]
        assert [call.key for call in step.asked] == ["1.3", "1.4"]
        assert [call.key for call in step.pending] == ["1.2", "1.3", "1.4"]
        assert step.calls[0].waiting
        assert not step.calls[1].waiting
        more(run, seen("1.3"), seen("1.2"))
        assert [call.key for call in step.pending] == ["1.4"]
        assert step.alone
        more(run, seen("1.4"))
        assert [call.key for call in step.pending] == ["1.1"]
        more(run, Suspended("1.1", (look(x=5),)))
        assert [call.key for call in step.calls[0].asked] == ["1.3", "1.4", "1.5"]
        assert [call.key for call in step.pending] == ["1.5"]
        assert [call.key for call in run.calls] == ["1.1", "1.2", "1.3", "1.4", "1.5"]
        more(run, seen("1.5"), Suspended("1.1"))
        assert not step.calls[0].waiting

    def test_a_step_with_several_open_calls_is_not_alone(self) -> None:
        run = record(thought(look(), look(), look()))
        assert not run.step.alone
        assert not more(run, seen("1.1")).step.alone
        assert more(run, seen("1.2")).step.alone
        assert record(thought(look())).step.alone


class TestAnAnswer:
    def test_is_what_a_step_offers_first(self) -> None:
        assert record(thought(answer="yes")).step.answer == "yes"
        run = record(thought(look(), FINISH, FINISH))
        assert run.step.answer is run.calls[1]
        more(run, seen("1.2", ok=False, code="rejected"))
        assert run.step.answer is run.calls[2]
        closed = more(run, seen("1.3", ok=False, code="cap"))
        assert closed.step.answer is None
        assert record(thought(look())).step.answer is None
        assert record().step.answer is None

    def test_was_sent_back_where_a_check_or_a_person_spoke(self) -> None:
        for note in (said(source="check"), said()):
            run = record(thought(answer="yes"), note)
            assert not run.step.answered
            assert run.step.answer is None
        assert record(thought(answer="yes"), said(source="late")).step.answered
        assert record(thought(answer="")).step.answered
        assert not record(thought()).step.answered

    @pytest.mark.parametrize(
        ("status", "open_"), [("answered", False), ("bound", False), ("held", True)]
    )
    def test_is_concluded_by_a_stop(self, status: Any, open_: bool) -> None:
        for first in (thought(answer="yes"), thought(FINISH)):
            run = record(first, Stop(status))
            assert (run.step.answer is not None) == open_

    def test_that_was_accepted_still_counts(self) -> None:
        run = record(thought(FINISH), seen("1.1"))
        assert run.step.finish is run.calls[0]

    def test_is_declined_by_the_reply(self) -> None:
        assert record(thought(reply=Reply(finish="declined"))).step.declined
        assert not record(thought()).step.declined
        assert not record().step.declined

    @pytest.mark.parametrize("code", ["rejected", "invalid_arguments", "denied"])
    def test_that_was_sent_back_counts_as_a_try(self, code: Any) -> None:
        run = record(thought(FINISH), seen(text=f"ERROR: {code}: no", ok=False, code=code))
        assert run.rejected == ["no"]
        more(run, thought(answer="b"), said("nor", source="check"))
        assert run.rejected == ["no", "nor"]
        assert more(run, said()).rejected == []
        assert record(thought(FINISH), seen(ok=False, code="cap")).rejected == []
        assert record(thought(look()), seen(ok=False, code=code)).rejected == []


class TestTrust:
    def test_ends_with_what_is_untrusted(self) -> None:
        run = record(thought(look()), seen(trust="untrusted"))
        assert (run.untainted, run.trust) == (False, "trusted")
        assert more(run, thought()).trust == "untrusted"
        assert more(run, thought(look()), seen("3.1", trust="trusted")).trust == "untrusted"
        assert record(thought(look()), seen(trust="trusted"), thought()).trust == "trusted"
        assert record(thought(FINISH), seen(trust="untrusted"), thought()).untainted
        assert not record(said(trust="untrusted"), said()).untainted
        asking = record(thought(look(), look()), seen("1.2", trust="untrusted"), Suspended("1.1"))
        assert asking.trust == "untrusted"
        assert record(thought(look()), Suspended("1.1")).trust == "trusted"

    def test_follows_the_goal(self) -> None:
        for trust in ("trusted", "untrusted"):
            run = record(trust=trust)
            assert (run.trust, run.untainted) == (trust, trust == "trusted")


def test_of_evidence_the_best_score_counts_in_the_order_it_was_found() -> None:
    def piece(id_: str, score: float) -> Evidence:
        return Evidence(id_, "t", score)

    first = (piece("a", 0.5), piece("b", 0.5))
    run = record(thought(look(), look()), seen("1.1", evidence=first))
    more(run, seen("1.2", evidence=(piece("b", 0.9), piece("a", 0.4), piece("c", 0.1))))
    assert run.evidence == [piece("a", 0.5), piece("b", 0.9), piece("c", 0.1)]


class TestFaults:
    def test_are_counted_in_a_row(self) -> None:
        run = record(thought(fault="x"), thought(fault="y"))
        assert run.faults_in_row == 2
        assert more(run, thought()).faults_in_row == 0
        for event in (said(), Rewound(0, "no"), Changed(OTHER)):
            again = record(thought(fault="x"), said("n", source="check"), event)
            assert (again.faults_in_row, again.rejected) == (0, [])


class TestAStop:
    def test_stands_until_something_lets_the_run_go_on(self) -> None:
        stop = Stop("bound", "why")
        run = record(thought(), stop)
        assert run.stop == stop
        assert more(record(thought(), stop), said()).stop is None
        assert more(record(thought(), stop), Rewound(0, "no")).stop is None
        assert more(record(thought(look()), stop), Ruling("1.1", allow=True)).stop is None
        assert more(record(thought(), stop), Forked("run", 1, SPEC)).stop is None
        assert more(record(thought(), stop), Charged(Usage())).stop == stop

    @pytest.mark.parametrize(("status", "stands"), [("held", False), ("answered", True)])
    def test_of_a_held_run_is_taken_back_to_close_it(self, status: Any, stands: bool) -> None:
        run = record(thought(), Stop(status), Cancel("enough"))
        assert (run.stop is not None) == stands
        assert run.cancel == Cancel("enough")
        assert more(run, said()).cancel is None

    @pytest.mark.parametrize(
        ("status", "goes_on"),
        [
            ("declined", True), ("bound", True), ("failed", True), ("interrupted", True),
            ("answered", False), ("held", False), ("refused", False),
        ],
    )  # fmt: skip
    def test_for_want_of_an_answer_is_taken_back_by_a_change(
        self, status: Any, goes_on: bool
    ) -> None:
        late = Charged(Usage(), "time_up")
        run = record(Landing("steps"), thought(), late, Stop(status), Changed(OTHER))
        assert (run.stop is None) == goes_on
        assert (run.landing is None) == goes_on
        assert (run.late, run.cut_landing) == (not goes_on, not goes_on)
        assert (Changed(OTHER) in run.step.notices) == goes_on
        assert run.spec == OTHER

    def test_of_an_open_run_goes_on_but_not_under_an_answer(self) -> None:
        assert record(Landing("steps"), thought(), Changed(OTHER)).landing is None
        assert record(Landing("steps"), thought(answer="x"), Changed(OTHER)).landing is not None
        assert record(thought(), Changed(OTHER)).step.notices == ()

    def test_for_what_a_tool_shows_is_judged_anew_by_another_agent(self) -> None:
        hold = Verdict("hold", "?", shows="d1")
        for shows, held in (("d1", False), ("", True)):
            verdict = hold if shows else Verdict("hold", "?")
            run = record(thought(look()), Judged("1.1", verdict), Stop("held"), Changed(OTHER))
            assert (run.held != []) == held
            assert (run.stop is not None) == held


class TestALanding:
    def test_is_for_the_thought_after_it(self) -> None:
        run = record(thought(), Landing("steps", "3 of 3", "steps"))
        assert (run.landed, run.bound) == (False, "steps")
        assert run.step.notices == (Landing("steps", "3 of 3", "steps"),)
        assert more(run, thought()).landed
        assert not more(run, said()).landed
        assert (run.landing, run.bound) == (None, "")

    def test_is_cut_where_time_is_up_in_it(self) -> None:
        late = Charged(Usage(), "time_up")
        assert (record(late).late, record(late).cut_landing, record(late).bound) == (
            True, False, "seconds",
        )  # fmt: skip
        run = record(Landing("x", code="own"), late, Charged(Usage()))
        assert (run.late, run.cut_landing, run.bound) == (True, True, "own")
        assert record(thought(late=True), thought()).late
        more(run, thought(look()), Ruling("1.1", allow=True))
        assert (run.cut_landing, run.landing, run.late) == (False, None, True)
        assert not more(run, said()).late
        assert not record(Charged(Usage(), "failed")).late


class TestWords:
    def test_wait_until_a_model_has_seen_them(self) -> None:
        run = record(said("More"), goal="First")
        assert run.pending_input == ["First", "More"]
        assert more(run, thought()).pending_input == []
        assert run.words_key == "1.0"

    def test_that_were_judged_are_judged_again_with_what_follows(self) -> None:
        hold = Judged("0.0", Verdict("hold", "?"), "screen")
        run = record(hold, goal="First")
        assert run.words is not None
        assert run.words.args == {"text": "First"}
        assert run.held == [run.words]
        again = more(run, said("More"))
        assert again.words is None
        words = more(again, hold).words
        assert (words and words.args) == {"text": "First\n\nMore"}

    def test_that_are_marked_are_told_until_a_person_speaks(self) -> None:
        hints = [Judged("0.0", Verdict("hint", why), "screen") for why in ("odd", "rude")]
        run = record(*hints)
        assert run.screen_notes == ["odd", "rude"]
        assert more(run, said()).screen_notes == []

    def test_that_were_refused_are_seen_by_no_model(self) -> None:
        run = record(Stop("refused"), goal="First")
        assert (run.visible_goal, run.goal, run.pending_input) == (WITHHELD, "First", [])
        later = record(thought(), said("More"), said("kept", source="late"), Stop("refused"))
        assert later.visible_goal == "Where?"
        assert later.step.notices == (said(WITHHELD), said("kept", source="late"))


class TestOtherRuns:
    def test_tell_what_they_did(self) -> None:
        run = record(done=(DONE,))
        assert run.done_elsewhere == [DONE]
        assert run.before.notices == (Forked("", 0, SPEC, done=(DONE,)),)
        second = Done("other:2.1", "post", "h", "post()")
        more(run, said(source="late", done=(second,)))
        assert run.done_elsewhere == [DONE, second]
        assert len(run.step.notices) == 2
        third = Done("other:3.1", "post", "h", "post()")
        more(run, thought(), Rewound(0, "no", done=(third,)))
        assert run.done_elsewhere == [DONE, second, third]
        fourth = Done("other:4.1", "post", "h", "post()")
        more(run, Forked("p", 1, OTHER, done=(fourth,)))
        assert run.done_elsewhere == [DONE, second, third, fourth]
        assert record().before.notices == ()

    def test_it_was_forked_from(self) -> None:
        fork = Forked("p", 1, OTHER)
        run = record(using(10), Cancel(), fork, grant=GRANT, parent="a:1.1")
        assert (run.spec, run.forks, run.cancel, run.parent_call) == (OTHER, [fork], None, "")
        assert (run.total.steps, run.grant, run.step.notices) == (1, GRANT, ())
        given = Forked("p", 1, OTHER, call="b:2.2", grant=Grant(1, 1, 1, 1.0))
        more(run, given)
        assert (run.total, run.spent, run.grant) == (Totals(), Totals(), Grant(1, 1, 1, 1.0))
        assert (run.parent_call, run.forks) == ("b:2.2", [fork, given])

    def test_it_serves(self) -> None:
        assert record(parent="a:1.1", grant=GRANT).parent_call == "a:1.1"
        assert record(parent="a:1.1").parent_call == ""


class TestIds:
    def test_of_a_provider_name_calls(self) -> None:
        reply = Reply(
            calls=(
                RawCall(name="look", arguments="{}", id="c1"),
                RawCall(name="look", arguments="{}", id=""),
            )
        )
        run = record(thought(look(), look(), reply=reply))
        assert [call.id for call in run.calls] == ["c1", ""]
        assert run.by_id("c1") == [run.calls[0]]
        assert run.by_id("") == run.by_id("c2") == []
        more(
            run,
            thought(look(), reply=Reply(calls=(RawCall(name="look", arguments="{}", id="c1"),))),
        )
        assert [call.key for call in run.by_id("c1")] == ["1.1", "2.1"]
        other = record(thought(look(), reply=reply))
        assert other.by_id("c1") == [], "where they were read otherwise"


class TestWhatIsOmitted:
    def test_grows_with_each_compaction(self) -> None:
        run = record(thought(look()), seen(), thought(look()), seen("2.1"), thought())
        more(run, Compacted("mask", "w", 1, cuts={"1.1": "a"}))
        assert (run.omitted.upto, run.omitted.cuts, 1 in run.omitted) == (0, {"1.1": "a"}, False)
        more(run, Compacted("drop", "w", 1, cuts={"2.1": "b"}, upto=1))
        assert (run.omitted.upto, run.omitted.cuts) == (1, {"1.1": "a", "2.1": "b"})
        assert [number in run.omitted for number in (1, 2)] == [True, False]
        assert len(run.step.notices) == 2

    def test_is_seen_again_where_a_rewind_goes_back_before_it(self) -> None:
        first, second = (Compacted("d", "w", 1, cuts={f"{n}.1": "a"}, upto=n) for n in (1, 2))
        for to, upto, cuts in ((3, 2, 2), (2, 2, 2), (1, 1, 1), (0, 0, 0), (-1, 0, 0)):
            omitted = Omitted([first, second], [], {"1.1": "a", "2.1": "a"}, set())
            omitted.rewind(Rewound(to, "no"), 4)
            assert (omitted.upto, len(omitted.cuts)) == (upto, cuts)
            assert omitted.hidden == set(range(max(0, to) + 1, 5))
            assert omitted.rewinds == [Rewound(to, "no")]

    def test_a_rewind_stands_after_the_step_and_closes_its_answer(self) -> None:
        back = Rewound(0, "no")
        run = record(thought(answer="x"), said("n", source="check"), back)
        assert run.step.notices[-1] == back
        assert len(run.step.notices) == 2
        assert run.step.concluded


def test_tools_are_shown_in_order_and_once() -> None:
    run = record(thought(visible_tools=("a",)), thought(visible_tools=("b", "c")))
    assert run.visible_tools == ["a", "b", "c"]


def test_only_the_next_entry_follows() -> None:
    run = record(thought())
    with pytest.raises(StoreError, match="run run: entry 2 cannot follow 2"):
        run.add(Entry(2, 0, 1, thought()))
    with pytest.raises(StoreError, match="entry 4 cannot follow 2"):
        run.add(Entry(4, 0, 1, thought()))
    for begun in (Trajectory("r"), Trajectory("r", [Entry(1, 0, 1, thought())])):
        with pytest.raises(
            StoreError, match="run r has no beginning: its record was never started"
        ):
            _ = begun.started


def test_it_is_iterated_by_steps_and_as_long_as_its_entries() -> None:
    run = record(thought(), thought())
    assert [step.number for step in run] == [1, 2]
    assert len(run) == 3
    assert run.step is run.steps[-1]
    assert record().step is record().before or record().step.number == 0
