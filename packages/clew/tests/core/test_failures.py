"""Everything that a user's own part can do wrong, and what comes of it; `docs/safety.md` says so.

Each case ends by its own small deadlines. Afterwards the record is read, the part mended, the run
gone on with to its answer, and that record replayed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from clew import (
    Agent,
    Call,
    ClewError,
    Compaction,
    ConfigError,
    Context,
    Instructions,
    Limits,
    Tool,
    Trajectory,
    Verdict,
)
from clew.agent.api import resume, run
from clew.agent.runner import start
from clew.codecs.native import Native
from clew.context import Variant
from clew.core.codec import Parsed, PromptSpec
from clew.core.contents import Reply
from clew.core.entries import Entry
from clew.core.events import Thought
from clew.core.journal import load
from clew.core.loop import run as go
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.replay import replay
from clew.core.tools import ToolSpec
from clew.stores.memory import MemoryStore
from clew.testing.models import ScriptedModel, act, say
from clew.tools import Attempts
from tests.core.play import copy

pytestmark = pytest.mark.anyio

PAGE = Path(__file__).parents[4] / "docs" / "safety.md"

MISDEEDS: Final = (
    "raises an error",
    "exits, or raises what is no Exception",
    "raises what cannot be read",
    "gives the wrong type",
    "gives what no record can hold",
    "never ends",
    "ignores that it is stopped",
    "changes what it is given",
)

# What comes of it: an observation by its code, `line` (one line ends the work, the record stays
# open), `fine` (the run goes on as if nothing were), `–` (it cannot do that).
TABLE: Final[Mapping[str, Sequence[str]]] = {
    "tool": (*["crashed"] * 3, "bad_output", "bad_output", "timeout", "timeout", "fine"),
    "probe": (*["unknown"] * 3, "bad_output", "bad_output", "unknown", "unknown", "fine"),
    "repair": ("line", "line", "line", "line", "line", "–", "–", "fine"),
    "guard": ("line", "line", "line", "line", "line", "line", "line", "fine"),
    "check": ("line", "line", "line", "line", "line", "line", "line", "fine"),
    "screen": ("line", "line", "line", "line", "line", "line", "line", "–"),
    "bound": ("line", "line", "line", "line", "line", "–", "–", "–"),
    "retrieval": ("line", "line", "line", "line", "line", "line", "line", "–"),
    "tail": ("line", "line", "line", "line", "line", "–", "–", "–"),
    "shape": ("line", "line", "line", "line", "line", "–", "–", "–"),
    "compactor": ("line", "line", "line", "line", "line", "–", "–", "–"),
    "codec": ("line", "line", "line", "line", "line", "–", "–", "–"),
    "model": ("line", "line", "line", "line", "line", "line", "line", "–"),
    "listener": ("fine", "fine", "fine", "fine", "–", "–", "–", "fine"),
}  # fmt: skip


class Own(BaseException):
    """No Exception, as libraries have them for their own control flow."""


class Unread(Exception):  # noqa: N818 - it is about its words
    """An error that raises whatever is asked of it."""

    def __str__(self) -> str:
        raise SystemExit

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    __hash__ = None  # type: ignore[assignment]  # it has to be as hostile as can be


class Odd:
    """A value of no type that anybody wants, and of which nothing can be asked."""

    def __repr__(self) -> str:
        raise RuntimeError

    __str__ = __repr__


class Word(str):
    """A text that is not quite one."""

    __slots__ = ()


def loop() -> list[Any]:
    """A list that holds itself."""
    found: list[Any] = []
    found.append(found)
    return found


def deep() -> list[Any]:
    """Lists in lists, further than anybody follows."""
    found: list[Any] = []
    for _ in range(100_000):
        found = [found]
    return found


UNHELD: Final[Mapping[str, Callable[[], Any]]] = {
    "half a character": lambda: "\ud800",
    "not a number": lambda: float("nan"),
    "a cycle": loop,
    "an object": object,
    "too deep": deep,
}
"""What no record can hold."""

MENDED: Final = {("model", UNHELD["half a character"])}
"""What is no misdeed: a server cut a reply between two bytes (test_odd_replies.py)."""


def misdeeds(name: str) -> Sequence[Callable[[], Any]]:
    """What a part does for a misdeed: gives a value, or raises."""

    def throwing(error: Callable[[], BaseException]) -> Callable[[], Any]:
        def throw() -> Any:
            raise error()

        return throw

    match name:
        case "raises an error":
            return [throwing(lambda: KeyError("x")), throwing(lambda: RuntimeError("two\nlines"))]
        case "exits, or raises what is no Exception":
            kinds = (SystemExit, GeneratorExit, Own)
            return [throwing(kind) for kind in kinds]
        case "raises what cannot be read":
            return [throwing(Unread)]
        case "gives the wrong type":
            return [Odd]
        case "gives what no record can hold":
            return [*UNHELD.values()]
        case _:
            return [lambda: None]


@dataclass
class Part:
    """A part that does as told until it is mended; named alike in every process."""

    kind: str
    good: Callable[..., Any]
    bad: Callable[[], Any] | None = None
    wrap: Callable[[Any], Any] = lambda value: value
    awaits: str = ""
    changes: bool = False
    log: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"Part({self.kind!r})"

    def mend(self) -> None:
        self.bad, self.awaits, self.changes = None, "", False

    def __call__(self, *args: Any) -> Any:
        """For parts that answer at once."""
        found = self.good(*args) if self.bad is None else self.wrap(self.bad())
        if self.changes:
            _spoil(args)
        return found

    async def later(self, *args: Any) -> Any:
        """For parts that are awaited."""
        if self.awaits == "for ever":
            await anyio.sleep_forever()
        while self.awaits:
            try:
                await anyio.sleep_forever()
            except BaseException as error:  # noqa: BLE001 - the point of it
                self.log.append(type(error).__name__)
        return self(*args)


def _spoil(args: Sequence[Any]) -> None:
    """Change what was given, as far as one can."""
    for value in args:
        if isinstance(value, dict):
            value["key"] = "spoiled"
            value["more"] = [1]
        if isinstance(value, Entry) and isinstance(value.event, Thought):
            for action in value.event.actions:
                action.args["key"] = "spoiled"
        if isinstance(value, Call):
            value.action.args["key"] = "spoiled"


class Broken:
    """An agent with one part that may do wrong."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        goods: dict[str, Callable[..., Any]] = {
            "tool": lambda args, key: f"the value of {args['key']}",
            "tail": lambda trajectory, left: "",
            "shape": lambda text: text,
            "retrieval": lambda tools, trajectory: (),
            "codec": lambda prompt_spec, reply: Native().parse(prompt_spec, reply),
        }
        wraps: dict[str, Callable[[Any], Any]] = {
            "repair": lambda value: ({"key": value}, "mended"),
            "guard": lambda value: Verdict("amend", "so", args={"key": value}),
            "check": lambda value: value,
            "screen": lambda value: Verdict("hint", value),
            "retrieval": lambda value: [value],
            "codec": lambda value: Parsed(text=value, answer="x"),
            "model": lambda value: Reply(text=value),
        }
        self.part = Part(kind, goods.get(kind, lambda *args: None))
        self.wrap = wraps.get(kind, lambda value: value)

    def does(self, name: str, bad: Callable[[], Any]) -> None:
        """Have the part do this wrong."""
        part = self.part
        part.bad = bad if name in MISDEEDS[:5] else None
        part.wrap = self.wrap if name == "gives what no record can hold" else lambda value: value
        part.awaits = {"never ends": "for ever", "ignores that it is stopped": "deaf"}.get(name, "")
        part.changes = name == "changes what it is given"

    def agent(self) -> Agent:
        """The agent, whose part is bad or mended."""
        part, kind = self.part, self.kind

        async def good(args: dict[str, Any], key: str) -> str:
            return f"the value of {args['key']}"

        probed = kind == "probe"
        work = Tool(
            "work",
            "Do the work.",
            {"type": "object", "properties": {"key": {}}},
            part.later if kind == "tool" else good,
            effect="unsafe" if probed else "read",
            repair=part if kind == "repair" else None,
            attempts=Attempts(0.05, probe=part.later if probed else None),
        )
        others = {"guard": "guards", "check": "checks", "screen": "screens"}
        awaited: dict[str, Any] = {others[kind]: [Awaited(part)]} if kind in others else {}
        shaped = Variant(name="shaped", match=("*",), shape=part) if kind == "shape" else None
        return Agent(
            ThinkingPart(part) if kind == "model" else SCRIPT,
            [work],
            codec=FormatPart(part) if kind == "codec" else "native",
            bounds=[part] if kind == "bound" else [],
            context=Context(
                retrieval=FindingPart(part) if kind == "retrieval" else None,
                compaction=Compaction(by=(part,), window=1_100) if kind == "compactor" else None,
            ),
            prompt=Instructions(
                "Work.",
                tail=part if kind == "tail" else None,
                variants=[shaped] if shaped else [],
            ),
            limits=Limits(part_seconds=0.05, reply_seconds=0.05, grace=0.05),
            **awaited,
        )


