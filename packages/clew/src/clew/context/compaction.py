"""Compaction: what a model no longer sees of a run that outgrows its window.

One trigger, and then everything at once: each change of what was sent before costs the provider's
cache all that follows. Small functions (`Compactor`) say what is left out, in an order; what they
came to is recorded (`Compacted`), and nothing is decided twice. Old observations are masked before
anything else: published evidence says that it is as good as a summary, at half the cost
(https://arxiv.org/abs/2508.21433).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

from clew.context.draft import CHARACTERS, CompactionPlan, earlier_summary, rest, results
from clew.core.codec import VISIBLE_CHARS, Shape
from clew.core.contents import Observation, Usage
from clew.core.events import Compacted, Rewound
from clew.core.trajectory import Call, Trajectory
from clew.support.errors import ConfigError
from clew.support.parts import short_repr, stable_name, using, wrong
from clew.support.settings import check_fields
from clew.support.short_text import one_line

Compactor: TypeAlias = Callable[[CompactionPlan], None]
"""Leaves something out of a draft of the view; called until the draft fits, in the given order."""

DIGEST_CHARS: Final = 100
"""So much of an observation stays in its place: what it begins with."""

_WORTH: Final = 0.9
"""A draft that leaves more than this of the prompt is not worth a break of the cache."""

_SHARE: Final = 8
_MIN_VISIBLE: Final = 2_000
"""One observation is shown up to an eighth of the window, or so many characters."""

_SHORT: Final = 1_500
"""So much of an observation of the last steps stays where nothing else makes the prompt fit."""


# ----------------------------------------------------------------------------------- compactors


def duplicates(draft: CompactionPlan) -> None:
    """Of results that a later call gave again, show the last one only."""
    last: dict[tuple[str, str], Call] = {}
    for call, seen in reversed([pair for step in draft.steps for pair in results(step)]):
        again = last.setdefault((call.hash, seen.text), call)
        if again is not call:
            draft.cut(call, seen, f"[the same as the result of call {again.key}]")


def mask(draft: CompactionPlan) -> None:
    """Show one line in the place of each older observation; thoughts and calls stay."""
    for step in draft.older:
        for call, seen in results(step):
            draft.cut(call, seen, f"[{_begins(seen)}… ({rest(call, seen)})]")


def extract(draft: CompactionPlan) -> None:
    """Show the lines of each older observation that have words of the question."""
    for step in draft.older:
        for call, seen in results(step):
            lines = draft.salient(seen.text) or _begins(seen)
            draft.cut(call, seen, f"{lines}\n[… {rest(call, seen)}]")


def drop(draft: CompactionPlan) -> None:
    """Leave out the oldest steps, as many as it takes.

    A line for each effect stays, and so do a person's words and the evidence that was cited.
    """
    for step in draft.older:
        if draft.fits:
            return
        draft.leave_out(step)


def summary(draft: CompactionPlan) -> None:
    """As `drop`; what a model writes of the steps that are left out stands in their place.

    It is asked with the prompt that is to be made shorter, so that the provider's cache holds it.
    """
    drop(draft)


COMPACTORS: Final[Mapping[str, Compactor]] = {
    one.__name__: one for one in (duplicates, mask, extract, drop, summary)
}
"""Those that ship, by name."""


def shorten(draft: CompactionPlan) -> None:
    """Show the beginnings of long observations in the last steps: where there is no other way."""
    for step in draft.steps:
        for call, seen in results(step):
            draft.cut(call, seen, f"{seen.text[:_SHORT]}\n[… {rest(call, seen)}]")


def _begins(seen: Observation) -> str:
    """What an observation begins with, on one line."""
    return one_line(seen.text[: 2 * DIGEST_CHARS])[:DIGEST_CHARS]


def asks_model(less: Compacted | Rewound | None, trajectory: Trajectory) -> bool:
    """Whether a model is to summarise what is left out."""
    if not isinstance(less, Compacted) or summary.__name__ not in less.by.split("+"):
        return False
    return less.upto > trajectory.omitted.upto


# ------------------------------------------------------------------------------------- settings


@dataclass(frozen=True)
class Compaction:
    """When the prompt of a run is made shorter, and how.

    Once the next prompt and its reply are expected to take more than the share `at` of the model's
    `window` (in tokens; None: what is known of the model), the compactors of `by` leave out what
    they can, until the share `to` is left; the last `keep` steps stay as they are. Where the window
    is not known, a prompt that the provider finds too long is made shorter.

    Raises `ConfigError` for a share that is none, or a compactor that is not known.
    """

    by: tuple[Compactor | str, ...] = ("duplicates", "mask", "drop")
    at: float = 0.92
    to: float = 0.15
    keep: int = 3
    window: int | None = None

    def __post_init__(self) -> None:
        """Raise `ConfigError` for what cannot be meant."""
        check_fields(self)
        by = cast("object", self.by)
        if isinstance(by, str):
            raise ConfigError(
                f"compaction by is one text: give a tuple, ({self.by!r},)", field="by"
            )
        if not isinstance(by, Iterable):
            raise ConfigError(
                f"compaction by is {short_repr(by)}: give a tuple of them", field="by"
            )
        for name in self.by:
            if isinstance(name, str) and name not in COMPACTORS:
                known = ", ".join(COMPACTORS)
                message = f"there is no compactor {name!r}: choose among {known}"
                raise ConfigError(message, field="by")
        if not 0 < self.to < self.at <= 1:
            message = f"compaction at {self.at:g}, to {self.to:g}: give shares, 0 < to < at <= 1"
            raise ConfigError(message, field="at" if not 0 < self.at <= 1 else "to")
        if self.keep < 1 or (self.window is not None and self.window < 1):
            message = f"compaction keep={self.keep}, window={self.window}: give numbers over 0"
            raise ConfigError(message, field="keep" if self.keep < 1 else "window")

    def __repr__(self) -> str:
        """As the record names it."""
        window = "" if self.window is None else f", window={self.window}"
        return f"Compaction({self.names}, at={self.at:g}, to={self.to:g}, keep={self.keep}{window})"

    @property
    def names(self) -> str:
        """The names of its compactors."""
        return "+".join(one if isinstance(one, str) else stable_name(one) for one in self.by)


def visible_characters(window: int | None) -> int:
    """How much of one observation is shown at most, with a window of so many tokens."""
    if window is None:
        return VISIBLE_CHARS
    return min(VISIBLE_CHARS, max(_MIN_VISIBLE, window * CHARACTERS // _SHARE))


@dataclass(frozen=True)
class Compacting:
    """A compaction for one agent: the settings, the model's window, and what the view does.

    `opening` are the tokens of the first prompt without its question, `visible_chars` the
    characters that are shown of an observation at most.
    """

    settings: Compaction
    window: int | None
    opening: int
    shape: Shape | None
    visible_chars: int | None

    def due(self, trajectory: Trajectory, call: Usage) -> Compacted | None:
        """What to leave out before a prompt is sent whose call is expected to take so much."""
        prompt, reply = call.input, call.output
        if self.window is None or prompt + reply <= self.settings.at * self.window:
            return None
        why = f"the next prompt of about {prompt:,} tokens, of a window of {self.window:,}"
        return self._smaller(trajectory, prompt, self.window - reply, why)

    def forced(self, trajectory: Trajectory, prompt: int) -> Compacted | None:
        """What to leave out of a prompt that the provider found too long; None: nothing."""
        if trajectory.step.notices and isinstance(trajectory.step.notices[-1], Compacted):
            return None
        room = prompt if self.window is None else min(prompt, self.window)
        return self._smaller(
            trajectory, prompt, room // 2, "the provider found the prompt too long"
        )

    def _smaller(
        self, trajectory: Trajectory, prompt: int, room: int, why: str
    ) -> Compacted | None:
        """The first draft that fits: with as many of the last steps as shall be kept, or fewer."""
        if not self.settings.by:
            return None
        target, keep = int(self.settings.to / self.settings.at * room), self.settings.keep
        draft = self._draft(trajectory, prompt, target, keep)
        while not draft.fits and keep > 1:
            keep -= 1
            draft = self._draft(trajectory, prompt, target, keep)
        if draft.tokens > self.settings.at * room:
            shorten(draft)
        if draft.tokens > _WORTH * prompt:
            return None
        return Compacted(
            self.settings.names,
            why,
            draft.tokens,
            draft.new_cuts,
            draft.upto,
            draft.account,
            earlier_summary(trajectory),
        )

    def _draft(self, trajectory: Trajectory, prompt: int, target: int, keep: int) -> CompactionPlan:
        """A draft, with all left out that the compactors leave out of it."""
        draft = CompactionPlan(
            trajectory, target, keep, prompt, self.opening, self.shape, self.visible_chars
        )
        for one in self.settings.by:
            if isinstance(one, str):
                COMPACTORS[one](draft)
                continue
            with using(who := f"the compactor {stable_name(one)}"):
                gave: object = one(draft)
            if gave is not None:
                raise wrong(who, gave, "nothing, and change the draft at once")
        return draft
