"""What a model sees of the steps of a run: observations in part, and what is left of old steps."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from clew.context.chat_tokens import without_chat_tokens
from clew.context.own_words import bounded
from clew.core.attachments import attached_texts
from clew.core.codec import VISIBLE_CHARS, Shape
from clew.core.codes import FINISH
from clew.core.contents import Asked, Attachment, Observation, Text, attachments_of, text_parts
from clew.core.done import told_effect
from clew.core.events import Compacted, Forked, Gathered, Note, Rewound, Thought
from clew.core.steps import Notice
from clew.core.trajectory import WITHHELD, Call, Step, Trajectory
from clew.support.parts import shaped_text

_TAIL_CHARS: Final = 20_000

LINE_CHARS: Final = 400
"""A longer line is shown in part if it is no prose: minified code, encoded or binary data."""

_LONG_LINE: Final = re.compile(rf"[^\n]{{{LINE_CHARS + 1},}}")
_BEGINNING: Final = 200
_PROSE: Final = 1 / 12
"""Prose and code have at least this share of spaces; minified code has some 3 in a hundred."""

_WIDE: Final = re.compile(r"(?:(?=[\u2e80-\U0010ffff])[^\W_])+")
"""Letters and digits of scripts that are written without spaces, such as Chinese."""

_SAMPLE: Final = 10_000
"""How many characters of a line say whether it is in such a script: a line may have millions."""

_JSON: Final = ("{}", "[]")
"""How a line of JSON begins and ends."""

_TAIL: Final = 5
"""The last fifth of what is shown of a long text is its end."""

ATTACHED: Final = 1_000
"""Tokens that a picture is expected to take, and any other attachment at least."""

EFFECT_CHARS: Final = 200
"""The most of a line that tells of an effect."""

RULED_ON: Final = "What came of the calls that were put off:"

_DONE: Final = "Done in them all the same (do not do it again unless it is to happen twice):"

_SUMMARY: Final = "In short (as far to be trusted as the results it is of):"


class VisibleResults(NamedTuple):
    """How a model sees the results of calls in a run.

    At most `visible_chars` characters of one, with a handle to read on; None: without one, and at
    most 100,000.
    """

    shape: Shape | None = None
    visible_chars: int | None = None

    def text(self, key: str, seen: Observation) -> str:
        """The text of a call's observation."""
        text = seen.text if self.shape is None else shaped_text(self.shape, seen.text)
        if self.visible_chars is not None:
            return trimmed(text, self.visible_chars, key, data=not isinstance(seen.content, str))
        if (left := len(text) - VISIBLE_CHARS) <= 0:
            return text
        what = f"{left:,} of {len(text):,} characters are left out here: ask for a part of it"
        return f"{text[: VISIBLE_CHARS - _TAIL_CHARS]}\n[… {what} …]\n{text[-_TAIL_CHARS:]}"

    def attachments(self, key: str, seen: Observation) -> tuple[Attachment, ...]:
        """What a call returned beside text, with as much of what it says as of a text."""
        room, trusted = self.visible_chars or VISIBLE_CHARS, seen.trust == "trusted"
        visible: list[Attachment] = []
        for each, at in attached_texts(seen):
            text = each.text if trusted else without_chat_tokens(each.text)
            if (left := len(text) - room) > 0:
                how = f': read_more("{key}", offset={at + room})' if self.visible_chars else ""
                mark = f"[… {left:,} of {len(text):,} characters are left out{how} …]"
                text = f"{text[:room]}\n{mark}"
            visible.append(msgspec.structs.replace(each, text=text))
        return tuple(visible)


def leaves_out(trajectory: Trajectory, shape: Shape | None, visible_chars: int | None) -> bool:
    """Whether something is left out that could be read on: now, or of the last step."""
    if trajectory.omitted.compactions:
        return True
    seen = VisibleResults(shape, visible_chars)
    if visible_chars is None:
        return False
    results = [(call.key, call.observation) for call in trajectory.step.calls]
    return any(
        it is not None
        and (
            (len(it.text) > LINE_CHARS and seen.text(key, it) != it.text)
            or any(len(each.text) > visible_chars for each in it.attachments)
        )
        for key, it in results
    )