SCRIPT: Final = ScriptedModel([act("work", key="a"), say("done")])


@dataclass(frozen=True)
class Awaited:
    """A part that is awaited, with the name of what it does."""

    part: Part

    async def __call__(self, *args: Any) -> Any:
        return await self.part.later(*args)


@dataclass(frozen=True)
class ThinkingPart:
    part: Part
    info = ModelInfo("own:model")

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Any:
        found = await self.part.later(prompt)
        return found if self.part.bad is not None else await SCRIPT.complete(prompt, on_text)


class FormatPart(Native):
    @property
    def name(self) -> str:
        return "own/1"

    def __init__(self, part: Part) -> None:
        self.part = part

    def parse(self, prompt_spec: PromptSpec, reply: Reply) -> Any:
        return self.part(prompt_spec, reply)


@dataclass(frozen=True)
class FindingPart:
    part: Part
    always: Sequence[str] = ("work",)

    async def find(self, tools: Sequence[ToolSpec], trajectory: Trajectory) -> Any:
        return await self.part.later(tools, trajectory)


class Ears:
    """A listener that does as its part does."""

    def __init__(self, part: Part) -> None:
        self.part = part

    def token(self, text: str) -> None:
        self.part(text)

    def entry(self, entry: Entry) -> None:
        self.part(entry)


