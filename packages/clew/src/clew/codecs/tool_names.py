"""Where a text names tools, in any spelling of their names: `CancelBooking`, `cancel-booking`.

It serves to find what may be a call. What is called goes by the name as it was declared.
"""

import html
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

import msgspec

from clew.codecs.arguments import fields, may_act, tool_named, visible_tools
from clew.core.codec import PromptSpec
from clew.core.tools import Parameters
from clew.support.lazy_regex import Lazy
from clew.support.text_folding import plain

WORD: Final = Lazy(r"\w++(?:[./-]\w++)*+")
"""A word as a name may be one, with what may part its pieces."""

QUALIFIED: Final = ("functions.", "function.", "default_api.", "tools.")
"""What models write ahead of the names of tools."""
_INNER: Final = re.compile(r"[_./ -]|\d|[a-z][A-Z]")
_PIECES: Final = re.compile(r"[_./ -]+|(?<=[a-z])(?=[A-Z])")


def bare(name: str) -> str:
    """A name without case and separators: `cancel_booking`, `CancelBooking`, `cancel-booking`."""
    return name.lower() if name.isalnum() else re.sub(r"[\W_]+", "", name).lower()


def readable(text: str) -> str:
    """The text as it is looked at: nothing escaped for a page, nothing invisible."""
    return plain(html.unescape(text) if "&" in text else text)


class ToolNames:
    """The names of the tools that may be called, in any spelling."""

    def __init__(self, known: frozenset[str]) -> None:
        self._by_bare = {bare(name): name for name in sorted(known)}
        self._spaced: dict[str, str] = {}
        self._lengths: dict[str, set[int]] = {}
        for name in sorted(known):
            first, *more = [piece.lower() for piece in _PIECES.split(name)]
            if more:
                words = " ".join([first, *more])
                self._spaced[words] = name
                self._lengths.setdefault(first, set()).add(len(words))

    def named(self, word: str) -> str:
        """The tool that a word names; "" where it names none."""
        ahead = next(filter(word.startswith, QUALIFIED), "")
        return self._by_bare.get(bare(word.removeprefix(ahead)), "")

    def spaced(self, text: str, word: re.Match[str]) -> tuple[str, int]:
        """The tool whose name stands there as several words, and where it ends."""
        for length in sorted(self._lengths.get(word[0].lower(), ()), reverse=True):
            end = word.start() + length
            name = self._spaced.get(text[word.start() : end].lower(), "")
            if name and not text[end : end + 1].isalnum():
                return name, end
        return "", 0


@lru_cache(maxsize=16)
def _names(known: frozenset[str]) -> ToolNames:
    return ToolNames(known)


class Named(msgspec.Struct, frozen=True):
    """Where in a text tools are named: the tool and the end, by the start.

    `words` are those that are one word, `all` also those that stand there as several; `schemas` are
    those of the parameters of all these tools.
    """

    text: str
    words: Mapping[int, tuple[str, int]]
    all: Mapping[int, tuple[str, int]]
    schemas: Mapping[str, Parameters]


def named(prompt_spec: PromptSpec, text: str) -> Named:
    """All names of tools in a text."""
    known = {
        *prompt_spec.known,
        *(tool.name for tool in visible_tools(prompt_spec)),
        *prompt_spec.later,
    }
    names = _names(frozenset(known))
    words: dict[int, tuple[str, int]] = {}
    spaced: dict[int, tuple[str, int]] = {}
    for word in WORD.finditer(text):
        if name := names.named(word[0]):
            words[word.start()] = name, word.end()
            continue
        name, end = names.spaced(text, word)
        if name:
            spaced[word.start()] = name, end
    with_letters = {name for name, _ in (*words.values(), *spaced.values())}
    schemas = {
        key: schema
        for name in sorted(with_letters)
        if (tool := tool_named(prompt_spec, name)) is not None
        for key, schema in fields(tool.parameters).items()
    }
    return Named(text, words, {**words, **spaced}, schemas)


def is_compound(name: str) -> bool:
    """Whether a name is no mere word of a language: `get_weather`, and not `weather`."""
    return _INNER.search(name) is not None


def distinct(prompt_spec: PromptSpec, name: str) -> bool:
    """Whether a name is no mere word, or its tool does what must not be claimed."""
    return is_compound(name) or may_act(prompt_spec, name)
