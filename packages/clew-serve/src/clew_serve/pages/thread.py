"""A run as a thread: what each of its entries looks like, without its record as a whole."""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from markupsafe import Markup, escape

from clew import Entry, Evidence, Image
from clew.citations import citations
from clew.guards import describe_origin
from clew.interfaces import (
    Action,
    AnyEvent,
    Changed,
    Forked,
    Judged,
    Started,
    Stop,
    Thought,
    encode,
)
from clew_serve.pages.rendering import entire_fragment, fragment
from clew_serve.pages.safe_html import ENTIRE, LONG, cut, html, path, short

MAX_PARTS: Final = 30
"""So many calls, pieces of evidence or pictures of one entry are listed; the rest is counted."""

PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Pictures that a browser may show: none of them can hold a script."""

_OWN: Final = frozenset({
    "started", "thought", "attempt", "observation", "judged", "ruling", "note", "stop",
})  # fmt: skip
_UNTOLD: Final = frozenset({"event", "spec", "origin", "grant", "state", "images"})
"""What of an entry is for programs."""


@dataclass(frozen=True)
class Part:
    """A call that a thought asks for, with its key and its tool's effect."""

    key: str
    action: Action
    effect: str


@dataclass(frozen=True)
class Item:
    """An entry, as its template takes it; `kind` is that of its event."""

    run_id: str
    entry: Entry
    kind: str
    step: int | None
    parts: list[Part]
    evidence: list[Evidence]
    tool: str = ""
    more: int = 0
    """How many parts or pieces of evidence are left out."""

    @property
    def event(self) -> Any:
        """What happened."""
        return self.entry.event

    @property
    def key(self) -> str:
        """The call that it is about, or ""."""
        return key_of(self.entry.event)

    @property
    def has_template(self) -> bool:
        """Whether its kind is drawn by itself."""
        return self.kind in _OWN

    @property
    def text(self) -> str:
        """The text of a message or result; else ""."""
        text = getattr(self.entry.event, "text", "")
        return text if isinstance(text, str) else ""

    @property
    def question(self) -> str:
        """The words of a question; else ""."""
        return self.entry.event.words if isinstance(self.entry.event, Started) else ""

    @property
    def is_long(self) -> bool:
        """Whether the page may not have all of it: then it leads to the entry itself."""
        return self.more > 0 or len(encode(self.entry.event)) > LONG

    @property
    def pictures(self) -> list[tuple[int, str]]:
        """The pictures that it can show: the number of each, and what it says."""
        return [
            (number, each.text)
            for number, each in enumerate(attachments_of(self.entry.event)[:MAX_PARTS])
            if isinstance(each, Image) and each.media_type in PICTURES
        ]

    @property
    def attached(self) -> list[str]:
        """The media types of what it cannot show."""
        every = attachments_of(self.entry.event)[:MAX_PARTS]
        drawn = {number for number, _ in self.pictures}
        return [each.media_type for number, each in enumerate(every) if number not in drawn]

    @property
    def cited(self) -> list[tuple[str, Evidence]]:
        """The evidence that it brings, each with the id of its element."""
        return [(anchor(each.doc_id), each) for each in self.evidence]

    @property
    def origins(self) -> list[tuple[str, str, bool]]:
        """Of each argument of a judged call: its name, who gave its value, and if it is doubted."""
        event = self.entry.event
        if not isinstance(event, Judged):
            return []
        return [
            (name, describe_origin(origin), origin.doubtful)
            for name, origins in event.verdict.origins.items()
            for origin in origins
        ][:MAX_PARTS]

    @property
    def fields(self) -> list[tuple[str, Any]]:
        """The fields of an event that has no template, with what they hold."""
        fields: dict[str, Any] = msgspec.to_builtins(self.entry.event)
        return [(name, value) for name, value in fields.items() if name not in _UNTOLD]


