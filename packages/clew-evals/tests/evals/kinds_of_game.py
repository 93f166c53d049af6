"""Games for a matrix file to name: a file beside it says which kind is made."""

from collections.abc import Callable
from pathlib import Path

from tests.evals import games


class Named(games.NewLamp):
    """A game that says which it is."""

    def __init__(self, name: str, folder: str) -> None:
        super().__init__(f"This is game {name}.")
        self.folder = Path(folder)


class Holding(Named):
    """Waits in the second move of game b, until it is let go: whoever plays it is cancelled.

    Both are pipes in its folder: `entered`, which it closes there, and `let go`, which it reads.
    """

    def moved(self, command: str) -> tuple[str, float]:
        move = super().moved(command)
        if self.first == "This is game b." and len(self.log) == 2:
            (self.folder / "entered").write_bytes(b"")
            (self.folder / "let go").read_bytes()
        return move


class Other(Named):
    def moved(self, command: str) -> tuple[str, float]:
        text, reward = super().moved(command)
        return f"{text} It is cold.", reward


KINDS: dict[str, Callable[[str, str], Named]] = {
    "named": Named, "holding": Holding, "other": Other,
}  # fmt: skip


def make(name: str, folder: str) -> Named:
    """The game of this name, of the kind that the folder says now."""
    return KINDS[(Path(folder) / "kind").read_text()](name, folder)
