"""What became of one trial: the row of the results that every figure of a report is read from."""

from typing import Literal, TypeAlias

import msgspec

from clew import Usage
from clew.core.codes import Status, StopCode
from clew.core.values import Value
from clew.interfaces import Json
from clew_evals.case import Case

Kind: TypeAlias = Literal[
    "twin",
    "failed",
    "rejected",
    "bound",
    "held",
    "refused",
    "declined",
    "fault",
    "no such tool",
    "bad arguments",
    "unsupported claim",
    "wrong answer",
]
"""Why a trial did not pass, the first that fits: its own answer is right but its twin's is not; its
model failed; no answer it gave was accepted; it stopped at a bound, or for a person, or was
refused; its model declined; replies could not be read; a tool that does not exist was asked for;
arguments did not fit; its answer says what the evidence does not; the answer is wrong."""


class GoldScore(Value, frozen=True):
    """The result of one gold for one answer: `score` in [0, 1], and `why` in a line for people."""

    scorer: str
    passed: bool
    score: float
    why: str = ""


class Judgement(Value, frozen=True):
    """A judge's score from 1 (useless) to 5 (right and well reasoned), and its reasons.

    0 means that the judge was asked and gave none; `reasons` say why.
    """

    score: int
    reasons: str = ""


class Counted(Value, frozen=True):
    """The counts of a trial's records; for a vote, summed over its runs.

    `seconds` are those of work (waiting for a person does not count); for a vote, from its start to
    its decision, since its runs work in parallel. `faults` are unreadable replies, `repairs`
    repaired ones. `calls` counts calls by tool; `unknown` are calls of tools that do not exist, and
    `bad_arguments` refused arguments, by the requested name. `claims` and `supported` are those of
    the audit; of `claims` only the checkable ones count.
    """

    steps: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    faults: int = 0
    repairs: int = 0
    landings: int = 0
    calls: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    failed_calls: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    unknown: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    bad_arguments: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    claims: int = 0
    supported: int = 0


class Outcome(Value, frozen=True):
    """One trial: a case answered by a configuration, with a seed, for the nth time.

    `run_id` is that of its record (of the vote, if there is one) in the same file, and `runs` those
    of all its records. `right` is the result of its own gold; `passed` includes its twins. `em` and
    `f1` are those of HotpotQA, if the gold is a text. A trial that is not `stopped` has an open
    record, because its model or its environment failed: it is tried again another time.
    """

    case: str
    configuration: str
    model: str
    run_id: str
    status: Status
    category: str = ""
    pair: str = ""
    seed: int = 0
    repetition: int = 1
    reason: str = ""
    code: StopCode = ""
    answer: Json = None
    right: bool = False
    passed: bool = False
    score: float = 0.0
    marks: tuple[GoldScore, ...] = ()
    kind: Kind | None = None
    em: float | None = None
    f1: float | None = None
    judgement: Judgement | None = None
    reward: float | None = None
    counted: Counted = Counted()
    runs: tuple[str, ...] = ()
    votes: int = 1
    stopped: bool = True


class About(Value, frozen=True):
    """What an evaluation is about, kept with its results so that they can be read on their own.

    `matrix` is the text of the matrix file, `configurations` their names in its order; `cases` are
    all cases, without their `extra`. `trials` is the total number (0: as many as all configurations
    with all models make). `begun` is in Unix milliseconds.
    """

    name: str
    world: str
    matrix: str
    cases: tuple[Case, ...]
    configurations: tuple[str, ...]
    models: tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    repetitions: int = 1
    judge: str = ""
    version: str = ""
    begun: int = 0
    trials: int = 0
