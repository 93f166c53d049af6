"""Where the values of a call's arguments come from, as the record of a verdict keeps it.

It is data for whoever shows the call, and small: so many arguments, so many origins of each, and
only parts that are short. None is cut: what is blotted out of a record is found only as a whole.
"""

import re
from collections.abc import Mapping
from itertools import chain, filterfalse, islice, repeat
from typing import Final

from msgspec.structs import replace

from clew.core.values import Json
from clew.core.verdicts import Origin, OriginKind
from clew.guards.provenance.judgement import COMPUTED_END, OFFERED, OPEN_TIME, PLAN, Judgement
from clew.guards.provenance.numbers import COMPUTED, PERSON
from clew.guards.provenance.origins import ABOVE, ALLOWED, CONFIG, Origins
from clew.guards.provenance.values import is_choice, leaves, stands_in_any
from clew.guards.provenance.vouched import BY_GUARD

MAX_ARGUMENTS: Final = 32
MAX_VALUES: Final = 200
MAX_ORIGINS: Final = 8
MAX_PARTS: Final = 8
MAX_CHARS: Final = 200

_KINDS: Final[Mapping[str, OriginKind]] = {
    PERSON: "person",
    CONFIG: "configuration",
    PLAN: "plan",
    OFFERED: "choice",
    COMPUTED: "computed",
    COMPUTED_END: "computed",
    OPEN_TIME: "person",
    ALLOWED: "allowed",
    ABOVE: "above",
    "the question": "question",
    "a text that was pasted": "pasted",
    "the run from outside": "outside",
    "": "model",
}
_WORDS: Final[Mapping[OriginKind, str]] = {
    "person": PERSON,
    "configuration": CONFIG,
    "plan": PLAN,
    "choice": OFFERED,
    "computed": COMPUTED,
    "allowed": ALLOWED,
    "above": ABOVE,
    "question": "the question",
    "note": "a note",
    "pasted": "a text that was pasted",
    "outside": "the run from outside",
    "model": "nothing in the record: the model",
    "guard": "a guard",
    "result": "results",
}
_CALL: Final = re.compile(r"\((\d+\.\d+)\)$")


def describe_origin(origin: Origin) -> str:
    """An origin in words."""
    if origin.kind == "guard":
        return f"set by guard {origin.tool}"
    if not origin.call:
        return _WORDS[origin.kind]
    field = f"{origin.field!r} of " if origin.field else ""
    return f"{field}{origin.tool} ({origin.call})"


def recorded(judgement: Judgement) -> dict[str, tuple[Origin, ...]]:
    """By the name of each argument: who gave its values, and which of them are doubtful."""
    doubted = [it.argument for it in judgement.doubts if it.argument and _short(it.argument)]
    every = [*dict.fromkeys([*filter(_short, judgement.pending.args), *doubted])]
    told = {*sorted(every, key=lambda name: name not in doubted)[:MAX_ARGUMENTS]}
    return {name: _of(judgement, name) for name in every if name in told}


def _of(judgement: Judgement, name: str) -> tuple[Origin, ...]:
    """The origins of an argument, doubtful ones first, each once, with the parts it gave."""
    value = judgement.pending.args.get(name)
    parts_of: dict[Origin, list[Json]] = {}
    for part, doubtful in _parts(judgement, name, value):
        origin = _origin(judgement, name, part, doubtful=doubtful)
        parts = parts_of.setdefault(origin, [])
        if doubtful and part != value and part not in parts and _short(part):
            parts.append(part)
    told = [*parts_of.items()][:MAX_ORIGINS]
    return tuple([replace(it, parts=(*of[:MAX_PARTS],)) if of else it for it, of in told])


def _parts(judgement: Judgement, name: str, value: Json) -> list[tuple[Json, bool]]:
    """Each doubtful part of an argument, then each other value in it; whether it is doubtful."""
    doubts = [it.values for it in judgement.doubts if it.argument == name]
    parts = dict.fromkeys(chain.from_iterable(doubts))
    others = filterfalse(parts.__contains__, leaves(value))
    every = chain(zip(parts, repeat(True)), zip(others, repeat(() in doubts)))
    return [*islice(every, MAX_VALUES)]


def _spoken(origins: Origins, value: Json) -> str | None:
    """Whether a person's words have a value, if only where they decide nothing."""
    if is_choice(value):
        return None
    return PERSON if stands_in_any(str(value).casefold(), origins.words) else None


def _origin(judgement: Judgement, name: str, value: Json, *, doubtful: bool) -> Origin:
    """Who gave a value: something trusted, else the text in which it was seen."""
    origins = judgement.origins
    known = judgement.origin(name, value) or origins.of(value) or _spoken(origins, value)
    source, trusted = known or origins.untrusted.source_of(value), known is not None
    if (kind := _KINDS.get(source)) is not None:
        return Origin(kind, trusted=trusted, doubtful=doubtful)
    if source.startswith(BY_GUARD):
        name = source.removeprefix(BY_GUARD)
        return Origin("guard", tool=name, trusted=True, doubtful=doubtful)
    if source.endswith("note"):
        return Origin("note", trusted=trusted, doubtful=doubtful)
    call = _CALL.search(source)
    if call is None:
        return Origin("result", trusted=trusted, doubtful=doubtful)
    tool, field = _field_of(origins, call[1], value)
    return Origin("result", call[1], tool, field, trusted=trusted, doubtful=doubtful)


def _field_of(origins: Origins, key: str, value: Json) -> tuple[str, str]:
    """The tool whose result has a value, and the field in which it stands there."""
    result, text = origins.results.get(key), str(value)
    if result is None:
        return "", ""
    for name, it in result.named:
        if text in str(it) and _short(name):
            return result.tool.name, name
    return result.tool.name, ""


def _short(value: Json) -> bool:
    """Whether it is short enough to be kept."""
    return len(str(value)) <= MAX_CHARS
