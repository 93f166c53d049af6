"""Whatever type an answer may have, every feature that reads an answer takes it."""

import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest

from clew import Agent, Limits, MemoryStore, fork, open_run, replay, resume, run, stream, tool
from clew.core.contents import Evidence, Observation
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.evidence import Grounded, audit
from clew.otel import Spans
from clew.testing import ScriptedModel, act, finish
from clew_evals import Case, Configuration, Plan, World, evaluate
from clew_strategies import vote


class Model(pydantic.BaseModel):
    city: str
    people: int = 0


class Nested(pydantic.BaseModel):
    best: Model
    others: list[Model] = []


@dataclasses.dataclass
class Data:
    city: str
    people: int = 0


@dataclasses.dataclass(frozen=True)
class Holds:
    model: Data
    names: tuple[str, ...] = ()


class Struct(msgspec.Struct):
    city: str
    people: int = 0


class Tagged(msgspec.Struct, tag=True):
    city: str


class Typed(TypedDict):
    city: str
    people: int


class Named(NamedTuple):
    city: str
    people: int


CITY: Final[Json] = {"city": "Warsaw", "people": 1_860_281}
TYPES: Final[dict[str, tuple[Any, Json]]] = {
    "pydantic": (Model, CITY),
    "nested pydantic": (Nested, {"best": CITY, "others": [CITY]}),
    "pydantic or nothing": (Model | None, CITY),
    "a list of pydantic": (list[Model], [CITY]),
    "pydantic by name": (dict[str, Model], {"first": CITY}),
    "dataclass": (Data, CITY),
    "a dataclass in another": (Holds, {"model": CITY, "names": ["Warsaw"]}),
    "dataclass or nothing": (Data | None, CITY),
    "msgspec": (Struct, CITY),
    "a tagged struct": (Tagged, {"type": "Tagged", "city": "Warsaw"}),
    "TypedDict": (Typed, CITY),
    "NamedTuple": (Named, CITY),
    "numbers by number": (dict[int, str], {"1": "Warsaw"}),
    "a literal": (Literal["Warsaw", "Krakow"], "Warsaw"),
    "a bounded number": (Annotated[int, msgspec.Meta(ge=1)], 1_860_281),
    "a set": (set[str], ["Warsaw"]),
    "text": (str, "Warsaw has 1860281 people."),
}


@tool(effect="read")
def search() -> Observation:
    """Search."""
    text = "Warsaw has 1860281 people."
    return Observation(content=text, evidence=(Evidence("search_1", text, 1.0),))


def agent(name: str, **more: Any) -> Agent[Any]:
    kind, value = TYPES[name]
    script = [act("search"), finish(value)]
    return Agent(ScriptedModel(script), tools=[search], answer=kind, **more)


async def _run(name: str, path: Path) -> None:
    del path
    who, store = agent(name), MemoryStore()
    first = await run(who, "Which?", store=store, run_id="r")
    again = await resume(who, "r", store=store)
    forked = await fork(who, "r", at=1, store=store)
    assert first.status == again.status == forked.status == "answered"
    assert type(first.answer) is type(again.answer)
    assert first.answer == again.answer == forked.answer
    repr(first)
    await replay(who, "r", store=store)


async def _grounded(name: str, path: Path) -> None:
    del path
    who, store = agent(name, checks=[Grounded(citations="never")]), MemoryStore()
    result = await run(who, "Which?", store=store, run_id="r")
    assert (result.status, result.audit is None) == ("answered", False)
    await replay(who, "r", store=store)


async def _audited(name: str, path: Path) -> None:
    del path
    store = MemoryStore()
    async with open_run(agent(name), "Which?", store=store) as opened:
        result = await opened.go_on()
        assert audit(result.answer, opened.record, citations="never").ok


async def _checked(name: str, path: Path) -> None:
    del path
    seen: list[Any] = []

    async def look(answer: Any, trajectory: Trajectory) -> str | None:
        seen.append(answer)
        return None

    result = await run(agent(name, checks=[look]), "Which?", store=MemoryStore())
    assert seen == [result.answer]


async def _evaluated(name: str, path: Path) -> None:
    world = World("towns", [Case("one", "Which?", {"grounded": True})])
    plan = Plan(name="towns", world=world, configurations=[Configuration("it", agent(name))])
    done = await evaluate(plan, path / "results.sqlite")
    assert [one.status for one in done.outcomes] == ["answered"]


async def _streamed(name: str, path: Path) -> None:
    del path
    async with stream(agent(name), "Which?", store=MemoryStore()) as events:
        async for _ in events:
            pass
    assert events.result is not None
    assert events.result.status == "answered"


async def _traced(name: str, path: Path) -> None:
    del path
    store = MemoryStore()
    with Spans("r", content=True) as spans:
        result = await run(agent(name), "Which?", store=store, run_id="r", listener=spans)
    assert result.status == "answered"


async def _voted(name: str, path: Path) -> None:
    del path
    result = await vote(agent(name, limits=Limits(tool_calls=90)), "Which?", store=MemoryStore())
    assert result.result.status == "answered"


async def _talked(name: str, path: Path) -> None:
    del path
    store = MemoryStore()
    _, value = TYPES[name]
    who = agent(name).replace(model=ScriptedModel([act("search"), finish(value), finish(value)]))
    async with open_run(who, "Which?", store=store) as opened:
        first = await opened.go_on()
        assert (await opened.go_on("Again?")).answer == first.answer


FEATURES: Final[dict[str, Callable[[str, Path], Awaitable[None]]]] = {
    "run, resume, fork, replay": _run,
    "Grounded": _grounded,
    "audit": _audited,
    "a check": _checked,
    "evaluate": _evaluated,
    "stream": _streamed,
    "spans": _traced,
    "vote": _voted,
    "chat": _talked,
}


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("name", TYPES)
async def test_every_type_with_every_feature(name: str, feature: str, tmp_path: Path) -> None:
    await FEATURES[feature](name, tmp_path)
