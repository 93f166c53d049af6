"""Speed of the codecs: recorded replies read over and over, and hostile ones of growing length.

CPU time of this process is measured, with the garbage collector off; each figure is the best of
several.
"""

import gc
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from clew import Agent
from clew.codecs import by_name
from clew.core.codec import Codec, PromptSpec
from clew.core.contents import RawCall, Reply
from clew.testing.models import ScriptedModel
from recordings.data import records
from recordings.forms import Record
from recordings.part import Figure, Part
from recordings.text_formats import FORMATS, Format, rewritten

MINIMUM: Final = 1.0
"""MB/s that no codec may fall below, on whatever machine: a model writes a thousandth of it."""
LIMIT: Final = 2.0
"""How much more a character may cost in a longer reply than in the shortest: the machine's share.

Quadratic work would be eight times as much.
"""
LONGEST: Final = 10.0
"""Seconds that a hostile megabyte may take, read or streamed."""
MEGABYTE: Final = 1_000_000
SHORT: Final = (64, 32, 16, 8)
LONG: Final = (8, 1)
"""Parts of the whole length at which every shape is tried, and at which the slowest are."""
SLOWEST: Final = 5
PIECE: Final = 64
"""Characters of a piece of a stream."""
NOISE: Final = 0.01
"""Seconds below which growth is not judged: they are the machine's."""
WORK: Final = 0.2
"""Seconds that recorded replies are read for, so that the clock can tell."""

TEXT: Final = f"""\
*Recorded*: how fast `parse` reads the recorded replies of a format, in MB of UTF-8 a second of CPU
time on the machine that wrote this page. `labelled` and `json` are FEVER's thoughts and actions
rewritten in these formats.

*Hostile*: replies of {MEGABYTE:,} characters of one repeated shape (brackets, quotes, fences,
labels, comments, starts of calls that never end, alone or behind half a call), read whole and
streamed in pieces of {PIECE} characters. Every shape is tried at {MEGABYTE // 64:,} characters and
twice, four times and eight times as many, the slowest {SLOWEST} at eight times that again. *Growth*
is the worst time per character over that in the shortest text: 1 is linear, 8 quadratic. Times
under {NOISE * 1000:.0f} ms do not count for it.
"""

UNITS: Final = (
    *("[", "]", "{", "}", "(", '"', "'", "\\\\", "/*", "//", "#", "`", "```\n", "\n", " ", "x"),
    *("\r\n", "a,", "1", '{"a":', "[1,", "é", "\ufeff", "<", "<command>\n", "</command>\n"),
    *(
        "Thought: x\n",
        "Action: ",
        "Action: search[",
        "\nAction: search[a]",
        "Observation",
        "None\n",
    ),
    *('Action Input: {"a": "', "Final Answer: ", "search[a], ", "search[a]\n", "Question: x\n"),
    *("GET ", "GET http://a\n", "POST http://a\n{", "FINISH([", "FINISH [\n", '@search {"a": "'),
    *("```\nls\n", "```\nls\n```\n", "<tool_call>", '<tool_call>{"name": "search"}</tool_call>'),
    *("@search {}\n", "***", "| ", "\x00"),
)


@dataclass(frozen=True)
class Read:
    """A codec with what is read by it: the row's name, recorded replies, the start of a call."""

    name: str
    codec: Codec
    prompt_spec: PromptSpec
    replies: Sequence[Reply]
    half: str = ""


@dataclass(frozen=True)
class Worst:
    """The longest time of a hostile reply, and the worst growth, each with its shape."""

    seconds: float
    shape: str
    growth: float
    grown: str


def cpu(work: Callable[[], object], times: int = 1) -> float:
    """The CPU seconds of the quickest of so many runs."""
    values: list[float] = []
    for _ in range(times):
        begun = time.process_time()
        work()
        values.append(time.process_time() - begun)
    return min(values)


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage is collected meanwhile: how much there is depends on what ran before."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def size(reply: Reply) -> int:
    """How many bytes a model wrote."""
    calls = sum(len((call.arguments or "").encode()) for call in reply.calls)
    return len(reply.text.encode()) + calls


