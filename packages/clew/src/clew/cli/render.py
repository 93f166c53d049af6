"""How events look to a person: one function for each, from an event to labelled text.

Everything a model, a tool or a document wrote passes through `inert` first: no control character of
theirs reaches a terminal, and nothing of it is hidden.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from clew import Observation, Trajectory, Usage
from clew.guards import Gathered, Origin, Planned, describe_origin
from clew.interfaces import (
    FINISH,
    Action,
    AnyEvent,
    Attempt,
    Cancel,
    Changed,
    Charged,
    Compacted,
    Forked,
    Json,
    Judged,
    Landing,
    Note,
    Rewound,
    Ruling,
    Settled,
    Started,
    Stop,
    Suspended,
    Thought,
    UnknownCall,
    Woken,
    encode,
)
from clew.support.json_values import text_or_json
from clew.support.printable import inert
from clew.support.short_text import counted, cut, one_line

LINES: Final = 12
CHARACTERS: Final = 1_200
WIDE: Final = 100
MAX_TOOLS: Final = 20
"""So many tools of an agent are named."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A labelled piece of text, and the style a terminal gives it."""

    label: str
    text: str
    style: str = ""
    crop: bool = False
    """Whether lines may be cut where a terminal ends: it is a gist, the whole is on record."""


def shorten(text: str) -> str:
    """The beginning of a long text, and how much was left out."""
    begin = "\n".join(text[:CHARACTERS].split("\n")[:LINES]).rstrip()
    left = len(text.rstrip()) - len(begin)
    return text if left <= 0 else f"{begin}\n… {left:,} more characters (clew show has all)"


def prompt_spec(value: Json, max_chars: int = 200) -> str:
    """A value as compact JSON on one line, cut to about `max_chars` characters."""
    return cut(inert(encode(value).decode()), max_chars)


def written(action: Action, *, complete: bool = False) -> str:
    """A call as a person would write it."""
    if action.fault:
        return f"{inert(action.name)}(?)  {inert(action.fault)}"
    max_chars = 1 << 30 if complete else 200
    args = ", ".join(
        f"{inert(name)}={prompt_spec(value, max_chars)}" for name, value in action.args.items()
    )
    return f"{inert(action.name)}({args})"


def pieces(record: Trajectory) -> Iterator[TextBlock]:
    """Everything in the record, in its order."""
    step = 0
    for entry in record.entries:
        step += isinstance(entry.event, Thought)
        yield from render_event(entry.event, step)


def render_event(
    event: AnyEvent, step: int, *, complete: bool = True, thought_of: Thought | None = None
) -> Iterator[TextBlock]:
    """What there is to see of an event of step number `step`.

    Unless `complete`, long texts are cut, and what is said elsewhere is left out: the person's own
    words, the answer, that it was accepted (`thought_of` is the last thought), the stop.
    """
    match event:
        case Started() if complete:
            yield from started(event)
        case Thought():
            yield from thought(event, step, complete=complete)
        case Observation() if complete or not _accepts(event, thought_of):
            yield from observation(event, complete=complete)
        case Stop() if complete:
            yield from stop(event)
        case Judged():
            yield from judged(event)
        case Ruling() | Settled() | Woken():
            yield from ruling(event)
        case Attempt() | Suspended():
            yield from begun(event, complete=complete)
        case Note() if complete or event.source != "person":
            yield from note(event, step)
        case Forked():
            yield from forked(event)
        case Changed() | Charged() | Landing() | Cancel() | Compacted() | Rewound() | Gathered():
            yield from turned(event)
        case Planned():
            yield TextBlock("Asked for", inert(planned(event)), "dim")
        case _:
            return


def _accepts(event: Observation, thought_of: Thought | None) -> bool:
    """Whether an observation says of a thought's answer that it was accepted."""
    index = int(event.call.rpartition(".")[2]) - 1
    actions = () if thought_of is None else thought_of.actions[index : index + 1]
    return event.ok and any(action.name == FINISH for action in actions)


