"""A text reply taken apart: the thought, the first action, its input, the final answer."""

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import msgspec

from clew.codecs.no_action import void
from clew.codecs.stop_filter import INVENTED, Labels, LineLabel, Role, scan

_FENCE: Final = re.compile(r"\s*`{3,}[\w+-]{0,20}\s*")

SectionRole: TypeAlias = Role | Literal["prose"]
"""What a piece of a reply is; "prose" is text ahead of all labels."""


class Sections(msgspec.Struct, frozen=True):
    """What a reply holds, each text stripped; None where there is no such label.

    `complete` tells that a tail followed, so that what counts cannot have been cut, and `left_over`
    that it is no invented observation, but something that the model means. `early` is an input
    that came ahead of its action, `beside` what stands behind the label of an action within the
    answer, and `has_input` whether that has an input.
    """

    thought: str = ""
    action: str | None = None
    input: str | None = None
    final: str | None = None
    early: bool = False
    beside: str | None = None
    has_input: bool = False
    complete: bool = False
    left_over: bool = False
    repairs: tuple[str, ...] = ()


def sections(labels: Labels, text: str, searched: str | None = None) -> Sections:
    """Take a reply apart. Total, and linear in its length.

    Labels are looked for in `searched`, as long as the text, in which some of it may be blank.
    """
    scanned = scan(labels, text if searched is None else searched)
    marks, beside = _answer_last(scanned.marks)
    pieces, repairs = _unfenced(_pieces(marks, scanned.kept, text))
    thoughts = [piece for role, piece in pieces if role in {"prose", "thought"} and piece]
    action = action_input = final = None
    early = False
    live = True
    for role, piece in pieces:
        if role == "action":
            live = not void(piece)
            action = piece if live else None
            repairs += [] if live else ["empty action ignored"]
        elif role == "input" and live:
            action_input, early = piece, action is None
        elif role == "final":
            final = piece
    if pieces[0][1] and len(pieces) > 1:
        repairs.append("prose before the action kept as thought")
    if sum(role == "thought" for role, _ in pieces) > 1:
        repairs.append("several thoughts joined")
    if scanned.dropped:
        repairs.append(scanned.dropped)
    acts = [
        text[at + mark.body : scanned.kept].strip() for at, mark in beside if mark.role == "action"
    ]
    return Sections(
        beside=acts[0] if acts else None,
        has_input=bool(acts) and any(mark.role == "input" for _, mark in beside),
        thought="\n".join(thoughts),
        action=action,
        input=action_input,
        final=final,
        early=early,
        complete=bool(scanned.dropped),
        left_over=scanned.dropped not in {"", INVENTED},
        repairs=tuple(dict.fromkeys(repairs)),
    )


def before_invented_tail(labels: Labels, text: str) -> str:
    """The part of a reply before an invented tail."""
    return text[: scan(labels, text).kept]


Marks: TypeAlias = Sequence[tuple[int, LineLabel]]


def _answer_last(marks: Marks) -> tuple[Marks, Marks]:
    """The marks up to that of the answer, which takes all that follows, and those within it."""
    indexes = [index for index, (_, mark) in enumerate(marks, 1) if mark.role == "final"]
    end = indexes[0] if indexes else len(marks)
    return marks[:end], marks[end:]


def _pieces(marks: Marks, kept: int, text: str) -> list[tuple[SectionRole, str]]:
    """The reply in order, prose first (it may be empty)."""
    first, *ends = [*(at for at, _ in marks), kept]
    pieces: list[tuple[SectionRole, str]] = [("prose", text[:first])]
    for (start, mark), end in zip(marks, ends, strict=True):
        body = text[start + mark.body : end]
        content = body.removeprefix(mark.closing)
        if content == body:  # emphasis that ends behind the text
            content = body.rstrip().removesuffix(mark.closing)
        pieces.append((mark.role, content))
    return [(role, body.replace("\r\n", "\n").strip()) for role, body in pieces]


def _unfenced(
    pieces: Sequence[tuple[SectionRole, str]],
) -> tuple[list[tuple[SectionRole, str]], list[str]]:
    """Take away the code fence around a whole reply, or around its action."""
    out = list(pieces)
    opened = False
    for number, (role, text) in enumerate(pieces):
        if role in {"prose", "thought"} and "```" in text:
            lines = text.split("\n")
            fences = [at for at, line in enumerate(lines) if _FENCE.fullmatch(line)]
            if len(pieces) == 1 and fences == [0, len(lines) - 1]:
                return [(role, "\n".join(lines[1:-1]).strip())], ["code fence removed"]
            if len(fences) % 2 and number == 0 and fences[0] == 0:
                del lines[0]
            elif len(fences) % 2 and fences[-1] == len(lines) - 1:
                del lines[-1]
            else:
                continue
            opened = True
            out[number] = (role, "\n".join(lines).strip())
    if opened:
        role, text = out[-1]
        lines = text.split("\n")
        if _FENCE.fullmatch(lines[-1]):
            out[-1] = (role, "\n".join(lines[:-1]).strip())
    return out, ["code fence removed"] if opened else []


def unfenced(text: str) -> tuple[str, list[str]]:
    """A piece without the code fence it begins with, if any; what follows the fence is kept."""
    first, _, rest = text.strip().partition("\n")
    if not _FENCE.fullmatch(first):
        return text.strip(), []
    return rest.strip(), ["code fence removed"]