async def in_doubt(agent: Agent) -> MemoryStore:
    """A record of the agent that ends with the attempt of its call."""
    store = MemoryStore()
    await go(agent.engine, await start(agent, "Work!", store, run_id="run"))
    lines = await store.read("run")
    place = next(n for n, line in enumerate(lines) if b'"attempt"' in line.body)
    return await copy(lines[: place + 1])


async def ends(broken: Broken, store: MemoryStore) -> ClewError | None:
    """Take the run as far as it comes; the error that ended the work, if one did."""
    listener = Ears(broken.part) if broken.kind == "listener" else None
    try:
        if await store.runs():
            await resume(broken.agent(), "run", store=store)
        else:
            await run(broken.agent(), "Work!", store=store, run_id="run", listener=listener)
    except ClewError as error:
        return error
    return None


CASES: Final = [
    pytest.param(kind, name, bad, outcome, id=f"{kind} {name} {number}")
    for kind, outcomes in TABLE.items()
    for name, outcome in zip(MISDEEDS, outcomes, strict=True)
    if outcome != "–"
    for number, bad in enumerate(misdeeds(name))
    if (kind, bad) not in MENDED
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "bad", "outcome"), CASES)
async def test_whatever_a_part_does_wrong_has_a_stated_end(
    kind: str, name: str, bad: Callable[[], Any], outcome: str
) -> None:
    broken = Broken(kind)
    store = await in_doubt(broken.agent()) if kind == "probe" else MemoryStore()
    broken.does(name, bad)
    error = await ends(broken, store)
    if outcome == "line":
        assert error is not None
        assert "\n" not in str(error)
        assert kind in str(error)
        assert not isinstance(error, ConfigError)
        assert (await load(store, "run")).stop is None
    else:
        assert error is None, error
    broken.part.mend()
    assert (await resume(broken.agent(), "run", store=store)).status == "answered"
    record = await load(store, "run")
    seen = record.call("1.1").observation
    assert seen is not None
    if outcome not in {"line", "fine"}:
        assert seen.code == outcome
    else:
        assert seen.text == "the value of a"
    assert record.call("1.1").args == {"key": "a"}
    assert (
        await replay(broken.agent().engine, record, MemoryStore())
    ).trajectory.entries == record.entries


def test_the_page_has_the_same_table() -> None:
    _, _, table = PAGE.read_text("utf-8").partition("| your part … |")
    _, _, *rows = [
        [cell.strip(" `") for cell in line.strip("| \n").split("|")]
        for line in table.partition("\n\n")[0].splitlines()
    ]
    shown = {misdeed: row[1:] for row in rows for misdeed in row[0].split("; ")}
    assert [*shown] == list(MISDEEDS)
    columns = {"tool": 0, "probe": 1}
    for part, outcomes in TABLE.items():
        for misdeed, outcome in zip(MISDEEDS, outcomes, strict=True):
            stated = "fine" if part == "listener" else shown[misdeed][columns.get(part, 2)]
            assert outcome in {stated, "–"}, (part, misdeed)  # a dash cannot happen