def dollars(used: Usage) -> str:
    """What it cost, as far as that is known; what took no tokens cost nothing."""
    if used.cost is None and used.tokens:
        minimum = f" (at least ${used.min_cost:.4f})" if used.min_cost else ""
        return f"cost unknown{minimum}"
    return f"${used.known_cost:.4f}"


def charged(event: Charged) -> str:
    """What was counted for a critic or screen, or for calls nobody saw the end of."""
    used = event.usage
    if not used.tokens:
        return event.why
    cost = "" if used.cost is None else f" and ${used.cost:.4f}"
    if event.kind in ("critic", "screen"):
        return f"{used.tokens:,} tokens{cost}: {event.why}"
    return f"about {used.tokens:,} tokens{cost} may be lost: {event.why}"


def turned(
    event: Changed | Charged | Landing | Cancel | Compacted | Rewound | Gathered,
) -> Iterator[TextBlock]:
    """What turned the run: another setting, a lost call, a bound, an interrupt, a shorter view."""
    match event:
        case Charged():
            yield TextBlock("Charged", inert(charged(event)), "yellow")
        case Changed():
            yield TextBlock("Changed", inert(", ".join(event.what)), "yellow")
        case Landing():
            message = f"{event.bound}: {event.detail}; one last thought"
            yield TextBlock("Bound", inert(message), "yellow")
        case Compacted():
            yield TextBlock("Left out", inert(left_out(event)), "yellow")
        case Rewound():
            by = f" ({event.by})" if event.by else ""
            yield TextBlock("Rewound", inert(f"to step {event.to}{by}: {event.lesson}"), "yellow")
        case Gathered():
            told = f"a person is asked about {', '.join(event.calls)}"
            yield TextBlock("Gathered", inert(told), "yellow")
        case Cancel():
            message = event.why or "a person wants the run to stop"
            yield TextBlock("Interrupt", inert(message), "yellow")


def planned(event: Planned) -> str:
    """The calls that the request calls for, as the model read it."""
    calls = [f"{call.tool}({text_or_json(call.args)})" for call in event.calls]
    return event.fault or ", ".join(calls) or "no call of a tool that acts"


def left_out(event: Compacted) -> str:
    """What a compaction left out, and when."""
    steps = f"steps 1 to {event.upto}" if event.upto else ""
    cuts = f"{counted(len(event.cuts), 'result')} in part" if event.cuts else ""
    what = " and ".join(filter(None, [steps, cuts]))
    what += f", a summary of {len(event.summary):,} characters" if event.summary else ""
    return f"{what}, about {event.tokens:,} tokens remain ({event.by}): {event.why}"


def forked(event: Forked) -> Iterator[TextBlock]:
    """Where a fork was cut from its parent, and what stays done of what that did afterwards."""
    changed = f"; changed: {', '.join(event.what)}" if event.what else ""
    yield TextBlock("Fork", inert(f"of {event.parent} after step {event.step}{changed}"), "yellow")
    yield from _done_before(event)


def _done_before(event: Started | Forked | Note) -> Iterator[TextBlock]:
    """Side effects of other runs that the run must not repeat unasked."""
    for done in event.done:
        was = "may have been done" if done.outcome == "unknown" else "done"
        yield TextBlock("Done before", inert(f"{done.text} ({was} by {done.key})"), "yellow")


def settings_in_force(event: Started) -> dict[str, Json]:
    """What the model is told beside its prompt, as far as anybody said it."""
    return {**event.spec.params, **({"seed": event.seed} if event.seed else {})}


def started(event: Started) -> Iterator[TextBlock]:
    """The question, and who was to answer it."""
    yield TextBlock("Question", inert(event.goal), "bold")
    names = [*event.spec.tools]
    told = ", ".join(names[:MAX_TOOLS]) or "none"
    if (more := len(names) - MAX_TOOLS) > 0:
        told += f" and {more:,} more"
    made_of = f"{event.spec.model}, {event.spec.codec}, tools: "
    yield TextBlock("Agent", inert(made_of + told), "dim")
    if settings := settings_in_force(event):
        told = ", ".join(f"{name} {text_or_json(value)}" for name, value in settings.items())
        yield TextBlock("Settings", inert(told), "dim")
    if event.labels or event.owner:
        owner = ["owner " + event.owner] if event.owner else []
        labels = [f"{name}={value}" for name, value in event.labels.items()]
        yield TextBlock("Labels", inert(", ".join([*owner, *labels])), "dim")
    yield from _done_before(event)


