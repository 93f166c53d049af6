"""The size and the price of the next call, figure by figure, from hand-written records."""

from typing import Any

import pytest

from clew.context.call_estimate import CallEstimate, max_answer_tokens, opening
from clew.context.history import ContextRow, context_history
from clew.core.contents import Image, Observation, RawCall, Reply, Undercounted, Usage, text_parts
from clew.core.entries import Entry
from clew.core.events import Compacted, Note, Rewound, Started
from clew.core.prompts import Part, Prompt
from clew.core.specs import AgentSpec, Rates
from clew.core.tools import ToolSpec
from clew.core.trajectory import Trajectory
from tests.core.records import look, more, record, thought

GOAL = "x" * 40


def tokens(*events: Any, **estimate: Any) -> int:
    """The tokens of the next prompt of a run with a question of ten tokens."""
    return CallEstimate(**estimate).next_call(record(*events, goal=GOAL)).input


def said(text: str, **more: Any) -> Note:
    return Note(text_parts(text), **more)


@pytest.mark.parametrize(
    ("events", "size"),
    [
        ((), 10),
        ((said("x" * 20), said("x" * 20, source="check")), 20),
        ((thought(reply=Reply("x" * 40)),), 20),
        (
            (
                thought(
                    reply=Reply(
                        calls=(RawCall(name="look", arguments='{"a":1}x'), RawCall(name="look" * 2))
                    )
                ),
            ),
            15,
        ),
        ((thought(look()), Observation("1.1", "x" * 80)), 30),
        (
            (thought(look()), Observation("1.1", "", attachments=(Image("a/b"), Image("a/b")))),
            2_010,
        ),
        ((thought(look(), look()), Observation("1.2", "x" * 40)), 20),
        ((thought(reply=Reply("x" * 40)), said("x" * 40), thought(reply=Reply("x" * 40))), 40),
        ((thought(), Compacted("mask", "w", 700), said("x" * 40)), 700),
        ((thought(), said("x" * 40), Rewound(0, "no")), 10),
    ],
)
def test_where_nobody_counts_it_is_all_that_was_said(events: Any, size: int) -> None:
    if any(isinstance(event, Compacted) for event in events):
        assert tokens(*events) == size
        assert tokens(*events, thought(reply=Reply("x" * 40)), said("x" * 40)) == size + 20
    elif not any(isinstance(event, Rewound) for event in events):
        assert tokens(*events) == size
        assert tokens(*events, opening=100) == size + 100


def counted(prompt: int, output: int = 0, **fields: Any) -> Any:
    return thought(look(), reply=Reply("x" * 400, usage=Usage(prompt, output, **fields)))


def test_what_was_counted_is_not_guessed() -> None:
    assert tokens(counted(500, 30), Observation("1.1", "x" * 40), opening=9) == 540
    assert tokens(counted(500), counted(700), said("x" * 40)) == 710
    assert tokens(counted(500, 30, reasoning=10)) == 520
    assert tokens(counted(500, 10, reasoning=30)) == 500, "no less than the prompt"
    assert tokens(counted(500, 30), thought(reply=Reply("x" * 40))) == 540


def test_a_server_that_cut_a_prompt_off_counted_too_little() -> None:
    reply = Reply("x", usage=Usage(100, 30), undercounted=Undercounted(900, cut=True))
    assert tokens(thought(reply=reply)) == 930


def test_after_a_rewind_it_is_the_prompt_of_the_first_step_of_the_branch() -> None:
    run = (counted(500, 30), counted(700, 30), counted(900, 30))
    assert tokens(*run, Rewound(1, "no")) == 700
    assert tokens(*run, Rewound(0, "no")) == 500
    assert tokens(*run, Rewound(2, "no")) == 900
    assert tokens(*run, Rewound(3, "no"), opening=7) == 7, "no step that was counted"
    reply = Reply("x", usage=Usage(100, 30), undercounted=Undercounted(950))
    assert tokens(counted(500), thought(reply=reply), Rewound(1, "no")) == 950


def test_it_follows_a_run_that_grows_and_measures_a_step_again_that_grew() -> None:
    estimate, run = CallEstimate(), record(goal=GOAL)
    assert estimate.next_call(run).input == 10
    assert estimate.next_call(more(run, thought(look()))).input == 10
    assert estimate.next_call(more(run, Observation("1.1", "x" * 40))).input == 20
    assert estimate.next_call(more(run, thought(look()))).input == 20
    assert estimate.next_call(more(run, Observation("2.1", "x" * 40))).input == 30
    assert estimate.next_call(run).input == 30


