"""What is forgotten leaves no trace, at once or after a crash; all else is as it was."""

import random
import string
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import ConfigError
from clew.memory import Memory, MemorySource, SqliteMemory
from clew.tools.retrieval import Embed
from tests.memory.places import dies, traces

WORD = st.text(string.ascii_lowercase, min_size=5, max_size=9) | st.sampled_from([
    "format", "sqlite", "create"
])  # fmt: skip


def embed(texts: Sequence[str]) -> list[list[float]]:
    """Vectors of letters: numbers of which the text could be told."""
    return [[text.count(letter) + 0.25 for letter in string.ascii_lowercase] for text in texts]


def ids(memories: Sequence[Memory]) -> list[str]:
    return [memory.id for memory in memories]


def test_what_was_made_of_it_goes_too_and_a_tombstone_stays(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    memories = SqliteMemory(path, embed=embed)
    kept = memories.add("Grace collects butterflies", source=MemorySource(run="meadow-run", seq=1))
    first = memories.add("Ada moved to Reykjavik", source=MemorySource(run="iceland-run", seq=3))
    second = memories.correct(first.id, "Ada moved to Trondheim", source=MemorySource(by="letter"))
    made = memories.add(
        "Northern lights for Ada", source=MemorySource(memories=(second.id, kept.id))
    )
    of_that = memories.add("Needs a tripod", source=MemorySource(memories=(made.id,)))
    memories.search("lights")  # the vectors are made
    gone = [first, second, made, of_that]
    told = [memory.text for memory in gone] + ["iceland-run", "letter"]
    assert traces(path, told)
    assert memories.forget(second.id) == tuple(ids(gone))
    assert traces(path, told) == []
    assert traces(path, [kept.text]) == ["butte", "colle", "grace"]
    assert memories.list(history=True) == (kept,)
    assert memories.search("Ada Reykjavik Trondheim tripod lights") == (kept,)  # the nearest
    assert ids(memories.tombstones()) == ids(gone)  # type: ignore[arg-type]  # they have ids as well
    for memory in gone:
        with pytest.raises(ConfigError, match=f"{memory.id} was forgotten: nothing of it is left"):
            memories.get(memory.id)
    assert memories.add("Ada moved to Reykjavik").id not in ids(gone)


def test_what_it_was_made_of_stays(tmp_path: Path) -> None:
    memories = SqliteMemory(tmp_path / "m")
    base = memories.add("Grace collects butterflies")
    made = memories.add("Buy pins", source=MemorySource(memories=(base.id,)))
    assert memories.forget(made.id) == (made.id,)
    assert memories.list() == (base,)


def words_of_its_own(path: Path, vectors: Embed | None, words: Iterable[str]) -> list[str]:
    """Those of these words that stand in every file of memories, as "format" does in its head."""
    memories = SqliteMemory(path, embed=vectors)
    first = memories.add("0", source=MemorySource(run="0", seq=0))
    memories.correct(first.id, "1", source=MemorySource(run="0", seq=1))
    memories.search("1")
    memories.close()
    return traces(path, words)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    texts=st.lists(
        st.lists(WORD, min_size=1, max_size=30), min_size=2, max_size=12, unique_by=tuple
    ),
    data=st.data(),
)
def test_no_word_is_left_whatever_came_before(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], data: st.DataObject
) -> None:
    path, other = (tmp_path_factory.mktemp("memory") / "m" for _ in range(2))
    vectors = embed if data.draw(st.booleans(), "vectors") else None
    memories = SqliteMemory(path, embed=vectors)
    for number, words in enumerate(texts):
        text, source = " ".join(words), MemorySource(run=f"r{number // 3}", seq=number)
        there = memories.list()
        if data.draw(st.booleans(), "correct") and there:
            old = data.draw(st.sampled_from(there))
            try:
                memories.correct(old.id, text, source=source)
            except ConfigError:  # another says so already
                continue
        else:
            memories.add(text, source=source)
        memories.search(text)
    one = data.draw(st.sampled_from(memories.list(history=True)))
    before = memories.list(history=True)
    gone = memories.forget(one.id)
    kept = [memory for memory in before if memory.id not in gone]
    stay = {word[:5] for memory in kept for word in memory.text.split()}
    lost = {word[:5] for memory in before for word in memory.text.split()} - stay
    lost -= {*words_of_its_own(other, vectors, lost)}
    assert traces(path, lost) == []
    assert memories.list(history=True) == tuple(kept)
    for memory in memories.list():
        assert memory in memories.search(memory.text, 99)
    memories.close()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_left_on_pages_that_were_moved(tmp_path: Path, seed: int) -> None:
    """SQLite overwrites what it deletes, but not what it moved before to another page."""
    drawn = random.Random(seed)
    path = tmp_path / "m"
    memories = SqliteMemory(path)

    def text() -> str:
        words = ("".join(drawn.choices(string.ascii_lowercase, k=10)) for _ in range(180))
        return " ".join([*words][: drawn.randint(1, 180)])

    there = dict[str, str]()
    for number in range(100):
        memory = memories.add(text(), source=MemorySource(run=f"r{number % 7}"))
        there[memory.id] = memory.text
        if number % 4 == 0:
            memory = memories.correct(memory.id, text())
            there[memory.id] = memory.text
    for memory_id in drawn.sample([*there], 40):
        if memory_id in there:
            gone = [there.pop(one) for one in memories.forget(memory_id)]
            assert traces(path, gone, 10) == []


FORGET = "memories.forget('m1')"
ADD = "memories.add('Zeppelins over Bergen', source=MemorySource(run='airship', seq=1))"
CORRECT = (
    "memories.correct('m1', 'Zeppelins over Bergen', source=MemorySource(run='airship', seq=1))"
)


@pytest.mark.slow
@pytest.mark.parametrize("work", [FORGET, ADD, CORRECT])
def test_a_process_that_dies_anywhere_leaves_all_or_nothing(tmp_path: Path, work: str) -> None:
    ends = set[tuple[str, ...]]()
    statement = 0
    died = True
    while died:
        statement += 1
        path = tmp_path / str(statement) / "m"
        memories = SqliteMemory(path)
        memories.add("Ada moved to Reykjavik", source=MemorySource(run="iceland-run", seq=3))
        memories.add("Grace collects butterflies")
        memories.close()
        died = dies(path, work, statement)
        after = SqliteMemory(path)
        found = tuple(memory.text for memory in after.list())
        ends.add(found)
        # The index says the same as the rows, and what is forgotten is so in every byte.
        for memory in after.list():
            assert after.search(memory.text)[0] == memory
        assert len(after.search("Reykjavik Zeppelins Grace", 9)) == len(found)
        if after.tombstones():
            assert traces(path, ["Ada moved to Reykjavik", "iceland-run"]) == []
        elif work != ADD:
            assert traces(path, ["Reykjavik"])
        after.close()
    assert statement > 10
    assert len(ends) == 2


@pytest.mark.slow
def test_a_process_that_dies_while_it_makes_the_file_leaves_one_to_go_on_with(
    tmp_path: Path,
) -> None:
    statement = 1
    while dies(tmp_path / str(statement), ADD, statement):
        memories = SqliteMemory(tmp_path / str(statement))
        memories.add("Zeppelins over Bergen")
        assert len(memories.list()) == 1
        memories.close()
        statement += 1
    assert statement > 10
