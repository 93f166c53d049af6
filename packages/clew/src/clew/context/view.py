"""The view: record to prompt, each step rendered once, with running fingerprints.

A view is a memory of work done, not a state: dropped at any time, it comes back the same.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from clew.context.rewind import OWN
from clew.context.visible import goal_of, visible_step
from clew.core.codec import Codec, Constrains, Describes, PromptSpec
from clew.core.events import EFFECTFUL, Code, Compacted, Fingerprints, Json, Note, encode
from clew.core.interfaces import Calls, Parameters, Part, Prompt
from clew.core.prompt_parts import Parts
from clew.core.trajectory import WITHHELD, Call, Step, Trajectory

RESTATE_CHARS: Final = 24_000
"""After so much since a person's words were last said, the prompt's tail says them again.

Models attend to its end.
"""

RESTATED_CHARS: Final = 1_000
"""So much of them is said again: of longer words the beginning and the end."""

REPEATED: Final[Code] = "repeated_same_tool_call_too_many_times"

_CUT: Final = frozenset({"length", "filter", "refusal", "cut"})
"""Ends of replies that are none."""


def digest(*values: Any) -> str:
    """Fingerprint of JSON values: 16 hex digits (BLAKE2b)."""
    return hashlib.blake2b(encode(values), digest_size=8).hexdigest()


def plain(part: Part) -> tuple[Any, ...]:
    """A part as JSON values: all that is said, nothing of how it was encoded."""
    told = (part.role, part.text, part.calls, part.call_id, part.name, part.wire)
    return (*told, [image.blob for image in part.images]) if part.images else told


def first_prompt(codec: Codec, brief: PromptSpec, goal: str = "…") -> Prompt:
    """What a run begins with: no step yet."""
    tools = (*brief.tools, brief.finish) if codec.native else ()
    form = codec.reply_schema(brief, "auto")
    return Prompt(codec.head(brief, goal), (), (), tools, "auto", codec.stop, form)


def _visible_words(step: Step) -> str:
    """A person's words after the step, but for those that no model may see."""
    notes = (notice for notice in step.notices if isinstance(notice, Note))
    told = [note.text for note in notes if note.source == "person" and note.text != WITHHELD]
    return "\n\n".join(told)


def _shortened(words: str) -> str:
    """Words to be said again: of long ones beginning and end, for the whole stands above."""
    if len(words) <= RESTATED_CHARS:
        return words
    half = RESTATED_CHARS // 2
    return f"{words[:half]} […] {words[-half:]}"


def _lost(step: Step) -> bool:
    """Whether nothing came of its reply, since that was empty or cut."""
    if (thought := step.thought) is None or not thought.fault:
        return False
    return thought.reply.finish in _CUT or not thought.reply.text.strip()


class _Rendered:
    """A step's parts, and what holds up to it: the running hash, what a person last said, and the
    characters since that was last said (again). `lost` says that its reply was empty or cut.
    """

    __slots__ = ("hasher", "lost", "notices", "parts", "said", "size")

    def __init__(
        self,
        before: "_Rendered | None",
        step: Step,
        parts: Sequence[Part],
        *,
        restated: bool = False,
    ) -> None:
        self.notices = len(step.notices)
        self.lost = _lost(step)
        self.parts = parts
        self.hasher: Any = (
            hashlib.blake2b(digest_size=8) if before is None else before.hasher.copy()
        )
        self.said: str = "" if before is None else before.said
        self.size: int = 0 if before is None or restated else before.size
        for part in parts:
            self.hasher.update(encode(plain(part)))
            self.size += len(part.text)
        if step.notices and (said := _visible_words(step)):
            self.said, self.size = said, 0


class _Shown:
    """The tools as a thought is shown them: those from the start, then more, in their order."""

    __slots__ = ("brief", "declared", "forms", "names", "print")

    def __init__(self, codec: Codec, brief: PromptSpec, names: tuple[str, ...]) -> None:
        more = tuple(brief.later[name] for name in names if name in brief.later)
        self.names = names
        self.brief = replace(brief, tools=(*brief.tools, *more)) if more else brief
        self.declared = (*brief.tools, brief.finish, *more) if codec.native else ()
        self.print = digest(*((t.name, t.description, t.parameters) for t in self.declared))
        self.forms: dict[tuple[Calls, frozenset[str]], tuple[Parameters | None, str, str]] = {}


