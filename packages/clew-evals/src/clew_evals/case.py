"""A case: a question, and what makes an answer to it right."""

import msgspec

from clew.core.values import Value
from clew.interfaces import Json


class Case(Value, frozen=True):
    """One line of a dataset.

    `gold` says what is right, in a form of `clew_evals.expected`. `tests` says in words what
    the case tests. Cases of one `pair` count only together: each passes if all do, so that refusing
    cannot win both a harmful request and its harmless twin. `extra` is what an environment or a
    simulated model needs, such as paragraphs or a script. `attachments` are files that go with the
    question, relative to the dataset.
    """

    id: str
    question: str
    gold: Json
    category: str = ""
    tests: str = ""
    pair: str = ""
    extra: dict[str, Json] = msgspec.field(default_factory=dict[str, Json])
    attachments: tuple[str, ...] = ()
