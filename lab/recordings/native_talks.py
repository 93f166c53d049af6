"""Conversations in which a model called tools natively, as recorded.

A recorded turn is one reply of the model, in the provider's words, with what its calls observed
and what a person said next.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from clew.core.codes import Finish
from clew.core.contents import RawCall, Reply, Usage
from clew.core.values import Json, encode
from recordings.data import document
from recordings.forms import Record, functions
from recordings.native_rejected import printed

NOBODY: Final = "(no answer)"
"""Said for a person of whom nothing is recorded between two replies of text."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a call observed."""

    text: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """A reply, what each of its calls observed (by their order), and a person's words after it."""

    reply: Reply
    seen: tuple[Seen, ...]
    text: str
    asked: tuple[tuple[str, Json], ...]
    """Name and arguments of each call as the recording itself read them."""

    @property
    def unread(self) -> bool:
        """Whether no runtime can make anything of it: it is empty, or was cut."""
        empty = not self.reply.calls and not self.reply.text.strip()
        return empty or self.reply.finish == "length"

    @property
    def answers(self) -> bool:
        """Whether it is text to a person, who may answer."""
        return not self.reply.calls and not self.unread


@dataclass(frozen=True)
class Talk:
    """A recorded conversation: the tools there were, what was asked first, and all turns.

    `rejected` are replies that the harness would not take and had made again.
    """

    name: str
    tools: Sequence[Json]
    goal: str
    turns: tuple[Turn, ...]
    rejected: tuple[Reply, ...] = ()

    @property
    def words(self) -> list[str]:
        """What the person said after each reply of text but the last turn's."""
        return [turn.text or NOBODY for turn in self.turns[:-1] if turn.answers]


def talk(record: Record) -> Talk:
    """The conversation of a record. What only the harness said is left out: it was no reply."""
    turns = [_turn(turn) for turn in record["turns"]]
    goal = record.get("first_user") or record.get("ticket") or record["task"]
    if record.get("greeting_injected_by_harness"):
        goal, turns = turns[0].text or goal, turns[1:]
    complaints = [text for one in record["turns"] for text in one.get("rejected_messages") or ()]
    held = record.get("tools")
    tools = functions(held) if held else definitions(record["tools_ref"])
    rejected = tuple(map(printed, complaints))
    return Talk(record["id"], tools, goal, tuple(turns), rejected)


def definitions(reference: str) -> Sequence[Json]:
    """The tool definitions of a reference such as `prompts.json#retail`, the user's tools last.

    Where nobody but the model is there (`-solo`), the tools of the person are the model's too.
    """
    name, _, key = reference.partition("#")
    value: Any = document(name)[key]
    theirs = value.get("user_tools") if isinstance(value, dict) and key.endswith("-solo") else ()
    return [*functions(value), *functions(theirs)]


def parameters(tool: Json) -> Json:
    """The schema of a definition, whether a `function` is around it or not."""
    inner = tool.get("function", tool) if isinstance(tool, dict) else {}
    return inner.get("parameters") if isinstance(inner, dict) else None


def name_of(tool: Json) -> str:
    """The name of a definition."""
    inner = tool.get("function", tool) if isinstance(tool, dict) else {}
    return str(inner.get("name")) if isinstance(inner, dict) else ""


def _turn(turn: Record) -> Turn:
    raw = turn["raw"]
    finish: Finish = "length" if turn.get("finish_reason") == "length" else "stop"
    used = turn.get("usage") or {}
    reply = Reply(
        text=raw.get("content") or "",
        calls=tuple(_call(call) for call in raw.get("tool_calls") or ()),
        finish=finish,
        usage=Usage(used.get("prompt_tokens", 0), used.get("completion_tokens", 0), cost=0.0),
    )
    failed = "tool_error" in (turn.get("flags") or ())
    seen = [
        Seen(one["content"] or "", not one.get("error", failed))
        for one in turn.get("observations") or ()
    ]
    return Turn(reply, tuple(seen), _person_words(turn), tuple(map(_asked, turn["actions"])))


def _call(call: Record) -> RawCall:
    """A call as the provider wrote it, or as a harness kept it: with its arguments read."""
    written = call.get("function") or call
    arguments = written.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        arguments = encode(arguments).decode()
    return RawCall(name=written["name"], arguments=arguments, id=call.get("id") or "")


def _asked(action: Record) -> tuple[str, Json]:
    """What a recording's own reader made of a call: its arguments as an object, or as it could."""
    return action["name"], action["args"] if "args" in action else read(action["args_text"])


def read(text: str) -> Json:
    """JSON text as its value; text that is none as it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _person_words(turn: Record) -> str:
    """A person's words to the model; what a person did with own tools is not among them."""
    heard = [one.get("content") for one in turn.get("inbound") or () if one["role"] == "user"]
    return "\n\n".join(filter(None, [turn.get("user_reply"), *heard]))
