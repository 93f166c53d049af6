"""The ladder of repetition: nothing, hints, refusals, the end, each at the call that is named."""

from collections.abc import Callable, Sequence
from itertools import count, cycle
from typing import Any, Final

import pytest

from clew import Agent, ConfigError, Limits, MemoryStore, NoProgress, Trajectory, read, resume, run
from clew.core.judging import Guard
from clew.core.tools import Tool
from clew.guards.no_progress import REFUSED
from clew.testing.models import Move, ScriptedModel, act, acts, say
from tests.core.relay import RELAY
from tests.guards.verdicts import verdict_on
from tests.guards.worlds import tool

MADE, HINTED, REFUSES = "made", "hinted", "refused"
NUMBER: Final = {"type": "integer"}
USUAL: Final = NoProgress()


def looks(name: str = "look", returns: Callable[[], Any] = lambda: "the same") -> Tool:
    """A tool that only reads, whatever it is asked."""
    return tool(name, lambda n: returns(), "read", n=NUMBER)


async def played(
    moves: Sequence[Move],
    tools: Sequence[Tool],
    *,
    guard: NoProgress | None = USUAL,
    guards: Sequence[Guard] = (),
) -> Trajectory:
    """The record of a run that makes these moves until something stops it."""
    limits = Limits(steps=60, tool_calls=90, landing=False, no_progress=guard)
    model = ScriptedModel([*moves, say("ok")])
    agent = Agent(model, tools, limits=limits, guards=guards, prompt="Work.")
    await run(agent, "Go.", store=(store := MemoryStore()), run_id="run")
    return await read("run", store=store)


def rungs(record: Trajectory) -> list[str]:
    """What became of each call."""
    found: list[str] = []
    for call in record.calls:
        assert call.observation is not None
        refused = call.observation.code == REFUSED
        found.append(REFUSES if refused else HINTED if call.hints else MADE)
    return found


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize(("hint", "refuse"), [(2, 2), (2, 3), (3, 5), (4, 4)])
async def test_each_rung_comes_at_its_call(length: int, hint: int, refuse: int) -> None:
    """Of a cycle, at its round; two steps of refusals end the run."""
    moves = [act("look", n=n) for n in range(length)] * (refuse + 2)
    letters = cycle(map(str, range(length)))
    guard = NoProgress(hint=hint, refuse=refuse, reworded_hint=50, reworded=50)
    record = await played(moves, [looks(returns=lambda: next(letters))], guard=guard)
    made, hinted = length * (hint - 1), length * (refuse - hint)
    assert rungs(record) == [MADE] * made + [HINTED] * hinted + [REFUSES] * 2
    assert record.stop is not None
    assert record.stop.code == "no_progress"
    assert record.stop.reason == (
        "no_progress: the calls of 2 steps in a row were refused as repeats"
    )


async def test_a_hint_says_which_call_it_is() -> None:
    record = await played([act("look", n=1)] * 4, [looks()])
    said = [call.hints[0].verdict.reason for call in record.calls if call.hints]
    assert ["call number 3 " in said[0], "call number 4 " in said[1]] == [True, True]


async def test_a_refusal_says_how_often_it_was_made() -> None:
    record = await played([act("look", n=1)] * 5, [looks()])
    assert record.calls[-1].observation is not None
    assert "look gave the same result 4 times" in record.calls[-1].observation.text


async def test_a_cycle_of_four_is_no_repetition() -> None:
    letters = cycle("abcd")
    moves = [act("look", n=n) for n in range(4)] * 6
    record = await played(moves, [looks(returns=lambda: next(letters))])
    assert rungs(record) == [MADE] * 24


async def test_only_the_same_result_counts() -> None:
    """After each new one the count begins again."""
    results = iter("aabbbb")
    moves = [act("look", n=1)] * 6
    record = await played(moves, [looks(returns=lambda: next(results))])
    assert rungs(record) == [MADE, MADE, HINTED, MADE, HINTED, HINTED]


async def test_calls_of_one_step_count_in_the_next() -> None:
    """They are made side by side: none of them has seen what another returned."""
    record = await played([acts(*[act("look", n=1)] * 3), act("look", n=1)], [looks()])
    assert rungs(record) == [MADE, MADE, MADE, HINTED]


async def test_without_the_guard_nothing_is_a_repetition() -> None:
    record = await played([act("look", n=1)] * 20, [looks()], guard=None)
    assert set(rungs(record)) == {MADE}


