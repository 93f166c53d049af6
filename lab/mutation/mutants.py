"""The mutants of a file, and a sample of them.

mutmut's mutators say what a node may become; three kinds of our own are added. mutmut itself is not
run: docs/decisions/0040-mutants.md says why.
"""

import difflib
import itertools
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider
from mutmut.mutation.mutators import mutation_operators

Operator = Callable[[Any], Iterable[cst.CSTNode]]


def negated(test: cst.BaseExpression) -> Iterator[cst.CSTNode]:
    """A condition turned round, where no operator of mutmut does that."""
    opposites = cst.Equal | cst.NotEqual | cst.In | cst.NotIn | cst.Is | cst.IsNot
    match test:
        case cst.UnaryOperation(operator=cst.Not()):
            return
        case cst.Comparison(comparisons=[only]) if isinstance(only.operator, opposites):
            return
    inner = test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    yield cst.UnaryOperation(cst.Not(), inner)


def condition(node: cst.If | cst.While | cst.IfExp | cst.CompIf) -> Iterator[cst.CSTNode]:
    """`if …`, `while …`, `… if … else …` and the `if` of a comprehension."""
    for turned in negated(node.test):
        yield node.with_changes(test=turned)


def deletion(node: cst.BaseSmallStatement) -> Iterator[cst.CSTNode]:
    """A statement that is there for its effect alone: what 100 % coverage does not see."""
    match node:
        case cst.Expr(value=cst.Call() | cst.Await()) | cst.AugAssign() | cst.Raise() | cst.Del():
            yield cst.Pass()


def result(node: cst.Return) -> Iterator[cst.CSTNode]:
    """What a function returns."""
    match node.value:
        case None | cst.Name(value="None"):
            return
    yield node.with_changes(value=cst.Name("None"))


OPERATORS: Final[list[tuple[type, str, Operator]]] = [
    *((t, made.__name__.removeprefix("operator_"), made) for t, made in mutation_operators),
    *((t, "condition", condition) for t in (cst.If, cst.While, cst.IfExp, cst.CompIf)),
    (cst.BaseSmallStatement, "deletion", deletion),
    (cst.Return, "result", result),
]

STATEMENT: Final = (cst.SimpleStatementLine, cst.BaseCompoundStatement, cst.ExceptHandler)


