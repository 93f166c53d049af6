"""A draft of a shorter view: what would be shown of a run, and how many tokens that takes."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

from clew.context.visible import (
    VisibleResults,
    attached_tokens,
    attachments_of_goal,
    effect_line,
    stays,
)
from clew.core.codec import Shape
from clew.core.contents import Observation, Reply
from clew.core.events import Note, Rewound
from clew.core.trajectory import Call, Step, Trajectory
from clew.core.values import encode

CHARACTERS: Final = 4
"""Characters that are counted as one token, where the provider's figures do not say otherwise."""

CITED_CHARS: Final = 500
"""The most of a piece of evidence that was cited and stays."""

_LEFT_OUT: Final = (
    "Steps 1 to {} are left out here, to keep the prompt short: recall(query) finds them by words, "
    "and read_more(handle) shows one of their results."
)
_DONE: Final = "Done in them (do not do it again unless it is to happen twice):"
_LESSONS: Final = "Learned in them:"
_EVIDENCE: Final = "Cited from them:"
"""What the account of steps that are left out says, and its headings."""

_FRAGMENTS: Final = 3
"""So many lines of an observation are extracted at most."""

_WORD: Final = re.compile(r"\w{3,}")
_LINES: Final = re.compile(r"[^\n.!?]+[.!?]?")
_CITED: Final = re.compile(r"[\[【]([^\[\]【】\s]{1,80})[\]】]")


