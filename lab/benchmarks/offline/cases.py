"""Questions with the notes they are about, in halves; and files in the form of SQuAD."""

import hashlib
import json
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from clew_evals.dataset import read_dataset
from clew_evals.gold import FOREIGN, QUESTIONS

HERE = Path(__file__).parent
Half: TypeAlias = Literal["seen", "unseen"]


@dataclass(frozen=True)
class Case:
    """A question. `answer` has patterns, any of which is right; none where there is no answer.

    `before` was asked first, in the same talk. `passage` has sets of words, one of which stands
    whole in the passage that should be shown.
    """

    id: str
    kind: str
    question: str
    answer: tuple[str, ...] = ()
    passage: tuple[tuple[str, ...], ...] = ()
    before: tuple[str, ...] = ()

    @property
    def there(self) -> bool:
        """Whether the notes hold an answer."""
        return bool(self.answer and self.passage)


@dataclass
class Notes:
    """Cases, and the texts of the notes they are asked over, by file name."""

    cases: list[Case] = field(default_factory=list[Case])
    texts: dict[str, str] = field(default_factory=dict[str, str])

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """The notes as files, as long as they are needed."""
        path = Path(tempfile.mkdtemp())
        try:
            for name, text in self.texts.items():
                (path / name).write_text(text, "utf-8")
            yield path
        finally:
            shutil.rmtree(path)


def half(name: str) -> Half:
    """By the first byte of the SHA-256 of a note's name: fixed before the rules were touched."""
    return "unseen" if hashlib.sha256(name.encode()).digest()[0] % 2 else "seen"


def halves() -> dict[Half, Notes]:
    """The shipped notes with their questions; a question about no note goes by its own id."""
    fields: dict[Half, Notes] = {"seen": Notes(), "unseen": Notes()}
    for path in sorted(FOREIGN.iterdir()):
        fields[half(path.name)].texts[path.name] = path.read_text("utf-8")
    for row in _rows():
        case = Case(
            row["id"],
            row["kind"],
            row["question"],
            tuple(row["answer"]),
            tuple(map(tuple, row["passage"])),
            tuple(row.get("before", ())),
        )
        fields[half(row["note"] or row["id"])].cases.append(case)
    return fields


def reasoning() -> dict[Half, Notes]:
    """Notes of invented facts, with questions that one sentence does not answer."""
    fields: dict[Half, Notes] = {"seen": Notes(), "unseen": Notes()}
    for note in tomllib.loads((HERE / "reasoning.toml").read_text("utf-8"))["notes"]:
        into = fields[half(note["name"])]
        into.texts[note["name"]] = note["text"]
        for number, asked in enumerate(note["questions"], start=1):
            words = asked.get("passage")
            into.cases.append(
                Case(
                    f"{note['name'].partition('.')[0]}-{number}",
                    asked["kind"],
                    asked["question"],
                    tuple(asked.get("answer", ())),
                    (tuple(words),) if words else (),
                )
            )
    return fields


def _rows() -> Iterator[dict[str, Any]]:
    """The questions that ship with clew, and here those that follow upon another."""
    for case in read_dataset(QUESTIONS):
        yield {"id": case.id, "kind": case.category, "question": case.question, **case.extra}
    for line in (HERE / "questions.jsonl").read_text("utf-8").splitlines():
        yield json.loads(line)


def squad(path: Path, wanted: Half) -> Notes:
    """The paragraphs of a file in SQuAD's form that belong to a half, as notes with questions."""
    notes = Notes()
    for article in json.loads(path.read_text("utf-8"))["data"]:
        for number, paragraph in enumerate(article["paragraphs"]):
            name = re.sub(r"[^\w-]", "_", article.get("title", "note"))
            name = f"{name}-{number}.txt"
            if half(name) != wanted:
                continue
            notes.texts[name] = paragraph["context"]
            for asked in paragraph["qas"]:
                answers = tuple(re.escape(one["text"]) for one in asked["answers"])
                around = tuple((_around(paragraph["context"], one),) for one in asked["answers"])
                kind = "squad" if answers else "none"
                case = Case(str(asked["id"]), kind, asked["question"], answers, around)
                notes.cases.append(case)
    return notes


def _around(text: str, answer: dict[str, Any]) -> str:
    """The answer with what stands right before and behind it: the place, not only the word."""
    begin = answer["answer_start"]
    return text[max(0, begin - 12) : begin + len(answer["text"]) + 12]
