"""Programs as a model writes them, and what their ends should be: CPython says so.

`programs/` beside has those that were written, one a file: its first line names the tools, a line
`# next block` ends what is written in one step. Others are generated from seeds. The six tools
keep what they do in one file, a line for each effect with the key of its call, so that an effect
that happened twice, and one that did not happen, stand there. `python -m durability.corpus` runs
all of them in CPython, and says how many calls they make.
"""

import contextlib
import io
import json
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from clew import ToolError

WRITTEN: Final = Path(__file__).parent / "programs"
GENERATED: Final = 70
NEXT: Final = "# next block\n"

PAGES: Final[dict[str, dict[str, Any]]] = {
    "harbour": {"words": 120, "price": 35, "links": ["mill", "inn", "tower"],
                "text": "Ships leave at 6 and at 18"},
    "mill": {"words": 80, "price": 20, "links": ["harbour", "inn"],
             "text": "The old mill grinds barley and rye for everybody"},
    "tower": {"words": 95, "price": 75, "links": ["harbour"], "text": "300 steps lead up"},
    "inn": {"words": 60, "price": 50, "links": [], "text": "A bed is 12 and a meal 7 a night"},
}  # fmt: skip
"""What can be read."""

FUNDS: Final = 1_000
LIMIT: Final = 200
SEATS: Final = 20

EFFECTS: Final = {
    "page": "read",
    "count": "read",
    "put": "idempotent",
    "reserve": "idempotent",
    "send": "unsafe",
    "pay": "unsafe",
}
"""The tools, and what they do to the world."""


class World:
    """A file of effects, and six functions that read and add to it.

    Each function takes the key of its call first; what the same key asks for a second time is
    written down a second time.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "world.jsonl"

    def effects(self) -> list[dict[str, Any]]:
        """All that happened, in order: tool, key and arguments."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]

    def twice(self) -> list[str]:
        """Calls whose effect happened more than once, though they are unsafe."""
        keys = [one["key"] for one in self.effects() if EFFECTS[one["tool"]] == "unsafe"]
        return sorted({key for key in keys if keys.count(key) > 1})

    def end(self) -> dict[str, Any]:
        """What the world is after all that happened."""
        notes: dict[str, Any] = {}
        seats = list[int]()
        letters, payments = list[list[Any]](), list[list[Any]]()
        done = set[str]()
        for one in self.effects():
            if EFFECTS[one["tool"]] == "idempotent" and one["key"] in done:
                continue  # what was done under a key is known to whoever is asked again
            done.add(one["key"])
            args = one["args"]
            match one["tool"]:
                case "put":
                    notes[args["name"]] = args["value"]
                case "reserve":
                    seats.append(args["seat"])
                case "send":
                    letters.append([args["to"], args["text"]])
                case _:
                    payments.append([args["to"], args["amount"]])
        return {"notes": notes, "seats": seats, "letters": letters, "payments": payments}

    def _do(self, key: str, tool: str, **args: Any) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"tool": tool, "key": key, "args": args}) + "\n")

    def page(self, key: str, name: str) -> dict[str, Any]:
        """Read a page: its name, words, price, links and text."""
        if name not in PAGES:
            raise ToolError(f"there is no page {name!r}: there are {', '.join(PAGES)}")
        return {"name": name, **PAGES[name]}

    def count(self, key: str, kind: str) -> int:
        """Count what is there: "notes", "seats", "letters" or "payments"."""
        return len(self.end()[kind])

    def put(self, key: str, name: str, value: Any) -> str:
        """Put a value under a name, in place of what was there."""
        self._do(key, "put", name=name, value=value)
        return f"put {name}"

    def reserve(self, key: str, seat: int) -> str:
        """Reserve a seat."""
        if not 0 <= seat <= SEATS:
            raise ToolError(f"there is no seat {seat}: they are numbered 0 to {SEATS}")
        self._do(key, "reserve", seat=seat)
        return f"seat {seat}"

    def send(self, key: str, to: str, text: str) -> int:
        """Send a letter; returns its number."""
        self._do(key, "send", to=to, text=text)
        return self.count(key, "letters")

    def pay(self, key: str, to: str, amount: int) -> int:
        """Pay somebody; returns what is left."""
        if amount > LIMIT:
            raise ToolError(f"{amount} is over {LIMIT}, the most that can be paid at once")
        self._do(key, "pay", to=to, amount=amount)
        paid: list[int] = [amount for _, amount in self.end()["payments"]]
        return FUNDS - sum(paid)


@dataclass(frozen=True)
class Program:
    """A program: its name, the tools it may call, and its blocks, each written in one step."""

    name: str
    tools: tuple[str, ...]
    blocks: tuple[str, ...]


@dataclass(frozen=True)
class End:
    """What a program comes to: what each block prints, the error it ends with, and the world."""

    printed: tuple[str, ...]
    errors: tuple[str, ...]
    world: dict[str, Any]
    calls: int


def programs() -> list[Program]:
    """Written ones by name, then generated ones by seed."""
    written = [_read(path.stem, path.read_text("utf-8")) for path in sorted(WRITTEN.glob("*.py"))]
    return [*written, *generated(GENERATED)]


def _read(name: str, text: str) -> Program:
    head, _, code = text.partition("\n")
    tools = tuple(re.findall(r"\w+", head.removeprefix("# tools:")))
    return Program(name, tools, tuple(code.split(NEXT)))