def goal_of(trajectory: Trajectory) -> str:
    """What a run was asked: words of a person as they are, of a model's without chat tokens."""
    own = trajectory.started.trust == "trusted"
    return trajectory.visible_goal if own else without_chat_tokens(trajectory.visible_goal)


def attachments_of_goal(trajectory: Trajectory) -> tuple[Attachment, ...]:
    """What stands beside the words of the question, unless that was refused."""
    if trajectory.visible_goal == WITHHELD:
        return ()
    return attachments_of(_plain_parts(trajectory.started.attachments))


def attached_tokens(attachments: Iterable[Attachment]) -> int:
    """How many tokens attachments are expected to take."""
    return sum(max(ATTACHED, len(each.text) // 4) for each in attachments)


def visible_step(
    step: Step, shape: Shape | None, trajectory: Trajectory, visible_chars: int | None = None
) -> Step:
    """The step as a model sees it.

    Observations are shaped, and long ones shown in part, or what a compaction put in their place;
    what finish was told stays. What came from outside is without chat tokens, and what the model
    wrote is bounded.
    """
    seen_as = VisibleResults(shape, visible_chars)
    came = _came_of(trajectory) if trajectory.omitted.rewinds else {}
    if trajectory.omitted.compactions or trajectory.omitted.rewinds:
        step = _remaining(step, trajectory)
    if step.thought is not None:
        step = bounded(step, step.thought)

    def visible_call(call: Call) -> Call:
        if (seen := came.get(call.key, call.observation)) is None:
            return call
        text, finish = seen.text, call.action.name == FINISH
        if (cut := trajectory.omitted.cuts.get(call.key)) is not None:
            seen = msgspec.structs.replace(seen, content=cut, attachments=())
            return msgspec.structs.replace(call, observation=_plain(seen))
        visible = text if finish else seen_as.text(seen.call, seen)
        if seen.trust != "trusted":
            visible = without_chat_tokens(visible)
        attachments = seen_as.attachments(seen.call, seen) if seen.attachments else ()
        as_it_is = visible == text and attachments == seen.attachments
        if as_it_is and (finish or shape is None) and seen is call.observation:
            return call
        seen = msgspec.structs.replace(seen, content=visible, attachments=attachments)
        return msgspec.structs.replace(call, observation=seen)

    calls = tuple(map(visible_call, step.calls))
    notices = tuple(map(_plain_notice, step.notices))
    if step.gathered:
        notices += (_ruled_on(map(visible_call, step.gathered)),)
    return msgspec.structs.replace(step, calls=calls, notices=notices)


def _came_of(trajectory: Trajectory) -> dict[str, Observation]:
    """What came of calls that were put off until a step that is a wrong branch now, by their keys.

    They stand where the model asked for them: nothing else would tell that they are made.
    """
    came: dict[str, Observation] = {}
    number = 0
    for entry in trajectory.entries:
        number += isinstance(entry.event, Thought)
        if isinstance(entry.event, Gathered) and number in trajectory.omitted.hidden:
            calls = zip(entry.event.calls, trajectory.steps[number - 1].gathered, strict=False)
            came |= {key: call.observation for key, call in calls if call.observation is not None}
    return came


def _ruled_on(calls: Iterable[Call]) -> Note:
    """What came of calls that were put off, once a person ruled on them."""
    lines = [RULED_ON]
    attachments: list[Attachment] = []
    for call in calls:
        text = "" if call.observation is None else call.observation.text
        lines += [f"- {told_effect(call)[0]}: {text}", *call.remarks]
        attachments += () if call.observation is None else call.observation.attachments
    return Note((*text_parts("\n".join(lines)), *attachments), source="late")


def _remaining(step: Step, trajectory: Trajectory) -> Step:
    """What is left of a step after compactions and rewinds, which are said where they count.

    What stays is never left out.
    """
    omitted = trajectory.omitted
    notices = tuple(one for one in step.notices if not isinstance(one, Compacted))
    if not step.number:
        account = [_with_summary(one) for one in omitted.compactions[-1:] if one.text]
        return msgspec.structs.replace(step, notices=(*notices, *account))
    if step.number not in omitted:
        return msgspec.structs.replace(step, notices=notices)
    kept: list[Notice] = []
    for one in notices:
        if stays(one):
            kept.append(one)
        elif isinstance(one, Rewound) and step.number > omitted.upto:
            kept.append(_with_effects(one, trajectory.steps[one.to : step.number]))
    return Step(step.number, notices=tuple(kept))


def _with_summary(less: Compacted) -> Compacted:
    """The account of what was left out, with what a model wrote of it."""
    if not less.summary:
        return less
    return msgspec.structs.replace(less, text=f"{less.text}\n{_SUMMARY}\n{less.summary}")


def stays(notice: Notice) -> bool:
    """Whether a notice is shown even of a step that is left out.

    It is a person's words, what was remembered of other runs, or what a fork found done.
    """
    if isinstance(notice, Note):
        return notice.source in {"person", "memory"}
    return isinstance(notice, Forked)


def _with_effects(back: Rewound, branch: Sequence[Step]) -> Rewound:
    """A rewind with a line for each effect of the wrong branch: it stays done."""
    done = [effect_line(call) for step in branch for call in step.all_calls if call.changed]
    if not done:
        return back
    return msgspec.structs.replace(back, lesson="\n".join([back.lesson, _DONE, *done]))


def effect_line(call: Call) -> str:
    """A line that tells of an effect, with the arguments that it was had with."""
    told, outcome = told_effect(call)
    line = f"- {told}" if call.doubts else f"- {told}"[:EFFECT_CHARS]
    return line if outcome == "done" else f"{line} (it may or may not have happened)"


def _plain(seen: Observation) -> Observation:
    """The observation without chat tokens, where they are not ours."""
    plain = seen.text if seen.trust == "trusted" else without_chat_tokens(seen.text)
    return msgspec.structs.replace(seen, content=plain)


def _plain_notice(notice: Notice) -> Notice:
    """The notice without chat tokens, where its words may come from outside."""
    match notice:
        case Note(source="late" | "memory"):
            return msgspec.structs.replace(notice, parts=_plain_parts(notice.parts))
        case Note() if notice.attachments:
            plain = (it if isinstance(it, Text) else _plain_parts((it,))[0] for it in notice.parts)
            return msgspec.structs.replace(notice, parts=tuple(plain))
        case Compacted():
            return msgspec.structs.replace(notice, text=without_chat_tokens(notice.text))
        case Rewound():
            return msgspec.structs.replace(notice, lesson=without_chat_tokens(notice.lesson))
        case _:
            return notice


def _plain_parts(parts: Asked) -> Asked:
    replace = msgspec.structs.replace
    return tuple(replace(part, text=without_chat_tokens(part.text)) for part in parts)


def trimmed(text: str, max_chars: int, handle: str, *, data: bool = False) -> str:
    """The text, its long lines that are no prose and a middle beyond `max_chars` characters left
    out.

    Of `data` (JSON that a tool gave as such) no line is too long, nor is one that is JSON.
    """
    if len(text) <= LINE_CHARS:
        return text
    if not data and not all(map(_prose, _LONG_LINE.findall(text))):
        text = _without_long_lines(text, handle)
    if len(text) <= max_chars:
        return text
    tail = max_chars // _TAIL
    head = max_chars - tail
    left, size = f"{len(text) - max_chars:,}", f"{len(text):,}"
    how = f'read_more("{handle}", offset={head})'
    marker = f"[… {left} of {size} characters are left out here: {how} …]"
    return f"{text[:head]}\n{marker}\n{text[-tail:]}"


def _without_long_lines(text: str, handle: str) -> str:
    visible: list[str] = []
    position = 0
    for line in text.split("\n"):
        if len(line) > LINE_CHARS and not _prose(line):
            left, at = len(line) - _BEGINNING, position + _BEGINNING
            marker = f'[… {left:,} characters of this line: read_more("{handle}", offset={at}) …]'
            visible.append(f"{line[:_BEGINNING]} {marker}")
        else:
            visible.append(line)
        position += len(line) + 1
    return "\n".join(visible)


def _prose(line: str) -> bool:
    """Whether a line is to be read: prose, in a script with spaces or without, or JSON."""
    spaces, ends = line.count(" "), f"{line[:1]}{line[-1:]}"
    if ends in _JSON:
        return True
    if spaces >= _PROSE * len(line):
        return True
    sample = line[:_SAMPLE]
    return not line.isascii() and sum(map(len, _WIDE.findall(sample))) > len(sample) // 2
