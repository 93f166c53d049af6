"""Programs whose answers have types pass both type checkers' strict modes as they stand, and run.

A new user's: answers of a dataclass, a Struct and a pydantic model, each with a declared one; what
was reached at a limit; a named tuple; a match over all that a result may be.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

HEAD: Final = """
from dataclasses import dataclass
from typing import NamedTuple, assert_never, assert_type

import msgspec
from pydantic import BaseModel

from clew import Agent, Limits, MemoryStore, Result, run_sync, stream, sync, tool
from clew import Nested, Partial, PartialCall
from clew import Answered, Bound, Declined, Failed, Held, Interrupted, Refused
from clew.testing import ScriptedModel, act, finish

def never(answer: object, record: object) -> str:
    return "not good enough"
"""

PROGRAMS: Final = {
    "dataclass": """
@dataclass
class Reply:
    text: str
    sure: bool = False

model = ScriptedModel([finish({"text": "42"})])
agent = Agent(model, answer=Reply, fallback=Reply("unsure"), checks=[never], tries=0)
assert_type(agent, Agent[Reply])
result = run_sync(agent, "How many?", store=MemoryStore())
assert isinstance(result, Failed)
assert_type(result.answer, Reply | None)
assert result.answer is not None and result.answer.text == "unsure"
""",
    "struct": """
class Refund(msgspec.Struct):
    order: str
    cents: int

nothing = Refund("", 0)
model = ScriptedModel([finish({"order": "A7", "cents": 30})])
agent = Agent(model, answer=Refund, fallback=nothing)
refund = run_sync(agent, "Refund A7.", store=MemoryStore()).unwrap()
assert_type(refund, Refund)
assert (refund.order, refund.cents) == ("A7", 30)
""",
    "pydantic": """
class Person(BaseModel):
    name: str
    born: int | None = None

class People(BaseModel):
    people: list[Person] = []

model = ScriptedModel([finish({"people": [{"name": "Ada", "born": "1815"}]})])
limits = Limits(steps=1, landing=False)
agent = Agent(model, answer=People, fallback=People(), limits=limits)
result = run_sync(agent, "Who?", store=MemoryStore())
assert result.answer == People()
assert result.to_json()["answer"] == {"people": []}
""",
    "bound": '''
@tool(effect="read")
def look(page: int) -> str:
    """Look at a page."""
    return f"page {page}"

class Count(msgspec.Struct):
    pages: int

script = [act("look", page=1), finish({"pages": 1})]
agent = Agent(ScriptedModel(script), [look], answer=Count, limits=Limits(steps=1))
result = run_sync(agent, "How many pages?", store=MemoryStore())
match result:
    case Bound(answer=Count(pages=pages), limit="steps"):
        assert_type(pages, int)
        assert pages == 1
    case _:
        raise AssertionError(result.why)
''',
    "named tuple": '''
class Place(NamedTuple):
    east: float
    north: float

@tool(effect="pure")
def move(place: Place, by: float) -> Place:
    """Move a place to the east."""
    return place._replace(east=place.east + by)

ulm = {"east": 10.0, "north": 48.4}
model = ScriptedModel([act("move", place=ulm, by=1.0), finish({**ulm, "east": 11.0})])
agent = Agent(model, [move], answer=Place)
place = run_sync(agent, "Where?", store=MemoryStore()).unwrap()
assert_type(place, Place)
assert place == Place(11.0, 48.4)
''',
    "partial": '''
@dataclass
class Recipe:
    title: str

@tool(name="answer", effect="read")
def pantry(title: str) -> str:
    """Look at what there is."""
    return title

script = [act("answer", title="flour"), finish({"title": "Pancakes"})]
agent = Agent(ScriptedModel(script, answer=Recipe), [pantry], answer=Recipe)
titles = list[str]()
with sync.stream(agent, "What can I cook?", store=MemoryStore()) as items:
    for item in items:
        if isinstance(item, Partial):
            assert_type(item.value, Recipe | None)
            if isinstance(item.json, dict) and "title" in item.json:
                assert isinstance(item.json["title"], str)
            if item.value is not None:
                titles.append(item.value.title)
        elif isinstance(item, PartialCall):
            titles.append(item.args["title"])
        elif isinstance(item, Nested) and isinstance(item.item, Partial):
            print(item.item.value)
assert titles == ["flour", "Pancakes"]
''',
    "ok": """
def told(result: Result[int]) -> int | str:
    if result.ok is False:
        return result.why
    assert_type(result, Answered[int])
    return result.answer

def told_otherwise(result: Result[int]) -> int | str:
    if result.ok is True:
        return result.answer
    return result.why

