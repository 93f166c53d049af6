"""Repairs between a prompt and the wire: what a server refuses of a conversation is sent otherwise.

Providers differ in what they take of a history that any of them could have written: the order of
roles, the shape of ids, what a model thought, keywords of schemas. A prompt is in no provider's
form; each request is written from a repaired copy. Which repairs a provider needs from the start is
in the table `FAMILIES`. All others are chosen by what a refusal complains of (`complaints`),
recorded with the reply, and kept for the rest of the run. The last one sends the earlier steps as
text, which no rule about roles, ids, signatures or calls can refuse.

Sources of the rules are named in `clew_testing.servers.doors`, whose servers hold clew to them.
"""

import hashlib
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final
from weakref import WeakKeyDictionary

import msgspec

from clew.core.contents import Attachment
from clew.core.prompts import Part, Prompt
from clew.models.tool_schema import LEVELS

WORDS: Final[Mapping[str, str]] = {
    "unique": "each call has an id of its own",
    "ids": "ids of calls are nine letters and digits",
    "single": "one call at a time",
    "roles": "the person and the model take turns",
    "system": "instructions stand in the first message",
    "text": "earlier steps are sent as text",
    "apart": "what tools show follows their results",
    "reasoning": "a stand-in where a step has no reasoning",
    "thought": "a stand-in where a step has no thinking",
    "signature": "a stand-in where a call has no signature",
    "patterns": "schemas of tools without patterns and formats",
    "schemas": "schemas of tools with types and names only",
    "open": "schemas of tools in their descriptions",
}
"""What each repair does, for people."""

ON_PARTS: Final = frozenset({"unique", "ids", "single", "roles", "system", "text"})
"""The repairs that `History` makes; adapters make the others."""

IN_CHAT: Final = ON_PARTS | LEVELS | {"reasoning", "signature"}
"""What helps at a Chat Completions server."""


FAMILIES: Final[tuple[tuple[re.Pattern[str], frozenset[str]], ...]] = (
    # Mistral's own service, and its models wherever they are served with its rules or template.
    (
        re.compile(
            r"mistral:|(?:vllm|llamacpp|lmstudio):.*(?:mistral|ministral|devstral|magistral)"
        ),
        frozenset({"roles", "ids"}),
    ),
    # Gemma's template knows no system prompt and only turns, wherever a template is applied as is.
    (re.compile(r"(?:vllm|llamacpp|lmstudio):.*gemma"), frozenset({"roles"})),
    # Responses refuses a call id that comes twice in one request.
    (re.compile(r"[\w.-]+-responses:"), frozenset({"unique"})),
)
"""What is repaired from the start, by `provider:model` (its beginning)."""


def family(name: str) -> frozenset[str]:
    """The repairs that this `provider:model` is known to need."""
    of_family = (repairs for known, repairs in FAMILIES if known.match(name.lower()))
    return next(of_family, frozenset[str]())


BRIDGE: Final = Part("assistant", "Understood.")
"""Said for the model between the results of its calls and what a person or clew says then."""

BEGIN: Final = Part("user", "Begin.")
GO_ON: Final = Part("user", "Go on.")
"""Said where the model would begin, follow itself, or have the last word."""

_ATTACHMENTS: Final = operator.attrgetter("attachments")
_NINE: Final = re.compile(r"[a-zA-Z0-9]{9}")


