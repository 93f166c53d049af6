"""Anthropic's Messages, the way out: a prompt as bytes, each part of it encoded once.

Format: https://platform.claude.com/docs/en/api/messages

A part becomes blocks of content, and neighbours of one side one message: the results of a step, the
pictures they showed and what was said since are all one message of the user's. What this very model
sent goes back as it came, block by block, thinking with its signature; newer models also check that
nothing before the thinking has changed, so what was said anew at the end of that prompt stands
before it again, where the prompt itself does not keep it there.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, takewhile
from typing import Any, Final, cast

import msgspec

from clew.core.attachments import file_name
from clew.core.contents import Attachment, File, RawCall
from clew.core.prompts import Part, Prompt
from clew.core.tools import ToolSpec
from clew.core.values import Json, encode
from clew.models.anthropic.schema import input_schema
from clew.models.attachments import NOTHING, base64_of, split_attachments
from clew.models.complaints import GOES_BACK
from clew.models.http.request import refuse_ours
from clew.models.tool_names import NameRules, Toolbox, described

OURS: Final = frozenset(
    {"model", "messages", "system", "tools", "tool_choice", "stream", "cache_control"}
)
"""Keys of the body that the adapter writes."""

LATER: Final = frozenset({"stop_sequences", "output_config", "thinking"})
"""Parameters that belong with what is different in each request."""

NAMES: Final = NameRules()
"""Names of tools: letters, digits, `_` and `-`, at most 64."""

MARK: Final = b',"cache_control":{"type":"ephemeral"}}'
"""The end of a block up to which the provider keeps the prompt, for five minutes."""

LONG_MARK: Final = b',"cache_control":{"type":"ephemeral","ttl":"1h"}}'
"""The same, for an hour."""

GO_ON: Final = b'{"type":"text","text":"Go on."}'
"""Said where the model would otherwise have to begin, or to follow itself."""

PRINT: Final = 18
"""Signs of a print: what a wire remembers all that stood before it by."""

TAKES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp", "application/pdf"})
"""Attachments that a message may show."""

_ID: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_SIDES: Final = {
    "user": b'{"role":"user","content":[',
    "assistant": b'{"role":"assistant","content":[',
}
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_NOTHING: Final[Mapping[str, str]] = {}


def declare(tool: ToolSpec, alias: str) -> Json:
    """A tool as the API takes it. Raises `ConfigError` for a schema it refuses."""
    return {"name": alias, "description": described(tool), "input_schema": input_schema(tool)}


@dataclass(frozen=True)
class PromptStyle:
    """How the parts of a prompt are written for one model, by what its server takes.

    `source` is (provider, model). `sees` says whether pictures are shown or named; `signed` whether
    what the model sent goes back whole; `moved` that it does not where something before it has
    changed; `unsigned` whether thinking without a signature goes back; `fill` that what was said
    without thinking has a stand-in for it.
    """

    source: tuple[str, str]
    box: Toolbox
    sees: bool = True
    signed: bool = True
    moved: bool = False
    unsigned: bool = True
    fill: bool = False

    @property
    def key(self) -> str:
        """The name under which a part keeps its bytes."""
        how = f"{'' if self.sees else '!'}{'' if self.unsigned else '-'}{'+' if self.fill else ''}"
        return f"{':'.join(self.source)}/messages{how}{self.box.clash}"


@dataclass(slots=True)
class MessagePieces:
    """The messages of a prompt in pieces.

    `ends` are the places of the pieces that requests ended with: the last is that of this one,
    before what is said anew. `print` takes the prints of all pieces, and `before` is what it came
    to before what is said anew. `messages` is what the user said last, each with the print before
    it.
    """

    print: Any = None
    system: list[bytes] = field(default_factory=list[bytes])
    pieces: list[bytes] = field(default_factory=list[bytes])
    ends: list[int] = field(default_factory=list[int])
    side: str = ""
    before: str = ""
    messages: list[tuple[bytes, Any]] = field(default_factory=list[tuple[bytes, Any]])

    def add(self, side: str, blocks: bytes) -> None:
        """Add blocks that the user or the assistant said."""
        if not blocks:
            return
        if side == "assistant" and self.side != "user":
            self.add("user", GO_ON)
        self.messages = (
            [*self.messages, (blocks, self.print and self.print.copy())] if side == "user" else []
        )
        if side == self.side:
            self._put(b",")
        else:
            if side == "assistant":
                self.ends.append(len(self.pieces) - 1)
            self._put((b"]}," if self.side else b"") + _SIDES[side])
            self.side = side
        self._put(blocks)

    def stable(self) -> None:
        """What follows is said anew: it will not stand here in the next prompt."""
        if self.side == "user":
            self.ends.append(len(self.pieces) - 1)
        if self.print is not None:
            self.before = self.trajectory()

    def trajectory(self, last: int = 0) -> str:
        """The print of all pieces up to here, or up to the `last` that the user said.

        sha256 is what processors have an instruction for.
        """
        print_: str = (self.messages[-last][1] if last else self.print).hexdigest()
        return print_[:PRINT]

    def _put(self, piece: bytes) -> None:
        self.pieces.append(piece)
        if self.print is not None:
            self.print.update(piece)


def write(prompt: Prompt, manner: PromptStyle, *, prints: bool = False) -> MessagePieces:
    """Write a prompt's parts, those that were written before from memory."""
    prints = prints or manner.moved
    written = MessagePieces(hashlib.sha256(manner.box.declared) if prints else None)
    key, taken, ids = manner.key, set[str](), _NOTHING
    for part in chain(prompt.head, prompt.parts):
        ids = _add(written, part, manner, key, taken, ids)
    written.stable()
    for part in prompt.tail:
        ids = _add(written, part, manner, key, taken, ids)
    if written.side != "user":
        written.add("user", GO_ON)
    return written


