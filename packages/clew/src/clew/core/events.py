"""The vocabulary of the record: frozen, tagged values and their one encoding.

An event says what happened; the entry around it says where and when. Nothing here does anything,
and nothing here knows a run id, a clock or a store.
"""

from functools import cached_property
from typing import Final, Literal, TypeAlias

import msgspec

from clew.support import json_values

SCHEMA: Final = 1
"""Version of what events mean, in `Started.schema`.

A new kind of event, or a new value of a closed list, needs no new number: a clew that does not know
it refuses to read the record. Nor does a new field that a reader may ignore. The number rises only
if what is there already comes to mean something else.
"""

FINISH: Final = "finish"
"""Name of the tool that ends a run."""

OUTCOME: Final = "outcome"
"""The argument of `finish` in which a model says what came of its task."""

RUN_CODE: Final = "run_code"
"""Name of the tool that runs a program: the other tools are functions in it."""

ACTING: Final = "*"
"""The cap on all calls with an effect, whatever their tools."""

Json: TypeAlias = json_values.Json
"""A JSON value: None, bool, int, float, str, list or dict with str keys."""

Finish: TypeAlias = Literal["stop", "calls", "declined", "length", "filter", "refusal", "cut"]
"""How a reply ended: complete (`stop`, `calls`; `declined` says that the model cannot answer, and
its text may show what was found), or cut by a limit, a filter, a refusal, a lost connection."""

TOO_LONG: Final = "too_long"
"""`Reply.ending` of a reply that clew cut off, since it was longer than any may be."""

Effect: TypeAlias = Literal["pure", "read", "idempotent", "unsafe"]
Trust: TypeAlias = Literal["trusted", "untrusted"]
Outcome: TypeAlias = Literal["done", "not_done", "unknown"]
AnswerOutcome: TypeAlias = Literal["answered", "done", "not_done", "not_found"]
"""What a model says came of its task (`finish`): it is answered; what was asked is changed, or is
not; it was looked for in vain."""
Status: TypeAlias = Literal[
    "answered", "declined", "bound", "held", "refused", "failed", "interrupted"
]
"""How a run ended; `declined` means that the model said it cannot answer."""
ChargeKind: TypeAlias = Literal["lost_reply", "left", "failed", "time_up", "critic", "screen"]
"""What is charged: a reply that a worker may have asked for, and died; nothing, since the worker
left between two steps; what the worker may have asked for in vain, when the model or the store
failed it; a call that was cut because the run's time was up; what a critic took, or a screen."""
Code: TypeAlias = Literal[
    "",
    "unknown_tool",
    "invalid_arguments",
    "repeated_same_tool_call_too_many_times",
    "timeout",
    "tool_error",
    "crashed",
    "bad_output",
    "denied",
    "cap",
    "unknown",
    "rejected",
    "interrupted",
    "sibling_failed",
    "same_call",
    "not_kept",
    "declined",
    "waits",
    "contradicted",
]
"""The closed list of what can be wrong with an observation; empty if nothing is."""

_MARK: Final = "ERROR: "

UNMADE: Final[frozenset[Code]] = frozenset({
    "unknown_tool", "invalid_arguments", "repeated_same_tool_call_too_many_times", "denied", "cap",
    "interrupted", "sibling_failed", "same_call", "not_kept", "waits",
})  # fmt: skip
"""Codes of calls that were refused, or put off, before anything was called."""

EFFECTFUL: Final[frozenset[Effect]] = frozenset({"idempotent", "unsafe"})


def error_text(code: Code, text: str) -> str:
    """What a model reads of a call that has no result."""
    return f"{_MARK}{code}: {text}" if code else f"{_MARK}{text}"


def error_words(code: Code, text: str) -> str:
    """The text without the mark that `error_text` put before it."""
    return text.removeprefix(_MARK).removeprefix(f"{code}: ")


class Value(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=False):
    """Base of the plain values inside events.

    What is frozen is in no cycle, so the garbage collector need not look at it: with many runs at
    once it spends a tenth of the CPU on looking.
    """


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
        cost, min_cost = None, self.known_cost + other.known_cost
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


class Image(Value, frozen=True, tag="image", tag_field="type"):
    """A picture in a question, or in what a tool returned.

    `media_type` is for example "image/png"; `text` says what it is, and is all that models without
    vision get. The record keeps its bytes once per content, in `blob`.
    """

    media_type: str
    data: bytes = b""
    text: str = ""
    blob: str = ""


