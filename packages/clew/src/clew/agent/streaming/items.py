"""What a stream yields: entries of the record, and between them what is not recorded."""

from dataclasses import dataclass, fields
from typing import Generic, Literal, TypeAlias

from typing_extensions import TypeVar

from clew.core.entries import Entry
from clew.core.values import Json, JsonValue

T_co = TypeVar("T_co", covariant=True, default=Json)

ValueState: TypeAlias = Literal["open", "complete", "cut"]


@dataclass(frozen=True, slots=True)
class _Item:
    """What all of them have in common."""

    def to_json(self) -> dict[str, Json]:
        """All of it as values that JSON has; `event` is the class in lower case, as in entries.

        Of a partial answer there is its `json`, and not the `value` of your type.
        """
        names = [each.name for each in fields(self) if each.name != "value"]
        return {"event": type(self).__name__.lower(), **{it: getattr(self, it) for it in names}}


@dataclass(frozen=True, slots=True)
class Token(_Item):
    """A piece of a reply as it arrives.

    `field` says of what: `thought`, `answer`, or a text in a typed answer (`answer.title`); it is
    empty where the format of the replies does not tell. Words of an answer stand until they are
    `Withdrawn`.
    """

    text: str
    field: str = ""


@dataclass(frozen=True, slots=True)
class Withdrawn(_Item):
    """The words of the answer told so far are none: forget them.

    A call followed them, the reply could not be read or broke off, or the answer was refused.
    """


@dataclass(frozen=True, slots=True)
class Calling(_Item):
    """An attempt of a call begins; `call` is its key (`step.index`)."""

    call: str
    tool: str
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class CallProgress(_Item):
    """How far a call is, in the words of its tool."""

    call: str
    text: str


@dataclass(frozen=True, slots=True)
class Retrying(_Item):
    """Attempt number `attempt` of at most `of` follows in `wait` seconds: why the last one failed.

    It is the model's, or that of a `call`.
    """

    attempt: int
    of: int
    why: str
    wait: float
    call: str = ""


@dataclass(frozen=True, slots=True)
class Partial(_Item, Generic[T_co]):
    """What has arrived of a typed answer.

    `json` is what can be read of it so far. If that fits the answer's type, `valid` is true, and
    `value` is an answer of that type, whose texts and lists may still grow. `state` says whether
    more may come: `open`, then `complete`, or `cut` where the reply ended before it did: then it is
    not valid. `index` is the number of the call in its reply; 0 for an answer that is its text.
    """

    json: JsonValue
    value: T_co | None = None
    valid: bool = False
    state: ValueState = "open"
    index: int = 0


@dataclass(frozen=True, slots=True)
class PartialCall(_Item):
    """What has arrived of the arguments of a call: whether they fit its tool's schema (`valid`).

    `index` is the number of the call in its reply, as in its key (`step.index`), and `state` is as
    that of a `Partial`.
    """

    tool: str
    index: int
    args: dict[str, Json]
    valid: bool = False
    state: ValueState = "open"


@dataclass(frozen=True, slots=True)
class Dropped(_Item):
    """Tokens and the like were left out here: they came faster than they were taken."""


@dataclass(frozen=True, slots=True)
class Idle(_Item):
    """The run is open, and nobody works on it: the stream waits until somebody does.

    `resume` takes up `run_id`, which is the run that was begun, not one below it. Where the run is
    in a `queue`, a worker of that does so. It is told again if the run is left again.
    """

    run_id: str
    queue: str = ""

    @property
    def hint(self) -> str:
        """What to do, in a line."""
        if self.queue:
            return f"nobody works on run {self.run_id}: a worker of queue {self.queue!r} takes it"
        return f"nobody works on run {self.run_id}: resume it (clew resume {self.run_id})"


LiveItem: TypeAlias = (
    Token
    | Withdrawn
    | Calling
    | CallProgress
    | Retrying
    | Partial[T_co]
    | PartialCall
    | Dropped
    | Idle
)
"""What is shown between entries, and not recorded."""


@dataclass(frozen=True, slots=True)
class Nested:
    """An item of a run below: `path` are the ids from the first one below down to its own.

    The `value` of a `Partial` there is of the answer type of that run's agent.
    """

    path: tuple[str, ...]
    item: Entry | LiveItem[object]

    def to_json(self) -> dict[str, Json]:
        """The path, and the item as it would be by itself."""
        return {"event": "nested", "path": [*self.path], "item": self.item.to_json()}


StreamItem: TypeAlias = Entry | LiveItem[T_co] | Nested
