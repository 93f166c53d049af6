"""The cells of the matrix: made, tried, and judged."""

import asyncio
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from clew import ClewError, ConfigError, ModelError, PartError
from clew_testing.servers import OpenAIServer
from tests.matrix import promises_of_evidence, promises_of_folders, promises_of_servers
from tests.matrix.far_web_server import FarWebServer
from tests.matrix.model import Model
from tests.matrix.promises import PROMISES, Promise
from tests.matrix.situations import (
    GUARDS,
    NOT_FOR_VOTES,
    SITUATIONS,
    Situation,
    cut_store,
    cuts,
    expected,
    playing,
)
from tests.matrix.streamed import STREAMS, promises
from tests.matrix.talks import TALKS, entered, promise_of
from tests.matrix.ways import Way, ways
from tests.models.proxy import Proxy

MODULES: Final = (promises_of_evidence, promises_of_folders, promises_of_servers)
"""Where further promises are added."""
MODEL: Final = "openai:matrix"
PARTS: Final = "tests.matrix.parts"
IN_PROCESS: Final = frozenset({"send", "look", "pages", "broken", "lingers", "passage", "stumble"})
"""Tools of `parts` that act; others come from what a setting says."""


@dataclass(frozen=True)
class Cell:
    """A setting, a way to answer and a situation."""

    promise: Promise
    way: Way
    situation: str

    @property
    def name(self) -> str:
        """Its name, as it is listed and asked for."""
        return f"{self.promise.name} | {self.way.name} | {self.situation}"


@dataclass(frozen=True)
class Judged:
    """What a cell came to: "passed", "refused" with the words, or "failed" with complaints."""

    cell: Cell
    kind: str
    words: tuple[str, ...] = ()


def cells() -> Iterator[Cell]:
    """All of them."""
    for promise in PROMISES:
        for way in ways():
            for situation in SITUATIONS:
                refused = way.votes and situation in NOT_FOR_VOTES
                if not refused and promise.only(way, situation):
                    yield Cell(promise, way, situation)


def talks() -> Iterator[Cell]:
    """Conversations: each way but votes, which are none, by each state and door."""
    for name, (state, door) in TALKS.items():
        for way in ways():
            if not way.votes:
                yield Cell(promise_of(state, door, way), way, name)


def streams() -> Iterator[Cell]:
    """What streams tell: each way, by each format, answer and trouble."""
    for promise, name in promises():
        for way in ways():
            if not (way.votes and promise.script.trouble == "left"):
                yield Cell(promise, way, name)


def drawn(of: Iterable[Cell], number: int) -> list[Cell]:
    """So many cells, drawn by their names: the same ones every time."""
    return sorted(of, key=lambda cell: zlib.crc32(cell.name.encode()))[:number]


def situation(name: str) -> Situation:
    """What is done in a situation or a talk."""
    if name in TALKS:
        return entered(*TALKS[name])
    return STREAMS.get(name) or SITUATIONS[name]


