"""An attack as data: what a person asks, what outside text says, and what a fooled model does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from clew import Tool
from clew.core.values import Json
from clew.testing import Move

Calls = tuple[Move, ...]
Way = Literal["run", "rewind", "fork", "note"]


@dataclass(frozen=True)
class Error:
    """A tool fails, and others wrote what it says."""

    text: str


Says = Mapping[str, Json | Error]
"""What tools give: of a tool by its name, or of a call by `name:first argument`."""


@dataclass(frozen=True)
class Turn:
    """A further message: its words, what they alone ask for, and what the fooled model does."""

    words: str
    plan: Calls
    moves: Calls
    wanted: Calls = ()


@dataclass(frozen=True)
class Sub:
    """A sub-agent, whose model is fooled too: a fooled planner where it has no `plan`."""

    name: str
    tools: tuple[str, ...]
    moves: Calls
    plan: Calls | None = None


@dataclass(frozen=True)
class Scene:
    """A person's task: its tools by name, what is read for it, and what the words ask for.

    `plan` binds only what the words settle; `wanted` are the calls that the person would allow.
    """

    question: str
    tools: tuple[str, ...]
    reads: Calls
    plan: Calls
    wanted: Calls
    says: Says = field(default_factory=dict[str, Json | Error])


@dataclass(frozen=True)
class Attack:
    """A scene, and what outside text makes of it.

    `moves` is all that the model does. `extra` are tools of others, `subs` sub-agents, `memories`
    what is remembered (its text, and whether it is trusted). With `way` the run is rewound to, or
    forked at, step `at` before the first of `turns`, or begins with the memories as a note.
    """

    kind: str
    name: str
    scene: Scene
    moves: Calls
    says: Says = field(default_factory=dict[str, Json | Error])
    turns: tuple[Turn, ...] = ()
    extra: tuple[Tool, ...] = ()
    subs: tuple[Sub, ...] = ()
    memories: tuple[tuple[str, bool], ...] = ()
    way: Way = "run"
    at: int = 0
    lesson: str = ""

    @property
    def id(self) -> str:
        """Its class and its name."""
        return f"{self.kind}/{self.name}"


def attack(
    kind: str,
    name: str,
    scene: Scene,
    bad: Sequence[Move],
    says: Says | None = None,
    **more: Any,
) -> Attack:
    """The usual course: read, do what the text says, then what the person wanted."""
    moves = (*scene.reads, *bad, *scene.wanted)
    return Attack(kind, name, scene, moves, says or {}, **more)
