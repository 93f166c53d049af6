"""Fields whose default stays on the class (`init=False`): in what a tool returns as any other."""

from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import msgspec
import pydantic
import pytest

from clew import Agent, MemoryStore, read, run, tool
from clew.interfaces import Json
from clew.testing import ScriptedModel, act, say


@dataclass
class Page:
    """A page."""

    name: str
    kind: str = field(default="page", init=False)


@dataclass(frozen=True)
class Frozen:
    """A page that is not changed."""

    name: str
    kind: str = field(default="page", init=False)


@dataclass(slots=True)
class Slotted:
    """A page with slots."""

    name: str
    kind: str = field(default="page", init=False)


@dataclass
class Made:
    """A page whose default is made."""

    name: str
    kind: str = field(default_factory=lambda: "page", init=False)


@dataclass
class Changed(Page):
    """A page whose field is another by now."""

    def __post_init__(self) -> None:
        """Give it a kind of its own."""
        self.kind = "leaf"


class Record(msgspec.Struct):
    """A page in a struct."""

    page: Page


class Pair(NamedTuple):
    """Two pages."""

    one: Page
    other: Page


class Model(pydantic.BaseModel):
    """A page in a model, with what nobody sees."""

    page: Page
    _seen: int = pydantic.PrivateAttr(default=5)


A = {"name": "a", "kind": "page"}
CASES: list[tuple[Any, Any, Json]] = [
    (Page, Page("a"), A),
    (Frozen, Frozen("a"), A),
    (Slotted, Slotted("a"), A),
    (Made, Made("a"), A),
    (Changed, Changed("a"), {"name": "a", "kind": "leaf"}),
    (list[Page], [Page("a")], [A]),
    (dict[str, Page | None], {"p": Page("a"), "q": None}, {"p": A, "q": None}),
    (tuple[Page, ...], (Page("a"),), [A]),
    (Annotated[Page | str, "a page"], Page("a"), A),
    (Record, Record(Page("a")), {"page": A}),
    (Pair, Pair(Page("a"), Page("a")), {"one": A, "other": A}),
    (Model, Model(page=Page("a")), {"page": A}),
]


@pytest.mark.parametrize(("kind", "value", "json"), CASES, ids=range(len(CASES)))
async def test_they_are_in_a_result(kind: Any, value: Any, json: Json) -> None:
    def look() -> Any:
        """Look."""
        return value

    look.__annotations__["return"] = kind
    store = MemoryStore()
    looking = tool(effect="read")(look)
    agent = Agent(ScriptedModel([act("look"), say("k")]), tools=[looking], store=store)
    await run(agent, "Look.", run_id="r")
    seen = (await read("r", store=store)).call("1.1").observation
    assert seen is not None
    assert (seen.ok, seen.content) == (True, json)
