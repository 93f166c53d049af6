"""Calls that stand in tags: `<function=NAME>`, `<invoke name="NAME">`, `<NAME>`."""

import re
from functools import cache
from typing import Final

import msgspec

from clew.codecs.call_marks import TAG
from clew.codecs.json_repair import UnreadableError, first_value
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
from clew.support.lazy_regex import Lazy

_CHILD: Final = Lazy(r"\s*<([\w-]{1,64})>")
_UNCLEAR: Final = "its arguments cannot be read"
_STRAY: Final = "something else stands among its parameters"
_UNEVEN: Final = "only some of its values stand on lines of their own"


def tagged(prompt_spec: PromptSpec, text: str, at: int, *, marked: bool) -> ParsedCalls | None:
    """`<function=NAME>…</function>` or `<invoke name="NAME">…</invoke>`."""
    opening = TAG.match(text, at)
    if opening is None:
        return None
    prefix, closing = opening["prefix"], f"</{opening['prefix']}{opening['tag']}>"
    start = skip(text, opening.end())
    if not opening["name"]:
        return _named_inside(prompt_spec, text, start, closing)
    name = as_declared(prompt_spec, opening["name"])
    if text.startswith("{", start):
        try:
            text_prefix = first_value(text[start:])
        except UnreadableError as error:
            return ParsedCalls([WrittenCall(name, problem=str(error))], len(text))
        call, end = with_value(name, text_prefix), start + text_prefix.end
    elif _parameter(prefix).match(text, start) is not None:
        call, end = _with_parameters(prompt_spec, name, prefix, text, start)
    else:
        inner, end = _children(text, start)
        call = with_texts(prompt_spec, name, inner)
    return _closed(call, text, end, closing)


def own_tag(prompt_spec: PromptSpec, text: str, at: int, *, marked: bool) -> ParsedCalls | None:
    """`<NAME><parameter>…</parameter></NAME>`."""
    own = _CHILD.match(text, at)
    if own is None or not declared(prompt_spec, own[1]):
        return None
    children, end = _children(text, own.end())
    end, closing = skip(text, end), f"</{own[1]}>"
    if not text.startswith(closing, end):
        return None
    return ParsedCalls([with_texts(prompt_spec, own[1], children)], end + len(closing))


def _closed(call: WrittenCall, text: str, end: int, closing: str) -> ParsedCalls:
    """A call whose tag must be closed where its arguments end."""
    end = skip(text, end)
    if text.startswith(closing, end):
        return ParsedCalls([call], end + len(closing))
    if end < len(text) and not closing.startswith(text[end:]):
        why = _STRAY if call.args else _UNCLEAR
        return ParsedCalls([WrittenCall(call.name, problem=call.problem or why)], len(text))
    return ParsedCalls([msgspec.structs.replace(call, open=call.open or UNCLOSED)], len(text))


@cache
def _parameter(prefix: str) -> re.Pattern[str]:
    """What opens a parameter of a tag with this prefix."""
    return re.compile(
        rf"<{re.escape(prefix)}(?P<kind>parameter|param|arg)(?P<style>=|\s+name=)"
        r"[\"']?(?P<name>[\w.-]{1,64})[\"']?[^<>]{0,80}>"
    )


@cache
def _structure(prefix: str) -> re.Pattern[str]:
    """Every tag that such a call is made of: within a value none of them may stand."""
    own = re.escape(prefix)
    return re.compile(
        rf"<{own}(?:parameter|param|arg|function|invoke)(?:=|\s+name=)[^<>\n]{{1,120}}>"
        rf"|</{own}(?:parameter|param|arg|function|invoke)>"
        rf"|</?{own}(?:tool|function)_?calls?>"
    )


def _with_parameters(
    prompt_spec: PromptSpec, name: str, prefix: str, text: str, at: int
) -> tuple[WrittenCall, int]:
    """A call with a tag for each parameter, and where the last of them ends.

    A value ends at the first tag of such a call, which must be the one that closes it. Behind `=`
    values stand on lines of their own, or all of them do not.
    """
    params: list[tuple[str, str]] = []
    lines: set[tuple[bool, bool]] = set()
    ended = True
    while (opened := _parameter(prefix).match(text, at)) is not None:
        token = _structure(prefix).search(text, opened.end())
        end = len(text) if token is None else token.start()
        value = text[opened.end() : end]
        closed = token is not None and token[0] == f"</{prefix}{opened['kind']}>"
        ended = ended and closed
        if opened["style"] == "=":
            edges = value.startswith("\n"), value.endswith("\n") and len(value) > 1
            lines.add(edges)
            value = value[1:-1] if all(edges) else value
        params.append((opened["name"], value))
        at = skip(text, token.end() if token is not None and closed else end)
    call = with_texts(prompt_spec, name, params)
    uneven = _UNEVEN if len(lines) > 1 or lines & {(True, False), (False, True)} else ""
    return msgspec.structs.replace(call, open=uneven if ended else UNCLOSED), at


def _named_inside(
    prompt_spec: PromptSpec, text: str, start: int, closing: str
) -> ParsedCalls | None:
    """`<invoke><tool_name>NAME</tool_name><parameters>…</parameters></invoke>`."""
    outer, end = _children(text, start)
    inner = dict(outer)
    name, body = inner.get("tool_name", "").strip(), inner.get("parameters", "")
    if not name:
        return None
    name = as_declared(prompt_spec, name)
    children, inner_end = _children(body, 0)
    if body[inner_end:].strip():
        return ParsedCalls([WrittenCall(name, problem=_UNCLEAR)], len(text))
    return _closed(with_texts(prompt_spec, name, children), text, end, closing)


def _children(text: str, at: int) -> tuple[list[tuple[str, str]], int]:
    """Tags that stand one behind the other from `at` on, with what is in them, and their end."""
    children: list[tuple[str, str]] = []
    while (child := _CHILD.match(text, at)) is not None:
        end = text.find(f"</{child[1]}>", child.end())
        if end < 0:
            break
        children.append((child[1], text[child.end() : end]))
        at = end + len(child[1]) + 3
    return children, at
