"""The rules: a generator that asks for calls, is sent what they gave, and returns what it found.

It is started anew for every reply and fed what the prompt already holds: it keeps no state, and
what was called is never called again.
"""

from collections.abc import Generator, Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from clew.events import Json
from clew.models.offline.english import arithmetic, content, names, plan
from clew.models.offline.reading import Sentence, best, sentences


class Ask(NamedTuple):
    """A call the rules want made, and why."""

    why: str
    tool: str
    args: dict[str, Json]


class Found(NamedTuple):
    """What came of a question: its value (None: nothing found), and what to say, with citations."""

    value: str | None
    claims: tuple[str, ...]


Rules: TypeAlias = Generator[Ask, dict[str, Json], Found]
"""Sent what a call gave: a JSON object, an empty one where it failed or could not be made."""


def solve(question: str) -> Rules:
    """Answer a cleaned question by the planner's steps where they lead there, else by own ones."""
    steps, choice = plan(question)
    if len(steps) > 1:
        why = "The question has parts, so I ask for a plan."
        planned = _objects((yield Ask(why, "planner", {"question": question})), "steps")
        made = [str(step.get("do")) for step in planned]
        known = all(step.get("tool") in ("docs", "calc") for step in planned)
        if known and _signs(made) == _signs(steps):  # else it understood another question
            found = yield from _followed(made, choice)
            if found.value is not None:
                return found
    return (yield from _followed(steps, choice))


def _is_sum(step: str) -> bool:
    return arithmetic(step.replace("#", "")) != ""


def _signs(steps: list[str]) -> set[str]:
    return {sign for step in steps if _is_sum(step) for sign in "+-*/" if sign in step}


def _followed(steps: Sequence[str], choice: tuple[str, ...]) -> Rules:
    """Do the steps in turn, each with the values of those before it."""
    found, values, claims = Found(None, ()), list[str](), list[str]()
    for step in steps:
        filled = step
        for number, value in reversed(list(enumerate(values, start=1))):
            filled = filled.replace(
                f"#{number}", value.replace(",", "") if _is_sum(step) else value
            )
        if arithmetic(filled):
            found = yield from _worked_out(filled)
        elif _is_sum(step):
            found = Found(None, ("I found no numbers to calculate with.",))
        else:
            found = yield from _looked_up(filled)
        if found.value is None:
            return Found(None, (*found.claims, *claims))
        values.append(found.value)
        years = " (by calendar years)" if "the year" in " ".join(steps[:-1]) else ""
        claims += (f"{claim}{years}" if arithmetic(filled) else claim for claim in found.claims)
    if found.value and any(choice):
        winner = "neither" if found.value == "0" else choice[found.value.startswith("-")]
        found = Found(winner, ())
    return Found(found.value, tuple(dict.fromkeys(claims)))


def _worked_out(question: str) -> Rules:
    expression = arithmetic(question)
    seen = yield Ask(f"I work out {expression}.", "calc", {"expression": expression})
    if (result := seen.get("result")) is None:
        return Found(None, (f"I could not work out {expression}.",))
    return Found(str(result), (f"{expression} = {result}",))


def _looked_up(question: str) -> Rules:
    """Search, read on at the best passage, search once more with names alone."""
    words, read = " ".join(content(question)), dict[str, tuple[Sentence, ...]]()
    why = f"To find out: {question}."
    for tool in ("docs", "docs_read", "docs") if words else ():
        args: dict[str, Json] = {"query": words, "limit": 5}
        if tool == "docs_read":
            words = " ".join(names(question)) or words
            args = {"doc_id": next(iter(read), "")}
        seen = (yield Ask(f"{why} {_SAYS[tool]}", tool, args)) if any(args.values()) else {}
        for result in _objects(seen, "results"):
            doc_id, title, text = (str(result.get(key)) for key in ("doc_id", "title", "snippet"))
            read.setdefault(doc_id, tuple(sentences(text, title, doc_id)))
        if (match := best(question, chain.from_iterable(read.values()))) is not None:
            return Found(match[1] or match[2], match[2:])
        why = "That does not answer it yet."
    return Found(None, (f"I found nothing about “{question}” in your documents.",))


_SAYS: Final = {"docs": "I search the documents.", "docs_read": "I read on at the best passage."}


def _objects(seen: dict[str, Json], key: str) -> list[dict[str, Json]]:
    items: list[Json] = seen[key] if isinstance(seen.get(key), list) else []
    return [item for item in items if isinstance(item, dict)]