class CompactionPlan:
    """What a view would show. Compactors make it shorter; the record stays as it is.

    `target` are the tokens that the prompt should take at most, `prompt` those it would take now.
    The last `keep` steps are not to be touched.
    """

    def __init__(
        self,
        trajectory: Trajectory,
        target: int,
        keep: int,
        prompt: int,
        opening: int,
        shape: Shape | None,
        visible_chars: int | None,
    ) -> None:
        self.trajectory, self.target, self.keep = trajectory, target, keep
        self._seen = VisibleResults(shape, visible_chars)
        self.cuts = dict(trajectory.omitted.cuts)
        self.new_cuts: dict[str, str] = {}
        self.upto = 0
        self._kept: dict[str, list[str]] = {_DONE: [], _LESSONS: [], _EVIDENCE: []}
        before = trajectory.omitted.upto
        self._sizes = {
            step.number: self._size(step)
            for step in trajectory.steps[before:]
            if step.number not in trajectory.omitted.hidden
        }
        self._chars = sum(self._sizes.values())
        attached = attached_tokens(attachments_of_goal(trajectory))
        self._fixed = opening + attached + len(trajectory.visible_goal) // CHARACTERS
        if before:
            self._leave(trajectory.steps[:before])
        self._rate = max(1 / CHARACTERS, (prompt - self._fixed) / max(1, self._chars))

    # ------------------------------------------------------------------------------- reading

    @property
    def tokens(self) -> int:
        """The estimated size of the prompt."""
        return self._fixed + int(self._rate * self._chars)

    @property
    def fits(self) -> bool:
        """Whether nothing more has to be left out."""
        return self.tokens <= self.target

    @property
    def steps(self) -> Sequence[Step]:
        """The steps that are shown."""
        return [self.trajectory.steps[number - 1] for number in self._sizes if number > self.upto]

    @property
    def older(self) -> Sequence[Step]:
        """The shown steps but for the last ones, which stay as they are."""
        return self.steps[: -self.keep]

    @property
    def account(self) -> str:
        """What stands in the place of the steps that are left out; "" where none is."""
        if not self.upto:
            return ""
        lines = [_LEFT_OUT.format(self.upto)]
        for heading, items in self._kept.items():
            lines += [heading, *items] if items else []
        return "\n".join(lines)

    def salient(self, text: str) -> str:
        """The lines of a text that have most words in common with the goal, in their order."""
        lines = [line.strip() for line in _LINES.findall(text)]
        ranked = sorted(
            (-len(self._terms & _words(line)), index) for index, line in enumerate(lines)
        )
        best = sorted(index for matches, index in ranked[:_FRAGMENTS] if matches)
        return "\n".join(lines[index] for index in best)

    @cached_property
    def _terms(self) -> frozenset[str]:
        return _words(self.trajectory.visible_goal)

    @cached_property
    def _cited(self) -> frozenset[str]:
        """What thoughts, calls and answers name in brackets."""
        thoughts = [step.thought for step in self.trajectory.steps if step.thought is not None]
        texts = [f"{one.text} {one.answer or ''}" for one in thoughts]
        texts += [encode(action.args).decode() for one in thoughts for action in one.actions]
        return frozenset(name for text in texts for name in _CITED.findall(text))

    # ------------------------------------------------------------------------------ changing

    def cut(self, call: Call, seen: Observation, text: str) -> None:
        """Show this in the place of a result, where it is shorter; cited evidence stays."""
        text.encode()  # half a character no record can hold
        kept = [
            f"[{piece.doc_id}] {piece.text[:CITED_CHARS]}"
            for piece in seen.evidence
            if piece.doc_id in self._cited
        ]
        text = "\n".join([text, *kept])
        saved = self._result(call, seen) - len(text)
        if saved > 0:
            self.cuts[call.key] = self.new_cuts[call.key] = text
            self._sizes[call.step] -= saved
            self._chars -= saved

    def leave_out(self, step: Step) -> None:
        """Leave out a step, with all before it. Raises `ValueError` if it is not one of `older`."""
        if step.number not in {one.number for one in self.older}:
            raise ValueError(f"step {step.number} is left out already, or is to stay")
        left = self.trajectory.steps[self.upto : step.number]
        self._chars -= sum(self._sizes.get(one.number, 0) for one in left)
        self._leave(left)

    def _leave(self, steps: Sequence[Step]) -> None:
        """Account for steps that are left out: what was done in them, learned, and cited."""
        if not self.upto:
            self._chars += len(_LEFT_OUT) + len(earlier_summary(self.trajectory))
        self.upto = steps[-1].number
        for step in steps:
            self._chars += _staying(step)
            for notice in step.notices:
                if isinstance(notice, Rewound):
                    self._keep(_LESSONS, f"- {notice.lesson}")
            for call in step.all_calls:
                self.new_cuts.pop(call.key, None)
                if call.changed:
                    self._keep(_DONE, effect_line(call))
            pieces = [piece for _, seen in results(step) for piece in seen.evidence]
            for piece in pieces:
                if piece.doc_id in self._cited:
                    self._keep(_EVIDENCE, f"[{piece.doc_id}] {piece.text[:CITED_CHARS]}")

    def _keep(self, heading: str, line: str) -> None:
        if line in (kept := self._kept[heading]) and heading != _DONE:
            return
        self._chars += len(line) + 1 + (0 if kept else len(heading))
        kept.append(line)

    # -------------------------------------------------------------------------------- sizes

    def _size(self, step: Step) -> int:
        """The characters of a step as it is shown."""
        reply = Reply() if step.thought is None else step.thought.reply
        characters = len(reply.text) + sum(
            len(c.name) + len(c.arguments or "") for c in reply.calls
        )
        notes = sum(len(note.text) for note in step.notices if isinstance(note, Note))
        return characters + notes + sum(self._result(*pair) for pair in results(step))

    def _result(self, call: Call, seen: Observation) -> int:
        """The characters that are shown of a call's result."""
        if (cut := self.cuts.get(call.key)) is not None:
            return len(cut)
        attached = attached_tokens(self._seen.attachments(call.key, seen)) * CHARACTERS
        return len(self._seen.text(call.key, seen)) + (attached if seen.attachments else 0)


def results(step: Step) -> list[tuple[Call, Observation]]:
    """The calls of a step with what came of them."""
    return [(call, call.observation) for call in step.calls if call.observation is not None]


def earlier_summary(trajectory: Trajectory) -> str:
    """What a model wrote of the steps that were left out so far."""
    done = trajectory.omitted.compactions
    return done[-1].summary if done else ""


def rest(call: Call, seen: Observation) -> str:
    """How the whole result of a call can be read."""
    return f'{len(seen.text):,} characters in all: read_more("{call.key}") shows them'


def _staying(step: Step) -> int:
    """The characters of what is shown even of a step that is left out."""
    staying = (notice for notice in step.notices if stays(notice))
    return sum(len(one.text if isinstance(one, Note) else str(one)) for one in staying)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))
