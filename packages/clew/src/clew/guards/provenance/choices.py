"""Arguments with few values: which of them a tool's schema offers, and which a person chose."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, cast

from clew.core.tools import ToolSpec
from clew.core.values import Json
from clew.guards.provenance.values import is_edge, spans_of, stands_in_any

_OFFERING: Final = frozenset(
    ("$ref", "enum", "const", "default", "anyOf", "allOf", "oneOf", "items")
)
"""The fields of a schema that offer values; most arguments have none of them."""
_BETWEEN: Final = re.compile(r"\w*\s+")
"""What may stand between an abbreviation and the name of an argument."""
_WORD_BEFORE: Final = re.compile(r"\b(\w{4,})\s+\Z")


def choices(schema: Mapping[str, Json], name: str) -> list[Json]:
    """The values that a tool's schema itself offers for an argument."""
    known = _property(schema, name)
    if _OFFERING.isdisjoint(known):
        return []
    return [*_offered(schema.get("$defs", {}), known)]


def is_usual(schema: Mapping[str, Json], name: str, value: Json) -> bool:
    """Whether a value is what the tool takes where the argument is left out, or says nothing."""
    if value is None or value == "":
        return True
    usual = _property(schema, name).get("default")
    return value == usual if usual is not None else value is False


def is_chosen(name: str, value: Json, words: Sequence[str]) -> bool:
    """Whether casefolded words choose a value: they have it, or the argument's name if it is True.

    An abbreviation will do beside the name: `r` of `permission` for "read permission".
    """
    plain = name.casefold().replace("_", " ")
    if value is True:
        return any(all(word in text for word in plain.split()) for text in words)
    wanted = str(value).casefold()
    return stands_in_any(wanted, words) or any(_is_beside(wanted, plain, it) for it in words)


def _is_beside(wanted: str, plain: str, text: str) -> bool:
    if wanted not in text or plain not in text:
        return False
    for begin, end in spans_of(wanted, text):
        between = _BETWEEN.match(text, end) if is_edge(text, begin) else None
        if between is not None and text.startswith(plain, between.end()):
            behind = between.end() + len(plain)
            if is_edge(text, behind) or (
                text[behind : behind + 1] == "s" and is_edge(text, behind + 1)
            ):
                return True
    return False


def properties(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """The arguments of a tool, by name."""
    return schema.get("properties") or {}


def is_asked_for(tool: ToolSpec, name: str, words: Sequence[str]) -> bool:
    """Whether casefolded words ask for an argument: they have its name, that of a field that it
    must have, or what the tool's description says is done with it, as in "invite guests".
    """
    asking = (*_words_for(name, tool.description), *_required(tool.parameters, name))
    return any(stands_in_any(it, words) for it in asking)


@lru_cache(maxsize=512)
def _words_for(name: str, description: str) -> tuple[str, ...]:
    """The name of an argument in words, and what a description says is done with it."""
    plain, about = name.casefold().replace("_", " "), description.casefold()
    if plain not in about:
        return (plain,)
    begins = [at for at, end in spans_of(plain, about) if is_edge(about, end)]
    words = (_WORD_BEFORE.search(about, 0, at) for at in begins)
    return (plain, *(word[1] for word in words if word is not None))


def _property(schema: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    known: Mapping[str, Json] = properties(schema).get(name, {})
    return known


def _required(schema: Mapping[str, Json], name: str) -> list[str]:
    """The fields that an argument must have if it is an object, casefolded."""
    return [str(it).casefold() for it in _property(schema, name).get("required", ())]


def _offered(
    named: Mapping[str, Json], schema: Mapping[str, Json], within: tuple[str, ...] = ()
) -> Iterator[Json]:
    """The values that a schema offers; `within` are the named ones that led to it."""
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    if name in named and name not in within:
        yield from _offered(named, named[name], (*within, name))
    yield from schema.get("enum", ())
    yield from (schema[key] for key in ("const", "default") if key in schema)
    for key in ("anyOf", "allOf", "oneOf"):
        for each in schema.get(key, ()):
            yield from _offered(named, each, within)
    if isinstance(items := schema.get("items"), dict):
        yield from _offered(named, cast("Mapping[str, Json]", items), within)
