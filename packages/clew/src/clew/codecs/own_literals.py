"""Programs that show what they say: what they print was written out in them.

A small model prints its answer. Run as a program, that comes back as an observation, and the model
takes its own words for something found.
"""

import ast
import warnings
from typing import Final

LONGEST: Final = 20_000
"""Longer texts are taken for programs."""

_OUTPUT_FUNCTIONS: Final = frozenset({"print", "str", "repr", "display"})
_OF_LITERALS: Final = (
    ast.Module, ast.Expr, ast.Assign, ast.AnnAssign, ast.Constant, ast.JoinedStr,
    ast.FormattedValue, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.USub, ast.UAdd,
    ast.Load, ast.Store, ast.keyword,
)  # fmt: skip
"""What a program is made of that computes nothing; names, calls and sums are looked at closer."""


def only_literals(code: str) -> bool:
    """Whether all that a program shows was written out in it: it calls and computes nothing."""
    tree = program_tree(code)
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


def program_tree(code: str) -> ast.Module | None:
    """A text as a program; None where it is none, or is too long to be looked at."""
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
