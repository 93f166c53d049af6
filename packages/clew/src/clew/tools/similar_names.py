"""Tools that are hard to choose from: too many, or names and descriptions that look alike."""

import difflib
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from clew.core.tools import ToolSpec
from clew.support.nearest_name import fold

MANY: Final = 15

_SAME_NAME: Final = 0.88
_SAME_WORDS: Final = 0.8
_FEW_WORDS: Final = 4


def problems_of_visible(tools: Sequence[ToolSpec]) -> list[str]:
    """What makes the shown tools hard to choose from, a line each (hidden ones do not count).

    Warns of more than 15 tools and of names and descriptions that hardly differ.
    """
    visible = [tool for tool in tools if not tool.hidden]
    lines: list[str] = []
    if len(visible) > MANY:
        lines.append(
            f"{len(visible)} tools are shown: models choose worse from more than {MANY}; "
            "hide or leave out what this task does not need"
        )
    looks = [(tool.name, fold(tool.name), _words(tool.description)) for tool in visible]
    for (one, folded, words), (other, folded_too, words_too) in combinations(looks, 2):
        if _alike(folded, folded_too):
            lines.append(f"tools {one} and {other} have nearly the same name: rename one")
        elif _overlap(words, words_too) >= _SAME_WORDS:
            lines.append(
                f"tools {one} and {other} have nearly the same description: say when to use which"
            )
    return lines


def _alike(one: str, other: str) -> bool:
    """Whether two folded names hardly differ; what is quick to see is looked at first."""
    pair = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return (
        pair.real_quick_ratio() >= _SAME_NAME
        and pair.quick_ratio() >= _SAME_NAME
        and pair.ratio() >= _SAME_NAME
    )


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _overlap(left: set[str], right: set[str]) -> float:
    """Shared words over all words; too few words say nothing."""
    if min(len(left), len(right)) < _FEW_WORDS:
        return 0.0
    return len(left & right) / len(left | right)
