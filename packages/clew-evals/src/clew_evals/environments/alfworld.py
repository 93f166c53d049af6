"""ALFWorld: tasks in a household, by its own package and its TextWorld games.

The package is `alfworld` (0.4), the games are fetched by its program `alfworld-download`. Both are
loaded only when this world is asked for.
"""

import contextlib
import copy
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from clew import ConfigError
from clew_evals.case import Case
from clew_evals.environments.entries import chosen
from clew_evals.environments.episode import EnvironmentStyle
from clew_evals.environments.moves import EnvironmentOutput, Game
from clew_evals.environments.packages import load
from clew_evals.environments.textworld import text_world
from clew_evals.world import World

_SPLITS: Final = {
    "train": "train",
    "eval_in_distribution": "valid_seen",
    "eval_out_of_distribution": "valid_unseen",
}
_GREETING: Final = "-= Welcome to"
_ARRIVED: Final = "You arrive at loc "
_ASK: Final = "You are in a household and have a task there. Do it, then finish and say so."


class AlfworldOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a matrix file may say of this world.

    The split is by default the one the ReAct paper used, of 134 games. A game ends after `steps`
    moves. `commands` says whether the model is shown what it can do (in the paper it was not).
    """

    split: Literal["train", "eval_in_distribution", "eval_out_of_distribution"] = (
        "eval_out_of_distribution"
    )
    steps: int = 50
    commands: bool = True
    timeout: float = 30.0
    take: int = 0


OPTIONS: Final = AlfworldOptions
"""What `clew_evals.environments` reads the settings of a matrix file into."""


USUAL: Final = AlfworldOptions()


def world(path: str | Path = "", options: AlfworldOptions = USUAL) -> World:
    """The games of a split under the folder `path` (by default `$ALFWORLD_DATA`).

    Raises `ConfigError` where package or games are missing.
    """
    environment = load(
        "alfworld.agents.environment", "the world alfworld needs: pip install alfworld"
    )
    folder = Path(path or os.environ.get("ALFWORLD_DATA", ""))
    games = folder / "json_2.1.1" / _SPLITS[options.split]
    if not (path or "ALFWORLD_DATA" in os.environ) or not games.is_dir():
        message = f"there is no folder {games}: run alfworld-download, and name where its games are"
        raise ConfigError(message)
    # it prints what it finds, and draws a bar while it looks
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        kind = environment.get_environment("AlfredTWEnv")
        every = kind(_config(folder, options), train_eval=options.split)
    game_files = sorted(str(game) for game in every.game_files)
    cases = chosen(str(games), ((game, _case(game, games)) for game in game_files), options.take)

    def make(case: Case) -> Game:
        one = copy.copy(every)
        one.game_files = [str(games / str(case.extra["game"]))]
        one.num_games = 1
        return Game(one.init_env(batch_size=1), {})

    manner = EnvironmentStyle(
        show=paper_format, commands=options.commands, score=_won, timeout=options.timeout
    )
    return text_world(f"alfworld {options.split}", cases, make, manner)


def paper_format(text: str) -> str:
    """What the game says, as the ReAct paper shows it: no greeting, no numbers of places."""
    if text.lstrip().startswith(_GREETING):
        text = text.lstrip().partition("\n\n")[2]
    if text.startswith(_ARRIVED):
        text = text.partition(". ")[2]
    return text.strip()


def _case(game: str, games: Path) -> Case:
    relative = Path(game).relative_to(games)
    return Case(
        relative.parent.as_posix(),
        _ASK,
        {"reward": 1.0},
        category=relative.parts[0].partition("-")[0],
        tests="a task in a household, done step by step",
        extra={"game": relative.as_posix()},
    )


def _won(seen: Sequence[EnvironmentOutput]) -> float:
    return float(bool(seen) and bool(seen[-1].infos.get("won")))


def _config(folder: Path, options: AlfworldOptions) -> dict[str, Any]:
    """What the package reads of its configuration where games are played as text."""
    data = folder / "json_2.1.1"
    return {
        "dataset": {
            "data_path": str(data / _SPLITS["train"]),
            "eval_id_data_path": str(data / _SPLITS["eval_in_distribution"]),
            "eval_ood_data_path": str(data / _SPLITS["eval_out_of_distribution"]),
            "num_train_games": -1,
            "num_eval_games": -1,
        },
        "env": {
            "type": "AlfredTWEnv",
            "domain_randomization": False,
            "task_types": [1, 2, 3, 4, 5, 6],
            "expert_type": "handcoded",
            "goal_desc_human_anns_prob": 0.0,
        },
        # "dqn" asks for no expert's plan, so that none is computed
        "general": {"training_method": "dqn"},
        "rl": {"training": {"max_nb_steps_per_episode": options.steps}},
    }
