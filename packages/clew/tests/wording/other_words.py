"""A build of the package in which every sentence for people reads otherwise.

A constant is a sentence if a blank stands between two of its words; rot13 gives it other words of
the same length, so that estimates of tokens stay what they are. What is not one is decided by its
form: a docstring, a list of words that is split, a value of a `Literal`, SQL, a regular expression,
code, a format's fields. The rooms and files that are left as they are stand below, with the reason.
"""

import ast
import codecs
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

KEPT: Final = {
    "__init__.py": "lists of public names",
    "codecs": "what a format writes and reads again; the record names its version",
    "models": "what servers of others say, which a provider's module has to read",
    "evidence": "words of languages, which texts of others are compared with",
    "screens": "words of attacks, which texts of others are compared with",
    "testing": "servers of others, played for tests",
    "toolbox": "formats of others: patches, HTML, programs; and the descriptions of tools",
    "memory": "words of languages, and SQL",
    "agent_files/template.py": "a file of TOML that is written and read",
    "cli/completion.py": "shell code",
}
"""What is left as it is, by its path."""

PROMPTS: Final = {
    "context": "what a prompt is made of",
    "tools": "descriptions of tools, in prompts",
    "agent/instructions.py": "what a prompt is made of",
    "core/steps.py": "remarks on calls, in prompts",
}
"""What prompts are made of: their fingerprints in a record tell of each letter."""

_WORD: Final = re.compile(r"[A-Za-z]{2,}")
_BLANK: Final = re.compile(r"[A-Za-z0][,;:.)'\"]* [('\"]?[A-Za-z0]")
_WORDS: Final = 2
_SQL: Final = re.compile(
    r"\b(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|WHERE|ORDER BY|JOIN|BEGIN|COMMIT|"
    r"ROLLBACK|LISTEN|EXISTS|UNION|TEXT|INTEGER|BLOB|DESC|LIMIT|FROM|SET|AND|INDEXED|NOT)\b"
)
_REGEX: Final = re.compile(r"\(\?|\\[bBdDsSwWAZ]|\[\^|\]\+|\]\*|\.\*|\)\?")
_FIELD: Final = re.compile(r"(\{[^{}]*\}|%\(?\w*\)?[-+#0-9.,]*[a-zA-Z]|`[^`]*`)")


def write(package: Path, folder: Path, *, prompts: bool) -> int:
    """Write the package into the folder in other words; how many sentences were changed.

    Unless `prompts`, what prompts are made of stays.
    """
    made = folder / package.name
    shutil.copytree(package, made, ignore=shutil.ignore_patterns("__pycache__"))
    kept = set(KEPT) if prompts else {*KEPT, *PROMPTS}
    values = {value for path in package.rglob("*.py") for value in _literals(path)}
    changed = 0
    for path in sorted(made.rglob("*.py")):
        place = path.relative_to(made)
        if not kept & {str(place), place.parts[0]}:
            text = path.read_text("utf-8")
            other, count = in_other_words(text, values, descriptions=prompts)
            path.write_text(other, "utf-8")
            changed += count
    return changed


def in_other_words(
    text: str, values: Collection[str] = (), *, descriptions: bool = True
) -> tuple[str, int]:
    """Source with each of its sentences in other words, and how many these were.

    `values` are no sentences. Unless `descriptions`, those of tools and arguments stay.
    """
    tree = ast.parse(text)
    _Mark(descriptions=descriptions).visit(tree)
    changer = _Change(values)
    tree = changer.visit(tree)
    return ast.unparse(ast.fix_missing_locations(tree)), changer.changed


def is_sentence(text: str) -> bool:
    """Whether a text is for people, by its form."""
    bare = _FIELD.sub("0", text)
    if len(_WORD.findall(bare)) < _WORDS or not _BLANK.search(bare):
        return False
    if _SQL.search(text) or _REGEX.search(text):
        return False
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return True
    return False


def other_words(text: str) -> str:
    """The text in other words of the same length; fields of formats, and quoted code, stay."""
    pieces = _FIELD.split(text)
    return "".join(
        piece if place % 2 else codecs.encode(piece, "rot13") for place, piece in enumerate(pieces)
    )


def _literals(path: Path) -> Iterator[str]:
    """The values of closed lists that a file declares."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
            for inner in ast.walk(node.slice):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield inner.value


class _Mark(ast.NodeVisitor):
    """Marks constants that are no sentences by where they stand."""

    def __init__(self, *, descriptions: bool) -> None:
        self.descriptions = descriptions

    def visit_Dict(self, node: ast.Dict) -> None:
        """What a schema says of an argument."""
        for name, value in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == "description":
                self._described(value)
        self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        """What a tool says of itself."""
        if node.arg == "description":
            self._described(node.value)
        self.generic_visit(node)

    def _described(self, node: ast.AST) -> None:
        if not self.descriptions:
            _keep(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A docstring."""
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)
        else:
            _keep(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        """`"a b".split()`, and what is handed to `re`."""
        made = node.func
        if isinstance(made, ast.Attribute):
            if made.attr in {"split", "splitlines"}:
                _keep(made.value)
            if isinstance(made.value, ast.Name) and made.value.id == "re":
                for given in node.args:
                    _keep(given)
        self.generic_visit(node)


def _keep(node: ast.AST) -> None:
    for inner in ast.walk(node):
        inner.kept = True  # type: ignore[attr-defined]  # a mark of ours


class _Change(ast.NodeTransformer):
    """Puts other words in the place of sentences."""

    def __init__(self, values: Collection[str]) -> None:
        self.values = values
        self.changed = 0

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """A constant that is a sentence gets other words."""
        value = node.value
        if not isinstance(value, str) or getattr(node, "kept", False) or value in self.values:
            return node
        return self._other(node) if is_sentence(value) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        """A text with values in it is one sentence or none."""
        pieces = [it.value if isinstance(it, ast.Constant) else "0" for it in node.values]
        whole = is_sentence("".join(map(str, pieces)))
        changed: list[ast.expr] = [
            (self._other(it) if whole and not hasattr(it, "kept") else it)
            if isinstance(it, ast.Constant)
            else self.visit(it)
            for it in node.values
        ]
        return ast.JoinedStr(changed)

    def _other(self, node: ast.Constant) -> ast.Constant:
        self.changed += 1
        return ast.Constant(other_words(str(node.value)))
