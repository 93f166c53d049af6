"""What people, models and tools say, and what that takes: questions, replies, observations."""

from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

import msgspec

from clew.core.actions import PlannedCall, UnknownCall
from clew.core.codes import UNMADE, Code, Effect, Finish, Outcome, Trust, error_words
from clew.core.values import Event, Json, Value, encode

_NO_PRICE: Final = (None, None, 0.0, 0.0)
"""Costs of two usages, and what is known of each, where no price is."""


class Usage(Value, frozen=True):
    """Tokens of model replies, and their `cost` in US dollars (None if a price is unknown).

    `input` counts all prompt tokens: `cached` of them were read from the provider's cache,
    `written` were added to it. `reasoning` is the part of `output` that was hidden reasoning.
    `estimated` marks figures that the provider did not report. `min_cost` is the known part of a
    sum whose `cost` is unknown.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    cost: float | None = None
    estimated: bool = False
    written: int = 0
    min_cost: float = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        """Sum of two usages; what took tokens at an unknown cost makes that of the sum unknown."""
        cost, min_cost = None, 0.0
        if self.cost is not None and other.cost is not None:
            cost = max(0.0, self.cost) + max(0.0, other.cost)
        elif (self.cost, other.cost, self.min_cost, other.min_cost) != _NO_PRICE:
            min_cost = self.known_cost + other.known_cost
            if not (self.unpriced or other.unpriced) and (self.cost, other.cost) != (None, None):
                cost, min_cost = min_cost, 0.0
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cached=self.cached + other.cached,
            reasoning=self.reasoning + other.reasoning,
            cost=cost,
            estimated=self.estimated or other.estimated,
            written=self.written + other.written,
            min_cost=min_cost,
        )

    @property
    def known_cost(self) -> float:
        """The US dollars certainly spent: the cost, or its lower bound."""
        known = self.min_cost if self.cost is None else self.cost
        return known if known > 0 else 0.0

    @property
    def unpriced(self) -> bool:
        """Whether some tokens have an unknown cost."""
        return self.cost is None and self.tokens > 0

    @property
    def tokens(self) -> int:
        """Input and output tokens together; what a stranger's record counts below 0 is none."""
        if self.input >= 0 <= self.output:
            return self.input + self.output
        return max(0, self.input) + max(0, self.output)


class RawCall(Value, frozen=True, kw_only=True):
    """A call as the provider wrote it: its id, the tool's name and the arguments' text, verbatim.

    `arguments` is None if the provider left the key out; the record keeps long ones in the blob
    `blob`. Of those that are longer than any may be only the beginning is kept: they had `size`
    bytes, and `digest` is their SHA-256.
    """

    name: str
    arguments: str | None = None
    id: str = ""
    blob: str = ""
    size: int = 0
    digest: str = ""


class Wire(Value, frozen=True):
    """Items only the model that wrote them can read (reasoning, signatures), kept verbatim."""

    provider: str
    model: str
    items: Json = None


class Adapted(Value, frozen=True):
    """How requests to `model` (`provider:model`) differ from their prompts in this run.

    `what` names what the provider refused, and what is left out or repaired since then.
    """

    model: str
    what: tuple[str, ...] = ()


class Undercounted(Value, frozen=True):
    """What a server's count of a prompt cannot be: that of the whole.

    `prompt` estimates the tokens of the prompt. With `cut` the server probably cut the prompt off;
    else it may have counted only what was new in it.
    """

    prompt: int
    cut: bool = False


