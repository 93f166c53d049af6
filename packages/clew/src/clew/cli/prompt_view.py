"""A prompt as it was sent, for `clew show --prompt`: as text for people, as JSON for programs."""

from collections.abc import Iterable, Iterator

import msgspec

from clew import RenderedPrompt
from clew.interfaces import Json, Part, ToolSpec, encode
from clew.support.printable import inert


def prompt_text(sent: RenderedPrompt) -> str:
    """The whole prompt; nothing in it is cut, and no control character gets through."""
    return inert("\n".join(_lines(sent)))


def _lines(sent: RenderedPrompt) -> Iterator[str]:
    prompt = sent.prompt
    yield f"Prompt of thought {sent.step} in run {sent.run_id}: {sent.verdict}"
    about = [sent.spec.model, sent.spec.codec, f"calls: {prompt.calls}"]
    if prompt.stop:
        about.append(f"stop: {_json(prompt.stop)}")
    if sent.spec.params:
        about.append(f"parameters: {_json(sent.spec.params)}")
    yield ", ".join(about)
    yield from _parts("head", prompt.head)
    yield from _parts("steps", prompt.parts)
    yield from _parts("tail", prompt.tail)
    if prompt.tools:
        yield "\n=== tools ==="
        for tool in prompt.tools:
            yield f"{tool.name}: {tool.description}"
            yield f"    {_json(tool.parameters)}"
            yield from (f"    for example: {_json(example)}" for example in tool.examples)
    if prompt.reply_schema is not None:
        yield f"\n=== form of the reply ===\n{_json(prompt.reply_schema)}"


def _parts(label: str, parts: Iterable[Part]) -> Iterator[str]:
    for part in parts:
        answers = f" {part.name}, answering {part.call_id}" if part.role == "tool" else ""
        yield f"\n=== {label}: {part.role}{answers} ==="
        if part.text:
            yield part.text
        for call in part.calls:
            yield f"[call {call.id}: {call.name} {call.arguments or ''}]"
        for each in part.attachments:
            yield f"[{type(each).__name__.lower()}: {each.media_type}, blob {each.blob}]"
        if part.wire is not None and part.wire.items is not None:
            yield f"[items of {part.wire.provider} for {part.wire.model}: see --json]"


def _json(value: object) -> str:
    return encode(value).decode()


def prompt_document(sent: RenderedPrompt) -> dict[str, Json]:
    """The prompt by its parts, with what was found of its fingerprints."""
    prompt = sent.prompt
    return {
        "run_id": sent.run_id,
        "step": sent.step,
        "exact": not sent.differs,
        "differs": sent.differs,
        "reason": sent.reason,
        "model": sent.spec.model,
        "codec": sent.spec.codec,
        "params": sent.spec.params,
        "calls": prompt.calls,
        "stop": prompt.stop,
        "reply_schema": prompt.reply_schema,
        "head": [_part(part) for part in prompt.head],
        "parts": [_part(part) for part in prompt.parts],
        "tail": [_part(part) for part in prompt.tail],
        "tools": [_tool(tool) for tool in prompt.tools],
    }


def _part(part: Part) -> dict[str, Json]:
    images = [
        {"media_type": image.media_type, "blob": image.blob, "text": image.text}
        for image in part.attachments
    ]
    fields: dict[str, Json] = {
        "calls": msgspec.to_builtins(part.calls),
        "call_id": part.call_id,
        "name": part.name,
        "wire": msgspec.to_builtins(part.wire),
        "images": images,
    }
    return {"role": part.role, "text": part.text} | {key: it for key, it in fields.items() if it}


def _tool(tool: ToolSpec) -> dict[str, Json]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        "examples": list(tool.examples),
    }
