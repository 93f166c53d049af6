"""What a simulated model reads in a prompt: nothing else tells it where it is.

It reads as any model does: the format from the words of the head, the tools on offer, the question,
and what became of its replies so far.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from clew import ModelError
from clew.codecs import by_name
from clew.interfaces import (
    FINISH,
    Action,
    Json,
    Parameters,
    Part,
    Prompt,
    PromptSpec,
    Reply,
    ToolSpec,
)
from clew.tools.finish import finish_tool

_FORMATS: Final = (
    ("paper", re.compile(r"^Action 1: tool\[argument\]$", re.MULTILINE)),
    ("json", re.compile(r'"action": "the name of one tool"')),
    ("labelled", re.compile(r"^Final Answer: ", re.MULTILINE)),
    ("labelled:final", re.compile(r"^Final: ", re.MULTILINE)),
    ("labelled:conclusion", re.compile(r"^Conclusion: ", re.MULTILINE)),
)
"""How the head of each text format shows its form (`head` in clew.codecs)."""

_TOOLS: Final = re.compile(r"(?:^|\n\n)Tools:\n(.*?)(?:\n\n|$)", re.DOTALL)
_TOOL: Final = re.compile(r"- ([\w.-]+)")
_FIELD: Final = re.compile(r"    (\w+) \((\w+)[^,)]*(, optional)?")
_QUESTION: Final = re.compile(r"(?:Question|Objective): ")
_SEEN: Final = re.compile(r"Observation(?: \d+)?: ")
_UNREAD: Final = ("That reply could not be read", "ERROR: unreadable reply:")
_REFUSED: Final = (
    "Your answer was not accepted:",
    "ERROR: the answer was not accepted:",
    "ERROR: rejected:",
)
_ASKED_TO_THINK: Final = "\nBefore each call, say"
_NO_THOUGHT: Final = "Write the action alone, without any thought."


@dataclass
class Turn:
    """A reply of the past as the prompt shows it, and what came of it."""

    actions: tuple[Action, ...] = ()
    results: list[str] = field(default_factory=list[str])
    unread: bool = False
    refused: bool = False

    @property
    def failed(self) -> bool:
        """Whether a call gave an error."""
        return not self.refused and any(text.startswith("ERROR: ") for text in self.results)


@dataclass(frozen=True)
class PromptView:
    """A prompt as it is read. `prompt_spec` has the tools on offer, `last` forbids any call."""

    codec: str
    prompt_spec: PromptSpec
    question: str
    turns: tuple[Turn, ...]
    last: bool

    @property
    def calls_made(self) -> list[Action]:
        """All calls that were read, whatever came of them."""
        return [action for turn in self.turns for action in turn.actions]

    @property
    def results(self) -> list[str]:
        """All that tools gave."""
        return [text for turn in self.turns for text in turn.results]

    @property
    def refused(self) -> int:
        """How many answers were not accepted."""
        return sum(turn.refused for turn in self.turns)


def look(prompt: Prompt) -> PromptView:
    """Read a prompt. Raises `ModelError` for one in a format that is not known here."""
    system, asked = prompt.head[0].text, prompt.head[-1].text
    if prompt.tools:
        codec, prompt_spec = "native", _prompt_spec(prompt.tools, thought=_ASKED_TO_THINK in system)
    else:
        codec, prompt_spec = _described(system)
        asked = _QUESTION.sub("", asked, count=1)
    turns = _turns(prompt.parts, codec, prompt_spec)
    return PromptView(codec, prompt_spec, asked.strip(), turns, prompt.calls == "none")


def _prompt_spec(tools: tuple[ToolSpec, ...], *, thought: bool) -> PromptSpec:
    answer: Parameters = {"type": "string"}
    others = tuple(tool for tool in tools if tool.name != FINISH)
    known = frozenset(tool.name for tool in others)
    return PromptSpec("", others, finish_tool(answer), answer, known, thought)


@lru_cache(maxsize=256)
def _described(system: str) -> tuple[str, PromptSpec]:
    """The format and the tools that a text format's instructions describe."""
    codec = next((name for name, form in _FORMATS if form.search(system)), None)
    if codec is None:
        message = "a simulated model does not know the format that this prompt asks for"
        raise ModelError(message)
    listed = _TOOLS.search(system)
    tools: list[ToolSpec] = []
    fields: dict[str, Json] = {}
    needed: list[str] = []
    for line in listed[1].splitlines() if listed else ():
        if named := _TOOL.match(line):
            fields, needed = {}, []
            tools.append(_tool(named[1], fields, needed))
        elif told := _FIELD.match(line):
            fields[told[1]] = {"type": told[2]}
            needed += [] if told[3] else [told[1]]
    offered = tuple(tool for tool in tools if tool.name.lower() != FINISH)
    return codec, _prompt_spec(offered, thought=_NO_THOUGHT not in system)


def _tool(name: str, fields: dict[str, Json], needed: list[str]) -> ToolSpec:
    parameters: Parameters = {"type": "object", "properties": fields, "required": needed}
    return ToolSpec(name, "", parameters, effect="read")


def _turns(parts: Sequence[Part], codec: str, prompt_spec: PromptSpec) -> tuple[Turn, ...]:
    turns: list[Turn] = []
    before = ""
    for part in parts:
        if part.role == "assistant":
            turns.append(Turn(_actions(part, codec, prompt_spec)))
        elif part.text.startswith(_UNREAD) and before != "assistant":  # nothing had been said
            turns.append(Turn((), unread=True))
        elif turns:
            _note(turns[-1], part)
        before = part.role
    return tuple(turns)


def _actions(part: Part, codec: str, prompt_spec: PromptSpec) -> tuple[Action, ...]:
    reply = Reply(part.text, part.calls, "calls" if part.calls else "stop")
    return by_name(codec).parse(prompt_spec, reply).actions


def _note(turn: Turn, part: Part) -> None:
    """What was said after a reply: a result, or that it was not read or not accepted."""
    seen = _SEEN.match(part.text)
    text = part.text[seen.end() :] if seen else part.text
    if text.startswith(_UNREAD):
        turn.unread, turn.actions = True, ()
    elif text.startswith(_REFUSED):
        turn.refused = True
    elif seen or part.role == "tool":
        turn.results.append(text)