class Reply(Value, frozen=True):
    """What a model sent back, before any codec parses it.

    `reasoning` is thinking that came as separate text; it is kept for people and never sent back.
    `mended` names what had to be repaired to read it. `note` is a remark for people beside the
    answer; it is not part of the text, and never sent back. `ending` quotes the provider's word for
    how the reply ended where `finish` is "cut" because of it ("null": it had to say, and did not;
    "too_long": clew cut it off).
    `adapted` says how its request differed from the prompt, which later requests of the run do too.
    `undercounted` has an estimate of the prompt where `usage` counts far fewer tokens of it.
    """

    text: str = ""
    calls: tuple[RawCall, ...] = ()
    finish: Finish = "stop"
    usage: Usage = Usage()
    model: str = ""
    wire: Wire | None = None
    reasoning: str = ""
    mended: tuple[str, ...] = ()
    note: str = ""
    ending: str = ""
    adapted: Adapted | None = None
    undercounted: Undercounted | None = None

    @property
    def prompt_tokens(self) -> int:
        """The tokens of its prompt: as they were counted, or else as they are estimated."""
        return self.usage.input if self.undercounted is None else self.undercounted.prompt

    @property
    def warning(self) -> str:
        """What a person should know of a prompt that the server probably cut off; else ""."""
        problem = self.undercounted
        if problem is None or not problem.cut:
            return ""
        return (
            f"{self.model or 'the model'} counted {self.usage.input:,} tokens of a prompt of about "
            f"{problem.prompt:,}: its server probably cut the prompt off. Give it a longer context "
            "(Ollama: num_ctx, or OLLAMA_CONTEXT_LENGTH), or tell clew how long it is (--window N, "
            "Compaction(window=N)), so that the run is made shorter instead"
        )


class Text(Value, frozen=True, tag="text", tag_field="type"):
    """A part of a question, or of a message: words."""

    text: str


def _check_bytes(part: "Image | Audio | File") -> None:
    data: Any = part.data  # whatever somebody gave
    if not isinstance(data, bytes):
        message = (
            f"the data of {type(part).__name__}({part.media_type!r}, …) are of the type "
            f"{type(data).__name__}: give the bytes of its file"
        )
        raise TypeError(message)


class Image(Value, frozen=True, tag="image", tag_field="type"):
    """A picture in a question, or in what a tool returned.

    `media_type` is for example "image/png"; `text` says what it is, and is all that models without
    vision get. The record keeps its bytes once per content, in `blob`. Raises
    `TypeError` for data that are no bytes.
    """

    media_type: str
    data: bytes = b""
    text: str = ""
    blob: str = ""

    def __post_init__(self) -> None:
        """Raise `TypeError` for data that are no bytes."""
        _check_bytes(self)


class Audio(Value, frozen=True, tag="audio", tag_field="type"):
    """A recording in a question, or in what a tool returned.

    `text` is what was spoken, for models that cannot hear. Raises `TypeError`
    for data that are no bytes.
    """

    media_type: str
    data: bytes = b""
    text: str = ""
    blob: str = ""

    def __post_init__(self) -> None:
        """Raise `TypeError` for data that are no bytes."""
        _check_bytes(self)


class File(Value, frozen=True, tag="file", tag_field="type"):
    """A document in a question, or in what a tool returned.

    `text` is what it says, for models that cannot read it as it is. Raises `TypeError`
    for data that are no bytes.
    """

    media_type: str
    data: bytes = b""
    text: str = ""
    blob: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        """Raise `TypeError` for data that are no bytes."""
        _check_bytes(self)


Attachment: TypeAlias = Image | Audio | File
"""What may stand in a question, or in a result, beside words."""

Asked: TypeAlias = tuple[Text | Image | Audio | File, ...]
"""The parts of a question or a message."""


def text_parts(text: str) -> Asked:
    """A question or message that is one text."""
    return (Text(text),)


def text_of(parts: Asked) -> str:
    """A question or message as text, with an empty line between two parts."""
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return "\n\n".join([part.text if isinstance(part, Text) else _named(part) for part in parts])


def attachments_of(parts: Asked) -> tuple[Attachment, ...]:
    """What stands in a question or message beside words, in order."""
    return tuple(part for part in parts if not isinstance(part, Text))


