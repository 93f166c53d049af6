"""A run as messages of OpenAI's Chat Completions, or of Anthropic's Messages.

They have what people said, what the model wrote and called, and what calls came to: not the prompt
of the agent, and not what clew told the model beside that.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from clew.conversations.history import BEGINS
from clew.core.attachments import file_name
from clew.core.codes import FINISH
from clew.core.contents import Asked, Attachment, Audio, File, Image, Text, text_parts
from clew.core.events import Note
from clew.core.prompts import Part
from clew.core.steps import Call, Step
from clew.core.trajectory import Trajectory
from clew.core.values import Json
from clew.models.attachments import base64_of, data_url, split_attachments

_OPEN: Final = "(the call has no result yet)"
_TAKES: Final = frozenset({"image/", "application/pdf"})


def to_openai(record: Trajectory) -> list[dict[str, Any]]:
    """The messages of a run in the form of OpenAI's Chat Completions.

    There a result has text alone: attachments of one follow it as a message of the user's.
    """
    messages: list[dict[str, Any]] = []
    for item in _items(record):
        if isinstance(item, tuple):
            messages.append({"role": "user", "content": _openai_content(item)})
            continue
        text, calls = _reply(item)
        messages.append({"role": "assistant", "content": text or None})
        if not calls:
            messages[-1]["content"] = text
            continue
        messages[-1]["tool_calls"] = [
            {
                "id": id_,
                "type": "function",
                "function": {"name": call.action.name, "arguments": arguments},
            }
            for call, id_, arguments in calls
        ]
        attachments: list[Attachment] = []
        for call, id_, _ in calls:
            messages.append({"role": "tool", "tool_call_id": id_, "content": _result(call)})
            attachments += () if call.observation is None else call.observation.attachments
        if attachments:
            messages.append({"role": "user", "content": _openai_content(tuple(attachments))})
    return messages


def to_anthropic(record: Trajectory) -> list[dict[str, Any]]:
    """The messages of a run in the form of Anthropic's Messages; recordings are told in words."""
    messages: list[dict[str, Any]] = []

    def add(role: str, blocks: list[dict[str, Any]]) -> None:
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})

    for item in _items(record):
        if isinstance(item, tuple):
            add("user", [block for part in item for block in _anthropic_blocks(part)])
            continue
        text, calls = _reply(item)
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text}] if text.strip() else []
        for call, id_, _ in calls:
            name, args = call.action.name, call.action.args
            blocks.append({"type": "tool_use", "id": id_, "name": name, "input": args})
        add("assistant", blocks)
        add("user", [_anthropic_result(call, id_) for call, id_, _ in calls])
    return messages


def _items(record: Trajectory) -> Iterator[Asked | Step]:
    """What people asked, and the steps of the model between, without those that were rewound."""
    question = record.started.question
    if question != text_parts(BEGINS):
        yield question
    for step in (record.before, *record.steps):
        if step.thought is not None and step.number not in record.omitted.hidden:
            yield step
        for notice in step.notices:
            if isinstance(notice, Note) and notice.source == "person":
                yield notice.parts


def _reply(step: Step) -> tuple[str, list[tuple[Call, str, str]]]:
    """What the model wrote in a step, and its calls with their ids and arguments."""
    thought = step.thought
    if thought is None:
        return "", []
    text = thought.text if thought.answer is None else thought.answer
    calls: list[tuple[Call, str, str]] = []
    for call in step.calls:
        if call.action.name == FINISH:
            answer: Json = call.action.args.get("answer")
            text = answer if isinstance(answer, str) else msgspec.json.encode(answer).decode()
            continue
        calls.append(
            (call, call.id or f"call_{call.key.replace('.', '_')}", _arguments(step, call))
        )
    return text or thought.reply.text * (not calls), calls


def _arguments(step: Step, call: Call) -> str:
    """The arguments as the model wrote them, or as they were read where it wrote no JSON."""
    raw = () if step.thought is None else step.thought.reply.calls
    index = step.calls.index(call)
    verbatim = raw[index].arguments if len(raw) == len(step.calls) else None
    return verbatim or msgspec.json.encode(call.action.args).decode()


def _result(call: Call) -> str:
    return _OPEN if call.observation is None else call.observation.text


def _openai_content(parts: Asked) -> Any:
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return list(map(_openai_part, parts))


def _openai_part(part: Text | Attachment) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Image():
            return {"type": "image_url", "image_url": {"url": data_url(part)}}
        case Audio():
            form = "wav" if "wav" in part.media_type else "mp3"
            return {"type": "input_audio", "input_audio": {"data": base64_of(part), "format": form}}
        case File():
            data = part if part.data else msgspec.structs.replace(part, data=part.text.encode())
            file = {"filename": file_name(part), "file_data": data_url(data)}
            return {"type": "file", "file": file}


def _anthropic_blocks(part: Text | Attachment) -> list[dict[str, Any]]:
    if isinstance(part, Text):
        return [{"type": "text", "text": part.text}]
    if isinstance(part, File) and not part.data:
        source: dict[str, Any] = {"type": "text", "media_type": "text/plain", "data": part.text}
        return [{"type": "document", "title": file_name(part), "source": source}]
    words, visible = split_attachments(Part("user", "", attachments=(part,)), _TAKES)
    if not visible:
        return [{"type": "text", "text": words}]
    source = {"type": "base64", "media_type": part.media_type, "data": base64_of(part)}
    if isinstance(part, File):
        return [{"type": "document", "title": file_name(part), "source": source}]
    return [{"type": "image", "source": source}]


def _anthropic_result(call: Call, id_: str) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": _result(call)}]
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": id_, "content": content}
    if call.observation is not None:
        for attachment in call.observation.attachments:
            content += _anthropic_blocks(attachment)
        if not call.observation.ok:
            block["is_error"] = True
    return block
