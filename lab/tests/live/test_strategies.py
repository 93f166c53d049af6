"""The program that asks a model by strategies: its tasks, their judges, what it keeps and says."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

import clew
from clew import Agent, MemoryStore
from clew.core.tools import Tool
from clew.testing import ScriptedModel, finish
from clew_code.sandbox import kernel
from live.strategies import goods, page, programs
from live.strategies.configurations import FORMS
from live.strategies.outcomes import Answered, add, read
from live.strategies.tasks import listed
from tests import unmeasured
from tests.local.tiny_gguf import write_model

ROOT = Path(__file__).parents[2]
BUG = '''def twice(number):
    return number + number + 1


"""
Twice a number

Input:
    number: An int
Output:
    Twice as much
"""
'''


def test_sixty_tasks_stand_in_an_order_in_which_every_part_is_of_all() -> None:
    tasks = listed()
    assert len(tasks) == len({one.id for one in tasks}) == 60
    for half in ("tuning", "unseen"):
        assert sum(one.half == half for one in tasks) == 30
    assert len({one.source for one in tasks[:10]}) == 5
    assert {one.half for one in tasks[:2]} == {"tuning", "unseen"}


async def _looked(tools: dict[str, Tool], name: str, **args: Any) -> Any:
    return await tools[name].call(args, "run:1.1")


def _dollars(errand: goods.Errand) -> Any:
    return errand.gold["number"] if isinstance(errand.gold, dict) else None


@pytest.mark.parametrize("name", sorted(goods.errands()))
async def test_what_the_tools_say_leads_to_the_answer(name: str) -> None:
    errand = goods.errands()[name]
    tools = {tool.name: tool for tool in goods.goods_tools(errand.shop)}
    words = errand.question.replace(",", " ").replace(":", " ").replace("?", " ").split()
    named = [word for word in words if word in errand.shop.prices]
    prices = {item: (await _looked(tools, "price", item=item))["price"] for item in named}
    match name.split("-")[1]:
        case "cheapest":
            assert errand.gold == {"em": min(prices, key=lambda item: prices[item])}
        case "worth":
            pieces = {item: (await _looked(tools, "stock", item=item))["pieces"] for item in named}
            assert _dollars(errand) == sum(prices[item] * pieces[item] for item in named)
        case "bill":
            counts = {item: int(words[words.index(item) - 2]) for item in named}
            assert _dollars(errand) == sum(prices[item] * counts[item] for item in named)
        case _:
            number = next(int(word) for word in words if word.isdigit())
            ordered = (await _looked(tools, "order", number=number))["items"]
            paid = [errand.shop.prices[item] * count for item, count in ordered.items()]
            assert _dollars(errand) == sum(paid)


@pytest.fixture
def quixbugs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> programs.Program:
    """A function with a bug, in the form of QuixBugs."""
    for folder, name, text in (
        ("python_programs", "twice.py", BUG),
        ("json_testcases", "twice.json", "[[1], 2]\n[2, 4]\n[[0], 0]\n[[-3], -6]\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv(programs.VARIABLE, str(tmp_path))
    return programs.programs()["quixbugs-twice"]


@pytest.mark.slow
@pytest.mark.skipif(bool(kernel().lacks), reason=f"no sandbox: {kernel().lacks}")
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_tests_judge_a_function(quixbugs: programs.Program) -> None:
    assert "Twice a number" in quixbugs.case().question
    assert quixbugs.code == BUG.partition("\n\n\n")[0]
    assert await programs.failing(quixbugs, quixbugs.code) == "twice(1) gave 3, and should 2"
    assert await programs.failing(quixbugs, "def twice(n):\n    return n * 2") == ""
    fenced = "Here:\n```python\ndef twice(n):\n    return n * 2\n```"
    assert await programs.failing(quixbugs, fenced) == ""
    positive = "def twice(n):\n    return abs(n * 2)"
    assert await programs.failing(quixbugs, positive, programs.VISIBLE) == ""
    assert await programs.failing(quixbugs, positive) == "twice(-3) gave 6, and should -6"
    assert "raised" in await programs.failing(quixbugs, "def twice(n):\n    return n[0]")
    bare = "The function is:\n\ndef twice(n):\n\n    return n * 2\n\nIt doubles."
    assert await programs.failing(quixbugs, bare) == ""
    for words in ("It doubles.", "def thrice(n):\n    return n * 3", "def twice(n) return n"):
        told = await programs.failing(quixbugs, words)
        assert told.startswith("this is not twice in Python"), words
        assert told.endswith("give the whole function and nothing else"), words
    tool = programs.tests_tool(quixbugs)
    observation = await tool.call({"code": quixbugs.code}, "run:1.1")
    assert observation == (
        "twice(1) gave 3, and should 2; "
        "this is the function as it was given: change the line with the bug"
    )
    for words in ("It doubles.", "def twice(n): return '\0'"):
        assert "as it was given" not in await tool.call({"code": words}, "run:1.2")
    assert await tool.call({"code": positive}, "run:1.1") == "all of these tests passed"


async def test_an_answer_that_is_no_function_goes_back(quixbugs: programs.Program) -> None:
    wrong, null = "def twice(n):\n    return n", "def twice(n): return '\0'"
    replies = [
        finish(each) for each in ("It doubles.", "def thrice(n):\n    return n", null, wrong)
    ]
    agent = Agent(ScriptedModel(replies), checks=[programs.function_check(quixbugs)], tries=3)
    store = MemoryStore()
    done = await clew.run(agent, quixbugs.case().question, store=store)
    assert done.answer == wrong  # only tests know that it is wrong
    record = await clew.read(done.run_id, store=store)
    told = [call.observation.text for call in record.calls if call.observation is not None]
    assert ["this is not twice in Python" in each for each in told] == [True, True, True, False]


CODE = next(form.edition for form in FORMS if form.name == "code")


def answered(form: str, task: str, *, right: bool, **more: Any) -> Answered:
    one = {
        "sha256": "0",
        "model": "m",
        "form": form,
        "fingerprint": "f",
        "task": task,
        "source": "goods",
        "half": "tuning",
        "status": "answered",
        "reason": "",
        "answer": "1",
        "right": right,
        "run_id": f"{form}-{task}",
        "runs": 1,
        "calls": 2,
        "prompt": 100,
        "cached": 0,
        "written": 10,
        "made": {},
        "faults": 0,
        "seconds": 1.0,
        "load": 1.0,
        "machine": "a machine",
        "threads": 1,
        "at": "",
        "version": "",
        **more,
    }
    return Answered(**one)


def test_the_section_compares_over_the_same_tasks_and_leaves_early_editions_out() -> None:
    late = next(form for form in FORMS if form.edition > 1)
    tasks = [
        answered("react", "a", right=False),
        answered("react", "b", right=True),
        answered("react", "c", right=True),
        answered("reflexion", "a", right=True, prompt=300),
        answered("reflexion", "b", right=True, prompt=100),
        answered(late.name, "a", right=True),
        answered(late.name, "a", right=True, edition=late.edition, fingerprint="g"),
    ]
    text = "\n".join(page.live(tasks))
    row = next(line for line in text.splitlines() if line.startswith("| `reflexion` | three"))
    assert "| 2 of 2 |" in row
    assert "+0.50" in row
    assert "2 paired" in row
    assert "2.0 ×" in row
    assert "6 outcomes" in text
    assert "1 more outcomes" in text
    assert "0\ntasks have been asked so far in every form of clew" in text


def test_a_task_asked_several_times_counts_once_and_is_told_to_differ() -> None:
    outcomes = [
        *(answered("react", "a", right=asking > 1, asking=asking) for asking in (1, 2, 3)),
        *(answered("react", "b", right=False, asking=asking) for asking in (1, 2)),
        answered("code", "a", right=True, edition=CODE),
        answered("code", "a", right=True, edition=CODE, fingerprint="g", prompt=300),
        answered("code", "b", right=False, edition=CODE, asking=2, machine="another, faster"),
    ]
    text = "\n".join(page.live(outcomes))
    react, code = (
        next(line for line in text.splitlines() if line.startswith(f"| `{form}` | the agent"))
        for form in ("react", "code")
    )
    assert "| 5 | 0.7 of 2 | 0.33 (" in react
    assert "| 2 | 1 of 2 | 0.50 (" in code
    assert "| 2.0 × |" in code  # of tokens: the last of the same asking
    assert "| seconds, a machine | seconds, another |" in text
    assert "`code`: no difference from `react` is shown, 1 right against 0.7, +0.17 (" in text
    assert "alike each time: `react` 0, 1, 1 of 1, 0 alike." in text


@pytest.mark.slow
def test_what_was_asked_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    file = write_model(tmp_path / "random.gguf")
    told: list[str | Path] = [
        *("--sources", "goods", "--first", "1", "--only", "react,rewoo", "--threads", "1"),
        *("--at-once", "2"),
        *("--outcomes", tmp_path / "outcomes", "--records", tmp_path / "runs.sqlite"),
    ]
    command = [sys.executable, "-m", "live.strategies", file, *told]
    for how in ("--ask-only", "--print"):
        done = subprocess.run(
            [*command, how],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env=unmeasured.environment(),
        )
        assert done.returncode == 0, done.stderr
        assert ("## With a real small model" in done.stdout) == (how == "--print")
        (kept,) = (tmp_path / "outcomes").glob("*.jsonl")
        lines = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
        assert {one["form"] for one in lines} == {"react", "rewoo"}
        assert [one["at_once"] for one in lines] == [2, 2]
    asked = sorted(read(tmp_path / "outcomes"), key=lambda one: one.form)
    assert {one.calls > 0 and one.runs > 0 for one in asked} == {True}
    add(msgspec.structs.replace(asked[1], prompt=1, once=False), tmp_path / "outcomes")
    again = ["--outcomes", tmp_path / "outcomes", tmp_path / "runs.sqlite"]
    for text in ("1 outcomes were counted otherwise\n", "0 outcomes were counted otherwise\n"):
        command = [sys.executable, "-m", "live.strategies.recount", *map(str, again)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env=unmeasured.environment(),
        )
        assert (done.returncode, done.stdout) == (0, text), done.stderr
    assert sorted(read(tmp_path / "outcomes"), key=lambda one: one.form) == asked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ([], "no model: name its file (make strategies GGUF=path/to/model.gguf)\n"),
        (["m.gguf", "--asking", "0"], "--asking 0: give the number of the asking, 1 or more\n"),
        (["m.gguf", "--at-once", "0"], "--at-once 0: give the number of tasks, 1 or more\n"),
        (
            ["m.gguf", "--sources", "good"],
            "no source 'good': there are goods, quixbugs, gold, foreign, hotpotqa\n",
        ),
    ],
)
def test_wrong_input_is_told_in_a_line(texts: list[str], told: str) -> None:
    command = [sys.executable, "-m", "live.strategies", *texts]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=unmeasured.environment()
    )
    assert (done.returncode, done.stderr) == (2, told)