class Audio(Value, frozen=True, tag="audio", tag_field="type"):
    """A recording in a question, or in what a tool returned.

    `text` is what was spoken, for models that cannot hear.
    """

    media_type: str
    data: bytes = b""
    text: str = ""
    blob: str = ""


class File(Value, frozen=True, tag="file", tag_field="type"):
    """A document in a question, or in what a tool returned.

    `text` is what it says, for models that cannot read it as it is.
    """

    media_type: str
    data: bytes = b""
    text: str = ""
    blob: str = ""
    name: str = ""


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


class Event(
    msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag_field="event", tag=str.lower
):
    """Base of the events; `event` in the encoding is the class name in lower case."""


class Action(Value, frozen=True):
    """One call that the model asks for: a tool's name and its arguments.

    `fault` says why the arguments could not be parsed; then `args` is empty and nothing is called.
    The record keeps long arguments in the blob `blob`. If they contained a secret they are
    `redacted` here, and only the worker that received them knows them. `provenance` says of
    arguments, by their names, where their values come from.
    """

    name: str
    args: dict[str, Json] = {}
    fault: str = ""
    blob: str = ""
    redacted: bool = False
    provenance: dict[str, str] = {}


class Fingerprints(Value, frozen=True):
    """Fingerprints of the prompt a thought answered, by section (hex digests)."""

    head: str
    tools: str
    params: str
    parts: str
    tail: str = ""


class Evidence(Value, frozen=True):
    """A piece of evidence in an observation, which an answer may cite as `[doc_id]`.

    `score` is in [0, 1]; `offset` is where `text` begins in its source, in characters.
    """

    doc_id: str
    text: str
    score: float = 0.0
    source: str = ""
    offset: int = 0


class Rates(Value, frozen=True):
    """US dollars per million tokens of prompts, replies and the provider's cache.

    They serve to estimate a call beforehand; its reply reports the actual cost.
    """

    input: float
    output: float
    cached: float


class ToolSetting(Value, frozen=True):
    """A tool of an agent's settings: its version, its effect, and a hash of its schema.

    What others wrote of a `foreign` tool is outside text, which each model reads first.
    """

    version: str
    effect: Effect
    schema: str
    foreign: bool = False


class AgentSpec(Value, frozen=True):
    """The settings of an agent when a run began, so that a replay can say what changed.

    `tools` has each tool by its name; `parts` names every further part (codec, limits, bounds,
    guards, checks). `prompt_spec` is the material of its prompts, kept in the blob `prompt_blob`.
    Comparing settings ignores it, whether all models have known prices (`priced`), and the `rates`
    of the model, if they are known. A reply of it may `wait` so many seconds at its provider.
    """

    fingerprint: str
    model: str
    codec: str
    prompt: str
    params: dict[str, Json] = {}
    tools: dict[str, ToolSetting] = {}
    parts: dict[str, Json] = {}
    prompt_spec: Json = None
    prompt_blob: str = ""
    rates: Rates | None = None
    priced: bool = False
    wait: float = 0.0


class PlannedCall(Value, frozen=True):
    """A call that a person's words ask for, with the arguments that these words settle."""

    tool: str
    args: dict[str, Json] = {}


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


class Done(Value, frozen=True):
    """A side effect of another run: after the fork point, or in an earlier trial. It stays done.

    `key` is the call's own (`run_id:step.index`), `hash` identifies its arguments as they were
    written and `received` as its tool received them ("": not known), `handed` as other tools did
    that it was handed on to (`Attempt.handed`). `text` is the call as one line for people and
    models.
    """

    key: str
    tool: str
    hash: str
    text: str
    outcome: Outcome = "done"
    received: str = ""
    handed: tuple[str, ...] = ()


class UnknownCall(Value, frozen=True):
    """A call with an effect of which nobody knows whether it happened.

    `id` names it in every run (`run_id:step.index`): `clew.settle` takes it as it is.
    """

    id: str
    tool: str
    args: dict[str, Json] = {}


