"""Calls as a name with its arguments behind it: `NAME{…}`, or `NAME<arg_key>…`."""

import json
import re
from typing import Final, cast

import msgspec

from clew.codecs.call_marks import FENCE, MARK
from clew.codecs.json_repair import UnreadableError, complete_value, first_value
from clew.codecs.written_calls import (
    UNCLOSED,
    ParsedCalls,
    WrittenCall,
    as_declared,
    declared,
    skip,
    with_texts,
    with_value,
)
from clew.core.codec import PromptSpec
from clew.core.values import Json
from clew.support.lazy_regex import Lazy

_KEY: Final = Lazy(r"\s*<arg_key>([^<]{1,64})</arg_key>\s*<arg_value>")
_ARG: Final = Lazy(r"</?arg_(?:key|value)>|</?tool_call>")
_NAMED: Final = Lazy(
    r"(?:function(?:\s|<[|｜][^|｜<>\n]{1,40}[|｜]>)+)?(?:(?:[a-z]{1,12} )?to=)?(?:call:)?"
    r"(?:functions?\.|default_api\.)?(?P<name>[\w./-]{1,64})(?::\d{1,4})?"
    rf"(?P<marks>(?:\s|(?:json|commentary|analysis)\b|{FENCE}|{MARK.pattern})*+)(?=\{{|<arg_key>)",
    re.IGNORECASE,
)

_QUOTED: Final = Lazy(r"\{\s*[\w.-]{1,64}\s*:[\s\[\]{}\w.:,-]*+(?P<quote><escape>|<\|\"\|>)")
"""An object whose texts stand between tokens, as Gemma writes them."""

_PLAIN: Final = Lazy(r"\s++|[{}\[\]:,]|[\w.+-]++(?P<key>\s*+:)?")


def named_ahead(prompt_spec: PromptSpec, text: str, at: int, *, marked: bool) -> ParsedCalls | None:
    """`NAME{…}`, with marks, a fence or nothing between the two; or `NAME<arg_key>…`."""
    match = _NAMED.match(text, at)
    if match is None:
        return None
    name, start = as_declared(prompt_spec, match["name"]), match.end()
    if not (marked or declared(prompt_spec, name)):
        return None
    if text.startswith("<", start):
        return _with_keys(prompt_spec, name, text, start)
    try:
        quoted = _QUOTED.match(text, start)
        if quoted is not None:
            args, end = _between_tokens(text, start, quoted["quote"])
            call = WrittenCall(name, args)
        else:
            value = first_value(text[start:])
            call, end = with_value(name, value), start + value.end
    except UnreadableError as error:
        return ParsedCalls([WrittenCall(name, problem=str(error))], len(text))
    return ParsedCalls([call], end, match["marks"])


def _with_keys(prompt_spec: PromptSpec, name: str, text: str, at: int) -> ParsedCalls:
    """`<arg_key>KEY</arg_key><arg_value>VALUE</arg_value>`, once for each parameter."""
    params: list[tuple[str, str]] = []
    while (key := _KEY.match(text, at)) is not None:
        token = _ARG.search(text, key.end())
        end = len(text) if token is None else token.start()
        params.append((key[1], text[key.end() : end]))
        if token is None or token[0] != "</arg_value>":
            call = with_texts(prompt_spec, name, params)
            return ParsedCalls([msgspec.structs.replace(call, open=UNCLOSED)], end)
        at = token.end()
    call, end = with_texts(prompt_spec, name, params), skip(text, at)
    complete = params and text.startswith("</tool_call>", end)
    return ParsedCalls([msgspec.structs.replace(call, open="" if complete else UNCLOSED)], end)


def _between_tokens(text: str, at: int, quote: str) -> tuple[dict[str, Json], int]:
    """An object whose texts stand between `quote`, and where it ends. Raises `UnreadableError`."""
    out: list[str] = []
    depth = 0
    while True:
        if text.startswith(quote, at):
            end = text.find(quote, at + len(quote))
            if end < 0:
                break
            out.append(json.dumps(text[at + len(quote) : end]))
            at = end + len(quote)
            continue
        piece = _PLAIN.match(text, at)
        if piece is None:
            break
        word = piece[0]
        if piece["key"]:
            word = json.dumps(word.rstrip(": \t\r\n")) + ":"
        out.append(word)
        at = piece.end()
        depth += (word in "{[") - (word in "}]")
        if not depth:
            return cast("dict[str, Json]", complete_value("".join(out))), at
    raise UnreadableError("the arguments end before they are closed")
