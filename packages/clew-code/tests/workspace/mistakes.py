"""Edits as models get them wrong: a seeded generator over real source files.

Each case knows the file that was meant. What a tool does with it is right if it leaves just that
file, and honest if it changes nothing and says where the lines are.

`python -m tests.workspace.mistakes` counts both over 1,000 cases.
"""

import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

import clew
from clew import Observation, Tool
from tests.workspace.folder import tools_of

CORE = Path(clew.__file__).parent / "core"
SEED = 20261123
SOURCES = [path for path in sorted(CORE.glob("*.py")) if path.name != "__init__.py"]


@dataclass(frozen=True)
class Case:
    """A file, what is to stand in the place of which lines, and how it is asked for."""

    kind: str
    before: str
    meant: str
    first: int  # the lines that are meant, from 1
    last: int
    old: list[str]  # as the model has them
    new: list[str]


Mutation = Callable[[random.Random, list[str], list[str]], tuple[list[str], list[str]]]


def _tabs(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    return [x.replace("    ", "\t") for x in old], [x.replace("    ", "\t") for x in new]


def _dedented(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    by = rng.choice([1, 2, 4])
    cut = re.compile(rf"^ {{1,{by}}}")
    return [cut.sub("", x) for x in old], [cut.sub("", x) for x in new]


def _indented(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    by = " " * rng.choice([1, 2, 4])
    return [by + x for x in old], [by + x for x in new]


def _first_bare(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """Only the first line of the old text lost its blanks, as from a chat window."""
    return [old[0].lstrip(), *old[1:]], new


def _trailing(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    at = rng.randrange(len(old))
    return [x + " " * rng.choice([1, 2]) if n == at else x for n, x in enumerate(old)], new


def _doubled(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    return [re.sub(r"(\w) (\w)", r"\1  \2", x, count=1) for x in old], new


def _blank_line(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    at = rng.randrange(len(old)) + 1
    return [*old[:at], "", *old[at:]], new


def _no_blank(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    return [x for x in old if x.strip()], new


def _typo(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    at = rng.randrange(len(old))
    words = re.findall(r"\w{3,}", old[at]) or ["x"]
    word = rng.choice(words)
    return [x.replace(word, word[::-1] + "x") if n == at else x for n, x in enumerate(old)], new


def _missing(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """A line of the context was forgotten."""
    if len(old) < 3:
        return _typo(rng, old, new)
    at = rng.randrange(1, len(old) - 1)
    return [x for n, x in enumerate(old) if n != at], new


def _invented(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    at = rng.randrange(len(old)) + 1
    return [*old[:at], "    assert checked(self)", *old[at:]], new


def _swapped(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    return [*old[1:], old[0]], new


def _as_it_is(rng: random.Random, old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    return old, new


BLANKS: list[Mutation] = [
    _tabs, _dedented, _indented, _first_bare, _trailing, _doubled, _blank_line, _no_blank,
]  # fmt: skip
CONTEXT: list[Mutation] = [_typo, _missing, _invented, _swapped]


def cases(number: int, seed: int) -> Iterator[Case]:
    """So many cases: of each kind a fair share."""
    rng = random.Random(seed)
    kinds = ["exact", "blanks", "context", "duplicate"]
    made = 0
    while made < number:
        case = _case(rng, kinds[made % len(kinds)])
        if case is not None:
            made += 1
            yield case


def _case(rng: random.Random, kind: str) -> Case | None:
    lines = rng.choice(SOURCES).read_text("utf-8").splitlines()
    size = rng.randint(1, 6)
    first = rng.randrange(len(lines) - size)
    right = lines[first : first + size]
    if not right[0].strip() or not right[-1].strip():
        return None
    new = _changed(rng, right)
    if kind == "duplicate":
        copies = rng.randint(1, 3)
        for _ in range(copies):
            at = rng.randrange(len(lines))
            if first < at < first + size:
                return None
            lines[at:at] = right
            first += size if at <= first else 0
    meant = [*lines[:first], *new, *lines[first + size :]]
    mutation: Mutation = _as_it_is
    if kind in {"blanks", "context"}:
        mutation = rng.choice(BLANKS if kind == "blanks" else CONTEXT)
    old, new = mutation(rng, right, new)
    if not any(x.strip() for x in old) or old == new:
        return None
    if old != right and f"\n{_file(old)}" in f"\n{_file(lines)}":
        return None  # those lines are there as well: it is no mistake, but another wish
    return Case(
        f"{kind} {mutation.__name__}", _file(lines), _file(meant), first + 1, first + size, old, new
    )


def _changed(rng: random.Random, right: list[str]) -> list[str]:
    """The lines as they are to be."""
    at = rng.randrange(len(right))
    indent = right[at][: len(right[at]) - len(right[at].lstrip())]
    match rng.randrange(3):
        case 0:
            return [*right[:at], f"{indent}changed = {rng.randrange(1000)}", *right[at + 1 :]]
        case 1:
            return [*right[: at + 1], f"{indent}added = {rng.randrange(1000)}", *right[at + 1 :]]
        case _:
            return [f"{x}  # seen" if x.strip() else x for x in right]


def _file(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def v4a(case: Case, path: str) -> str:
    """The case as a patch in V4A."""
    body = [f"-{x}" for x in case.old] + [f"+{x}" for x in case.new]
    return "\n".join(["*** Begin Patch", f"*** Update File: {path}", "@@", *body, "*** End Patch"])


def unified(case: Case, path: str, rng: random.Random) -> str:
    """The case as a unified diff whose numbers are made up, as models make them up."""
    counts = [rng.randint(1, 60) for _ in range(4)]
    head = f"@@ -{counts[0]},{counts[1]} +{counts[2]},{counts[3]} @@"
    body = [f"-{x}" for x in case.old] + [f"+{x}" for x in case.new]
    return "\n".join([f"--- a/{path}", f"+++ b/{path}", head, *body]) + "\n"


NAMED = re.compile(r"(?:lines?|at line|at lines) ([\d, -]+)")


@dataclass
class Found:
    """What came of the cases."""

    right: Counter[str] = field(default_factory=Counter[str])
    refused: Counter[str] = field(default_factory=Counter[str])
    near: int = 0
    wrong: list[Case] = field(default_factory=list[Case])
    unnamed: list[str] = field(default_factory=list[str])


async def asked(tools: dict[str, Tool], case: Case, number: int, rng: random.Random) -> str:
    """Ask for the edit in one of the three ways, and give what the tool said of it."""
    if number % 8 < 4:
        ends = ("\n", "\n") if rng.random() < 0.3 else ("", "")
        old, new = "\n".join(case.old) + ends[0], "\n".join(case.new) + ends[1]
        args = {"path": "a.py", "old_text": old, "new_text": new}
        tool = tools["edit_file"]
    else:
        tool = tools["apply_patch"]
        patch = v4a(case, "a.py") if number % 8 < 6 else unified(case, "a.py", rng)
        assert tool.repair is not None
        repaired = tool.repair({"patch": patch})
        args = repaired[0] if repaired else {"patch": patch}
    seen: Observation = await tool.call(args, "run:1.1")
    return seen.text


async def measured(root: Path, number: int, seed: int) -> Found:
    tools, rng, found = tools_of(root), random.Random(seed), Found()
    file = root / "a.py"
    for place, case in enumerate(cases(number, seed)):
        file.write_text(case.before, "utf-8")
        said = await asked(tools, case, place // 4, rng)
        now = file.read_text("utf-8")
        if now == case.meant:
            found.right[case.kind] += 1
        elif now != case.before:
            found.wrong.append(case)
        else:
            found.refused[case.kind] += 1
            spans = _spans(said)
            if not spans:
                found.unnamed.append(said)
            found.near += any(a <= case.last + 1 and case.first - 1 <= b for a, b in spans)
    return found


def _spans(said: str) -> Sequence[tuple[int, int]]:
    """The lines that a refusal names."""
    numbers = [part for group in NAMED.findall(said) for part in group.split(",") if part.strip()]
    pairs = [part.strip().strip("-").split("-") for part in numbers]
    return [(int(pair[0]), int(pair[-1])) for pair in pairs if pair[0]]


async def main(seed: int = SEED) -> None:
    """Print what came of 1,000 cases."""
    with tempfile.TemporaryDirectory() as place:
        found = await measured(Path(place), 1000, seed)
    right, refused = found.right.total(), found.refused.total()
    print(f"{right} right, {refused} refused, {len(found.wrong)} wrong in silence")
    print(f"{found.near} of {refused} refusals name the place that was meant")


if __name__ == "__main__":
    anyio.run(main)
