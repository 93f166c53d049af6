"""The fold: a run as read from its record.

A `Trajectory` takes entries one by one and answers every question the loop, the view, bounds and
guards ask. It holds nothing that the entries do not say; folding them again gives the same.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

from clew.core.actions import Action, Done
from clew.core.codes import FINISH, BoundCode, Code, Trust
from clew.core.contents import (
    Attachment,
    Evidence,
    Grant,
    Observation,
    Text,
    Usage,
    text_of,
    text_parts,
)
from clew.core.entries import Entry
from clew.core.events import (
    AnyEvent,
    Attempt,
    Cancel,
    Changed,
    Charged,
    Compacted,
    Forked,
    Gathered,
    Judged,
    Landing,
    Note,
    Planned,
    Rewound,
    Ruling,
    Settled,
    Started,
    Stop,
    Suspended,
    Thought,
    Woken,
)
from clew.core.specs import AgentSpec
from clew.core.steps import Call, Notice, Omitted, Step, Totals, args_hash, charge, sum_of
from clew.core.values import encode
from clew.support.errors import StoreError
from clew.support.html import html_table
from clew.support.json_values import text_or_json
from clew.support.short_text import counted, cut, one_line

REQUEST: Final = "request"
"""Stands in the place of a tool's name where a person's words are judged."""

WITHHELD: Final = "(a request that was refused)"
"""What a model sees in the place of refused words."""

GLANCE: Final = 60
"""Characters of a goal that tell which run it is."""
_REFUSED: Final[frozenset[Code]] = frozenset({"rejected", "invalid_arguments", "denied"})
"""What an answer was sent back for that counts as a try."""

_NOTHING: Final = sum_of(())


def _came_of(event: Settled) -> str:
    """What came of a call of which nobody knew it, in words for the model."""
    text = "was done, as somebody found out" if event.done else "certainly did not happen"
    text += f": {event.why}" if event.why else ""
    return text if event.result is None else f"{text}. Its result: {encode(event.result).decode()}"


def _settled_tool(call: Call, event: Settled) -> str:
    """The tool of the call that is settled, which may be one of the call's sub-run."""
    below = () if call.observation is None else call.observation.unknown
    return next((each.tool for each in below if each.id == event.below), call.action.name)


__all__ = ["Call", "Notice", "Step", "Totals", "Trajectory", "args_hash"]


