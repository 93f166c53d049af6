"""What the agent files of the matrix name: tools with a ledger, guards, checks, strategies."""

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

import anyio

import clew_strategies as strategies
from clew import (
    Agent,
    Call,
    Context,
    Evidence,
    Observation,
    RunContext,
    ToolError,
    Trajectory,
    Verdict,
    tool,
)
from clew.deps import RunIdentity

LEDGER = "MATRIX_LEDGER"
"""The variable that says where effects are written down."""
ACTS = "MATRIX_ACTS"
"""The variable that names the tool which acts."""
LONG = "long " * 2_000
TEXT = "Ann lives in Basel. Ann has 5 letters."
PIECE = Evidence("doc_1", TEXT, 0.9, "a.md")


def note(line: str) -> None:
    """Write an effect down."""
    with Path(os.environ[LEDGER]).open("a") as ledger:
        ledger.write(f"{line}\n")


@dataclass(frozen=True)
class OfRun:
    """The deps of the matrix: which run they were made for."""

    run_id: str


def deps_of(run: RunIdentity) -> OfRun:
    """Make them."""
    return OfRun(run.run_id)


def has_deps(answer: object, ctx: RunContext[Any]) -> str | None:
    """Reject an answer where the deps are not those of the run, or of the one that it serves."""
    del answer
    deps: object = ctx.deps
    right = isinstance(deps, OfRun) and ctx.run_id.startswith(deps.run_id)
    return None if right else f"the deps are {deps}"


@tool(effect="unsafe")
def send(text: str) -> str:
    """Send a text to Ann.

    Args:
        text: The text.
    """
    note(f"send {text}")
    return f"Ann has it: {text}"


@tool(effect="unsafe")
def stumble(text: str) -> str:
    """Send a text to Ann, and break before that is known.

    Args:
        text: The text.
    """
    note(f"stumble {text}")
    message = "the line is cut"
    raise OSError(message)


@tool(effect="read")
def look(text: str) -> str:
    """Look something up.

    Args:
        text: What to look up.
    """
    note(f"look {text}")
    return f"seen: {text}"


@tool(effect="read")
def pages(text: str) -> str:
    """Read many pages about something.

    Args:
        text: What about.
    """
    note(f"pages {text}")
    return f"{text}: {LONG}"


@tool(effect="read")
def broken(text: str) -> str:
    """Look something up where nothing is.

    Args:
        text: What to look up.
    """
    message = f"there is no {text} here"
    raise ToolError(message)


@tool(effect="read")
def other_words(word: str) -> str:
    """Look something up elsewhere.

    Args:
        word: What to look up.
    """
    note(f"other_words {word}")
    return f"seen elsewhere: {word}"


def apart(text: str) -> str:
    """Send a text from a process of its own.

    Args:
        text: The text.
    """
    note(f"apart {text}")
    return f"Ann has it: {text}"


def acting() -> frozenset[str]:
    """The tool of the cell that acts."""
    return frozenset({os.environ[ACTS]})


async def hold(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Hold what acts for a person."""
    del trajectory
    return Verdict("hold", "a person decides") if call.action.name in acting() else None


async def deny(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Forbid what acts."""
    del trajectory
    return Verdict("deny", "nothing is done today") if call.action.name in acting() else None


async def amend(call: Call, trajectory: Trajectory) -> Verdict | None:
    """Let what acts act on another text."""
    del trajectory
    text = str(call.args.get("text", ""))
    if call.action.name not in acting() or text.startswith("mild-"):
        return None
    return Verdict("amend", "say it mildly", args={"text": f"mild-{text}"})


def acted(trajectory: Trajectory) -> int:
    """How many calls that act a run has made."""
    return sum(call.action.name in acting() and bool(call.observation) for call in trajectory.calls)


def one_act(trajectory: Trajectory) -> str | None:
    """A bound: one call that acts is enough."""
    return "enough: one act" if acted(trajectory) else None


async def says_please(answer: object, trajectory: Trajectory) -> str | None:
    """A check: an answer is polite."""
    del trajectory
    return None if "please" in str(answer) else "the answer must say please"


async def never(answer: object, trajectory: Trajectory) -> str | None:
    """A check that nothing passes."""
    del answer, trajectory
    return "no answer will do"


@dataclass(frozen=True)
class Letter:
    """A typed answer."""

    subject: str
    pages: int


def letters(texts: list[str]) -> list[list[float]]:
    """An embedding: which letters a text has."""
    Path(f"{os.environ[LEDGER]}.embedded").touch()
    return [[float(text.count(chr(97 + n))) for n in range(26)] for text in texts]


def __getattr__(name: str) -> Any:
    """A strategy that agent files have no name for, made of one agent: `parts:Chaining`."""
    made = getattr(strategies, name, None)
    if made is None:
        raise AttributeError(name)

    def strategy(agent: Agent) -> Any:
        """The strategy over an agent and one without tools."""
        return made(**{each.name: value_for(each.type, agent) for each in needed(made)})

    return strategy


def needed(made: Any) -> list[Any]:
    """The fields of a strategy that have no default."""
    return [
        each for each in fields(made) if each.default is MISSING and each.default_factory is MISSING
    ]


def value_for(kind: Any, agent: Agent) -> Any:
    """A value for such a field."""
    if kind in (Agent, Agent[Any]):
        return agent
    if kind in (Mapping[str, Agent], Mapping[str, Agent[Any]]):
        return {"first": agent, "second": agent.replace(tools=(), context=Context())}
    if kind == Mapping[str, str]:
        return {"first": "whatever needs a tool", "second": "the rest"}
    message = f"the matrix does not know how to make a {kind}: say it in tests/matrix/parts.py"
    raise TypeError(message)


async def slow(call: Call, trajectory: Trajectory) -> Verdict | None:
    """A guard that takes too long over what acts."""
    del trajectory
    if call.action.name in acting():
        await anyio.sleep(60)
    return None


def burn(text: str) -> str:
    """Count for ever.

    Args:
        text: What for.
    """
    while True:
        text = text[:9]


def hoard(text: str) -> str:
    """Ask for more memory than there may be.

    Args:
        text: What for.
    """
    return f"{text} {len(bytearray(1 << 31))}"


def wait(text: str) -> str:
    """Wait longer than a deadline.

    Args:
        text: What for.
    """
    time.sleep(60)
    return text


@tool(effect="read")
def s_one(text: str) -> str:
    """Send a text to Sue.

    Args:
        text: The text.
    """
    return text


@tool(effect="read")
def s_two(text: str) -> str:
    """Send a text to Sam.

    Args:
        text: The text.
    """
    return text


@tool(effect="read")
def t_one(text: str) -> str:
    """Send a text to Tom.

    Args:
        text: The text.
    """
    return text


@tool(effect="read", timeout=0.1)
async def lingers(text: str) -> str:
    """Look something up, and take a moment to stop.

    Args:
        text: What to look up.
    """
    with suppress(anyio.get_cancelled_exc_class()):
        await anyio.sleep_forever()
    with anyio.CancelScope(shield=True):
        await anyio.sleep(0.5)
    return text


@tool(effect="read")
def passage(text: str) -> Observation:
    """Find a passage that fits by nine tenths.

    Args:
        text: What to look for.
    """
    note(f"look {text}")
    return Observation(content={"results": [{"doc_id": "doc_1", "text": TEXT}]}, evidence=(PIECE,))
