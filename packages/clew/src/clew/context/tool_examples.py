"""Worked examples made from an agent's own tools, where fewer that ship fit them than are wanted.

Each makes two look-ups: of two things that are compared, of one thing and then of what that leads
to, and in vain, which the answer says. Names and facts are invented.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from clew.context.demonstrations import acted, example, finished
from clew.core.actions import Action
from clew.core.codec import Example
from clew.core.tools import Parameters, ToolSpec
from clew.core.values import Json

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


class _LookUpTool(NamedTuple):
    """A tool that looks things up, its parameter for the words, and what its others take."""

    tool: str
    words: str
    others: Mapping[str, Json]

    def of(self, title: str, more: str) -> Action:
        """Its call for a thing, or for more words about that."""
        description = title if self.words in _TITLES else f"{title} {more}"
        return Action(self.tool, {**self.others, self.words: description})


def tool_examples(tools: Sequence[ToolSpec]) -> tuple[Example, ...]:
    """Three examples with the first one or two tools that look things up; else none."""
    ranked = sorted(
        (tool for tool in tools if tool.effect in _RANK), key=lambda tool: _RANK[tool.effect]
    )
    able_tools = [able for tool in ranked if (able := _look_up(tool)) is not None]
    if not able_tools:
        return ()
    first, second = able_tools[0], able_tools[:2][-1]
    return _compared(first), _looked_up(first, second), _missed(first, second)


def _look_up(tool: ToolSpec) -> _LookUpTool | None:
    """How a tool is called that looks things up; None for any other."""
    if not _LOOKS_UP.search(f"{tool.name} {tool.description[:_NEAR]}"):
        return None
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    words = next((each for each in (*_WORDS, *_TITLES) if _free(properties.get(each))), "")
    if not words:
        return None
    first_example = tool.examples[0] if tool.examples else {}
    others: dict[str, Json] = {}
    for name in tool.parameters.get("required", ()):
        if name == words:
            continue
        others[name] = first_example.get(name, _sample(properties.get(name, {})))
        if others[name] is None:
            return None
    return _LookUpTool(tool.name, words, others)


def _free(schema: Any) -> bool:
    """Whether any text fits."""
    if not isinstance(schema, dict):
        return False
    schema_fields = msgspec.convert(schema, dict[str, Any])
    return schema_fields.get("type") == "string" and not schema_fields.keys() & _BOUND


def _sample(schema: Parameters) -> Json:
    """A value that fits, where the schema names one; None where it does not."""
    for value in (*schema.get("examples", ()), *schema.get("enum", ())):
        return value
    return schema.get("const", schema.get("default"))


def _looked_up(first: _LookUpTool, second: _LookUpTool) -> Example:
    """What the first look-up gives is looked up in turn."""
    mill = "The Vellmark mill is a windmill above the village of Aune, built by Oda Brandt."
    miller = "Oda Brandt was a miller. She was born in 1788 in Lund."
    return example(
        "In which year was the builder of the Vellmark mill born? Reply with the year alone.",
        acted(
            "I look up the mill first.",
            (first.of("Vellmark mill", "builder"), mill),
        ),
        acted(
            "It says 'built by Oda Brandt'. Missing: when Oda Brandt was born. I look her up.",
            (second.of("Oda Brandt", "born"), miller),
        ),
        finished("It says 'She was born in 1788'.", "1788"),
    )


def _compared(first: _LookUpTool) -> Example:
    """Two things are asked about, and each is looked up."""
    farrow = "Farrow is a village on the river Lenne, 310 metres above the sea."
    ostrel = "Ostrel is a village with a chapel on a hill. It lies 140 metres above the sea."
    return example(
        "Which lies higher, Farrow or Ostrel? Reply with the name alone.",
        acted("I look up Farrow first.", (first.of("Farrow", "height"), farrow)),
        acted(
            "Farrow: '310 metres above the sea'. Missing: Ostrel. I look it up.",
            (first.of("Ostrel", "height"), ostrel),
        ),
        finished(
            "Ostrel: '140 metres above the sea'. 310 is more than 140, so it is Farrow.", "Farrow"
        ),
    )


def _missed(first: _LookUpTool, second: _LookUpTool) -> Example:
    """Neither look-up says it; they differ, since nothing comes of asking the same again."""
    chapel = "The chapel of Ostrel stands on a hill and has a wooden roof."
    begun, further = first.of("Ostrel chapel", "bells"), second.of("Ostrel", "number of bells")
    return example(
        "How many bells does the chapel of Ostrel have?",
        acted("I look up the chapel.", (begun, chapel)),
        acted(
            "It says 'a wooden roof', and nothing of bells. I ask in other words.",
            (further, "nothing found"),
        ),
        finished("No observation says how many bells it has.", "It was not found."),
    )
