"""LoCoMo (https://github.com/snap-research/locomo, CC BY-NC 4.0): ten long talks, 1,986 questions.

Each question names the turns that hold its answer. The data is for tests only and is not part of
this project.
"""

import calendar
import hashlib
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

CATEGORIES: Final = {
    1: "several sessions", 2: "time", 3: "world knowledge", 4: "one session", 5: "unanswerable",
}  # fmt: skip
"""As the paper numbers them: multi-hop, temporal, open-domain, single-hop, adversarial."""

_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")  # some say D:11:26, or two in one string
_WHEN: Final = re.compile(r"(\d+):(\d+) ([ap])m on (\d+) (\w+),? (\d+)")


@dataclass(frozen=True)
class Turn:
    """One thing that was said: its session and place there, the text, the time in milliseconds."""

    session: int
    number: int
    text: str
    at: int


@dataclass(frozen=True)
class Question:
    """What is asked, and the turns that hold the answer as pairs of session and place."""

    text: str
    category: int
    evidence: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Talk:
    """A conversation of many sessions. `tuned` is true for the half that was looked at."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    tuned: bool = False

    @property
    def sessions(self) -> int:
        """How many there are."""
        return len({turn.session for turn in self.turns})


def talks(path: Path) -> list[Talk]:
    """All conversations of `locomo10.json`, or of a zip of one file for each.

    Half of them, by the hashes of their names, were looked at while settings were chosen.
    """
    talks_read = [_talk(name, data) for name, data in _documents(path)]
    by_hash = sorted(talks_read, key=lambda talk: hashlib.sha256(talk.name.encode()).hexdigest())
    seen = {talk.name for talk in by_hash[: len(talks_read) // 2]}
    return [Talk(t.name, t.turns, t.questions, t.name in seen) for t in talks_read]


def _documents(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names such as "26", and what stands under them."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(".json"):
                    yield Path(name).stem, json.loads(archive.read(name))
        return
    for each in json.loads(path.read_text("utf-8")):
        yield each["sample_id"].removeprefix("conv-"), {**each["conversation"], "qa": each["qa"]}


def _talk(name: str, data: dict[str, Any]) -> Talk:
    turns = tuple(
        Turn(session, number, _text(turn), _time(data[f"session_{session}_date_time"]))
        for session in range(1, 100)
        for turn in data.get(f"session_{session}", ())
        for number in (int(turn["dia_id"].partition(":")[2]),)
    )
    there = {(turn.session, turn.number) for turn in turns}
    questions = [
        Question(each["question"], each["category"], frozenset(_evidence(each["evidence"]) & there))
        for each in data["qa"]
    ]
    return Talk(name, turns, tuple(each for each in questions if each.evidence))


def _evidence(named: list[str]) -> set[tuple[int, int]]:
    return {(int(a), int(b)) for text in named for a, b in _EVIDENCE.findall(text)}


def _text(turn: dict[str, Any]) -> str:
    """Who said what, and what a picture shows that was sent with it."""
    picture = turn.get("blip_caption")
    text = f" [shares a picture: {picture}]" if picture else ""
    return f"{turn['speaker']}: {turn['text']}{text}"


def _time(written: str) -> int:
    """Milliseconds, of `1:56 pm on 8 May, 2023`."""
    match = _WHEN.fullmatch(written)
    if match is None:
        raise ValueError(f"no time: {written!r}")
    hour, minute, half, day, month, year = match.groups()
    at = (
        int(year),
        [*calendar.month_name].index(month),
        int(day),
        int(hour) % 12 + 12 * (half == "p"),
    )
    return calendar.timegm((*at, int(minute), 0)) * 1000