def told_by_class(result: Result[int]) -> int | str:
    if isinstance(result, Answered):
        return result.answer
    return result.why

def also_told(result: Result[int]) -> int | str:
    if result.status != "answered":
        return result.why
    assert_type(result, Answered[int])
    return result.answer

agent = Agent(ScriptedModel([finish(42)] * 2), answer=int)
result = run_sync(agent, "How many?", store=MemoryStore())
assert {told(result), told_otherwise(result), told_by_class(result), also_told(result)} == {42}
""",
    "match": """
def told(result: Result[int]) -> str:
    match result:
        case Answered(answer=number):
            return f"{number + 1}"
        case Declined(answer=words):
            return words.upper()
        case Bound(answer=partial, limit=limit):
            return f"{limit}: {0 if partial is None else partial + 1}"
        case Failed(answer=declared):
            return f"{-1 if declared is None else declared + 1}"
        case Held(pending_approvals=waiting):
            return ", ".join(each.tool for each in waiting)
        case Refused() | Interrupted():
            return result.reason
        case _:
            assert_never(result)

agent = Agent(ScriptedModel([finish(41)] * 2), answer=int)
assert told(run_sync(agent, "How many?", store=MemoryStore())) == "42"

async def followed() -> str:
    async with stream(agent, "How many?") as items:
        async for _ in items:
            pass
    return told(items.result) if items.result is not None else "open"

assert told(sync.run(agent, "How many?", store=MemoryStore())) == "42"
""",
}

WRONG: Final = """
@dataclass
class Reply:
    text: str

class Other(NamedTuple):
    x: int

model = ScriptedModel([])
a: Agent[Reply] = Agent(model, answer=Reply, fallback="text")  # BAD
b: Agent[Reply] = Agent(model, answer=Reply, fallback=Other(1))  # BAD
a.replace(limits=5)  # BAD
a.replace(modl=model)  # BAD
a.replace(answer=int, tries="2")  # BAD
assert_type(a.replace(answer=int, tries=2, limits=Limits(steps=1)), Agent[int])
result = run_sync(Agent(model, answer=Reply), "Who?")
print(result.answer.text)  # BAD
print(result.audit.ok)  # BAD
either = Agent(model, answer=Reply, fallback="text")  # an agent whose answers are of both types
print(run_sync(either, "Who?").unwrap().text)  # BAD
if isinstance(result, Bound):
    print(result.answer.text)  # BAD
with sync.stream(Agent(model, answer=Reply), "Who?") as items:
    for item in items:
        if isinstance(item, Partial):
            print(item.value.text)  # BAD
            print(item.value.title if item.value else "")  # BAD
            print(item.json["text"])  # BAD
        if isinstance(item, PartialCall):
            print(item.args.title)  # BAD
        if isinstance(item, Nested) and isinstance(item.item, Partial):
            print(item.item.value.text)  # BAD
"""


def checked(folder: Path, command: list[str]) -> str:
    """What a type checker says of the programs in the folder."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout or done.stderr


def mypy(folder: Path) -> dict[str, set[int]]:
    """The lines of each file that mypy refuses."""
    refused: dict[str, set[int]] = {}
    report = checked(folder, ["mypy", "--strict", "--config-file=", "."])
    for file, line in re.findall(r"^(.+\.py):(\d+): error", report, re.MULTILINE):
        refused.setdefault(file, set()).add(int(line))
    return refused


def pyright(folder: Path) -> dict[str, set[int]]:
    """The lines of each file that pyright refuses."""
    settings = {"typeCheckingMode": "strict", "reportUnusedImport": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    report = checked(folder, ["pyright", "--outputjson", "--pythonpath", sys.executable, "."])
    refused: dict[str, set[int]] = {}
    for each in json.loads(report)["generalDiagnostics"]:
        name = Path(each["file"]).name
        refused.setdefault(name, set()).add(each["range"]["start"]["line"] + 1)
    return refused


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_right_programs_pass_and_each_wrong_line_is_told(tmp_path: Path, checker: object) -> None:
    assert callable(checker)
    for name, program in PROGRAMS.items():
        (tmp_path / f"program_{name.replace(' ', '_')}.py").write_text(HEAD + program)
    (tmp_path / "wrong.py").write_text(HEAD + WRONG)
    lines = (HEAD + WRONG).splitlines()
    bad = {number for number, line in enumerate(lines, start=1) if line.endswith("# BAD")}
    assert checker(tmp_path) == {"wrong.py": bad}


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_run(name: str) -> None:
    exec(compile(HEAD + PROGRAMS[name], name, "exec"), {"__name__": "program"})
