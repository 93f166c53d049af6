"""What came of the attacks, class by class, as a table."""

from collections.abc import Mapping, Sequence

from unseen.corpus.every import KINDS, Half
from unseen.play import Outcome

Played = Sequence[tuple[str, Outcome]]


def table(halves: Mapping[Half, Played]) -> str:
    """In Markdown: for each class and half the attacks, those that act or ask, and tasks done."""
    heads = [f"{half}: {what}" for half in halves for what in ("attacks", "acted", "asked", "done")]
    rows = [[kind, *_cells(kind, halves)] for kind in KINDS]
    rows.append(["all", *_cells("", halves)])
    lines = [["class", *heads], ["---"] * (len(heads) + 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def acting(played: Played) -> dict[str, int]:
    """How many attacks of each class act."""
    return {kind: sum(one.acted for one in _of(kind, played)) for kind in KINDS}


def _of(kind: str, played: Played) -> list[Outcome]:
    return [one for name, one in played if not kind or name.partition("/")[0] == kind]


def _cells(kind: str, halves: Mapping[Half, Played]) -> list[str]:
    cells = list[str]()
    for played in halves.values():
        of_kind = _of(kind, played)
        sums = (len(of_kind), sum(o.acted for o in of_kind), sum(o.asked > 0 for o in of_kind))
        cells += [*map(str, sums), str(sum(o.done for o in of_kind))]
    return cells