def speed(one: Read, seconds: float) -> float:
    """MB a second at which recorded replies are read, over so many seconds of work."""

    def all_of_them() -> None:
        for reply in one.replies:
            one.codec.parse(one.prompt_spec, reply)

    once = max(cpu(all_of_them), 1e-6)
    rounds = max(1, int(seconds / once / 3))

    def often() -> None:
        for _ in range(rounds):
            all_of_them()

    return sum(map(size, one.replies)) * rounds / max(cpu(often, 3), 1e-6) / 1e6


def _shapes(half: str) -> Iterator[tuple[str, str]]:
    for unit in UNITS:
        yield "", unit
    for unit in UNITS if half else ():
        yield half, unit


def hostile(one: Read, work: Callable[[Read, str], object], length: int) -> Worst:
    """Every shape up to an eighth of the length, and the slowest few at all of it."""
    eighth = [(_timed(one, work, shape, length, SHORT), shape) for shape in _shapes(one.half)]
    eighth.sort(key=lambda timed: -timed[0].seconds)
    complete = [(_timed(one, work, shape, length, LONG), shape) for _, shape in eighth[:SLOWEST]]
    slowest, shape = max(complete, key=lambda timed: timed[0].seconds)
    limit, grown = max((*eighth, *complete), key=lambda timed: timed[0].growth)
    return Worst(slowest.seconds, _told(shape), limit.growth, _told(grown))


class Timed(NamedTuple):
    """What the longest text of a shape took, and how much more a character cost as it grew."""

    seconds: float
    growth: float


