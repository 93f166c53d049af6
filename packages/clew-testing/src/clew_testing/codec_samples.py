"""What the contract for codecs is checked with: tools, steps, and texts of every kind.

All of it is made up, and the same each time: texts are drawn by a seed.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

from clew import Call, Observation, Step, Tool, Verdict
from clew.context import Example
from clew.core.events import Fingerprints
from clew.interfaces import (
    Action,
    Codec,
    Effect,
    Judged,
    Parameters,
    Part,
    PromptSpec,
    Reply,
    Thought,
)
from clew.tools.finish import finish_tool

TEXT: Final[Parameters] = {"type": "string"}
POINT: Final[Parameters] = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["x"],
    "additionalProperties": False,
}


def tool(name: str, effect: Effect, fields: dict[str, Parameters]) -> Tool:
    """A tool that does nothing, with these parameters, all required."""
    parameters: Parameters = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    return Tool(name, f"Does what {name} says.", parameters, _nothing, effect=effect)


async def _nothing(args: dict[str, Any], key: str) -> str:
    return f"{key} {args}"


NUMBERS: Final[Parameters] = {"type": "array", "items": {"type": "integer"}}
TOOLS: Final = (
    tool("look", "read", {"query": {**TEXT, "description": "the words to look for"}}),
    tool("move_file", "unsafe", {"source": TEXT, "target": TEXT}),
    tool("count", "pure", {"numbers": NUMBERS, "deep": {"type": "boolean"}}),
    tool("now", "read", {}),
)


def prompt_spec(answer: Parameters = TEXT, **changes: Any) -> PromptSpec:
    """A brief with these tools."""
    known = frozenset(tool.name for tool in TOOLS) | {"hidden"}
    made = PromptSpec("Be brief, and be right.", TOOLS, finish_tool(answer), answer, known)
    return PromptSpec(
        **{**{name: getattr(made, name) for name in PromptSpec.__dataclass_fields__}, **changes}
    )


THOUGHTS: Final = ("", "I look it up.", 'First this.\nThen "that", and more – é 🧶 \\ /')
ACTIONS: Final = (
    Action("look", {"query": "Paris"}),
    Action("look", {"query": 'He said "no".\nThen: {x} [y) \\ // # é 🧶'}),
    Action("look", {"query": " 42 "}),
    Action("look", {"query": ""}),
    Action("move_file", {"source": "a]", "target": '{"b": 1}'}),
    Action("count", {"numbers": [1, -2, 2**60], "deep": True}),
    Action("now"),
    Action("stranger", {"input": "hm"}),
    Action("finish", {"answer": "Paris"}),
    Action("finish", {"answer": "Two lines,\n- of which this is one: [1]"}),
)
UNSAFE: Final = Action("move_file", {"source": "/box/a", "target": "/box/b"})


def step(
    thought: str = "",
    *actions: Action,
    number: int = 1,
    seen: Sequence[Observation] = (),
    hint: str = "",
    **told: Any,
) -> Step:
    """A closed step; observations that are not given are of one word."""
    calls = [
        Call(f"{number}.{number_in_step}", action)
        for number_in_step, action in enumerate(actions, start=1)
    ]
    for index, call in enumerate(calls):
        call.observation = seen[index] if index < len(seen) else Observation(content="seen")
        if hint:
            call.hints = (Judged(call.key, Verdict("hint", hint)),)
    prints = Fingerprints("", "", "", "")
    recorded = Thought(told.pop("reply", Reply()), prints, thought, actions, **told)
    return Step(number, recorded, tuple(calls))


def example() -> Example:
    """A worked example of two steps."""
    looked = step("A city, I think.", Action("look", {"query": "Rome"}))
    sample = step("So it is.", Action("finish", {"answer": "a city"}), number=2)
    return Example("What is Rome?", (looked, sample))


def replies(parts: Sequence[Part]) -> list[Reply]:
    """What an assistant said in some parts, as it would come back from a model."""
    return [
        Reply(part.text, part.calls, finish="calls" if part.calls else "stop")
        for part in parts
        if part.role == "assistant"
    ]


def written(codec: Codec, thought: str, action: Action) -> Reply:
    """A thought and an action as the codec writes them."""
    (reply,) = replies(codec.render(prompt_spec(), step(thought, action)))
    return reply


NOISE: Final = (
    *("\n", "\r\n", " ", "\t", "\x00", "```", "```json\n", "|", "**", "# ", "- ", "> "),
    *("{", "}", "[", "]", "(", ")", '"', "'", ",", ":", "\\", '\\"', "//", "/*", "*/", "="),
    *("None", "null", "1e999", "Thought", "Action", "Observation", "Answer", "é", "🧶", "\ufeff"),
)


def texts(codec: Codec, seed: int, times: int) -> Iterator[str]:
    """Texts to read: noise, and what the codec itself writes, torn, mixed and repeated."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    own = [written(codec, thought, each).text for thought in THOUGHTS for each in ACTIONS]
    own += codec.stop
    yield from ("", " ", "\n", *own)
    for _ in range(times):
        drawn: list[str] = []
        for _ in range(chance.randrange(1, 8)):
            text = chance.choice(own) or " "
            torn = sorted(chance.randrange(len(text) + 1) for _ in range(2))
            noise = "".join(chance.choices(NOISE, k=chance.randrange(6)))
            drawn.append(
                chance.choice(
                    (text, text[torn[0] : torn[1]], noise, chr(chance.randrange(32, 0xD800)))
                )
            )
        yield "".join(drawn)
