"""Bare calls in a program: a line that is a call of a tool prints what the call gives.

An interpreter shows the value of the last line only. Models write one call a line, and expect to
see what each of them gives.
"""

import ast
import warnings
from collections.abc import Collection, Iterator


def with_printed_calls(code: str, functions: Collection[str]) -> str:
    """The program with `print()` around each bare call of these functions, but for the last line.

    Only whole lines of the program itself count, not those in loops, conditions or functions. A
    text that is no program, or that defines one of the functions or `print` anew, stays as it is.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a model writes there is nobody to warn
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    if not tree.body or {"print", *functions} & set(_bound(tree)):
        return code
    lines = code.encode().splitlines(keepends=True)
    for statement in reversed(tree.body[:-1]):
        value = statement.value if isinstance(statement, ast.Expr) else None
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
            continue
        if value.func.id in functions and value.end_lineno is not None:
            _insert(lines, value.end_lineno, value.end_col_offset or 0, b")")
            _insert(lines, value.lineno, value.col_offset, b"print(")
    return b"".join(lines).decode()


def _insert(lines: list[bytes], number: int, offset: int, text: bytes) -> None:
    line = lines[number - 1]
    lines[number - 1] = line[:offset] + text + line[offset:]


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that a program gives a value of its own."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=alias):
                yield alias or name
            case _:
                pass
