"""Requests in everyday words: the file that we wrote, and how recall over it is counted."""

import sys
from typing import Any

import pytest

from recordings import everyday
from recordings.data import VARIABLE, folder, missing, records
from recordings.everyday import (
    APART,
    SEEN,
    TUNED,
    UNSEEN,
    RankedRequests,
    Request,
    requests,
    written_apart,
)
from recordings.retrieval import LEFT_OUT, TOOLS, Catalogue
from tests.core.catalogue import letters
from tests.recordings.figures import figures
from tests.recordings.test_retrieval import DEFINITIONS

HERE, WHY_NOT = folder(), missing()
"""Where the recordings lie, taken before a test loses the variables of its environment."""

ASKED = [
    Request("is it hot enough to roast something", ("oven.heat",)),
    Request("a loaf, please", ("bread_bake", "oven.heat")),
    Request("the dinner of the cat", ("feedCat",)),
    Request("whatever", ("nobody.has_it",)),
]


def test_the_requests_are_many_and_each_is_there_once() -> None:
    asked = requests()
    assert len({each.words for each in asked}) == len(asked) == 639
    assert all(each.words.strip() == each.words and each.tools for each in asked)
    halves = [each.half for each in asked]
    assert min(halves.count(APART), halves.count(TUNED)) > 300


def test_those_of_the_other_writer_are_in_two_halves() -> None:
    unseen, seen = written_apart(UNSEEN), written_apart(SEEN)
    assert len(unseen) == len(seen) == 100
    assert {each.half for each in unseen} == {UNSEEN}
    assert not {each.words for each in unseen} & {each.words for each in [*seen, *requests()]}
    assert all(each.words.strip() and each.tools for each in [*unseen, *seen])


def test_requests_for_the_same_tool_are_in_the_same_half() -> None:
    halves: dict[str, set[str]] = {}
    for each in requests():
        halves.setdefault(each.tools[0], set()).add(each.half)
    assert all(len(half) == 1 for half in halves.values())


def test_any_of_the_tools_that_would_do_is_found() -> None:
    definitions = [{**each, "name": each["name"].replace(" ", "_")} for each in DEFINITIONS]
    told = figures(everyday.evidence(definitions, ASKED, letters))
    assert told["requests whose tool is there"][:2] == ("3", "4")
    assert told["of these without a word of its name or description"][:2] == ("1", "3")
    by_words = [
        (what_is_told[0][:5], what_is_told[1])
        for what, what_is_told in told.items()
        if what.startswith("by words, recall@10")
    ]
    total = sum(float(recall) * int(of) for recall, of in by_words)
    assert round(total) == 2
    assert sum(int(of) for _, of in by_words) == 3


def test_a_miss_is_listed_with_its_place() -> None:
    halves = {"q": APART, "r": APART, "s": TUNED}
    asked = [Request("q", ("a",)), Request("r", ("b",)), Request("s", ("c",))]
    ranked = RankedRequests(asked, [0, 10, 99], [0.1, 0.2, 0.3], 1.0)
    assert [*ranked.misses("by words", halves)] == ["by words, a (not found): q"]
    told = {each.what: each for each in ranked.figures("w", halves, {APART: {5: 0.1, 10: 0.1}})}
    assert told[f"w, recall@5, {APART}"].got.startswith("0.000 (")
    assert not told[f"w, recall@5, {APART}"].met
    assert told[f"w, recall@10, {APART}"].got.startswith("0.500 (")
    assert told[f"w, recall@10, {APART}"].met
    assert told[f"w, recall@10, {TUNED}"].aim == ""


def test_without_the_extra_its_figures_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    part = everyday.evidence(DEFINITIONS, ASKED[:1], "multilingual")
    assert [figure.got for figure in part.figures].count(LEFT_OUT) == 2


def test_of_no_tool_nothing_is_measured() -> None:
    part = everyday.evidence(DEFINITIONS, ASKED[3:], letters)
    assert [figure.got for figure in part.figures] == ["0", "0"]


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "the recordings are there")
def test_a_sample_of_the_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tool that a request names is one of the published."""
    monkeypatch.setenv(VARIABLE, str(HERE))
    definitions: list[dict[str, Any]] = [*records(TOOLS)]
    names = {each["name"] for each in definitions}
    assert {name for each in requests() for name in each.tools} <= names
    assert len(Catalogue.of(definitions).tools) > everyday.CATALOGUE
    told = figures(everyday.evidence(definitions, requests()[::20], letters))
    assert told["requests whose tool is there"][:2] == ("32", "32")
