"""The request filter on the requests that were gathered."""

import json
from pathlib import Path

import pytest

from benchmarks.request_filter import DATA, rows, unaware
from clew.screens import find
from clew.screens.injections import WHAT
from clew.screens.phrases import RULES


@pytest.mark.parametrize("name", ["attacks", "harmless"])
def test_the_half_that_was_tuned_on_is_told_apart(name: str) -> None:
    wrong = [
        r["id"] for r in rows(name, "tuning") if (find(r["text"]) is None) == (name == "attacks")
    ]
    assert wrong == []


def test_the_data_is_what_the_documents_say() -> None:
    attacks = [*rows("attacks", "tuning"), *rows("attacks", "unseen")]
    harmless = [*rows("harmless", "tuning"), *rows("harmless", "unseen")]
    assert len(attacks) >= 200
    assert len(harmless) >= 200
    assert len({row["language"] for row in attacks}) == 10
    assert {row["kind"] for row in attacks} == set(WHAT) == {rule.name for rule in RULES}
    assert len({json.dumps(row) for row in (*attacks, *harmless)}) == len(attacks) + len(harmless)
    assert not Path("benchmarks").exists()  # the data is found wherever the tests run


def test_harmless_requests_in_ten_languages_that_speak_of_such_things_pass() -> None:
    texts = (DATA / "spoken_of.jsonl").read_text("utf-8").splitlines()
    known = [json.loads(line) for line in texts]
    assert len({row["language"] for row in known}) == 10
    flagged = [row["id"] for row in known if find(row["text"])]
    assert len(flagged) <= len(known) // 100, flagged


def test_the_seen_half_by_an_author_who_did_not_know_the_rules_is_told_apart() -> None:
    outcomes = [(row["attack"], find(row["text"]) is not None) for row in unaware("seen")]
    assert len(outcomes) == 180
    assert outcomes.count((True, True)) >= 0.9 * (
        outcomes.count((True, True)) + outcomes.count((True, False))
    )
    assert outcomes.count((False, True)) == 0