class Started(Event, frozen=True):
    """The first entry of every record.

    `question` has the parts of what is asked; `goal` is its text. `origin` describes how to make
    the same agent again; nothing in the core reads it. `parent` is the call key
    (`run_id:step.index`) that a sub-run serves, `grant` its budget, and `trust` that of its goal:
    untrusted if a model wrote it after reading untrusted text. Workers of the `queue` execute the
    run. `done` lists side effects of earlier runs for the same task. `labels` and `owner` are what
    a program says of the run to find it again, and whose it is; sub-runs and forks have the same.
    """

    question: Asked
    spec: AgentSpec
    schema: int = 1  # what a record that names none was written with
    seed: int = 0
    parent: str = ""
    origin: dict[str, Json] = {}
    queue: str = ""
    grant: Grant | None = None
    trust: Trust = "trusted"
    done: tuple[Done, ...] = ()
    labels: dict[str, str] = {}
    owner: str = ""

    @property
    def goal(self) -> str:
        """The question as text."""
        return text_of(self.question)

    @property
    def words(self) -> str:
        """The question without what is attached; names or media types where that is all of it."""
        words = [part.text for part in self.question if isinstance(part, Text)]
        attached = (getattr(part, "name", "") or part.media_type for part in self.attachments)
        return "\n\n".join(filter(str.strip, words)) or ", ".join(attached)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """What stands in the question beside words."""
        return attachments_of(self.question)


class Changed(Event, frozen=True):
    """A person let the run continue with another setting; `what` names the differences.

    `origin` replaces that in `Started`. With `outside`, what came before was not written here:
    nobody here said or allowed it, and all of it is untrusted.
    """

    spec: AgentSpec
    what: tuple[str, ...] = ()
    origin: dict[str, Json] = {}
    outside: bool = False


class Forked(Event, frozen=True):
    """The first own entry of a fork; it shares all entries before with the run `parent`.

    `parent` wrote the last shared entry, and `step` is the last step kept. `what` names the
    changes; `spec` and `origin` are the fork's from here on; `done` lists the side effects after
    the fork point. The `again` entries that follow complete the step with entries from the record
    or given with the fork. A fork that is a sub-run serves the call `call`, and `grant` is its
    budget: what it spends is counted from here.
    """

    parent: str
    step: int
    spec: AgentSpec
    what: tuple[str, ...] = ()
    done: tuple[Done, ...] = ()
    again: int = 0
    origin: dict[str, Json] = {}
    call: str = ""
    grant: Grant | None = None


class Thought(Event, frozen=True):
    """A model's reply, raw and parsed.

    `answer` is the text of a reply that answers without calling finish; `fault` says why the reply
    could not be read; `repairs` names the codec's repairs. Actions are numbered from 1 by their
    position. `reminders` are those of its prompt; the tools in `visible_tools` were shown in it for
    the first time. A `late` one came after the run's time was up.
    """

    reply: Reply
    prints: Fingerprints
    text: str = ""
    actions: tuple[Action, ...] = ()
    answer: str | None = None
    fault: str = ""
    repairs: tuple[str, ...] = ()
    reminders: tuple[str, ...] = ()
    visible_tools: tuple[str, ...] = ()
    late: bool = False


OriginKind: TypeAlias = Literal[
    "person", "configuration", "plan", "result", "choice", "computed", "allowed", "above",
    "question", "note", "pasted", "outside", "model", "guard",
]  # fmt: skip


class Origin(Value, frozen=True):
    """Who gave a value of an argument, as a guard sees it (`Verdict.origins`).

    A `result` is that of `tool` in the `call`, with the value in its `field`; `tool` is also the
    name of the `guard` that set a value. It is `doubtful` if the guard asks for its sake, or for
    that of the `parts` of the argument.
    """

    kind: OriginKind
    call: str = ""
    tool: str = ""
    field: str = ""
    trusted: bool = False
    doubtful: bool = False
    parts: tuple[Json, ...] = ()


class Verdict(Value, frozen=True):
    """A guard's decision on one call.

    `hint` runs the call and adds a line to its observation; `amend` runs it with `args`; `deny`
    refuses it; `hold` makes it wait for a person's ruling. With `gather` the run goes on meanwhile,
    and a person is asked about all such calls at once before it ends. `asks` is the JSON Schema of
    an answer that a held call wants from the person, if it wants one. `shows` identifies what the
    person is shown beside the arguments, such as a digest of a server's definitions: a ruling
    covers only that. `repeats` are the keys of the effects of other runs that the call would have
    again. `origins` say of arguments, by name, where their values come from; in an `amend`, a
    trusted one vouches for the value that the guard gives. `also` has the reasons of other
    guards that hold the call too, by their names. What `wants` a result waits for somebody who
    performs the call elsewhere. At the time `until` (Unix milliseconds) the run goes on by
    itself. `unknown` are calls of a held sub-run of which nobody knew then whether they happened.
    """

    kind: Literal["hint", "amend", "deny", "hold"]
    reason: str
    args: dict[str, Json] | None = None
    code: Code = "denied"
    redacted: bool = False  # as the arguments of an action
    asks: dict[str, Json] | None = None
    shows: str = ""
    repeats: tuple[str, ...] = ()
    gather: bool = False
    origins: dict[str, tuple[Origin, ...]] = {}
    also: dict[str, str] = {}
    wants: Literal["ruling", "result"] = "ruling"
    until: int = 0
    unknown: tuple[UnknownCall, ...] = ()

    @property
    def why(self) -> str:
        """All reasons for which a call is held, in one line."""
        return "; ".join(dict.fromkeys((self.reason, *self.also.values())))


