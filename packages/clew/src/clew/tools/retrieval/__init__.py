"""Which of many tools a model is shown: those that fit the task, searched anew at each step."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Self

import anyio
from anyio import to_thread

from clew.core.events import Note
from clew.core.tools import ToolSpec
from clew.core.trajectory import Trajectory
from clew.support.errors import ConfigError
from clew.tools.retrieval.embedding import CachedEmbedding, Embed
from clew.tools.retrieval.index import IndexCache
from clew.tools.retrieval.meaning import (
    WORDS,
    Ranking,
    default_ranking,
    ranking_of,
    recorded_rankings,
)
from clew.tools.retrieval.servers import round_robin, server_of

__all__ = ["CachedEmbedding", "Embed", "Retrieval", "search_texts", "server_of"]

LOG: Final = logging.getLogger("clew")

_WAIT: Final = 20.0
"""So many seconds a thought waits for vectors: less than `Limits.part_seconds`, in which the tools
must be found."""


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Shows the tools named in `always`, and before each thought the best `k` of all others.

    `embed` says how they are ranked: "words", or by meaning too: "multilingual" and "minilm" (in
    English only) for models of the extra `embeddings`, or any function from texts to vectors. By
    default it is "multilingual" where the extra is installed and "words" elsewhere; a run that is
    resumed goes on with what its record names. Shown tools stay shown, up to `max_tools`; tools
    that are not shown can be called too. With `per_server`, so many of the best tools at most come
    from one server before those of others have their turn; `server` names the server of a tool, by
    default the prefix of its name. Raises `ConfigError` for numbers below 1 and for a missing
    embedding.
    """

    k: int = 10
    always: Sequence[str] = ()
    embed: Embed | Ranking | str | None = None
    max_tools: int = 100
    per_server: int | None = None
    server: Callable[[ToolSpec], str] = server_of
    _index: IndexCache = field(default_factory=IndexCache, init=False, repr=False, compare=False)
    _words: IndexCache = field(default_factory=IndexCache, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Find the embedding now, before anything is spent."""
        numbers = {"k": self.k, "max_tools": self.max_tools, "per_server": self.per_server}
        if self.per_server is None:  # it is off
            del numbers["per_server"]
        for name, number in numbers.items():
            if type(number) is not int or number < 1:
                raise ConfigError(f"{name} is {number!r}: give a whole number from 1 on")
        if isinstance(self.always, str):
            raise ConfigError(f"always is {self.always!r}: give a list of names")
        _ = self._ranking

    def __repr__(self) -> str:
        """As the record names it, with the ranking in use; words only are "None" there."""
        embed = None if self._embed_or_ranking == WORDS else self._embed_or_ranking
        told = [f"k={self.k}", f"always={[*self.always]}", f"embed={_named(embed)}"]
        told.append(f"max_tools={self.max_tools}")
        if self.per_server is not None:
            told.append(f"per_server={self.per_server}")
        if self.server is not server_of:
            told.append(f"server={_named(self.server)}")
        return f"Retrieval({', '.join(told)})"

    def as_recorded(self, name: str) -> Self:
        """The same with the ranking that a record names, if that was left to the machine."""
        if self.embed is not None:
            return self
        others = (replace(self, embed=ranking) for ranking in recorded_rankings())
        return next((other for other in others if repr(other) == name), self)

    async def find(self, tools: Sequence[ToolSpec], trajectory: Trajectory) -> list[str]:
        """The best `k` for the run's current state that are not shown yet.

        By meaning all tools have a place: where there are no more than `k`, nothing is ranked and
        no model is loaded.
        """
        room = self.max_tools - len(self.always) - len(trajectory.visible_tools)
        if room < 1 or not tools:
            return []
        unseen = [tool.name for tool in tools if tool.name not in trajectory.visible_tools]
        if self._ranking is not None and len(tools) <= self.k and len(unseen) <= room:
            return unseen
        ranked = await self._ranked(tools, search_texts(trajectory))
        if self.per_server is not None:
            servers = {tool.name: self.server(tool) for tool in tools}
            ranked = round_robin(ranked, servers.__getitem__, self.per_server)
        return [name for name in ranked[: self.k] if name not in trajectory.visible_tools][:room]

    def rank(self, tools: Sequence[ToolSpec], texts: Sequence[str]) -> list[str]:
        """The names of the tools, best first for these texts.

        The index is built at the first call and kept as long as the tools are the same.
        """
        return self._index.rank(tools, texts, self._ranking)

    async def _ranked(self, tools: Sequence[ToolSpec], texts: Sequence[str]) -> list[str]:
        """The same, by words as long as the vectors of many tools are still being made."""
        with anyio.move_on_after(_WAIT):
            return await to_thread.run_sync(self.rank, tools, texts, abandon_on_cancel=True)
        LOG.warning("%d tools are ranked by words until their vectors are made", len(tools))
        return await to_thread.run_sync(self._words.rank, tools, texts, None)

    @cached_property
    def _embed_or_ranking(self) -> Embed | Ranking | str:
        return default_ranking() if self.embed is None else self.embed

    @cached_property
    def _ranking(self) -> Ranking | None:
        return ranking_of(self._embed_or_ranking)


def _named(part: object) -> str:
    """A part as the record names it: a function by its module and name."""
    name = getattr(part, "__qualname__", None)
    return repr(part) if name is None else f"{getattr(part, '__module__', '')}.{name}"


def search_texts(trajectory: Trajectory) -> list[str]:
    """The query: the goal, a person's last message, the last thought, names of unknown tools.

    The unknown tools are those that the last step called.
    """
    words = [
        notice.text
        for step in (trajectory.before, *trajectory.steps)
        for notice in step.notices
        if isinstance(notice, Note) and notice.source == "person"
    ]
    step = trajectory.step
    missed = [
        call.action.name
        for call in step.calls
        if call.observation is not None and call.observation.code == "unknown_tool"
    ]
    thought = "" if step.thought is None else step.thought.text
    return [
        text for text in (trajectory.visible_goal, *words[-1:], thought, *missed) if text.strip()
    ]