def plain(program: Program, folder: Path) -> End:
    """What CPython makes of a program with the same functions, in an empty folder."""
    world, calls = World(folder), 0

    def function(name: str) -> Callable[..., Any]:
        def call(**args: Any) -> Any:
            nonlocal calls
            calls += 1
            # a copy, as JSON makes one: neither side may change what the other holds
            return json.loads(json.dumps(getattr(world, name)(str(calls), **args)))

        return call

    names: dict[str, Any] = {"__name__": "program", **{name: function(name) for name in EFFECTS}}
    printed, errors = list[str](), list[str]()
    for block in program.blocks:
        out, error = io.StringIO(), ""
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(block, program.name, "exec"), names)
            except Exception as raised:  # noqa: BLE001 - a program may end with any
                error = type(raised).__name__
        printed.append(out.getvalue())
        errors.append(error)
    return End(tuple(printed), tuple(errors), world.end(), calls)


def generated(number: int) -> Iterator[Program]:
    """Programs put together from seeds, each of which makes two to eight calls."""
    seed = 0
    while number:
        program = Program(f"seed_{seed}", tuple(EFFECTS), _Writer(random.Random(seed)).blocks())
        seed += 1
        with tempfile.TemporaryDirectory() as folder:
            if 2 <= plain(program, Path(folder)).calls <= 8:
                number -= 1
                yield program


class _Writer:
    """Writes statements at random that end, over variables that are there."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.fresh = 0

    def blocks(self) -> tuple[str, ...]:
        """One to three blocks over the same variables."""
        rng = self.rng
        head = [f"a, b, c = {rng.randint(0, 9)}, {rng.randint(0, 9)}, {rng.randint(0, 9)}",
                "items, seen = [], {}"]  # fmt: skip
        blocks = [self.body(0, rng.randint(2, 4)) for _ in range(rng.choice((1, 1, 2, 3)))]
        blocks[0] = head + blocks[0]
        blocks[-1].append("print(a, b, c, items, sorted(seen.items()))")
        return tuple("\n".join(lines) + "\n" for lines in blocks)

    def body(self, depth: int, length: int) -> list[str]:
        """Some statements, at the same depth."""
        kinds = [self.call, self.call, self.sum]
        if depth < 3:
            kinds += [self.branch, self.loop, self.attempt, self.function, self.collect]
        return [line for _ in range(length) for line in self.rng.choice(kinds)(depth)]

    def number(self) -> str:
        return self.rng.choice(("a", "b", "c", str(self.rng.randint(0, 9)), "len(items)"))

    def text(self) -> str:
        return self.rng.choice(('"ada"', 'f"n{a}"', 'f"{b}-{len(items)}"', '"bob" * (c % 3 + 1)'))

    def effect(self) -> str:
        """A call; some of those that pay or reserve fail."""
        rng, number, text = self.rng, self.number(), self.text()
        return rng.choice((
            f"send(to={text}, text=str({number}))",
            f"send(to={text}, text=str(items))",
            f"pay(to={text}, amount={rng.choice((1, 9, 60))} * ({number} + 1))",
            f"put(name={text}, value=[{number}, {self.number()}])",
            f"reserve(seat={number} * {rng.choice((1, 2, 3))})",
            f'count(kind="{rng.choice(("notes", "seats", "letters", "payments"))}")',
            f'page(name="{rng.choice((*PAGES, "nowhere"))}")["words"]',
        ))  # fmt: skip

    def call(self, depth: int) -> list[str]:
        value = self.effect()
        return [
            self.rng.choice((f"items.append({value})", f"seen[{self.text()}] = {value}", value))
        ]

    def sum(self, depth: int) -> list[str]:
        name = self.rng.choice("abc")
        return [f"{name} = ({self.number()} * {self.rng.randint(1, 5)} + {self.number()}) % 10"]

    def branch(self, depth: int) -> list[str]:
        lines = [f"if {self.number()} {self.rng.choice(('<', '==', '>='))} {self.number()}:"]
        lines += _in(self.body(depth + 1, self.rng.randint(1, 2)))
        if self.rng.random() < 0.6:
            lines += ["else:", *_in(self.body(depth + 1, 1))]
        return lines

    def loop(self, depth: int) -> list[str]:
        self.fresh += 1
        name = f"i{self.fresh}"
        end = self.rng.choice(("", f"if {name} > {self.number()}:\n    break"))
        lines = [f"for {name} in range({self.rng.randint(1, 3)}):"]
        lines += _in([*self.body(depth + 1, self.rng.randint(1, 2)), *end.splitlines()])
        return lines

    def attempt(self, depth: int) -> list[str]:
        lines = ["try:", *_in(self.body(depth + 1, self.rng.randint(1, 2)))]
        lines += ["except Exception:", *_in(self.body(depth + 1, 1))]
        if self.rng.random() < 0.3:
            lines += ["finally:", *_in(self.sum(depth))]
        return lines

    def function(self, depth: int) -> list[str]:
        self.fresh += 1
        name = f"f{self.fresh}"
        lines = [f"def {name}(a, b={self.number()}):", *_in(self.body(3, 2)), "    return a + b"]
        return [*lines, f"c = {name}({self.number()}) % 10"]

    def collect(self, depth: int) -> list[str]:
        value, number = self.effect(), self.rng.randint(1, 3)
        return [f"items += [{value} for c in range({number}) if c != {self.number()}]"]


def _in(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def main() -> None:
    """Run all in CPython."""
    total = 0
    for program in programs():
        with tempfile.TemporaryDirectory() as folder:
            end = plain(program, Path(folder))
        total += end.calls
        print(f"{program.name}: {len(program.blocks)} blocks, {end.calls} calls,", end=" ")
        print(", ".join(filter(None, end.errors)) or "no error")
    print(f"{len(programs())} programs, {total} calls")


if __name__ == "__main__":
    main()
