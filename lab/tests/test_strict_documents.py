"""Every program of the documents passes `mypy --strict` and pyright's strict mode, as it stands.

Each `python` block becomes a module of its own at its own line numbers: what it uses of earlier
blocks of its page it imports from the last one that binds it. All modules are checked in one run of
each type checker.
"""

import ast
import builtins
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.test_documents import DOCUMENTS, ROOT, Block, blocks

PYRIGHT = {
    "typeCheckingMode": "strict",
    "pythonVersion": "3.11",
    "reportUnusedExpression": False,  # a block may end with what it shows
    "reportUnusedImport": False,  # a later block of the page uses it
}
AWAIT = re.compile(
    r'"await" allowed only within|Use of "async" not allowed|"async \w+" outside async'
)
"""A block may await without a function around it, as a notebook does."""


class _Names(ast.NodeVisitor):
    """The names that a block binds at its top level, and those that it uses before that."""

    def __init__(self) -> None:
        self.bound: dict[str, str] = {}  # and the line that imports it elsewhere
        self.used: dict[str, None] = {}

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            if node.id not in self.bound:
                self.used[node.id] = None
        else:
            self.bound[node.id] = ""

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            statement = deepcopy(node)
            statement.names = [alias]
            name = (alias.asname or alias.name).partition(".")[0]
            self.bound[name] = ast.unparse(statement)

    visit_ImportFrom = visit_Import  # noqa: N815 - as the visitor names them

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._define(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._define(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - as above

    def visit_ListComp(self, node: ast.AST) -> None:
        inner = _Names()
        inner.generic_visit(node)
        self.used |= dict.fromkeys(
            name for name in inner.used if not {name} & (self.bound.keys() | inner.bound.keys())
        )

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # noqa: N815 - as above

    def _define(self, node: Any) -> None:
        inner = _Names()
        for each in (*ast.iter_child_nodes(node),):
            inner.visit(each)
        arguments = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
        self.used |= dict.fromkeys(
            name for name in inner.used if name not in self.bound and name not in arguments
        )
        self.bound[node.name] = ""


def names(block: Block) -> _Names:
    """What a block binds and uses."""
    visitor = _Names()
    visitor.visit(ast.parse(block.text))
    return visitor


def modules(path: Path) -> Iterator[tuple[str, str]]:
    """The name and the source of the module of each block of a page."""
    page = re.sub(r"\W", "_", path.relative_to(ROOT).with_suffix("").as_posix())
    homes: dict[str, str] = {}
    for block in blocks(path.read_text("utf-8")):
        if block.language != "python" or block.skip:
            continue
        module = f"{page}_{block.line}"
        visitor = names(block)
        wanted = [name for name in visitor.used if name in homes and not hasattr(builtins, name)]
        imports = "; ".join(homes[name] for name in wanted)
        yield module, imports + "\n" * (block.line - 1) + block.text + "\n"
        own = f"from {module} import {{0}} as {{0}}"
        homes |= {name: line or own.format(name) for name, line in visitor.bound.items()}


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the module of each block of each page."""
    made = tmp_path_factory.mktemp("programs")
    for path in DOCUMENTS:
        for module, source in modules(path):
            (made / f"{module}.py").write_text(source, "utf-8")
    return made


def checked(command: list[str], folder: Path) -> str:
    """What a type checker says of the folder."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout or done.stderr


def test_every_program_passes_mypy_strict(folder: Path) -> None:
    options = ["--strict", "--config-file=", "--disable-error-code=top-level-await"]
    report = checked(["mypy", *options, "--no-error-summary", "."], folder)
    assert [line for line in report.splitlines() if not AWAIT.search(line)] == []


def problems(report: Mapping[str, Any]) -> Iterator[str]:
    """The errors of pyright, a line for each."""
    for each in report["generalDiagnostics"]:
        line = f"{Path(each['file']).name}:{each['range']['start']['line'] + 1}: {each['message']}"
        if not AWAIT.search(line):
            yield f"{line} ({each.get('rule', '')})"


def test_every_program_passes_pyright_strict(folder: Path) -> None:
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    report = checked(["pyright", "--outputjson", "--pythonpath", sys.executable, "."], folder)
    assert list(problems(json.loads(report))) == []


def test_every_example_passes_pyright_strict(tmp_path: Path) -> None:
    for path in (ROOT / "examples").rglob("*.py"):
        if path.parent.name != "hand_off":  # Celery has no types
            (tmp_path / path.name).write_text(path.read_text("utf-8"), "utf-8")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    python = ["--pythonpath", sys.executable]
    report = checked(["pyright", "--outputjson", *python, "."], tmp_path)
    assert list(problems(json.loads(report))) == []