def _named(part: Attachment) -> str:
    """What a person's words say of an attachment: nothing that its author could have written."""
    about = part.media_type if isinstance(part, File) else part.text or part.media_type
    return f"[attached: {about}]"


class Evidence(Value, frozen=True):
    """A piece of evidence in an observation, which an answer may cite as `[doc_id]`.

    `score` is in [0, 1]; `offset` is where `text` begins in its source, in characters.
    """

    doc_id: str
    text: str
    score: float = 0.0
    source: str = ""
    offset: int = 0


class Handed(Value, frozen=True):
    """What a run and its sub-run tell each other of where values come from (`guards.Provenance`).

    Down go the `level` of the guard, a person's `words`, the planned calls that are left (None: no
    plan was asked for), and whether the run has `read` what others wrote. Both ways go the values
    that are `known` in the task or the answer, those in it that are secret, and calls that were
    made or refused since the person last spoke, with what they were asked about those.
    """

    level: Literal["off", "standard", "strict"] = "off"
    words: tuple[str, ...] = ()
    known: tuple[Json, ...] = ()
    secrets: tuple[str, ...] = ()
    planned: tuple[PlannedCall, ...] | None = None
    made: tuple[PlannedCall, ...] = ()
    refused: tuple[PlannedCall, ...] = ()
    refused_why: tuple[tuple[str, str], ...] = ()
    read: bool = False


class Grant(Value, frozen=True):
    """What a sub-run may spend of its parent's budget; `depth` is how deep it may delegate.

    `cost` is in US dollars, None if no price is known; `seconds` of work. `caps` are its part
    of what all runs of a strategy may call together: of a tool, by its name; `*` of all that have
    an effect. `handed` is what a guard above it knows.
    """

    steps: int
    tool_calls: int
    tokens: int
    seconds: float
    cost: float | None = None
    depth: int = 0
    caps: dict[str, int] = {}
    handed: Handed | None = None


class Spending(Value, frozen=True):
    """What a sub-run took, with all that it had handed on: the rest of its grant comes back.

    `made` are its calls, by the names of the `caps` that it was granted, and `handed` what the
    guard above it should know.
    """

    steps: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    made: dict[str, int] = {}
    handed: Handed | None = None


class Observation(Event, frozen=True, gc=True, dict=True):  # it keeps its text
    """The result of one call; each call has exactly one.

    `content` is text or JSON; if it is too large for a line of the record, it is kept in the blob
    `blob` and restored on reading. `outcome` says what is known about the effect. `detail` is for
    people (a traceback). A tool may return an observation without `call` to set all of this.
    `attachments` are the pictures, recordings and files that the tool returned; `content` has a
    caption in the place of each. `spent` is what a sub-run spent. `versions` are those of the files
    that the call read or wrote. `outside`: the tool is trusted, and says that this result is not.
    `unknown` are the calls of a sub-run, and of those below it, whose outcome nobody knows.
    """

    call: str = ""
    content: Json = ""
    ok: bool = True
    code: Code = ""
    outcome: Outcome = "done"
    effect: Effect = "read"
    trust: Trust = "untrusted"
    evidence: tuple[Evidence, ...] = ()
    detail: str = ""
    blob: str = ""
    attachments: tuple[Image | Audio | File, ...] = msgspec.field(
        default=(),
        name="images",  # as records have called it from the beginning
    )
    spent: Spending | None = None
    versions: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    outside: bool = False
    unknown: tuple[UnknownCall, ...] = ()

    @property
    def made(self) -> bool:
        """Whether the tool was called."""
        return self.code not in UNMADE

    @property
    def text(self) -> str:
        """The content as a model reads it: text unchanged, anything else as compact JSON."""
        return self.content if isinstance(self.content, str) else self._json

    @property
    def words(self) -> str:
        """The text without what marks it as an error."""
        return self.text if self.ok else error_words(self.code, self.text)

    @cached_property
    def _json(self) -> str:
        return encode(self.content).decode()
