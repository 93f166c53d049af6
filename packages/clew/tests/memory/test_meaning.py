"""Memories found by what they mean, beside their words."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from clew import ConfigError
from clew.memory import Memory, MemorySource, SqliteMemory

TOPICS = ("bees honey hive", "boat sail harbour", "bread oven flour", "chess rook gambit")


def embed(texts: Sequence[str]) -> list[list[float]]:
    """A number for each topic, and one for nothing: words of one topic are near each other."""
    rows = list[list[float]]()
    for text in texts:
        words = re.findall(r"\w+", text.casefold())
        rows.append(
            [sum(word in topic.split() for word in words) - 0.1 for topic in TOPICS] + [0.1]
        )
    return rows


class Counted:
    """The same, as one that is the same in every process, and counts its texts."""

    def __init__(self, model: str = "topics 1") -> None:
        self.model = model
        self.seen = list[str]()

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.seen += texts
        return embed(texts)


def texts(found: Sequence[Memory]) -> list[str]:
    return [memory.text for memory in found]


def test_what_shares_no_word_is_found_by_its_meaning(tmp_path: Path) -> None:
    path = tmp_path / "m"
    by_words = SqliteMemory(path)
    for number, text in enumerate(("Ada has a hive", "Ada can sail", "Ada owns an oven")):
        by_words.add(text, source=MemorySource(run=f"r{number}", seq=1))
    assert by_words.search("honey?") == ()
    memories = SqliteMemory(path, embed=embed)
    assert texts(memories.search("honey?", 1)) == ["Ada has a hive"]
    assert memories.runs("honey?", 1) == ("r0",)
    assert len(memories.search("honey?", 9)) == 1  # the others mean something else
    assert texts(memories.search("sail, with honey", 2)) == ["Ada can sail", "Ada has a hive"]


def test_nothing_is_near_where_nothing_is(tmp_path: Path) -> None:
    memories = SqliteMemory(tmp_path / "m", embed=embed)
    assert memories.search("honey") == ()
    memories.add("Ada has a hive")
    assert texts(memories.search("honey")) == ["Ada has a hive"]


def test_vectors_are_made_once_also_of_what_another_process_adds(tmp_path: Path) -> None:
    counted = Counted()
    memories, other = SqliteMemory(tmp_path / "m", embed=counted), SqliteMemory(tmp_path / "m")
    for number in range(300):
        memories.add(f"note {number}")
    assert counted.seen == []
    memories.search("honey")
    assert len(counted.seen) == 301
    other.add("Ada has a hive")
    assert texts(memories.search("honey", 1)) == ["Ada has a hive"]
    assert counted.seen[301:] == ["Ada has a hive", "honey"]
    again = Counted()
    assert texts(SqliteMemory(tmp_path / "m", embed=again).search("honey", 1)) == ["Ada has a hive"]
    assert again.seen == ["honey"]
    anew = Counted("topics 2")
    SqliteMemory(tmp_path / "m", embed=anew).search("honey")
    assert len(anew.seen) == 302


def test_each_sentence_has_a_vector_without_who_said_it(tmp_path: Path) -> None:
    counted = Counted()
    memories = SqliteMemory(tmp_path / "m", embed=counted)
    memories.add("Ada: Hello there! I bought a hive.\nIt is blue.")
    memories.add("蜂蜜很甜。船很大。")
    memories.add("Grace: ")
    memories.search("honey")
    assert counted.seen == [
        "Hello there! I bought a hive.\nIt is blue.",
        *("Hello there!", "I bought a hive.", "It is blue."),
        *("蜂蜜很甜。船很大。", "蜂蜜很甜。", "船很大。"),
        "Grace:",
        "honey",
    ]


def test_a_word_that_a_fifth_have_is_left_out_of_what_is_meant(tmp_path: Path) -> None:
    counted = Counted()
    memories = SqliteMemory(tmp_path / "m", embed=counted)
    memories.add("Ada has a hive")
    memories.search("Does Ada have honey?")
    for number in range(30):
        memories.add(f"Ada knows fact{number}")
    memories.search("Does Ada's hive have honey?")
    memories.search("Ada?")
    asked = [text for text in counted.seen if "?" in text]
    assert asked == ["Does Ada have honey?", "Does hive have honey?", "Ada?"]


def test_of_very_many_those_are_compared_that_agree_in_signs(tmp_path: Path) -> None:
    memories = SqliteMemory(tmp_path / "m", embed=embed)
    for number in range(700):
        memories.add(f"{TOPICS[number % 4].split()[number % 3]} note {number}")
    found = texts(memories.search("honey", 20))
    assert all(text.split()[0] in TOPICS[0] for text in found)


def test_what_was_corrected_is_not_near(tmp_path: Path) -> None:
    memories = SqliteMemory(tmp_path / "m", embed=embed)
    old = memories.add("Ada has a hive")
    memories.search("honey")
    memories.correct(old.id, "Ada has a boat")
    assert texts(memories.search("honey")) == []
    assert texts(memories.search("sail")) == ["Ada has a boat"]


def test_an_embedding_that_gives_something_else_is_told(tmp_path: Path) -> None:
    lengths = iter((4, 3, 2))
    memories = SqliteMemory(
        tmp_path / "m", embed=lambda texts: [[1.0] * next(lengths)] * len(texts)
    )
    memories.add("Ada has a hive")
    with pytest.raises(ConfigError, match="gave vectors of 4 numbers, then of 3: give each emb"):
        memories.search("honey")
    memories.add("Ada can sail")
    with pytest.raises(ConfigError, match="gave vectors of 2 numbers, then of 4: give each emb"):
        memories.search("honey")
    other = SqliteMemory(tmp_path / "n", embed=lambda texts: [[float("nan")]] * len(texts))
    other.add("Ada has a hive")
    with pytest.raises(ConfigError, match="it must give a row of finite numbers for each"):
        other.search("honey")
    with pytest.raises(ConfigError, match="there is no embedding 'word2vec'"):
        SqliteMemory(tmp_path / "m", embed="word2vec")


def test_what_is_forgotten_while_its_vector_is_made_gets_none(tmp_path: Path) -> None:
    other = SqliteMemory(tmp_path / "m")
    memory = other.add("Ada has a hive")

    def forgetful(texts: Sequence[str]) -> list[list[float]]:
        if memory.text in texts:
            other.forget(memory.id)
        return embed(texts)

    memories = SqliteMemory(tmp_path / "m", embed=forgetful)
    assert memories.search("honey") == ()
    assert memories.search("honey") == ()


FAR = ("honey", "sail", "bread", "chess")


@pytest.mark.parametrize("query", [*FAR, "honey hive bees", "oven", "harbour?", "the rook"])
def test_what_has_neither_words_nor_meaning_in_common_is_not_found(
    tmp_path: Path, query: str
) -> None:
    memories = SqliteMemory(tmp_path / "m", embed=embed)
    kept = [topic for topic in TOPICS if not set(topic.split()) & set(re.findall(r"\w+", query))]
    for number, topic in enumerate(kept):
        memories.add(f"Grace: {topic}", source=MemorySource(run=f"r{number}", seq=1))
    assert memories.search(query, 9) == ()
    assert memories.runs(query, 9) == ()


def test_an_embedding_says_its_own_floor(tmp_path: Path) -> None:
    class Crowded(Counted):
        floor = 0.95

        def __call__(self, texts: Sequence[str]) -> list[list[float]]:
            return [[*row, 2.0] for row in super().__call__(texts)]

    memories = SqliteMemory(tmp_path / "m", embed=Crowded())
    memories.add("Ada has a hive")
    memories.add("Ada can sail")
    assert texts(memories.search("honey", 9)) == ["Ada has a hive"]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_a_neighbour_comes_only_beside_one_that_fits(tmp_path: Path, k: int) -> None:
    memories = SqliteMemory(tmp_path / "m")
    for number, text in enumerate(("The kelp farm", "Nobody knew", "More kelp", "Silence", "Rain")):
        memories.add(text, source=MemorySource(run="r", seq=number))
    found = texts(memories.search("kelp", k))
    assert "kelp" in found[0]
    assert "Rain" not in found
    assert len(found) == k