@dataclass
class History:
    """Repairs the prompts of one model; a part that was changed is made, and encoded, once.

    `takes` are the media types (or their beginnings) of attachments that its messages may show, and
    `in_results` of those that results of calls may: what a tool shows beside them follows in a
    message of the user's.
    """

    takes: frozenset[str] = frozenset()
    in_results: frozenset[str] = frozenset()
    _renamed: WeakKeyDictionary[Part, tuple[tuple[str, ...], Part]] = field(
        default_factory=WeakKeyDictionary[Part, tuple[tuple[str, ...], Part]]
    )
    _as_text: WeakKeyDictionary[Part, Part] = field(default_factory=WeakKeyDictionary[Part, Part])
    _apart: WeakKeyDictionary[Part, tuple[frozenset[str], Part, Part]] = field(
        default_factory=WeakKeyDictionary[Part, tuple[frozenset[str], Part, Part]]
    )

    def repaired(self, prompt: Prompt, repairs: frozenset[str]) -> Prompt:
        """The prompt with these repairs; the very same one where nothing has to be changed."""
        if (
            self.takes
            and "images" not in repairs
            and any(map(_ATTACHMENTS, chain(prompt.head, prompt.parts)))
        ):
            inside = frozenset[str]() if "apart" in repairs else self.in_results
            head, steps = (
                self._attachments_apart(prompt.head, inside),
                self._attachments_apart(prompt.parts, inside),
            )
            prompt = msgspec.structs.replace(prompt, head=tuple(head), parts=steps)
        if not repairs & ON_PARTS:
            return prompt
        sections: list[Sequence[Part]] = [prompt.head, prompt.parts, prompt.tail]
        if "text" in repairs:
            sections = [list(map(self._told, section)) for section in sections]
        elif repairs & {"unique", "ids"}:
            sections = self._with_own_ids(sections, nine="ids" in repairs)
        if repairs & {"single", "roles", "system", "text"}:
            parts = [part for section in sections for part in section]
            parts = _one_call_each(parts) if "single" in repairs else parts
            parts = _in_turns(parts) if repairs & {"roles", "system", "text"} else parts
            parts = _without_system(parts) if "system" in repairs else parts
            sections = [parts, (), ()]
        if all(map(operator.is_, sections, (prompt.head, prompt.parts, prompt.tail))):
            return prompt
        head, steps, tail = sections
        return msgspec.structs.replace(prompt, head=tuple(head), parts=steps, tail=tuple(tail))

    def _attachments_apart(self, parts: Sequence[Part], inside: frozenset[str]) -> Sequence[Part]:
        """The parts with what no result may show in messages behind those of its step."""
        made: list[Part] = []
        waiting: list[Part] = []
        for part in parts:
            if part.role != "tool":
                made += waiting
                waiting = []
            elif part.attachments:
                part, outside = self._split(part, inside)  # noqa: PLW2901 - from here on it is that
                waiting += [outside] if outside.attachments else []
            made.append(part)
        made += waiting
        return parts if all(map(operator.is_, parts, made)) else made

    def _split(self, part: Part, inside: frozenset[str]) -> tuple[Part, Part]:
        """A result with what may stand in it, or is told in words; and a message with the rest."""
        known = self._apart.get(part)
        if known is None or known[0] != inside:
            outside: list[Attachment] = []
            rest: list[Attachment] = []
            for each in part.attachments:
                taken = each.media_type.startswith(tuple(self.takes))
                stays = not taken or each.media_type.startswith(tuple(inside))
                (rest if stays else outside).append(each)
            told = _copy(part, attachments=tuple(rest)) if outside else part
            message = Part("user", f"Shown by {part.name}:", attachments=tuple(outside))
            known = self._apart[part] = (inside, told, message)
        return known[1:]

    def _with_own_ids(
        self, sections: Sequence[Sequence[Part]], *, nine: bool
    ) -> list[Sequence[Part]]:
        """Sections in which no two calls have one id; a result is given that of its call.

        An id depends on what stands before it only, so that it stays the same in later prompts.
        """
        taken: set[str] = set()
        ids: dict[str, str] = {}
        made: list[Sequence[Part]] = []
        for section in sections:
            parts: list[Part] = []
            changed = False
            for part in section:
                new = part
                if part.calls:
                    ids = {call.id: _own_id(call.id, taken, nine=nine) for call in part.calls}
                    new = self._with_ids(part, tuple(ids.values()))
                elif part.role == "tool":
                    new = self._with_ids(part, (ids.get(part.call_id, part.call_id),))
                changed = changed or new is not part
                parts.append(new)
            made.append(parts if changed else section)
        return made

    def _with_ids(self, part: Part, ids: tuple[str, ...]) -> Part:
        """The part with these ids of its calls, or of the call that it answers."""
        if ids == (tuple(call.id for call in part.calls) if part.calls else (part.call_id,)):
            return part
        known = self._renamed.get(part)
        if known is None or known[0] != ids:
            if part.calls:
                named = zip(part.calls, ids, strict=True)
                calls = tuple(msgspec.structs.replace(call, id=id_) for call, id_ in named)
                new = _copy(part, calls=calls)
            else:
                new = _copy(part, call_id=ids[0])
            known = self._renamed[part] = (ids, new)
        return known[1]

    def _told(self, part: Part) -> Part:
        """A part of an earlier step as a person would tell it, and any other as it is.

        Nothing of it is the model's own words: models go on as they see themselves begin.
        """
        if part.role in {"system", "user"}:
            return part
        if (told := self._as_text.get(part)) is None:
            told = self._as_text[part] = _copy(
                part, role="user", text=_narrated(part), calls=(), call_id="", name="", wire=None
            )
        return told


