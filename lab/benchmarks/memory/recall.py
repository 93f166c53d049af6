"""How much of the evidence is among the first five that are found."""

import re
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from benchmarks.memory.locomo import Question, Talk, Turn
from clew.memory import MemorySource, SqliteMemory

K: Final = 5
Turns: TypeAlias = list[tuple[int, int]]
Find: TypeAlias = Callable[[str], tuple[Turns, list[int]]]
"""From a question to the first five turns and the first five sessions."""


@dataclass(frozen=True)
class RecallScore:
    """What was found for one question: shares of its evidence, and whether that is all of it."""

    talk: str
    tuned: bool
    small: bool
    category: int
    turns: float
    any_turn: bool
    sessions: bool
    any_session: bool


def measured(talk: Talk, find: Find) -> list[RecallScore]:
    """What is found for all questions of a conversation.

    `small` says that five are fewer than a fifth of its sessions.
    """
    small = talk.sessions > 5 * K
    return [
        _recall_score(talk, question, *find(question.text), small=small)
        for question in talk.questions
    ]


def _recall_score(
    talk: Talk, question: Question, turns: Turns, sessions: Sequence[int], *, small: bool
) -> RecallScore:
    wanted = {session for session, _ in question.evidence}
    there = question.evidence & set(turns)
    return RecallScore(
        talk.name,
        talk.tuned,
        small,
        question.category,
        len(there) / len(question.evidence),
        bool(there),
        wanted <= set(sessions),
        bool(wanted & set(sessions)),
    )


def plain(talk: Talk) -> Find:
    """SQLite's BM25 over turns and over whole sessions: any word of the question."""
    turns = [(turn.session, turn.number) for turn in talk.turns]
    by_turn = _index(turn.text for turn in talk.turns)
    sessions = sorted({turn.session for turn in talk.turns})
    by_session = _index(_session(talk.turns, session) for session in sessions)

    def find(question: str) -> tuple[Turns, list[int]]:
        return (
            [turns[row] for row in _best(by_turn, question)],
            [sessions[row] for row in _best(by_session, question)],
        )

    return find


def clew(talk: Talk, folder: Path, embed: str | None) -> Find:
    """A file of memories: each turn is one, and a session is a run."""
    memories = SqliteMemory(folder / f"{talk.name}.sqlite", embed=embed)
    for turn in talk.turns:
        source = MemorySource(run=str(turn.session), seq=turn.number)
        memories.add(turn.text, source=source, at=turn.at)

    def find(question: str) -> tuple[Turns, list[int]]:
        turns = [(int(m.source.run), m.source.seq) for m in memories.search(question, K)]
        return turns, [int(run) for run in memories.runs(question, K)]

    return find


def systems(talks: Iterable[Talk], embed: str | None) -> dict[str, list[RecallScore]]:
    """Every way to find, over all conversations."""
    fields: dict[str, list[RecallScore]] = {"plain BM25": [], "words": []}
    if embed is not None:
        fields["words and meaning"] = []
    for talk in talks:
        fields["plain BM25"] += measured(talk, plain(talk))
        with tempfile.TemporaryDirectory() as folder:
            fields["words"] += measured(talk, clew(talk, Path(folder), None))
            if embed is not None:
                fields["words and meaning"] += measured(talk, clew(talk, Path(folder), embed))
    return fields


def _session(turns: Sequence[Turn], session: int) -> str:
    """All that was said in a session, under its date."""
    in_session = [turn for turn in turns if turn.session == session]
    date = time.strftime("%d %B %Y", time.gmtime(in_session[0].at / 1000))
    return "\n".join([date, *(turn.text for turn in in_session)])


def _index(texts: Iterable[str]) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
    connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts))
    return connection


def _best(index: sqlite3.Connection, question: str) -> list[int]:
    words = dict.fromkeys(re.findall(r"\w+", question))
    rows = index.execute(
        "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY bm25(texts), rowid LIMIT ?",
        (" OR ".join(f'"{word}"' for word in words), K),
    )
    return [row for (row,) in rows]