class View:
    """Renders one run for one agent's codec. Feed it the same trajectory as it grows."""

    def __init__(
        self, codec: Codec, brief: PromptSpec, goal: str, params: Mapping[str, Json], seed: int = 0
    ) -> None:
        self._codec = codec
        self.brief = brief
        self.goal = goal
        self._head = codec.head(brief, goal)
        self._params = dict(params)
        self._seed = seed
        self._head_print = digest(*map(plain, self._head))
        self._params_print = digest(self._params, codec.stop)
        self._shown = _Shown(codec, brief, ())
        holds = self._params.get("grammar") is True  # so says a model that is held to one
        self._constrains = codec if holds and isinstance(codec, Constrains) else None
        self._describes = codec if not codec.native and isinstance(codec, Describes) else None
        self._told: dict[tuple[str, ...], tuple[Part, ...]] = {(): ()}
        self._rendered: list[_Rendered] = []
        self._parts = Parts()
        self._compaction: Compacted | None = None
        self._rewinds = 0

    def prompt(
        self,
        so_far: Trajectory,
        reminders: Sequence[str],
        calls: Calls,
        shown: tuple[str, ...] = (),
    ) -> tuple[Prompt, Fingerprints]:
        """The prompt for the next thought and its fingerprints; `shown` are tools new to it."""
        self._follow(so_far)
        last, more = self._rendered[-1], self._described(shown)
        if (names := (*so_far.shown, *shown)) != self._shown.names:
            self._shown = _Shown(self._codec, self.brief, names)
        number = len(so_far.steps) + 1
        tail = self._codec.tail(self.brief, [*self._restated(last), *reminders], number)
        withheld = _withheld(so_far, self.brief) if self.brief.withhold else frozenset[str]()
        form, grammar, params = self._reply_form(calls, withheld)
        prints = Fingerprints(
            head=self._head_print,
            tools=self._shown.print,
            params=params,
            parts=(_Rendered(last, so_far.before, more) if more else last).hasher.hexdigest(),
            tail=digest(calls, *map(plain, tail)) if tail or calls != "auto" else "",
        )
        stop = self._codec.stop
        parts = (*self._parts, *more) if more else self._parts
        tools = self._shown.declared
        held = (form, self._seed, grammar)
        return Prompt(self._head, parts, tail, tools, calls, stop, *held), prints

    def _restated(self, last: _Rendered) -> list[str]:
        """What the person last asked, where it might be lost sight of: so much follows, or nothing
        came of the last reply.
        """
        if last.size <= RESTATE_CHARS and not (last.lost and self.brief.repeat_question):
            return []
        if last.said:
            return [f"The person's last words again: {_shortened(last.said)}"]
        return [f"The question again: {_shortened(self.goal)}"]

    def _described(self, shown: tuple[str, ...]) -> tuple[Part, ...]:
        """What tells a model of these tools, made once; nothing where tools are declared."""
        if shown not in self._told:
            tools = [self.brief.later[name] for name in shown if name in self.brief.later]
            codec = self._describes if tools else None
            self._told[shown] = () if codec is None else codec.describe(self.brief, tools)
        return self._told[shown]

    def _reply_form(
        self, calls: Calls, withheld: frozenset[str]
    ) -> tuple[Parameters | None, str, str]:
        """Schema and grammar of the next reply, made once, and the parameters' fingerprint with
        them. Neither has a tool that is `withheld`; what is declared of tools stays the same.
        """
        forms, brief = self._shown.forms, self._shown.brief
        if (calls, withheld) not in forms:
            left = tuple(tool for tool in brief.tools if tool.name not in withheld)
            brief = replace(brief, tools=left) if withheld else brief
            form, params = self._codec.reply_schema(brief, calls), self._params_print
            grammar = self._grammar(brief, calls)
            if form is not None or grammar:
                said = [one for one in (form, grammar) if one]
                params = digest(self._params, self._codec.stop, *said)
            forms[calls, withheld] = (form, grammar, params)
        return forms[calls, withheld]

    def _grammar(self, brief: PromptSpec, calls: Calls) -> str:
        if self._constrains is None:
            return ""
        tokens = self._params.get("max_tokens")
        return self._constrains.grammar(brief, calls, tokens if isinstance(tokens, int) else None)

    def _follow(self, so_far: Trajectory) -> None:
        """Render what is new; the last step is rendered again when something was said after it."""
        done = self._rendered
        omitted = so_far.omitted
        compaction = omitted.compactions[-1] if omitted.compactions else None
        if compaction is not self._compaction:  # a new one, or one that a rewind undid
            self._forget(0)
        elif new := omitted.rewinds[self._rewinds :]:
            self._forget(1 + min(one.to for one in new))
        self._compaction, self._rewinds = compaction, len(omitted.rewinds)
        if done and done[-1].notices != len(_step(so_far, len(done) - 1).notices):
            stale = done.pop()
            self._parts = Parts(self._parts[: len(self._parts) - len(stale.parts)])
        while len(done) <= len(so_far.steps):
            before = done[-1] if done else None
            rendered = self._render(before, _step(so_far, len(done)), so_far)
            done.append(rendered)
            self._parts = self._parts.grown(rendered.parts)

    def _forget(self, kept: int) -> None:
        """Keep so many rendered steps, step 0 among them; the others are seen otherwise now."""
        del self._rendered[kept:]
        self._parts = Parts(self._parts[: sum(len(one.parts) for one in self._rendered)])

    def _render(self, before: _Rendered | None, step: Step, so_far: Trajectory) -> _Rendered:
        """A step: tools that were new to it, what was said anew before it, what came of it.

        What was said anew at the end of its prompt stays where it was said, so that every prompt
        begins with the whole of the one before.
        """
        told: tuple[Part, ...] = ()
        restated: list[str] = []
        if step.thought is not None and before is not None:
            told = self._described(step.thought.shown)
            if step.number not in so_far.omitted:
                restated = self._restated(before)
                notes = [*restated, *step.thought.reminders]
                told = (*told, *self._codec.tail(self.brief, notes, step.number))
        visible = visible_step(step, self.brief.shape, so_far, self.brief.shown)
        seen = self._codec.render(self.brief, visible)
        return _Rendered(before, step, (*told, *seen), restated=bool(restated))


