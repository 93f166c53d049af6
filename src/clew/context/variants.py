"""Variants: what is changed for a family of models, and why.

A variant changes parts of an agent when it is made, and nothing afterwards. Whatever the agent was
given by its user stays as given.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from clew.codecs.interface import Codec, Shape
from clew.core.errors import ConfigError
from clew.core.interfaces import ToolSpec
from clew.support.parts import stable_name

Wording: TypeAlias = Mapping[str, str] | Callable[[ToolSpec], str]
"""Other descriptions of tools: by name, or as a function of the tool."""


def several(name: str, given: object) -> None:
    """Raise `ConfigError` where a text stands in the place of a tuple of texts."""
    if isinstance(given, str):
        message = f"{name} is one text: give a tuple of them, ({given!r},)"
        raise ConfigError(message)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Changes to the agent for models whose `provider:model` matches a pattern in `match`.

    Patterns are those of file names (`*`, `?`, `[...]`), ignoring case. `native` restricts it to
    native formats (True) or text formats (False).

    - `persona` replaces the default persona, but not one of the agent's own.
    - `constraints` are added to the agent's, unless its instructions are verbatim.
    - `codec` and `thought` count if the agent does not set them.
    - `wording` replaces descriptions of tools; `shape` is applied to each observation when it is
      shown.
    """

    name: str
    match: tuple[str, ...]
    native: bool | None = None
    persona: str = ""
    constraints: tuple[str, ...] = ()
    codec: Codec | str | None = None
    thought: bool | None = None
    wording: Wording | None = None
    shape: Shape | None = None

    def __post_init__(self) -> None:
        """Raise `ConfigError` for one text in the place of several."""
        several("match", self.match)
        several("constraints", self.constraints)

    def fits(self, model: str, *, native: bool) -> bool:
        """Whether it applies to this model in such a format."""
        named = any(fnmatchcase(model.lower(), pattern.lower()) for pattern in self.match)
        return named and self.native in {None, native}


def matching(variants: Iterable[Variant], model: str, *, native: bool) -> Variant | None:
    """The first that fits."""
    return next((one for one in variants if one.fits(model, native=native)), None)


def described(tool: ToolSpec, variant: Variant | None) -> ToolSpec:
    """The tool as the model is told of it."""
    if variant is None or variant.wording is None:
        return tool
    wording = variant.wording
    said = wording(tool) if callable(wording) else wording.get(tool.name, tool.description)
    return replace(tool, description=said)


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

_SMALL: Final = ("*[:/_-][0-9]b*", "*[:/_-][0-9].[0-9]b*")
"""Below ten billion parameters, by the name: the same model is sent the same, whoever serves it."""

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
        name="small, native",
        match=_SMALL,
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
        match=_SMALL,
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