@dataclass
class Thread:
    """What is known of a run while its entries go by: the step, its tools, its evidence.

    `step` is that of the entry before, None where it is not known. `alone` is one in a file of its
    own: nothing in it leads to a server, and its texts are not cut.
    """

    run_id: str
    effects: Mapping[str, str]
    step: int | None = 0
    alone: bool = False
    forks: bool = False
    """Whether each step leads to the form that forks the run there."""
    prompts: bool = True
    """Whether each step leads to its prompt."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    sources: dict[str, str] = field(default_factory=dict[str, str])

    def items(self, entries: Iterable[Entry]) -> Iterator[Item]:
        """Each entry as it is to be drawn."""
        listed = list(entries)
        if self.step is None:
            self.step = _step_before(listed)
        for entry in listed:
            yield self._item(entry)

    def drawn(self, entries: Iterable[Entry]) -> Markup:
        """The entries as HTML."""
        draw = entire_fragment if self.alone else fragment
        return Markup("").join(
            draw("entry.html", item=item, thread=self) for item in self.items(entries)
        )

    def picture(self, item: Item, number: int) -> Markup:
        """The address of a picture, which has the picture itself in a file of its own."""
        if not self.alone:
            address = "/runs/{}/picture?entry={}&number={}"
            return escape(address.format(path(self.run_id), item.entry.seq, number))
        image: Image = attachments_of(item.event)[number]
        return Markup("data:{};base64,{}").format(image.media_type, b64encode(image.data).decode())

    def cited(self, answer: Any) -> Markup:
        """An answer with its citations as links to the evidence."""
        limit = ENTIRE if self.alone else LONGEST
        if not isinstance(answer, str):
            return html(answer, max(limit, LONG))
        pieces: list[Markup] = []
        end = 0
        names: dict[tuple[int, int], list[str]] = {}
        for each in citations(answer[:limit], self.sources):
            names.setdefault((each.start, each.end), []).append(each.doc_id)
        for (start, stop), ids in sorted(names.items()):
            pieces += [cut(answer[end:start], limit), *map(self._citation, ids)]
            end = stop
        return Markup("").join([*pieces, cut(answer[end:], max(0, limit - end))])

    def _citation(self, doc_id: str) -> Markup:
        known = doc_id in self.sources
        return Markup('<a class="cite{}" href="#{}">{}</a>').format(
            " known" if known else "", anchor(doc_id), short(doc_id)
        )

    def _item(self, entry: Entry) -> Item:
        event = entry.event
        parts = list[Part]()
        if isinstance(event, Changed | Forked):
            self.effects = effects_of(event)
        if isinstance(event, Thought):
            self.step = None if self.step is None else self.step + 1
            parts = [self._part(number, each) for number, each in enumerate(event.actions, 1)]
            self.names.update((part.key, part.action.name) for part in parts)
        every: tuple[Evidence, ...] = getattr(event, "evidence", ())
        self.sources.update((each.doc_id, each.source) for each in every)
        key = key_of(event)
        return Item(
            self.run_id, entry, type(event).__name__.lower(), self.step, parts[:MAX_PARTS],
            [*every[:MAX_PARTS]], getattr(event, "tool", "") or self.names.get(key, ""),
            max(0, len(parts) - MAX_PARTS) + max(0, len(every) - MAX_PARTS),
        )  # fmt: skip

    def _part(self, number: int, action: Action) -> Part:
        step = "?" if self.step is None else self.step
        return Part(f"{step}.{number}", action, self.effects.get(action.name, ""))


LONGEST: Final = 40_000
"""Characters of an answer that a page shows."""


def anchor(doc_id: str) -> str:
    """The id of the element that has this evidence, whatever is in the name."""
    return f"e-{hashlib.sha256(doc_id.encode('utf-8', 'replace')).hexdigest()[:16]}"


def effects_of(event: AnyEvent) -> dict[str, str]:
    """What the tools of an agent do to the world, by their names."""
    if not isinstance(event, Started | Changed | Forked):
        return {}
    return {name: str(tool.effect) for name, tool in event.spec.tools.items()}


def attachments_of(event: AnyEvent) -> tuple[Any, ...]:
    """What an event has beside words."""
    attached: tuple[Any, ...] = getattr(event, "attachments", ())
    return attached


def key_of(event: AnyEvent) -> str:
    """The call that an event is about, or ""."""
    return str(getattr(event, "call", ""))


def status_in(event: AnyEvent) -> str:
    """The status that an event leaves a run in, or ""."""
    return event.status if isinstance(event, Stop) else ""


def _step_before(entries: list[Entry]) -> int | None:
    """The step before the first of these entries, by the first call that they name."""
    thoughts = 0
    for entry in entries:
        if isinstance(entry.event, Thought):
            thoughts += 1
        number = key_of(entry.event).partition(".")[0]
        if number.isdecimal() and number.isascii():
            return max(0, int(number[:9]) - thoughts)
    return None