def _copy(part: Part, **changes: object) -> Part:
    return replace(part, encoded={}, **changes)  # type: ignore[arg-type]  # fields of a Part


def _own_id(call_id: str, taken: set[str], *, nine: bool) -> str:
    """An id that no earlier call has: the call's own where it can be."""
    number, mine = 1, call_id
    if nine and not _NINE.fullmatch(mine):
        mine = _digest(call_id)
    while mine in taken:
        number += 1
        mine = _digest(f"{call_id}#{number}") if nine else f"{call_id}_{number}"
    taken.add(mine)
    return mine


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:9]


def _narrated(part: Part) -> str:
    """What a step said, called or was given, in plain words."""
    if part.role == "tool":
        return f"[result of {part.name or 'the call'}]\n{part.text}"
    narrated = [f"[you said]\n{part.text}"] if part.text.strip() else []
    called = (f"[you called {call.name}] {call.arguments or '{}'}" for call in part.calls)
    return "\n".join([*narrated, *called]) or "[you said nothing]"


def _one_call_each(parts: Iterable[Part]) -> list[Part]:
    """Calls that were made together, one after the other, each with its result behind it."""
    made: list[Part] = []
    waiting: dict[str, Part] = {}
    for part in parts:
        if len(part.calls) > 1:
            first, *others = part.calls
            made.append(_copy(part, calls=(first,)))
            waiting = {call.id: Part("assistant", "", calls=(call,)) for call in others}
            continue
        if part.role == "tool" and part.call_id in waiting:
            made.append(waiting.pop(part.call_id))
        made.append(part)
    return made


def _in_turns(parts: Iterable[Part]) -> list[Part]:
    """One system prompt first, then turns of user and assistant, results behind the calls only.

    The calls of a step and their results count as one with what the model says next. Text of one
    side that would follow itself is joined, and nobody speaks behind a result but the model.
    """
    made: list[Part] = []
    for part in parts:
        last = made[-1] if made else None
        if part.role == "system" and any(one.role != "system" for one in made):
            part = _copy(part, role="user")  # noqa: PLW2901 - from here on it is one of the user's
        if last is None:
            made += [BEGIN] if part.role == "assistant" else []
        elif part.role == last.role and part.role in {"system", "user"}:
            made[-1] = _joined(last, part)
            continue
        elif part.role == "user" and last.role == "tool":
            made.append(BRIDGE)
        elif part.role == "assistant" and last.role == "system":
            made.append(BEGIN)
        elif part.role == last.role == "assistant":
            made.append(GO_ON)
        made.append(part)
    if made and made[-1].role == "assistant":
        made.append(GO_ON)
    return made


def _joined(first: Part, then: Part) -> Part:
    texts = [text for text in (first.text, then.text) if text]
    both = (*first.attachments, *then.attachments)
    return Part(first.role, "\n\n".join(texts), attachments=both)


def _without_system(parts: Sequence[Part]) -> list[Part]:
    """The system prompt as the beginning of the first message."""
    if not parts or parts[0].role != "system":
        return [*parts]
    first, *rest = parts
    if rest and rest[0].role == "user":
        first = _joined(first, rest.pop(0))
    return [_copy(first, role="user"), *rest]
