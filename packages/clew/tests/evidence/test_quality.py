"""The audit over a sample of the half of the corpus that no tuning saw."""

import pytest

from benchmarks.audit.corpus import Entry, read
from benchmarks.audit.measure import half, measure


@pytest.mark.slow
def test_changed_facts_are_found_and_unchanged_answers_left_alone() -> None:
    corpus = read()
    assert sum(len(entry.answers) for entry in corpus) >= 300
    sample: list[Entry] = half(corpus, "held back")[::3]
    figures = measure(sample, "held back")
    assert len(figures.tried["unchanged"]) > 40
    assert figures.share("unchanged") <= 0.02
    assert figures.share(*figures.changed) >= 0.95
    assert {"number", "date", "name", "citation: no such id"} <= set(figures.changed)
