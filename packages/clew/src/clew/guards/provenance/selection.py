"""What a person's words single out without naming it.

They do so by number, by what stands there, as all of a list, or as what a page is to be read for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, cast

from clew.core.values import Json
from clew.guards.provenance.addresses import addresses_in
from clew.guards.provenance.alike import Alike
from clew.guards.provenance.posted import Posted
from clew.guards.provenance.records import Record
from clew.guards.provenance.results import Result
from clew.guards.provenance.values import stands_in, stands_in_any, words_in

_EXTREME: Final = re.compile(
    r"\b(most|(?:largest|highest|greatest) number of|fewest|least|(?:smallest|lowest) number of)"
    r"\s+(\w+(?:\W+\w+){0,2})"
)
_LOWEST: Final = ("fewest", "least", "smallest", "lowest")
_ALL: Final = re.compile(r"\b(?:all|each|every)\s+(?:of\s+)?(?:the\s+|my\s+|our\s+)?(\w{3,})")
_WHOSE: Final = re.compile(r"\b(?:her|his|their|its|the|whose|\w+['’]s)\s+(?=(\w+)(?:\s+(\w+))?)")
"""Whose something is, and looking ahead what it is: one of the next two words."""
_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_NEAR: Final = 80
_SHORT: Final = 2


Extreme = tuple[str, str]
"""A superlative, and the words behind it: "most", "unread messages"."""


class Selection:
    """What results of a run say of values, as far as it can single one out."""

    def __init__(self) -> None:
        self._lengths: dict[str, dict[tuple[str, str], int]] = {}
        self._counts: dict[tuple[str, str], dict[str, int]] = {}
        self._entries: dict[str, set[str]] = {}
        self._pointed_at: dict[str, set[str]] = {}
        self._only: dict[str, str] = {}
        self._posted = Posted()
        self._alike = Alike()
        self._new: list[Result] = []
        """Results that nobody has looked at yet for anything but the two below."""
        self._uncounted: list[Result] = []
        """Those of which nothing was counted: most words want nothing by number."""
        self._unposted: list[Result] = []
        """Those whose addresses were not looked for: most runs fetch none."""

    def learn(self, result: Result) -> None:
        """Look at a result later, if anything has to be singled out."""
        self._new.append(result)
        self._uncounted.append(result)
        self._unposted.append(result)

    def _count(self, result: Result) -> None:
        """How much a result lists, for what, and how often each name stands in its records."""
        tool, content, args = result.tool.name, result.content, result.args
        if isinstance(content, list) and len(args) == len(text_args := _texts_in(args)) == 1:
            self._lengths.setdefault(tool, {})[text_args[0]] = len(cast("Sequence[Json]", content))
        for record in result.records:
            for field in result.tool.labels.trusted:
                if isinstance(it := record.get(field), str):
                    counts = self._counts.setdefault((tool, field), {})
                    counts[it] = counts.get(it, 0) + 1

    def _look_at(self, result: Result, words: Sequence[str]) -> None:
        """What a result lists, and what of it the words point at."""
        tool, content, text_args = result.tool.name, result.content, _texts_in(result.args)
        if isinstance(content, list):
            listed = cast("Sequence[Json]", content)
            entries = self._entries.setdefault(tool, set())
            entries.update([it for it in listed if isinstance(it, str)])
        for record in result.records if text_args else ():
            for field in result.tool.labels.trusted:
                if isinstance(it := record.get(field), str) and _point_at(record, it, words):
                    self._pointed_at.setdefault(tool, set()).update(dict(text_args).values())
        if isinstance(content, str):
            self._look_for_address(content, text_args, words)

    def _look_for_address(
        self, content: str, text_args: Sequence[tuple[str, str]], words: Sequence[str]
    ) -> None:
        """Keep the one address of a text, with the last of what was asked for that words have."""
        keys = [it for _, it in text_args if stands_in_any(it.casefold(), words)]
        addresses = {*addresses_in(content)} if keys else set[str]()
        if len(addresses) == 1:
            self._only.update(dict.fromkeys(addresses, keys[-1]))

    def _catch_up(self, words: Sequence[str]) -> None:
        for result in self._new:
            self._look_at(result, words)
        self._new = []

    def keep(self, record: Record) -> None:
        """Keep a record that was asked for by its name."""
        self._alike.learn(record)

    def posted(self, value: str, words: Sequence[str]) -> str | None:
        """How the words point at an address that is only fetched, or None."""
        for result in self._unposted:
            self._posted.learn(result, words)
        self._unposted = []
        return self._posted.has(value, words)

    def singles_out(self, name: str, value: str, words: Sequence[str]) -> str | None:
        """How the words single out a value for an argument, or None."""
        self._catch_up(words)
        if wanted := [it for text in words for it in _extremes_in(text)]:
            for result in self._uncounted:
                self._count(result)
            self._uncounted = []
            for tool in self._lengths:
                if any(value in it for it in self._extremes(tool, name, wanted)):
                    return f"the results of {tool}, by number"
            for (tool, field), counts in self._counts.items():
                if any(value in it for it in _extremes_of(counts, tool, wanted)):
                    return f"{field} of {tool}, by number"
        for tool, entries in self._entries.items():
            if value in entries and any(_wants_all(tool, it) for it in words):
                return f"all that {tool} lists"
        if any(it == {value} for it in self._pointed_at.values()):
            return "where a person's words say that something stands"
        if (key := self._only.get(value)) and any(_stands_at(name, key, it) for it in words):
            return f"the only address in {key}"
        return self._alike.has(name, value, words)

    def _extremes(self, tool: str, name: str, wanted: Sequence[Extreme]) -> Iterator[set[str]]:
        """The values for which a tool lists most or fewest, as it is wanted."""
        for mark, things in wanted:
            best = min if mark.startswith(_LOWEST) else max
            lengths = {it: n for (arg, it), n in self._lengths.get(tool, {}).items() if arg == name}
            if _is_named(tool, things) or not any(_is_named(it, things) for it in self._lengths):
                yield _best(lengths, best)


@lru_cache(maxsize=64)
def _extremes_in(text: str) -> tuple[Extreme, ...]:
    return tuple(_EXTREME.findall(text))


def _extremes_of(
    counts: Mapping[str, int], tool: str, wanted: Sequence[Extreme]
) -> Iterator[set[str]]:
    """The name that a tool's records have most or least often, as it is wanted."""
    for mark, things in wanted:
        if _is_named(tool, things):
            yield _best(counts, min if mark.startswith(_LOWEST) else max)


