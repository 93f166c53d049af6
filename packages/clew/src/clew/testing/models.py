"""Models for tests: a scripted one, and one that makes the mistakes real models make.

Both keep nothing between calls: how far a script has come is read off the prompt (one assistant
part, or one complaint, for each thought so far), so a run can be cut anywhere and resumed with the
same model.
"""

import dataclasses
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, get_args

from msgspec.structs import replace
from typing_extensions import TypeForm

from clew.codecs import by_name, native, prompt_texts
from clew.core.actions import Action
from clew.core.codec import PromptSpec
from clew.core.codes import FINISH, OUTCOME, AnswerOutcome
from clew.core.contents import RawCall, Reply, Usage
from clew.core.events import Fingerprints, Thought
from clew.core.models import ModelInfo, OnText
from clew.core.prompts import Prompt
from clew.core.specs import Rates
from clew.core.tools import Tool
from clew.core.trajectory import Call, Step, Trajectory
from clew.core.values import Json, encode
from clew.support.errors import ModelError
from clew.support.live import tell_arguments
from clew.support.model_settings import NOTHING_SET, ModelSettings
from clew.support.settings import check_fields
from clew.support.short_text import one_line
from clew.testing.plans import written_plan
from clew.tools.finish import EVERY_EFFECT, answer_schema, finish_tool

_REFUSED: Final = re.compile(r"(?:\w+(?: \d+)?: )?ERROR: ")
"""How a result begins that is none, with the label that a text format has for results."""
_WHY_CHARS: Final = 200
"""So much is told of why an agent did not take the last line of a script."""

USAGE: Final = Usage(input=10, output=5, cost=0.0)


@dataclass(frozen=True)
class Move:
    """What a scripted model does in one step, in any format: think, act, or answer in text."""

    thought: str = ""
    actions: tuple[Action, ...] = ()
    answer: str | None = None


def act(name: str, /, *, thought: str = "", **args: Json) -> Move:
    """Call one tool."""
    return Move(thought, (Action(name, args),))


def acts(*moves: Move, thought: str = "") -> Move:
    """Several calls in one step."""
    return Move(thought, tuple(action for move in moves for action in move.actions))


def finish(answer: Json, thought: str = "", *, outcome: AnswerOutcome | Literal[""] = "") -> Move:
    """Call finish, with what came of the task if there is an `outcome`."""
    stated = {OUTCOME: outcome} if outcome else {}
    return Move(thought, (Action(FINISH, {"answer": answer, **stated}),))


def say(answer: str) -> Move:
    """Answer in plain text (native format)."""
    return Move(answer=answer)


UNREADABLE: Final = (native.UNREADABLE, prompt_texts.UNREADABLE)
"""How complaints about unreadable replies begin."""

Line: TypeAlias = Move | Reply | str | Callable[[Prompt], "Move | Reply | str"]
"""A line of a script: a move, a raw reply, raw text, or a function from the prompt to one of these.
"""


_LEFT_OUT: Final = re.compile(r"^(?:NOTE: )?Steps 1 to (\d+) are left out here")


def position(prompt: Prompt) -> int:
    """The number of thoughts in the prompt; an empty one shows only as the complaint about it.

    Those that a compaction left out count too.
    """
    before, turns = "", 0
    for part in prompt.parts:
        if part.role == "user" and (left_out := _LEFT_OUT.search(part.text)):
            turns += int(left_out[1])
        unsaid = part.role == "user" and before != "assistant"
        turns += part.role == "assistant" or (unsaid and part.text.startswith(UNREADABLE))
        before = part.role
    return turns


def _complaint(prompt: Prompt) -> tuple[str, str]:
    """What the prompt says is wrong with the last reply, and what was done to it; or two ""."""
    for part in reversed(prompt.parts):
        if part.role == "assistant":
            break
        for beginning in UNREADABLE:
            if part.role == "user" and part.text.startswith(beginning):
                return "could not read", part.text.removeprefix(beginning)
        if part.role in {"tool", "user"} and (refused := _REFUSED.match(part.text)):
            return "refused", part.text[refused.end() :]
    return "", ""


