"""Programs of a model, killed at every suspension: they go on where they were, nothing twice.

The programs are those of `durability.corpus`. `python -m durability --parts code` runs this.
"""

import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

import clew
from clew import Agent, Limits, Tool, Trajectory, open_store
from clew.agent.runner import has_begun
from clew.core.stores import Append, Store
from clew.guards import Provenance
from clew.testing.models import ScriptedModel, act, say
from clew_code.programs import CodeLimits, run_code
from clew_code.programs.bare_calls import with_printed_calls
from durability.corpus import EFFECTS, End, Program, World, plain, programs
from durability.nursery import Nursery
from durability.progress import tell
from durability.storm import asyncio_run, folder
from recordings.part import Figure, Part, count

RUN: Final = "run"
ENTRY: Final = "durability.code:serve"

When = Literal["", "after", "before", "observed"]
"""Where a process dies: nowhere; after a suspension is on record, before it is, or after the
observation of a call that a program asked for."""

TEXT: Final = """\
Programs as a model writes them (loops, branches, exceptions, functions, classes, comprehensions,
several blocks over the same variables) call tools that read, idempotent ones and unsafe ones, over
an SQLite file. The process is killed (`kill -9`) at every suspension of every program, and each
time another goes on: once the suspension is on record, so that a new interpreter has to take the
program up in the midst of a call; before it is; and once the call has its observation. What CPython
makes of the same program with the same functions is what must be there in the end: what was done
outside, and what was printed. Then each run is replayed.
"""

_TEXT: Final[dict[str, Any]] = {"type": "string"}
_NUMBER: Final[dict[str, Any]] = {"type": "integer"}
PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "page": {"name": _TEXT},
    "count": {"kind": _TEXT},
    "put": {"name": _TEXT, "value": {}},
    "reserve": {"seat": _NUMBER},
    "send": {"to": _TEXT, "text": _TEXT},
    "pay": {"to": _TEXT, "amount": _NUMBER},
}


class Orders(msgspec.Struct, frozen=True):
    """The blocks of a program, and at which of its writes of a kind the process dies."""

    folder: str
    blocks: tuple[str, ...]
    when: When = ""
    kill_at: int = 0


class Mortal:
    """A store that ends its process at a write."""

    def __init__(self, store: Store, orders: Orders) -> None:
        self._store, self._orders, self._seen = store, orders, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def append(self, append: Append) -> bool:
        when = self._orders.when
        self._seen += any(_is(when, line.body) for line in append.lines)
        due = bool(when) and self._seen == self._orders.kill_at
        if due and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        quiet = await self._store.append(append)
        if due:
            os.kill(os.getpid(), signal.SIGKILL)
        return quiet


def _is(when: When, body: bytes) -> bool:
    """Whether a line is of the kind at which a process dies."""
    if when == "observed":
        return b'"event":"observation"' in body and b'"effect":"pure"' not in body
    return b'"event":"suspended"' in body and b'"actions"' in body


def tools(world: World) -> list[Tool]:
    """The tools of the corpus, over a world."""

    def call(name: str) -> Any:
        async def made(args: dict[str, Any], key: str) -> Any:
            return getattr(world, name)(key, **args)

        return made

    return [
        Tool(
            name,
            str(getattr(World, name).__doc__),
            {
                "type": "object",
                "properties": fields,
                "required": list(fields),
                "additionalProperties": False,
            },
            call=call(name),
            effect=EFFECTS[name],  # type: ignore[arg-type]  # a table of texts
            trust="trusted",
        )
        for name, fields in PARAMETERS.items()
    ]


def agent(blocks: Sequence[str], path: Path) -> Agent:
    """An agent that writes the blocks of a program, one a step."""
    moves = [act("run_code", code=block) for block in blocks]
    return Agent(
        ScriptedModel([*moves, say("done")]),
        tools=[*tools(World(path)), run_code(CodeLimits(calls=1_000))],
        limits=Limits(steps=20, tool_calls=1_000, calls_per_step=500, no_progress=None),
        guards=[Provenance("off")],
    )


def serve(orders: Orders) -> None:
    """A process: begin the run of a program, or go on with it."""

    async def work() -> None:
        path = Path(orders.folder)
        store: Any = Mortal(open_store(path / "runs.sqlite"), orders)
        one = agent(orders.blocks, path)
        if await has_begun(store, RUN):
            await clew.resume(one, RUN, store=store)
        else:
            await clew.run(one, "Do it.", store=store, run_id=RUN)
        await store.close()

    asyncio_run(work)


@dataclass
class CodeTally:
    """What came of it."""

    programs: int = 0
    suspensions: int = 0
    runs: int = 0
    kills: int = 0
    replayed: int = 0
    twice: list[str] = field(default_factory=list[str])
    otherwise: list[str] = field(default_factory=list[str])
    unlike: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Came:
    """What a run came to: its observations, what was done outside, and whether it replays."""

    status: str
    seen: Sequence[str]
    calls: Sequence[tuple[str, str]]
    suspensions: int
    world: dict[str, Any]
    twice: Sequence[str]
    done: int
    replays: str


