"""The view: record to prompt, each step rendered once, with running fingerprints.

A view is a memory of work done, not a state: dropped at any time, it comes back the same.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from clew.context.rewind import OWN
from clew.context.visible import attachments_of_goal, goal_of, visible_step
from clew.core.codec import Codec, Constrains, Describes, PromptSpec
from clew.core.codes import EFFECTFUL, Code
from clew.core.contents import Attachment
from clew.core.events import Compacted, Fingerprints, Note
from clew.core.prompts import Calls, Part, Prompt
from clew.core.tools import Parameters
from clew.core.trajectory import WITHHELD, Call, Step, Trajectory
from clew.core.values import Json, encode
from clew.support.prompt_parts import Parts

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
    return (*told, [each.blob for each in part.attachments]) if part.attachments else told


def first_prompt(codec: Codec, prompt_spec: PromptSpec, goal: str = "…") -> Prompt:
    """What a run begins with: no step yet."""
    tools = (*prompt_spec.tools, prompt_spec.finish) if codec.native else ()
    form = codec.reply_schema(prompt_spec, "auto")
    return Prompt(codec.head(prompt_spec, goal), (), (), tools, "auto", codec.stop, form)


def _with_attachments(
    head: tuple[Part, ...], attachments: tuple[Attachment, ...]
) -> tuple[Part, ...]:
    """The head with the question's attachments; the question is its last part."""
    return (*head[:-1], replace(head[-1], attachments=attachments))


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

    __slots__ = ("hasher", "last_words", "lost", "notices", "parts", "size")

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
        self.last_words: str = "" if before is None else before.last_words
        self.size: int = 0 if before is None or restated else before.size
        for part in parts:
            self.hasher.update(encode(plain(part)))
            self.size += len(part.text)
        if step.notices and (words := _visible_words(step)):
            self.last_words, self.size = words, 0


class _RenderedTools:
    """The tools as a thought is shown them: those from the start, then more, in their order."""

    __slots__ = ("declared", "forms", "names", "print", "prompt_spec")

    def __init__(self, codec: Codec, prompt_spec: PromptSpec, names: tuple[str, ...]) -> None:
        more = tuple(prompt_spec.later[name] for name in names if name in prompt_spec.later)
        self.names = names
        self.prompt_spec = (
            replace(prompt_spec, tools=(*prompt_spec.tools, *more)) if more else prompt_spec
        )
        self.declared = (*prompt_spec.tools, prompt_spec.finish, *more) if codec.native else ()
        self.print = digest(*((t.name, t.description, t.parameters) for t in self.declared))
        self.forms: dict[tuple[Calls, frozenset[str]], tuple[Parameters | None, str, str]] = {}


