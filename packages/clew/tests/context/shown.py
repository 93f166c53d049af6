"""All that models are shown of the examples, instructions and variants that ship, as one text.

    $ PYTHONPATH=. python -m tests.context.shown

writes shown.txt anew: another word in it is another prompt for every model that was measured.
"""

import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from clew.context.demonstrations import DEMONSTRATIONS
from clew.context.instructions import PROMPT, SHORT, Instructions
from clew.context.summary import ASKED
from clew.context.tool_examples import tool_examples
from clew.context.variants import VARIANTS, Variant
from clew.core.codec import Example
from clew.core.tools import ToolSpec
from clew.core.values import encode

SHOWN: Final = Path(__file__).parent / "shown.txt"

TEXT: Final[dict[str, Any]] = {"type": "string"}
TOOLS: Final = (
    ToolSpec("search_wiki", "Search.", {"properties": {"query": TEXT}}, effect="read"),
    ToolSpec("get_page", "Read a page.", {"properties": {"title": TEXT}}, effect="read"),
)


def shown() -> str:
    """The whole text."""
    examples = (*DEMONSTRATIONS, *tool_examples(TOOLS), *tool_examples(TOOLS[1:]))
    lines = [line for one in examples for line in _example(one)]
    lines += [*_settings("the prompt", PROMPT), PROMPT.text, *_settings("short", SHORT), SHORT.text]
    for variant in VARIANTS:
        lines += _settings(variant.name, variant)
    return "\n".join([*lines, ASKED]) + "\n"


def _example(one: Example) -> Iterator[str]:
    yield f"# {one.goal}"
    for step in one.steps:
        yield f"{step.number}: {step.thought.text if step.thought is not None else ''}"
        for call in step.calls:
            yield f"{call.key} {call.action.name}({encode(call.args).decode()})"
            yield f"= {call.observation.text if call.observation is not None else ''}"


def _settings(name: str, given: Instructions | Variant) -> Iterator[str]:
    """Its fields, the usual ones too: another default is another prompt."""
    yield f"# {name}"
    for each in fields(given):
        value = getattr(given, each.name)
        if each.name != "variants":
            yield f"{each.name} = {getattr(value, '__name__', repr(value))}"


if __name__ == "__main__":
    if "--print" in sys.argv:
        sys.stdout.buffer.write(shown().encode())
    else:
        SHOWN.write_text(shown(), "utf-8")
