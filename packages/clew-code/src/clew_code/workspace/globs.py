"""Globs as regular expressions that take no exponential time, whoever wrote them.

The first place where what follows a star fits is the best one for all that comes later: so each
star is matched once, in an atomic group, and never tried again.
"""

import functools
import itertools
import re
from collections.abc import Iterator
from typing import Final

_SET: Final = r"\[(?P<other>!?)(?P<set>[^\]/]+)\]"
_TOKEN: Final = re.compile(rf"(?<![^/])\*\*/|\*\*|(?P<star>\*)|\?|{_SET}|(?P<plain>.)", re.DOTALL)
_GIT: Final = re.compile(
    rf"(?<![^/])\*\*/|(?<=/)\*\*$|(?P<star>\*+)|\?|{_SET}|\\?(?P<plain>.)", re.DOTALL
)
"""As git has it: stars inside a name are one, and a backslash stands before what is no sign."""
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_STARS: Final = {"**/": "(?:[^/]+/)*?", "**": ".*?"}
"""Stars that go over folders."""
_MAX_GLOBS: Final = 64
"""The most globs that one with braces stands for; braces of more stand for themselves."""


@functools.lru_cache(maxsize=256)
def glob(words: str) -> re.Pattern[str]:
    """Compile a glob: `*` and `?` within a name, `**` over folders, `[…]`, `{a,b}`."""
    return re.compile("|".join(f"(?:{_plain(each)})" for each in _without_braces(words)), re.DOTALL)


@functools.lru_cache(maxsize=256)
def git_glob(words: str) -> re.Pattern[str]:
    """Compile a pattern of a `.gitignore`, without `!` and the last slash, for a path below it."""
    return re.compile(_plain(words, _GIT), re.DOTALL)


def _without_braces(words: str) -> Iterator[str]:
    fixed = _BRACES.split(words)
    choices = [each.split(",") if at % 2 else [each] for at, each in enumerate(fixed)]
    count = 1
    for each in choices:
        count *= len(each)
        if count > _MAX_GLOBS:
            return iter((words,))
    return map("".join, itertools.product(*choices))


def _plain(words: str, tokens: re.Pattern[str] = _TOKEN) -> str:
    """The expression of a glob without braces."""
    stars: list[str] = [""]
    blocks: list[list[str]] = [[""]]
    for token in tokens.finditer(words):
        if token["star"]:
            blocks[-1].append("")
        elif token[0] in _STARS:
            stars.append(_STARS[token[0]])
            blocks.append([""])
        else:
            blocks[-1][-1] += _sign(token)
    last = len(blocks) - 1
    parts = (
        star + _block(block, last=at == last) if at in {0, last} else f"(?>{star}{_block(block)})"
        for at, (star, block) in enumerate(zip(stars, blocks, strict=True))
    )
    return "".join(parts)


def _block(pieces: list[str], *, last: bool = False) -> str:
    """Pieces with a star of one name between each two; behind the last one a path ends."""
    first, *rest = pieces
    ending = f"[^/]*{rest.pop()}" if last and rest else ""
    return first + "".join(f"(?>[^/]*?{piece})" for piece in rest) + ending


def _sign(token: re.Match[str]) -> str:
    if token[0] == "?":
        return "[^/]"
    if token["set"] is not None and _is_set(token["set"]):
        return f"(?!/)[{'^' if token['other'] else ''}{_set(token['set'])}]"
    return re.escape(token["plain"] or token[0])


def _set(words: str) -> str:
    return words.replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")


def _is_set(words: str) -> bool:
    try:
        re.compile(f"[{_set(words)}]")
    except re.error:
        return False
    return True