def _add(
    written: MessagePieces,
    part: Part,
    manner: PromptStyle,
    key: str,
    taken: set[str],
    ids: Mapping[str, str],
) -> Mapping[str, str]:
    """Add a part; `ids` are those of calls that had to be changed, and are given on."""
    if part.role == "assistant":
        ids = _ids(part.calls, taken) if part.calls else _NOTHING
        _add_reply(written, part, manner, key, ids)
        return ids
    own = f"{key}|{ids[part.call_id]}" if part.call_id in ids else key
    if (blocks := part.encoded.get(own)) is None:
        blocks = part.encoded[own] = _user_blocks(part, ids, sees=manner.sees)
    if part.role != "system":
        written.add("user", blocks)
    elif blocks:
        written.system.append(blocks)
        if written.print is not None:
            written.print.update(blocks)
    return ids


def _add_reply(
    written: MessagePieces, part: Part, manner: PromptStyle, key: str, ids: Mapping[str, str]
) -> None:
    """Add what a model said: whole if it was this one, else its text and calls."""
    kept = _wire_blocks(part, manner)
    tail = list(filter(None, (_texts([text]) for text in kept.get("tail") or ())))
    stands = bool(tail) and [blocks for blocks, _ in written.messages[-len(tail) :]] == tail
    before = len(tail) if stands else 0
    if manner.moved and "after" in kept and kept["after"] != written.trajectory(before):
        kept, tail = {}, []
    own = f"{key}|bare" if part.wire is not None and not kept else key
    if ids:
        own = f"{own}|{','.join(ids.values())}"
    for turn in () if stands else tail:
        written.add("user", turn)
    if (blocks := part.encoded.get(own)) is None:
        blocks = part.encoded[own] = _reply(part, kept, manner, ids)
    written.add("assistant", blocks)


def _wire_blocks(part: Part, manner: PromptStyle) -> dict[str, Any]:
    """What this very model sent: its blocks, or its thinking if the calls were read elsewhere."""
    wire = part.wire
    if wire is None or not manner.signed or (wire.provider, wire.model) != manner.source:
        return {}
    kept = wire.items
    items = cast("dict[str, Any]", kept) if isinstance(kept, dict) else {}
    content: list[dict[str, Any]] = items.get("content") or []
    if sum(block.get("type") == "tool_use" for block in content) != len(part.calls):
        content = [*takewhile(lambda block: block.get("type") in _THINKING, content)]
        content += [{"type": "text"}] if content and part.text.strip() else []
        content += [{"type": "tool_use"} for _ in part.calls] if content else []
    if not manner.unsigned:
        content = [block for block in content if _signed(block)]
    return items | {"content": content} if content else {}


def _signed(block: dict[str, Any]) -> bool:
    """Whether Anthropic itself takes the block: thinking has a signature there."""
    return block.get("type") != "thinking" or bool(block.get("signature"))


def _ids(calls: Iterable[RawCall], taken: set[str]) -> Mapping[str, str]:
    """Ids that have to be changed, since they are illegal or were taken by an earlier call."""
    changed: dict[str, str] = {}
    for call in calls:
        mine = call.id
        if mine in taken or not _ID.fullmatch(mine):
            mine = f"{NAMES.legal(mine)[:48]}_{len(taken) + 1}"
            changed[call.id] = mine
        taken.add(mine)
    return changed or _NOTHING