class View:
    """Renders one run for one agent's codec. Feed it the same trajectory as it grows."""

    def __init__(
        self,
        codec: Codec,
        prompt_spec: PromptSpec,
        goal: str,
        params: Mapping[str, Json],
        seed: int = 0,
        attachments: tuple[Attachment, ...] = (),
    ) -> None:
        self._codec = codec
        self.prompt_spec = prompt_spec
        self.goal = goal
        head = codec.head(prompt_spec, goal)
        self._head = _with_attachments(head, attachments) if attachments else head
        self._params = dict(params)
        self._seed = seed
        self._head_print = digest(*map(plain, self._head))
        self._params_print = digest(self._params, codec.stop)
        self._rendered_tools = _RenderedTools(codec, prompt_spec, ())
        holds = self._params.get("grammar") is True  # so says a model that is held to one
        self._constrains = codec if holds and isinstance(codec, Constrains) else None
        self._describes = codec if not codec.native and isinstance(codec, Describes) else None
        self._told: dict[tuple[str, ...], tuple[Part, ...]] = {(): ()}
        self._rendered: list[_Rendered] = []
        self._parts: Parts[Part] = Parts()
        self._compaction: Compacted | None = None
        self._rewinds = 0

    def prompt(
        self,
        trajectory: Trajectory,
        reminders: Sequence[str],
        calls: Calls,
        visible_tools: tuple[str, ...] = (),
    ) -> tuple[Prompt, Fingerprints]:
        """The prompt for the next thought and its fingerprints; `visible_tools` are tools new to
        it.
        """
        self._follow(trajectory)
        last, more = self._rendered[-1], self._described(visible_tools)
        if (names := (*trajectory.visible_tools, *visible_tools)) != self._rendered_tools.names:
            self._rendered_tools = _RenderedTools(self._codec, self.prompt_spec, names)
        number = len(trajectory.steps) + 1
        tail = self._codec.tail(self.prompt_spec, [*self._restated(last), *reminders], number)
        withheld = (
            _withheld(trajectory, self.prompt_spec)
            if self.prompt_spec.withhold
            else frozenset[str]()
        )
        form, grammar, params = self._reply_form(calls, withheld)
        prints = Fingerprints(
            head=self._head_print,
            tools=self._rendered_tools.print,
            params=params,
            parts=(_Rendered(last, trajectory.before, more) if more else last).hasher.hexdigest(),
            tail=digest(calls, *map(plain, tail)) if tail or calls != "auto" else "",
        )
        stop = self._codec.stop
        parts = (*self._parts, *more) if more else self._parts
        tools = self._rendered_tools.declared
        held = (form, self._seed, grammar)
        return Prompt(self._head, parts, tail, tools, calls, stop, *held), prints

    def _restated(self, last: _Rendered) -> list[str]:
        """What the person last asked, where it might be lost sight of: so much follows, or nothing
        came of the last reply.
        """
        if last.size <= RESTATE_CHARS and not (last.lost and self.prompt_spec.repeat_question):
            return []
        if last.last_words:
            return [f"The person's last words again: {_shortened(last.last_words)}"]
        return [f"The question again: {_shortened(self.goal)}"]

    def _described(self, visible_tools: tuple[str, ...]) -> tuple[Part, ...]:
        """What tells a model of these tools, made once; nothing where tools are declared."""
        if visible_tools not in self._told:
            tools = [
                self.prompt_spec.later[name]
                for name in visible_tools
                if name in self.prompt_spec.later
            ]
            codec = self._describes if tools else None
            self._told[visible_tools] = (
                () if codec is None else codec.describe(self.prompt_spec, tools)
            )
        return self._told[visible_tools]

    def _reply_form(
        self, calls: Calls, withheld: frozenset[str]
    ) -> tuple[Parameters | None, str, str]:
        """Schema and grammar of the next reply, made once, and the parameters' fingerprint with
        them. Neither has a tool that is `withheld`; what is declared of tools stays the same.
        """
        forms, prompt_spec = self._rendered_tools.forms, self._rendered_tools.prompt_spec
        if (calls, withheld) not in forms:
            left = tuple(tool for tool in prompt_spec.tools if tool.name not in withheld)
            prompt_spec = replace(prompt_spec, tools=left) if withheld else prompt_spec
            form, params = self._codec.reply_schema(prompt_spec, calls), self._params_print
            grammar = self._grammar(prompt_spec, calls)
            if form is not None or grammar:
                restrictions = [one for one in (form, grammar) if one]
                params = digest(self._params, self._codec.stop, *restrictions)
            forms[calls, withheld] = (form, grammar, params)
        return forms[calls, withheld]

    def _grammar(self, prompt_spec: PromptSpec, calls: Calls) -> str:
        if self._constrains is None:
            return ""
        tokens = self._params.get("max_tokens")
        return self._constrains.grammar(
            prompt_spec, calls, tokens if isinstance(tokens, int) else None
        )

    def _follow(self, trajectory: Trajectory) -> None:
        """Render what is new; the last step is rendered again when something was said after it."""
        done = self._rendered
        omitted = trajectory.omitted
        compaction = omitted.compactions[-1] if omitted.compactions else None
        if compaction is not self._compaction:  # a new one, or one that a rewind undid
            self._forget(0)
        elif new := omitted.rewinds[self._rewinds :]:
            self._forget(1 + min(one.to for one in new))
        self._compaction, self._rewinds = compaction, len(omitted.rewinds)
        if done and done[-1].notices != len(_step(trajectory, len(done) - 1).notices):
            stale = done.pop()
            self._parts = Parts(self._parts[: len(self._parts) - len(stale.parts)])
        while len(done) <= len(trajectory.steps):
            before = done[-1] if done else None
            rendered = self._render(before, _step(trajectory, len(done)), trajectory)
            done.append(rendered)
            self._parts = self._parts.grown(rendered.parts)

    def _forget(self, kept: int) -> None:
        """Keep so many rendered steps, step 0 among them; the others are seen otherwise now."""
        del self._rendered[kept:]
        self._parts = Parts(self._parts[: sum(len(one.parts) for one in self._rendered)])

    def _render(self, before: _Rendered | None, step: Step, trajectory: Trajectory) -> _Rendered:
        """A step: tools that were new to it, what was said anew before it, what came of it.

        What was said anew at the end of its prompt stays where it was said, so that every prompt
        begins with the whole of the one before.
        """
        told: tuple[Part, ...] = ()
        restated: list[str] = []
        if step.thought is not None and before is not None:
            told = self._described(step.thought.visible_tools)
            if step.number not in trajectory.omitted:
                restated = self._restated(before)
                notes = [*restated, *step.thought.reminders]
                told = (*told, *self._codec.tail(self.prompt_spec, notes, step.number))
        visible = visible_step(
            step, self.prompt_spec.shape, trajectory, self.prompt_spec.visible_chars
        )
        seen = self._codec.render(self.prompt_spec, visible)
        return _Rendered(before, step, (*told, *seen), restated=bool(restated))