@dataclass(frozen=True)
class Mutant:
    """One change of one place, and where it stands."""

    file: str  # in the folder that is mutated
    kind: str
    function: str  # "Journal.append"; empty outside of one
    lines: tuple[int, ...]  # a test that runs one of them may see the change; none: whoever imports
    was: str  # the lines that differ, without indentation
    now: str
    code: str  # of the whole file

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What it is called from one version of the file to the next."""
        return self.file, self.function, self.was, self.now


@dataclass(frozen=True)
class MutationSite:
    """A node and what it may become, before that is written out."""

    file: str
    kind: str
    function: str
    lines: tuple[int, ...]
    node: cst.CSTNode
    changed: cst.CSTNode


class Finder(cst.CSTVisitor):
    """Collects the places of a file."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, file: str) -> None:
        self.file = file
        self.paths: list[MutationSite] = []
        self._names: list[str] = []
        self._functions: list[range] = []  # the lines of those around
        self._statements: list[int] = []  # the first lines of those around
        self._raises = 0
        self._heads = 0  # of functions: what stands there runs when the function is defined

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Note what a node may become, and go on to what is in it."""
        if unseen(node):
            return False
        if isinstance(node, STATEMENT):
            self._statements.append(self._range(node).start.line)
        self._raises += isinstance(node, cst.Raise)
        self._heads += isinstance(node, cst.Parameters)
        if not (self._raises and isinstance(node, cst.BaseString)) and not is_cast(node):
            self._note(node)
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._names.append(node.name.value)
        if isinstance(node, cst.FunctionDef):
            body = self._range(node.body)
            self._functions.append(range(body.start.line, body.end.line + 1))
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        """Undo what `on_visit` noted of what is around."""
        node = original_node
        if unseen(node):
            return
        if isinstance(node, STATEMENT):
            self._statements.pop()
        self._raises -= isinstance(node, cst.Raise)
        self._heads -= isinstance(node, cst.Parameters)
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self._names.pop()
        if isinstance(node, cst.FunctionDef):
            self._functions.pop()

    def _range(self, node: cst.CSTNode) -> CodeRange:
        return self.get_metadata(PositionProvider, node)

    def _note(self, node: cst.CSTNode) -> None:
        lines: tuple[int, ...] = ()
        if self._functions and self._heads:
            lines = tuple(self._functions[-1])
        elif self._functions:
            first = self._statements[-1]
            known = self.get_metadata(PositionProvider, node, None)
            lines = tuple(range(first, (first if known is None else known.end.line) + 1))
        for kind_of_node, kind, operator in OPERATORS:
            if isinstance(node, kind_of_node):
                for changed in operator(node):
                    path = MutationSite(
                        self.file, kind, ".".join(self._names), lines, node, changed
                    )
                    self.paths.append(path)


def unseen(node: cst.CSTNode) -> bool:
    """Whether no run could tell: types, imports, decorators, and bodies that nobody calls."""
    match node:
        case cst.Annotation() | cst.Decorator() | cst.Import() | cst.ImportFrom():
            return True
        case cst.FunctionDef(body=cst.BaseSuite(body=[*_, last])):
            while isinstance(last, cst.SimpleStatementLine):
                last = last.body[-1]
            return isinstance(last, cst.Expr) and isinstance(last.value, cst.Ellipsis)
        case cst.Expr(value=cst.Call(func=cst.Name(value="assert_never"))):
            return True
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value="__all__"))]):
            return True
    return False


def is_cast(node: cst.CSTNode) -> bool:
    """`cast(…)`: what a type checker is told."""
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and (
        node.func.value == "cast"
    )  # fmt: skip


def written(path: MutationSite, module: cst.Module) -> Mutant | None:
    """The file with that change; None where it is no Python, or no change."""
    code = cst.ensure_type(module.deep_replace(path.node, path.changed), cst.Module).code
    before = module.code
    try:
        compile(code, path.file, "exec")
    except SyntaxError:
        return None
    diff = list(difflib.unified_diff(before.splitlines(), code.splitlines(), n=0))[2:]
    was, now = ("\n".join(line[1:].strip() for line in diff if line[0] == s) for s in "-+")
    if was == now:
        return None
    return Mutant(path.file, path.kind, path.function, path.lines, was, now, code)


def python_files(folder: Path, within: Sequence[str] = ("",)) -> list[Path]:
    """The Python files among these files and folders of a folder, in order."""
    chosen = [folder / name for name in within]
    return sorted(
        each for one in chosen for each in ([one] if one.is_file() else one.rglob("*.py"))
    )


def sample(folder: Path, seed: int, count: int, within: Sequence[str] = ("",)) -> Iterator[Mutant]:
    """Draw mutants of what is `within` a folder: each kind in turn, until that many are there.

    In turn, because half of all are arguments left out, which nearly any test sees. The same files
    and the same seed give the same mutants in the same order, and fewer are the first of more.
    """
    modules: dict[str, cst.Module] = {}
    by_kind: defaultdict[str, list[MutationSite]] = defaultdict(list)
    for path in python_files(folder, within):
        wrapper = MetadataWrapper(cst.parse_module(path.read_text("utf-8")))
        finder = Finder(path.relative_to(folder).as_posix())
        wrapper.visit(finder)
        modules[finder.file] = wrapper.module
        for site in finder.paths:
            by_kind[site.kind].append(site)
    for kind, paths in by_kind.items():
        random.Random(f"{seed} {kind}").shuffle(paths)
    drawn: set[tuple[str, str, str, str]] = set()
    while by_kind:
        for kind in sorted(by_kind):
            mutant = None
            while mutant is None and by_kind[kind]:
                site = by_kind[kind].pop()
                mutant = written(site, modules[site.file])
                if mutant is not None and mutant.key in drawn:
                    mutant = None
            if mutant is None:
                del by_kind[kind]
                continue
            drawn.add(mutant.key)
            yield mutant
            if len(drawn) == count:
                return


def by_turns(folder: Path, seed: int, count: int, rooms: Sequence[str]) -> Iterator[Mutant]:
    """Draw of each room in turn: as many mutants of each, however long it is."""
    turns = itertools.zip_longest(*(sample(folder, seed, count, (room,)) for room in rooms))
    return itertools.islice((one for turn in turns for one in turn if one is not None), count)
