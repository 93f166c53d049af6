"""Recall of tool retrieval: on tools and queries of our own, and on a sample of the recordings."""

import sys
from collections.abc import Sequence
from typing import Any

import pytest

from recordings import retrieval
from recordings.data import VARIABLE, folder, missing, records
from recordings.retrieval import Catalogue, Ranked, Remembered
from tests.core.catalogue import letters
from tests.recordings.figures import figures

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""


def definition(number: int, name: str, description: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "dict", "properties": properties, "required": [*properties]}
    return {
        "tool_id": f"T{number}",
        "name": name,
        "description": description,
        "parameters": parameters,
    }


TEXT = {"type": "string", "description": "which one"}
DEFINITIONS = [
    definition(1, "oven.heat", "Heat the oven.", degrees={"type": "float"}),
    definition(2, "oven.heat", "Heat it again, by another hand.", degrees={"type": "integer"}),
    definition(3, "bread bake", "Bake a loaf.", flour=TEXT),
    definition(4, "feedCat", "Give the cat its dinner.", bowl=TEXT),
    definition(5, "catalogue", "List what there is.", page={"type": "integer"}),
    *(definition(9 + n, f"shelf_{n}", f"Look at board {n}.", board=TEXT) for n in range(12)),
]


def asks(qid: str, query: str, *need: str, category: str = "simple") -> dict[str, Any]:
    return {"qid": qid, "category": category, "query": query, "need": [*need]}


QUERIES = [
    asks("q1", "Make the oven hot: heat it to 200 degrees.", "T2"),
    asks("q2", "Bake a loaf and feed the cat.", "T3", "T4", category="parallel"),
    asks("q3", "What do you have?", "T5", category="multi_turn"),
    asks("q4", "Look at the boards of all the shelves, one to nine.", "T20"),
]


def vowels(texts: Sequence[str]) -> list[list[float]]:
    """An embedding that costs little."""
    return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]


def test_recall_is_the_mean_share_of_what_is_needed() -> None:
    catalogue = Catalogue.of(DEFINITIONS)
    assert len(catalogue.tools) == 16
    assert catalogue.needed(asks("q", "", "T1", "T2", "T3")) == ["oven.heat", "bread_bake"]
    shelf = catalogue.names["T20"]
    rankings = [["oven.heat"], ["bread_bake"], [], [*["x"] * 7, shelf]]
    ranked = Ranked(catalogue, QUERIES, rankings, [0.001, 0.002, 0.003, 0.1])
    assert (ranked.recall(5), ranked.recall(10)) == (1.5 / 4, 2.5 / 4)
    assert ranked.recall(10, "parallel") == 0.5
    assert [figure.got for figure in ranked.categories("w")] == [
        "0.0000 / 0.0000",
        "0.5000 / 0.5000",
        "0.5000 / 1.0000",
    ]
    assert ranked.latency("w").got == "2.5 / 100.0"
    assert [figure.met for figure in ranked.figures("w", {5: 0.3, 10: 1.2})] == [True, False]
    assert [round(ranked.slack(k), 2) for k in (5, 10)] == [0.48, 0.48]
    assert [*ranked.misses("w")] == [
        "w, feedCat: q2 (no like word)",
        "w, catalogue: q3 (no like word)",
    ]


def test_the_figures_of_tools_of_our_own() -> None:
    part = retrieval.evidence(DEFINITIONS, QUERIES, letters)
    told = figures(part)
    assert told["by words, recall@10"][:2] == ("0.7500", "4")
    assert part.misses == ["by words, shelf_11: q4 (12)"]
    assert told["by words, recall@5 / @10, parallel"] == ("1.0000 / 1.0000", "1", True)
    assert float(told["fused, recall@10"][0]) == 0.5
    assert float(told["all definitions indexed by words, in seconds"][0]) < 5
    called = told["tools shown in a run over 4 queries, then called"]
    assert called[0] == called[1] != "0"
    assert told["its prompts that kept all tools of the one before"][0] == "5"
    assert all(met for _, _, met in told.values())


def test_what_cannot_be_ranked_is_told() -> None:
    strange = [asks("q8", "Bake.", "T3", "T99"), asks("q9", "Bake.")]
    part = retrieval.evidence(DEFINITIONS, [*QUERIES[:1], *strange], letters)
    assert figures(part)["by words, recall@5"] == ("1.0000", "1", True)
    assert part.misses == [f"{qid}: needs a tool that is not defined" for qid in ("q8", "q9")]
    assert not retrieval.evidence(DEFINITIONS, strange, letters).met


def test_without_the_extra_its_figures_are_left_out_and_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    part = retrieval.evidence(DEFINITIONS, QUERIES, "minilm")
    assert not part.met
    missed = [figure for figure in part.figures if not figure.met]
    assert [figure.what for figure in missed] == ["fused, recall@5", "fused, recall@10"]
    assert {figure.got for figure in missed} == {retrieval.LEFT_OUT}


def test_queries_are_embedded_once_for_all_runs(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked: list[int] = []

    class Counting:
        model = "counting/1"

        def __call__(self, texts: Any) -> Any:
            asked.append(len(texts))
            return letters(texts)

    first, second = Remembered(Counting()), Remembered(Counting())
    for known in (first, second):
        known.learn(["one", "two", "one"])
        assert known(["two"]) == letters(["two"])
    assert second.model == "counting/1"
    assert second(["three"]) == letters(["three"])
    assert asked == [2, 1]


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "the recordings are there")
def test_a_sample_of_the_recordings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(HERE))
    queries = [*records(retrieval.QUERIES, sample=40)]
    part = retrieval.evidence([*records(retrieval.TOOLS)], queries, vowels)
    told = figures(part)
    assert float(told["by words, recall@10"][0]) > 0.7
    assert part.met
