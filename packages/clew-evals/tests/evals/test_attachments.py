"""Cases with files: each run is asked with them, alone and in votes, before and after a restart."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from clew import Agent, ConfigError, Usage
from clew.interfaces import ModelInfo, OnText, Prompt, Reply
from clew.testing import ScriptedModel
from clew.testing.models import say
from clew_evals.dataset import read_dataset
from clew_evals.plan import Configuration, Plan
from clew_evals.runner import evaluate, foreseen
from clew_evals.world import World
from tests.toolbox.odd_files import ODD, WHY, make

pytestmark = pytest.mark.anyio

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))


@dataclass
class Looking:
    """It says whether it sees the picture, and what the letter says."""

    asked: list[str] = field(default_factory=list[str])
    info = ModelInfo("looking:test", priced=True)

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        parts = [*prompt.head, *prompt.parts, *prompt.tail]
        files = [it for part in parts for it in part.attachments]
        text = " ".join(each.text or str(each.data == PNG) for each in files)
        self.asked.append(text)
        return await ScriptedModel([say(text)], usage=Usage(input=1)).complete(prompt, on_text)


def written(folder: Path, *attachments: str) -> Path:
    (folder / "map.png").write_bytes(PNG)
    (folder / "letter.txt").write_text("Meet at noon.")
    dataset = folder / "cases.jsonl"
    case = {"id": "a", "question": "What is there?", "gold": "True Meet at noon."}
    dataset.write_text(json.dumps({**case, "attachments": attachments}))
    return dataset


@pytest.mark.parametrize("votes", [1, 2])
async def test_each_run_is_asked_with_them(tmp_path: Path, votes: int) -> None:
    model = Looking()
    world = World("files", tuple(read_dataset(written(tmp_path, "map.png", "letter.txt"))))
    plan = Plan(
        name="files",
        world=World("files", world.cases, folder=tmp_path),
        configurations=[Configuration("plain", Agent(model), votes=votes)],
    )
    for _ in range(2):
        done = await evaluate(plan, tmp_path / "runs.sqlite")
        assert [outcome.passed for outcome in done.outcomes] == [True]
    assert model.asked == ["True Meet at noon."] * votes


@dataclass
class Blind(Looking):
    """It is shown nothing."""

    info = ModelInfo("blind:test", priced=True, takes=frozenset())


async def test_a_model_that_sees_nothing_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    seeing, blind = Agent(Looking()), Agent(model := Blind())
    plan = Plan(
        name="files",
        world=World("files", tuple(read_dataset(written(tmp_path, "map.png"))), folder=tmp_path),
        configurations=[Configuration("seeing", seeing), Configuration("blind", blind)],
    )
    why = "case a: blind:test takes no pictures of the type image/png: give it a text"
    for do in (foreseen, evaluate):
        with pytest.raises(ConfigError, match=why):
            await do(plan, tmp_path / "runs.sqlite")
    assert model.asked == []
    done = await evaluate(plan, tmp_path / "runs.sqlite", only=["seeing"])
    assert done.complete


@pytest.mark.parametrize("what", ODD)
def test_a_case_names_no_odd_file(tmp_path: Path, what: str) -> None:
    make(what, tmp_path)
    with pytest.raises(ConfigError, match=r"cases\.jsonl:1: ") as caught:
        read_dataset(written(tmp_path, f"{what}.png"))
    outside = f"{what}.png is not in the folder"
    assert WHY[what] in str(caught.value) or outside in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("gone.png", "cannot be attached: No such file"),
        ("../x", "is not in the folder"),
        (".", "is no file"),
    ],
)
def test_what_cannot_be_attached_is_told_with_its_line(tmp_path: Path, name: str, why: str) -> None:
    with pytest.raises(ConfigError, match=rf"cases\.jsonl:1: .*{why}"):
        read_dataset(written(tmp_path, "map.png", name))