@dataclass(frozen=True)
class ScriptedModel:
    """Replies with its script, line by line; at the end it raises `ModelError`.

    Moves are written in the format of `codec`, which needs the agent's `tools` if the format
    depends on them. Asked what the request calls for (`Planned`), it gives the calls of `plan`, or
    of its script where there is none (of a line that is a function nobody knows them), and the
    script goes on as it was.
    """

    script: Sequence[Line]
    codec: str = "native"
    tools: Sequence[Tool] = ()
    answer: TypeForm[Any] = str
    usage: Usage = USAGE
    name: str = "scripted:test"
    settings: ModelSettings = NOTHING_SET
    priced: bool = True
    rates: Rates | None = None
    plan: Sequence[Move] | None = None

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self)

    @property
    def info(self) -> ModelInfo:
        """As given."""
        return ModelInfo(self.name, self.settings.recorded, priced=self.priced, rates=self.rates)

    def with_settings(self, settings: ModelSettings) -> "ScriptedModel":
        """The same script; the settings stand in the record, and change nothing of it."""
        return dataclasses.replace(self, settings=settings.over(self.settings))

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next line as a reply; its text is streamed word by word, as long as it is wanted.

        Whoever follows the run is told of the arguments of its calls in pieces, too.
        """
        if prompt.purpose == "plan":
            return self._planned()
        reply = self.reply(prompt, position(prompt))
        if on_text is not None:
            for word in re.finditer(r"\s*\S+|\s+", reply.text):
                if on_text(word[0]):
                    return replace(reply, text=reply.text[: word.end()])
            for number, call in enumerate(reply.calls):
                for piece in re.findall(r"(?s).{1,8}", call.arguments or ""):
                    tell_arguments(number, call.name, piece)
        return reply

    def _planned(self) -> Reply:
        """The calls of its plan, as a reply."""
        text = written_plan(self._calls(self.script if self.plan is None else self.plan))
        return Reply(text=text, usage=self.usage, model=self.name)

    @staticmethod
    def _calls(lines: Iterable[Line]) -> Iterator[tuple[str, str | Mapping[str, Json] | None]]:
        for line in lines:
            if isinstance(line, Move):
                yield from ((action.name, action.args) for action in line.actions)
            elif isinstance(line, Reply):
                yield from ((call.name, call.arguments) for call in line.calls)

    def reply(self, prompt: Prompt, index: int) -> Reply:
        """Line `index` of the script as a reply."""
        if index >= len(self.script):
            lines = f"{len(self.script)} line{'s' * (len(self.script) != 1)}"
            message = f"the script is over: it has {lines}, and reply {index + 1} is wanted"
            message += ": a model is asked once more after each result, rejected answer or ruling"
            raise ModelError(message + self._refusal(prompt))
        line = self.script[index]
        if callable(line):
            line = line(prompt)
        if isinstance(line, Reply):
            return line
        if isinstance(line, str):
            return Reply(text=line, usage=self.usage, model=self.name)
        return self.written(line, index + 1)

    def _refusal(self, prompt: Prompt) -> str:
        """What the agent has against the last line of the script, where it has anything."""
        what, why = _complaint(prompt)
        line = self.script[-1] if self.script else None
        if not what or not isinstance(line, Move):
            return ""
        if what == "refused" and all(action.name != FINISH for action in line.actions):
            return ""
        told = f". The agent {what} the last line: {one_line(why, _WHY_CHARS)}"
        same = self.codec.startswith("native") and prompt.tools
        if what == "refused" or same or self._fault(line, len(self.script)):
            return told
        hint = "if the agent reads another format, name that: ScriptedModel(…, codec=…)"
        return f"{told}; it is written in {self.codec}: {hint}"

    def _fault(self, move: Move, number: int) -> str:
        """Why its own format cannot read a line either."""
        return by_name(self.codec).parse(self._prompt_spec, self.written(move, number)).fault

    @cached_property
    def _prompt_spec(self) -> PromptSpec:
        """What its format must know; worked out once, since some scripts speak in thousands."""
        schema = answer_schema(self.answer)
        known = frozenset(tool.name for tool in self.tools)
        return PromptSpec("", tuple(self.tools), finish_tool(schema, EVERY_EFFECT), schema, known)

    def written(self, move: Move, number: int) -> Reply:
        """A move written in the format."""
        thought = Thought(
            Reply(), Fingerprints("", "", "", ""), move.thought, move.actions, move.answer
        )
        calls = [
            Call(f"{number}.{number_in_step}", action)
            for number_in_step, action in enumerate(move.actions, start=1)
        ]
        part = by_name(self.codec).render(self._prompt_spec, Step(number, thought, tuple(calls)))[0]
        return Reply(
            text=part.text,
            calls=part.calls,
            finish="calls" if part.calls else "stop",
            usage=self.usage,
            model=self.name,
        )


def recorded(record: Trajectory) -> ScriptedModel:
    """A model that repeats the replies of a record, thought by thought.

    Use it to run again with real tools; `clew.replay` needs no model at all.
    """
    thoughts = [step.thought for step in record if step.thought is not None]
    plan = [Move(actions=thought.actions) for thought in thoughts]
    spec, replies = record.started.spec, [thought.reply for thought in thoughts]
    return ScriptedModel(
        replies, name=spec.model, settings=ModelSettings(extra=spec.params), plan=plan
    )


_NativeFault: TypeAlias = Literal[
    "empty", "cut", "refused", "bad json", "no arguments", "wrong type", "extra argument",
    "unknown tool", "many calls", "same ids", "native and text",
]  # fmt: skip
_TextFault: TypeAlias = Literal[
    "empty", "cut", "refused", "unknown tool", "prose", "fence", "several pairs", "none action"
]
Fault: TypeAlias = _NativeFault | _TextFault
NATIVE_FAULTS: Final[tuple[Fault, ...]] = get_args(_NativeFault)
TEXT_FAULTS: Final[tuple[Fault, ...]] = get_args(_TextFault)


@dataclass(frozen=True)
class FaultyModel:
    """Plays a script and injects, by seed, the faults that were seen in real models.

    In each place `rate` is the chance of a fault instead of the next line, which then follows. The
    same seed gives the same faults in the same places, also after a resume.
    """

    scripted: ScriptedModel
    seed: int = 0
    rate: float = 0.3
    faults: tuple[Fault, ...] = NATIVE_FAULTS

    def __post_init__(self) -> None:
        """Raise `ConfigError` for a value of another type."""
        check_fields(self, signed=("seed",))

    @property
    def info(self) -> ModelInfo:
        """That of the scripted model, with a name that says it is faulty."""
        return dataclasses.replace(self.scripted.info, name=f"faulty:{self.seed}")

    def with_settings(self, settings: ModelSettings) -> "FaultyModel":
        """The same script and faults; the settings stand in the record."""
        return dataclasses.replace(self, scripted=self.scripted.with_settings(settings))

    def fault(self, index: int) -> Fault | None:
        """The fault at a place, or None."""
        chance = random.Random(f"{self.seed} {index}")  # noqa: S311 - repeatable, not secret
        return chance.choice(self.faults) if chance.random() < self.rate else None

    async def complete(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        """The next line, or a fault in its place."""
        if prompt.purpose == "plan":
            return await self.scripted.complete(prompt, on_text)
        index = position(prompt)
        due = sum(self.fault(before) is None for before in range(index))
        fault = self.fault(index)
        line = min(due, len(self.scripted.script) - 1)
        reply = self.scripted.reply(prompt, line)
        if fault is not None:
            reply = _with_fault(reply, fault)
        if on_text is not None:
            on_text(reply.text)
        return reply


def _with_fault(reply: Reply, fault: Fault) -> Reply:
    """The reply as a model would have written it that makes this mistake."""
    call = reply.calls[0] if reply.calls else RawCall(name="lookup", arguments="{}", id="c1")
    text = reply.text
    spoiled: dict[Fault, Reply] = {
        "empty": Reply(usage=reply.usage),
        "cut": Reply(text=text[: len(text) // 2], finish="length"),
        "refused": Reply(text="I cannot help with that.", finish="refusal"),
        "bad json": Reply(
            text=text, calls=(RawCall(name=call.name, arguments="{'key': 1,", id="c1"),)
        ),
        "no arguments": Reply(text=text, calls=(RawCall(name=call.name, arguments=None, id="c1"),)),
        "wrong type": Reply(
            text=text, calls=(RawCall(name=call.name, arguments='{"key": [1]}', id="c1"),)
        ),
        "extra argument": Reply(
            text=text,
            calls=(RawCall(name=call.name, arguments='{"key": "k", "also": 1}', id="c1"),),
        ),
        "unknown tool": Reply(
            text="Thought: hm\nAction: serach\nAction Input: {}" if not reply.calls else text,
            calls=(RawCall(name="serach", arguments="{}", id="c1"),) if reply.calls else (),
        ),
        "many calls": Reply(
            text=text,
            calls=tuple(
                RawCall(name=call.name, arguments=call.arguments, id=f"c{n}") for n in range(12)
            ),
        ),
        "same ids": Reply(
            text=text, calls=(call, RawCall(name=call.name, arguments=call.arguments, id=call.id))
        ),
        "native and text": Reply(text=f"{text}{_tagged(call)}", calls=(call,)),
        "prose": Reply(text=f"Sure! Let me see what can be done.\n{text}"),
        "fence": Reply(text=f"```\n{text}\n```"),
        "several pairs": Reply(text=f"{text}\nObservation: done\n{text}\nObservation: done"),
        "none action": Reply(text="Thought: nothing to do\nAction: None"),
    }
    faulty = spoiled[fault]
    end = faulty.finish if faulty.finish != "stop" or not faulty.calls else "calls"
    return Reply(faulty.text, faulty.calls, end, reply.usage, reply.model)


def _tagged(call: RawCall) -> str:
    body = encode({"name": call.name, "arguments": {}}).decode()
    return f"\n<tool_call>\n{body}\n</tool_call>"


__all__ = [
    "NATIVE_FAULTS",
    "TEXT_FAULTS",
    "USAGE",
    "Fault",
    "FaultyModel",
    "Line",
    "Move",
    "ScriptedModel",
    "act",
    "acts",
    "finish",
    "position",
    "recorded",
    "say",
]
