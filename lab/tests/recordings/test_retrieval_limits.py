"""What limits recall: halves, turns of conversations, tools that are alike."""

from collections.abc import Sequence
from typing import Any

from clew import Tool
from recordings.retrieval_limits import APART, Case, alike, limits
from tests.recordings.test_retrieval import asks, vowels


async def _nothing(args: dict[str, Any], key: str) -> str:
    return ""


def tool(name: str, description: str) -> Tool:
    return Tool(name, description, {"type": "object", "properties": {}}, _nothing)


def case(qid: str, needed: Sequence[str], texts: Sequence[str], category: str = "") -> Case:
    return Case(asks(qid, "", category=category), needed, texts)


def test_turns_of_a_conversation_are_in_the_same_half() -> None:
    halves = [{case(f"talk{n}#{turn}", "a", "a").half for turn in range(9)} for n in range(40)]
    assert all(len(half) == 1 for half in halves)
    assert len(set().union(*halves)) == 2


def test_a_tool_that_is_like_the_needed_one_counts_where_asked() -> None:
    one = case("q", ["a", "b"], ["c", "d", "b"])
    assert one.share(5, {}) == 0.5
    assert one.share(2, {}) == 0
    assert one.share(2, {"a": frozenset("c")}) == 0.5
    assert one.share(5, {"a": frozenset("xc")}) == 1
    assert one.share(5, {"a": frozenset("b")}) == 0.5  # b is needed itself


def test_tools_are_alike_by_their_descriptions_and_not_by_their_names() -> None:
    tools = [tool("a", "eat a pea"), tool("b", "eat peas at"), tool("c", "unit"), tool("d", "")]
    similar = alike(tools, vowels)
    assert similar == {
        "a": frozenset("b"), "b": frozenset("a"), "c": frozenset(), "d": frozenset(),
    }  # fmt: skip


def test_recall_is_told_for_each_group_with_its_interval() -> None:
    cases = [case(f"q{n}", ["a"], ["b"] if n % 4 else ["a"]) for n in range(99)]
    cases += [case(f"t{n}#1", ["a"], ["c"], "multi_turn_base_turn") for n in range(99)]
    told = {figure.what: figure for figure in limits("w", cases, {"a": frozenset("b")})}
    assert told[f"w, recall@5, {APART}, turns of conversations"].got == "0.000 (0.000 to 0.000)"
    alone = told[f"w, recall@5, {APART}, queries that stand alone"]
    value, low, _, high = alone.got.replace("(", "").replace(")", "").split()
    assert 0 < float(low) < float(value) < float(high) < 1
    everything, counted = (
        float(told[f"w, recall@10, {APART}{more}"].got.split()[0])
        for more in ("", ", if a tool alike counts")
    )
    assert counted > everything
    assert [figure.got for figure in told.values()][-1] == "1.000 (198)"
