"""The events of the record: frozen, tagged values.

An event says what happened; the entry around it says where and when. Nothing here does anything,
and nothing here knows a run id, a clock or a store.
"""

from typing import Final, Literal, TypeAlias

from clew.core.actions import Action, Done, PlannedCall, UnknownCall
from clew.core.codes import AnswerOutcome, BoundCode, ChargeKind, Status, StopCode, Trust
from clew.core.contents import (
    Asked,
    Attachment,
    Grant,
    Observation,
    Reply,
    Text,
    Usage,
    attachments_of,
    text_of,
)
from clew.core.specs import AgentSpec
from clew.core.values import Event, Json, Value
from clew.core.verdicts import Verdict

SCHEMA: Final = 1
"""Version of what events mean, in `Started.schema`.

A new kind of event, or a new value of a closed list, needs no new number: a clew that does not know
it refuses to read the record. Nor does a new field that a reader may ignore. The number rises only
if what is there already comes to mean something else.
"""


class Fingerprints(Value, frozen=True):
    """Fingerprints of the prompt a thought answered, by section (hex digests)."""

    head: str
    tools: str
    params: str
    parts: str
    tail: str = ""


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