class Judged(Event, frozen=True):
    """A verdict other than yes on the call `call` (`step.index`)."""

    call: str
    verdict: Verdict
    by: str = ""


class Ruling(Event, frozen=True):
    """A person's ruling on a call that is held or whose outcome is unknown.

    `args` replaces the arguments. On a call with an unknown outcome, `allow` means: repeat it.
    `hash` identifies what was ruled on (`Call.question`); the ruling does not cover other arguments
    or a later attempt. "" covers any. `answer` is what the held call asked for (`Verdict.asks`).
    """

    call: str
    allow: bool
    args: dict[str, Json] | None = None
    why: str = ""
    by: str = ""
    hash: str = ""
    redacted: bool = False  # as the arguments of an action
    answer: Json = None


class Settled(Event, frozen=True):
    """What came of a call, by somebody who looked, or who performed it elsewhere.

    It was `done`, with this `result` if that is known, or it certainly did not happen. `hash`
    identifies what was settled (`Call.question`), "" whatever it is. `by` and `why` are for people.
    Where the call is one of a run below, `below` is its id, and `call` is that run's.
    """

    call: str
    done: bool = True
    result: Json = None
    why: str = ""
    by: str = ""
    hash: str = ""
    below: str = ""


class Woken(Event, frozen=True):
    """The time has come that a held call waited for (`Verdict.until`)."""

    call: str


class Attempt(Event, frozen=True):
    """A call is about to be made: on disk before an effect, and before every retry.

    `hash` identifies the arguments as they were written, and for an effect `received` as the tool
    receives them, with its defaults. `timeout` is in seconds from this entry's time, `number`
    counts from 1, and `after` says why the previous attempt failed. For a sub-run, `child` is its
    id and `grant` its budget, instead of a timeout. `task` is the id under which a server goes on
    working on the call: it completes the attempt of the same number, and a later attempt asks for
    that. So does another `tool`: the call was handed on to it, before it has an effect of its own,
    and `handed` identifies the arguments as that one receives them.
    """

    call: str
    tool: str
    hash: str
    timeout: float
    number: int = 1
    after: str = ""
    child: str = ""
    grant: Grant | None = None
    task: str = ""
    received: str = ""
    handed: str = ""


class Suspended(Event, frozen=True):
    """A call asks for other calls, and goes on once each of them has its observation.

    Each of `actions` becomes a call of its step. `state` is what it needs to go on, kept in the
    blob `blob`. A tool returns this without `call`; without actions it is made again at once.
    """

    call: str = ""
    actions: tuple[Action, ...] = ()
    state: bytes = b""
    blob: str = ""


class Gathered(Event, frozen=True):
    """Calls of earlier steps that were put off are calls of this step now: a person is asked.

    `calls` are their keys there. The run was about to end, and its model answers anew.
    """

    calls: tuple[str, ...]


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


class Note(Event, frozen=True):
    """A message from outside the loop: a person's, a failed check's, a late result's, a memory.

    `done` are side effects of runs at work beside this one, which it must not repeat unasked.
    `request` is the client's own id of it: sent twice, it is the same message. One that is `queued`
    waits in the inbox until the run has stopped; in a record none is.
    """

    parts: Asked
    source: Literal["person", "check", "late", "memory"] = "person"
    trust: Trust = "trusted"
    done: tuple[Done, ...] = ()
    request: str = ""
    queued: bool = False

    @property
    def text(self) -> str:
        """The message as text."""
        return text_of(self.parts)

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """What stands in the message beside words."""
        return attachments_of(self.parts)


class Charged(Event, frozen=True):
    """What a critic or screen took, or an estimate of a call whose reply was lost; limits count it.

    `kind` says what is charged; `why` says it to people, and nothing reads that. Where a "screen"
    is not against a person's words, nothing else says that they are judged.
    """

    usage: Usage
    kind: ChargeKind = "lost_reply"
    why: str = ""


class Cancel(Event, frozen=True):
    """A person wants the run to stop after closing what is pending."""

    why: str = ""


