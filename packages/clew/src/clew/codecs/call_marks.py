"""The marks around calls in a text: special tokens, tags, brackets and fences, and which are open.

They only say that a call follows, goes on or ends; what the call is says what stands behind them.
"""

import re
from typing import Final

import msgspec

from clew.codecs.json_repair import UnreadableError
from clew.support.lazy_regex import Lazy

_PREFIX: Final = r"(?:[\w-]{1,20}:|[|｜ ]{0,3}DSML[|｜ ]{0,3})?"
"""What may stand ahead of a tag's name: a namespace, or DeepSeek's word between bars."""

MARK: Final = Lazy(
    rf"</?\|?/?{_PREFIX}(?:tool|function)[_-]?(?:calls?|use)\|?>"
    r"|</?tools>(?=\s*(?:[\[{<]|$))"
    r"|</?(?:start|end)_function_call>"
    r"|<[|｜][^|｜<>\n]{1,40}[|｜]>"
    r"|\[/?(?:TOOL_CALLS|ARGS)\]|\[CALL_ID\]\w{0,40}"
    r"|\bfunctools(?=\[)|^>>>(?=\w)",
    re.IGNORECASE | re.MULTILINE,
)
"""What says that a call begins, goes on or ends."""

TAG: Final = Lazy(
    rf"<(?P<prefix>{_PREFIX})(?P<tag>function|invoke)"
    r"(?:(?:=|\s+name=)[\"']?(?P<name>[\w./:-]{1,64})[\"']?[^<>]{0,80})?>"
)

PIECE: Final = Lazy(
    rf"</?{_PREFIX}(?:parameters?|param|arg|arg_key|arg_value|function|invoke)"
    r"(?:(?:=|\s+name=)[^<>\n]{1,120})?>"
)
"""A piece of a tagged call: beside a call that was read it is left over."""

_TURN: Final = Lazy(
    r"(?:\s|</?s>|<[|｜](?:im_end|im_start|eot_id|eom_id|end|endoftext|end_of_text|begin_of_text"
    r"|end▁of▁sentence|assistant)[|｜]>|<\|start_header_id\|>\w{0,20}<\|end_header_id\|>)++"
)
FENCE: Final = r"`{3,}[\w+-]{0,20}"
BETWEEN: Final = Lazy(rf"(?:[\s,;]|{FENCE}|(?m:{MARK.pattern}))++", re.IGNORECASE)
_NEAR: Final = 200
_RUN: Final = Lazy(rf"(?:[\s,;\[]|{FENCE}|(?m:{MARK.pattern}))++\Z", re.IGNORECASE)
_MARKS: Final = Lazy(rf"{FENCE}|(?m:{MARK.pattern})", re.IGNORECASE)
_BEGINS: Final = Lazy(r"(?<![a-z])(?:begin|start|prefix|end|suffix)(?![a-z])", re.IGNORECASE)
_CALLS: Final = Lazy(r"tool|call|action|python|function|plugin", re.IGNORECASE)


def plain(text: str) -> str:
    """The text without the ends of turns around it."""
    begun = _TURN.match(text)
    text = text[begun.end() :] if begun else text
    end = len(text)
    while (token := text.rfind("<", 0, end)) >= 0 and _TURN.fullmatch(text, token, end):
        end = token
    return text[:end].strip()


def check_thought(thought: str) -> None:
    """Raise `UnreadableError` where a tagged call begins ahead of what was found.

    What looks like an action of a text format may then stand within one of its values.
    """
    if (piece := PIECE.search(thought)) is not None:
        raise UnreadableError(f"{piece[0]!r} stands ahead of it: write one call, in this form only")


class Marks(msgspec.Struct):
    """Which marks are open: those that come in pairs, and fences."""

    opened: list[str] = []
    uneven: bool = False

    def take(self, text: str) -> None:
        """Go through the marks in a text that holds nothing else."""
        for mark in _MARKS.finditer(text):
            self._take(mark[0])

    @property
    def open(self) -> str:
        """Why a call between these marks may not be whole; "" where it is."""
        if self.uneven:
            return "its tags do not match"
        return f"{self.opened[-1]} around it is never closed" if self.opened else ""

    def _take(self, mark: str) -> None:
        if mark.startswith("`"):
            pair, closes = "the fence", not mark.strip("`") and "the fence" in self.opened
        elif (inner := _pair(mark)) is not None:
            pair, closes = inner
        else:
            return
        if not closes:
            self.opened.append(pair)
        elif pair in self.opened:
            while self.opened.pop() != pair:
                self.uneven = True
        else:
            self.uneven = True


def unclosed(text: str, start: int, end: int) -> str:
    """Why the marks directly around a stretch of the text do not match; "" where they do."""
    marks = Marks()
    for run in (_RUN.search(text[max(0, start - _NEAR) : start]), BETWEEN.match(text, end)):
        marks.take("" if run is None else run[0])
    return marks.open


def _pair(mark: str) -> tuple[str, bool] | None:
    """Which pair of marks one belongs to, and whether it closes it; None where it stands alone."""
    inner = mark.strip("<>")
    ahead, behind = inner[:1] in {"|", "｜"}, inner[-1:] in {"|", "｜"}
    if mark[0] != "<" or (word := _BEGINS.search(inner)) is None:
        if mark[0] != "<" or (ahead and behind):
            return None
        return f"<{inner.strip('/|')}>", inner.startswith("/") or behind
    if "argument" in inner or not _CALLS.search(inner):
        return None
    key = (inner[: word.start()] + inner[word.end() :]).strip("/|｜_▁ ")
    return f"<{key}>", word[0].lower() in {"end", "suffix"}
