"""What a reply thinks and what it says: a call counts only where it stands outside of thinking.

Models of many makers think in tags of their own, and where a chat template opens the thinking, only
its end stands in the reply. All formats read a reply through `aloud`, so that a call in thinking
is made by none. Quoted tags are words, and so is a tag in a value: what stands within it is then no
call of the reply.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from clew.codecs.arguments import may_act
from clew.codecs.prompt_texts import incomplete
from clew.core.actions import Action
from clew.core.codec import Parsed, PromptSpec
from clew.core.codes import RUN_CODE
from clew.core.contents import Reply
from clew.support.lazy_regex import Lazy

LEFT_OUT: Final = "what stood in thinking kept as thought"
"""The repair of a reply whose thinking holds a call."""

_NEVER_CLOSED: Final = (
    "the call stands in thinking that {} opens and nothing closes, so it was not made: "
    "end the thinking first, then make the call"
)
_NOT_MADE: Final = "a call in your thinking is not made, and behind the thinking "

_WORDS: Final = (
    "think|thinking|thoughts?|reason|reasoning|reflection|scratchpad|analysis|cot|ant_?thinking"
    "|(?:inner_)?monologue|thought_process|chain_of_thought"
)
_TAG: Final = Lazy(
    r"(?<![\"'`“”„‘’«»\\])(?:"
    r"(?:<[|｜]?|\[|◁)(?P<ends>/|end_(?:of_)?)?(?:(?:start|begin)_(?:of_)?)?(?:\w{1,20}:)?"
    rf"(?P<word>{_WORDS})(?:\s[^<>\[\]\n]{{0,80}})?(?:[|｜]?>|\]|▷)"
    r"|(?P<harmony><\|channel\|>analysis<\|message\|>)"
    r"|(?P<harmony_ends>(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>"
    r"|<\|end\|>|(?=<\|(?:start|channel)\|>(?!analysis<)))"
    r"|(?P<channel><\|channel>thought)|(?P<channel_ends><channel\|>)"
    r"|(?P<unused><unused94>)|(?P<unused_ends><unused95>)"
    r"|(?P<details><details\s+type=[\"']reasoning[\"'][^<>\n]{0,80}>)|(?P<details_ends></details>))",
    re.IGNORECASE,
)
_LONE: Final = re.compile(r"final<|<channel\|>|<unused95>")
"""Ends without a word of `_WORDS` that nothing else is written with, so that no beginning is
needed: an `<|end|>` may end the turn."""
_ROUNDS: Final = 4
"""So often thinking with a call in it may follow on the last before the reply is a fault."""

Parse: TypeAlias = Callable[[PromptSpec, Reply], Parsed]


class _ThinkingBlock(msgspec.Struct, frozen=True):
    """A stretch of thinking; `tag` is what opened it, "" where the chat template did."""

    text: str
    start: int
    end: int
    tag: str = ""
    closed: bool = True


def aloud(prompt_spec: PromptSpec, reply: Reply, parse: Parse) -> Parsed:
    """What a reply holds outside of its thinking, as `parse` reads it.

    A call in thinking that is closed is part of the thought; in thinking that is never closed it is
    a fault. An answer stays as it is, with the tags in it. A reply that was cut may be nothing but
    thinking that the chat template opened, so no call of it that can have an effect is made.
    """
    parsed = _aloud(prompt_spec, reply, parse)
    if (why := incomplete(reply)) and any(_acts(prompt_spec, action) for action in parsed.actions):
        return Parsed(text=parsed.text, fault=why)
    return parsed


def _acts(prompt_spec: PromptSpec, action: Action) -> bool:
    """Whether a call can have an effect, itself or by those that it makes."""
    return action.name == RUN_CODE or may_act(prompt_spec, action.name)


def _aloud(prompt_spec: PromptSpec, reply: Reply, parse: Parse) -> Parsed:
    thought = list[str]()
    for _ in range(_ROUNDS):
        parsed = parse(prompt_spec, reply)
        last = None if parsed.answer is not None else _last(prompt_spec, reply.text, parsed, parse)
        if last is None:
            return _told(parsed, thought)
        if not last.closed:
            return Parsed(text=reply.text.strip(), fault=_NEVER_CLOSED.format(last.tag))
        rest = msgspec.structs.replace(reply, text=reply.text[last.end :].strip())
        if not last.tag or last.start:
            thought.append(reply.text[: last.end].strip())
        elif (again := parse(prompt_spec, rest)).actions and again.actions == parsed.actions:
            return _told(parsed, thought)
        else:
            thought.append(last.text)
        reply = rest
    return Parsed(text=reply.text.strip(), fault=f"{_NOT_MADE}there is only more thinking")


def _told(parsed: Parsed, thought: list[str]) -> Parsed:
    """What was found behind thinking, with that as the thought."""
    if not thought or parsed.answer is not None:
        return parsed
    text = "\n".join(filter(None, [*thought, parsed.text]))
    if parsed.fault:
        return msgspec.structs.replace(parsed, text=text, fault=f"{_NOT_MADE}{parsed.fault}")
    return msgspec.structs.replace(parsed, text=text, repairs=(LEFT_OUT, *parsed.repairs))


def _last(
    prompt_spec: PromptSpec, text: str, parsed: Parsed, parse: Parse
) -> _ThinkingBlock | None:
    """The last stretch of thinking that what was found stands in, or that a reply begins with."""
    blocks = _blocks(text)
    for block in reversed(blocks if parsed.actions else ()):
        if _holds(parsed.actions, parse(prompt_spec, Reply(block.text)).actions):
            return block
    first = blocks[0] if blocks else None
    leads = first is not None and first.tag and not text[: first.start].strip()
    return first if leads and first is not None and (parsed.actions or first.closed) else None


def _holds(made: tuple[Action, ...], thought: tuple[Action, ...]) -> bool:
    """Whether calls are nothing but some of those that would be made."""
    return bool(thought) and all(action in made for action in thought)


def _blocks(text: str) -> list[_ThinkingBlock]:
    """The thinking in a text. Behind an end without a beginning all ahead of it was thinking."""
    blocks = list[_ThinkingBlock]()
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(text):
        kind, ends = _kind(tag)
        if tag[0].startswith("[") and not tag[0].isupper():  # a citation, and no special token
            continue
        if opened is None:
            if not ends:
                opened = tag
            elif tag["word"] or _LONE.search(tag[0]):
                blocks = [_ThinkingBlock(text[: tag.start()].strip(), 0, tag.end())]
        elif ends and kind == _kind(opened)[0]:
            inside = text[opened.end() : tag.start()].strip()
            blocks.append(_ThinkingBlock(inside, opened.start(), tag.end(), opened[0]))
            opened = None
    if opened is not None:
        inside = text[opened.end() :].strip()
        blocks.append(_ThinkingBlock(inside, opened.start(), len(text), opened[0], closed=False))
    return blocks


def _kind(tag: re.Match[str]) -> tuple[str, bool]:
    """Which pair of tags one belongs to, and whether it ends it."""
    if tag["word"]:
        return tag["word"].lower(), tag["ends"] is not None
    kind, _, ends = str(tag.lastgroup).partition("_")
    return kind, bool(ends)
