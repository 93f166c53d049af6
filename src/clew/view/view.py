"""The view: record to prompt, each step rendered once, with running fingerprints.

A view is a memory of work done, not a state: dropped at any time, it comes back the same.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import msgspec

from clew.events import FINISH, Json, Prints, encode
from clew.protocols import Brief, Calls, Codec, Parameters, Part, Prompt, Shape, Tool
from clew.trajectory import Call, Step, Trajectory

RESTATE_CHARS: Final = 24_000
"""A prompt longer than this restates the goal at its tail, where models attend to it."""


def digest(*values: Any) -> str:
    """Fingerprint of JSON values: 16 hex digits (BLAKE2b)."""
    return hashlib.blake2b(encode(values), digest_size=8).hexdigest()


def plain(part: Part) -> tuple[Any, ...]:
    """A part as JSON values: all that is said, nothing of how it was encoded."""
    told = (part.role, part.text, part.calls, part.call_id, part.name, part.wire)
    return (*told, [image.blob for image in part.images]) if part.images else told


def shaped(step: Step, shape: Shape | None) -> Step:
    """The step with its observations as they are shown; what finish was told stays."""

    def seen(call: Call) -> Call:
        if shape is None or call.observation is None or call.action.name == FINISH:
            return call
        text = shape(call.observation.text)
        return replace(call, observation=msgspec.structs.replace(call.observation, content=text))

    return step if shape is None else replace(step, calls=[*map(seen, step.calls)])


def first_prompt(codec: Codec, brief: Brief, goal: str = "…") -> Prompt:
    """What a run begins with: no step yet."""
    tools = (*brief.tools, brief.finish) if codec.native else ()
    form = codec.form(brief, "auto")
    return Prompt(codec.head(brief, goal), (), (), tools, "auto", codec.stop, form)


class _Rendered:
    """A step's parts, and the running hash with them in it."""

    __slots__ = ("asides", "hasher", "parts", "size")

    def __init__(self, before: Any, step: Step, parts: Sequence[Part]) -> None:
        self.asides = len(step.asides)
        self.parts = parts
        self.hasher = before.copy()
        self.size = 0
        for part in parts:
            self.hasher.update(encode(plain(part)))
            self.size += len(part.text)


class View:
    """Renders one run for one agent's codec. Feed it the same trajectory as it grows."""

    def __init__(self, codec: Codec, brief: Brief, goal: str, params: Mapping[str, Json]) -> None:
        self._codec = codec
        self.brief = brief
        self.goal = goal
        self._head = codec.head(brief, goal)
        self._params = dict(params)
        self._tools: tuple[Tool, ...] = (*brief.tools, brief.finish) if codec.native else ()
        self._prints = Prints(
            head=digest(*map(plain, self._head)),
            tools=digest(*((t.name, t.description, t.parameters) for t in self._tools)),
            params=digest(self._params, codec.stop),
            parts="",
        )
        self._forms: dict[Calls, tuple[Parameters | None, str]] = {}
        self._start = hashlib.blake2b(digest_size=8)
        self._rendered: list[_Rendered] = []
        self._parts: list[Part] = []

    def prompt(
        self,
        so_far: Trajectory,
        reminders: Sequence[str],
        calls: Calls,
    ) -> tuple[Prompt, Prints]:
        """The prompt for the next thought and its fingerprints."""
        self._follow((so_far.before, *so_far.steps))
        last = self._rendered[-1]
        size = sum(rendered.size for rendered in self._rendered)
        restated = [f"The question again: {self.goal}"] if size > RESTATE_CHARS else []
        number = len(so_far.steps) + 1
        tail = self._codec.tail(self.brief, [*restated, *reminders], number)
        form, params = self._form(calls)
        prints = Prints(
            head=self._prints.head,
            tools=self._prints.tools,
            params=params,
            parts=last.hasher.copy().hexdigest(),
            tail=digest(calls, *map(plain, tail)) if tail or calls != "auto" else "",
        )
        stop = self._codec.stop
        prompt = Prompt(self._head, tuple(self._parts), tail, self._tools, calls, stop, form)
        return prompt, prints

    def _form(self, calls: Calls) -> tuple[Parameters | None, str]:
        """The schema of the next reply, made once, and the fingerprint of parameters with it."""
        if calls not in self._forms:
            form, params = self._codec.form(self.brief, calls), self._prints.params
            if form is not None:
                params = digest(self._params, self._codec.stop, form)
            self._forms[calls] = (form, params)
        return self._forms[calls]

    def _follow(self, steps: Sequence[Step]) -> None:
        """Render what is new; the last step is rendered again when something was said after it."""
        done = self._rendered
        if done and done[-1].asides != len(steps[len(done) - 1].asides):
            stale = done.pop()
            del self._parts[len(self._parts) - len(stale.parts) :]
        for step in steps[len(done) :]:
            before = done[-1].hasher if done else self._start
            shown = shaped(step, self.brief.shape)
            rendered = _Rendered(before, step, self._codec.render(self.brief, shown))
            done.append(rendered)
            self._parts += rendered.parts