def thought(event: Thought, step: int, *, complete: bool) -> Iterator[TextBlock]:
    """The thought, its actions, and what was wrong with the reply."""
    if event.visible_tools:
        yield TextBlock(
            f"Tools {step}", inert(f"shown from here on: {', '.join(event.visible_tools)}"), "dim"
        )
    if event.text and (event.text != event.answer or complete):
        yield TextBlock(f"Thought {step}", inert(event.text), "cyan")
    for repair in event.repairs:
        yield TextBlock(f"Repair {step}", inert(repair), "dim")
    for index, action in enumerate(event.actions, start=1):
        if complete or action.name != FINISH:
            yield TextBlock(f"Action {step}.{index}", written(action, complete=complete), "green")
    if event.answer is not None and complete and event.answer != event.text:
        yield TextBlock(f"Answer {step}", inert(event.answer), "bold")
    if event.reply.note and complete:
        yield TextBlock(f"Note {step}", inert(event.reply.note), "dim")
    if event.reply.warning and complete:  # else it was said once, by the log
        yield TextBlock(f"Warning {step}", inert(event.reply.warning), "yellow")
    if event.fault:
        yield TextBlock(f"Fault {step}", inert(event.fault), "red")


def observation(event: Observation, *, complete: bool) -> Iterator[TextBlock]:
    """What came of a call; what is not known of its effect is said."""
    text = inert(readable(event.content)) if complete else shorten(inert(_preview(event)))
    crop = not complete and bool(event.evidence)
    yield TextBlock(f"Observation {event.call}", text, "" if event.ok else "red", crop)
    if event.outcome == "unknown":
        yield TextBlock(f"Unknown {event.call}", "it may or may not have happened", "yellow")
    if complete and event.detail:
        yield TextBlock(f"Detail {event.call}", inert(event.detail), "dim")


def _preview(event: Observation) -> str:
    """The beginning of each piece that was found, a line each; other content as it is."""
    if not event.evidence:
        return readable(event.content)
    return "\n".join(
        f"[{piece.doc_id}] {piece.score:.2f} {piece.source}: {one_line(piece.text, WIDE)}"
        for piece in event.evidence
    )


def readable(value: Json, indent: str = "", *, spread: bool = False) -> str:
    """Text as it is, short values as JSON, long ones with a line for each of their parts.

    With `spread` a short one gets its lines too.
    """
    if isinstance(value, str):
        return value.replace("\n", f"\n{indent}")
    flat = encode(value).decode()
    if not isinstance(value, dict | list) or not value or (len(flat) <= WIDE and not spread):
        return flat
    parts: list[tuple[str, Json]]
    if isinstance(value, dict):
        parts = [(f"{name}:", part) for name, part in cast("dict[str, Json]", value).items()]
        spread = False
    else:
        parts = [("-", part) for part in cast("Sequence[Json]", value)]
        spread = any(len(encode(part)) > WIDE for _, part in parts)  # those of a list look alike
    deeper = f"{indent}  "
    lines = [
        f"{label}{_under(label, readable(part, deeper, spread=spread), deeper)}"
        for label, part in parts
    ]
    return f"\n{indent}".join(lines)


def _under(label: str, text: str, indent: str) -> str:
    """A part of several lines begins below its name, but beside the dash of a list."""
    return f"\n{indent}{text}" if "\n" in text and label != "-" else f" {text}"


def origins(by_argument: Mapping[str, Sequence[Origin]]) -> str:
    """Where the values of each argument come from, in a line of its own for each."""
    return "".join(
        f"\n{one_line(name)}: {'; '.join(map(_origin, each))}" for name, each in by_argument.items()
    )


