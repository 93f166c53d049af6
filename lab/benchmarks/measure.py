"""The seven measurements, each with its targets, as rows of one table.

What is compared is run alternately (A B, B A …) and each ratio is taken within one repetition; the
figure is the median of the repetitions.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

from benchmarks.processes import Bench, python
from benchmarks.script import LATENCY, PARALLEL, TOOL_SECONDS

Say = Callable[[str], None]
Cpu = dict[str, list[float]]
"""Milliseconds per step by client, in the order of the repetitions."""

Client = TypeVar("Client")


@dataclass(frozen=True)
class Row:
    """A line of the table: what was measured, its target and what came out.

    `part` is the letter of the measurement, `target` the target, `low` and `high` the extremes of
    the repetitions, `beside` further figures in words. With no target, the row is there to be
    known.
    """

    part: str
    name: str
    unit: str
    target: float | None
    median: float
    low: float
    high: float
    beside: str = ""

    @property
    def met(self) -> bool:
        """Whether the median is within the target."""
        return self.target is None or self.median <= self.target


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    repetitions: int = 9
    plan: str = "10x6,50x2,200x1"
    bytes_plan: str = "25,200,2000"
    at_once: int = 500
    steps_at_once: int = 10
    crowds: int = 3
    imports: int = 15
    parallels: int = 7
    others: int = 5
    alone_plan: str = "10x6,50x2"
    first_plan: str = "1x60"


TINY: Final = Sizes(1, "2x1", "3,6", 4, 2, 1, 1, 1, 1, "2x1", "1x1")
"""Shows that everything works and measures nothing."""

PER_STEP: Final = {"10": 2.0, "50": 2.0, "200": 1.5}
CROWD_WALL: Final = 1.3
CROWD_CPU: Final = 1.5
CROWD_MB: Final = 1.0
IMPORT: Final = 0.15
WAITING: Final = 1.1
OTHERS: Final = {
    "openai-responses": ("OpenAI Responses", "clients.openai_client"),
    "anthropic": ("Anthropic Messages", "clients.anthropic_client"),
    "google": ("Google Gemini", "clients.google_client"),
}
"""By provider: the name of the format, and the loop through the official client and no more."""

PAYLOAD: Final = 1000
BYTES: Final = 2.0


def row(
    part: str, name: str, unit: str, limit: float | None, values: Sequence[float], beside: str = ""
) -> Row:
    """A row of repetitions."""
    return Row(part, name, unit, limit, statistics.median(values), min(values), max(values), beside)


def alternating(repetitions: int, clients: Sequence[Client]) -> Iterator[Sequence[Client]]:
    """The clients forwards, then backwards, and so on."""
    for number in range(repetitions):
        yield clients if number % 2 == 0 else clients[::-1]


def over(cpu: Cpu, name: str, floor: str) -> list[float]:
    """The ratio of two clients in each repetition."""
    return [one / other for one, other in zip(cpu[name], cpu[floor], strict=True)]


def less(cpu: Cpu, name: str, floor: str) -> list[float]:
    """What one client takes beyond another in each repetition."""
    return [one - other for one, other in zip(cpu[name], cpu[floor], strict=True)]


def ms(cpu: Cpu, *names: str) -> str:
    """The medians of clients, in words."""
    return ", ".join(f"{name} {statistics.median(cpu[name]):.2f} ms" for name in names)


def per_step(bench: Bench, sizes: Sizes, say: Say) -> list[Row]:
    """(a) CPU per step, against a bare loop that makes the same calls."""
    clients: dict[str, tuple[str, str]] = {
        "commits": ("commits", "full"),
        "commits and waits": ("commits", "waiting"),
        "waits": ("commits", "wait"),
        "clew def, unsafe": ("clew_runs", "def-unsafe"),
        "clew unsafe": ("clew_runs", "unsafe"),
        "with commits": ("bare", "unsafe"),
        "clew def": ("clew_runs", "def"),
        "plain": ("bare", "plain"),
        "thread": ("bare", "thread"),
        "clew plain": ("clew_runs", "plain"),
        "streamed": ("bare", "streamed"),
        "clew streamed": ("clew_runs", "streamed"),
        "post": ("clients.openai_client", "post"),
        "raw": ("clients.openai_client", "raw"),
    }
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in clients}
    for number, names in enumerate(alternating(sizes.repetitions, list(clients))):
        say(f"(a) repetition {number + 1} of {sizes.repetitions}")
        for name in names:
            module, kind = clients[name]
            results[name].append(bench.client(module, kind, "--plan", sizes.plan))
    rows: list[Row] = []
    for steps in (section.split("x")[0] for section in sizes.plan.split(",")):
        cpu = {name: [f[steps]["cpu_ms"] for f in figures] for name, figures in results.items()}
        rows += _ratios(steps, cpu)
    return rows


def _ratios(steps: str, cpu: Cpu) -> Iterator[Row]:
    value = PER_STEP.get(steps)
    text = f"{steps} steps, "
    yield from _plain_functions(text, value, cpu)
    text = f"{text}on the event loop, "
    yield row(
        "a",
        f"{text}plain",
        "×",
        value,
        over(cpu, "clew plain", "plain"),
        ms(cpu, "clew plain", "plain"),
    )
    yield row(
        "a",
        f"{text}streamed",
        "×",
        value,
        over(cpu, "clew streamed", "streamed"),
        ms(cpu, "clew streamed", "streamed"),
    )
    plain = cpu["plain"]
    for how, commits, beside in (
        ("alone, each two after a wait", less(cpu, "commits and waits", "waits"),
         ms(cpu, "clew unsafe", "commits and waits", "waits")),
        ("in the bare loop", less(cpu, "with commits", "plain"), ms(cpu, "with commits", "plain")),
        ("alone, back to back", cpu["commits"], ms(cpu, "commits")),
    ):  # fmt: skip
        rest = [
            (one - alone) / floor
            for one, alone, floor in zip(cpu["clew unsafe"], commits, plain, strict=True)
        ]
        name = f"{text}unsafe tool, without its FULL commits, measured {how}"
        yield row("a", name, "×", value, rest, beside)
    yield row(
        "a",
        f"{text}plain, over the loop with `client.post`",
        "×",
        None,
        over(cpu, "clew plain", "post"),
        ms(cpu, "post"),
    )
    yield row(
        "a",
        f"{text}for comparison: `client.post` with bytes and nothing else",
        "×",
        None,
        over(cpu, "raw", "plain"),
        ms(cpu, "raw"),
    )


def _plain_functions(text: str, limit: float | None, cpu: Cpu) -> Iterator[Row]:
    """Tools as README has them."""
    for tool, ours, floor, target, beside in (
        ("`def` that reads", "clew def", "plain", limit, "over a loop that calls it"),
        ("`def` that reads", "clew def", "thread", None, "over a loop with `asyncio.to_thread`"),
        (
            "`def`, unsafe",
            "clew def, unsafe",
            "with commits",
            limit,
            "over a loop with its commits",
        ),
        ("`def`, unsafe", "clew def, unsafe", "plain", None, "over a loop that keeps nothing"),
    ):
        name = f"{text}{tool}, {beside}"
        yield row("a", name, "×", target, over(cpu, ours, floor), ms(cpu, ours, floor))


def first(bench: Bench, sizes: Sizes, say: Say) -> list[Row]:
    """(g) A streamed run of one step: until its first token, and until its end."""
    kinds = {"clew_runs": "def-first", "bare": "first", "clients.openai_client": "first"}
    first_by_kind: dict[str, list[dict[str, float]]] = {name: [] for name in kinds}
    for number, names in enumerate(alternating(sizes.repetitions, list(kinds))):
        say(f"(g) repetition {number + 1} of {sizes.repetitions}")
        for name in names:
            figures = bench.client(name, kinds[name], "--plan", sizes.first_plan)
            first_by_kind[name] += figures.values()
    rows: list[Row] = []
    for name, key in (
        ("wall until the first token", "first_ms"),
        ("wall of the whole run", "wall_ms"),
        ("CPU of the whole run", "cpu_ms"),
    ):
        figures = {who: [one[key] for one in each] for who, each in first_by_kind.items()}
        client = figures["clients.openai_client"]
        named = {"clew": figures["clew_runs"], "the loop": figures["bare"], "raw": client}
        beside = ms(named, "clew", "the loop")
        rows.append(row("g", name, "×", None, over(figures, "clew_runs", "bare"), beside))
        raw = over(named, "raw", "the loop")
        text = f"{name}, for comparison: `client.post` with bytes and nothing else"
        rows.append(row("g", text, "×", None, raw, ms(named, "raw")))
    return rows


def kept(bench: Bench, sizes: Sizes, say: Say) -> list[Row]:
    """(b) Bytes on the disk per step. They do not vary, so once is enough."""
    say("(b) bytes on the disk")
    options = ("--plan", sizes.bytes_plan, "--size", str(PAYLOAD))
    figures: dict[str, float] = bench.client("clew_runs", "bytes", *options)
    return [
        row(
            "b",
            f"{steps} steps of {PAYLOAD} bytes",
            "×",
            BYTES,
            [size / PAYLOAD],
            f"{size:.0f} bytes a step",
        )
        for steps, size in figures.items()
    ]


def imported(sizes: Sizes, say: Say) -> list[Row]:
    """(c) What `import clew` takes beyond starting Python."""
    say("(c) import")
    python("import clew")  # compiles what is not compiled yet
    timings = [(python("pass"), python("import clew")) for _ in range(sizes.imports)]
    names: tuple[Literal["CPU", "wall"], ...] = ("CPU", "wall")
    return [
        row("c", f"import, {name}", "s", IMPORT, [ours[i] - none[i] for none, ours in timings])
        for i, name in enumerate(names)
    ]


def crowd(bench: Bench, sizes: Sizes, say: Say) -> list[Row]:
    """(d) Many runs at once in one process."""
    options = ("--plan", str(sizes.steps_at_once), "--at-once", str(sizes.at_once))
    wait = round(LATENCY * 1000)
    local: list[dict[str, float]] = []
    ours: list[dict[str, float]] = []
    post: list[dict[str, float]] = []
    for number in range(sizes.crowds):
        say(f"(d) repetition {number + 1} of {sizes.crowds}")
        local.append(bench.client("clew_runs", "model", *options))
        turns = [(ours, "clew_runs", "plain"), (post, "clients.openai_client", "post")]
        for figures, module, kind in turns if number % 2 else turns[::-1]:
            figures.append(bench.client(module, kind, *options, wait=wait))
    ideal = (sizes.steps_at_once + 1) * LATENCY
    name = f"{sizes.at_once} runs of {sizes.steps_at_once} steps at once"

    def seconds(figures: list[dict[str, float]], key: str) -> float:
        return statistics.median(one[key] for one in figures)

    return [
        row(
            "d",
            f"{name}, model in the process: wall over ideal",
            "×",
            CROWD_WALL,
            [one["wall_s"] / ideal for one in local],
            f"ideal {ideal:.1f} s, CPU {seconds(local, 'cpu_s'):.2f} s",
        ),
        row(
            "d",
            f"{name}, HTTP: CPU over the loop with `client.post`",
            "×",
            CROWD_CPU,
            [one["cpu_s"] / other["cpu_s"] for one, other in zip(ours, post, strict=True)],
            f"{seconds(ours, 'cpu_s'):.2f} s and {seconds(post, 'cpu_s'):.2f} s",
        ),
        *(
            row(
                "d",
                f"{name}, {where}: memory a run",
                "MB",
                CROWD_MB,
                [one["peak_mb"] / sizes.at_once for one in figures],
                f"the loop with `client.post`: {seconds(post, 'peak_mb') / sizes.at_once:.2f} MB"
                if figures is ours
                else "",
            )
            for where, figures in (("model in the process", local), ("HTTP", ours))
        ),
    ]


def parallel(bench: Bench, sizes: Sizes, say: Say) -> list[Row]:
    """(e) Eight calls of one step, 250 ms each; the wall time of the whole run."""
    say("(e) parallel calls")
    rows: list[Row] = []
    for http in (True, False):
        for kind in ("sync", "async"):
            turns = range(sizes.parallels)
            figures = [bench.client("clew_runs", kind, http=http)["wall_s"] for _ in turns]
            beside = f"{statistics.median(figures) * 1000:.0f} ms"
            over = [wall / TOOL_SECONDS for wall in figures]
            where = ", HTTP" if http else ", model in the process"
            name = f"{PARALLEL} {kind} calls of 250 ms{where}"
            rows.append(row("e", name, "×", WAITING, over, beside))
    return rows


def others(bench: Bench, sizes: Sizes, say: Say) -> list[Row]:
    """(f) CPU per step through the other official clients, against a bare loop in their format."""
    turns: list[tuple[str, str, str, str]] = []
    for provider, (_, alone) in OTHERS.items():
        turns += [
            (provider, "clew plain", "clew_runs", sizes.plan),
            (provider, "plain", "bare", sizes.plan),
            (provider, "clew streamed", "clew_runs", sizes.plan),
            (provider, "streamed", "bare", sizes.plan),
            (provider, "raw", alone, sizes.alone_plan),
        ]
    results: dict[str, dict[str, list[dict[str, Any]]]] = {provider: {} for provider in OTHERS}
    for number, order in enumerate(alternating(sizes.others, turns)):
        say(f"(f) repetition {number + 1} of {sizes.others}")
        for provider, name, module, plan in order:
            options = ("--provider", provider, "--plan", plan)
            figures = bench.client(module, name.removeprefix("clew "), *options)
            results[provider].setdefault(name, []).append(figures)
    rows: list[Row] = []
    for provider, (title, _) in OTHERS.items():
        for steps in (section.split("x")[0] for section in sizes.plan.split(",")):
            cpu = {
                name: [one[steps]["cpu_ms"] for one in figures if steps in one]
                for name, figures in results[provider].items()
            }
            rows += _over_bare(f"{title}, {steps} steps", PER_STEP.get(steps), cpu)
    return rows


def _over_bare(text: str, limit: float | None, cpu: Cpu) -> Iterator[Row]:
    for way in ("plain", "streamed"):
        values = over(cpu, f"clew {way}", way)
        yield row("f", f"{text}, {way}", "×", limit, values, ms(cpu, f"clew {way}", way))
    if cpu["raw"]:
        name = f"{text}, for comparison: the official client and nothing else"
        yield row("f", name, "×", None, over(cpu, "raw", "plain"), ms(cpu, "raw"))


def measure(bench: Bench, sizes: Sizes, parts: str, say: Say) -> list[Row]:
    """The rows of the parts, which are letters."""
    rows: list[Row] = []
    if "a" in parts:
        rows += per_step(bench, sizes, say)
    if "b" in parts:
        rows += kept(bench, sizes, say)
    if "c" in parts:
        rows += imported(sizes, say)
    if "d" in parts:
        rows += crowd(bench, sizes, say)
    if "e" in parts:
        rows += parallel(bench, sizes, say)
    if "f" in parts:
        rows += others(bench, sizes, say)
    if "g" in parts:
        rows += first(bench, sizes, say)
    return rows
