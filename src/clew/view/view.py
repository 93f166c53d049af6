"""The view: record to prompt, each step rendered once, with running fingerprints.

A view is a memory of work done, not a state: dropped at any time, it comes back the same.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from clew.events import FINISH, Json, Note, Prints, encode
from clew.parts import shaped_text
from clew.protocols import (
    Brief,
    Calls,
    Codec,
    Describes,
    Parameters,
    Part,
    Prompt,
    Shape,
)
from clew.steps import in_part
from clew.trajectory import WITHHELD, Call, Step, Trajectory

RESTATE_CHARS: Final = 24_000
"""After so much since a person last spoke, the prompt's tail says their words again.

Models attend to its end.
"""


def digest(*values: Any) -> str:
    """Fingerprint of JSON values: 16 hex digits (BLAKE2b)."""
    return hashlib.blake2b(encode(values), digest_size=8).hexdigest()


def plain(part: Part) -> tuple[Any, ...]:
    """A part as JSON values: all that is said, nothing of how it was encoded."""
    told = (part.role, part.text, part.calls, part.call_id, part.name, part.wire)
    return (*told, [image.blob for image in part.images]) if part.images else told


def shaped(step: Step, shape: Shape | None, *, whole: bool) -> Step:
    """The step with its observations as they are shown, long ones `whole` or in part; what finish
    was told stays.
    """

    def shown(call: Call) -> Call:
        if call.observation is None or call.action.name == FINISH:
            return call
        text = call.observation.text
        seen = text if shape is None else shaped_text(shape, text)
        seen = seen if whole else in_part(seen)
        if seen is text and shape is None:
            return call
        observation = msgspec.structs.replace(call.observation, content=seen)
        return msgspec.structs.replace(call, observation=observation)

    calls = tuple(map(shown, step.calls))
    if all(one is other for one, other in zip(calls, step.calls, strict=True)):
        return step
    return msgspec.structs.replace(step, calls=calls)


def first_prompt(codec: Codec, brief: Brief, goal: str = "…") -> Prompt:
    """What a run begins with: no step yet."""
    tools = (*brief.tools, brief.finish) if codec.native else ()
    form = codec.form(brief, "auto")
    return Prompt(codec.head(brief, goal), (), (), tools, "auto", codec.stop, form)


def _said(step: Step) -> str:
    """A person's words after the step, but for those that no model may see."""
    notes = (aside for aside in step.asides if isinstance(aside, Note))
    told = [note.text for note in notes if note.source == "person" and note.text != WITHHELD]
    return "\n\n".join(told)


class _Rendered:
    """A step's parts, and what holds up to it: the running hash, what a person last said, and the
    characters since.
    """

    __slots__ = ("asides", "hasher", "parts", "said", "size")

    def __init__(self, before: "_Rendered | None", step: Step, parts: Sequence[Part]) -> None:
        self.asides = len(step.asides)
        self.parts = parts
        self.hasher: Any = (
            hashlib.blake2b(digest_size=8) if before is None else before.hasher.copy()
        )
        self.said: str = "" if before is None else before.said
        self.size: int = 0 if before is None else before.size
        for part in parts:
            self.hasher.update(encode(plain(part)))
            self.size += len(part.text)
        if step.asides and (said := _said(step)):
            self.said, self.size = said, 0


class _Shown:
    """The tools as a thought is shown them: those from the start, then more, in their order."""

    __slots__ = ("brief", "declared", "forms", "names", "print")

    def __init__(self, codec: Codec, brief: Brief, names: tuple[str, ...]) -> None:
        more = tuple(brief.later[name] for name in names if name in brief.later)
        self.names = names
        self.brief = replace(brief, tools=(*brief.tools, *more)) if more else brief
        self.declared = (*brief.tools, brief.finish, *more) if codec.native else ()
        self.print = digest(*((t.name, t.description, t.parameters) for t in self.declared))
        self.forms: dict[Calls, tuple[Parameters | None, str]] = {}


class View:
    """Renders one run for one agent's codec. Feed it the same trajectory as it grows."""

    def __init__(self, codec: Codec, brief: Brief, goal: str, params: Mapping[str, Json]) -> None:
        self._codec = codec
        self.brief = brief
        self.goal = goal
        self._head = codec.head(brief, goal)
        self._params = dict(params)
        self._head_print = digest(*map(plain, self._head))
        self._params_print = digest(self._params, codec.stop)
        self._shown = _Shown(codec, brief, ())
        self._describes = codec if not codec.native and isinstance(codec, Describes) else None
        self._told: dict[tuple[str, ...], tuple[Part, ...]] = {(): ()}
        self._rendered: list[_Rendered] = []
        self._parts: list[Part] = []

    def prompt(
        self,
        so_far: Trajectory,
        reminders: Sequence[str],
        calls: Calls,
        shown: tuple[str, ...] = (),
    ) -> tuple[Prompt, Prints]:
        """The prompt for the next thought and its fingerprints; `shown` are tools new to it."""
        self._follow((so_far.before, *so_far.steps), whole=not so_far.capped)
        last, more = self._rendered[-1], self._described(shown)
        if (names := (*so_far.shown, *shown)) != self._shown.names:
            self._shown = _Shown(self._codec, self.brief, names)
        number = len(so_far.steps) + 1
        tail = self._codec.tail(self.brief, [*self._restated(), *reminders], number)
        form, params = self._form(calls)
        prints = Prints(
            head=self._head_print,
            tools=self._shown.print,
            params=params,
            parts=(_Rendered(last, so_far.before, more) if more else last).hasher.hexdigest(),
            tail=digest(calls, *map(plain, tail)) if tail or calls != "auto" else "",
        )
        stop = self._codec.stop
        parts, tools = (*self._parts, *more), self._shown.declared
        return Prompt(self._head, parts, tail, tools, calls, stop, form), prints

    def _restated(self) -> list[str]:
        """What the person last asked, where so much follows that it might be lost sight of."""
        last = self._rendered[-1]
        if last.size <= RESTATE_CHARS:
            return []
        if last.said:
            return [f"The person's last words again: {last.said}"]
        return [f"The question again: {self.goal}"]

    def _described(self, shown: tuple[str, ...]) -> tuple[Part, ...]:
        """What tells a model of these tools, made once; nothing where tools are declared."""
        if shown not in self._told:
            tools = [self.brief.later[name] for name in shown if name in self.brief.later]
            codec = self._describes if tools else None
            self._told[shown] = () if codec is None else codec.describe(self.brief, tools)
        return self._told[shown]

    def _form(self, calls: Calls) -> tuple[Parameters | None, str]:
        """The schema of the next reply, made once, and the fingerprint of parameters with it."""
        forms = self._shown.forms
        if calls not in forms:
            form, params = self._codec.form(self._shown.brief, calls), self._params_print
            if form is not None:
                params = digest(self._params, self._codec.stop, form)
            forms[calls] = (form, params)
        return forms[calls]

    def _follow(self, steps: Sequence[Step], *, whole: bool) -> None:
        """Render what is new; the last step is rendered again when something was said after it."""
        done = self._rendered
        if done and done[-1].asides != len(steps[len(done) - 1].asides):
            stale = done.pop()
            del self._parts[len(self._parts) - len(stale.parts) :]
        for step in steps[len(done) :]:
            before = done[-1] if done else None
            told = () if step.thought is None else self._described(step.thought.shown)
            seen = self._codec.render(self.brief, shaped(step, self.brief.shape, whole=whole))
            rendered = _Rendered(before, step, (*told, *seen))
            done.append(rendered)
            self._parts += rendered.parts