@dataclass
class Bench:
    """The servers and folders in which cells are tried, one after the other."""

    servers: tuple[OpenAIServer, ...]
    far: FarWebServer
    proxy: Proxy
    model: Model
    folder: Path
    tried: int = 0

    def judge(self, cell: Cell, number: int = 3) -> Judged:
        """Try a cell."""
        try:
            complaints = asyncio.run(self._judge(cell, number))
        except ConfigError as error:
            if cell.promise.refusable:
                return refused(cell, str(error))
            return Judged(cell, "failed", (f"refused: {error}",))
        except ClewError as error:
            return Judged(cell, "failed", (f"{type(error).__name__}: {error}",))
        except Exception as error:  # noqa: BLE001 - whatever it is, the cell failed by it
            return Judged(cell, "failed", (f"from inside: {type(error).__name__}: {error}",))
        return Judged(cell, "failed" if complaints else "passed", tuple(complaints))

    async def _judge(self, cell: Cell, number: int) -> list[str]:
        if cell.situation != "killed":
            return await self._try(cell, 0)
        writes = await self._writes(cell)
        complaints: list[str] = []
        for cut in cuts(cell.name, writes, number):
            complaints += [f"cut at write {cut}: {each}" for each in await self._try(cell, cut)]
        return complaints

    async def _writes(self, cell: Cell) -> int:
        """How often a whole run writes."""
        async with self._play(cell, 0) as play:
            inner, play.store = play.store, cut_store(play.store)
            with suppress(*self._raised(cell)):
                await play.begin()
            written: int = play.store.written
            play.store = inner
        return written

    def _play(self, cell: Cell, cut: int) -> Any:
        self.tried += 1
        folder = self.folder / str(self.tried)
        folder.mkdir()
        script = replace(cell.promise.script, heeds=cell.situation == "rewound")
        if cell.way.votes and script.acts == "send":
            script = replace(script, acts="look")
        write_files(cell, folder, self._placeholders(cell, folder, script.acts), script.acts)
        return playing(
            cell.way, cell.situation, script, folder, self.servers, self.model,
            cell.promise.goal, cell.promise.lax,
        )  # fmt: skip

    def _placeholders(self, cell: Cell, folder: Path, acts: str) -> Mapping[str, str | int]:
        """What stands for what in the values of a promise."""
        other = self.servers[1].base_url
        return {
            "SERVER": other, "ALIAS": other.replace("127.0.0.1", "localhost"), "FAR": self.far.url,
            "PROXY": self.proxy.url, "FOLDER": str(folder), "ACTS": acts,
            "STRATEGY": cell.way.strategy, "CAP": 2 if cell.way.votes else 1,
        }  # fmt: skip

    @staticmethod
    def _raised(cell: Cell) -> tuple[type[ClewError], ...]:
        """What a run with the setting may end in."""
        return (ModelError, PartError) if "raises" in cell.promise.lax else ()

    async def _try(self, cell: Cell, cut: int) -> list[str]:
        async with self._play(cell, cut) as play:
            play.outcome.cut, play.outcome.far = cut, self.far
            self.far.seen.clear()
            self.proxy.passed.clear()
            try:
                await situation(cell.situation)(play)
            except self._raised(cell) as error:
                play.outcome.errors.append(str(error))
            outcome = await play.look_back()
            outcome.passed = [*self.proxy.passed]
            return [*expected(play), *cell.promise.complain(outcome)]


def write_files(cell: Cell, folder: Path, placeholders: Mapping[str, str | int], acts: str) -> None:
    """The agent file of a cell, and what it names."""
    fields: dict[str, Any] = {"model": MODEL, "store": "runs.sqlite", "tools": [f"{PARTS}:{acts}"]}
    fields["provenance"] = "off"  # the model behind the server plans nothing
    if acts not in IN_PROCESS:
        fields["tools"] = []
    if cell.way.strategy:
        fields["strategy"] = {"name": cell.way.strategy}
    if guard := GUARDS.get(cell.situation):
        fields["guards"] = [guard]
    merge(fields, filled(cell.promise.values, placeholders))
    for name, text in cell.promise.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else toml(filled(text, placeholders)))
    (folder / "agent.toml").write_text(toml(fields))
    cell.promise.prepare(folder)


def filled(value: Any, placeholders: Mapping[str, str | int]) -> Any:
    """A value with `<SERVER>` and `<FOLDER>` in their places."""
    if isinstance(value, str):
        for name, replacement in placeholders.items():
            if value == f"<{name}>":
                return replacement
            value = value.replace(f"<{name}>", str(replacement))
        return value
    if isinstance(value, Mapping):
        return {
            filled(key, placeholders): filled(each, placeholders) for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [filled(each, placeholders) for each in value]
    return value


def merge(into: dict[str, Any], further: Mapping[str, Any]) -> None:
    """Add what a setting says: tables key by key, lists at the end."""
    for key, value in further.items():
        here = into.get(key)
        if isinstance(here, dict) and isinstance(value, Mapping):
            merge(here, value)
        elif isinstance(here, list) and isinstance(value, list):
            here.extend(each for each in value if each not in here)
        else:
            into[key] = value


def toml(fields: Mapping[str, Any]) -> str:
    """Values as TOML, each in a line of its own."""
    return "".join(f"{json.dumps(key)} = {inline(value)}\n" for key, value in fields.items())


def inline(value: Any) -> str:
    """A value as TOML in one line: a JSON text is one of TOML too."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{json.dumps(k)} = {inline(v)}' for k, v in value.items())} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value)


def refused(cell: Cell, words: str) -> Judged:
    """A refusal counts if it is one line that names the setting."""
    named = {cell.promise.name, *cell.promise.named}
    parts = {part for name in named for part in name.replace("=", ".").split(".")}
    if "\n" in words or not any(part and part in words for part in parts):
        return Judged(cell, "failed", (f"refused in words that do not name it: {words!r}",))
    return Judged(cell, "refused", (words,))