async def test_the_count_begins_again_after_an_effect() -> None:
    press = tool("press", lambda: "ok", "unsafe")
    moves = [*[act("look", n=1)] * 4, act("press"), *[act("look", n=1)] * 5]
    ladder = [MADE, MADE, HINTED, HINTED]
    record = await played(moves, [looks(), press])
    assert rungs(record) == [*ladder, MADE, *ladder, REFUSES]


async def test_the_count_begins_again_after_a_persons_word() -> None:
    moves = [*[act("look", n=1)] * 3, say("ok"), *[act("look", n=1)] * 3, say("ok")]
    agent = Agent(ScriptedModel(moves), [looks()], prompt="Work.")
    await run(agent, "Go.", store=(store := MemoryStore()), run_id="run")
    await resume(agent, "run", say="Look again.", store=store)
    ladder = [MADE, MADE, HINTED]
    assert rungs(await read("run", store=store)) == ladder * 2


# ------------------------------------------------------------------------------- in other words


@pytest.mark.parametrize(("hint", "refuse"), [(2, 2), (3, 5), (4, 4)])
async def test_a_look_in_other_words_has_a_ladder_of_steps(hint: int, refuse: int) -> None:
    guard = NoProgress(reworded_hint=hint, reworded=refuse)
    record = await played([act("look", n=n) for n in range(refuse + 3)], [looks()], guard=guard)
    expected = [MADE] * (hint - 1) + [HINTED] * (refuse - hint) + [REFUSES] * 2
    assert rungs(record) == expected
    steps = [call.hints[0].verdict.reason for call in record.calls if call.hints]
    assert all(f"last {n} steps" in said for n, said in enumerate(steps, start=hint - 1))
    refused = record.calls[-1].observation
    assert refused is not None
    assert f"in {refuse - 1} steps" in refused.text


