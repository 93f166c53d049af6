"""Tools as people build them, and the moves of models that use them usefully or to no avail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from clew import Agent, Limits, MemoryStore, NoProgress, ToolError, Trajectory, read, replay, run
from clew.core.tools import Tool
from clew.guards.no_progress import REFUSED
from clew.testing.models import Move, ScriptedModel, act, say

ROUNDS: Final = 12
NOTES: Final = {
    "doc_1": "The mill is old.",
    "doc_2": "Built in 1850.",
    "doc_3": "Herons nest here.",
}


@dataclass
class World:
    """What the tools of a scenario work on."""

    files: dict[str, str] = field(default_factory=lambda: {"a.py": "x = 1", "b.py": "y = 2"})
    pressed: list[str] = field(default_factory=list[str])
    asked: int = 0

    def tools(self) -> list[Tool]:
        """Three that look up, three for files, two with effects, one that fails, one that polls."""
        text, number = {"type": "string"}, {"type": "integer"}
        return [
            tool("search", self.search, "read", query=text),
            tool("open_note", self.open_note, "read", doc_id=text),
            tool("calc", lambda expression: str(len(expression)), "pure", expression=text),
            tool("list_files", lambda: sorted(self.files), "read"),
            tool("read_file", self.read_file, "read", path=text),
            tool("edit_file", self.edit_file, "idempotent", path=text, old=text, new=text),
            tool("press", self.press, "unsafe", button=text),
            tool("set_volume", lambda level: "ok", "idempotent", level=number),
            tool("broken_door", self.broken_door, "unsafe"),
            tool("job", self.job, "read"),
        ]

    def search(self, query: str) -> list[dict[str, str]]:
        words = query.casefold().split()
        return [{"doc_id": i, "text": t[:9]} for i, t in NOTES.items() if words[0] in t.casefold()]

    def open_note(self, doc_id: str) -> str:
        return NOTES.get(doc_id, "there is no such note")

    def read_file(self, path: str) -> str:
        return self.files.get(path, "no such file")

    def edit_file(self, path: str, old: str, new: str) -> str:
        if old not in self.files.get(path, ""):
            raise ToolError("the text to replace does not stand in the file")
        self.files[path] = self.files[path].replace(old, new)
        return "saved"

    def press(self, button: str) -> str:
        self.pressed.append(button)
        return "ok"

    def broken_door(self) -> str:
        raise ToolError("the door is locked")

    def job(self) -> str:
        self.asked += 1
        return "at work" if self.asked % 3 else f"{self.asked} % done"


def tool(name: str, do: Callable[..., Any], effect: Any, **parameters: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": parameters,
        "required": list(parameters),
        "additionalProperties": False,
    }
    return Tool(name, f"{name}.", schema, lambda args, _key: do(**args), effect=effect)


def rounds(*moves: Move, number: int = ROUNDS) -> list[Move]:
    return [move for _ in range(number) for move in moves]


SEARCH = act("search", query="mill")
OPEN = act("open_note", doc_id="doc_2")
READ = act("read_file", path="a.py")
SWAP = (
    act("edit_file", path="a.py", old="x", new="z"),
    act("edit_file", path="a.py", old="z", new="x"),
)

USEFUL: Final[dict[str, Sequence[Move]]] = {
    "scroll down": rounds(act("press", button="down")),
    "press two buttons in turn": rounds(act("press", button="left"), act("press", button="right")),
    "press three buttons in turn": rounds(*(act("press", button=b) for b in ("a", "b", "c"))),
    "set the same volume again": rounds(act("set_volume", level=3)),
    "press, and look at the same page": rounds(act("press", button="next"), SEARCH),
    "look twice, and press": rounds(SEARCH, SEARCH, act("press", button="next")),
    "look, press, set, look": rounds(SEARCH, act("press", button="n"), act("set_volume", level=1)),
    "read, edit, read": rounds(READ, *SWAP),
    "edit there and back": rounds(*SWAP),
    "list files, edit one, list files": rounds(act("list_files"), *SWAP),
    "the same search before each other note": [
        move for i in range(1, 9) for move in (SEARCH, act("open_note", doc_id=f"doc_{i}"))
    ],
    "another word each time": [
        act("search", query=word) for word in ["mill", "old", "built", "herons"]
    ],
    "the same sum of other numbers": [act("calc", expression="1" * n) for n in range(1, ROUNDS)],
    "poll a job that gets on": rounds(act("job")),
}

FUTILE: Final[dict[str, Sequence[Move]]] = {
    "the same search": rounds(SEARCH),
    "the same note": rounds(OPEN),
    "the same sum": rounds(act("calc", expression="1 + 1")),
    "the same file": rounds(READ),
    "the same list of files": rounds(act("list_files")),
    "two look-ups in turn": rounds(SEARCH, OPEN),
    "three look-ups in turn": rounds(SEARCH, OPEN, act("calc", expression="2")),
    "a note that is not there": rounds(act("open_note", doc_id="doc_99")),
    "an edit that fails each time": rounds(act("edit_file", path="a.py", old="nothing", new="x")),
    "a read and an edit that fails": rounds(
        READ, act("edit_file", path="a.py", old="nothing", new="x")
    ),
    "a door that stays locked": rounds(act("broken_door")),
    "a door that stays locked, and a look": rounds(act("broken_door"), SEARCH),
    "a search after one press": [act("press", button="x"), *rounds(SEARCH)],
    "a search in other words": [act("search", query=f"unheard {n}") for n in range(20)],
}


async def played(moves: Sequence[Move], guard: NoProgress, *further: Tool) -> Trajectory:
    """The record of a run that makes these moves, whatever it is told."""
    most = 400
    limits = Limits(
        steps=most, tool_calls=most, calls_per_step=most, no_progress=guard, landing=False
    )
    tools = [*World().tools(), *further]
    agent = Agent(ScriptedModel([*moves, say("ok")]), tools, limits=limits, prompt="Work.")
    store = MemoryStore()
    await run(agent, "Go.", store=store, run_id="run")
    await replay(agent, "run", store=store)
    return await read("run", store=store)


def stopped(record: Trajectory) -> bool:
    assert record.stop is not None
    seen = [call.observation for call in record.calls if call.observation is not None]
    return any(one.code == REFUSED for one in seen) or "no_progress" in record.stop.reason
