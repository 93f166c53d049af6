"""Blocks of code that are no work: an answer between fences, as small models write it."""

import ast
import keyword
import re
from typing import Final

from clew.codecs.own_literals import program_tree

_PLAIN: Final = frozenset({"text", "txt", "plain", "plaintext", "markdown", "md", "answer"})
"""Languages of a fence in which nobody writes programs."""

_CODE_MARKS: Final = re.compile(r"[=(){}\[\]`;\\]|^\s*(?:#|@)", re.MULTILINE)


def is_text(language: str) -> bool:
    """Whether a block is marked as text, so that it is an answer."""
    return language.lower() in _PLAIN


def is_answer(code: str, language: str) -> bool:
    """Whether a block is no program but an answer: one value, or plain words."""
    tree = program_tree(code)
    if is_text(language):
        return True
    if tree is not None:
        return len(tree.body) == 1 and _is_value(tree.body[0])
    return not _CODE_MARKS.search(code) and _is_sentence(code.strip())


def is_labelled(code: str, before: str) -> bool:
    """Whether a block with a line `Answer:` is one, and no program with a variable of that name.

    What stands `before` that line is no code then.
    """
    tree = program_tree(code)
    if tree is None:
        return not _CODE_MARKS.search(before)
    (first, *rest) = tree.body
    return not rest and isinstance(first, ast.AnnAssign) and first.value is None


def _is_value(statement: ast.stmt) -> bool:
    """Whether a statement is a value that is written out, and nothing else."""
    if not isinstance(statement, ast.Expr):
        return False
    try:
        ast.literal_eval(statement.value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def _is_sentence(text: str) -> bool:
    """Whether a text that is no Python reads like words to a person."""
    words = text.split()
    return len(words) > 1 and text[0].isupper() and not keyword.iskeyword(words[0])