def _user_blocks(part: Part, ids: Mapping[str, str], *, sees: bool) -> bytes:
    """The blocks of what was said to the model; empty where that was nothing."""
    if part.role == "tool":
        id_ = ids.get(part.call_id, part.call_id)
        return encode({"type": "tool_result", "tool_use_id": id_} | _result(part, sees=sees))
    text, visible = split_attachments(part, TAKES if sees else NOTHING)
    blocks = [_texts([text]), *(encode(_attachment(each)) for each in visible)]
    return b",".join(filter(None, blocks))


def _result(part: Part, *, sees: bool) -> dict[str, Json]:
    """The content of a result: text, or blocks where it shows something; none where it is blank."""
    text, visible = split_attachments(part, TAKES if sees else NOTHING)
    if not visible:
        return {"content": text} if text.strip() else {}
    words: list[Json] = [{"type": "text", "text": text}] if text.strip() else []
    return {"content": [*words, *map(_attachment, visible)]}


def _texts(texts: Iterable[str]) -> bytes:
    """Blocks of text; blank ones are refused, and left out."""
    return b",".join(encode({"type": "text", "text": text}) for text in texts if text.strip())


def _attachment(attachment: Attachment) -> Json:
    data = base64_of(attachment)
    source: Json = {"type": "base64", "media_type": attachment.media_type, "data": data}
    if isinstance(attachment, File):
        return {"type": "document", "title": file_name(attachment), "source": source}
    return {"type": "image", "source": source}


def _reply(part: Part, kept: dict[str, Any], manner: PromptStyle, ids: Mapping[str, str]) -> bytes:
    """The blocks of what a model said."""
    calls = (encode(_call(call, manner.box, ids)) for call in part.calls)
    content: list[dict[str, Any]] = kept["content"] if kept else []
    thinks = any(block["type"] in _THINKING for block in content)
    blocks = [encode(GOES_BACK["thought"].stand_in)] if manner.fill and not thinks else []
    if not kept:
        return b",".join(filter(None, [*blocks, _texts([part.text]), *calls]))
    for block in content:
        if block["type"] == "tool_use":
            more = encode({key: value for key, value in block.items() if key != "type"})[1:]
            call = next(calls)
            blocks.append(call if more == b"}" else call[:-1] + b"," + more)
        elif block["type"] == "text" and "text" not in block:
            blocks += [encode(block | {"text": part.text})] if part.text.strip() else []
        else:
            blocks.append(encode(block))
    return b",".join(blocks)


def _call(call: RawCall, box: Toolbox, ids: Mapping[str, str]) -> Json:
    return {
        "type": "tool_use",
        "id": ids.get(call.id, call.id),
        "name": box.alias(call.name),
        "input": _input(call.arguments),
    }


def _input(arguments: str | None) -> Json:
    """The arguments as the object that the API wants, verbatim where they are one."""
    try:
        msgspec.json.decode(arguments or "{}", type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError):
        return {"unreadable": arguments}
    return msgspec.Raw((arguments or "{}").encode())


def head(model: str, params: Mapping[str, Json], max_tokens: int) -> bytes:
    """The beginning of every body; `max_tokens` tokens are written unless the parameters say
    otherwise.

    Raises `ConfigError` for `OURS`.
    """
    refuse_ours(OURS & params.keys())
    rest = {key: value for key, value in params.items() if key not in LATER}
    return encode({"model": model, "max_tokens": max_tokens} | rest)[:-1]


def body(
    start: bytes, written: MessagePieces, box: Toolbox, more: Mapping[str, Json], *, mark: bytes
) -> bytes:
    """The whole body: `start` from `head`, tools, system, messages, and the keys in `more`.

    Marked for the provider's cache, unless `mark` is empty, are the tools, the system prompt, and
    where this request and the one before it ended.
    """
    pieces = [start]
    if box.declared:
        pieces += [b',"tools":', _marked(box.declared[:-1], mark) + b"]" if mark else box.declared]
    if written.system:
        system = b",".join(written.system)
        pieces += [b',"system":[', _marked(system, mark) if mark else system, b"]"]
    messages = written.pieces
    for end in written.ends[-2:] if mark else ():
        messages[end] = _marked(messages[end], mark)
    pieces += [b',"messages":[', *messages, b"]}]"]
    for key, value in more.items():
        pieces += [b',"', key.encode(), b'":', encode(value)]
    pieces.append(b"}")
    return b"".join(pieces)


def _marked(blocks: bytes, mark: bytes) -> bytes:
    """Blocks with the mark on the last of them."""
    return blocks[:-1] + mark