class Planned(Event, frozen=True):
    """What a person's words ask for, as the model read it in them alone: no result was shown to it.

    `calls` are those of tools that act. Where its reply could not be read, `fault` says why and
    there are none. It took `usage`.
    """

    calls: tuple[PlannedCall, ...] = ()
    usage: Usage = Usage()
    fault: str = ""


class Compacted(Event, frozen=True):
    """From here on a model sees less of the steps before; the record keeps all of them.

    `cuts` maps calls to what is shown in the place of their observations. `text` and a model's
    `summary`, which took `usage`, stand in the place of the steps up to `upto`. About `tokens` are
    left; `by` says what decided, `why` when.
    """

    by: str
    why: str
    tokens: int
    cuts: dict[str, str] = {}
    upto: int = 0
    text: str = ""
    summary: str = ""
    usage: Usage = Usage()


class Rewound(Event, frozen=True):
    """The steps after `to` were a wrong branch: they leave the view, and `lesson` stays.

    `by` is who says so: a person's name, or "model". Their effects stay done: the view lists them.
    Of those in `done` a repetition is held, as in a fork: a person's rewind names them.
    """

    to: int
    lesson: str
    by: str = ""
    done: tuple[Done, ...] = ()


BoundCode: TypeAlias = Literal[
    "faults", "steps", "tool_calls", "tokens", "seconds", "cost",
    "grant_steps", "grant_tool_calls", "grant_tokens", "grant_seconds", "grant_cost",
    "no_progress", "refusals", "own",
]  # fmt: skip
"""What ends a run: one of its limits, of the grant of a sub-run, or a bound of the agent's own."""

StopCode: TypeAlias = BoundCode | Literal["", "set_aside"]
"""Why a run stopped, where its status does not say all."""


class Landing(Event, frozen=True):
    """A bound tripped: one last thought, without calls, follows.

    `code` says which bound, whatever the words; that of a bound of the agent's own is `own`.
    """

    bound: str
    detail: str = ""
    code: BoundCode | Literal[""] = ""


class Stop(Event, frozen=True):
    """The end, with its reason; only a ruling, a message or a raised limit may follow.

    `fallback` marks a declared answer instead of a found one. `code` is what programs read: the
    bound where the status is `bound`, or `set_aside` where the run broke its workers. `reason` is
    for people. What a bound of the agent's own said is in `detail`, word by word. A held run goes
    on by itself at the time `wake` (Unix milliseconds; 0: never). `outcome` is what the model says
    came of the task, "" where it left that out. `unknown` are the calls of the run, and of those
    below it, of which nobody knew then whether they happened.
    """

    status: Status
    reason: str = ""
    answer: Json = None
    fallback: bool = False
    code: StopCode = ""
    detail: str = ""
    wake: int = 0
    outcome: AnswerOutcome | Literal[""] = ""
    unknown: tuple[UnknownCall, ...] = ()


AnyEvent: TypeAlias = (
    Started | Changed | Forked | Thought | Judged | Ruling | Attempt | Suspended | Gathered
    | Observation | Note | Charged | Cancel | Landing | Planned | Compacted | Rewound | Stop
    | Settled | Woken
)  # fmt: skip

INPUTS: Final = (
    Changed, Charged, Ruling, Settled, Woken, Note, Cancel, Planned, Compacted, Rewound,
)  # fmt: skip
"""Events that are fed, not derived, in a replay: from outside the loop, or decided once for all."""


class Entry(msgspec.Struct, frozen=True, gc=False):
    """A line of the record: its number (from 1), time (Unix milliseconds), epoch and event.

    `hash` chains it to the previous entry.
    """

    seq: int
    at: int
    epoch: int
    event: AnyEvent
    hash: bytes = b""

    def to_json(self) -> dict[str, Json]:
        """All of it as values that JSON has: `chain` is the hash, and `event` the kind of event."""
        fields = {"seq": self.seq, "at": self.at, "epoch": self.epoch}
        return {**fields, **msgspec.to_builtins(self.event), "chain": self.hash.hex()}


_decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)

encode: Final = msgspec.json.Encoder().encode
"""Encode an event, or any JSON value, as compact JSON."""

decode: Final = _decoder.decode
"""Decode one event. Raises `msgspec.DecodeError` or `msgspec.ValidationError`."""


def barrier(event: AnyEvent) -> bool:
    """Whether the event must be safe on the disk, with all before it, before anything follows."""
    if isinstance(event, Observation):
        return event.effect in EFFECTFUL
    return isinstance(event, (Attempt, Ruling, Settled, Woken, Stop))