def _step(trajectory: Trajectory, number: int) -> Step:
    """A step by its number; 0 is what comes before the first thought."""
    return trajectory.steps[number - 1] if number else trajectory.before


def _withheld(trajectory: Trajectory, prompt_spec: PromptSpec) -> frozenset[str]:
    """Tools that the last step called once more in vain: refused as a repetition, or with a hint
    that it is one, and with the same result as before. After a rewind of the run's own: those with
    which the branch began, where others read too.
    """
    step, rewound = trajectory.step, trajectory.omitted.hidden
    if not trajectory.steps or step.person_spoke:
        return frozenset()
    if step.number in rewound:
        return _began(trajectory, prompt_spec)
    return frozenset(call.action.name for call in step.calls if _in_vain(trajectory, call))


def _began(trajectory: Trajectory, prompt_spec: PromptSpec) -> frozenset[str]:
    """The tools with which the branch began that a run has just left by itself.

    Small models begin it again, whatever the lesson says.
    """
    back = trajectory.omitted.rewinds[-1]
    began = frozenset(call.action.name for call in trajectory.steps[back.to].calls)
    others = {tool.name for tool in prompt_spec.tools if tool.effect not in EFFECTFUL} - began
    return began if others and back.by in OWN else frozenset()


def _in_vain(trajectory: Trajectory, call: Call) -> bool:
    """Whether a call of the last step was a repetition, and its result no other.

    What cannot be made (its arguments do not fit) is looked at by no guard, and has no hint.
    """
    refused = call.observation is not None and call.observation.code == REPEATED
    hinted = any(hint.verdict.code == REPEATED for hint in call.hints)
    unmade = call.observation is not None and not call.observation.made
    return refused or ((hinted or unmade) and _result(call) in _earlier_results(trajectory, call))


def _result(call: Call) -> Json:
    return None if call.observation is None else call.observation.content


def _earlier_results(trajectory: Trajectory, call: Call) -> list[Json]:
    """What the same call gave before this step, the last time of those in view."""
    earlier = (
        _result(other)
        for step in trajectory.steps[-2::-1]
        if step.number not in trajectory.omitted.hidden
        for other in step.calls
        if other.hash == call.hash
    )
    return list(islice(earlier, 1))


def next_prompt(
    codec: Codec,
    prompt_spec: PromptSpec,
    params: Mapping[str, Json],
    seed: int,
    trajectory: Trajectory,
    reminders: Sequence[str],
    calls: Calls,
    visible_tools: tuple[str, ...] = (),
) -> tuple[Prompt, Fingerprints]:
    """The prompt for the next thought and its fingerprints (`View.prompt`).

    The run's view is kept between steps, and made anew whenever it is not there.
    """
    view, goal = trajectory.folds.get("view"), goal_of(trajectory)
    if not isinstance(view, View) or view.prompt_spec is not prompt_spec or view.goal != goal:
        attached = attachments_of_goal(trajectory) if trajectory.has_attachments else ()
        view = trajectory.folds["view"] = View(codec, prompt_spec, goal, params, seed, attached)
    return view.prompt(trajectory, reminders, calls, visible_tools)