def code(sample: int) -> Part:
    """Every nth program."""
    tally = CodeTally()
    with folder("code", memory=True) as root, Nursery("durability.code") as nursery:
        chosen = programs()[::sample]
        for number, program in enumerate(chosen):
            _tried(nursery, tally, root / program.name, program)
            if number % 20 == 19:
                tell(f"code: {number + 1} of {len(chosen)} programs")
    return Part(
        "Programs of a model killed at every suspension",
        TEXT,
        [*_figures(tally, sample)],
        [*tally.twice, *tally.otherwise, *tally.unlike],
    )


def _tried(nursery: Nursery, tally: CodeTally, path: Path, program: Program) -> None:
    """One program: left alone, killed again and again, and killed once at each place."""
    (path / "plain").mkdir(parents=True)
    end = plain(_as_run(program), path / "plain")
    calm = _carried(nursery, tally, path / "calm", [], program)
    tally.programs += 1
    tally.suspensions += calm.suspensions
    _compare_with_python(tally, program, end, calm)
    often = calm.suspensions + 1
    after, observed = (
        Orders("", program.blocks, "after", 1),
        Orders("", program.blocks, "observed", 1),
    )
    rounds = [
        ("after each suspension", [after] * often),
        ("after each observation", [observed] * often),
        *(
            (f"before suspension {at}", [Orders("", program.blocks, "before", at)])
            for at in range(1, often)
        ),
    ]
    for number, (what, deaths) in enumerate(rounds):
        came = _carried(nursery, tally, path / str(number), deaths, program)
        _compare(tally, f"{program.name}, killed {what}", calm, came)


def _carried(
    nursery: Nursery,
    tally: CodeTally,
    path: Path,
    deaths: Sequence[Orders],
    program: Program,
) -> Came:
    """Let processes carry the run to its end; each but the last is killed."""
    path.mkdir()
    for orders in (*deaths, Orders("", program.blocks)):
        told = msgspec.structs.replace(orders, folder=str(path))
        code = nursery.wait(nursery.start(told, entry=ENTRY))
        tally.kills += code == -signal.SIGKILL
        if code != -signal.SIGKILL:
            break
    tally.runs += 1
    came: Came = asyncio_run(_read, program, path)
    if came.replays:
        tally.otherwise.append(f"{path.parent.name}/{path.name}: {came.replays}")
    else:
        tally.replayed += 1
    return came


async def _read(program: Program, path: Path) -> Came:
    """What is on record, and outside; and a replay, which may do nothing."""
    store = open_store(path / "runs.sqlite")
    record = await clew.read(RUN, store=store)
    world = World(path)
    done, replays = world.effects(), ""
    try:
        await clew.replay(agent(program.blocks, path), RUN, store=store)
    except clew.ClewError as error:
        replays = f"replayed otherwise: {error}"
    if world.effects() != done:
        replays = "the replay did something"
    await store.close()
    return Came(
        "open" if record.stop is None else record.stop.status,
        tuple(_programs(record)),
        tuple((call.key, call.action.name) for call in record.calls),
        sum(len(call.asked) for call in record.calls),
        world.end(),
        world.twice(),
        len(done),
        replays,
    )


def _programs(record: Trajectory) -> Iterator[str]:
    for call in record.calls:
        if call.action.name == "run_code":
            yield "" if call.observation is None else call.observation.text


def _as_run(program: Program) -> Program:
    """The program as `run_code` runs it: a line that is only a call prints what the call gives."""
    blocks = [with_printed_calls(block, EFFECTS) for block in program.blocks]
    return replace(program, blocks=tuple(blocks))


def _compare_with_python(tally: CodeTally, program: Program, end: End, calm: Came) -> None:
    """Whether Monty makes of a program what CPython does, where nothing happens to it."""
    if calm.world != end.world:
        tally.unlike.append(f"{program.name}: does something else than in CPython")
    for printed, error, seen in zip(end.printed, end.errors, calm.seen, strict=False):
        lacks = printed.rstrip("\n") not in seen
        if lacks or (error != "" and error not in seen and "RuntimeError" not in seen):
            tally.unlike.append(
                f"{program.name}: prints or ends otherwise than in CPython: {seen!r}"
            )


def _compare(tally: CodeTally, what: str, calm: Came, came: Came) -> None:
    if came.twice:
        tally.twice.append(f"{what}: {', '.join(came.twice)} happened twice")
    for name in ("status", "seen", "calls", "world"):
        if getattr(calm, name) != getattr(came, name):
            tally.otherwise.append(f"{what}: another {name}")


def _figures(tally: CodeTally, sample: int) -> Iterator[Figure]:
    number = 100 // sample
    met = tally.programs >= number
    yield Figure("programs", f"{tally.programs:,}", "", f"≥ {number}", met)
    yield Figure("suspensions in them", f"{tally.suspensions:,}", "")
    wanted = tally.suspensions * 3
    yield Figure("kills: before and after each suspension, and after each call", f"{tally.kills:,}",
                 f"{wanted:,}", "all", tally.kills == wanted)  # fmt: skip
    yield count("runs whose unsafe effects happened twice", len(tally.twice), tally.runs, exactly=0)
    yield count("runs with another end, other calls or other variables than the one left alone",
                len(tally.otherwise), tally.runs, exactly=0)  # fmt: skip
    yield count("programs of which Monty makes something else than CPython", len(tally.unlike),
                tally.programs, exactly=0)  # fmt: skip
    yield Figure("replays without a call, equal to the byte", f"{tally.replayed:,}",
                 f"{tally.runs:,}", "all", tally.replayed == tally.runs)  # fmt: skip
