"""What a declined run shows is no answer to any gold."""

from clew_evals.case import Case
from clew_evals.scoring import ScoreInput, right, score


async def test_no_gold_takes_what_a_decline_shows_for_an_answer() -> None:
    answerable = Case("a", "How many?", {"contains": "42"})
    none = Case("b", "How many?", {"declines": True})
    for case, won in ((answerable, False), (none, True)):
        marks = await score(ScoreInput(case, "declined", "This passage looks relevant: 42 boats."))
        assert right(marks) is won
