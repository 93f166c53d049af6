"""The prompt of a step exactly as it was sent, and what of the run was left out of it."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal, TypeAlias

import msgspec

from clew import Entry, RenderedPrompt, Trajectory, prompt_of
from clew.interfaces import Compacted, Json, RawCall, Rewound, Thought
from clew.interfaces import Part as PromptPart
from clew_serve.api.access_to_runs import record_of, served_for
from clew_serve.endpoints import Inquiry

Section: TypeAlias = Literal["head", "steps", "tail"]


class PromptQuery(msgspec.Struct, forbid_unknown_fields=True):
    """The number of a step; without one it is the last."""

    step: Annotated[int, msgspec.Meta(ge=1)] | None = None


class Attached(msgspec.Struct):
    """What goes with the words of a message; `blob` is its content in the store."""

    media_type: str
    text: str = ""
    blob: str = ""


class SentMessage(msgspec.Struct):
    """A message of a prompt; `items` are what only the model that wrote them reads."""

    section: Section
    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: list[RawCall] = []
    call_id: str = ""
    name: str = ""
    attached: list[Attached] = []
    items: Json = None


class SentTool(msgspec.Struct):
    """A tool that the model was shown; `parameters` is a JSON Schema."""

    name: str
    description: str
    parameters: dict[str, Json]
    examples: list[dict[str, Json]] = []


class LeftOut(msgspec.Struct):
    """What of the run a prompt had no more: steps up to `upto`, and rewound ones.

    `account` stands for the former, `lessons` for the latter. `cuts` are results that were shown
    in part, by their calls, with what was shown. `why` says when it was made shorter last.
    """

    upto: int = 0
    account: str = ""
    why: str = ""
    rewound: list[int] = []
    lessons: list[str] = []
    cuts: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.upto or self.rewound or self.cuts)


class SentPrompt(msgspec.Struct):
    """The prompt that step number `step` of `steps` answered.

    `differs` names the sections that are not exactly what was sent, and `verdict` says it in words.
    """

    run_id: str
    step: int
    steps: int
    verdict: str
    differs: list[str]
    model: str
    codec: str
    params: dict[str, Json]
    calls: str
    stop: list[str]
    seed: int
    grammar: str
    reply_schema: Json
    messages: list[SentMessage]
    tools: list[SentTool]
    left_out: LeftOut


async def get(inquiry: Inquiry) -> SentPrompt:
    """The prompt of a step. Raises `ConfigError` where there is none, or it cannot be made again.

    Where the run's agent is served, its format is known even if it does not ship with clew.
    """
    asked: PromptQuery = inquiry.query
    record = await record_of(inquiry)
    served = served_for(inquiry.service, record)
    sent = await prompt_of(
        record.run_id, asked.step, store=inquiry.service.store, owner=inquiry.user.owner,
        codec=None if served is None else served.agent.parts.codec,
    )  # fmt: skip
    return sent_prompt(sent, record)


def sent_prompt(sent: RenderedPrompt, record: Trajectory) -> SentPrompt:
    """A prompt that was made again, with what of the record was left out of it."""
    prompt = sent.prompt
    thoughts = [at for at, it in enumerate(record.entries) if isinstance(it.event, Thought)]
    return SentPrompt(
        run_id=sent.run_id,
        step=sent.step,
        steps=len(thoughts),
        verdict=sent.verdict,
        differs=[*sent.differs],
        model=sent.spec.model,
        codec=sent.spec.codec,
        params=sent.spec.params,
        calls=prompt.calls,
        stop=[*prompt.stop],
        seed=prompt.seed,
        grammar=prompt.grammar,
        reply_schema=prompt.reply_schema,
        messages=[
            *_messages("head", prompt.head),
            *_messages("steps", prompt.parts),
            *_messages("tail", prompt.tail),
        ],
        tools=[
            SentTool(it.name, it.description, it.parameters, [*it.examples]) for it in prompt.tools
        ],
        left_out=left_out(record.run_id, record.entries[: thoughts[sent.step - 1]]),
    )  # fmt: skip


def left_out(run_id: str, entries: Sequence[Entry]) -> LeftOut:
    """What a model does not see any more of these entries of a run."""
    omitted = Trajectory(run_id, entries).omitted
    last = omitted.compactions[-1] if omitted.compactions else None
    return LeftOut(
        upto=omitted.upto,
        account="" if last is None else "\n\n".join(filter(None, (last.text, last.summary))),
        why="" if last is None else _reason(last),
        rewound=sorted(step for step in omitted.hidden if step > omitted.upto),
        lessons=[_lesson(each) for each in omitted.rewinds],
        cuts={call: cut for call, cut in omitted.cuts.items() if _step_of(call) not in omitted},
    )


_NO_STEP: Final = -1


def _step_of(call: str) -> int:
    number = call.partition(".")[0]
    return int(number) if number.isdecimal() else _NO_STEP


def _reason(event: Compacted) -> str:
    return f"{event.why} ({event.by})" if event.by else event.why


def _lesson(event: Rewound) -> str:
    return f"{event.lesson} ({event.by})" if event.by else event.lesson


def _messages(section: Section, parts: Sequence[PromptPart]) -> Iterator[SentMessage]:
    for part in parts:
        yield SentMessage(
            section=section,
            role=part.role,
            text=part.text,
            calls=[*part.calls],
            call_id=part.call_id,
            name=part.name,
            attached=[Attached(it.media_type, it.text, it.blob) for it in part.attachments],
            items=None if part.wire is None else part.wire.items,
        )