def _best(counts: Mapping[str, int], best: object) -> set[str]:
    """The one value with the most or the fewest, of several."""
    ranked = sorted(counts.items(), key=lambda it: it[1], reverse=best is max)
    if len(ranked) > 1 and ranked[0][1] != ranked[1][1]:
        return {ranked[0][0]}
    return set()


def _is_named(tool: str, things: str) -> bool:
    """Whether a tool's name has one of these words."""
    parts = _words_of_name(tool)
    return any(it.removesuffix("s") in parts for it in words_in(things) if len(it) > _SHORT)


@lru_cache(maxsize=256)
def _words_of_name(tool: str) -> frozenset[str]:
    return frozenset([it.removesuffix("s") for it in _BETWEEN_WORDS.split(tool.casefold())])


def _wants_all(name: str, text: str) -> bool:
    return any(_is_named(name, thing) for thing in _ALL.findall(text))


def _texts_in(args: Mapping[str, Json]) -> list[tuple[str, str]]:
    """The arguments that are texts."""
    return [(name, it) for name, it in args.items() if isinstance(it, str)]


def _point_at(record: Record, name: str, words: Sequence[str]) -> bool:
    """Whether words name somebody, and have two words in a row of what they wrote."""
    if len(name) <= _SHORT:
        return False
    folded = name.casefold()
    named = [text for text in words if folded in text and stands_in(folded, text)]
    return any(_has_words_of(record, name, text) for text in named)


def _has_words_of(record: Record, name: str, text: str) -> bool:
    """Whether a text has two words in a row of what stands in a record beside a name."""
    pairs = _pairs_of(text)
    for value in record.values():
        if isinstance(value, str) and value != name:
            wrote = words_in(value.casefold())
            if pairs.intersection(pairwise(wrote)):
                return True
    return False


@lru_cache(maxsize=16)
def _pairs_of(text: str) -> frozenset[tuple[str, str]]:
    """Its words in pairs as they follow each other, without short ones."""
    pairs = pairwise(words_in(text))
    return frozenset([it for it in pairs if len(it[0]) > _SHORT and len(it[1]) > _SHORT])


def _stands_at(name: str, key: str, text: str) -> bool:
    """Whether a text says that such an argument stands at an address: "her e-mail is on KEY"."""
    plain, folded = text.replace("e-mail", "email"), key.casefold()
    if folded not in plain:
        return False
    kinds = [it for it in name.casefold().split("_") if len(it) > _SHORT and it in plain]
    wanted = {*kinds, *(f"{it}s" for it in kinds)}
    for whose in _WHOSE.finditer(plain) if kinds else ():
        for word in (1, 2):
            if whose[word] in wanted:
                begin = whose.end(word)
                at = plain.find(folded, begin, begin + _NEAR + len(folded))
                if at >= 0 and "\n" not in plain[begin:at]:
                    return True
    return False