OTHERS: Final[dict[str, Tool]] = {
    "another look": looks("other", lambda: "more"),
    "a look of the same": looks("other"),
    "an effect": tool("other", lambda n: "the same", "unsafe", n=NUMBER),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
async def test_another_tool_in_between_begins_it_anew(other: Tool) -> None:
    guard = NoProgress(reworded_hint=3, reworded=4)
    numbers = count()
    moves = [act(name, n=next(numbers)) for name in ["look", "look", "other"] * 3]
    assert set(rungs(await played(moves, [looks(), other], guard=guard))) == {MADE}


async def test_another_result_in_between_begins_it_anew() -> None:
    guard = NoProgress(reworded_hint=3, reworded=4)
    letters = cycle("aab")
    moves = [act("look", n=n) for n in range(9)]
    record = await played(moves, [looks(returns=lambda: next(letters))], guard=guard)
    assert REFUSES not in rungs(record)


async def test_an_effect_in_other_words_is_none() -> None:
    guard = NoProgress(reworded_hint=3, reworded=4)
    press = tool("press", lambda n: "ok", "idempotent", n=NUMBER)
    moves = [act("press", n=n) for n in range(9)]
    assert rungs(await played(moves, [press], guard=guard)) == [MADE] * 9


async def test_calls_of_one_step_are_one_look_in_other_words() -> None:
    guard = NoProgress(reworded_hint=3, reworded=4)
    numbers = count()
    moves = [acts(*[act("look", n=next(numbers)) for _ in range(3)]) for _ in range(3)]
    assert rungs(await played(moves, [looks()], guard=guard)) == [MADE] * 6 + [HINTED] * 3


async def test_what_polls_may_look_for_ever_and_others_may_not() -> None:
    guard = NoProgress(reworded_hint=3, reworded=4, polling=frozenset({"job"}))
    same = [act("job", n=1)] * 9
    assert set(rungs(await played(same, [looks("job")], guard=guard))) == {MADE}
    other = [act("job", n=n) for n in range(9)]
    assert set(rungs(await played(other, [looks("job")], guard=guard))) == {MADE}
    record = await played([act("look", n=1)] * 9, [looks(), looks("job")], guard=guard)
    assert REFUSES in rungs(record)


async def test_a_refused_call_in_between_is_no_other_look() -> None:
    """And a step of nothing but refused ones counts as one more."""
    guard = NoProgress(hint=2, refuse=2, reworded_hint=4, reworded=5)
    moves = [act("look", n=n) for n in (0, 0, 1, 2, 3)]
    assert rungs(await played(moves, [looks()], guard=guard)) == [
        *(MADE, REFUSES, MADE, HINTED, REFUSES),
    ]
    both = acts(act("look", n=0), act("look", n=9))
    moves = [act("look", n=0), both, act("look", n=1)]
    letters = iter(["a", "b", "c"])
    other = looks(returns=lambda: next(letters))
    guard = NoProgress(hint=2, refuse=2, reworded_hint=3, reworded=5)
    assert rungs(await played(moves, [other], guard=guard)) == [MADE, REFUSES, HINTED, MADE]


async def test_a_call_that_could_not_be_made_begins_it_anew() -> None:
    guard = NoProgress(reworded_hint=3, reworded=9)
    moves = [act("look", n=0), act("look", m=0), *(act("look", n=n) for n in (1, 2, 3))]
    assert rungs(await played(moves, [looks()], guard=guard)) == [*[MADE] * 4, HINTED]


# ------------------------------------------------------------------------- of calls that one asks


def relays(*numbers: int, at_once: int = 1) -> Move:
    asked = [{"tool": "look", "args": {"n": n}} for n in numbers]
    return act("relay", calls=asked, at_once=at_once)


async def test_calls_of_a_call_are_compared_with_each_other() -> None:
    guard = NoProgress(hint=2, refuse=3, reworded_hint=50, reworded=50)
    record = await played([relays(1, 1, 1, 1)], [looks(), RELAY], guard=guard)
    assert rungs(record) == [MADE, MADE, HINTED, REFUSES, REFUSES]
    moves = [act("look", n=1), relays(1), relays(1, 2)]
    assert rungs(await played(moves, [looks(), RELAY], guard=guard)) == [MADE] * 6
    both = acts(relays(1, 1), relays(1, 2))
    assert rungs(await played([both], [looks(), RELAY], guard=guard)).count(HINTED) == 1


async def test_what_a_call_asked_for_is_no_call_of_the_model() -> None:
    guard = NoProgress(hint=2, refuse=3, reworded_hint=50, reworded=50)
    moves = [relays(1), act("look", n=1)]
    assert rungs(await played(moves, [looks(), RELAY], guard=guard)) == [MADE] * 3


# ------------------------------------------------------------------------------------ the end


DENIES: Final = [verdict_on("look", "deny", "not today")]


def answered(record: Trajectory) -> bool:
    return record.stop is not None and record.stop.status == "answered"


@pytest.mark.parametrize("steps", [11, 12])
async def test_twelve_steps_of_refusals_end_a_run(steps: int) -> None:
    record = await played([act("look", n=n) for n in range(steps)], [looks()], guards=DENIES)
    assert answered(record) == (steps < 12)
    if steps == 12:
        assert record.stop is not None
        assert record.stop.code == "refusals"
        assert record.stop.reason.endswith(
            "all calls of 12 steps were refused by a guard or a person"
        )


@pytest.mark.parametrize("steps", [5, 6])
@pytest.mark.parametrize("move", [act("nothing"), act("look")], ids=["unknown", "invalid"])
async def test_six_steps_in_which_nothing_could_be_made_end_a_run(move: Move, steps: int) -> None:
    record = await played([move] * steps, [looks()])
    assert answered(record) == (steps < 6)
    if steps == 6:
        assert record.stop is not None
        assert record.stop.code == "no_progress"
        assert record.stop.reason.endswith("no call could be made in 6 steps")


async def test_a_call_that_is_made_begins_the_count_of_steps_anew() -> None:
    moves = [*[act("nothing")] * 5, act("look", n=1), *[act("nothing")] * 5]
    assert answered(await played(moves, [looks()]))


async def test_a_step_with_one_call_made_is_none_without() -> None:
    both = acts(act("nothing"), act("look", n=1))
    assert answered(await played([both] * 7, [looks("look", iter(range(9)).__next__)]))


async def test_refusals_do_not_count_as_unmade() -> None:
    """Nobody ends a task early by having a model ask for what is refused."""
    moves = [*[act("nothing")] * 5, *[act("look", n=n) for n in range(11)]]
    assert answered(await played(moves, [looks()], guards=DENIES))
    record = await played([*moves, act("nothing")], [looks()], guards=DENIES)
    assert record.stop is not None
    assert record.stop.code == "no_progress"


async def test_a_refused_repetition_between_others_does_not_end_a_run() -> None:
    """The same twice in a row does; the rest of the ladder stands."""
    same, other = act("look", n=1), act("other", n=1)
    numbers = iter(range(99))
    moves = [*[same] * 4, same, other, same, other]
    guard = NoProgress(hint=4, refuse=5)
    record = await played(moves, [looks(), looks("other", numbers.__next__)], guard=guard)
    assert answered(record)


# ------------------------------------------------------------------------------------ what is said


def words_of(record: Trajectory) -> list[str]:
    """What hints and refusals say, in order."""
    return [
        *(call.hints[0].verdict.reason for call in record.calls if call.hints),
        *(
            call.observation.text
            for call in record.calls
            if call.observation is not None and call.observation.code == REFUSED
        ),
    ]


async def test_the_words_of_the_ladder() -> None:
    guard = NoProgress(hint=2, refuse=3)
    hint, *refused = words_of(await played([act("look", n=1)] * 3, [looks()], guard=guard))
    assert hint == (
        "this is call number 2 of the same kind; the ones before gave the same result. Try "
        "something else unless a change is to be expected."
    )
    told = (
        "look gave the same result 2 times: it will not be called again like this. Ask something "
        "else, use another tool, or finish with what is known."
    )
    assert [text.partition(f"{REFUSED}: ")[2] for text in refused] == [told]


async def test_the_words_of_the_ladder_that_withholds() -> None:
    guard = NoProgress(hint=3, refuse=4, withhold=True)
    names = looks(returns=lambda: ["a1"])
    (hint,) = words_of(await played([act("look", n=1)] * 3, [names], guard=guard))
    assert hint == (
        "this call was made before, with the same result. Open what was found and not opened yet "
        "(a1), ask something else, or finish with what the observations say, in the form that the "
        "question asks for."
    )


async def test_the_words_of_the_ladder_in_other_words() -> None:
    guard = NoProgress(reworded_hint=2, reworded=3)
    moves = [act("look", n=n) for n in range(3)]
    hint, *refused = words_of(await played(moves, [looks()], guard=guard))
    assert hint == (
        "look gave the same result in the last 1 step, however it was asked. Try another tool, or "
        "answer with what is known."
    )
    told = (
        "look gave the same result in 2 steps, whatever it was asked: it will not be asked again "
        "now. Use what is known, try another tool, or finish."
    )
    assert [text.partition(f"{REFUSED}: ")[2] for text in refused] == [told]


# ------------------------------------------------------------------------------------ what is given


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hint": 1}, "hint"),
        ({"refuse": 1, "hint": 1}, "hint"),
        ({"reworded": 1}, "reworded"),
        ({"reworded_hint": 1}, "reworded_hint"),
        ({"hint": 6}, "NoProgress: hint is 6 and refuse 5: .* give hint of 5 or less"),
        ({"reworded_hint": 17}, "NoProgress: reworded_hint is 17 and reworded 16: .* 16 or less"),
        ({"hint": "3"}, "hint"),
        ({"withhold": 1}, "withhold"),
        ({"polling": "job"}, "polling is 'job': give a set of the names of tools"),
        ({"polling": {1}}, r"polling is \{1\}: give a set of the names of tools"),
    ],
)
def test_a_ladder_that_is_none_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        NoProgress(**given)


@pytest.mark.parametrize(
    "guard", [NoProgress(hint=5), NoProgress(reworded_hint=16), NoProgress(refuse=3)], ids=repr
)
def test_a_hint_may_come_with_the_refusal(guard: NoProgress) -> None:
    assert max(guard.hint - guard.refuse, guard.reworded_hint - guard.reworded) == 0


@pytest.mark.parametrize(
    ("guard", "named"),
    [
        (NoProgress(), "NoProgress(hint=3, refuse=5, polling=frozenset())"),
        (
            NoProgress(reworded=17, withhold=True),
            "NoProgress(hint=3, refuse=5, polling=frozenset(), reworded=17, withhold=True)",
        ),
        (
            NoProgress(2, 4, 3, polling=frozenset({"job"})),
            "NoProgress(hint=2, refuse=4, polling=frozenset({'job'}), reworded_hint=3)",
        ),
    ],
)
def test_a_record_names_what_is_another_than_usual(guard: NoProgress, named: str) -> None:
    assert repr(guard) == named
