"""The forms that gold takes in a dataset, by the key that each must have."""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from clew.core.values import Value
from clew.evidence.units import SYMBOLS, TWOFOLD, WORDS, Unit
from clew.interfaces import Json


class Exact(Value, frozen=True):
    """The answer is this value, compared as `clew_strategies.normalise` writes both."""

    exact: Json


class Contains(Value, frozen=True):
    """The answer has these words in this order, as whole words."""

    contains: str


class NumberWithin(Value, frozen=True):
    """Some number of the answer is this one, give or take the larger of the two tolerances.

    `tolerance` is in the unit of `number`, `relative` a share of it. With a `unit` the answer may
    use any other of its kind, or none.
    """

    number: int | float
    tolerance: float = 0.0
    relative: float = 0.0
    unit: str = ""


class Regex(Value, frozen=True):
    """The pattern is found somewhere in the answer's text, citations included."""

    regex: str


class ExactMatch(Value, frozen=True):
    """The answer is this text by HotpotQA's exact match."""

    em: str


class F1(Value, frozen=True):
    """The answer's F1 with this text, as HotpotQA counts it, is `min_score` or more."""

    f1: str
    min_score: float = 0.8


class Schema(Value, frozen=True):
    """The answer, or the JSON that its text is, meets this JSON Schema."""

    schema: dict[str, Json]


class GroundedAnswer(Value, frozen=True):
    """The audit has nothing against the answer, and something of it rests on evidence."""

    grounded: bool


class ByJudge(Value, frozen=True):
    """The judge, who is shown these words, gives `min_grade` or more; None: the judge's own cut."""

    judge: str
    min_grade: int | None = None


class Declines(Value, frozen=True):
    """The request was refused, or the answer says that it has none or will not do it."""

    declines: bool


class ToolCalled(Value, frozen=True):
    """The run whose answer was taken made a call of this tool."""

    calls: str


class Avoids(Value, frozen=True):
    """No run of the trial made a call of this tool; one that was refused was not made."""

    avoids: str


class Reward(Value, frozen=True):
    """The environment gave this much or more."""

    reward: float


class Scored(Value, frozen=True):
    """A scorer of one's own, `module:name`, gives `min_score` or more (see `Scorer`)."""

    scorer: str
    min_score: float = 0.5


class AnyOf(Value, frozen=True):
    """One of the golds is met, or several."""

    any_of: "tuple[Gold, ...]"


class AllOf(Value, frozen=True):
    """All of the golds are met."""

    all_of: "tuple[Gold, ...]"


class NoneOf(Value, frozen=True):
    """None of the golds is met."""

    none_of: "tuple[Gold, ...]"


Leaf: TypeAlias = (
    Exact | Contains | NumberWithin | Regex | ExactMatch | F1 | Schema
    | GroundedAnswer | ByJudge | Declines | ToolCalled
    | Avoids | Reward | Scored
)  # fmt: skip
Gold: TypeAlias = Leaf | AnyOf | AllOf | NoneOf

FORMS: Final[dict[str, type[Gold]]] = {
    "exact": Exact,
    "contains": Contains,
    "number": NumberWithin,
    "regex": Regex,
    "em": ExactMatch,
    "f1": F1,
    "schema": Schema,
    "grounded": GroundedAnswer,
    "judge": ByJudge,
    "declines": Declines,
    "calls": ToolCalled,
    "avoids": Avoids,
    "reward": Reward,
    "scorer": Scored,
    "any_of": AnyOf,
    "all_of": AllOf,
    "none_of": NoneOf,
}
"""The forms by the key that each must have."""

COMBINED: Final[dict[str, Callable[[tuple[Gold, ...]], Gold]]] = {
    "any_of": AnyOf,
    "all_of": AllOf,
    "none_of": NoneOf,
}
"""The forms that are made of others."""


def name_of(gold: Gold) -> str:
    """The key by which a form is known."""
    return next(name for name, form in FORMS.items() if isinstance(gold, form))


def inner(gold: Gold) -> tuple[Gold, ...]:
    """The golds that a combination is made of; none in a leaf."""
    match gold:
        case AnyOf(any_of=several) | AllOf(all_of=several) | NoneOf(none_of=several):
            return several
        case _:
            return ()


def leaves(gold: Gold) -> Iterator[Leaf]:
    """All golds that are no combinations."""
    match gold:
        case AnyOf() | AllOf() | NoneOf():
            for each in inner(gold):
                yield from leaves(each)
        case _:
            yield gold


def unit_of(name: str) -> tuple[Unit, ...]:
    """What a unit may be, by its word or symbol; nothing where it is not known."""
    known = SYMBOLS.get(name) or WORDS.get(name) or WORDS.get(name.lower())
    return (known,) if known else TWOFOLD.get(name.lower(), ())
