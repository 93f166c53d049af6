"""What came of a sample, in Markdown: a row for each room, and what survived."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mutation.mutants import Mutant
from mutation.trial import FURTHER, ROOMS, TOGETHER

Outcome = Mapping[str, Any]
Key = tuple[str, str, str, str]

ALIVE = ("unseen", "survived")


def written(
    mutants: Sequence[Mutant], known: Mapping[Key, Outcome], reasons: Mapping[Key, str], head: str
) -> str:
    """The tables of a sample."""
    tried = [mutant for mutant in mutants if mutant.key in known]
    alive = [mutant for mutant in tried if known[mutant.key]["outcome"] in ALIVE]
    rooms = [room for room in (*ROOMS, *FURTHER) if of_room(tried, room)]
    rows = [row(room, of_room(tried, room), known, reasons) for room in rooms]
    rows.append(row("all", tried, known, reasons))
    titles = ("room", "mutants", "noticed", "only by tests of several packages", "explained")
    blocks = [head, table((*titles, "survived", "score"), rows)]
    if left := [mutant for mutant in alive if mutant.key not in reasons]:
        blocks += ["What survived:", table(("file", "function", "was", "is"), map(cells, left))]
    return "\n\n".join(blocks)


def of_room(mutants: Sequence[Mutant], room: str) -> list[Mutant]:
    """Those of a room."""
    return [mutant for mutant in mutants if mutant.file.startswith(f"{room}/")]


def row(
    name: str, mutants: Sequence[Mutant], known: Mapping[Key, Outcome], reasons: Mapping[Key, str]
) -> list[str]:
    """What came of them in numbers; the score leaves out what is explained."""
    results = [known[mutant.key] for mutant in mutants]
    alive = [mutant.key for mutant in mutants if known[mutant.key]["outcome"] in ALIVE]
    explained = sum(key in reasons for key in alive)
    dead = len(results) - len(alive)
    together = sum(str(one["by"]).startswith(str(TOGETHER)) for one in results)
    rest = dead + len(alive) - explained
    numbers = (len(results), dead, together, explained, len(alive) - explained)
    return [name, *map(str, numbers), f"{dead / rest:.1%}" if rest else "-"]


def cells(mutant: Mutant) -> list[str]:
    """A survivor as cells of a table."""
    line = f":{mutant.lines[0]}" if mutant.lines else ""
    was, now = (short(text) for text in (mutant.was, mutant.now))
    return [f"`{mutant.file}{line}`", f"`{mutant.function or '-'}`", was, now]


def short(code: str) -> str:
    """Code on one line that stands in a cell."""
    text = " ".join(code.split()).replace("`", "'").replace("|", r"\|")
    text = text if len(text) <= 100 else f"{text[:99]}…"
    return f"`{text}`" if text else "(nothing)"


def table(titles: Sequence[str], rows: Iterator[list[str]] | Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace("| --- ", "|---")
