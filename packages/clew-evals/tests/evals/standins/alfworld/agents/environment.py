"""A stand-in for ALFWorld 0.4: `get_environment`, `AlfredTWEnv`, batches of one. No real games."""

import json
import os
import sys
from pathlib import Path
from typing import Any


def get_environment(env_type: str) -> Any:
    if env_type != "AlfredTWEnv":
        message = f"Environment {env_type} is not implemented."
        raise NotImplementedError(message)
    return AlfredTWEnv


class AlfredTWEnv:
    """Finds the games of a split by the configuration, as the package does."""

    def __init__(self, config: dict[str, Any], train_eval: str = "train") -> None:
        print("Initializing AlfredTWEnv...")  # noqa: T201 - as the package does
        print("100%", file=sys.stderr)  # noqa: T201 - a bar, as the package does
        self.config = config
        self.train_eval = train_eval
        names = {
            "train": "data_path",
            "eval_in_distribution": "eval_id_data_path",
            "eval_out_of_distribution": "eval_ood_data_path",
        }
        assert len(config["env"]["task_types"]) > 0
        assert config["env"]["goal_desc_human_anns_prob"] == 0
        data_path = os.path.expandvars(config["dataset"][names[train_eval]])
        self.game_files = [
            f"{root}/game.tw-pddl"
            for root, _, files in os.walk(data_path, topdown=False)
            if "game.tw-pddl" in files
        ]
        self.num_games = len(self.game_files)

    def init_env(self, batch_size: int) -> Any:
        assert self.config["general"]["training_method"] == "dqn"
        assert self.config["env"]["domain_randomization"] is False
        steps = self.config["rl"]["training"]["max_nb_steps_per_episode"]
        return Batch(self.game_files, batch_size, steps)


class Batch:
    """What TextWorld makes of them: a list of one value for everything."""

    def __init__(self, game_files: list[str], batch_size: int, steps: int) -> None:
        assert batch_size == 1
        self._files = iter(game_files)
        self._max_steps = steps

    def reset(self) -> Any:
        """Begin the next game."""
        self._thing, self._goal = json.loads(Path(next(self._files)).read_text())["task"]
        self._at, self._holds, self._won, self._steps = "", False, False, 0
        text = (
            "-= Welcome to TextWorld, ALFRED! =-\n\n"
            f"This is a room with a shelf 1 and a {self._goal}.\n\n"
            f"Your task is to: put a {self._thing} on the {self._goal}."
        )
        return [text], self._infos()

    def step(self, commands: Any) -> Any:
        assert isinstance(commands, (list, tuple))
        (command,) = commands
        self._steps += 1
        text = self._moved(command)
        done = self._won or self._steps >= self._max_steps
        return [text], [float(self._won)], [done], self._infos()

    def close(self) -> None:
        pass

    def _moved(self, command: str) -> str:
        if command.startswith("go to "):
            self._at = command.removeprefix("go to ")
            seen = f"a {self._thing} 1" if self._at == "shelf 1" and not self._holds else "nothing"
            return f"You arrive at loc 4. On the {self._at}, you see {seen}."
        if command == f"take {self._thing} 1 from shelf 1" and self._at == "shelf 1":
            self._holds = True
            return f"You pick up the {self._thing} 1 from the shelf 1."
        if command == f"move {self._thing} 1 to {self._goal}" and self._at == self._goal:
            self._won = self._holds
            return f"You move the {self._thing} 1 to the {self._goal}."
        return "Nothing happens."

    def _infos(self) -> dict[str, list[Any]]:
        commands = [f"go to {self._goal}", "go to shelf 1", "look"]
        return {"admissible_commands": [commands], "won": [self._won], "extra.gamefile": [""]}
