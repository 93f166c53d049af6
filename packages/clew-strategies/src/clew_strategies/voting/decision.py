"""Count the answers of several runs and decide among them: pure functions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from clew import Trajectory, Usage
from clew.core.values import Value
from clew.interfaces import Json
from clew_strategies.voting.normalise import normalise

How: TypeAlias = Literal["agreement", "verifier", "majority", "tie", "none"]
"""How a vote was decided: "tie" means another answer has as many votes, "none" no answer."""

RunStatus: TypeAlias = Literal[
    "answered", "declined", "bound", "held", "refused", "failed", "interrupted", "open", "not begun"
]
"""The status of a run: "open" means it has not stopped, "not begun" it was not needed."""


class Ballot(Value, frozen=True):
    """The result of one run of a vote, as the vote's record has it.

    `form` is the normalised answer, or empty if there is none. A declared fallback does not count.
    """

    run: int
    run_id: str
    status: RunStatus
    reason: str = ""
    answer: Json = None
    form: str = ""
    steps: int = 0
    usage: Usage = Usage()


class VerifierChoice(Value, frozen=True):
    """A verifier's word: the number of the run whose answer it takes, or 0 for none of them."""

    run: int
    why: str = ""


class Count(Value, frozen=True):
    """One answer, in the words of the first run that gave it, and the numbers of its runs."""

    answer: Json
    runs: tuple[int, ...]
    form: str = ""


class Decision(Value, frozen=True):
    """The chosen run, how it was chosen, and the counts, most votes first."""

    how: How
    run: int = 0
    counts: tuple[Count, ...] = ()
    words: str = ""


def ballot(number: int, record: Trajectory) -> Ballot:
    """The ballot of a run, from its record."""
    stop = record.stop
    has_answer = stop is not None and stop.answer is not None and not stop.fallback
    answer = stop.answer if stop is not None and has_answer else None
    return Ballot(
        run=number,
        run_id=record.run_id,
        status="open" if stop is None else stop.status,
        reason="" if stop is None else stop.reason,
        answer=answer,
        form=normalise(answer) if has_answer else "",
        steps=len(record.steps),
        usage=record.usage,
    )


def candidates(ballots: Iterable[Ballot]) -> list[Ballot]:
    """The ballots that count: of answered runs; if there are none, of runs that reached a limit."""
    with_answer = sorted((each for each in ballots if each.form), key=lambda each: each.run)
    return [each for each in with_answer if each.status == "answered"] or [
        each for each in with_answer if each.status == "bound"
    ]


def counts(ballots: Iterable[Ballot]) -> list[Count]:
    """The answers, most frequent first; on a tie, by the lowest run number."""
    by_form: dict[str, list[Ballot]] = {}
    for each in candidates(ballots):
        by_form.setdefault(each.form, []).append(each)
    tallies = [
        Count(group[0].answer, tuple(each.run for each in group), group[0].form)
        for group in by_form.values()
    ]
    return sorted(tallies, key=lambda count: (-len(count.runs), count.runs[0]))


def declined(ballots: Iterable[Ballot], k: int) -> str | None:
    """The words of the first of `k` runs that all declined; None where any ended otherwise."""
    ended = sorted(ballots, key=lambda each: each.run)
    if len(ended) != k or any(each.status != "declined" for each in ended):
        return None
    answers = (each.answer for each in ended if isinstance(each.answer, str))
    return next(filter(str.strip, answers), f"All {k} runs declined.")


def certain(ballots: Iterable[Ballot], k: int) -> bool:
    """Whether no other answer can still win."""
    ended = list(ballots)
    tallies = counts(each for each in ended if each.status == "answered")
    if not tallies:
        return False
    second = len(tallies[1].runs) if len(tallies) > 1 else 0
    return len(tallies[0].runs) > second + k - len(ended)


def decide(ballots: Sequence[Ballot], k: int, choice: VerifierChoice | None = None) -> Decision:
    """Decide by agreement, else by the verifier's choice, else by the most votes.

    On a tie, the answer of the run with the lowest number is taken.
    """
    tallies = counts(ballots)
    if not tallies:
        return Decision("none", words=f"None of {k} runs gave an answer: {_others(ballots)}.")
    first, rest = tallies[0], tuple(tallies)
    number, votes = first.runs[0], len(first.runs)
    if votes == k:
        words = "The one run gave this answer." if k == 1 else f"All {k} runs gave the same answer."
        return Decision("agreement", number, rest, words)
    chosen = {each.run for each in candidates(ballots)}
    choice_text = _choice_text(choice, chosen)
    if choice is not None and choice.run in chosen and len(tallies) > 1:
        return Decision("verifier", choice.run, rest, choice_text)
    words = f"{choice_text}{votes} of {k} runs gave this answer"
    if others := _others(each for each in ballots if each.run not in chosen):
        words += f" ({others})"
    if len(tallies) > 1 and len(tallies[1].runs) == votes:
        tied = sum(len(count.runs) == votes for count in tallies)
        words += f", as many as each of {tied - 1} other(s): that of the lowest run is taken"
        return Decision("tie", number, rest, f"{words}.")
    return Decision("majority", number, rest, f"{words}.")


def _choice_text(choice: VerifierChoice | None, chosen: set[int]) -> str:
    if choice is None:
        return ""
    why = f" ({choice.why})" if choice.why else ""
    if choice.run in chosen:
        return f"The answers differ; the verifier chose that of run {choice.run}{why}."
    return f"The verifier chose none{why}. "


def _others(ballots: Iterable[Ballot]) -> str:
    """The statuses of runs that do not count: "2 failed, 1 interrupted"."""
    reasons: Mapping[str, int] = {}
    for each in ballots:
        reasons = {**reasons, each.status: reasons.get(each.status, 0) + 1}
    return ", ".join(f"{number} {status}" for status, number in reasons.items())
