"""Variants: what is changed for a family of models, and why.

A variant changes parts of an agent when it is made, and nothing afterwards. Whatever the agent was
given by its user stays as given.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, Literal, TypeAlias

from clew.core.codec import Codec, Shape
from clew.core.models import ModelInfo
from clew.core.tools import ToolSpec
from clew.support.errors import ConfigError
from clew.support.parts import stable_name
from clew.support.settings import check_fields

Wording: TypeAlias = Mapping[str, str] | Callable[[ToolSpec], str]
"""Other descriptions of tools: by name, or as a function of the tool."""


def several(name: str, values: object) -> None:
    """Raise `ConfigError` where a text stands in the place of a tuple of texts."""
    if isinstance(values, str):
        message = f"{name} is one text: give a tuple of them, ({values!r},)"
        raise ConfigError(message)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Changes to the agent for models whose `provider:model` matches a pattern in `match`.

    Patterns are those of file names (`*`, `?`, `[...]`), ignoring case. `below` restricts it to
    models that are known to have fewer billion weights, by their name or their file. `native`
    restricts it to native formats (True) or text formats (False).

    - `persona` replaces the default persona, but not one of the agent's own.
    - `constraints` are added to the agent's, unless its instructions are verbatim.
    - `codec`, `no_progress`, and what `Instructions` has by the same name (`thought`, `examples`,
      `short`, `repeat_question`, `strict_landing`, `raw_replies`, `outcome`) count if the agent
      does not set them.
    - `wording` replaces descriptions of tools; `shape` is applied to each observation when it is
      shown.
    """

    name: str
    match: tuple[str, ...] = ("*",)
    below: float | None = None
    native: bool | None = None
    persona: str = ""
    constraints: tuple[str, ...] = ()
    codec: Codec | str | None = None
    thought: bool | None = None
    examples: int | None = None
    short: bool | None = None
    repeat_question: bool | None = None
    strict_landing: bool | None = None
    raw_replies: bool | None = None
    outcome: bool | None = None
    no_progress: Literal["early", "late"] | None = None
    wording: Wording | None = None
    shape: Shape | None = None

    def __post_init__(self) -> None:
        """Raise `ConfigError` for one text in the place of several."""
        check_fields(self)
        several("match", self.match)
        several("constraints", self.constraints)

    def fits(self, model: ModelInfo, *, native: bool | None) -> bool:
        """Whether it applies to this model in such a format; None is one that nobody has set."""
        name, size = model.name.lower(), model.billions
        if not any(fnmatchcase(name, pattern.lower()) for pattern in self.match):
            return False
        if self.below is not None:
            size = billions_in(name) if size is None else size
            if size is None or size >= self.below:
                return False
        if native is None:
            return self.native in {None, True} or self.codec is not None
        return self.native in {None, native}


_SIZE: Final = re.compile(r"(?<![a-z0-9.])e?(?:(\d{1,3}(?:\.\d{1,2})?)b|(\d{2,3})m)(?![a-z])")


def billions_in(model: str) -> float | None:
    """How many billion weights a model has, by its name; None where that says nothing."""
    match = _SIZE.search(model.lower().rpartition("/")[2])
    if match is None:
        return None
    return float(match[1]) if match[1] else int(match[2]) / 1_000


def matching(
    variants: Iterable[Variant], model: ModelInfo, *, native: bool | None
) -> Variant | None:
    """The first that fits."""
    return next((one for one in variants if one.fits(model, native=native)), None)


def described(tools: Iterable[ToolSpec], variant: Variant | None) -> list[ToolSpec]:
    """The tools as the model is told of them."""
    wording = None if variant is None else variant.wording
    if wording is None:
        return [*tools]
    words = {
        tool.name: wording(tool) if callable(wording) else wording.get(tool.name, tool.description)
        for tool in tools
    }
    return [replace(tool, description=words[tool.name]) for tool in tools]


# ----------------------------------------------------------------------------- what is shown

FIRST: Final = 6_000
LAST: Final = 2_000
"""How much of a long observation a small model is shown, in characters, of its two ends."""


def shortened(text: str) -> str:
    """The two ends of a long text, and how much was left out between them."""
    left_out = len(text) - FIRST - LAST
    if left_out <= 0:
        return text
    return f"{text[:FIRST]}\n[{left_out:,} characters left out here]\n{text[-LAST:]}"