class Trajectory:
    """A record as an object. Only `add` changes it; everything else is for reading."""

    foreign = 0
    """The number of the last entry that came from outside, as its store says; 0 for none."""
    has_attachments = False
    """Whether a person's words have attachments, of which nobody knows what stands in them."""
    closed_off = 0
    """The number of the entry that closed off what had come from outside by then."""
    spoken_at = 0
    """The number of the step in which a person last spoke; 0 for none since the question."""
    reserved = _NOTHING
    """What open sub-runs may spend together; it counts as spent until they return the rest."""

    def __init__(self, run_id: str, entries: Iterable[Entry] = ()) -> None:
        self.run_id = run_id
        self.entries: list[Entry] = []
        self.steps: list[Step] = []
        self.before = Step(0)
        """Step 0: what was said before the first thought."""
        self.step = self.before
        """The current step; step 0 before the first thought."""
        self.spec: AgentSpec | None = None
        self.total = Totals()
        """What the whole run has spent."""
        self.spent = Totals()
        """What it has spent since a person last spoke, which is what limits count."""
        self.faults_in_row = 0
        self.rejected: list[str] = []
        """The objections to answers since a person last spoke."""
        self.landing: Landing | None = None
        self.late = self.cut_landing = False
        """Whether a reply was late, or cut when time was up; and whether a landing's was cut."""
        self.stop: Stop | None = None
        self.cancel: Cancel | None = None
        self.forks: list[Forked] = []
        """The forks it descends from, the last one last; empty for a run that is not a fork."""
        self.done_elsewhere: list[Done] = []
        """Side effects of other runs, and of branches, that it must not repeat unasked."""
        self.pending_input: list[str] = []
        """A person's messages that no model has seen yet and that were not refused."""
        self.grant: Grant | None = None
        """The total that a sub-run may spend, whatever is said to it."""
        self.screen_notes: list[str] = []
        """What screens remarked on the person's last message."""
        self.visible_goal = ""
        """The goal as a model may see it; a placeholder if it was refused."""
        self.visible_tools: list[str] = []
        """The tools shown during the run, in order, without those shown from the start."""
        self.untainted = True
        """Whether nothing untrusted was read: observed, told of the tools, or for its goal."""
        self.trust: Trust = "trusted"
        """How far to trust what the model wrote last: not if it had read untrusted text by then."""
        self.planned: Planned | None = None
        """What a person's words ask for, once the model was asked; anew after each message."""
        self.put_off: list[Call] = []
        """Held calls, each once, that a person is asked about before the run ends."""
        self.omitted = Omitted()
        self.folds: dict[str, Any] = {}
        """Derived values that others keep between steps; clearing it affects only speed."""
        self._calls, self._reserved = dict[str, Call](), dict[str, Grant]()
        self._evidence, self._by_id = dict[str, Evidence](), dict[str, list[Call]]()
        for entry in entries:
            self.add(entry)

    def __repr__(self) -> str:
        """The run at a glance; `for step in trajectory` has all of it."""
        status = "open" if self.stop is None else self.stop.status
        goal = repr(cut(self.goal, GLANCE))
        steps = counted(len(self.steps), "step")
        size = f"{steps}, {counted(len(self.entries), 'entry', 'entries')}"
        return f"<Trajectory {self.run_id} {goal}: {status}, {size}>"

    def _repr_html_(self) -> str:
        """The question, all steps and how it ended, for a notebook."""
        stop = self.stop
        rows = [(f"run {self.run_id}", self.visible_goal or self.goal)]
        rows += [row for step in self.steps for row in step.rows]
        answer = "" if stop is None else f"{stop.reason}\n{text_or_json(stop.answer)}".strip()
        return html_table([*rows, ("open" if stop is None else stop.status, answer)])

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def started(self) -> Started:
        """The first event. Raises `StoreError` if the record is empty."""
        if not self.entries or not isinstance(first := self.entries[0].event, Started):
            raise StoreError(f"run {self.run_id} has no beginning: its record was never started")
        return first

    @property
    def goal(self) -> str:
        """The first question."""
        return self.started.goal

    @property
    def parent_call(self) -> str:
        """The call (`run_id:step.index`) whose sub-run this is; "" for any other run."""
        return self.forks[-1].call if self.forks else self.started.parent if self.grant else ""

    @property
    def words_key(self) -> str:
        """The key under which unseen messages are judged: `step.0`, as if they were a call."""
        return f"{self.step.number}.0"

    @property
    def words(self) -> Call | None:
        """The unseen messages with the verdicts on them, or None."""
        return self._calls.get(self.words_key)

    @property
    def bound(self) -> BoundCode | Literal[""]:
        """The bound that an answer is given for now: that of the landing, or time that was up."""
        late: BoundCode | Literal[""] = "seconds" if self.late else ""
        return late if self.landing is None else self.landing.code

    @property
    def landed(self) -> bool:
        """Whether the current thought is the one after a `Landing`."""
        return self.landing is not None and self.landing not in self.step.notices

    @property
    def usage(self) -> Usage:
        """The usage of all model calls of the run, and of its sub-runs."""
        return self.total.usage

    @property
    def evidence(self) -> list[Evidence]:
        """Everything an answer may cite, in the order found; for each id, the best score."""
        return list(self._evidence.values())

    @property
    def is_foreign(self) -> bool:
        """Whether entries came from outside that nothing closed off, and nobody trusts."""
        return self.foreign > self.closed_off

    @property
    def held(self) -> list[Call]:
        """What waits for a person's ruling, in the current step."""
        current = (*self.step.all_calls, *([self.words] if self.words is not None else []))
        return [call for call in current if call.held]

    def call(self, key: str) -> Call:
        """The call at `step.index`. Raises `StoreError` if there is none."""
        if (call := self._calls.get(key)) is None:
            known = ", ".join(self._calls) or "none"
            raise StoreError(f"run {self.run_id} has no call {key!r}; its calls: {known}")
        return call

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """What a person attached to the question and to later words."""
        if not self.has_attachments:
            return ()
        events = [entry.event for entry in self.entries]
        words = [it for it in events if isinstance(it, Started | Note)]
        return tuple(each for it in words for each in it.attachments)

    @property
    def calls(self) -> list[Call]:
        """All calls of the run, in the order of their keys."""
        return list(self._calls.values())

    @property
    def effects(self) -> list[Call]:
        """Calls that changed, or may have changed, the world."""
        return [call for call in self._calls.values() if call.changed]

    def add(self, entry: Entry) -> None:
        """Add the next entry. Raises `StoreError` if it does not follow the last one."""
        if entry.seq != len(self.entries) + 1:
            follows = f"entry {entry.seq} cannot follow {len(self.entries)}"
            raise StoreError(f"run {self.run_id}: {follows}")
        if self.entries:
            last = self.entries[-1]
            waited = isinstance(last.event, Stop) or isinstance(entry.event, Forked)
            if (took := entry.at - last.at) > 0 and last.epoch == entry.epoch and not waited:
                self.total.active_ms += took  # at work: not waiting for a person, nor down
                self.spent.active_ms += took
        self.entries.append(entry)
        self._fold(entry.event)

    def _fold(self, event: AnyEvent) -> None:
        match event:
            case Thought():
                self._think(event)
            case Observation():
                self._observe(event)
            case Attempt():
                self._attempt(event)
            case Suspended():
                new = self.step.suspend(self.call(event.call), event)
                self._calls.update((call.key, call) for call in new)
                self.trust = "trusted" if self.untainted else "untrusted"
            case Judged():
                self._judge(event)
            case Gathered():
                self._gather(event)
            case Settled():
                self._settle(event)
            case Woken():
                self._wake(self.call(event.call))
            case Note():
                self._note(event)
            case Planned():
                self.planned = event
                charge(event.usage, self.total, self.spent)
            case _:
                self._turn(event)

    def _turn(
        self,
        event: Started | Changed | Charged | Forked | Ruling | Cancel | Landing | Compacted
        | Rewound | Stop,
    ) -> None:  # fmt: skip
        """What begins a run, ends it, lets it go on, or changes what is seen of it."""
        match event:
            case Compacted():
                self.omitted.compactions.append(event)
                self.omitted.cuts |= event.cuts
                charge(event.usage, self.total, self.spent)
                self.step.notices += (event,)
            case Rewound():
                self._rewind(event)
            case Started():
                self._start(event)
            case Landing():
                self.landing = event
                self.step.notices += (event,)
            case Stop():
                self.stop = event
                self.step.concluded = event.status != "held"
                self.put_off = [] if event.status == "interrupted" else self.put_off
                if event.status == "refused":
                    self._withhold()
            case Cancel():
                self.cancel = event
                if self.stop is not None and self.stop.status == "held":
                    self.stop = None  # there is something left to close
            case Ruling():
                call = self.call(event.call)
                call.ruling = event
                call.again = event.allow
                call.revise(event.args, redacted=event.redacted)
                self._take_up()
            case Forked():
                self._fork(event)
            case Charged():
                self._charge(event)
            case _:
                self._change(event)

    def _charge(self, event: Charged) -> None:
        """What was taken outside of thoughts. A screen's verdict is on record with it."""
        screened, late = event.kind == "screen", event.kind == "time_up"
        charge(event.usage, self.total, self.spent, lost=not screened)
        if screened:
            self._judge_words()
        self.late |= late
        self.cut_landing |= late and self.landing is not None

    def _start(self, event: Started) -> None:
        """A new run; effects of earlier runs for its task are told as those of a fork's parent."""
        self.spec, self.visible_goal = event.spec, (goal := text_of(event.question))
        self.grant, self.trust = event.grant, event.trust
        read = any(tool.foreign for tool in event.spec.tools.values())  # before all else
        self.untainted = event.trust == "trusted" and not read
        self.has_attachments = any(not isinstance(part, Text) for part in event.question)
        self.pending_input.append(goal)
        self._tell(event.done)

    def _read_tools(self, spec: AgentSpec) -> None:
        """A model reads what others wrote of their tools before all else."""
        if any(tool.foreign for tool in spec.tools.values()):
            self.untainted = False

    def _tell(self, done: tuple[Done, ...]) -> None:
        """What other runs did is told, and is not to be repeated unasked."""
        self.done_elsewhere += done
        if done and self.spec is not None:
            self.step.notices += (Forked("", 0, self.spec, done=done),)

    def _rewind(self, event: Rewound) -> None:
        self.omitted.rewind(event, len(self.steps))
        self.put_off = [call for call in self.put_off if call.step <= event.to]
        self.done_elsewhere += event.done
        self.step.notices, self.step.concluded = (*self.step.notices, event), True
        self.rejected, self.faults_in_row = [], 0
        self._go_on()

    def _change(self, event: Changed) -> None:
        """Another agent from here on: a stop for want of an answer is taken back.

        So is a landing, and the model is told; but not under the eyes of an answer given in it.
        """
        self.spec = event.spec
        self._read_tools(event.spec)
        self.rejected, self.faults_in_row = [], 0
        if event.outside:
            self._close_off()
        if self.stop is None:
            goes_on = self.step.answer is None
        else:
            goes_on = self.stop.status in {"declined", "bound", "failed", "interrupted"}
        if goes_on:
            self.late = self.cut_landing = False
        if goes_on and self.landing is not None:
            self.landing = None
            self.step.notices += (event,)
        if goes_on and self.stop is not None:
            self._go_on()
        for call in self.held:
            if call.held_by_tool:  # the guards of the new agent judge the call anew
                call.verdict = None
                self.stop = None

    def _close_off(self) -> None:
        """What came before is nobody's here: no answer, plan, or word of a person's."""
        self.closed_off, self.planned, self.put_off = len(self.entries), None, []
        self.untainted, self.trust = False, "untrusted"
        self._calls.pop(self.words_key, None)  # words that no model has seen are judged anew
        if self.stop is None or self.stop.status == "held":
            self.stop, self.step.concluded = None, True

    def _fork(self, event: Forked) -> None:
        """Another run: what was said and landed stands; an interrupt, or a grant's past, not."""
        self.spec = event.spec
        self._read_tools(event.spec)
        self.stop = self.cancel = None
        if event.grant is not None:
            self.grant, self.total, self.spent = event.grant, Totals(), Totals()
        self.forks.append(event)
        self.done_elsewhere += event.done
        self.step.notices += (event,) if event.done else ()

    def _judge(self, event: Judged) -> None:
        if event.call == self.words_key:
            self._judge_words()
        call = self.call(event.call)
        if event.verdict.kind == "hint":
            call.hints += (event,)
            if call is self.words:
                self.screen_notes.append(event.verdict.reason)
        else:
            call.verdict = event
            why = one_line(event.verdict.reason)
            call.revise(event.verdict.args, why, redacted=event.verdict.redacted)
            if event.verdict.kind == "hold":
                call.ruling = None
            self._end_attempt(call, event)

    def _judge_words(self) -> None:
        """Screens have judged what a person said: it is a call now, if it was none yet."""
        action = Action(REQUEST, {"text": "\n\n".join(self.pending_input)})
        self._calls.setdefault(self.words_key, Call(self.words_key, action))

    def _end_attempt(self, call: Call, event: Judged) -> None:
        """What a verdict says of the last attempt: nobody knows, or the tool refused its arguments.

        That of a call without an effect is not in the record.
        """
        if not call.attempts:
            return
        last, code = call.attempts[-1], event.verdict.code
        if code == "unknown":
            call.doubts += ((call.args, last),)
        elif code == "invalid_arguments" and event.by == call.own_name:
            call.begun = call.begun[:-1]

    def _withhold(self) -> None:
        """Words were refused: no model will see them, whatever is said after them."""
        if not self.steps:
            self.visible_goal = WITHHELD
        self.step.notices = tuple(
            Note(text_parts(WITHHELD))
            if isinstance(notice, Note) and notice.source == "person"
            else notice
            for notice in self.step.notices
        )
        self._clear_pending_input()

    def _clear_pending_input(self) -> None:
        """Nothing is left to judge: what was said of the words is in the record."""
        self._calls.pop(self.words_key, None)
        self.pending_input = []

    def by_id(self, id_: str) -> list[Call]:
        """The calls of that id of the provider, in order."""
        return self._by_id.get(id_, [])

    def _think(self, thought: Thought) -> None:
        self._clear_pending_input()
        number = len(self.steps) + 1
        calls = [Call(f"{number}.{i}", action) for i, action in enumerate(thought.actions, 1)]
        if len(thought.reply.calls) == len(calls):
            for call, raw in zip(calls, thought.reply.calls, strict=True):
                if raw.id:
                    call.id = raw.id
                    self._by_id.setdefault(raw.id, []).append(call)
        step = Step(number, thought, tuple(calls))
        for call in calls:
            self._calls[call.key] = call
        self.visible_tools += thought.visible_tools
        self.steps.append(step)
        self.step, self._reserved, self.reserved = step, {}, _NOTHING
        self.untainted = self.untainted and not self.has_attachments
        self.trust = "trusted" if self.untainted else "untrusted"
        self.total.steps += self.landing is None
        self.spent.steps += self.landing is None
        charge(thought.reply.usage, self.total, self.spent)
        self.faults_in_row = self.faults_in_row + 1 if thought.fault else 0
        self.late |= thought.late

    def _attempt(self, attempt: Attempt) -> None:
        call = self.call(attempt.call)
        if not call.attempts:
            self._count(call)
        # one of the same number says which task that began, or which tool went on with the call
        call.attempts = (*(it for it in call.attempts if it.number != attempt.number), attempt)
        call.begun = (*(it for it in call.begun if it.number != attempt.number), attempt)
        if attempt.grant is not None:
            self._reserved[call.key] = attempt.grant
            self.reserved = sum_of(self._reserved.values())
        call.deadline = self.entries[-1].at + int(min(max(attempt.timeout, 0.0), 1e12) * 1000)
        call.again = False

    def _count(self, call: Call) -> None:
        for totals in (self.total, self.spent):
            totals.calls[call.action.name] += 1

    def _observe(self, observation: Observation) -> None:
        call = self.call(observation.call)
        call.observation = observation
        if self._reserved.pop(call.key, None) is not None:
            self.reserved = sum_of(self._reserved.values())
        if call.action.name != FINISH:  # what that is told comes from clew and the person's checks
            self.untainted = self.untainted and observation.trust == "trusted"
        for piece in observation.evidence:
            best = self._evidence.setdefault(piece.doc_id, piece)
            if piece.score > best.score:
                self._evidence[piece.doc_id] = piece
        if observation.code == "waits" and not self._waits_already(call):
            self.put_off.append(call)
        if call.action.name == FINISH:
            if observation.code in _REFUSED:
                self.rejected.append(observation.words)
        elif not call.attempts and observation.made:
            self._count(call)
        if observation.spent is not None:
            for totals in (self.total, self.spent):
                totals.add(observation.spent)

    def _waits_already(self, call: Call) -> bool:
        """Whether a person is asked about the same call: a model may insist on it."""
        held = call.verdict is not None and not call.redacted
        return held and any(it.verdict and it.hash == call.hash for it in self.put_off)

    def _settle(self, event: Settled) -> None:
        """What came of a call: its observation follows, or the model is told what it was."""
        call = self.call(event.call)
        if event.below:
            call.settled_below |= {event.below}
        elif call.settled is not None:
            return
        else:
            call.settle(event)
        if call.observation is None:
            self._take_up()
            return
        told = f"{event.below or event.call} {_settled_tool(call, event)} {_came_of(event)}"
        trust: Trust = "trusted" if event.result is None else "untrusted"
        self.untainted = self.untainted and trust == "trusted"
        self.step.notices += (Note(text_parts(told), source="late", trust=trust),)

    def _wake(self, call: Call) -> None:
        """A held call is judged and made anew, or ends without the result that it waited for."""
        held = call.verdict
        if held is not None and held.verdict.wants == "result":
            call.woken = True
        else:
            call.verdict, call.again = None, True
        self._take_up()

    def _take_up(self) -> None:
        """A call that was held goes on."""
        self.stop = self.landing = None
        self.cut_landing = False

    def _gather(self, event: Gathered) -> None:
        new = self.step.gather(map(self.call, event.calls))
        self._calls.update((call.key, call) for call in new)
        for call in new:
            if call.id:
                self._by_id.setdefault(call.id, []).append(call)
        self.put_off = []

    def _note(self, note: Note) -> None:
        self._tell(note.done)
        self.step.notices += (note,) if not note.done else ()
        self.untainted = self.untainted and note.trust == "trusted"
        if note.source == "person":
            self.rejected, self.faults_in_row = [], 0
            self.spoken_at = self.spoken_at if note.done else self.step.number
            self.spent, self.planned = Totals(), None
            self._calls.pop(self.words_key, None)  # judged anew, with what came before
            self.has_attachments = self.has_attachments or bool(note.attachments)
            self.pending_input.append(note.text)
            self.screen_notes = []
            self._go_on()
        elif note.source == "check":
            self.rejected.append(note.text)

    def _go_on(self) -> None:
        """A person spoke: a stop, a landing and a cancel before it no longer count."""
        self.stop = self.landing = self.cancel = None
        self.late = self.cut_landing = False
