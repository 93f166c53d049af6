"""Calls as values: asked for, planned, done elsewhere or unknown."""

from clew.core.codes import Outcome
from clew.core.values import Json, Value


class Action(Value, frozen=True):
    """One call that the model asks for: a tool's name and its arguments.

    `fault` says why the arguments could not be parsed; then `args` is empty and nothing is called.
    The record keeps long arguments in the blob `blob`. If they contained a secret they are
    `redacted` here, and only the worker that received them knows them. `provenance` says of
    arguments, by their names, where their values come from.
    """

    name: str
    args: dict[str, Json] = {}
    fault: str = ""
    blob: str = ""
    redacted: bool = False
    provenance: dict[str, str] = {}


class PlannedCall(Value, frozen=True):
    """A call that a person's words ask for, with the arguments that these words settle."""

    tool: str
    args: dict[str, Json] = {}


class Done(Value, frozen=True):
    """A side effect of another run: after the fork point, or in an earlier trial. It stays done.

    `key` is the call's own (`run_id:step.index`), `hash` identifies its arguments as they were
    written and `received` as its tool received them ("": not known), `handed` as other tools did
    that it was handed on to (`Attempt.handed`). `text` is the call as one line for people and
    models.
    """

    key: str
    tool: str
    hash: str
    text: str
    outcome: Outcome = "done"
    received: str = ""
    handed: tuple[str, ...] = ()


class UnknownCall(Value, frozen=True):
    """A call with an effect of which nobody knows whether it happened.

    `id` names it in every run (`run_id:step.index`): `clew.settle` takes it as it is.
    """

    id: str
    tool: str
    args: dict[str, Json] = {}
