"""What models and servers of tests say when they are asked what a request calls for (`Planned`)."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from clew.core.values import Json, encode

_SIGN: Final = b"Which of these tools does the request below call for, and how often"
"""How `clew.agent.planning` begins to ask; tests hold the two together."""


def asks_for_plan(request: bytes) -> bool:
    """Whether a request to a model's server, as bytes, asks for a plan and for no thought."""
    return _SIGN in request


def written_plan(calls: Iterable[tuple[str, str | Mapping[str, Json] | None]]) -> str:
    """The text of a plan of these calls: names, and arguments as objects or as JSON.

    Calls whose arguments are no object of JSON are left out: a faulty model may write them.
    """
    plan: list[Json] = []
    for name, written in calls:
        try:
            args = json.loads(written or "{}") if isinstance(written, str | None) else {**written}
            encode(args)  # which half a character has no form for
        except ValueError:
            continue
        if isinstance(args, dict):
            plan.append({"tool": name, "args": args})
    return encode({"calls": plan}).decode()


__all__ = ["asks_for_plan", "written_plan"]
