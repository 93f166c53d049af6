"""Worked examples for agents that act by programs: look-ups in a loop, and what they print.

They use tools that ship; else the first of the agent's own that takes the name of a thing; else an
invented one. What these return is invented, so no program of an example takes it apart: it prints
it, and goes on with what was seen.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from clew.context import Example
from clew.context.demonstrations import acted, example, finished
from clew.core.codes import RUN_CODE
from clew.interfaces import Action, Json, ToolSpec

_THINGS: Final = (
    "name", "item", "thing", "product", "article", "title", "entity", "person", "place", "city",
    "country", "company", "symbol", "topic", "term", "key",
)  # fmt: skip
"""Parameters that take the name of a thing."""

_VERB: Final = re.compile(r"^(?:get|find|fetch|read|look_?up)_")


class ProgramExample(NamedTuple):
    """A worked example, and a call such as its programs make."""

    call: Action
    example: Example


def _ran(code: str, printed: str) -> tuple[Action, Json]:
    """A program, and what it printed."""
    return Action(RUN_CODE, {"code": code}), printed


_PASSAGES: Final = example(
    "How much higher is the Orra dam than the Skarv dam, in metres?",
    acted(
        "Two dams are compared. I search both in a loop, and print what is found.",
        _ran(
            "for dam in ['Orra dam', 'Skarv dam']:\n"
            "    for found in docs(query=dam + ' height')['results']:\n"
            "        print(found['doc_id'], found['snippet'])",
            printed="doc_95310 The Orra dam has a height of 118.5 metres.\n"
            "doc_95877 With its 73.25 metres the Skarv dam was the highest of its day.",
        ),
    ),
    acted(
        "Orra dam: 'a height of 118.5 metres'. Skarv dam: '73.25 metres'. Now I subtract.",
        _ran("print(118.5 - 73.25)", printed="45.25"),
    ),
    finished(
        "The difference is 45.25.", "The Orra dam is 45.25 metres higher [doc_95310] [doc_95877]."
    ),
)

_ARTICLES: Final = example(
    "Which was opened first, Varn Pier or Lenne Pier? Reply with the name alone.",
    acted(
        "Two piers are compared. I search both in a loop, and print what is found.",
        _ran(
            "for name in ['Varn Pier', 'Lenne Pier']:\n"
            "    for found in search(entity=name)['results']:\n"
            "        print(found['title'], '-', found['snippet'])",
            printed="Varn Pier - Varn Pier is an iron pier in Brannoch, opened in 1884.\n"
            "Lenne Pier - Lenne Pier is a wooden pier. It was opened in 1861.",
        ),
    ),
    finished(
        "Varn Pier: 'opened in 1884'. Lenne Pier: 'opened in 1861'. 1861 is before 1884.",
        "Lenne Pier",
    ),
)

SHIPPED: Final = (
    ProgramExample(Action("docs", {"query": "Orra dam height"}), _PASSAGES),
    ProgramExample(Action("search", {"entity": "Varn Pier"}), _ARTICLES),
)
"""With tools that ship."""


class _LookUpFunction(NamedTuple):
    """A function that says something of one thing, and its parameter for the thing."""

    function: str
    thing: str

    @property
    def what(self) -> str:
        """What it says, in words."""
        return _VERB.sub("", self.function).replace("_", " ")

    def of(self, *names: str) -> str:
        """The lines of a program that asks for each of these, and prints what it says."""
        return (
            f"for {self.thing} in {list(names)!r}:\n"
            f"    print({self.function}({self.thing}={self.thing}))"
        )

    def printed(self, **values: float) -> str:
        """What that prints."""
        lines = ({self.thing: name, self.what: value} for name, value in values.items())
        return "\n".join(map(str, lines))


def program_examples(
    tools: Sequence[ToolSpec], fits: Callable[[Action], bool]
) -> tuple[Example, ...]:
    """Those with the tools that ship and fit; else two with one of the agent's, or an invented one.

    `tools` are the agent's.
    """
    if shipped := tuple(one.example for one in SHIPPED if fits(one.call)):
        return shipped
    look_up = next(filter(None, map(_look_up, tools)), _LookUpFunction("weight", "thing"))
    return _smallest(look_up), _summed(look_up)


def _look_up(tool: ToolSpec) -> _LookUpFunction | None:
    """How a tool is called that takes nothing but the name of a thing; None for any other."""
    properties: Mapping[str, Any] = tool.parameters.get("properties", {})
    things = [name for name in properties if name in _THINGS]
    if tool.effect not in {"pure", "read"} or len(things) != 1 or not tool.name.isidentifier():
        return None
    able = [*tool.parameters.get("required", ())] == things
    return (
        _LookUpFunction(tool.name, things[0]) if able and _is_text(properties[things[0]]) else None
    )


def _is_text(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string" and not schema.keys() & {"enum", "const", "pattern"}


def _smallest(look_up: _LookUpFunction) -> Example:
    """A comparison: what the loop prints is enough for the answer."""
    what = look_up.what
    return example(
        f"Which has the least {what}: the bell, the gate or the yoke? Reply with its name alone.",
        acted(
            f"Missing: the {what} of each. I ask {look_up.function} for each, in a loop.",
            _ran(
                look_up.of("bell", "gate", "yoke"),
                printed=look_up.printed(bell=64.5, gate=40, yoke=52),
            ),
        ),
        finished("Of 64.5, 40 and 52 the least is 40: that is the gate.", "gate"),
    )


def _summed(look_up: _LookUpFunction) -> Example:
    """A sum: the numbers that the loop printed are put into a second program."""
    what = look_up.what
    return example(
        f"What is the {what} of 3 anvils, 2 benches and 5 cots together? Reply with the number "
        "alone.",
        acted(
            f"Missing: the {what} of each. I ask {look_up.function} for each, in a loop.",
            _ran(
                look_up.of("anvil", "bench", "cot"),
                printed=look_up.printed(anvil=41.25, bench=17.5, cot=6.75),
            ),
        ),
        acted(
            "It printed 41.25 of one anvil, 17.5 of one bench and 6.75 of one cot. Now I multiply "
            "and add.",
            _ran("print(3 * 41.25 + 2 * 17.5 + 5 * 6.75)", printed="192.5"),
        ),
        finished("It printed 192.5.", "192.5"),
    )
