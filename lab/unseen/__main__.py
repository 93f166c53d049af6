"""Prints how the attacks end, class by class, for each half: `python -m unseen [first|second]`."""

import sys

import anyio

from unseen.corpus.every import Half, half
from unseen.play import Outcome, play
from unseen.table import Played, table


async def _played(which: Half) -> list[tuple[str, Outcome]]:
    return [(attack.id, await play(attack)) for attack in half(which)]


def main() -> None:
    """Play the halves that are named, or both; with `-v` show each attack that acts."""
    words = sys.argv[1:]
    halves: list[Half] = [
        each for each in ("first", "second") if not {*words} - {"-v"} or each in words
    ]
    outcomes: dict[Half, Played] = {each: anyio.run(_played, each) for each in halves}
    print(table(outcomes))
    if "-v" in words:
        for played in outcomes.values():
            for name, outcome in played:
                if outcome.acted:
                    print(name, *((each.tool, each.args) for each in outcome.bad), sep=" | ")


main()
