"""How a strategy reads its own record: not as a conversation, but as requests and results.

A conversation shows failures and reminders as text, and an answer may be the same text. Here each
result says what it is, and only what a person said is a user's part.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from clew.codecs import Native
from clew.codecs.interface import SHOWN_CHARS, Parsed, PromptSpec
from clew.core.events import Code, Json, Note, Outcome, RawCall, Reply, encode
from clew.core.interfaces import Calls, OnText, Parameters, Part, Prompt
from clew.core.trajectory import Call, Step
from clew.strategies.interface import Request, RoleResult

_NATIVE: Final = Native(spellings=False)


class _Result(msgspec.Struct, frozen=True):
    """What came of a request, as it stands in a prompt."""

    ok: bool
    content: Any
    cut: bool = False
    """Whether the content is too long, so that only its ends are there."""
    code: Code = ""
    outcome: Outcome = "done"


class _CutShort(msgspec.Struct, forbid_unknown_fields=True):
    """The content of a run that a limit made answer early."""

    answer: Any
    cut_short: str


@dataclass(frozen=True)
class StrategyCodec:
    """Requests are calls, each result is JSON. Replies are read as in the codec `native`."""

    name = "strategy/1"
    stop = ()
    native = True

    def head(self, brief: PromptSpec, goal: str) -> tuple[Part, ...]:
        """What a person asked first."""
        return (Part("system", brief.prompt), Part("user", goal))

    def render(self, brief: PromptSpec, step: Step) -> tuple[Part, ...]:
        """The requests as they were made, their results, and what people have said since."""
        parts: list[Part] = []
        if step.calls:
            calls = tuple(
                RawCall(call.action.name, encode(call.action.args).decode(), call.key)
                for call in step.calls
            )
            thought = "" if step.thought is None else step.thought.text
            parts.append(Part("assistant", thought, calls))
            parts += [
                Part("tool", _result(call), (), call.key, call.action.name) for call in step.calls
            ]
        notes = (notice for notice in step.notices if isinstance(notice, Note))
        parts += [Part("user", note.text) for note in notes if note.source == "person"]
        return tuple(parts)

    def tail(self, brief: PromptSpec, notes: Sequence[str], step: int) -> tuple[Part, ...]:
        """Nothing: reminders are for models."""
        return ()

    def reply_schema(self, brief: PromptSpec, calls: Calls) -> Parameters | None:
        """None: a strategy's replies need no schema."""
        return None

    def parse(self, brief: PromptSpec, reply: Reply) -> Parsed:
        """The requests, or the answer."""
        return _NATIVE.parse(brief, reply)

    def stream_filter(self, show: Callable[[str], None]) -> OnText:
        """Show everything."""
        return _NATIVE.stream_filter(show)


def _result(call: Call) -> str:
    seen = call.observation
    if seen is None:
        return ""
    cut = isinstance(seen.content, str) and len(seen.content) > SHOWN_CHARS
    return encode(_Result(seen.ok, seen.content, cut, seen.code, seen.outcome)).decode()


def latest_task(prompt: Prompt) -> tuple[str, Sequence[Part]]:
    """The last thing a person asked, and the parts after it."""
    parts = list(prompt.parts)
    for index in reversed(range(len(parts))):
        if parts[index].role == "user":
            return parts[index].text, parts[index + 1 :]
    return next(part.text for part in reversed(prompt.head) if part.role == "user"), parts


def exchanges(
    parts: Sequence[Part],
    roles: Mapping[str, str],
    texts: frozenset[str],
    typed: frozenset[str],
) -> Iterator[tuple[tuple[Request, ...], tuple[RoleResult, ...]]]:
    """The requests of each step, and their results.

    `roles` are the roles of calls that have the name of a tool. The roles of `texts` answer with
    text, even if it looks like JSON, and those of `typed` with JSON. A tool may return either.
    """
    results = {part.call_id: part for part in parts if part.role == "tool"}
    for part in parts:
        if part.role != "assistant":
            continue
        requests = tuple(
            Request(roles.get(call.name, call.name), msgspec.json.decode(call.arguments or "{}"))
            for call in part.calls
        )
        yield (
            requests,
            tuple(
                _ended(call, msgspec.json.decode(results[call.id].text, type=_Result), texts, typed)
                for call in part.calls
            ),
        )


def _ended(
    made: RawCall, found: _Result, texts: frozenset[str], typed: frozenset[str]
) -> RoleResult:
    content: Json = found.content
    text = content if isinstance(content, str) else encode(content).decode()
    if not found.ok:
        return RoleResult(
            made.id, ok=False, answer=None, text=text, code=found.code, outcome=found.outcome
        )
    if found.cut and made.name in typed:
        text = f"ERROR: {made.name} gave {len(text):,} characters, too long to be read"
        return RoleResult(made.id, ok=False, answer=None, text=text)
    if isinstance(content, str) and made.name not in texts | typed:
        content = _json(content)
    try:
        early = msgspec.convert(content, _CutShort)
    except msgspec.ValidationError:
        return RoleResult(made.id, ok=True, answer=content, text=text, partial=found.cut)
    return RoleResult(made.id, ok=True, answer=early.answer, text=text, cut_short=early.cut_short)


def _json(text: str) -> Json:
    """What a tool printed: JSON, or the text as it is."""
    try:
        value: Json = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return value