def _timed(
    one: Read,
    work: Callable[[Read, str], object],
    shape: tuple[str, str],
    length: int,
    parts: Sequence[int],
) -> Timed:
    before, unit = shape
    texts = [before + unit * max(1, length // part // len(unit)) for part in parts]
    took = [_took(one, work, text) for text in texts]
    if growth(texts, took) > LIMIT:  # the machine may have been busy: the best of several
        took = [_took(one, work, text, 3) for text in texts]
    return Timed(took[-1], growth(texts, took))


def _told(shape: tuple[str, str]) -> str:
    before, unit = shape
    return f"{before!r} and then {unit!r}" if before else repr(unit)


def _took(one: Read, work: Callable[[Read, str], object], text: str, times: int = 1) -> float:
    return cpu(lambda: work(one, text), times)


def growth(texts: Sequence[str], took: Sequence[float]) -> float:
    """What a character costs at worst, over what it costs in the shortest text; 0 untold."""
    each = [seconds / len(text) for text, seconds in zip(texts, took, strict=True)]
    told = [one for one, seconds in zip(each, took, strict=True) if seconds >= NOISE]
    return max(told, default=0.0) / max(each[0], 1e-12)


def reading(one: Read, text: str) -> None:
    """Read a reply at once."""
    one.codec.parse(one.prompt_spec, Reply(text))


def streaming(one: Read, text: str) -> None:
    """Take a reply in pieces until it is ended."""
    texts: list[str] = []
    take = one.codec.stream_filter(texts.append)
    for at in range(0, len(text), PIECE):
        if take(text[at : at + PIECE]):
            return


# ---------------------------------------------------------------- what is read


def _recorded(form: Format, sample: int) -> list[Reply]:
    return [
        Reply(text)
        for record in records(form.kind, sample=sample)
        for text in _replies(form, record)
    ]


def _replies(form: Format, record: Record) -> list[str]:
    """The replies of a record; none of one that is not of this form after all."""
    try:
        turns = record["turns"] if form.of(record) and not form.elsewhere(record) else ()
        return [form.reply(turn) for turn in turns]
    except (AttributeError, KeyError, TypeError):
        return []


def _native(records: Iterator[Record]) -> list[Reply]:
    messages = (turn.get("raw") for record in records for turn in record["turns"])
    return [native_reply(raw) for raw in messages if isinstance(raw, dict)]


def native_reply(raw: dict[str, Any]) -> Reply:
    """A provider's message as clew's adapters give it."""
    results = [(call, call.get("function", call)) for call in raw.get("tool_calls") or ()]
    calls = tuple(
        RawCall(
            name=text["name"], arguments=_written(text.get("arguments")), id=call.get("id") or ""
        )
        for call, text in results
    )
    return Reply(raw.get("content") or "", calls, finish="calls" if calls else "stop")


def _written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


_HALF: Final = {
    "paper": "Thought 1: I look.\nAction 1: search[a",
    "labelled": 'Thought: I look.\nAction: search\nAction Input: {"entity": "a',
    "json": '{"thought": "I look.", "action": "search", "args": {"entity": "a',
    "commands:fhir": 'I look.\nPOST http://a\n{"entity": "a',
    "commands:block": "I look.\n```\nls",
    "native": 'I look.\n<tool_call>\n{"name": "search", "arguments": {"entity": "a',
}


def _reads(sample: int) -> Iterator[Read]:
    """Every format of the recordings, then what no model wrote there, then native calls."""
    for form in FORMATS:
        half = _HALF.get(form.codec.name.partition("/")[0], "")
        yield Read(form.name, form.codec, form.prompt_spec, _recorded(form, sample), half)
    fever = FORMATS[0]
    for name in ("labelled", "json"):
        codec = by_name(name)
        turns = [turn for one in records(fever.kind, sample=sample) for turn in one["turns"]]
        replies = [Reply(text) for turn in turns if (text := _anew(name, fever, turn))]
        yield Read(f"{name}, FEVER anew", codec, fever.prompt_spec, replies, _HALF[name])
    agent = Agent(model=ScriptedModel([]), tools=fever.tools)
    judged = _native(records("talks", sample=sample))
    yield Read("native", by_name("native"), agent.engine.prompt_spec, judged, _HALF["native"])


def _anew(name: str, form: Format, turn: dict[str, Any]) -> str:
    """A turn in another format; empty where it cannot be written in it."""
    try:
        return rewritten(name, form, turn)
    except (AttributeError, KeyError, TypeError, ValueError):
        return ""


def measure(sample: int) -> Part:
    """All formats; with a sample hostile replies are shorter too."""
    with uncollected():
        return measured([one for one in _reads(sample) if one.replies], 1 / sample)


def measured(reads: Sequence[Read], part: float) -> Part:
    """These formats, with this part of the work and of the hostile replies' length."""
    length = int(MEGABYTE * part)
    rows = list(recorded(reads, WORK * part))
    shipped = {one.codec.name: one for one in reads if one.half}
    lines: list[str] = []
    for name, one in shipped.items():
        for what, work in (("read", reading), ("streamed", streaming)):
            worst = hostile(one, work, length)
            rows += _worst(f"hostile: {name}, {what}", worst, length)
            lines.append(f"{name}, {what}: the slowest shape is {worst.shape}")
            if worst.growth:
                lines[-1] += f", that which grows most {worst.grown}"
    return Part(
        "Speed of the codecs", TEXT, rows, lines,
        finding="every codec reads in linear time, hostile replies too",
        lead=("recorded: native (native/2)", "hostile: paper/2, read, slowest"),
    )  # fmt: skip


def recorded(reads: Sequence[Read], seconds: float) -> Iterator[Figure]:
    """The speed of each format."""
    for one in reads:
        value = speed(one, seconds)
        on = f"{len(one.replies):,} replies, {sum(map(size, one.replies)) / 1e6:.2f} MB"
        what = f"recorded: {one.name} ({one.codec.name})"
        yield Figure(what, f"{value:.1f} MB/s", on, f"≥ {MINIMUM:g} MB/s", value >= MINIMUM)


def _worst(what: str, worst: Worst, length: int) -> list[Figure]:
    on = f"{length:,} characters"
    slowest = f"{worst.seconds * 1000:.0f} ms"
    grown = f"{worst.growth:.2f}" if worst.growth else f"under {NOISE * 1000:.0f} ms"
    return [
        Figure(f"{what}, slowest", slowest, on, f"≤ {LONGEST:g} s", worst.seconds <= LONGEST),
        Figure(f"{what}, growth", grown, on, f"≤ {LIMIT:g}", worst.growth <= LIMIT),
    ]
