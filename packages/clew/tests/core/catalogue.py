"""Very many tools, made up: each verb with each noun."""

import functools
import hashlib
import re
from collections.abc import Sequence
from typing import Any

from clew import Tool

FIRST = (
    "book_bicycle",
    "count_ferry",
    "book_passport",
    "tag_canoe",
    "book_volcano",
    "inspect_yacht",
)
"""These are among them, however few there are."""

VERBS = re.findall(
    r"\w+",
    "book cancel rent repair paint weigh count rotate translate encrypt compress schedule archive "
    "publish approve reject inspect measure calibrate ship unload refund renew suspend tag merge "
    "split rename duplicate export import sort filter rank summarise forecast simulate audit sign "
    "seal",
)
NOUNS = re.findall(
    r"\w+",
    "bicycle ferry lighthouse invoice passport orchard violin telescope glacier bakery aquarium "
    "harbour library museum tunnel bridge cactus compass saddle lantern kettle anchor parachute "
    "windmill greenhouse observatory typewriter chandelier submarine vineyard carousel accordion "
    "marathon sculpture meadow quarry reservoir satellite tractor umbrella volcano warehouse yacht "
    "zeppelin beehive canoe drawbridge espresso fountain",
)


@functools.cache
def catalogue(count: int, hidden: str = "") -> tuple[Tool, ...]:
    """So many tools, spread over all verbs and nouns; `hidden` is hidden."""
    names = [f"{verb}_{noun}" for noun in NOUNS for verb in VERBS]
    chosen = [*dict.fromkeys((*FIRST, *names[:: max(1, len(names) // count)]))][:count]
    return tuple(_tool(name, hidden=name == hidden) for name in chosen)


def _tool(name: str, *, hidden: bool) -> Tool:
    verb, noun = name.split("_")

    async def call(args: dict[str, Any], key: str) -> str:
        return f"{verb}: {noun} {args[noun]}"

    parameters = {
        "type": "object",
        "properties": {noun: {"type": "string", "description": f"Which {noun}"}},
        "required": [noun],
        "additionalProperties": False,
    }
    said = f"{verb.capitalize()} the {noun} that has this name."
    return Tool(name, said, parameters, call, effect="read", hidden=hidden)


def letters(texts: Sequence[str]) -> list[list[float]]:
    """An embedding of no great mind: how often each trigram occurs, in 64 boxes."""
    return [_boxes(text.lower()) for text in texts]


def _boxes(text: str) -> list[float]:
    boxes = [0.0] * 64
    for start in range(len(text) - 2):
        boxes[hashlib.blake2b(text[start : start + 3].encode()).digest()[0] % 64] += 1.0
    return boxes
