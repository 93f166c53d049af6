"""Which of many tools a model is shown: those that fit the task, searched anew at each step."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from anyio import to_thread

from clew.core.errors import ConfigError
from clew.core.events import Note
from clew.core.interfaces import ToolSpec
from clew.core.trajectory import Trajectory
from clew.tools.retrieval.embedding import Embed, Lasting
from clew.tools.retrieval.index import Index
from clew.tools.retrieval.load_extra import embed_by_name
from clew.tools.retrieval.servers import round_robin, server_of

__all__ = ["Embed", "Lasting", "Retrieval", "search_texts", "server_of"]


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Shows the tools named in `always`, and before each thought the best `k` of all others.

    It ranks by words and, with `embed`, by meaning too: "minilm" for the model of the extra
    `embeddings`, or any function from texts to vectors. Shown tools stay shown, up to `most`; tools
    that are not shown can be called too. With `per_server`, so many of the best tools at most come
    from one server before those of others have their turn; `server` names the server of a tool, by
    default the prefix of its name. Raises `ConfigError` for numbers below 1 and for a missing
    embedding.
    """

    k: int = 10
    always: Sequence[str] = ()
    embed: Embed | str | None = None
    most: int = 100
    per_server: int | None = None
    server: Callable[[ToolSpec], str] = server_of
    _lock: threading.Lock = field(
        default_factory=threading.Lock, init=False, repr=False, compare=False
    )
    _made: list[Index] = field(default_factory=list[Index], init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Find the embedding now, before anything is spent."""
        numbers = {"k": self.k, "most": self.most, "per_server": self.per_server}
        if self.per_server is None:  # it is off
            del numbers["per_server"]
        for name, number in numbers.items():
            if type(number) is not int or number < 1:
                raise ConfigError(f"{name} is {number!r}: give a whole number from 1 on")
        if isinstance(self.always, str):
            raise ConfigError(f"always is {self.always!r}: give a list of names")
        _ = self._embed

    def __repr__(self) -> str:
        """As the record names it: the same in every process."""
        told = [f"k={self.k}", f"always={[*self.always]}", f"embed={_named(self.embed)}"]
        told.append(f"most={self.most}")
        if self.per_server is not None:
            told.append(f"per_server={self.per_server}")
        if self.server is not server_of:
            told.append(f"server={_named(self.server)}")
        return f"Retrieval({', '.join(told)})"

    async def find(self, tools: Sequence[ToolSpec], so_far: Trajectory) -> list[str]:
        """The best `k` for the run's current state that are not shown yet."""
        room = self.most - len(self.always) - len(so_far.shown)
        if room < 1 or not tools:
            return []
        ranked = await to_thread.run_sync(
            self.rank, tools, search_texts(so_far), abandon_on_cancel=True
        )
        if self.per_server is not None:
            servers = {tool.name: self.server(tool) for tool in tools}
            ranked = round_robin(ranked, servers.__getitem__, self.per_server)
        return [name for name in ranked[: self.k] if name not in so_far.shown][:room]

    def rank(self, tools: Sequence[ToolSpec], texts: Sequence[str]) -> list[str]:
        """The names of the tools, best first for these texts.

        The index is built at the first call and kept as long as the tools are the same.
        """
        given = tuple(tools)
        if not given:
            return []
        with self._lock:
            if not self._made or self._made[0].tools != given:
                self._made[:] = [Index(given, self._embed)]
            return self._made[0].rank(texts)

    @cached_property
    def _embed(self) -> Embed | None:
        return None if self.embed is None else embed_by_name(self.embed)


def _named(part: object) -> str:
    """A part as the record names it: a function by its module and name."""
    name = getattr(part, "__qualname__", None)
    return repr(part) if name is None else f"{getattr(part, '__module__', '')}.{name}"


def search_texts(so_far: Trajectory) -> list[str]:
    """The query: the goal, a person's last message, the last thought, names of unknown tools.

    The unknown tools are those that the last step called.
    """
    words = [
        notice.text
        for step in (so_far.before, *so_far.steps)
        for notice in step.notices
        if isinstance(notice, Note) and notice.source == "person"
    ]
    step = so_far.step
    missed = [
        call.action.name
        for call in step.calls
        if call.observation is not None and call.observation.code == "unknown_tool"
    ]
    thought = "" if step.thought is None else step.thought.text
    return [text for text in (so_far.visible_goal, *words[-1:], thought, *missed) if text.strip()]
