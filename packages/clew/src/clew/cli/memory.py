"""`clew memory`: what later runs may be told, kept, corrected and forgotten by a person."""

import sys
import time
from typing import Any, Final

import click
import msgspec

from clew import ConfigError
from clew.cli.errors import ANSWERED
from clew.cli.options import DEBUG, JSON, named
from clew.cli.safe_text import json_text, say
from clew.interfaces import Note, Store, encode
from clew.memory import Memory, MemorySource, SqliteMemory, memory_path, note_of, open_memory
from clew.support.printable import inert
from clew.support.short_text import one_line

PERSON: Final = MemorySource(by="person")

FILE: Final = click.option(
    "--memory",
    "file",
    callback=named,
    metavar="FILE",
    type=click.Path(),
    help="Where memories lie: an SQLite file.  [default: $CLEW_MEMORY, or a file in your data "
    "folder]",
)
ID: Final = click.argument("memory_id", metavar="ID")
EMBED: Final = click.option(
    "--embed",
    callback=named,
    metavar="NAME",
    help="Search by meaning too: minilm, with the extra embeddings.",
)


def _text(context: click.Context, parameter: click.Parameter, value: str) -> str:
    """What a person wants remembered; - stands for what is on stdin."""
    del parameter
    return sys.stdin.read() if value == "-" and not context.resilient_parsing else value


TEXT: Final = click.argument("text", callback=_text)


@click.command()
@TEXT
@click.option(
    "--kind",
    type=click.Choice(["fact", "preference"]),
    default="fact",
    help="What is the case, or how you want things done.  [default: fact]",
)
@FILE
@JSON
@DEBUG
def add(text: str, kind: Any, file: str | None, *, as_json: bool) -> int:
    """Remember TEXT (- reads it from stdin), as your own word: trusted.

    What says the same as a memory that is there is not stored twice.
    """
    memories = open_memory(file)
    try:
        known = {memory.id for memory in memories.list()}
        memory = memories.add(text, kind=kind, trust="trusted", source=PERSON)
    finally:
        memories.close()
    if as_json:
        say(json_text(msgspec.to_builtins(memory)))
    else:
        say(f"{'known' if memory.id in known else 'remembered'}  {_line(memory)}")
    return ANSWERED


@click.command("list")
@click.option("--history", is_flag=True, help="Also what was corrected, and what was forgotten.")
@FILE
@JSON
@DEBUG
def list_memories(file: str | None, *, history: bool, as_json: bool) -> int:
    """List all memories, the oldest first: id, kind, trust, day, source, text."""
    if not memory_path(file).exists():
        if as_json:
            say(json_text({"memories": [], "forgotten": []} if history else []))
        else:
            say(f"nothing is remembered at {inert(str(memory_path(file)))}")
        return ANSWERED
    memories = _existing(file)
    try:
        listed, gone = memories.list(history=history), memories.tombstones() if history else ()
    finally:
        memories.close()
    if as_json:
        told = msgspec.to_builtins(listed)
        forgotten = msgspec.to_builtins(gone)
        say(json_text({"memories": told, "forgotten": forgotten} if history else told))
        return ANSWERED
    _show(listed, "nothing is remembered")
    for stone in gone:
        say(f"{stone.id}  forgotten  {_day(stone.at)}")
    return ANSWERED


@click.command()
@click.argument("query")
@click.option(
    "-n", "--most", "max_results", default=5, type=click.IntRange(min=1), metavar="N",
    help="Show N memories.  [default: 5]",
)  # fmt: skip
@EMBED
@FILE
@JSON
@DEBUG
def search(
    query: str, max_results: int, embed: str | None, file: str | None, *, as_json: bool
) -> int:
    """Search memories for the words of QUERY, the best first."""
    memories = _existing(file, embed)
    try:
        results = memories.search(query, max_results)
    finally:
        memories.close()
    if as_json:
        say(json_text(msgspec.to_builtins(results)))
    else:
        _show(results, "no memory fits")
    return ANSWERED


@click.command()
@ID
@TEXT
@FILE
@JSON
@DEBUG
def correct(memory_id: str, text: str, file: str | None, *, as_json: bool) -> int:
    """Put TEXT in the place of a memory: the old one is found no more, and stays in the history."""
    memories = _existing(file)
    try:
        memory = memories.correct(memory_id, text, trust="trusted", source=PERSON)
    finally:
        memories.close()
    if as_json:
        say(json_text(msgspec.to_builtins(memory)))
    else:
        say(f"corrected  {_line(memory)}")
    return ANSWERED


@click.command()
@ID
@FILE
@JSON
@DEBUG
def forget(memory_id: str, file: str | None, *, as_json: bool) -> int:
    """Forget a memory for good, with what it corrected, what corrected it, and what was made of it.

    No trace of their texts is left in the file. That there was a memory, and when it went, is.
    """
    memories = _existing(file)
    try:
        gone = memories.forget(memory_id)
    finally:
        memories.close()
    if as_json:
        say(json_text({"forgotten": list(gone)}))
    else:
        say(f"forgotten  {', '.join(gone)}")
    return ANSWERED


async def tell_memories(file: str, words: str, run_id: str, store: Store) -> None:
    """Tell a run what of a file of memories fits a person's words."""
    for note in notes_for(file, words):
        await store.post(run_id, encode(note))


def notes_for(file: str, words: str) -> tuple[Note, ...]:
    """What of a file of memories fits a person's words, as notes for a run."""
    memories = open_memory(file)
    try:
        note = note_of(memories.search(words))
    finally:
        memories.close()
    return () if note is None else (note,)


def _existing(file: str | None, embed: str | None = None) -> SqliteMemory:
    """The file of memories, where there is one: reading makes none."""
    path = memory_path(file)
    if not path.exists():
        message = f"there are no memories yet at {path}: `clew memory add TEXT` makes the first"
        raise ConfigError(message)
    return open_memory(file, embed=embed)


def _show(memories: tuple[Memory, ...], none: str) -> None:
    for memory in memories:
        say(_line(memory))
    if not memories:
        say(none)


def _line(memory: Memory) -> str:
    """A memory in one line."""
    source = memory.source
    where = f"run {source.run} entry {source.seq}" if source.run else source.by
    if source.memories:
        where = f"{where} from {', '.join(source.memories)}".strip()
    now = f"  (corrected: {memory.superseded_by})" if memory.superseded_by else ""
    parts = [memory.id, memory.kind, memory.trust, _day(memory.at), *filter(None, [where])]
    return inert(f"{'  '.join(parts)}  {one_line(memory.text)}{now}")


def _day(at: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at / 1000))
