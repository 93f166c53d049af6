"""What a guard decides of a call, and where it sees the arguments come from."""

from typing import Final, Literal, TypeAlias

from clew.core.actions import UnknownCall
from clew.core.codes import Code
from clew.core.values import Json, Value

VERDICTS: Final = frozenset({"hint", "amend", "deny", "hold"})

OriginKind: TypeAlias = Literal[
    "person", "configuration", "plan", "result", "choice", "computed", "allowed", "above",
    "question", "note", "pasted", "outside", "model", "guard",
]  # fmt: skip


class Origin(Value, frozen=True):
    """Who gave a value of an argument, as a guard sees it (`Verdict.origins`).

    A `result` is that of `tool` in the `call`, with the value in its `field`; `tool` is also the
    name of the `guard` that set a value. It is `doubtful` if the guard asks for its sake, or for
    that of the `parts` of the argument.
    """

    kind: OriginKind
    call: str = ""
    tool: str = ""
    field: str = ""
    trusted: bool = False
    doubtful: bool = False
    parts: tuple[Json, ...] = ()


class Verdict(Value, frozen=True):
    """A guard's decision on one call.

    `hint` runs the call and adds a line to its observation; `amend` runs it with `args`; `deny`
    refuses it; `hold` makes it wait for a person's ruling. With `gather` the run goes on meanwhile,
    and a person is asked about all such calls at once before it ends. `asks` is the JSON Schema of
    an answer that a held call wants from the person, if it wants one. `shows` identifies what the
    person is shown beside the arguments, such as a digest of a server's definitions: a ruling
    covers only that. `repeats` are the keys of the effects of other runs that the call would have
    again. `origins` say of arguments, by name, where their values come from; in an `amend`, a
    trusted one vouches for the value that the guard gives. `also` has the reasons of other
    guards that hold the call too, by their names. What `wants` a result waits for somebody who
    performs the call elsewhere. At the time `until` (Unix milliseconds) the run goes on by
    itself. `unknown` are calls of a held sub-run of which nobody knew then whether they happened.
    Raises `ValueError` for another kind.
    """

    kind: Literal["hint", "amend", "deny", "hold"]
    reason: str
    args: dict[str, Json] | None = None
    code: Code = "denied"
    redacted: bool = False  # as the arguments of an action
    asks: dict[str, Json] | None = None
    shows: str = ""
    repeats: tuple[str, ...] = ()
    gather: bool = False
    origins: dict[str, tuple[Origin, ...]] = {}
    also: dict[str, str] = {}
    wants: Literal["ruling", "result"] = "ruling"
    until: int = 0
    unknown: tuple[UnknownCall, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ValueError` for a kind that there is not."""
        if self.kind not in VERDICTS:
            message = f"there is no verdict {self.kind!r}: give hint, amend, deny or hold"
            raise ValueError(message)

    @property
    def why(self) -> str:
        """All reasons for which a call is held, in one line."""
        return "; ".join(dict.fromkeys((self.reason, *self.also.values())))