SHAPES: Final[Mapping[str, Shape]] = {stable_name(shape): shape for shape in (shortened,)}
"""The shapes that ship, by the names that the record knows them by."""


# ----------------------------------------------------------------------------- what ships

TINY: Final = 4.0
SMALL: Final = 10.0
"""Billions of weights: the same model is sent the same, whoever serves it."""

_IN_THE_FIELD: Final = (
    "Make a call in the field for calls only: never write it in the text as well."
)
_CALL_OR_ANSWER: Final = (
    "Every reply is either a call or the answer: never empty, and never the announcement of a call "
    "that you do not make."
)
_AT_ONCE: Final = (
    "Begin each reply with the first label of the form, without a word ahead of it, and write "
    "labels and brackets exactly as shown."
)
_TOGETHER: Final = "Calls that do not need each other's results may stand together in one reply."

VARIANTS: Final = (
    Variant(
        name="tiny, text",
        below=TINY,
        native=False,
        # A 1.5B model that was asked natively told of calls and invented their results; of objects
        # that a schema held, none of 134 was malformed. Two examples made 7 right answers of 5;
        # what four of them, and the few lines, are worth, lab/reports/live.md says.
        codec="json",
        examples=4,
        short=True,
        repeat_question=True,
        strict_landing=True,
        raw_replies=True,
        outcome=False,  # what was measured was not asked for it
        no_progress="early",
        shape=shortened,
    ),
    Variant(
        name="tiny, native",
        below=TINY,
        native=True,
        # With one line ahead of the question 7 of 7 first replies were calls, with clew's usual
        # prompt 3 of 15. Examples do harm: it announces a call, and stops.
        thought=False,
        short=True,
        repeat_question=True,
        strict_landing=True,
        outcome=False,  # what was measured was not asked for it
        no_progress="early",
        shape=shortened,
    ),
    Variant(
        name="small, native",
        below=SMALL,
        native=True,
        # Of the replies of a 7B model 16 % were no use: text beside a call, or nothing at all.
        # To be asked for text with each call invites an announcement without its call, and in a
        # native format text alone is the answer.
        thought=False,
        constraints=(
            _CALL_OR_ANSWER,
            _IN_THE_FIELD,
        ),
        # Observations have a median of at most 1,000 bytes and a 95th percentile of 2 to 7 kB, but
        # the longest had 32 kB, which is more than the window that small models are served with.
        shape=shortened,
    ),
    Variant(
        name="small, text",
        below=SMALL,
        native=False,
        shape=shortened,  # for the same reason
    ),
    Variant(
        name="qwen",
        match=("*qwen*", "*qwq*"),
        native=True,
        # 235 recorded replies held the same call natively and as text.
        constraints=(_IN_THE_FIELD,),
    ),
    Variant(
        name="llama",
        match=("*llama-3*", "*llama3*", "*llama-4*", "*llama4*"),
        native=False,
        # 7.7 % of the replies of llama-3.3-70b did not fit the format: prose ahead of the action,
        # other brackets than those asked for, two actions in one reply. The formats say already
        # that one action is enough.
        constraints=(_AT_ONCE,),
    ),
    Variant(
        name="gemini",
        match=("*gemini*",),
        native=False,
        # Every reply of gemini-2.0 stood in a code fence: 24 % could not be read by the parser of
        # the time. Ours takes fences away; what is not written need not be.
        constraints=("Write plain lines: never put a reply in a code fence (```).",),
    ),
    Variant(
        name="gpt",
        match=("*gpt-*", "openai:o[0-9]*"),
        native=True,
        # Nothing to forbid: of its text replies (gpt-4o) each could be read, and of 6,023 recorded
        # native calls none was malformed. Up to 12 calls stood in one reply: that may be asked for.
        constraints=(_TOGETHER,),
    ),
    Variant(
        name="claude",
        match=("*claude*",),
        native=True,
        # Text beside a call is normal for it, without being asked for; and 92 to 100 % of native
        # turns come without a thought, which is no fault.
        thought=False,
        constraints=(_TOGETHER,),
    ),
)
"""The variants that ship, each with the observation it is based on."""