def _origin(origin: Origin) -> str:
    """Who gave values, and which of them a guard doubts; without parts it doubts all of them."""
    told = describe_origin(origin)
    told += ", trusted" if origin.trusted and origin.kind == "result" else ""
    parts = ", ".join(encode(part).decode() for part in origin.parts)
    doubt = f", doubtful: {parts}" if parts else ", doubtful"
    return told + doubt if origin.doubtful else told


def judged(event: Judged) -> Iterator[TextBlock]:
    """A guard's word."""
    text = f"{event.verdict.kind}: {event.verdict.reason}"
    if event.by:
        text += f" ({event.by})"
    text += origins(event.verdict.origins)
    yield TextBlock(f"Verdict {event.call}", inert(text), "yellow")


def ruling(event: Ruling | Settled | Woken) -> Iterator[TextBlock]:
    """A word on a call that waited, or that its time came."""
    if not isinstance(event, Ruling):
        yield settled(event)
        return
    text = "allowed" if event.allow else "refused"
    if event.args is not None:
        text += f" with {prompt_spec(event.args)}"
    if event.why:
        text += f": {event.why}"
    if event.by:
        text += f" (by {event.by})"
    yield TextBlock(f"Ruling {event.call}", inert(text), "yellow")


def settled(event: Settled | Woken) -> TextBlock:
    """What somebody says came of a call, or that its time came."""
    if isinstance(event, Woken):
        return TextBlock(f"Time {event.call}", "the time has come that the call waited for", "dim")
    text = "done" if event.done else "not done"
    if event.result is not None:
        text += f", with the result {encode(event.result).decode()}"
    text += f": {event.why}" if event.why else ""
    text += f" (by {event.by})" if event.by else ""
    return TextBlock(inert(f"Settled {event.below or event.call}"), inert(text), "yellow")


def begun(event: Attempt | Suspended, *, complete: bool) -> Iterator[TextBlock]:
    """That a call begins, or asks for others."""
    if isinstance(event, Attempt):
        yield from attempt(event, complete=complete)
        return
    for action in event.actions:
        yield TextBlock(f"Asked by {event.call}", written(action, complete=complete), "green")


def attempt(event: Attempt, *, complete: bool) -> Iterator[TextBlock]:
    """That a call begins; the first one goes without saying."""
    if event.child:
        yield TextBlock(f"Sub-run {event.call}", inert(_sub_run_line(event)), "dim")
    elif event.task:
        text = f"the server of {event.tool} works on this call; its number there is {event.task}"
        yield TextBlock(f"Call {event.call}", inert(text), "dim")
    elif complete or event.number > 1:
        text = f"attempt {event.number} of {event.tool}"
        if event.after:
            text += f", after: {event.after}"
        yield TextBlock(f"Attempt {event.call}", inert(text), "dim")


def _sub_run_line(event: Attempt) -> str:
    """The sub-run of a call, and what it may take."""
    if (grant := event.grant) is None:
        return event.child
    cost = "" if grant.cost is None else f", ${grant.cost:.4f}"
    return (
        f"{event.child} (granted: {grant.steps} steps, {grant.tool_calls} calls, "
        f"{grant.tokens:,} tokens, {grant.seconds:g} s{cost})"
    )


def note(event: Note, step: int) -> Iterator[TextBlock]:
    """A word from outside."""
    labels = {"person": "You", "check": f"Check {step}", "late": "Late", "memory": "Memory"}
    yield TextBlock(labels[event.source], inert(event.text), "bold")
    yield from _done_before(event)


def stop(event: Stop) -> Iterator[TextBlock]:
    """The last word."""
    why = f": {event.reason}" if event.reason else ""
    ended = f" ({event.outcome.replace('_', ' ')})" if event.outcome else ""
    yield TextBlock("Stop", inert(f"{event.status}{ended}{why}"), "bold")
    if event.answer is not None:
        text = text_or_json(event.answer)
        yield TextBlock("Answer", inert(text), "bold")
    yield from map(unknown, event.unknown)


def unknown(call: UnknownCall) -> TextBlock:
    """A call of which nobody knows whether it happened."""
    line = one_line(f"{call.tool}({encode(call.args).decode()})", WIDE)
    return TextBlock(inert(f"Unknown {call.id}"), inert(line), "yellow")
