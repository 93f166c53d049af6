"""ALFWorld and WebShop, each against a stand-in with the interface of the real one."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clew import Agent, MemoryStore, read, resume, run
from clew.guards import Provenance
from clew.support.errors import ConfigError, ModelError
from clew.testing.models import ScriptedModel, act, finish, say
from clew_evals.environments import world
from clew_evals.environments.alfworld import paper_format
from clew_evals.world import Episode, World
from tests.evals.standins.shop_site import ShopSite

STANDINS = Path(__file__).parent / "standins"
PACKAGES = ("alfworld", "web_agent_site")


@pytest.fixture
def packages(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put the stand-ins where the packages would be."""
    monkeypatch.syspath_prepend(STANDINS)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in PACKAGES]:
        del sys.modules[name]


def agent(episode: Episode, *script: Any, codec: str = "native") -> Agent:
    model = ScriptedModel([*script])
    return Agent(
        model=model, tools=episode.tools, guards=[*episode.guards, Provenance("off")], codec=codec
    )


async def played(
    there: World, index: int, *script: Any, codec: str = "native", store: Any = None
) -> tuple[Any, float | None]:
    """A case, and what it paid."""
    kept = store or MemoryStore()
    case = there.cases[index]
    async with there.open(case) as episode:
        await run(agent(episode, *script, codec=codec), case.question, store=kept, run_id="r")
        record = await read("r", store=kept)
        return record, await episode.reward(record)


def texts(record: Any) -> list[str]:
    return [call.observation.text for call in record.calls if call.observation is not None]


# ---------------------------------------------------------------- ALFWorld

TASKS = {
    "pick_and_place_simple-Mug-None-Desk-308/trial_T1": ["mug", "desk 1"],
    "look_at_obj_in_light-Book-None-DeskLamp-1/trial_T2": ["book", "sofa 1"],
}


@pytest.fixture
def games(tmp_path: Path) -> Path:
    for name, task in TASKS.items():
        folder = tmp_path / "json_2.1.1" / "valid_unseen" / name
        folder.mkdir(parents=True)
        (folder / "game.tw-pddl").write_text(json.dumps({"task": task, "solvable": True}))
    return tmp_path


@pytest.mark.usefixtures("packages")
async def test_a_household_is_played_in_the_papers_format(
    games: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = world("alfworld", games, commands=False)
    assert capsys.readouterr() == ("", "")
    book, mug = there.cases
    assert (mug.id, mug.category) == (
        "pick_and_place_simple-Mug-None-Desk-308/trial_T1",
        "pick_and_place_simple",
    )
    assert book.question.endswith(
        "This is a room with a shelf 1 and a sofa 1.\n\nYour task is to: put a book on the sofa 1."
    )
    lines = [
        "Thought 1: The shelf.\nAction 1: act[go to shelf 1]",
        "Thought 2: There.\nAction 2: act[take mug 1 from shelf 1]",
        "Thought 3: The desk.\nAction 3: act[go to desk 1]",
        "Thought 4: Down.\nAction 4: act[move mug 1 to desk 1]",
        "Thought 5: Done.\nAction 5: Finish[the mug is on the desk]",
    ]
    record, reward = await played(there, 1, *map(say, lines), codec="paper")
    assert reward == 1.0
    assert texts(record)[0] == "On the shelf 1, you see a mug 1."
    assert texts(record)[3] == "You move the mug 1 to the desk 1.\n\nThe episode is over."


@pytest.mark.usefixtures("packages")
async def test_a_household_shows_commands_ends_and_goes_on(games: Path) -> None:
    there = world("alfworld", games, steps=2, take=1)
    (case,) = there.cases
    assert case.question.endswith("You can: go to shelf 1; go to sofa 1; look")
    store, script = MemoryStore(), [act("act", command="go to sofa 1")]
    with pytest.raises(ModelError):
        await played(there, 0, *script, store=store)
    async with there.open(case) as episode:
        await episode.catch_up(await read("r", store=store))
        script += [act("act", command="look"), act("act", command="look"), finish("no")]
        await resume(agent(episode, *script), "r", store=store)
        record = await read("r", store=store)
        assert await episode.reward(record) == 0.0
    assert "The episode is over." in texts(record)[1]
    assert "nothing more can be done in it" in texts(record)[2]


@pytest.mark.usefixtures("packages")
def test_a_folder_without_games_is_told(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"there is no folder .*valid_seen: run alfworld-download"
    ):
        world("alfworld", tmp_path, split="eval_in_distribution")
    with pytest.raises(ConfigError, match="there is no folder json"):
        world("alfworld")
    (tmp_path / "json_2.1.1" / "train").mkdir(parents=True)
    with pytest.raises(ConfigError, match="train: there is nothing in it"):
        world("alfworld", tmp_path, split="train")


def test_packages_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"needs: pip install alfworld .*No module named"):
        world("alfworld", tmp_path)
    with pytest.raises(ConfigError, match="address of a server, or WebShop's own package"):
        world("webshop", take=1)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("-= Welcome to TextWorld, ALFRED! =-\n\nA room.\n\nDo it.", "A room.\n\nDo it."),
        (
            "You arrive at loc 12. On the desk 1, you see a pen 1. Fine.",
            "On the desk 1, you see a pen 1. Fine.",
        ),
        (" Nothing happens. ", "Nothing happens."),
    ],
)
def test_a_household_is_shown_as_in_the_paper(text: str, rest: str) -> None:
    assert paper_format(text) == rest


