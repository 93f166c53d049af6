"""Blocks of code that are no work: an answer in a fence, and programs that show what they say.

A small model puts its answer between fences, or prints it. Run as a program, that comes back as an
observation, and the model takes its own words for something found.
"""

import ast
import keyword
import re
import warnings
from typing import Final

LONGEST: Final = 20_000
"""Longer texts are taken for programs."""

_PLAIN: Final = frozenset({"text", "txt", "plain", "plaintext", "markdown", "md", "answer"})
"""Languages of a fence in which nobody writes programs."""

_CODE_MARKS: Final = re.compile(r"[=(){}\[\]`;\\]|^\s*(?:#|@)", re.MULTILINE)
_OUTPUT_FUNCTIONS: Final = frozenset({"print", "str", "repr", "display"})
_OF_LITERALS: Final = (
    ast.Module, ast.Expr, ast.Assign, ast.AnnAssign, ast.Constant, ast.JoinedStr,
    ast.FormattedValue, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.UAdd,
    ast.Load, ast.Store, ast.keyword,
)  # fmt: skip
"""What a program is made of that computes nothing; names, calls and sums are looked at closer."""


def only_literals(code: str) -> bool:
    """Whether all that a program shows was written out in it: it calls and computes nothing."""
    tree = _parsed(code)
    if tree is None or not tree.body:
        return False
    own = {
        node.id for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }  # fmt: skip
    if own & _OUTPUT_FUNCTIONS:
        return False
    shows = any(isinstance(statement, ast.Expr) for statement in tree.body)
    return shows and all(_is_written(node, own) for node in ast.walk(tree))


def is_text(language: str) -> bool:
    """Whether a block is marked as text, so that it is an answer."""
    return language.lower() in _PLAIN


def is_answer(code: str, language: str) -> bool:
    """Whether a block is no program but an answer: one value, or plain words."""
    tree = _parsed(code)
    if is_text(language):
        return True
    if tree is not None:
        return len(tree.body) == 1 and _is_value(tree.body[0])
    return not _CODE_MARKS.search(code) and _is_sentence(code.strip())


def is_labelled(code: str, before: str) -> bool:
    """Whether a block with a line `Answer:` is one, and no program with a variable of that name.

    What stands `before` that line is no code then.
    """
    tree = _parsed(code)
    if tree is None:
        return not _CODE_MARKS.search(before)
    (first, *rest) = tree.body
    return not rest and isinstance(first, ast.AnnAssign) and first.value is None


def _parsed(code: str) -> ast.Module | None:
    if len(code) > LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a model writes there is nobody to warn
            return ast.parse(code.strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_written(node: ast.AST, own: set[str]) -> bool:
    match node:
        case ast.Name(id=name):
            return name in own or name in _OUTPUT_FUNCTIONS
        case ast.Call(func=ast.Name(id=name)):
            return name in _OUTPUT_FUNCTIONS
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _is_text(left) or _is_text(right)  # texts that are put together
        case ast.Add():
            return True
        case _:
            return isinstance(node, _OF_LITERALS)


def _is_text(node: ast.expr) -> bool:
    """Whether a part of a sum is a text, so that the sum is one."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


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