def test_only_so_much_of_a_result_counts_as_is_shown() -> None:
    run = (thought(look()), Observation("1.1", "to be " * 2_000))
    assert tokens(*run) == 3_010
    assert 400 < tokens(*run, visible_chars=2_000) < 600
    assert tokens(*run, shape=lambda text: text[:40]) == 20


def test_each_agent_measures_by_its_own_shape() -> None:
    run = record(thought(look()), Observation("1.1", "x" * 400), goal=GOAL)
    assert CallEstimate().next_call(run).input == 110
    assert CallEstimate(shape=lambda text: "").next_call(run).input == 10
    assert CallEstimate().next_call(run).input == 110


RATES = Rates(input=2.0, output=8.0, cached=0.5)


def priced(*events: Any, rates: Rates | None = RATES) -> Trajectory:
    started = Started(text_parts(GOAL), AgentSpec("f", "m", "c", "p", rates=rates))
    entries = [Entry(n, n, 1, event) for n, event in enumerate((started, *events), 1)]
    return Trajectory("run", entries)


def test_what_it_costs_follows_from_the_rates() -> None:
    def cost(*events: Any, answer: int | None = 100) -> float:
        return CallEstimate().next_call(priced(*events), answer).cost or 0.0

    assert cost() == pytest.approx((10 * 2 + 100 * 8) / 1e6)
    assert cost(counted(500, 30)) == pytest.approx((530 * 2 + 100 * 8) / 1e6)
    cached = (30 * 2 + 500 * 0.5 + 100 * 8) / 1e6
    assert cost(counted(500, 30, cached=1)) == pytest.approx(cached)
    assert cost(counted(500, 30, written=1)) == pytest.approx(cached)
    assert cost(answer=None) == pytest.approx((10 * 2 + 1_000 * 8) / 1e6)


def test_without_rates_it_costs_what_the_last_one_did() -> None:
    estimate = CallEstimate()
    assert estimate.next_call(priced(counted(5, cost=0.25), rates=None)).cost == 0.25
    assert estimate.next_call(priced(counted(5), rates=None)).cost == 0.0
    assert estimate.next_call(Trajectory("run")).cost == 0.0


@pytest.mark.parametrize(
    ("params", "most"),
    [
        ({}, None),
        ({"max_tokens": 1}, 1),
        ({"max_tokens": 0}, None),
        ({"max_tokens": True}, None),
        ({"max_tokens": "9"}, None),
        ({"max_tokens": 9.0}, None),
    ],
)
def test_parameters_say_how_long_a_reply_may_be(params: Any, most: int | None) -> None:
    assert max_answer_tokens(params) == most


def test_the_first_prompt_is_its_head_and_its_tools() -> None:
    spec = ToolSpec("look", "Look it up", {"type": "object"})
    prompt = Prompt((Part("system", "x" * 40), Part("user", "x" * 43)), (), tools=(spec, spec))
    assert opening(prompt) == (83 + 2 * (4 + 10 + 17)) // 4


def test_a_history_has_a_row_for_each_thought() -> None:
    less = Compacted("mask", "w", 5, cuts={"1.1": "[…]", "2.1": "[…]"}, upto=1)
    back = Rewound(2, "no")
    run = record(
        thought(look(), reply=Reply(usage=Usage(100, 5, cached=40))), Observation("1.1", "a"),
        thought(look(), reply=Reply(usage=Usage(200, 5, cached=90))), Observation("2.1", "b"),
        less, thought(look()), Observation("3.1", "c"), back, thought(), thought(),
        Rewound(0, "all"), thought(),
    )  # fmt: skip
    assert context_history(run) == (
        ContextRow(1, 100, 40),
        ContextRow(2, 200, 90),
        ContextRow(3, 0, 0, 1, 1, 0, (less,)),
        ContextRow(4, 0, 0, 1, 1, 1, (back,)),
        ContextRow(5, 0, 0, 1, 1, 1, ()),
        ContextRow(6, 0, 0, 0, 0, 5, (Rewound(0, "all"),)),
    )