# ---------------------------------------------------------------- WebShop


BOUGHT = [
    "Thought 1: I search.\nAction 1: search[red canvas shoes]",
    "Thought 2: The first.\nAction 2: click[B000000001]",
    "Thought 3: The size.\nAction 3: click[9]",
    "Thought 4: And the colour.\nAction 4: click[Dark Red]",
    "Thought 5: That is it.\nAction 5: click[Buy Now]",
    "Thought 6: Done.\nAction 6: Finish[red canvas shoes, size 9]",
]


async def test_a_shop_is_visited_by_its_server_in_the_papers_format() -> None:
    with ShopSite() as site:
        there = world("webshop", server=site.url, take=2)
        shoes, mug = there.cases
        assert "Instruction: i want red canvas shoes in size 9" in shoes.question
        assert (mug.id, mug.extra) == ("goal-1", {"goal": 1})
        assert "never" not in shoes.question
        record, reward = await played(there, 0, *map(say, BOUGHT), codec="paper")
        sessions = {was.path.split("/")[1] for was in site.asked if was.path.count("/") == 1}
    assert reward == 1.0
    results, item, size, colour, bought = texts(record)[:5]
    assert results.splitlines() == [
        "[Back to Search]",
        "Page 1 (Total results: 3)",
        "[Next >]",
        "[B000000001]",
        "Red canvas shoes",
        "$20.0",
        "[B000000002]",
        "Blue canvas shoes",
        "$18.0",
        "[B000000003]",
        "Red mug",
        "$5.0",
    ]
    assert "size\n[8]\n[9]\ncolor\n[red]\n[dark red]\nRed canvas shoes\nPrice: $20.0" in item
    assert (size, colour) == ("You have clicked 9.", "You have clicked dark red.")
    assert bought == "Your score (min 0.0, max 1.0): 1.0\n\nThe episode is over."
    assert len(sessions) == 3  # one for the question of each case, and one for the episode


async def test_what_cannot_be_done_in_a_shop_is_said() -> None:
    with ShopSite() as site:
        there = world("webshop", server=site.url, start=1, take=1)
        script = [
            act("click", button="Buy Now"),
            act("search", words="mug"),
            act("search", words="cup"),
            act("click", button="b000000003"),
            act("click", button="description"),
            act("click", button="< Prev"),
            act("click", button="Back to Search"),
            act("search", words="mug"),
            act("click", button="B000000003"),
        ]
        store = MemoryStore()
        with pytest.raises(ModelError):
            await played(there, 0, *script, store=store)
        async with there.open(there.cases[0]) as episode:
            await episode.catch_up(await read("r", store=store))
            script += [act("click", button="Buy Now"), finish("a red mug")]
            await resume(agent(episode, *script), "r", store=store)
            record = await read("r", store=store)
            assert await episode.reward(record) == 1.0
    said = texts(record)
    assert said[0] == "Invalid action! there is no 'Buy Now' on this page"
    assert said[2].startswith("Invalid action! there is no search form on this page")
    assert said[4] == "[Back to Search]\n[< Prev]\nMade for this test."
    assert said[5] == said[3] == said[8]
    assert said[6] == "WebShop\n[Search]"


def test_a_server_that_is_no_shop_is_told() -> None:
    with pytest.raises(ConfigError, match="give an address, http://host:port"):
        world("webshop", server="shop.example")
    with pytest.raises(ConfigError, match="take 1 or more"):
        world("webshop", server="http://127.0.0.1:1", take=0)
    with ShopSite() as site:
        with pytest.raises(ConfigError, match=r"case goal-2: .* the shop answers 500 to /clew_"):
            world("webshop", server=site.url, start=2, take=1)
    with pytest.raises(ConfigError, match="case goal-0: its environment cannot be begun"):
        world("webshop", server=site.url, take=1)


@pytest.mark.usefixtures("packages")
async def test_a_shop_is_visited_by_its_package() -> None:
    there = world("webshop", "products.json", take=2, products=1000)
    assert there.cases[1].question.endswith("[SEP] Search\n\nYou can: search[words]")
    script = [
        act("search", words="Shoes"),
        act("click", button="B000000001"),
        act("click", button="8"),
        act("click", button="Buy Now"),
        finish("shoes"),
    ]
    record, reward = await played(there, 0, *script)
    assert reward == 0.5
    assert "You can: click[back to search]; click[b000000001]" in texts(record)[0]
    package = sys.modules["web_agent_site.envs"]
    assert package.SimServer.loaded == 1
    with pytest.raises(ConfigError, match="cannot load its products: FileNotFoundError: x"):
        world("webshop", "x.json")
