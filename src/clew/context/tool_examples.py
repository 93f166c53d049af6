"""Worked examples made from an agent's own tools, where fewer that ship fit them than are wanted.

In the one a look-up leads to the answer; in the other nothing does, and the answer says so. Names
and facts are invented.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from clew.codecs.interface import Example
from clew.context.demonstrations import acted, example, finished
from clew.core.events import Action, Json
from clew.core.interfaces import Parameters, ToolSpec

_LOOKS_UP: Final = re.compile(
    r"search|look|find|fetch|read|article|page|passage|document|wiki|encyclop|retriev",
    re.IGNORECASE,
)
"""What the name of a tool that looks things up has, or else its description near its beginning."""

_NEAR: Final = 60

_TITLES: Final = ("title", "entity", "name", "topic", "term", "subject", "keyword", "article")
_WORDS: Final = ("query", "question", "search", "text", "keywords", "words", "phrase", "input", "q")
"""Parameters that take the name of a thing, and those that take words to look for."""

_BOUND: Final = frozenset({"enum", "const", "pattern", "format"})
"""What says that a text is not free."""

_RANK: Final = {"pure": 0, "read": 0, "unsafe": 1}
"""Effects of tools that are shown, the best first; unsafe is whatever is not declared."""


class _LookUp(NamedTuple):
    """A tool that looks things up, its parameter for the words, and what its others take."""

    tool: str
    words: str
    others: Mapping[str, Json]

    def of(self, title: str, more: str) -> Action:
        """Its call for a thing, or for more words about that."""
        said = title if self.words in _TITLES else f"{title} {more}"
        return Action(self.tool, {**self.others, self.words: said})


def tool_examples(tools: Sequence[ToolSpec]) -> tuple[Example, ...]:
    """Two examples with the first one or two tools that look things up; else none."""
    ranked = sorted(
        (tool for tool in tools if tool.effect in _RANK), key=lambda tool: _RANK[tool.effect]
    )
    found = [able for tool in ranked if (able := _look_up(tool)) is not None]
    if not found:
        return ()
    first, second = found[0], found[:2][-1]
    return _found(first, second), _missed(first, second)


def _look_up(tool: ToolSpec) -> _LookUp | None:
    """How a tool is called that looks things up; None for any other."""
    if not _LOOKS_UP.search(f"{tool.name} {tool.description[:_NEAR]}"):
        return None
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    words = next((each for each in (*_WORDS, *_TITLES) if _free(properties.get(each))), "")
    if not words:
        return None
    shown = tool.examples[0] if tool.examples else {}
    others: dict[str, Json] = {}
    for name in tool.parameters.get("required", ()):
        if name == words:
            continue
        others[name] = shown.get(name, _sample(properties.get(name, {})))
        if others[name] is None:
            return None
    return _LookUp(tool.name, words, others)


def _free(schema: Any) -> bool:
    """Whether any text fits."""
    if not isinstance(schema, dict):
        return False
    said = msgspec.convert(schema, dict[str, Any])
    return said.get("type") == "string" and not said.keys() & _BOUND


def _sample(schema: Parameters) -> Json:
    """A value that fits, where the schema names one; None where it does not."""
    for value in (*schema.get("examples", ()), *schema.get("enum", ())):
        return value
    return schema.get("const", schema.get("default"))


def _found(first: _LookUp, second: _LookUp) -> Example:
    """The year is in what the second tool gives; or in what the only one gives at once."""
    mill = "The Vellmark mill is a windmill above the village of Aune."
    year = "The Vellmark mill was built in 1788 by the miller Oda Brandt."
    begun, further = first.of("Vellmark mill", "built"), second.of("Vellmark mill", "year built")
    moves = [acted("I look up the mill.", (begun, year if first is second else mill))]
    if first is not second:
        moves.append(acted("That does not say when, so I look further.", (further, year)))
    return example(
        "In which year was the Vellmark mill built?",
        *moves,
        finished("The observation says it.", "1788"),
    )


def _missed(first: _LookUp, second: _LookUp) -> Example:
    """Neither look-up says it; they differ, since nothing comes of asking the same again."""
    chapel = "The chapel of Ostrel stands on a hill and has a wooden roof."
    begun, further = first.of("Ostrel chapel", "bells"), second.of("Ostrel", "number of bells")
    return example(
        "How many bells does the chapel of Ostrel have?",
        acted("I look up the chapel.", (begun, chapel)),
        acted("That does not say how many, so I ask in other words.", (further, "nothing found")),
        finished("No observation says it, and I do not guess.", "It was not found."),
    )
