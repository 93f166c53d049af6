"""The offline rules over foreign notes, one half of which was never looked at."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.offline.__main__ import outcomes, told
from benchmarks.offline.cases import Case, halves, reasoning
from benchmarks.offline.judge import judge
from clew import Answered, Declined
from clew.core.codes import Status


@pytest.mark.parametrize("half", ["seen", "unseen"])
async def test_nothing_wrong_is_stated_and_most_is_answered_or_shown(half: str) -> None:
    notes = halves()["seen" if half == "seen" else "unseen"]
    answers = await outcomes(notes)
    verdicts = [verdict for _, _, verdict in answers]
    assert verdicts.count("wrong") == verdicts.count("denied") == 0
    served = [verdict in ("right", "shown") for case, _, verdict in answers if case.there]
    assert sum(served) > 0.9 * len(served)


@pytest.mark.parametrize(("half", "right"), [("seen", 39), ("unseen", 10)])
async def test_what_needs_several_sentences_is_answered_or_shown(half: str, right: int) -> None:
    answers = await outcomes(reasoning()["seen" if half == "seen" else "unseen"])
    verdicts = [verdict for _, _, verdict in answers]
    assert {*verdicts} == {"right", "shown"}
    assert verdicts.count("right") >= right


async def test_a_mended_word_is_told() -> None:
    notes = reasoning()["seen"]
    notes.cases = [Case("a", "typing error", "Who desinged the Ostrel Bridge?")]
    ((_, result, _),) = await outcomes(notes)
    assert "Hanna Wrede" in str(result.answer)
    assert str(result.answer).endswith("(I read “desinged” as “designed”.)")
    notes.cases = [Case("b", "none", "Who desinged the Pello Bridge of Ostrol?")]
    ((_, result, _),) = await outcomes(notes)
    assert result.status == "declined"


def test_the_set_is_as_the_page_says() -> None:
    both = halves()
    assert [len(both[half].cases) for half in ("seen", "unseen")] == [114, 99]
    assert sum(len(each.texts) for each in both.values()) == 31
    assert not set(both["seen"].texts) & set(both["unseen"].texts)


@pytest.mark.parametrize(
    ("status", "answer", "verdict"),
    [
        ("answered", "The pump was bought in 1999. [doc_1]", "right"),
        ("answered", "1998 – Bought in 1999. [doc_1] Sold in 2001. [doc_2]", "wrong"),
        ("answered", "It is blue. [doc_1]", "wrong"),
        ("declined", "Look:\n[doc_1] The pump was bought in 1999.", "shown"),
        ("declined", "Look:\n[doc_1] The pump is blue.", "declined"),
        ("declined", "I found nothing about it.", "denied"),
    ],
)
def test_the_judge_tells_a_statement_from_a_passage(
    status: Status, answer: str, verdict: str
) -> None:
    case = Case("a", "date", "When was it bought?", ("1999",), (("bought", "1999"),))
    ended = Declined if status == "declined" else Answered
    result = ended(run_id="run", answer=answer, steps=1)
    assert judge(case, result) == verdict


@pytest.mark.slow
def test_the_command_prints_counts_only() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.offline"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    assert "99 questions" in done.stdout
    assert "?" not in done.stdout


async def test_what_is_shown_is_counted() -> None:
    assert "0 questions" in told([])
