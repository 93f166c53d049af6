"""What a record is, told by its own form: what a file is called says nothing."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeAlias, TypedDict

import msgspec

Record: TypeAlias = dict[str, Any]

UNKNOWN: Final = ""
"""The kind of a record whose form is none of those below."""


Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Words: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\S")]
Number: TypeAlias = Annotated[int, msgspec.Meta(ge=1)]


class _Action(TypedDict, total=False):
    name: str
    arg: str | None


class _Turn(TypedDict, total=False):
    raw: str | dict[str, Any]
    raw_action: str
    repair_call_raw: str | None
    thought: str | None
    actions: list[_Action]
    observation: str | None
    observations: list[dict[str, Any]] | None
    flags: list[str]
    user_reply: str | None
    inbound: list[dict[str, Any]] | None
    user: list[dict[str, Any]] | None
    gold_calls: list[dict[str, Any]]


class _Run(TypedDict, total=False):
    id: Name
    task: Words | None
    turns: list[_Turn]
    tools_ref: str
    max_steps: Number | None
    memory: str | None
    first_user: Words | None
    ticket: Words | None
    final_answer: str | None
    gold: Any
    outcome: dict[str, Any] | None


class _Exchange(TypedDict, total=False):
    uri: str
    status: int
    request: dict[str, Any] | None
    content_type: str | None
    response_text: str | None


class _Wire(TypedDict, total=False):
    id: Name
    interactions: list[_Exchange]


def like(record: object) -> str:
    """The kind that a record is like, whether all its fields are as they have to be or not."""
    return _like(record) if isinstance(record, dict) else UNKNOWN


def strange(record: object) -> str:
    """Why a record is not of the form of its kind; empty where it is."""
    if not isinstance(record, dict):
        return "it is no object"
    if (kind := _like(record)) == UNKNOWN:
        return f"of no known form; it has {', '.join(sorted(record)[:8])}"
    shape: Any = _Wire if kind == "wire" else _Run if kind in RUNS else dict
    try:
        msgspec.convert(record, shape)
    except msgspec.ValidationError as error:
        return f"like {kind}, but: {error}"
    return "" if kind not in RUNS or "id" in record else f"like {kind}, but without an id"


def kind_of(record: object) -> str:
    """The kind of a record; `UNKNOWN` where nothing fits, whatever it is."""
    return _like(record) if isinstance(record, dict) and not strange(record) else UNKNOWN


def _like(record: Record) -> str:
    return next((kind for kind, fits in _FORMS.items() if _fits(fits, record)), UNKNOWN)


def _fits(fits: Callable[[Record], object], record: Record) -> bool:
    try:
        return bool(fits(record))
    except (AttributeError, KeyError, TypeError, ValueError):
        return False


def functions(tools: Any) -> list[Record]:
    """Function definitions, however they are handed over.

    A list of them; an object that holds such a list (`tools`, `functions`, Google's
    `function_declarations`); one alone. What is no definition is left out.
    """
    if isinstance(tools, dict):
        inner = [tools[key] for key in _HOLDS if key in tools]
        if inner:
            return [each for held in inner for each in functions(held)]
        return [tools] if "name" in tools or "function" in tools else []
    if isinstance(tools, list):
        return [each for tool in tools for each in functions(tool)]
    return []


_HOLDS: Final = ("function_declarations", "functionDeclarations", "functions", "tools")


def _turns(record: Record) -> list[Record]:
    return [turn for turn in record["turns"] if isinstance(turn, dict)]


def _named(record: Record) -> set[str]:
    """The names of its tools, or of the calls in it where the tools are not told."""
    tools = functions(record.get("tools"))
    calls = tools or [one for turn in _turns(record) for one in turn.get("actions") or ()]
    return {str(one["name"]).strip().lower() for one in calls}


def _bare(record: Record) -> bool:
    """Whether the protocol of bare commands is named."""
    return "get url" in str(record.get("format", "")).lower()


def _text(record: Record) -> bool:
    """Whether its replies are text, with calls of one argument in brackets."""
    return any(isinstance(turn.get("raw"), str) for turn in _turns(record))


def _messages(record: Record) -> bool:
    """Whether its replies are a provider's messages."""
    return any(isinstance(turn.get("raw"), dict) for turn in _turns(record))


_FORMS: Final[Mapping[str, Callable[[Record], object]]] = {
    "wire": lambda one: isinstance(one["interactions"], list),
    "retrieval-tools": lambda one: one["tool_id"] and one["name"],
    "retrieval-queries": lambda one: one["qid"] and isinstance(one["query"], str),
    "malformed": lambda one: "turns" not in one and "recorded_actions" in one,
    "bfcl-multiturn": lambda one: (
        one["turns"] and all("gold_calls" in turn for turn in one["turns"])
    ),
    "bfcl-single": lambda one: not one.get("turns") and "gold" in one and "tools" in one,
    "talks": _messages,
    "sweagent": lambda one: _text(one) and any("tool_calls" in turn for turn in _turns(one)),
    "medagent": lambda one: _text(one) and (_bare(one) or _named(one) & {"get", "post"}),
    "reflexion-hotpot": lambda one: _text(one) and any("raw_action" in t for t in _turns(one)),
    "react-webshop": lambda one: _text(one) and "click" in _named(one),
    "react-fever": lambda one: _text(one) and "lookup" in _named(one),
    "fireact-hotpot": lambda one: _text(one) and "search" in _named(one),
    "run": lambda one: isinstance(one["turns"], list) and one["turns"],
}
"""The kinds by what every record of theirs has; the first that fits is taken."""

RUNS: Final = frozenset(_FORMS) - {
    *("wire", "retrieval-tools", "retrieval-queries", "malformed", "bfcl-single")
}
"""The kinds whose records are runs: they have turns."""