def _step(so_far: Trajectory, number: int) -> Step:
    """A step by its number; 0 is what comes before the first thought."""
    return so_far.steps[number - 1] if number else so_far.before


def _withheld(so_far: Trajectory, brief: PromptSpec) -> frozenset[str]:
    """Tools that the last step called once more in vain: refused as a repetition, or with a hint
    that it is one, and with the same result as before. After a rewind of the run's own: those with
    which the branch began, where others read too.
    """
    step, rewound = so_far.step, so_far.omitted.hidden
    if not so_far.steps or step.person_spoke:
        return frozenset()
    if step.number in rewound:
        return _began(so_far, brief)
    return frozenset(call.action.name for call in step.calls if _in_vain(so_far, call))


def _began(so_far: Trajectory, brief: PromptSpec) -> frozenset[str]:
    """The tools with which the branch began that a run has just left by itself.

    Small models begin it again, whatever the lesson says.
    """
    back = so_far.omitted.rewinds[-1]
    began = frozenset(call.action.name for call in so_far.steps[back.to].calls)
    others = {tool.name for tool in brief.tools if tool.effect not in EFFECTFUL} - began
    return began if others and back.by in OWN else frozenset()


def _in_vain(so_far: Trajectory, call: Call) -> bool:
    """Whether a call of the last step was a repetition, and its result no other.

    What cannot be made (its arguments do not fit) is looked at by no guard, and has no hint.
    """
    refused = call.observation is not None and call.observation.code == REPEATED
    hinted = any(hint.verdict.code == REPEATED for hint in call.hints)
    unmade = call.observation is not None and not call.observation.made
    return refused or ((hinted or unmade) and _result(call) in _earlier_results(so_far, call))


def _result(call: Call) -> Json:
    return None if call.observation is None else call.observation.content


def _earlier_results(so_far: Trajectory, call: Call) -> list[Json]:
    """What the same call gave before this step, the last time of those in view."""
    earlier = (
        _result(other)
        for step in so_far.steps[-2::-1]
        if step.number not in so_far.omitted.hidden
        for other in step.calls
        if other.hash == call.hash
    )
    return list(islice(earlier, 1))


def next_prompt(
    codec: Codec,
    brief: PromptSpec,
    params: Mapping[str, Json],
    seed: int,
    so_far: Trajectory,
    reminders: Sequence[str],
    calls: Calls,
    shown: tuple[str, ...] = (),
) -> tuple[Prompt, Fingerprints]:
    """The prompt for the next thought and its fingerprints (`View.prompt`).

    The run's view is kept between steps, and made anew whenever it is not there.
    """
    view, goal = so_far.folds.get("view"), goal_of(so_far)
    if not isinstance(view, View) or view.brief is not brief or view.goal != goal:
        view = so_far.folds["view"] = View(codec, brief, goal, params, seed)
    return view.prompt(so_far, reminders, calls, shown)
